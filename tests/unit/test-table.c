// SPDX-License-Identifier: LGPL-2.1-or-later
/* The client's tables and its printable text, in a UTF-8 locale. */
#include "table.h"
#include "text.h"
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka.h needs the four above
#include <cmocka.h>

static void check_printable(const char *text, const char *expected, int width) {
        _cleanup_free_ char *shown = text_printable(text);
        assert_string_equal(shown, expected);
        assert_int_equal(text_width(shown), width);
}

static void test_printable(void **state) {
        check_printable("", "", 0);
        check_printable("machine-qemu\\x2d1.scope", "machine-qemu\\x2d1.scope", 23);
        check_printable("a\nb\x7f", "a\\x0ab\\x7f", 10);
        check_printable("\033[31m", "\\x1b[31m", 8);
        check_printable("\xc2\x9b", "\\xc2\\x9b", 8); /* a control character of two bytes */
        check_printable("\xc3\xbc", "\xc3\xbc", 1);
        check_printable("\xe6\x97\xa5", "\xe6\x97\xa5", 2);     /* wide */
        check_printable("e\xcc\x81x", "e\xcc\x81x", 2);         /* combining */
        check_printable("\xff\xfe", "\\xff\\xfe", 8);           /* no UTF-8 */
        check_printable("x\xe6\x97", "x\\xe6\\x97", 9);         /* cut */
        check_printable("\xed\xa0\x80", "\\xed\\xa0\\x80", 12); /* a surrogate */
}

static const struct column columns[] = {{"NAME", false}, {"N", true}, {"WHY", false}};

static void check_table(const struct table *table, bool header, bool colours, const char *expected) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        assert_non_null(f);
        table_print(table, f, header, colours);
        assert_int_equal(fclose(f), 0);
        assert_string_equal(text, expected);
}

static void test_table(void **state) {
        _cleanup_(table_done) struct table table = {.columns = columns, .n_columns = ELEMENTS(columns)};
        check_table(&table, true, false, "NAME  N  WHY\n");
        check_table(&table, false, false, "");
        assert_int_equal(table_add(&table, (const char *[]){"a", "5", ""}, 0, COLOUR_NONE), 0);
        assert_int_equal(table_add(&table, (const char *[]){"\xe6\x97\xa5\xe6\x97\xa5x", "1234", "b\n"}, 0, COLOUR_BAD),
                         0);
        check_table(&table, true, false,
                    "NAME      N  WHY\n"
                    "a         5  -\n"
                    "\xe6\x97\xa5\xe6\x97\xa5x  1234  b\\x0a\n");
        check_table(&table, false, true,
                    "a         5  -\n"
                    "\033[1;31m\xe6\x97\xa5\xe6\x97\xa5x\033[0m  1234  b\\x0a\n");
        table.indent = 2;
        check_table(&table, true, true,
                    "  \033[4mNAME      N  WHY\033[0m\n"
                    "  a         5  -\n"
                    "  \033[1;31m\xe6\x97\xa5\xe6\x97\xa5x\033[0m  1234  b\\x0a\n");
}

static void test_many_rows(void **state) {
        _cleanup_(table_done) struct table table = {.columns = columns, .n_columns = ELEMENTS(columns)};
        for (int i = 0; i < 1000; i++)
                assert_int_equal(table_add(&table, (const char *[]){"a", "1", "b"}, 0, COLOUR_NONE), 0);
        assert_int_equal(table.n_rows, 1000);
}

static void test_plural(void **state) {
        assert_string_equal(plural(0, "thread", "threads"), "threads");
        assert_string_equal(plural(1, "thread", "threads"), "thread");
        assert_string_equal(plural(2, "thread", "threads"), "threads");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_printable),
                cmocka_unit_test(test_table),
                cmocka_unit_test(test_many_rows),
                cmocka_unit_test(test_plural),
        };
        if (!setlocale(LC_CTYPE, "C.UTF-8"))
                return 1;
        return cmocka_run_group_tests(tests, NULL, NULL);
}
