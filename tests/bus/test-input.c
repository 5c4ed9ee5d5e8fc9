// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bad input: each has an error with a name, nothing is half-done, and the daemon lives. */
#include "fixture.h"
#include <string.h>

#define MANAGER CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE

static size_t n_tenants(const struct fixture *f) {
        _cleanup_reply_ sd_bus_message *reply = NULL;
        size_t n = 0;
        expect(f->root, CORESCHED_PATH, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", &reply, "");
        assert_true(sd_bus_message_enter_container(reply, 'a', "{oa{sa{sv}}}") > 0);
        while (sd_bus_message_enter_container(reply, 'e', "oa{sa{sv}}") > 0) {
                const char *path;
                assert_true(sd_bus_message_read(reply, "o", &path) > 0);
                n += strncmp(path, CORESCHED_TENANT_PREFIX "/", strlen(CORESCHED_TENANT_PREFIX "/")) == 0;
                assert_true(sd_bus_message_skip(reply, "a{sa{sv}}") > 0);
                assert_true(sd_bus_message_exit_container(reply) >= 0);
        }
        return n;
}

static void refuse_tag(const struct fixture *f, const char *error, const char *name, const char *cgroup) {
        free(expect_error(f->root, 0, error, MANAGER, "Tag", "sa{sv}", name, 1, "CGroups", "as", 1, cgroup));
}

static char *repeat(const char *text, size_t n) {
        char *all = calloc(n, strlen(text) + 1), *end = all;
        assert_non_null(all);
        for (size_t i = 0; i < n; i++)
                end = stpcpy(end, text);
        return all;
}

static void test_names(void **state) {
        struct fixture *f = *state;
        _cleanup_free_ char *long_name = repeat("n", 256), *longest = repeat("n", 255), *slashes = repeat("/", 255),
                            *huge = repeat("huge", 250000);
        static const char *const wrong[] = {"", ".", "..", " a", "a ", "a\nb", "a\x7f", "a/b"};
        for (size_t i = 0; i < ELEMENTS(wrong); i++)
                refuse_tag(f, "InvalidName", wrong[i], "/names");
        refuse_tag(f, "InvalidName", long_name, "/names");
        refuse_tag(f, "InvalidName", slashes, "/names");
        refuse_tag(f, "InvalidName", huge, "/names");
        assert_int_equal(n_tenants(f), 0);
        tag(f, longest, "/names");
        assert_int_equal(n_tenants(f), 1);
        untag(f, longest);
        tag(f, "Größe \"x\" \\x2d [1]", "/names");
        untag(f, "Größe \"x\" \\x2d [1]");

        /* Where no cgroup is given, a name with a '/' is a path. */
        free(expect_error(f->root, 0, "InvalidName", MANAGER, "Tag", "sa{sv}", "", 0));
        free(expect_error(f->root, 0, "InvalidName", MANAGER, "Tag", "sa{sv}", long_name, 0));
        free(expect_error(f->root, 0, "InvalidCGroup", MANAGER, "Tag", "sa{sv}", slashes, 0));
        free(expect_error(f->root, 0, "InvalidCGroup", MANAGER, "Tag", "sa{sv}", "/a/../b", 0));
        free(expect_error(f->root, 0, "InvalidCGroup", MANAGER, "Tag", "sa{sv}", "/sys/fs/cgroup", 0));
        free(expect_error(f->root, 0, "InvalidCGroup", MANAGER, "Tag", "sa{sv}", "init.scope/", 0));
        free(expect_error(f->root, 0, "NoSuchCGroup", MANAGER, "Tag", "sa{sv}", "nothing-is-called-so", 0));

        static const char *const methods[] = {"Untag", "GetTenant", "Verify"};
        for (size_t i = 0; i < ELEMENTS(methods); i++) {
                free(expect_error(f->root, 0, "NoSuchTenant", MANAGER, methods[i], "s", "stranger"));
                free(expect_error(f->root, 0, "NoSuchTenant", MANAGER, methods[i], "s", slashes));
                free(expect_error(f->root, 0, "NoSuchTenant", MANAGER, methods[i], "s", huge));
        }
        assert_int_equal(n_tenants(f), 0);
}

static void test_cgroups(void **state) {
        struct fixture *f = *state;
        _cleanup_free_ char *component = repeat("c", 256), *too_long = NULL, *deep = repeat("/ü", 1333),
                            *deeper = repeat("/d", 2048);
        assert_true(asprintf(&too_long, "/%s", component) > 0);
        world(f, "tenant /cgroups/inner");
        world(f, "tenant /file");
        static const char *const wrong[] = {"",
                                            "/",
                                            "//",
                                            ".",
                                            "/..",
                                            "/a/../b",
                                            "/sys/fs/cgroup",
                                            "/init.scope",
                                            "/system.slice/dbus.service",
                                            "/system.slice"};
        for (size_t i = 0; i < ELEMENTS(wrong); i++)
                refuse_tag(f, "InvalidCGroup", "wrong", wrong[i]);
        refuse_tag(f, "InvalidCGroup", "wrong", too_long);
        refuse_tag(f, "InvalidCGroup", "wrong", deeper);
        world(f, "fail find 0 1 20"); /* ENOTDIR */
        refuse_tag(f, "InvalidCGroup", "wrong", "/file/cgroup.procs");
        tag(f, "deep", deep);
        untag(f, "deep");

        /* One of several is wrong: nothing is done. */
        free(expect_error(f->root, 0, "InvalidCGroup", MANAGER, "Tag", "sa{sv}", "several", 1, "CGroups", "as", 3,
                          "/several/a", "/several/b", "/"));
        assert_int_equal(n_tenants(f), 0);

        tag(f, "inner", "/cgroups/inner");
        refuse_tag(f, "TenantExists", "outer", "/cgroups");
        refuse_tag(f, "TenantExists", "same", "/cgroups/inner");
        refuse_tag(f, "TenantExists", "innermost", "/cgroups/inner/most");
        refuse_tag(f, "TenantExists", "inner", "/cgroups/other");
        assert_int_equal(n_tenants(f), 1);
        tag(f, "beside", "/cgroups/inner-2");
        untag(f, "beside");
        untag(f, "inner");
}

static void test_options(void **state) {
        struct fixture *f = *state;
        const char *tag_in[] = {MANAGER, "Tag"};
#define WRONG_TAG(...)                                                                                                 \
        expect_error(f->root, 0, "InvalidOption", tag_in[0], tag_in[1], tag_in[2], "sa{sv}", "o", __VA_ARGS__)
#define WRONG_UNTAG(...)                                                                                               \
        expect_error(f->root, 0, "InvalidOption", tag_in[0], tag_in[1], "UntagWithOptions", "sa{sv}", "o", __VA_ARGS__)
        _cleanup_free_ char *unknown = WRONG_TAG(1, "Colour", "s", "red");
        assert_non_null(strstr(unknown, "Colour"));
        _cleanup_free_ char *type = WRONG_TAG(1, "CGroups", "s", "/options");
        assert_non_null(strstr(type, "CGroups"));
        assert_non_null(strstr(type, "'as'"));
        free(WRONG_TAG(1, "cgroups", "as", 1, "/options"));
        free(WRONG_TAG(1, "CGroups", "as", 0));
        free(WRONG_TAG(1, "CGroups", "ao", 1, "/options"));
        free(WRONG_TAG(1, "CGroups", "a(s)", 1, "/options"));
        free(WRONG_TAG(1, "CGroups", "aay", 0));
        free(WRONG_TAG(1, "CGroups", "aay", 1, 3, '/', 0, 'a'));
        free(WRONG_TAG(1, "Policy", "as", 1, "shared"));
        free(WRONG_TAG(1, "Policy", "t", UINT64_MAX));
        free(WRONG_TAG(1, "Persistent", "s", "yes"));
        free(WRONG_TAG(1, "Force", "i", -1));
        free(WRONG_TAG(1, "Transient", "s", "yes"));
        free(WRONG_TAG(1, "Force", "v", "b", true));
        free(WRONG_TAG(2, "Force", "b", true, "Force", "b", true));
        free(WRONG_UNTAG(1, "CGroups", "as", 1, "/options"));
        free(WRONG_UNTAG(1, "Policy", "s", "shared"));
        free(WRONG_UNTAG(1, "Force", "u", 1));
        free(WRONG_UNTAG(1, "Transient", "b", true));
        free(expect_error(f->root, 0, "InvalidPolicy", MANAGER, "Tag", "sa{sv}", "o", 2, "CGroups", "as", 1, "/options",
                          "Policy", "s", "no such policy"));
        free(expect_error(f->root, 0, "InvalidPolicy", MANAGER, "Tag", "sa{sv}", "o", 2, "CGroups", "as", 1, "/options",
                          "Policy", "s", ""));
        free(expect_error(f->root, 0, SD_BUS_ERROR_INVALID_ARGS, MANAGER, "Tag", "s", "o"));
        free(expect_error(f->root, 0, SD_BUS_ERROR_INVALID_ARGS, MANAGER, "Untag", "i", -1));
        free(expect_error(f->root, 0, SD_BUS_ERROR_INVALID_ARGS, MANAGER, "GetTenant", ""));
        free(expect_error(f->root, 0, SD_BUS_ERROR_UNKNOWN_METHOD, MANAGER, "Tagg", "s", "o"));
        free(expect_error(f->root, 0, SD_BUS_ERROR_UNKNOWN_OBJECT, TENANT("o"), CORESCHED_TENANT_INTERFACE, "Verify",
                          ""));
        assert_int_equal(n_tenants(f), 0);
}

/* So many cgroups, or options, as n says, in one call. */
static sd_bus_message *many(const struct fixture *f, const char *name, size_t n, const char *key) {
        sd_bus_message *m;
        assert_true(sd_bus_message_new_method_call(f->root, &m, CORESCHED_BUS_NAME, MANAGER, "Tag") >= 0);
        assert_true(sd_bus_message_append(m, "s", name) >= 0);
        assert_true(sd_bus_message_open_container(m, 'a', "{sv}") >= 0);
        if (key)
                for (size_t i = 0; i < n; i++) {
                        char other[32];
                        snprintf(other, sizeof(other), "%s%zu", key, i);
                        assert_true(sd_bus_message_append(m, "{sv}", other, "b", true) >= 0);
                }
        else {
                assert_true(sd_bus_message_open_container(m, 'e', "sv") >= 0);
                assert_true(sd_bus_message_append(m, "s", "CGroups") >= 0);
                assert_true(sd_bus_message_open_container(m, 'v', "as") >= 0);
                assert_true(sd_bus_message_open_container(m, 'a', "s") >= 0);
                for (size_t i = 0; i < n; i++) {
                        char path[32];
                        snprintf(path, sizeof(path), "/many/%zu", i);
                        assert_true(sd_bus_message_append(m, "s", path) >= 0);
                }
                for (int i = 0; i < 3; i++)
                        assert_true(sd_bus_message_close_container(m) >= 0);
        }
        assert_true(sd_bus_message_close_container(m) >= 0);
        return m;
}

static void test_many(void **state) {
        struct fixture *f = *state;
        static const size_t numbers[] = {65, 10000, 1000000};
        for (size_t i = 0; i < ELEMENTS(numbers); i++) {
                _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
                _cleanup_reply_ sd_bus_message *m = many(f, "many", numbers[i], NULL);
                assert_true(sd_bus_call(f->root, m, 0, &error, NULL) < 0);
                assert_string_equal(error.name, CORESCHED_ERROR_PREFIX "InvalidOption");
        }
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_reply_ sd_bus_message *options = many(f, "many", 10000, "Option");
        assert_true(sd_bus_call(f->root, options, 0, &error, NULL) < 0);
        assert_string_equal(error.name, CORESCHED_ERROR_PREFIX "InvalidOption");

        _cleanup_reply_ sd_bus_message *most = many(f, "many", 64, NULL);
        assert_true(sd_bus_call(f->root, most, 0, NULL, NULL) >= 0);
        untag(f, "many");

        /* 10,000 calls with a name each, none of which waits for its answer. */
        for (int i = 0; i < 10000; i++) {
                char name[32];
                snprintf(name, sizeof(name), "many/%d", i);
                _cleanup_reply_ sd_bus_message *m = NULL;
                assert_true(sd_bus_message_new_method_call(f->root, &m, CORESCHED_BUS_NAME, MANAGER, "GetTenant") >= 0);
                assert_true(sd_bus_message_append(m, "s", name) >= 0);
                assert_true(sd_bus_message_set_expect_reply(m, false) >= 0);
                assert_true(sd_bus_send(f->root, m, NULL) >= 0);
        }
        assert_int_equal(n_tenants(f), 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_names),
                cmocka_unit_test(test_cgroups),
                cmocka_unit_test(test_options),
                cmocka_unit_test(test_many),
        };
        return cmocka_run_group_tests_name("bus/input", tests, fixture_start, fixture_stop);
}
