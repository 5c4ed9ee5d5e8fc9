// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is told without being asked. */
#include "fixture.h"
#include "strv.h"
#include <string.h>

#define MANAGER CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE

static struct heard {
        unsigned added, removed, changed, manager_changed;
        char **interfaces; /* of the last one added or removed */
        char **properties; /* of the last change of a tenant */
        char *state;
        char order[16]; /* "a", "r", "c" for each signal about a tenant */
} heard;

static void forget(void) {
        strv_free(heard.interfaces);
        strv_free(heard.properties);
        free(heard.state);
        heard = (struct heard){0};
}

static void note(char what) {
        size_t n = strlen(heard.order);
        assert_true(n < sizeof(heard.order) - 1);
        heard.order[n] = what;
}

static int on_objects(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        bool added = sd_bus_message_is_signal(m, NULL, "InterfacesAdded") > 0;
        const char *path, *interface;
        assert_true(sd_bus_message_read(m, "o", &path) > 0);
        assert_string_equal(path, TENANT("signals"));
        strv_free(heard.interfaces);
        heard.interfaces = NULL;
        if (added) {
                heard.added++;
                assert_true(sd_bus_message_enter_container(m, 'a', "{sa{sv}}") > 0);
                while (sd_bus_message_enter_container(m, 'e', "sa{sv}") > 0) {
                        assert_true(sd_bus_message_read(m, "s", &interface) > 0);
                        assert_int_equal(strv_extend(&heard.interfaces, interface), 0);
                        assert_true(sd_bus_message_skip(m, "a{sv}") > 0);
                        assert_true(sd_bus_message_exit_container(m) >= 0);
                }
        } else {
                heard.removed++;
                assert_true(sd_bus_message_read_strv(m, &heard.interfaces) > 0);
        }
        note(added ? 'a' : 'r');
        return 0;
}

static int on_properties(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *interface, *property, *state;
        assert_true(sd_bus_message_read(m, "s", &interface) > 0);
        if (strcmp(interface, CORESCHED_MANAGER_INTERFACE) == 0) {
                heard.manager_changed++;
                return 0;
        }
        assert_string_equal(sd_bus_message_get_path(m), TENANT("signals"));
        heard.changed++;
        note('c');
        strv_free(heard.properties);
        heard.properties = NULL;
        assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
        while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
                assert_true(sd_bus_message_read(m, "s", &property) > 0);
                assert_int_equal(strv_extend(&heard.properties, property), 0);
                if (strcmp(property, "State") == 0) {
                        assert_true(sd_bus_message_read(m, "v", "s", &state) > 0);
                        free(heard.state);
                        heard.state = strdup(state);
                } else
                        assert_true(sd_bus_message_skip(m, "v") > 0);
                assert_true(sd_bus_message_exit_container(m) >= 0);
        }
        return 0;
}

/* Handles all signals that the daemon sent before it answers a call. */
static void listen_to_all(const struct fixture *f, sd_bus *bus) {
        _cleanup_reply_ sd_bus_message *reply = NULL;
        expect(bus, CORESCHED_PATH, "org.freedesktop.DBus.Peer", "Ping", &reply, "");
        while (sd_bus_process(bus, NULL) > 0)
                ;
}

static sd_bus *listener(void) {
        sd_bus *bus = connect_as(UID_NOBODY);
        assert_true(sd_bus_match_signal(bus, NULL, CORESCHED_BUS_NAME, CORESCHED_PATH,
                                        "org.freedesktop.DBus.ObjectManager", NULL, on_objects, NULL) >= 0);
        assert_true(sd_bus_match_signal(bus, NULL, CORESCHED_BUS_NAME, NULL, "org.freedesktop.DBus.Properties",
                                        "PropertiesChanged", on_properties, NULL) >= 0);
        return bus;
}

static void test_tenant(void **state) {
        struct fixture *f = *state;
        sd_bus *bus = listener();
        world(f, "tenant /signals");
        world(f, "spawn /signals 100");
        forget();
        tag(f, "signals", "/signals");
        listen_to_all(f, bus);
        assert_int_equal(heard.added, 1);
        assert_true(strv_contains(heard.interfaces, CORESCHED_TENANT_INTERFACE));
        assert_true(strv_contains(heard.interfaces, "org.freedesktop.DBus.Properties"));
        /* A hundred threads were tagged, the state and the cookie changed: told with what is new. */
        assert_string_equal(heard.order, "a");

        forget();
        expect(f->root, TENANT("signals"), CORESCHED_TENANT_INTERFACE, "SetPolicy", NULL, "s", "strict");
        listen_to_all(f, bus);
        assert_true(heard.changed >= 1);
        assert_string_equal(heard.state, "enforced");
        static const char *const signalled[] = {"CGroups", "Policy",      "Origin", "Transient", "Isolation",
                                                "State",   "StateReason", "Cookie", "Adopted"};
        assert_int_equal(strv_length(heard.properties), ELEMENTS(signalled));
        for (size_t i = 0; i < ELEMENTS(signalled); i++)
                assert_true(strv_contains(heard.properties, signalled[i]));

        forget(); /* reading, and verifying what is well, is silent */
        assert_property(f, TENANT("signals"), "State", "enforced");
        expect(f->root, TENANT("signals"), CORESCHED_TENANT_INTERFACE, "Verify", NULL, "");
        listen_to_all(f, bus);
        assert_string_equal(heard.order, "");

        forget();
        untag(f, "signals");
        listen_to_all(f, bus);
        assert_int_equal(heard.removed, 1);
        assert_true(strv_contains(heard.interfaces, CORESCHED_TENANT_INTERFACE));
        assert_true(strv_contains(heard.interfaces, "org.freedesktop.DBus.Properties"));
        assert_true(heard.order[strlen(heard.order) - 1] == 'r');
        forget();
        sd_bus_close_unref(bus);
}

static void test_manager(void **state) {
        struct fixture *f = *state;
        sd_bus *bus = listener();
        write_file(f, "root/etc/coresched/policies.d/new.conf", "[Policy]\nIsolation=cookie\n");
        forget();
        expect(f->root, MANAGER, "Reload", NULL, "");
        listen_to_all(f, bus);
        assert_int_equal(heard.manager_changed, 1);
        assert_string_equal(heard.order, "");
        forget();
        sd_bus_close_unref(bus);
}

int main(void) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_tenant), cmocka_unit_test(test_manager)};
        return cmocka_run_group_tests_name("bus/signals", tests, fixture_start, fixture_stop);
}
