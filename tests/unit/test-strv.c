// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strv.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka.h needs some of the above
#include <cmocka.h>

#define STRV(...) ((char *[]){__VA_ARGS__ NULL})

static void test_null_is_empty(void **state) {
        char **empty = STRV();
        _cleanup_strv_ char **copy = NULL;
        assert_int_equal(strv_length(NULL), 0);
        assert_false(strv_contains(NULL, "a"));
        assert_true(strv_equal(NULL, empty));
        assert_int_equal(strv_copy(NULL, &copy), 0);
        assert_non_null(copy);
        assert_null(copy[0]);
        _cleanup_free_ char *joined = strv_join(NULL, ", ");
        assert_string_equal(joined, "");
        strv_free(NULL);
}

static void test_extend(void **state) {
        _cleanup_strv_ char **strv = NULL;
        char word[] = "a";
        assert_int_equal(strv_extend(&strv, word), 0);
        word[0] = 'b'; /* a copy was taken */
        assert_int_equal(strv_extend(&strv, word), 0);
        assert_int_equal(strv_length(strv), 2);
        assert_string_equal(strv[0], "a");
        assert_string_equal(strv[1], "b");
        assert_true(strv_contains(strv, "b"));
        assert_false(strv_contains(strv, "c"));

        _cleanup_strv_ char **copy = NULL;
        assert_int_equal(strv_copy(strv, &copy), 0);
        assert_ptr_not_equal(copy[0], strv[0]);
        assert_true(strv_equal(copy, strv));
        copy[1][0] = 'x';
        assert_false(strv_equal(copy, strv));
}

static void test_equal(void **state) {
        char a[] = "a", b[] = "b";
        assert_true(strv_equal(STRV(a, b, ), STRV(a, b, )));
        assert_false(strv_equal(STRV(a, b, ), STRV(b, a, )));
        assert_false(strv_equal(STRV(a, ), STRV(a, b, )));
}

static void test_join(void **state) {
        char a[] = "a", b[] = "b";
        _cleanup_free_ char *two = strv_join(STRV(a, b, ), ", "), *one = strv_join(STRV(a, ), ", ");
        assert_string_equal(two, "a, b");
        assert_string_equal(one, "a");
}

int main(void) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_null_is_empty), cmocka_unit_test(test_extend),
                                           cmocka_unit_test(test_equal), cmocka_unit_test(test_join)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
