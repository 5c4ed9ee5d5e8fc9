// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names as a person types them: what each means, and what is said when it means nothing, or too much. */
#include "fixture.h"
#include <signal.h>
#include <string.h>

#define MANAGER CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE

static const char units[] = "running.service loaded /system.slice/running.service /usr/running.service system.slice\n"
                            "tenant-a.slice loaded /tenant.slice/tenant-a.slice - -\n"
                            "session.scope loaded /user.slice/session.scope - user.slice\n"
                            "deleted.service not-found /system.slice/deleted.service - system.slice\n"
                            "stopped.service loaded - /usr/stopped.service app-db.slice\n"
                            "memory.service loaded - /usr/memory.service -.slice\n"
                            "planned-x.slice loaded - /etc/planned-x.slice -\n"
                            "masked.service masked - - system.slice\n"
                            "both.slice loaded /both.slice - -\n"
                            "both.service loaded /system.slice/both.service /usr/both.service system.slice\n"
                            "idle.slice loaded - /etc/idle.slice -\n"
                            "idle.service loaded - /usr/idle.service system.slice\n"
                            "half.slice loaded - /etc/half.slice -\n"
                            "half.service loaded /system.slice/half.service /usr/half.service system.slice\n"
                            "vm1.service loaded - /usr/vm1.service system.slice\n"
                            "machine-vm1.scope loaded /machine.slice/machine-vm1.scope - machine.slice\n"
                            "same.service loaded /machine.slice/same.service - machine.slice\n"
                            "init.scope loaded /init.scope - -\n"
                            "top.service loaded /system.slice/top.service - system.slice\n";
static const char machines[] = "vm1 machine-vm1.scope\n"
                               "same same.service\n"
                               "both2 machine-vm1.scope\n";

static void expect_cgroup(const struct fixture *f, const char *name, const char *tenant, const char *cgroup) {
        _cleanup_reply_ sd_bus_message *reply = NULL;
        _cleanup_free_ char *expected = NULL;
        const char *path;
        char **cgroups = NULL;
        expect(f->root, MANAGER, "Tag", &reply, "sa{sv}", name, 0);
        assert_true(sd_bus_message_read(reply, "o", &path) > 0);
        assert_true(sd_bus_path_encode(CORESCHED_TENANT_PREFIX, tenant, &expected) >= 0);
        assert_string_equal(path, expected);
        assert_true(sd_bus_get_property_strv(f->root, CORESCHED_BUS_NAME, path, CORESCHED_TENANT_INTERFACE, "CGroups",
                                             NULL, &cgroups) >= 0);
        assert_string_equal(cgroups[0], cgroup);
        assert_null(cgroups[1]);
        free(cgroups[0]);
        free(cgroups);
        untag(f, tenant);
}

static char *refused(const struct fixture *f, const char *error, const char *name) {
        return expect_error(f->root, 0, error, MANAGER, "Tag", "sa{sv}", name, 0);
}

static void test_paths(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /top");
        _cleanup_free_ char *message = refused(f, "NoSuchCGroup", "/a/b.slice");
        assert_non_null(strstr(message, "--cgroup=PATH"));
        world(f, "tenant /a");
        world(f, "tenant /a/b.slice");
        world(f, "tenant /a/machine-qemu\\x2d1.scope");
        expect_cgroup(f, "/a/b.slice", "b.slice", "/a/b.slice");
        expect_cgroup(f, "a/b.slice/", "b.slice", "/a/b.slice");
        expect_cgroup(f, "/sys/fs/cgroup/a/b.slice", "b.slice", "/a/b.slice");
        expect_cgroup(f, "/a/machine-qemu\\x2d1.scope", "machine-qemu\\x2d1.scope", "/a/machine-qemu\\x2d1.scope");
        expect_cgroup(f, "top", "top", "/top");
}

/* Neither systemd nor machined is on the bus. */
static void test_nobody_to_ask(void **state) {
        struct fixture *f = *state;
        _cleanup_free_ char *message = refused(f, "NoSuchCGroup", "tenant-a");
        assert_non_null(strstr(message, "systemd is not on the bus"));
        assert_non_null(strstr(message, "--cgroup"));
}

static void test_units(void **state) {
        struct fixture *f = *state;
        write_file(f, "systemd", units);
        stand_in_start(f, "systemd", &f->systemd);
        expect_cgroup(f, "running", "running", "/system.slice/running.service");
        expect_cgroup(f, "running.service", "running.service", "/system.slice/running.service");
        expect_cgroup(f, "tenant-a", "tenant-a", "/tenant.slice/tenant-a.slice");
        expect_cgroup(f, "session", "session", "/user.slice/session.scope");
        expect_cgroup(f, "deleted", "deleted", "/system.slice/deleted.service");
        /* Those that do not run. */
        expect_cgroup(f, "stopped", "stopped", "/app.slice/app-db.slice/stopped.service");
        expect_cgroup(f, "memory", "memory", "/_memory.service");
        expect_cgroup(f, "planned-x", "planned-x", "/planned.slice/planned-x.slice");
        expect_cgroup(f, "made-up.slice", "made-up.slice", "/made.slice/made-up.slice");
        expect_cgroup(f, "half", "half", "/system.slice/half.service");

        _cleanup_free_ char *nothing = refused(f, "NoSuchCGroup", "made-up");
        assert_non_null(strstr(nothing, "made-up.slice"));
        free(refused(f, "NoSuchCGroup", "masked"));
        free(refused(f, "NoSuchCGroup", "masked.service"));
        free(refused(f, "NoSuchCGroup", "not a unit's name"));
        free(refused(f, "NoSuchCGroup", "template@"));
        free(refused(f, "NoSuchCGroup", "-bad-"));
        free(refused(f, "InvalidCGroup", "init.scope"));

        _cleanup_free_ char *both = refused(f, "AmbiguousName", "both");
        assert_non_null(strstr(both, "both.slice (/both.slice), both.service (/system.slice/both.service)"));
        _cleanup_free_ char *idle = refused(f, "AmbiguousName", "idle");
        assert_non_null(strstr(idle, "idle.slice (/idle.slice), idle.service (/system.slice/idle.service)"));
        _cleanup_free_ char *top = refused(f, "AmbiguousName", "top");
        assert_non_null(strstr(top, "a cgroup (/top), top.service (/system.slice/top.service)"));
}

static void test_machines(void **state) {
        struct fixture *f = *state;
        write_file(f, "machined", machines);
        stand_in_start(f, "machined", &f->machined);
        expect_cgroup(f, "vm1", "vm1", "/machine.slice/machine-vm1.scope");
        expect_cgroup(f, "same", "same", "/machine.slice/same.service"); /* found as a unit and as a machine */
        expect_cgroup(f, "both2", "both2", "/machine.slice/machine-vm1.scope");
        expect_cgroup(f, "running", "running", "/system.slice/running.service");
}

/* What is a tenant, or configured as one, is not looked for. */
static void test_known(void **state) {
        struct fixture *f = *state;
        tag(f, "both", "/known");
        expect_cgroup(f, "both", "both", "/known");
        write_file(f, "root/etc/coresched/tenants.d/both.conf", "[Tenant]\nCGroups=/configured\n");
        expect(f->root, MANAGER, "Reload", NULL, "");
        untag(f, "both");
        expect_cgroup(f, "both", "both", "/configured");
        remove_file(f, "root/etc/coresched/tenants.d/both.conf");
        expect(f->root, MANAGER, "Reload", NULL, "");
        free(refused(f, "AmbiguousName", "both"));
}

static void test_silence(void **state) {
        struct fixture *f = *state;
        assert_int_equal(kill(f->systemd, SIGSTOP), 0);
        assert_int_equal(kill(f->machined, SIGSTOP), 0);
        free(refused(f, "Failed", "running"));
        assert_int_equal(kill(f->systemd, SIGCONT), 0);
        assert_int_equal(kill(f->machined, SIGCONT), 0);
        expect_cgroup(f, "running", "running", "/system.slice/running.service");
        stand_in_stop(&f->systemd);
        _cleanup_free_ char *message = refused(f, "NoSuchCGroup", "running");
        assert_non_null(strstr(message, "systemd is not on the bus"));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_paths),    cmocka_unit_test(test_nobody_to_ask), cmocka_unit_test(test_units),
                cmocka_unit_test(test_machines), cmocka_unit_test(test_known),         cmocka_unit_test(test_silence),
        };
        return cmocka_run_group_tests_name("bus/resolve", tests, fixture_start, fixture_stop);
}
