// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *in_folder(const struct fixture *f, const char *name) {
        char *path = malloc(strlen(f->folder) + 1 + strlen(name) + 1);
        assert_non_null(path);
        sprintf(path, "%s/%s", f->folder, name);
        return path;
}

void write_file(const struct fixture *f, const char *name, const char *text) {
        _cleanup_free_ char *path = in_folder(f, name);
        for (char *slash = strchr(path + strlen(f->folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
                *slash = '/';
        }
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        assert_true(fputs(text, file) >= 0);
        assert_int_equal(fclose(file), 0);
}

void remove_file(const struct fixture *f, const char *name) {
        _cleanup_free_ char *path = in_folder(f, name);
        assert_true(unlink(path) == 0 || errno == ENOENT);
}

char *read_file(const struct fixture *f, const char *name) {
        _cleanup_free_ char *path = in_folder(f, name);
        char *text = calloc(1, 65536);
        _cleanup_fclose_ FILE *file = fopen(path, "re");
        assert_non_null(text);
        if (file)
                (void) !fread(text, 1, 65535, file);
        return text;
}

/* ---- processes ---- */

/* Starts a program and waits for one line on its stdout, or, without ready, for nothing. */
static pid_t start(char *const argv[], bool ready) {
        int out[2];
        char c;
        assert_int_equal(pipe2(out, O_CLOEXEC), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL); /* not to outlive a test that was killed */
                if (dup2(ready ? out[1] : STDERR_FILENO, STDOUT_FILENO) >= 0)
                        execvp(argv[0], argv);
                _exit(127);
        }
        close(out[1]);
        if (ready && read(out[0], &c, 1) != 1)
                fail_msg("%s did not start", argv[0]);
        close(out[0]);
        return pid;
}

/* The status, as wait() gives it. */
static int stop(pid_t *pid) {
        int status = 0;
        if (*pid > 0) {
                (void) kill(*pid, SIGTERM);
                assert_int_equal(waitpid(*pid, &status, 0), *pid);
        }
        *pid = 0;
        return status;
}

void stand_in_start(struct fixture *f, const char *role, pid_t *ret_pid) {
        _cleanup_free_ char *file = in_folder(f, role);
        char *argv[] = {(char *) STAND_IN, (char *) role, file, NULL};
        *ret_pid = start(argv, true);
}

void stand_in_stop(pid_t *pid) {
        (void) stop(pid);
}

static bool has_name(struct fixture *f, const char *name) {
        return sd_bus_get_name_creds(f->root, name, 0, NULL) >= 0;
}

void daemon_start(struct fixture *f) {
        _cleanup_free_ char *config = NULL, *state = NULL;
        assert_true(asprintf(&config, "--config-root=%s/root", f->folder) > 0);
        assert_true(asprintf(&state, "--state-dir=%s/state", f->folder) > 0);
        char *argv[] = {(char *) DAEMON, config, state, NULL};
        f->daemon = start(argv, false);
        for (int i = 0; !has_name(f, CORESCHED_BUS_NAME); i++) {
                int status;
                if (i == 1000 || waitpid(f->daemon, &status, WNOHANG) != 0)
                        fail_msg("the daemon did not start");
                usleep(10000);
        }
}

void daemon_stop(struct fixture *f) {
        int status = stop(&f->daemon);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
}

sd_bus *connect_as(uid_t uid) {
        sd_bus *bus;
        const char *name;
        assert_int_equal(seteuid(uid), 0);
        int r = sd_bus_open_system(&bus);
        if (r >= 0)
                r = sd_bus_get_unique_name(bus, &name);
        assert_int_equal(seteuid(0), 0);
        assert_true(r >= 0);
        return bus;
}

/* ---- the whole ---- */

/* As a system bus is set up, with the product's own policy; the stand-ins are root's. */
static void start_bus(struct fixture *f) {
        _cleanup_free_ char *text = NULL, *config = in_folder(f, "bus.conf"), *argument = NULL, *address = NULL;
        assert_true(asprintf(&text,
                             "<busconfig><type>system</type><listen>unix:path=%s/bus</listen><auth>EXTERNAL</auth>"
                             "<policy context='default'><allow user='*'/><deny own='*'/><deny send_type='method_call'/>"
                             "<allow send_type='signal'/><allow send_requested_reply='true' send_type='method_return'/>"
                             "<allow send_requested_reply='true' send_type='error'/><allow receive_type='method_call'/>"
                             "<allow receive_type='method_return'/><allow receive_type='error'/>"
                             "<allow receive_type='signal'/><allow send_destination='org.freedesktop.DBus'/></policy>"
                             "<policy user='root'><allow own_prefix='org.freedesktop'/>"
                             "<allow own='org.coresched1.Simulation'/><allow send_type='method_call'/></policy>"
                             "<include>%s</include>"
                             "</busconfig>",
                             f->folder, BUS_POLICY) > 0);
        assert_true(asprintf(&argument, "--config-file=%s", config) > 0);
        assert_true(asprintf(&address, "unix:path=%s/bus", f->folder) > 0);
        write_file(f, "bus.conf", text);
        assert_int_equal(setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1), 0);
        char *argv[] = {(char *) "dbus-daemon", argument, (char *) "--nofork", (char *) "--print-pid", NULL};
        f->bus_daemon = start(argv, true);
}

int fixture_start(void **state) {
        struct fixture *f = calloc(1, sizeof(*f));
        assert_non_null(f);
        strcpy(f->folder, "/tmp/coresched-bus-XXXXXX");
        assert_non_null(mkdtemp(f->folder));
        assert_int_equal(chmod(f->folder, 0755), 0);
        write_file(f, "root/etc/coresched/policies.d/strict.conf",
                   "[Policy]\nIsolation=cookie\nAttach=freeze\nOnExposed=freeze\n");
        write_file(f, "root/etc/coresched/coreschedd.conf", "[Daemon]\nFreezeTimeoutSec=1\n");
        write_file(f, "state/.folder", "");
        /* How long the daemon waits for polkit, systemd and machined, seconds. */
        assert_int_equal(setenv("SYSTEMD_BUS_TIMEOUT", "2", 1), 0);
        start_bus(f);
        f->root = connect_as(0);
        f->nobody = connect_as(UID_NOBODY);
        assert_true(sd_bus_set_method_call_timeout(f->root, 60 * USEC_PER_SEC) >= 0);
        assert_true(sd_bus_set_method_call_timeout(f->nobody, 60 * USEC_PER_SEC) >= 0);
        daemon_start(f);
        *state = f;
        return 0;
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
        return remove(path);
}

int fixture_stop(void **state) {
        struct fixture *f = *state;
        _cleanup_reply_ sd_bus_message *reply = NULL;
        const char *violation;
        expect(f->root, "/", "org.coresched1.Simulation", "Do", &reply, "s", "violation");
        assert_true(sd_bus_message_read(reply, "s", &violation) > 0);
        assert_string_equal(violation, "");
        daemon_stop(f);
        (void) stop(&f->polkit);
        (void) stop(&f->systemd);
        (void) stop(&f->machined);
        sd_bus_close_unref(f->root);
        sd_bus_close_unref(f->nobody);
        (void) stop(&f->bus_daemon);
        assert_int_equal(nftw(f->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
        free(f);
        return 0;
}

/* ---- calls ---- */

static int call(sd_bus *bus, unsigned flags, const char *path, const char *interface, const char *member,
                sd_bus_error *error, sd_bus_message **reply, const char *types, va_list ap) {
        _cleanup_reply_ sd_bus_message *message = NULL;
        const char *service = strcmp(path, "/") == 0 ? "org.coresched1.Simulation" : CORESCHED_BUS_NAME;
        assert_true(sd_bus_message_new_method_call(bus, &message, service, path, interface, member) >= 0);
        assert_true(sd_bus_message_appendv(message, types, ap) >= 0);
        assert_true(sd_bus_message_set_allow_interactive_authorization(message, flags & ALLOW_PASSWORD) >= 0);
        return sd_bus_call(bus, message, 0, error, reply);
}

void expect(sd_bus *bus, const char *path, const char *interface, const char *member, sd_bus_message **reply,
            const char *types, ...) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        va_list ap;
        va_start(ap, types);
        int r = call(bus, 0, path, interface, member, &error, reply, types, ap);
        va_end(ap);
        if (r < 0)
                fail_msg("%s: %s: %s", member, error.name, error.message);
}

char *expect_error(sd_bus *bus, unsigned flags, const char *name, const char *path, const char *interface,
                   const char *member, const char *types, ...) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_free_ char *full = NULL;
        va_list ap;
        va_start(ap, types);
        int r = call(bus, flags, path, interface, member, &error, NULL, types, ap);
        va_end(ap);
        if (r >= 0)
                fail_msg("%s succeeded, %s was expected", member, name);
        assert_true(asprintf(&full, "%s%s", strchr(name, '.') ? "" : CORESCHED_ERROR_PREFIX, name) > 0);
        if (strcmp(error.name, full) != 0)
                fail_msg("%s: %s: %s, %s was expected", member, error.name, error.message, full);
        assert_true(error.message && *error.message && !strchr(error.message, '\n'));
        return strdup(error.message);
}

uint64_t world(const struct fixture *f, const char *command, ...) {
        _cleanup_reply_ sd_bus_message *reply = NULL;
        _cleanup_free_ char *text = NULL;
        const char *answer;
        va_list ap;
        va_start(ap, command);
        assert_true(vasprintf(&text, command, ap) > 0);
        va_end(ap);
        expect(f->root, "/", "org.coresched1.Simulation", "Do", &reply, "s", text);
        assert_true(sd_bus_message_read(reply, "s", &answer) > 0);
        return strtoull(answer, NULL, 10);
}

void tag(const struct fixture *f, const char *name, const char *cgroup) {
        expect(f->root, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, "Tag", NULL, "sa{sv}", name, 1, "CGroups", "as", 1,
               cgroup);
}

void untag(const struct fixture *f, const char *name) {
        expect(f->root, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, "Untag", NULL, "s", name);
}

/* ---- properties ---- */

static const char *interface_of(const char *path) {
        return strcmp(path, CORESCHED_PATH) == 0 ? CORESCHED_MANAGER_INTERFACE : CORESCHED_TENANT_INTERFACE;
}

char *get_string(sd_bus *bus, const char *path, const char *property) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        char *value = NULL;
        if (sd_bus_get_property_string(bus, CORESCHED_BUS_NAME, path, interface_of(path), property, &error, &value) < 0)
                fail_msg("%s: %s", property, error.message);
        return value;
}

uint64_t get_number(sd_bus *bus, const char *path, const char *property) {
        uint64_t value = 0;
        assert_true(sd_bus_get_property_trivial(bus, CORESCHED_BUS_NAME, path, interface_of(path), property, NULL, 't',
                                                &value) >= 0);
        return value;
}

bool get_bool(sd_bus *bus, const char *path, const char *property) {
        int value = 0;
        assert_true(sd_bus_get_property_trivial(bus, CORESCHED_BUS_NAME, path, interface_of(path), property, NULL, 'b',
                                                &value) >= 0);
        return value;
}

void assert_property(const struct fixture *f, const char *path, const char *property, const char *value) {
        _cleanup_free_ char *is = get_string(f->root, path, property);
        assert_string_equal(is, value);
}
