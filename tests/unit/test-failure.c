// SPDX-License-Identifier: LGPL-2.1-or-later
/* Failures are one line of UTF-8, whatever they quote; and the hints that they give. */
#include "failure.h"
#include "nearest.h"
#include "utf8.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka.h needs some of the above
#include <cmocka.h>
#undef fail /* ours is meant */

static void test_fill(void **state) {
        struct failure f = {0};
        assert_int_equal(fail(&f, FAILURE_BUSY, -EBUSY, "tenant \"%s\": %d", "m\xc3\xbcller", 7), -EBUSY);
        assert_int_equal(f.kind, FAILURE_BUSY);
        assert_string_equal(f.text, "tenant \"m\xc3\xbcller\": 7");
        assert_int_equal(fail(NULL, FAILURE_BUSY, -EIO, "%s", "nobody listens"), -EIO);
}

static void test_printable(void **state) {
        struct failure f = {0};
        fail(&f, FAILURE_FAILED, -EIO, "%s", "a\nb\tc\x7f\xff\xc3 \xc2\x85 \x1b[31m \xe2\x82\xac");
        assert_string_equal(f.text, "a?b?c??? ?? ?[31m \xe2\x82\xac");
}

static void test_cut(void **state) {
        struct failure f = {0};
        char text[3000];
        for (size_t i = 0; i + 2 < sizeof(text); i += 2)
                memcpy(text + i, "\xc3\xa4", 2);
        text[sizeof(text) - 2] = '\0';
        fail(&f, FAILURE_FAILED, -EIO, "%s", text);
        assert_int_equal(strlen(f.text), sizeof(f.text) - 1);
        assert_true(utf8_printable(f.text)); /* though it was cut within a character */
}

static void test_hints(void **state) {
        static const char *const keys[] = {"CGroups", "Policy", NULL};
        assert_string_equal(nearest_hint("cgroup", keys).text, "; did you mean \"CGroups\"?");
        assert_string_equal(nearest_hint("Polciy", keys).text, "; did you mean \"Policy\"?");
        assert_string_equal(nearest_hint("", keys).text, "; valid are: CGroups, Policy");
        assert_string_equal(nearest_hint("Cpu", keys).text, "; valid are: CGroups, Policy");
        static const char *const words[] = {"live", "freeze", NULL};
        assert_string_equal(nearest_hint("frozen", words).text, "; did you mean \"freeze\"?");

        char word[2000], other[100];
        memset(word, 'a', sizeof(word) - 1);
        word[sizeof(word) - 1] = '\0';
        memset(other, 'a', sizeof(other) - 1);
        other[sizeof(other) - 1] = '\0';
        const char *const longs[] = {other, other, other, NULL};
        char expected[300];
        snprintf(expected, sizeof(expected), "; valid are: %s, %s, ...", other, other);
        assert_string_equal(nearest_hint(word, longs).text, expected);
}

int main(void) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_fill), cmocka_unit_test(test_printable),
                                           cmocka_unit_test(test_cut), cmocka_unit_test(test_hints)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
