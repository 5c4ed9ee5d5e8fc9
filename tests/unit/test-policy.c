// SPDX-License-Identifier: LGPL-2.1-or-later
#include "policy.h"
#include "strv.h"
#include "util.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka.h needs some of the above
#include <cmocka.h>

static void test_names(void **state) {
        static const char *const good[] = {"a", "shared", "vm-host", "A_1.b:c@d", "-"};
        for (size_t i = 0; i < ELEMENTS(good); i++)
                assert_true(policy_name_valid(good[i]));
        static const char *const bad[] = {"", ".", "..", ".a", "a b", "a/b", "a\\x20b", "\xc3\xa4", "a\n", "a;b"};
        for (size_t i = 0; i < ELEMENTS(bad); i++)
                assert_false(policy_name_valid(bad[i]));

        char longest[POLICY_NAME_MAX + 2];
        memset(longest, 'a', sizeof(longest) - 1);
        longest[POLICY_NAME_MAX + 1] = '\0';
        assert_false(policy_name_valid(longest));
        longest[POLICY_NAME_MAX] = '\0';
        assert_true(policy_name_valid(longest));
}

static void test_done(void **state) {
        struct policy policy = {
                .name = strdup("a"), .description = strdup("b"), .file = strdup("c"), .attach = ATTACH_FREEZE};
        policy.tenant = strdup("d");
        assert_int_equal(strv_extend(&policy.match, "/a"), 0);
        assert_int_equal(strv_extend(&policy.exclude, "/b"), 0);
        policy_done(&policy);
        assert_memory_equal(&policy, &(struct policy){0}, sizeof(policy));
        policy_done(&policy);
}

int main(void) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_done)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
