// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which kernels are said to have a bug. */
#include "kernel-bugs.h"
#include "util.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
// cmocka.h needs some of the above
#include <cmocka.h>

static void test_race(void **state) {
        static const struct {
                const char *release;
                bool has;
        } cases[] = {
                {"5.13.19", false},
                {"5.14.0-503.el9.x86_64", true},
                {"6.1.191", true},
                {"6.1.192", false},
                {"6.1.200-1-amd64", false},
                {"6.12.95", true},
                {"6.2", true},
                {"7.2.10", true},
                {"7.3.0", false},
                {"7.3.4", false},
                {"8.0.0-rc1", false},
                {"", false},
                {"unknown", false},
                {"6", false},
        };
        for (size_t i = 0; i < ELEMENTS(cases); i++) {
                const struct kernel_bug *bug = NULL;
                size_t next = kernel_bugs_next(cases[i].release, 0, &bug);
                assert_int_equal(next, cases[i].has ? 1 : 0);
                if (next > 0) {
                        assert_string_equal(bug->id, "CVE-2026-89520");
                        assert_int_equal(kernel_bugs_next(cases[i].release, next, &bug), 0);
                }
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_race),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
