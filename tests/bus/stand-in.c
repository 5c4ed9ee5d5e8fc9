// SPDX-License-Identifier: LGPL-2.1-or-later
/* Stands in for polkit, systemd and systemd-machined on a private bus, as far as the daemon asks them.
 *
 *   stand-in polkit FILE     answers with the one word in FILE: "yes", "no", "ask" (yes if the user may be asked, else
 * a challenge), "dismissed" (a challenge even then), "error", "garbage", or "never" (no answer); appends "ACTION FLAGS
 * KIND NAME" to FILE.asked for each question stand-in systemd FILE    has the units in FILE, one a line: NAME
 * LOAD-STATE CGROUP FRAGMENT SLICE ("-" for none) stand-in machined FILE   has the machines in FILE, one a line: NAME
 * UNIT FILE is read anew for each question. "ready" on stdout says that the name is taken. */
#include "strv.h"
#include "util.h"
#include <errno.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define UNIT_PREFIX    "/org/freedesktop/systemd1/unit"
#define MACHINE_PREFIX "/org/freedesktop/machine1/machine"
#define FIELDS         5

static const char *file;

/* ---- polkit ---- */

static int check_authorization(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *kind, *key, *name, *action;
        char word[32] = "";
        uint32_t flags;
        int r = sd_bus_message_read(m, "(sa{sv})", &kind, 1, &key, "s", &name);
        if (r >= 0)
                r = sd_bus_message_read(m, "s", &action);
        if (r >= 0)
                r = sd_bus_message_skip(m, "a{ss}");
        if (r >= 0)
                r = sd_bus_message_read(m, "u", &flags);
        if (r < 0)
                return r;

        _cleanup_free_ char *asked = NULL;
        if (asprintf(&asked, "%s.asked", file) < 0)
                return -ENOMEM;
        _cleanup_fclose_ FILE *log = fopen(asked, "ae");
        _cleanup_fclose_ FILE *f = fopen(file, "re");
        if (!log || !f || fscanf(f, "%31s", word) != 1)
                return -EIO;
        fprintf(log, "%s %u %s %s=%s\n", action, flags, kind, key, name);
        if (fflush(log) != 0)
                return -errno;

        if (strcmp(word, "never") == 0)
                return 1;
        if (strcmp(word, "error") == 0)
                return sd_bus_error_set(error, "org.freedesktop.PolicyKit1.Error.Failed", "out of order");
        if (strcmp(word, "garbage") == 0)
                return sd_bus_reply_method_return(m, "s", "yes");
        bool ask = strcmp(word, "ask") == 0;
        bool yes = strcmp(word, "yes") == 0 || (ask && (flags & 1));
        bool challenge = (ask && !yes) || strcmp(word, "dismissed") == 0;
        return sd_bus_reply_method_return(m, "(bba{ss})", yes, challenge, 0);
}

static const sd_bus_vtable polkit_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", check_authorization,
                      SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

/* ---- systemd, and machined ---- */

/* Finds the line that begins with name and splits it. Empty fields for "-". 1 when there is one, 0 when not. */
static int look_up(const char *name, char fields[FIELDS][256]) {
        char line[2048];
        _cleanup_fclose_ FILE *f = fopen(file, "re");
        if (!f)
                return -errno;
        while (fgets(line, sizeof(line), f)) {
                memset(fields, 0, FIELDS * sizeof(fields[0]));
                if (sscanf(line, "%255s %255s %255s %255s %255s", fields[0], fields[1], fields[2], fields[3],
                           fields[4]) < 2 ||
                    strcmp(fields[0], name) != 0)
                        continue;
                for (size_t i = 0; i < FIELDS; i++)
                        if (strcmp(fields[i], "-") == 0)
                                fields[i][0] = '\0';
                return 1;
        }
        memset(fields, 0, FIELDS * sizeof(fields[0]));
        return 0;
}

/* As systemd does: a unit that has no file is "not-found", a slice is made up. */
static int list_units_by_names(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_strv_ char **names = NULL;
        char fields[FIELDS][256];
        int r = sd_bus_message_read_strv(m, &names);
        if (r >= 0)
                r = sd_bus_message_new_method_return(m, &reply);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "(ssssssouso)");
        for (char **n = names; r >= 0 && n && *n; n++) {
                _cleanup_free_ char *path = NULL;
                const char *state = strstr(*n, ".slice") ? "loaded" : "not-found";
                r = look_up(*n, fields);
                if (r > 0)
                        state = fields[1];
                if (r >= 0)
                        r = sd_bus_path_encode(UNIT_PREFIX, *n, &path);
                if (r >= 0)
                        r = sd_bus_message_append(reply, "(ssssssouso)", *n, "", state, "", "", "", path, 0, "", "/");
        }
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        return r < 0 ? r : sd_bus_message_send(reply);
}

static int find(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret, sd_bus_error *error) {
        static char name[256]; /* of the one that is asked for just now */
        _cleanup_free_ char *decoded = NULL;
        int r = sd_bus_path_decode(path, userdata, &decoded);
        if (r <= 0)
                return r;
        snprintf(name, sizeof(name), "%s", decoded);
        *ret = name;
        return 1;
}

static int get_field(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                     void *userdata, sd_bus_error *error) {
        static const char *const properties[FIELDS] = {"Id", "Unit", "ControlGroup", "FragmentPath", "Slice"};
        char fields[FIELDS][256] = {0};
        int r = look_up(userdata, fields);
        if (r < 0)
                return r;
        for (size_t i = 0; i < FIELDS; i++)
                if (strcmp(property, properties[i]) == 0)
                        return sd_bus_message_append(reply, "s", fields[i]);
        return -ENOENT;
}

static int get_machine(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        _cleanup_free_ char *path = NULL;
        char fields[FIELDS][256];
        const char *name;
        int r = sd_bus_message_read(m, "s", &name);
        if (r >= 0)
                r = look_up(name, fields);
        if (r == 0)
                return sd_bus_error_setf(error, "org.freedesktop.machine1.NoSuchMachine", "no machine '%s'", name);
        if (r >= 0)
                r = sd_bus_path_encode(MACHINE_PREFIX, name, &path);
        return r < 0 ? r : sd_bus_reply_method_return(m, "o", path);
}

static const sd_bus_vtable systemd_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("ListUnitsByNames", "as", "a(ssssssouso)", list_units_by_names, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static const sd_bus_vtable machined_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("GetMachine", "s", "o", get_machine, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static const sd_bus_vtable unit_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("FragmentPath", "s", get_field, 0, 0),
        SD_BUS_VTABLE_END,
};

static const sd_bus_vtable group_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("ControlGroup", "s", get_field, 0, 0),
        SD_BUS_PROPERTY("Slice", "s", get_field, 0, 0),
        SD_BUS_VTABLE_END,
};

static const sd_bus_vtable machine_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Unit", "s", get_field, 0, 0),
        SD_BUS_VTABLE_END,
};

/* ---- main ---- */

static int be_polkit(sd_bus *bus) {
        int r = sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/PolicyKit1/Authority",
                                         "org.freedesktop.PolicyKit1.Authority", polkit_vtable, NULL);
        return r < 0 ? r : sd_bus_request_name(bus, "org.freedesktop.PolicyKit1", 0);
}

static int be_systemd(sd_bus *bus) {
        static const char *const types[] = {"Slice", "Service", "Scope"};
        int r = sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                                         systemd_vtable, NULL);
        if (r >= 0)
                r = sd_bus_add_fallback_vtable(bus, NULL, UNIT_PREFIX, "org.freedesktop.systemd1.Unit", unit_vtable,
                                               find, (void *) UNIT_PREFIX);
        for (size_t i = 0; r >= 0 && i < ELEMENTS(types); i++) {
                char interface[64];
                snprintf(interface, sizeof(interface), "org.freedesktop.systemd1.%s", types[i]);
                r = sd_bus_add_fallback_vtable(bus, NULL, UNIT_PREFIX, interface, group_vtable, find,
                                               (void *) UNIT_PREFIX);
        }
        return r < 0 ? r : sd_bus_request_name(bus, "org.freedesktop.systemd1", 0);
}

static int be_machined(sd_bus *bus) {
        int r = sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/machine1", "org.freedesktop.machine1.Manager",
                                         machined_vtable, NULL);
        if (r >= 0)
                r = sd_bus_add_fallback_vtable(bus, NULL, MACHINE_PREFIX, "org.freedesktop.machine1.Machine",
                                               machine_vtable, find, (void *) MACHINE_PREFIX);
        return r < 0 ? r : sd_bus_request_name(bus, "org.freedesktop.machine1", 0);
}

int main(int argc, char *argv[]) {
        static const struct {
                const char *name;
                int (*be)(sd_bus *bus);
        } roles[] = {{"polkit", be_polkit}, {"systemd", be_systemd}, {"machined", be_machined}};
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int r = -EINVAL;
        if (argc == 3) {
                file = argv[2];
                r = sd_bus_open_system(&bus);
                for (size_t i = 0; r >= 0 && i < ELEMENTS(roles); i++)
                        if (strcmp(argv[1], roles[i].name) == 0)
                                r = roles[i].be(bus);
        }
        if (r < 0) {
                fprintf(stderr, "stand-in: %s\n", strerror(-r));
                return EXIT_FAILURE;
        }
        puts("ready");
        fflush(stdout);
        while (r >= 0) {
                r = sd_bus_process(bus, NULL);
                if (r == 0)
                        r = sd_bus_wait(bus, UINT64_MAX);
        }
        return EXIT_SUCCESS;
}
