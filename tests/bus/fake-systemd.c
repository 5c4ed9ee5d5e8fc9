// SPDX-License-Identifier: LGPL-2.1-or-later
/* A stand-in for systemd on a bus, for tests of coreschedctl run: it takes transient scopes, and moves nobody. Says
 * READY on standard output once it owns its name. What becomes of a scope is in its name: exists-*: there is one;
 * denied-*: polkit refuses; failed-*: its job fails; of another: its job is done. What was asked for is printed. */
#include "util.h"
#include <fnmatch.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define MANAGER_PATH      "/org/freedesktop/systemd1"
#define MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"
#define JOB_PATH          "/org/freedesktop/systemd1/job/7"

static int print_property(sd_bus_message *m) {
        const char *name, *type, *text;
        int r = sd_bus_message_read(m, "s", &name);
        if (r >= 0)
                r = sd_bus_message_peek_type(m, NULL, &type);
        if (r < 0)
                return r;
        if (strcmp(type, "s") == 0) {
                r = sd_bus_message_read(m, "v", "s", &text);
                if (r >= 0)
                        printf(" %s=%s", name, text);
                return r;
        }
        printf(" %s", name);
        return sd_bus_message_skip(m, "v");
}

static int start_unit(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        sd_bus *bus = sd_bus_message_get_bus(m);
        const char *unit, *mode;
        int r = sd_bus_message_read(m, "ss", &unit, &mode);
        if (r >= 0)
                r = sd_bus_message_enter_container(m, 'a', "(sv)");
        if (r < 0)
                return r;
        printf("%s %s", unit, mode);
        while ((r = sd_bus_message_enter_container(m, 'r', "sv")) > 0) {
                r = print_property(m);
                if (r < 0 || (r = sd_bus_message_exit_container(m)) < 0)
                        return r;
        }
        puts("");
        fflush(stdout);
        if (fnmatch("exists-*", unit, 0) == 0)
                return sd_bus_error_setf(error, "org.freedesktop.systemd1.UnitExists", "Unit %s already exists.", unit);
        if (fnmatch("denied-*", unit, 0) == 0)
                return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED, "Permission denied");
        /* Another's job comes first. */
        const char *result = fnmatch("failed-*", unit, 0) == 0 ? "failed" : "done";
        r = sd_bus_reply_method_return(m, "o", JOB_PATH);
        if (r >= 0)
                r = sd_bus_emit_signal(bus, MANAGER_PATH, MANAGER_INTERFACE, "JobRemoved", "uoss", 8, JOB_PATH "1",
                                       "other.service", "canceled");
        return r < 0 ? r
                     : sd_bus_emit_signal(bus, MANAGER_PATH, MANAGER_INTERFACE, "JobRemoved", "uoss", 7, JOB_PATH, unit,
                                          result);
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("StartTransientUnit", "ssa(sv)a(sa(sv))", "o", start_unit, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL("JobRemoved", "uoss", 0),
        SD_BUS_VTABLE_END,
};

int main(void) {
        sd_event *event = NULL;
        sd_bus *bus = NULL;
        int r = sd_event_default(&event);
        if (r >= 0)
                r = sd_bus_open_system(&bus);
        if (r >= 0)
                r = sd_bus_attach_event(bus, event, 0);
        if (r >= 0)
                r = sd_bus_add_object_vtable(bus, NULL, MANAGER_PATH, MANAGER_INTERFACE, vtable, NULL);
        if (r >= 0)
                r = sd_bus_request_name(bus, "org.freedesktop.systemd1", 0);
        if (r >= 0) {
                puts("READY");
                fflush(stdout);
                r = sd_event_loop(event);
        }
        fprintf(stderr, "fake-systemd: %s\n", strerror(-r));
        return 1;
}
