// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages of the bus as JSON. The messages are made on a connection that never starts. */
#include "json.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka.h needs the four above
#include <cmocka.h>

static sd_bus *bus;
static int ends[2];

/* A sealed message with these contents, to be read. */
static sd_bus_message *message(const char *types, ...) {
        sd_bus_message *m;
        va_list ap;
        assert_return_code(sd_bus_message_new_signal(bus, &m, "/x", "x.y", "Z"), 0);
        va_start(ap, types);
        assert_return_code(sd_bus_message_appendv(m, types, ap), 0);
        va_end(ap);
        assert_return_code(sd_bus_message_seal(m, 1, 0), 0);
        return m;
}

static void check(sd_bus_message *m, const char *expected) {
        _cleanup_json_ json_object *value = NULL;
        assert_return_code(json_read(m, &value), 0);
        assert_string_equal(
                json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
                expected);
        sd_bus_message_unref(m);
}

static void test_basic(void **state) {
        check(message("s", "a\"\n"), "\"a\\\"\\n\"");
        check(message("o", "/a/b"), "\"/a/b\"");
        check(message("b", 1), "true");
        check(message("b", 0), "false");
        check(message("y", 255), "255");
        check(message("n", -5), "-5");
        check(message("q", 65535), "65535");
        check(message("i", -7), "-7");
        check(message("u", UINT32_MAX), "4294967295");
        check(message("x", INT64_MIN), "-9223372036854775808");
        check(message("t", UINT64_MAX), "18446744073709551615");
        check(message("d", 1.5), "1.5");
}

static void test_containers(void **state) {
        check(message("v", "t", UINT64_C(3)), "3");
        check(message("as", 0), "[]");
        check(message("as", 2, "a", "b"), "[\"a\",\"b\"]");
        check(message("a{sv}", 0), "{}");
        check(message("a{sv}", 2, "A", "as", 1, "x", "B", "b", 1), "{\"A\":[\"x\"],\"B\":true}");
        check(message("a(utss)", 1, 7, UINT64_C(9), "x", ""), "[[7,9,\"x\",\"\"]]");
        check(message("a{oa{sa{sv}}}", 1, "/p", 1, "i.f", 1, "N", "s", "v"), "{\"/p\":{\"i.f\":{\"N\":\"v\"}}}");
}

static void check_error(sd_bus_message *m, int expected) {
        json_object *value = NULL;
        assert_int_equal(json_read(m, &value), expected);
        assert_null(value);
        sd_bus_message_unref(m);
}

static void test_errors(void **state) {
        check_error(message(""), -ENXIO);
        check_error(message("a{us}", 1, 1, "x"), -EBADMSG);
        check_error(message("a{sv}", 1, "A", "a{us}", 1, 1, "x"), -EBADMSG);
        check_error(message("h", ends[0]), -EBADMSG);
}

static void test_members(void **state) {
        _cleanup_json_ json_object *o =
                json_tokener_parse("{\"s\":\"x\",\"n\":18446744073709551615,\"b\":true,\"a\":[\"y\"]}");
        assert_string_equal(json_text(o, "s"), "x");
        assert_string_equal(json_text(o, "n"), "");
        assert_string_equal(json_text(o, "nothing"), "");
        assert_true(json_number(o, "n") == UINT64_MAX);
        assert_true(json_number(o, "s") == 0);
        assert_true(json_truth(o, "b"));
        assert_false(json_truth(o, "s"));
        assert_non_null(json_array(o, "a"));
        assert_null(json_array(o, "s"));
}

static void check_words(const char *array, const char *expected) {
        _cleanup_json_ json_object *a = json_tokener_parse(array);
        _cleanup_free_ char *words = json_words(a);
        assert_string_equal(words, expected);
}

static void test_words(void **state) {
        check_words("[]", "");
        check_words("[\"/a\"]", "/a");
        check_words("[\"/a b\",\"/c\\\\x2dd\",\"\\te\"]", "/a\\x20b /c\\x5cx2dd \\x09e");
}

static int open_bus(void **state) {
        return pipe(ends) < 0 || sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, ends[0], ends[1]) < 0 ||
               sd_bus_start(bus) < 0;
}

static int close_bus(void **state) {
        sd_bus_close_unref(bus);
        return 0;
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_basic),   cmocka_unit_test(test_containers), cmocka_unit_test(test_errors),
                cmocka_unit_test(test_members), cmocka_unit_test(test_words),
        };
        return cmocka_run_group_tests(tests, open_bus, close_bus);
}
