/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "common.h"
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SERVICE "org.coresched1"
#define OBJECT  "/org/coresched1"
#define MANAGER "org.coresched1.Manager"

static pid_t *children;
static size_t n_children;
static char **cgroups;
static size_t n_cgroups;

double now_us(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

/* ---- cgroups ---- */

static volatile unsigned long counter;

static pid_t child(int cgroup_fd, bool busy) {
        struct clone_args arguments = {
                .flags = CLONE_INTO_CGROUP,
                .exit_signal = SIGCHLD,
                .cgroup = (uint64_t) cgroup_fd,
        };
        pid_t parent = getpid();
        long pid = syscall(SYS_clone3, &arguments, sizeof arguments);

        if (pid < 0)
                die_errno("cannot start a process");
        if (pid == 0) {
                /* Not libc's fork: a child that does nothing but these calls needs nothing of it. */
                if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
                        _exit(1);
                while (busy)
                        counter++;
                for (;;)
                        (void) pause();
        }
        return (pid_t) pid;
}

static int open_folder(const char *path) {
        int fd = open(path, O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                die_errno("cannot open cgroup %s", path);
        return fd;
}

static void fill(const char *cgroup, size_t n, bool busy) {
        char *path;
        int fd;

        if (asprintf(&path, "/sys/fs/cgroup%s", cgroup) < 0)
                die_errno("no memory");
        if (mkdir(path, 0755) < 0)
                die_errno("cannot make cgroup %s", cgroup);
        cgroups = reallocarray(cgroups, n_cgroups + 1, sizeof *cgroups);
        children = reallocarray(children, n_children + n, sizeof *children);
        if (!cgroups || !children)
                die_errno("no memory");
        cgroups[n_cgroups++] = path;
        fd = open_folder(path);
        for (size_t i = 0; i < n; i++)
                children[n_children++] = child(fd, busy);
        (void) close(fd);
}

void cgroup_fill(const char *cgroup, size_t n) {
        fill(cgroup, n, false);
}

void cgroup_fill_busy(const char *cgroup, size_t n) {
        fill(cgroup, n, true);
}

pid_t cgroup_sleeper(const char *cgroup) {
        char path[512];

        (void) snprintf(path, sizeof path, "/sys/fs/cgroup%s", cgroup);
        int fd = open_folder(path);
        pid_t pid = child(fd, false);
        (void) close(fd);
        return pid;
}

static void systemctl(const char *verb, const char *unit) {
        char command[256];

        (void) snprintf(command, sizeof command, "systemctl %s %s", verb, unit);
        if (system(command) != 0)
                die(STATUS_ERROR, "%s fails", command);
}

void slice_start(const char *name) {
        systemctl("start", name);
}

void slice_stop(const char *name) {
        systemctl("stop", name);
}

void cgroups_empty(void) {
        for (size_t i = 0; i < n_children; i++)
                (void) kill(children[i], SIGKILL);
        for (size_t i = 0; i < n_children; i++)
                (void) waitpid(children[i], NULL, 0);
        while (n_cgroups > 0) {
                char *path = cgroups[--n_cgroups];

                /* A process leaves its cgroup a moment after it can be waited for. */
                for (int tries = 0; rmdir(path) < 0; tries++) {
                        if (errno != EBUSY || tries == 100)
                                die_errno("cannot remove %s", path);
                        (void) usleep(10000);
                }
                free(path);
        }
        free(cgroups);
        free(children);
        cgroups = NULL;
        children = NULL;
        n_children = 0;
}

/* ---- the bus ---- */

sd_bus *bus_open(void) {
        sd_bus *bus;
        int r = sd_bus_open_system(&bus);

        if (r < 0) {
                errno = -r;
                die_errno("cannot connect to the system bus");
        }
        return bus;
}

static void check(int r, const char *what, const char *tenant, const sd_bus_error *error) {
        if (r < 0)
                die(STATUS_ERROR, "%s %s: %s", what, tenant, error->message ? error->message : strerror(-r));
}

void bus_ping(sd_bus *bus) {
        sd_bus_error error = SD_BUS_ERROR_NULL;
        int r = sd_bus_call_method(bus, SERVICE, OBJECT, "org.freedesktop.DBus.Peer", "Ping", &error, NULL, NULL);

        check(r, "Ping", "", &error);
}

void bus_tag(sd_bus *bus, const char *tenant, const char *cgroup) {
        sd_bus_error error = SD_BUS_ERROR_NULL;
        int r = sd_bus_call_method(bus, SERVICE, OBJECT, MANAGER, "Tag", &error, NULL, "sa{sv}", tenant, 1, "CGroups",
                                   "as", 1, cgroup);

        check(r, "Tag", tenant, &error);
}

void bus_untag(sd_bus *bus, const char *tenant) {
        sd_bus_error error = SD_BUS_ERROR_NULL;
        int r = sd_bus_call_method(bus, SERVICE, OBJECT, MANAGER, "Untag", &error, NULL, "s", tenant);

        check(r, "Untag", tenant, &error);
}

uint64_t unit_property(sd_bus *bus, const char *name, char type) {
        sd_bus_error error = SD_BUS_ERROR_NULL;
        uint64_t value = 0;
        uint32_t small = 0;
        int r = sd_bus_get_property_trivial(bus, "org.freedesktop.systemd1",
                                            "/org/freedesktop/systemd1/unit/coreschedd_2eservice",
                                            "org.freedesktop.systemd1.Service", name, &error, type,
                                            type == 'u' ? (void *) &small : (void *) &value);

        if (r < 0)
                die(STATUS_ERROR, "cannot read %s of the unit: %s", name, error.message ? error.message : strerror(-r));
        return type == 'u' ? small : value;
}

void verify_every(unsigned seconds) {
        char command[256];

        (void) snprintf(command, sizeof command,
                        "mkdir -p /etc/coresched/coreschedd.conf.d && "
                        "printf '[Daemon]\\nVerifyIntervalSec=%u\\n' >/etc/coresched/coreschedd.conf.d/bench.conf && "
                        "coreschedctl reload",
                        seconds);
        if (system(command) != 0)
                die(STATUS_ERROR, "the interval cannot be set");
}

double cpu_us(pid_t pid) {
        clockid_t clock;
        struct timespec t;

        if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
                die(STATUS_ERROR, "cannot read the CPU time of process %d", (int) pid);
        return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

/* ---- the verdict ---- */

static int compare(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

double median(double *values, size_t n) {
        qsort(values, n, sizeof *values, compare);
        return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void judge(const char *what, double value, double limit) {
        (void) printf("%sok - bench: %s: %.2f (limit %.2f)\n", value <= limit ? "" : "not ", what, value, limit);
        (void) fflush(stdout);
}
