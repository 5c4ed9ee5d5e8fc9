// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a hook reads of a container: its state, what its annotations ask for, and which cgroup is all of it. */
#include "oci-state.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka.h needs some of the above
#include <cmocka.h>

static void test_whole(void **state) {
        struct oci_state s = {0};
        char why[200] = "";
        assert_int_equal(oci_state_read("{\"ociVersion\":\"1.0.2\",\"id\":\"abc\",\"status\":\"creating\",\"pid\":4711,"
                                        "\"bundle\":\"/b\",\"annotations\":{\"org.coresched1.tenant\":\"web\","
                                        "\"org.coresched1.policy\":\"strict\",\"org.coresched1.required\":\"true\","
                                        "\"other\":\"x\"}}",
                                        &s, why, sizeof(why)),
                         0);
        assert_string_equal(s.id, "abc");
        assert_int_equal(s.pid, 4711);
        assert_string_equal(s.tenant, "web");
        assert_string_equal(s.policy, "strict");
        assert_true(s.required);
        oci_state_done(&s);
}

static void test_least(void **state) {
        static const char *const texts[] = {
                "{\"id\":\"abc\",\"pid\":1}\n",
                "{\"id\":\"abc\",\"pid\":1,\"annotations\":{}}",
                "{\"id\":\"abc\",\"pid\":1,\"annotations\":{\"org.coresched1.tenant\":\"\","
                "\"org.coresched1.required\":\"false\"}}",
        };
        for (size_t i = 0; i < ELEMENTS(texts); i++) {
                struct oci_state s = {0};
                char why[200] = "";
                assert_int_equal(oci_state_read(texts[i], &s, why, sizeof(why)), 0);
                assert_null(s.tenant);
                assert_null(s.policy);
                assert_false(s.required);
                oci_state_done(&s);
        }
}

static void test_wrong(void **state) {
        static const char *const texts[] = {
                "",
                "{",
                "[]",
                "null",
                "{\"id\":\"abc\"}",
                "{\"id\":\"\",\"pid\":1}",
                "{\"id\":7,\"pid\":1}",
                "{\"id\":\"abc\",\"pid\":0}",
                "{\"id\":\"abc\",\"pid\":-1}",
                "{\"id\":\"abc\",\"pid\":4294967296}",
                "{\"id\":\"abc\",\"pid\":\"1\"}",
                "{\"id\":\"abc\",\"pid\":1,\"annotations\":[]}",
                "{\"id\":\"abc\",\"pid\":1,\"annotations\":{\"org.coresched1.required\":\"yes\"}}",
                "{\"id\":\"abc\",\"pid\":1} x",
        };
        for (size_t i = 0; i < ELEMENTS(texts); i++) {
                struct oci_state s = {0};
                char why[200] = "";
                assert_int_equal(oci_state_read(texts[i], &s, why, sizeof(why)), -EINVAL);
                assert_true(why[0]);
                assert_null(s.object);
        }
}

static void test_cgroup(void **state) {
        static const char *const rows[][3] = {
                {"/machine.slice/libpod-abc.scope/container", "abc", "/machine.slice/libpod-abc.scope"},
                {"/machine.slice/libpod-abc.scope", "abc", "/machine.slice/libpod-abc.scope"},
                {"/system.slice/docker-abc.scope/init", "abc", "/system.slice/docker-abc.scope"},
                {"/abc", "abc", "/abc"},
                {"/pods/abc/abc/x", "abc", "/pods/abc"},
                {"/ab/c", "abc", "/ab/c"},
                {"/tenant.slice/tenant-a.slice", "abc", "/tenant.slice/tenant-a.slice"},
                {"/", "abc", "/"},
        };
        for (size_t i = 0; i < ELEMENTS(rows); i++) {
                _cleanup_free_ char *cgroup = oci_cgroup(rows[i][0], rows[i][1]);
                assert_string_equal(cgroup, rows[i][2]);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_whole),
                cmocka_unit_test(test_least),
                cmocka_unit_test(test_wrong),
                cmocka_unit_test(test_cgroup),
        };
        return cmocka_run_group_tests_name("oci-state", tests, NULL, NULL);
}
