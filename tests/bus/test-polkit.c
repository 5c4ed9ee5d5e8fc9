// SPDX-License-Identifier: LGPL-2.1-or-later
/* Who may: root always, everybody reads, the rest is polkit's. */
#include "fixture.h"
#include <string.h>

#define MANAGER      CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE
#define PASSWORD     SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED
#define TAG_AS(name) "Tag", "sa{sv}", name, 1, "CGroups", "as", 1, "/polkit"

static void answer(const struct fixture *f, const char *word) {
        write_file(f, "polkit", word);
        remove_file(f, "polkit.asked");
}

static void assert_asked(const struct fixture *f, const char *action, unsigned flags) {
        const char *name;
        _cleanup_free_ char *asked = read_file(f, "polkit.asked"), *expected = NULL;
        assert_true(sd_bus_get_unique_name(f->nobody, &name) >= 0);
        assert_true(asprintf(&expected, "%s %u system-bus-name name=%s\n", action, flags, name) > 0);
        assert_string_equal(asked, expected);
}

static void assert_no_tenant(const struct fixture *f) {
        free(expect_error(f->root, 0, "NoSuchTenant", MANAGER, "GetTenant", "s", "p"));
}

static void test_absent(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /polkit");
        _cleanup_free_ char *message = expect_error(f->nobody, ALLOW_PASSWORD, "NotPermitted", MANAGER, TAG_AS("p"));
        assert_non_null(strstr(message, "polkit is not running"));
        assert_non_null(strstr(message, "org.coresched1.manage"));
        assert_no_tenant(f);
        tag(f, "p", "/polkit"); /* root needs none */
}

static void test_reading(void **state) {
        struct fixture *f = *state;
        _cleanup_reply_ sd_bus_message *tenant = NULL, *objects = NULL, *xml = NULL, *all = NULL;
        expect(f->nobody, MANAGER, "GetTenant", &tenant, "s", "p");
        _cleanup_free_ char *name = get_string(f->nobody, TENANT("p"), "State");
        assert_string_equal(name, "enforced");
        expect(f->nobody, CORESCHED_PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", &objects, "");
        expect(f->nobody, TENANT("p"), "org.freedesktop.DBus.Introspectable", "Introspect", &xml, "");
        expect(f->nobody, CORESCHED_PATH, "org.freedesktop.DBus.Properties", "GetAll", &all, "s",
               CORESCHED_MANAGER_INTERFACE);
}

/* Each method that is not open to all, and the action that it needs. */
static void test_actions(void **state) {
        struct fixture *f = *state;
        stand_in_start(f, "polkit", &f->polkit);
#define REFUSED(action, ...)                                                                                           \
        answer(f, "no");                                                                                               \
        free(expect_error(f->nobody, 0, "NotPermitted", __VA_ARGS__));                                                 \
        assert_asked(f, "org.coresched1." action, 0)
        REFUSED("manage", MANAGER, TAG_AS("p"));
        REFUSED("configure", MANAGER, "Tag", "sa{sv}", "p", 1, "Persistent", "b", true);
        REFUSED("manage", MANAGER, "Tag", "sa{sv}", "p", 1, "Persistent", "b", false);
        REFUSED("manage", MANAGER, "Untag", "s", "p");
        REFUSED("manage", MANAGER, "UntagWithOptions", "sa{sv}", "p", 1, "Force", "b", true);
        REFUSED("configure", MANAGER, "UntagWithOptions", "sa{sv}", "p", 1, "Persistent", "b", true);
        REFUSED("verify", MANAGER, "Verify", "s", "");
        REFUSED("reload", MANAGER, "Reload", "");
        REFUSED("manage", TENANT("p"), CORESCHED_TENANT_INTERFACE, "Untag", "");
        REFUSED("manage", TENANT("p"), CORESCHED_TENANT_INTERFACE, "SetPolicy", "s", "strict");
        REFUSED("verify", TENANT("p"), CORESCHED_TENANT_INTERFACE, "Verify", "");
        assert_property(f, TENANT("p"), "Policy", "shared");
        untag(f, "p");

        /* What is wrong needs no password to be told so. */
        answer(f, "no");
        free(expect_error(f->nobody, 0, "InvalidOption", MANAGER, "Tag", "sa{sv}", "p", 1, "Colour", "s", "red"));
        _cleanup_free_ char *asked = read_file(f, "polkit.asked");
        assert_string_equal(asked, "");
}

static void test_yes(void **state) {
        struct fixture *f = *state;
        answer(f, "yes");
        expect(f->nobody, MANAGER, "Tag", NULL, "sa{sv}", "p", 1, "CGroups", "as", 1, "/polkit");
        assert_property(f, TENANT("p"), "State", "enforced");
        expect(f->nobody, TENANT("p"), CORESCHED_TENANT_INTERFACE, "SetPolicy", NULL, "s", "strict");
        expect(f->nobody, TENANT("p"), CORESCHED_TENANT_INTERFACE, "Verify", NULL, "");
        expect(f->nobody, MANAGER, "Reload", NULL, "");
        expect(f->nobody, MANAGER, "Untag", NULL, "s", "p");
        assert_no_tenant(f);
}

static void test_password(void **state) {
        struct fixture *f = *state;
        answer(f, "ask");
        _cleanup_free_ char *message = expect_error(f->nobody, 0, PASSWORD, MANAGER, TAG_AS("p"));
        assert_non_null(strstr(message, "org.coresched1.manage"));
        assert_asked(f, "org.coresched1.manage", 0);
        assert_no_tenant(f);

        answer(f, "ask");
        _cleanup_reply_ sd_bus_message *m = NULL;
        assert_true(sd_bus_message_new_method_call(f->nobody, &m, CORESCHED_BUS_NAME, MANAGER, "Tag") >= 0);
        assert_true(sd_bus_message_append(m, "sa{sv}", "p", 1, "CGroups", "as", 1, "/polkit") >= 0);
        assert_true(sd_bus_message_set_allow_interactive_authorization(m, true) >= 0);
        assert_true(sd_bus_call(f->nobody, m, 0, NULL, NULL) >= 0);
        assert_asked(f, "org.coresched1.manage", 1);
        untag(f, "p");

        answer(f, "dismissed");
        free(expect_error(f->nobody, ALLOW_PASSWORD, "NotPermitted", MANAGER, TAG_AS("p")));
        assert_no_tenant(f);
}

static void test_no_answer(void **state) {
        struct fixture *f = *state;
        static const char *const words[] = {"error", "garbage", "never"};
        for (size_t i = 0; i < ELEMENTS(words); i++) {
                answer(f, words[i]);
                free(expect_error(f->nobody, 0, "NotPermitted", MANAGER, TAG_AS("p")));
                assert_no_tenant(f);
        }
}

static void send_tag(sd_bus *bus, const char *name) {
        _cleanup_reply_ sd_bus_message *m = NULL;
        assert_true(sd_bus_message_new_method_call(bus, &m, CORESCHED_BUS_NAME, MANAGER, "Tag") >= 0);
        assert_true(sd_bus_message_append(m, "sa{sv}", name, 1, "CGroups", "as", 1, "/polkit") >= 0);
        assert_true(sd_bus_send(bus, m, NULL) >= 0);
        assert_true(sd_bus_flush(bus) >= 0);
}

/* Waits until polkit was asked. */
static void wait_asked(const struct fixture *f) {
        for (int i = 0; i < 500; i++) {
                _cleanup_free_ char *asked = read_file(f, "polkit.asked");
                if (*asked)
                        return;
                usleep(10000);
        }
        fail_msg("polkit was not asked");
}

static void test_caller_leaves(void **state) {
        struct fixture *f = *state;
        answer(f, "never");
        sd_bus *bus = connect_as(UID_NOBODY);
        send_tag(bus, "p");
        wait_asked(f);
        sd_bus_close_unref(bus);
        assert_no_tenant(f);

        /* One that leaves while the manager works, here on a tenant that does not freeze: what it asked for is done. */
        pid_t pid = (pid_t) world(f, "spawn /polkit 1");
        world(f, "stubborn %d", pid);
        bus = connect_as(0);
        _cleanup_reply_ sd_bus_message *m = NULL;
        assert_true(sd_bus_message_new_method_call(bus, &m, CORESCHED_BUS_NAME, MANAGER, "Tag") >= 0);
        assert_true(sd_bus_message_append(m, "sa{sv}", "p", 2, "CGroups", "as", 1, "/polkit", "Policy", "s",
                                          "strict") >= 0);
        assert_true(sd_bus_send(bus, m, NULL) >= 0);
        expect(bus, CORESCHED_PATH, "org.freedesktop.DBus.Peer", "Ping", NULL, "");
        assert_property(f, TENANT("p"), "State", "pending");
        sd_bus_close_unref(bus);
        for (int i = 0; i < 500 && world(f, "cookie %d", pid) == 0; i++)
                usleep(10000);
        assert_property(f, TENANT("p"), "State", "enforced");
        untag(f, "p");
}

/* A caller that is not root cannot pile up calls. */
static void test_too_many(void **state) {
        struct fixture *f = *state;
        answer(f, "never");
        sd_bus *bus = connect_as(UID_NOBODY);
        for (int i = 0; i < 32; i++)
                send_tag(bus, "p");
        free(expect_error(bus, 0, "Busy", MANAGER, TAG_AS("p")));
        free(expect_error(f->nobody, 0, "NotPermitted", MANAGER, TAG_AS("p"))); /* others can still ask */
        sd_bus_close_unref(bus);
        assert_no_tenant(f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_absent),        cmocka_unit_test(test_reading),  cmocka_unit_test(test_actions),
                cmocka_unit_test(test_yes),           cmocka_unit_test(test_password), cmocka_unit_test(test_no_answer),
                cmocka_unit_test(test_caller_leaves), cmocka_unit_test(test_too_many),
        };
        return cmocka_run_group_tests_name("bus/polkit", tests, fixture_start, fixture_stop);
}
