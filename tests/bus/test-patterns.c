// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tenants that a policy's Match= makes of cgroups as they appear, and that end as those go; cases 14 and 42. */
#include "fixture.h"
#include "strv.h"
#include <string.h>

#define MANAGER CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE

static bool is_tenant(const struct fixture *f, const char *name) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        return sd_bus_call_method(f->root, CORESCHED_BUS_NAME, MANAGER, "GetTenant", &error, NULL, "s", name) >= 0;
}

static void await(const struct fixture *f, const char *name, bool there) {
        for (unsigned i = 0; is_tenant(f, name) != there; i++) {
                if (i == 1000)
                        fail_msg("%s is %s tenant", name, there ? "no" : "still a");
                usleep(10 * USEC_PER_MSEC);
        }
}

/* Until what was done before has been seen. */
static void settle(void) {
        usleep(300 * USEC_PER_MSEC);
}

/* The path of the tenant's object, and how many cgroups it has. */
static size_t n_cgroups(const struct fixture *f, const char *path) {
        _cleanup_strv_ char **cgroups = NULL;
        assert_true(sd_bus_get_property_strv(f->root, CORESCHED_BUS_NAME, path, CORESCHED_TENANT_INTERFACE, "CGroups",
                                             NULL, &cgroups) >= 0);
        return strv_length(cgroups);
}

static void policy(const struct fixture *f, const char *name, const char *text) {
        _cleanup_free_ char *file = NULL, *whole = NULL;
        assert_true(asprintf(&file, "root/etc/coresched/policies.d/%s.conf", name) > 0);
        assert_true(asprintf(&whole, "[Policy]\n%s\n", text) > 0);
        write_file(f, file, whole);
}

static void reload(const struct fixture *f) {
        expect(f->root, MANAGER, "Reload", NULL, "");
}

/* No policy with patterns, no cgroup of these tests. */
static int teardown(void **state) {
        struct fixture *f = *state;
        static const char *const files[] = {"policies.d/vm", "policies.d/many", "policies.d/users", "tenants.d/own",
                                            "coreschedd.conf.d/on"};
        for (size_t i = 0; i < ELEMENTS(files); i++) {
                _cleanup_free_ char *file = NULL;
                assert_true(asprintf(&file, "root/etc/coresched/%s.conf", files[i]) > 0);
                remove_file(f, file);
        }
        reload(f);
        return 0;
}

static uint64_t cookie(const struct fixture *f, pid_t pid) {
        return world(f, "cookie %d", (int) pid);
}

static void test_one_for_each(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /m1/machine-qemu\\x2d1\\x2da.scope");
        pid_t a = (pid_t) world(f, "spawn /m1/machine-qemu\\x2d1\\x2da.scope 2");
        policy(f, "vm", "Match=m1/machine-qemu\\x2d*.scope m1/libpod-*\nExclude=m1/libpod-conmon-*\nAttach=freeze");
        reload(f);
        /* what was there, */
        await(f, "machine-qemu-1-a", true);
        const char *path = TENANT("machine_2dqemu_2d1_2da");
        assert_property(f, path, "Origin", "pattern");
        assert_property(f, path, "Policy", "vm");
        assert_property(f, path, "State", "enforced");
        assert_true(get_bool(f->root, path, "Transient"));
        assert_true(cookie(f, a) != 0);

        /* what comes, with what is in it, */
        world(f, "tenant /m1/libpod-1");
        world(f, "tenant /m1/libpod-1/container");
        pid_t b = (pid_t) world(f, "spawn /m1/libpod-1/container 2");
        world(f, "cgroup /m1/libpod-conmon-1");
        pid_t conmon = (pid_t) world(f, "spawn /m1/libpod-conmon-1 1");
        world(f, "cgroup /m1/other");
        await(f, "libpod-1", true);
        settle();
        assert_true(cookie(f, b) != 0);
        assert_true(cookie(f, a) != cookie(f, b));
        assert_int_equal(cookie(f, conmon), 0);
        assert_false(is_tenant(f, "libpod-conmon-1"));
        assert_false(is_tenant(f, "other"));

        /* and what goes. */
        world(f, "kill %d", (int) b);
        world(f, "remove /m1/libpod-1/container");
        settle();
        assert_true(is_tenant(f, "libpod-1"));
        world(f, "remove /m1/libpod-1");
        await(f, "libpod-1", false);
        assert_true(is_tenant(f, "machine-qemu-1-a"));

        /* Without the policy there are no such tenants. */
        policy(f, "vm", "Match=m1/libpod-*");
        reload(f);
        await(f, "machine-qemu-1-a", false);
        assert_int_equal(cookie(f, a), 0);
}

static void test_inactive(void **state) {
        struct fixture *f = *state;
        _cleanup_strv_ char **active = NULL;
        world(f, "tenant /m2/a");
        policy(f, "vm", "Match=m2/*\nActive=no");
        reload(f);
        settle();
        assert_false(is_tenant(f, "a"));
        write_file(f, "root/etc/coresched/coreschedd.conf.d/on.conf", "[Daemon]\nPatterns=vm\n");
        reload(f);
        await(f, "a", true);
        assert_true(sd_bus_get_property_strv(f->root, CORESCHED_BUS_NAME, MANAGER, "ActivePatterns", NULL, &active) >=
                    0);
        assert_int_equal(strv_length(active), 1);
        assert_string_equal(active[0], "vm");
        remove_file(f, "root/etc/coresched/coreschedd.conf.d/on.conf");
        reload(f);
        await(f, "a", false);
}

/* One tenant for all of a customer's, none for what names no customer. */
static void test_one_for_many(void **state) {
        struct fixture *f = *state;
        policy(f, "many", "Match=m3/vm-*-*\nTenant=customer_%2");
        reload(f);
        world(f, "tenant /m3/vm-1-acme");
        world(f, "tenant /m3/vm-2-acme");
        world(f, "tenant /m3/vm-3-corp");
        world(f, "cgroup /m3/vm-4-");
        pid_t nobody = (pid_t) world(f, "spawn /m3/vm-4- 1");
        pid_t a = (pid_t) world(f, "spawn /m3/vm-1-acme 1"), b = (pid_t) world(f, "spawn /m3/vm-2-acme 1"),
              c = (pid_t) world(f, "spawn /m3/vm-3-corp 1");
        await(f, "customer_acme", true);
        await(f, "customer_corp", true);
        settle();
        assert_int_equal(n_cgroups(f, TENANT("customer_5facme")), 2);
        assert_true(cookie(f, a) != 0);
        assert_true(cookie(f, a) == cookie(f, b));
        assert_true(cookie(f, a) != cookie(f, c));
        assert_int_equal(cookie(f, nobody), 0);
        assert_false(is_tenant(f, "customer_"));
        assert_false(is_tenant(f, ""));

        world(f, "kill %d", (int) a);
        world(f, "remove /m3/vm-1-acme");
        settle();
        assert_int_equal(n_cgroups(f, TENANT("customer_5facme")), 1);
        assert_true(cookie(f, b) != 0);
        world(f, "kill %d", (int) b);
        world(f, "remove /m3/vm-2-acme");
        await(f, "customer_acme", false);
        assert_true(is_tenant(f, "customer_corp"));

        /* A name that is somebody else's is not taken. */
        world(f, "tenant /elsewhere");
        tag(f, "customer_own", "/elsewhere");
        world(f, "cgroup /m3/vm-5-own");
        settle();
        assert_int_equal(n_cgroups(f, TENANT("customer_5fown")), 1);
        untag(f, "customer_own");
}

/* A match within a tenant does not split it; what a tag by hand has is left alone, and matched when it is untagged. */
static void test_nested(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /m4/user-1/libpod-x");
        world(f, "tenant /m4/user-2/libpod-y");
        tag(f, "mine", "/m4/user-2/libpod-y");
        policy(f, "users", "Match=m4/user-*");
        policy(f, "vm", "Match=m4/user-*/libpod-*");
        reload(f);
        await(f, "user-1", true);
        settle();
        assert_false(is_tenant(f, "libpod-x"));
        assert_false(is_tenant(f, "user-2"));
        assert_property(f, TENANT("mine"), "Origin", "runtime");
        untag(f, "mine");
        await(f, "user-2", true);
        assert_false(is_tenant(f, "libpod-y"));
}

static void test_untagged_by_hand(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /m5/a");
        world(f, "tenant /m5/b");
        policy(f, "vm", "Match=m5/*");
        reload(f);
        await(f, "a", true);
        untag(f, "a");
        world(f, "tenant /m5/a/below");
        world(f, "tenant /m5/c");
        await(f, "c", true);
        assert_false(is_tenant(f, "a"));

        /* until the cgroup goes, */
        world(f, "remove /m5/a/below");
        world(f, "remove /m5/a");
        settle();
        world(f, "tenant /m5/a");
        await(f, "a", true);

        /* or the configuration is read again. */
        untag(f, "a");
        settle();
        assert_false(is_tenant(f, "a"));
        reload(f);
        await(f, "a", true);

        /* A tag by hand takes its place, with its cookie. */
        pid_t pid = (pid_t) world(f, "spawn /m5/c 1");
        settle();
        uint64_t before = cookie(f, pid);
        assert_true(before != 0);
        tag(f, "taken", "/m5/c");
        assert_false(is_tenant(f, "c"));
        assert_true(cookie(f, pid) == before);
        assert_false(get_bool(f->root, TENANT("taken"), "Adopted"));
        untag(f, "taken");
        assert_int_equal(cookie(f, pid), 0);
        settle();
        assert_false(is_tenant(f, "c"));

        /* A tag by hand of what was untagged is one by hand. */
        untag(f, "b");
        tag(f, "hand", "/m5/b");
        assert_property(f, TENANT("hand"), "Origin", "runtime");
        reload(f);
        settle();
        assert_false(is_tenant(f, "b"));
        untag(f, "hand");
        settle();
        assert_false(is_tenant(f, "b"));
}

static void test_configured(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /m6/a");
        pid_t a = (pid_t) world(f, "spawn /m6/a 1");
        policy(f, "vm", "Match=m6/*");
        reload(f);
        await(f, "a", true);
        uint64_t before = cookie(f, a);
        write_file(f, "root/etc/coresched/tenants.d/own.conf", "[Tenant]\nCGroups=/m6/a\nPolicy=strict\n");
        reload(f);
        await(f, "own", true);
        await(f, "a", false);
        assert_property(f, TENANT("own"), "Origin", "configuration");
        untag(f, "own");
        settle();
        assert_false(is_tenant(f, "a"));
        remove_file(f, "root/etc/coresched/tenants.d/own.conf");
        reload(f);
        await(f, "a", true);
        assert_true(before != 0);

        /* For good. */
        expect(f->root, MANAGER, "Tag", NULL, "sa{sv}", "a", 1, "Persistent", "b", true);
        assert_property(f, TENANT("a"), "Origin", "configuration");
        assert_false(get_bool(f->root, TENANT("a"), "Transient"));
        policy(f, "vm", "Match=none/*");
        reload(f);
        assert_property(f, TENANT("a"), "Origin", "configuration");
        expect(f->root, MANAGER, "UntagWithOptions", NULL, "sa{sv}", "a", 1, "Persistent", "b", true);
}

/* The same name twice: two tenants. */
static void test_namesakes(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /m7/x/same.scope");
        world(f, "tenant /m7/y/same.slice");
        pid_t x = (pid_t) world(f, "spawn /m7/x/same.scope 1"), y = (pid_t) world(f, "spawn /m7/y/same.slice 1");
        policy(f, "vm", "Match=m7/*/*");
        reload(f);
        await(f, "same", true);
        await(f, "same~2", true);
        settle();
        assert_true(cookie(f, x) != 0);
        assert_true(cookie(f, y) != 0);
        assert_true(cookie(f, x) != cookie(f, y));
}

static void test_lost_events(void **state) {
        struct fixture *f = *state;
        policy(f, "vm", "Match=m8/*\nTenant=all");
        world(f, "tenant /m8/a");
        world(f, "tenant /m8/b");
        reload(f);
        await(f, "all", true);
        world(f, "unseen tenant /m8/c");
        settle();
        assert_int_equal(n_cgroups(f, TENANT("all")), 3);
        world(f, "unseen remove /m8/b");
        settle();
        assert_int_equal(n_cgroups(f, TENANT("all")), 2);
        world(f, "unseen remove /m8/a");
        world(f, "unseen remove /m8/c");
        await(f, "all", false);
}

static void test_wrong(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /m9/a");
        policy(f, "vm", "Match=m9/*");
        reload(f);
        await(f, "a", true);
        policy(f, "vm", "Match=m9/*\nTenant=%3");
        _cleanup_free_ char *message = expect_error(f->root, 0, "InvalidConfig", MANAGER, "Reload", "");
        assert_non_null(strstr(message, "vm.conf:3: Tenant=: \"%3\" asks for %3, but \"m9/*\" of Match= has only 1 *"));
        assert_true(is_tenant(f, "a"));
}

/* After a restart there is a new world, in which the cgroups are gone. */
static void test_restart(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /m10/a");
        policy(f, "vm", "Match=m10/*");
        reload(f);
        await(f, "a", true);
        daemon_stop(f);
        _cleanup_free_ char *saved = read_file(f, "state/state.json");
        assert_non_null(strstr(saved, "\"origin\":\"pattern\",\"pattern\":\"vm\""));
        daemon_start(f);
        await(f, "a", false);
        world(f, "tenant /m10/b");
        await(f, "b", true);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                TEST(test_one_for_each), TEST(test_inactive),         TEST(test_one_for_many),
                TEST(test_nested),       TEST(test_untagged_by_hand), TEST(test_configured),
                TEST(test_namesakes),    TEST(test_lost_events),      TEST(test_wrong),
                TEST(test_restart),
        };
        return cmocka_run_group_tests_name("bus/patterns", tests, fixture_start, fixture_stop);
}
