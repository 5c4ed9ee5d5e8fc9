// SPDX-License-Identifier: LGPL-2.1-or-later
/* What each method does when all is well, and when the host cannot do it. */
#include "fixture.h"
#include "strv.h"
#include <string.h>

#define MANAGER CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE

static void test_tag(void **state) {
        struct fixture *f = *state;
        _cleanup_reply_ sd_bus_message *reply = NULL;
        const char *path;
        world(f, "tenant /tag");
        pid_t pid = (pid_t) world(f, "spawn /tag 3");
        expect(f->root, MANAGER, "Tag", &reply, "sa{sv}", "tag-1", 1, "CGroups", "as", 1, "/tag");
        assert_true(sd_bus_message_read(reply, "o", &path) > 0);
        assert_string_equal(path, TENANT("tag_2d1"));

        assert_property(f, path, "Name", "tag-1");
        assert_property(f, path, "State", "enforced");
        assert_property(f, path, "StateReason", "");
        assert_property(f, path, "Policy", "shared");
        assert_property(f, path, "Origin", "runtime");
        assert_property(f, path, "Isolation", "cookie");
        assert_true(get_number(f->root, path, "Cookie") != 0);
        assert_true(get_number(f->root, path, "Cookie") == world(f, "cookie %d", pid));
        assert_int_equal(get_number(f->root, path, "Processes"), 1);
        assert_in_range(get_number(f->root, path, "Threads"), 1, 3); /* the processes, until it was looked at again */
        assert_false(get_bool(f->root, path, "Adopted"));

        tag(f, "tag-1", "/tag");               /* again */
        tag(f, "tag-1", "/sys/fs/cgroup/tag"); /* and as a person may write it */
        untag(f, "tag-1");
        assert_true(world(f, "cookie %d", pid) == 0);
        free(expect_error(f->root, 0, "NoSuchTenant", MANAGER, "GetTenant", "s", "tag-1"));
}

static void test_tenant_object(void **state) {
        struct fixture *f = *state;
        _cleanup_reply_ sd_bus_message *reply = NULL;
        const char *path;
        world(f, "tenant /object");
        pid_t pid = (pid_t) world(f, "spawn /object 1");
        tag(f, "object", "/object");
        expect(f->root, MANAGER, "GetTenant", &reply, "s", "object");
        assert_true(sd_bus_message_read(reply, "o", &path) > 0);
        assert_string_equal(path, TENANT("object"));

        expect(f->root, path, CORESCHED_TENANT_INTERFACE, "SetPolicy", NULL, "s", "strict");
        assert_property(f, path, "Policy", "strict");
        free(expect_error(f->root, 0, "InvalidPolicy", path, CORESCHED_TENANT_INTERFACE, "SetPolicy", "s", "none"));
        assert_property(f, path, "Policy", "strict");
        expect(f->root, path, CORESCHED_TENANT_INTERFACE, "Untag", NULL, "");
        assert_true(world(f, "cookie %d", pid) == 0);
        free(expect_error(f->root, 0, SD_BUS_ERROR_UNKNOWN_OBJECT, path, CORESCHED_TENANT_INTERFACE, "Untag", ""));
}

/* The dictionary of a result: the numbers, and the first finding. */
struct result {
        const char *state, *finding, *error;
        uint64_t threads, bad, outside;
        uint32_t tid;
        size_t n_findings;
};

static void read_result(sd_bus_message *m, struct result *ret) {
        const char *key, *text;
        uint64_t number;
        *ret = (struct result){0};
        assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
        while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
                assert_true(sd_bus_message_read(m, "s", &key) > 0);
                if (strcmp(key, "Findings") == 0) {
                        const char *finding, *error;
                        uint32_t tid;
                        assert_true(sd_bus_message_enter_container(m, 'v', "a(utss)") > 0);
                        assert_true(sd_bus_message_enter_container(m, 'a', "(utss)") > 0);
                        while (sd_bus_message_read(m, "(utss)", &tid, &number, &finding, &error) > 0)
                                if (ret->n_findings++ == 0) {
                                        ret->tid = tid;
                                        ret->finding = finding;
                                        ret->error = error;
                                }
                        assert_true(sd_bus_message_exit_container(m) >= 0);
                        assert_true(sd_bus_message_exit_container(m) >= 0);
                } else if (strncmp(key, "State", 5) == 0) {
                        assert_true(sd_bus_message_read(m, "v", "s", &text) > 0);
                        if (strcmp(key, "State") == 0)
                                ret->state = text;
                } else {
                        assert_true(sd_bus_message_read(m, "v", "t", &number) > 0);
                        if (strcmp(key, "Threads") == 0)
                                ret->threads = number;
                        else if (strcmp(key, "Bad") == 0)
                                ret->bad = number;
                        else if (strcmp(key, "Outside") == 0)
                                ret->outside = number;
                        else
                                assert_string_equal(key, "Cookie");
                }
                assert_true(sd_bus_message_exit_container(m) >= 0);
        }
        assert_true(sd_bus_message_exit_container(m) >= 0);
}

static void test_verify(void **state) {
        struct fixture *f = *state;
        _cleanup_reply_ sd_bus_message *good = NULL, *bad = NULL, *mended = NULL, *all = NULL;
        struct result result;
        const char *name;
        world(f, "tenant /verify");
        world(f, "tenant /verify-other");
        pid_t first = (pid_t) world(f, "spawn /verify 4");
        world(f, "spawn /verify-other 1");
        tag(f, "verify", "/verify");
        tag(f, "verify-other", "/verify-other");

        expect(f->root, TENANT("verify"), CORESCHED_TENANT_INTERFACE, "Verify", &good, "");
        read_result(good, &result);
        assert_string_equal(result.state, "enforced");
        assert_true(result.threads == 4 && result.bad == 0 && result.outside == 0 && result.n_findings == 0);

        world(f, "own %d", first);
        expect(f->root, TENANT("verify"), CORESCHED_TENANT_INTERFACE, "Verify", &bad, "");
        read_result(bad, &result);
        assert_string_equal(result.state, "degraded");
        assert_true(result.threads == 4 && result.bad == 1 && result.n_findings == 1);
        assert_true((pid_t) result.tid == first);
        assert_string_equal(result.finding, "own-cookie");
        assert_string_equal(result.error, "");

        tag(f, "verify", "/verify"); /* whatever mends it, after this it is mended */
        expect(f->root, MANAGER, "Verify", &mended, "s", "verify");
        assert_true(sd_bus_message_enter_container(mended, 'a', "(sa{sv})") > 0);
        assert_true(sd_bus_message_enter_container(mended, 'r', "sa{sv}") > 0);
        assert_true(sd_bus_message_read(mended, "s", &name) > 0);
        assert_string_equal(name, "verify");
        read_result(mended, &result);
        assert_string_equal(result.state, "enforced");
        assert_true(result.bad == 0);

        expect(f->root, MANAGER, "Verify", &all, "s", "");
        assert_true(sd_bus_message_enter_container(all, 'a', "(sa{sv})") > 0);
        for (int i = 0; i < 2; i++) {
                assert_true(sd_bus_message_enter_container(all, 'r', "sa{sv}") > 0);
                assert_true(sd_bus_message_read(all, "s", &name) > 0);
                assert_string_equal(name, i == 0 ? "verify" : "verify-other");
                read_result(all, &result);
                assert_string_equal(result.state, "enforced");
                assert_true(sd_bus_message_exit_container(all) >= 0);
        }
        assert_true(sd_bus_message_at_end(all, false) > 0);
        free(expect_error(f->root, 0, "NoSuchTenant", MANAGER, "Verify", "s", "nobody"));
        untag(f, "verify");
        untag(f, "verify-other");
}

static void test_persistent(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /persistent");
        expect(f->root, MANAGER, "Tag", NULL, "sa{sv}", "persistent", 3, "CGroups", "as", 1, "/persistent", "Policy",
               "s", "strict", "Persistent", "b", true);
        assert_property(f, TENANT("persistent"), "Origin", "configuration");
        assert_property(f, TENANT("persistent"), "Policy", "strict");
        _cleanup_free_ char *file = read_file(f, "root/etc/coresched/tenants.d/persistent.conf");
        assert_non_null(strstr(file, "CGroups=/persistent\n"));
        assert_non_null(strstr(file, "Policy=strict\n"));

        /* Untagged by hand it stays configured, and its name is enough to tag it again. */
        untag(f, "persistent");
        expect(f->root, MANAGER, "Tag", NULL, "sa{sv}", "persistent", 0);
        assert_property(f, TENANT("persistent"), "Policy", "strict");
        expect(f->root, MANAGER, "UntagWithOptions", NULL, "sa{sv}", "persistent", 1, "Persistent", "b", true);
        _cleanup_free_ char *gone = read_file(f, "root/etc/coresched/tenants.d/persistent.conf");
        assert_string_equal(gone, "");
        free(expect_error(f->root, 0, "NoSuchTenant", MANAGER, "Untag", "s", "persistent"));
}

/* The tenant is none any more within a while. */
static void assert_ends(const struct fixture *f, const char *name) {
        for (unsigned i = 0;; i++) {
                _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
                if (sd_bus_call_method(f->root, CORESCHED_BUS_NAME, MANAGER, "GetTenant", &error, NULL, "s", name) <
                    0) {
                        assert_string_equal(error.name, CORESCHED_ERROR_PREFIX "NoSuchTenant");
                        return;
                }
                assert_true(i < 1000);
                usleep(10 * USEC_PER_MSEC);
        }
}

static void tag_transient(const struct fixture *f, const char *name, const char *cgroup) {
        expect(f->root, MANAGER, "Tag", NULL, "sa{sv}", name, 2, "CGroups", "as", 1, cgroup, "Transient", "b", true);
}

static void test_transient(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /transient/a");
        pid_t pid = (pid_t) world(f, "spawn /transient/a 2");
        tag_transient(f, "transient", "/transient/a");
        assert_true(get_bool(f->root, TENANT("transient"), "Transient"));
        assert_property(f, TENANT("transient"), "Origin", "runtime");
        assert_true(world(f, "cookie %d", pid) != 0);
        tag(f, "transient", "/transient/a"); /* it stays what it is */
        assert_true(get_bool(f->root, TENANT("transient"), "Transient"));

        /* Without tasks it stays; without its cgroup it ends. */
        world(f, "kill %d", pid);
        usleep(300 * USEC_PER_MSEC);
        assert_property(f, TENANT("transient"), "Name", "transient");
        world(f, "remove /transient/a");
        assert_ends(f, "transient");

        /* A cgroup that is yet to come is waited for. */
        tag_transient(f, "transient", "/transient/b");
        usleep(300 * USEC_PER_MSEC);
        assert_property(f, TENANT("transient"), "Name", "transient");
        world(f, "tenant /transient/b");
        usleep(300 * USEC_PER_MSEC);
        world(f, "remove /transient/b");
        assert_ends(f, "transient");

        /* One that lasts does not become transient, and one that is written down is not. */
        world(f, "tenant /transient/c");
        tag(f, "lasting", "/transient/c");
        tag_transient(f, "lasting", "/transient/c");
        assert_false(get_bool(f->root, TENANT("lasting"), "Transient"));
        untag(f, "lasting");
        free(expect_error(f->root, 0, "InvalidOption", MANAGER, "Tag", "sa{sv}", "both", 3, "CGroups", "as", 1,
                          "/transient/c", "Transient", "b", true, "Persistent", "b", true));
        tag_transient(f, "kept", "/transient/c");
        expect(f->root, MANAGER, "Tag", NULL, "sa{sv}", "kept", 1, "Persistent", "b", true);
        assert_false(get_bool(f->root, TENANT("kept"), "Transient"));
        world(f, "remove /transient/c");
        usleep(300 * USEC_PER_MSEC);
        assert_property(f, TENANT("kept"), "Origin", "configuration");
        expect(f->root, MANAGER, "UntagWithOptions", NULL, "sa{sv}", "kept", 1, "Persistent", "b", true);

        /* After a restart the daemon knows; what went meanwhile ends. The new world has no cgroup. */
        world(f, "tenant /transient/d");
        tag_transient(f, "transient", "/transient/d");
        tag_transient(f, "waiting", "/transient/e");
        daemon_stop(f);
        daemon_start(f);
        assert_ends(f, "transient");
        assert_true(get_bool(f->root, TENANT("waiting"), "Transient"));
        untag(f, "waiting");
}

static void join(const struct fixture *f, const char *name, const char *cgroup) {
        expect(f->root, MANAGER, "Tag", NULL, "sa{sv}", name, 3, "CGroups", "as", 1, cgroup, "Transient", "b", true,
               "Join", "b", true);
}

static void assert_cgroups(const struct fixture *f, const char *path, const char *words) {
        _cleanup_strv_ char **cgroups = NULL;
        assert_true(sd_bus_get_property_strv(f->root, CORESCHED_BUS_NAME, path, CORESCHED_TENANT_INTERFACE, "CGroups",
                                             NULL, &cgroups) >= 0);
        _cleanup_free_ char *joined = strv_join(cgroups, " ");
        assert_string_equal(joined, words);
}

static void test_join(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /join/a");
        world(f, "tenant /join/b");
        world(f, "tenant /join/c");
        pid_t a = (pid_t) world(f, "spawn /join/a 1"), b = (pid_t) world(f, "spawn /join/b 1");
        join(f, "join", "/join/a");
        join(f, "join", "/join/b");
        assert_cgroups(f, TENANT("join"), "/join/a /join/b");
        assert_true(world(f, "cookie %d", a) != 0);
        assert_true(world(f, "cookie %d", a) == world(f, "cookie %d", b));
        join(f, "join", "/join/b/inner"); /* is in it */
        assert_cgroups(f, TENANT("join"), "/join/a /join/b");

        /* It ends with the last one; those that are gone are not kept when others join. */
        world(f, "kill %d", a);
        world(f, "remove /join/a");
        join(f, "join", "/join/c");
        assert_cgroups(f, TENANT("join"), "/join/b /join/c");
        world(f, "kill %d", b);
        world(f, "remove /join/b");
        world(f, "remove /join/c");
        assert_ends(f, "join");

        tag(f, "other", "/join/other");
        free(expect_error(f->root, 0, "TenantExists", MANAGER, "Tag", "sa{sv}", "joins", 2, "CGroups", "as", 1,
                          "/join/other/inner", "Join", "b", true));
        untag(f, "other");
        expect(f->root, MANAGER, "Tag", NULL, "sa{sv}", "kept", 2, "CGroups", "as", 1, "/join/kept", "Persistent", "b",
               true);
        join(f, "kept", "/join/kept/inner");
        assert_cgroups(f, TENANT("kept"), "/join/kept");
        free(expect_error(f->root, 0, "TenantExists", MANAGER, "Tag", "sa{sv}", "kept", 2, "CGroups", "as", 1,
                          "/join/elsewhere", "Join", "b", true));
        expect(f->root, MANAGER, "UntagWithOptions", NULL, "sa{sv}", "kept", 1, "Persistent", "b", true);
}

static void test_reload(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /reload");
        write_file(f, "root/etc/coresched/tenants.d/reload.conf", "[Tenant]\nCGroups=/reload\n");
        expect(f->root, MANAGER, "Reload", NULL, "");
        assert_property(f, TENANT("reload"), "Origin", "configuration");

        write_file(f, "root/etc/coresched/tenants.d/wrong.conf", "[Tenant]\nCGroup=/wrong\n");
        _cleanup_free_ char *message = expect_error(f->root, 0, "InvalidConfig", MANAGER, "Reload", "");
        assert_non_null(strstr(message, "wrong.conf"));
        assert_property(f, TENANT("reload"), "Origin", "configuration");
        _cleanup_free_ char *wrong = get_string(f->root, CORESCHED_PATH, "ConfigurationError");
        assert_non_null(strstr(wrong, "tenants.d/wrong.conf:2"));
        write_file(f, "root/etc/coresched/tenants.d/wrong.conf", "[Tenant]\nCGroups=/init.scope\n");
        _cleanup_free_ char *host = expect_error(f->root, 0, "InvalidConfig", MANAGER, "Reload", "");
        assert_non_null(strstr(host, "tenants.d/wrong.conf: /init.scope cannot be a tenant"));
        remove_file(f, "root/etc/coresched/tenants.d/wrong.conf");
        expect(f->root, MANAGER, "Reload", NULL, "");
        assert_property(f, CORESCHED_PATH, "ConfigurationError", "");

        /* Other cgroups: who is outside now loses the cookie. */
        world(f, "tenant /elsewhere");
        pid_t stays = (pid_t) world(f, "spawn /reload 1"), new = (pid_t) world(f, "spawn /elsewhere 1");
        tag(f, "reload", "/reload");
        assert_true(world(f, "cookie %d", stays) != 0);
        write_file(f, "root/etc/coresched/tenants.d/reload.conf", "[Tenant]\nCGroups=/elsewhere\n");
        expect(f->root, MANAGER, "Reload", NULL, "");
        tag(f, "reload", "/elsewhere");
        assert_true(world(f, "cookie %d", new) != 0);
        assert_true(world(f, "cookie %d", stays) == 0);

        /* A file that went while SMT was off: the tenant goes when it is back. */
        write_file(f, "root/etc/coresched/tenants.d/gone.conf", "[Tenant]\nCGroups=/reload\n");
        expect(f->root, MANAGER, "Reload", NULL, "");
        tag(f, "gone", "/reload");
        assert_true(world(f, "cookie %d", stays) != 0);
        world(f, "smt off");
        remove_file(f, "root/etc/coresched/tenants.d/gone.conf");
        expect(f->root, MANAGER, "Reload", NULL, "");
        assert_property(f, TENANT("gone"), "Name", "gone");
        world(f, "smt on");
        for (int i = 0; i < 200 && world(f, "cookie %d", stays) != 0; i++)
                (void) usleep(20000);
        assert_true(world(f, "cookie %d", stays) == 0);

        /* What somebody else wrote is not removed, unless that is wanted. */
        free(expect_error(f->root, 0, "TenantExists", MANAGER, "UntagWithOptions", "sa{sv}", "reload", 1, "Persistent",
                          "b", true));
        assert_property(f, TENANT("reload"), "Origin", "configuration");
        remove_file(f, "root/etc/coresched/tenants.d/reload.conf");
        expect(f->root, MANAGER, "Reload", NULL, "");
        for (int i = 0; i < 200 && world(f, "cookie %d", new) != 0; i++)
                (void) usleep(20000);
        (void) usleep(200000); /* children in flight are waited for */
        free(expect_error(f->root, 0, "NoSuchTenant", MANAGER, "GetTenant", "s", "reload"));
}

/* A path of bytes that are no UTF-8 must not break the answers that it is part of. */
static void test_bytes(void **state) {
        struct fixture *f = *state;
        _cleanup_reply_ sd_bus_message *objects = NULL;
        char **cgroups = NULL;
        write_file(f, "root/etc/coresched/tenants.d/bytes.conf", "[Tenant]\nCGroups=/a\\xff\\x20b\\xef\\xbf\\xbe\n");
        expect(f->root, MANAGER, "Reload", NULL, "");
        assert_true(sd_bus_get_property_strv(f->root, CORESCHED_BUS_NAME, TENANT("bytes"), CORESCHED_TENANT_INTERFACE,
                                             "CGroups", NULL, &cgroups) >= 0);
        assert_string_equal(cgroups[0], "/a\\xff b\\xef\\xbf\\xbe");
        assert_null(cgroups[1]);
        free(cgroups[0]);
        free(cgroups);
        expect(f->root, CORESCHED_PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", &objects, "");
        remove_file(f, "root/etc/coresched/tenants.d/bytes.conf");
        expect(f->root, MANAGER, "Reload", NULL, "");

        /* With and without a NUL at the end. */
        expect(f->root, MANAGER, "Tag", NULL, "sa{sv}", "bytes", 1, "CGroups", "aay", 2, 3, '/', 'b', 0xff, 4, '/', 'c',
               0xfe, 0);
        assert_true(sd_bus_get_property_strv(f->root, CORESCHED_BUS_NAME, TENANT("bytes"), CORESCHED_TENANT_INTERFACE,
                                             "CGroups", NULL, &cgroups) >= 0);
        assert_string_equal(cgroups[0], "/b\\xff");
        assert_string_equal(cgroups[1], "/c\\xfe");
        assert_null(cgroups[2]);
        strv_free(cgroups);
        expect(f->root, MANAGER, "Untag", NULL, "s", "bytes");
}

static void test_host(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /host");
        pid_t pid = (pid_t) world(f, "spawn /host 1");
        assert_property(f, CORESCHED_PATH, "Version", CORESCHED_VERSION);
        assert_property(f, CORESCHED_PATH, "CoreScheduling", "available");
        assert_property(f, CORESCHED_PATH, "SmtControl", "on");
        assert_property(f, CORESCHED_PATH, "DefaultPolicy", "shared");
        assert_true(get_bool(f->root, CORESCHED_PATH, "SmtActive"));
        char **policies = NULL;
        assert_true(sd_bus_get_property_strv(f->root, CORESCHED_BUS_NAME, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE,
                                             "Policies", NULL, &policies) >= 0);
        bool strict = false;
        for (char **p = policies; *p; p++) {
                strict = strict || strcmp(*p, "strict") == 0;
                free(*p);
        }
        free(policies);
        assert_true(strict);

        world(f, "smt off");
        assert_property(f, CORESCHED_PATH, "CoreScheduling", "no-smt");
        assert_property(f, CORESCHED_PATH, "SmtControl", "off");
        assert_false(get_bool(f->root, CORESCHED_PATH, "SmtActive"));
        tag(f, "host", "/host");
        assert_property(f, TENANT("host"), "State", "inert");
        assert_property(f, TENANT("host"), "Isolation", "smt-off");
        world(f, "smt on");
        tag(f, "host", "/host");
        assert_property(f, TENANT("host"), "State", "enforced");
        assert_true(world(f, "cookie %d", pid) != 0);
        untag(f, "host");

        static const char *const kernels[][2] = {{"none", "unsupported"}, {"denied", "denied"}, {"ext", "sched-ext"}};
        for (size_t i = 0; i < ELEMENTS(kernels); i++) {
                world(f, "kernel %s", kernels[i][0]);
                assert_property(f, CORESCHED_PATH, "CoreScheduling", kernels[i][1]);
                free(expect_error(f->root, 0, "NotSupported", MANAGER, "Tag", "sa{sv}", "host", 1, "CGroups", "as", 1,
                                  "/host"));
                free(expect_error(f->root, 0, "NoSuchTenant", MANAGER, "GetTenant", "s", "host"));
                expect(f->root, MANAGER, "Tag", NULL, "sa{sv}", "host", 2, "CGroups", "as", 1, "/host", "Force", "b",
                       true);
                assert_property(f, TENANT("host"), "State", "exposed");
                assert_property(f, TENANT("host"), "Isolation", "none");
                world(f, "kernel full");
                untag(f, "host");
        }
}

static void test_degraded(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /degraded");
        world(f, "spawn /degraded 1");
        world(f, "fail deliver-target 0 1000 1");
        tag(f, "degraded", "/degraded");
        world(f, "fail deliver-target 0 0 1");
        assert_property(f, TENANT("degraded"), "State", "degraded");
        _cleanup_free_ char *reason = get_string(f->root, TENANT("degraded"), "StateReason");
        assert_true(*reason);
        untag(f, "degraded");
}

static void test_restart(void **state) {
        struct fixture *f = *state;
        world(f, "tenant /restart");
        pid_t pid = (pid_t) world(f, "spawn /restart 1");
        world(f, "stubborn %d", pid);
        /* The daemon waits for the tenant to freeze when it is stopped: the caller hears of that. */
        _cleanup_reply_ sd_bus_message *m = NULL, *reply = NULL;
        assert_true(sd_bus_message_new_method_call(f->root, &m, CORESCHED_BUS_NAME, MANAGER, "Tag") >= 0);
        assert_true(sd_bus_message_append(m, "sa{sv}", "restart", 2, "CGroups", "as", 1, "/restart", "Policy", "s",
                                          "strict") >= 0);
        uint64_t serial;
        assert_true(sd_bus_send(f->root, m, &serial) >= 0);
        assert_property(f, TENANT("restart"), "State", "pending");
        daemon_stop(f);
        for (;;) {
                int r = sd_bus_process(f->root, &reply);
                assert_true(r >= 0);
                uint64_t answered;
                if (reply && sd_bus_message_get_reply_cookie(reply, &answered) >= 0 && answered == serial)
                        break;
                reply = sd_bus_message_unref(reply);
                if (r == 0)
                        assert_true(sd_bus_wait(f->root, 10 * USEC_PER_SEC) > 0);
        }
        assert_string_equal(sd_bus_message_get_error(reply)->name, CORESCHED_ERROR_PREFIX "Failed");
        daemon_start(f);
        assert_property(f, TENANT("restart"), "Name", "restart"); /* the new world has no such cgroup, the state has */
        untag(f, "restart");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_tag),        cmocka_unit_test(test_tenant_object), cmocka_unit_test(test_verify),
                cmocka_unit_test(test_persistent), cmocka_unit_test(test_transient),     cmocka_unit_test(test_join),
                cmocka_unit_test(test_reload),     cmocka_unit_test(test_bytes),         cmocka_unit_test(test_host),
                cmocka_unit_test(test_degraded),   cmocka_unit_test(test_restart),
        };
        return cmocka_run_group_tests_name("bus/methods", tests, fixture_start, fixture_stop);
}
