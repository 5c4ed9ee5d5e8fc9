// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names, cgroup paths, slices, and words with escapes; case 7. */
#include "selector.h"
#include "strv.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka.h needs some of the above
#include <cmocka.h>

static void test_tenant_names(void **state) {
        char longest[257];
        memset(longest, 'a', 256);
        longest[256] = '\0';
        assert_false(tenant_name_valid(longest));
        longest[255] = '\0';
        assert_true(tenant_name_valid(longest));

        static const char *const good[] = {"a",   "tenant-a",           "a b",           ".hidden",
                                           "...", "machine-qemu\\x2d1", "m\xc3\xbcller", "\xf0\x9f\x90\xa7",
                                           "[x]"};
        for (size_t i = 0; i < ELEMENTS(good); i++)
                assert_true(tenant_name_valid(good[i]));
        static const char *const bad[] = {"",
                                          ".",
                                          "..",
                                          "/",
                                          "a/b",
                                          " a",
                                          "a ",
                                          "a\nb",
                                          "a\tb",
                                          "\x7f",
                                          "\xc2\x85" /* C1 */,
                                          "\xff",
                                          "a\xc3",
                                          "\xc0\xaf" /* overlong */,
                                          "\xed\xa0\x80" /* surrogate */,
                                          "\xf4\x90\x80\x80" /* beyond Unicode */,
                                          "\xe0\x80\x80",
                                          "\xf0\x80\x80\x80",
                                          "\xe2\x82"};
        for (size_t i = 0; i < ELEMENTS(bad); i++)
                assert_false(tenant_name_valid(bad[i]));
}

static void check_path(const char *path, const char *expected) {
        _cleanup_free_ char *normal = NULL, *again = NULL;
        assert_int_equal(cgroup_path_normalize(path, &normal), 0);
        assert_string_equal(normal, expected);
        assert_int_equal(cgroup_path_normalize(normal, &again), 0);
        assert_string_equal(again, expected);
}

static void check_no_path(const char *path) {
        char *normal = (char *) "untouched";
        assert_int_equal(cgroup_path_normalize(path, &normal), -EINVAL);
        assert_string_equal(normal, "untouched");
}

static void test_paths(void **state) {
        check_path("/", "/");
        check_path("//", "/");
        check_path(".", "/");
        check_path("/sys/fs/cgroup", "/");
        check_path("/sys/fs/cgroup/", "/");
        check_path("a", "/a");
        check_path("/a", "/a");
        check_path("//a/./b//", "/a/b");
        check_path("/sys/fs/cgroup/a.slice/b", "/a.slice/b");
        check_path("//sys/fs/./cgroup/a", "/a");
        check_path("/sys/fs/cgroupa", "/sys/fs/cgroupa");
        check_path("/sys/fs/cgroup/sys/fs/cgroup/a", "/a");
        check_path("/a..b/..c/.d/...", "/a..b/..c/.d/...");
        check_path("/with space/[x]/a\\x2db/\xc3\xa4/\xff\xfe", "/with space/[x]/a\\x2db/\xc3\xa4/\xff\xfe");

        check_no_path("");
        check_no_path("..");
        check_no_path("/a/..");
        check_no_path("/a/../b");
        check_no_path("/a\nb");
}

static void test_long_paths(void **state) {
        char path[8192] = "";
        char *end = path;
        for (size_t i = 0; i < 16; i++) { /* 16 x 256 = 4,096 bytes */
                *end++ = '/';
                memset(end, 'a', 255);
                end += 255;
        }
        *end = '\0';
        check_no_path(path);
        path[4095] = '\0';
        check_path(path, path);
        path[4000] = '\0';
        check_path(path, path);

        /* The prefix does not count, nor does what is normalized away. */
        char prefixed[sizeof(path) + 32];
        snprintf(prefixed, sizeof(prefixed), "//./sys/fs/cgroup/%s", path);
        check_path(prefixed, path);

        char component[300] = "/";
        memset(component + 1, 'a', 256);
        component[257] = '\0';
        check_no_path(component);
        component[256] = '\0';
        check_path(component, component);
}

static void test_within(void **state) {
        assert_true(cgroup_path_within("/a", "/a"));
        assert_true(cgroup_path_within("/a/b", "/a"));
        assert_true(cgroup_path_within("/a", "/"));
        assert_true(cgroup_path_within("/", "/"));
        assert_false(cgroup_path_within("/ab", "/a"));
        assert_false(cgroup_path_within("/a", "/a/b"));
        assert_false(cgroup_path_within("/", "/a"));
}

static void test_slices(void **state) {
        static const struct {
                const char *slice, *path;
        } good[] = {
                {"a.slice", "/a.slice"},
                {"a-b.slice", "/a.slice/a-b.slice"},
                {"a-b-c.slice", "/a.slice/a-b.slice/a-b-c.slice"},
                {"user-1000.slice", "/user.slice/user-1000.slice"},
                {"a\\x2db-c.slice", "/a\\x2db.slice/a\\x2db-c.slice"},
                {"a.b.slice", "/a.b.slice"},
                {"-.slice", "/"},
        };
        for (size_t i = 0; i < ELEMENTS(good); i++) {
                _cleanup_free_ char *path = NULL;
                assert_int_equal(slice_path(good[i].slice, &path), 0);
                assert_string_equal(path, good[i].path);
        }
        static const char *const bad[] = {"",           ".slice",    "a",         "a.service", "-a.slice", "a-.slice",
                                          "a--b.slice", "a/b.slice", "a b.slice", "a@b.slice", "--.slice", "a.slice/"};
        for (size_t i = 0; i < ELEMENTS(bad); i++) {
                char *path = NULL;
                assert_int_equal(slice_path(bad[i], &path), -EINVAL);
                assert_null(path);
        }
}

static void check_words(const char *list, ...) {
        _cleanup_strv_ char **words = NULL;
        assert_int_equal(words_split(list, &words), 0);
        size_t n = 0;
        va_list ap;
        va_start(ap, list);
        for (const char *word; (word = va_arg(ap, const char *)); n++) {
                assert_true(n < strv_length(words));
                assert_string_equal(words[n], word);
        }
        va_end(ap);
        assert_int_equal(strv_length(words), n);
}

static void test_words(void **state) {
        check_words("", NULL);
        check_words(" \t\n", NULL);
        check_words("a", "a", NULL);
        check_words("  a\tb \n c ", "a", "b", "c", NULL);
        check_words("a\\x20b c", "a b", "c", NULL);
        check_words("machine-qemu\\x5cx2d1.scope", "machine-qemu\\x2d1.scope", NULL);
        check_words("\\xff\\xFE", "\xff\xfe", NULL);

        static const char *const bad[] = {"\\",    "a\\", "\\x",   "\\x2",  "\\x2 0",
                                          "\\xg0", "\\n", "\\X20", "\\x00", "a \\x0"};
        for (size_t i = 0; i < ELEMENTS(bad); i++) {
                char **words = NULL;
                assert_int_equal(words_split(bad[i], &words), -EINVAL);
                assert_null(words);
        }
}

static void test_words_and_back(void **state) {
        char *words[] = {(char *) "a b", (char *) "a\\x2db", (char *) "x;#\"'", (char *) "\xc3\xa4\xff\xc2\x85", NULL};
        _cleanup_free_ char *joined = words_join(words);
        assert_string_equal(joined, "a\\x20b a\\x5cx2db x\\x3b\\x23\\x22\\x27 \xc3\xa4\\xff\\xc2\\x85");
        _cleanup_strv_ char **back = NULL;
        assert_int_equal(words_split(joined, &back), 0);
        assert_true(strv_equal(back, words));

        /* Every byte. */
        char bytes[256];
        for (int i = 1; i < 256; i++)
                bytes[i - 1] = (char) i;
        bytes[255] = '\0';
        char *all[] = {bytes, NULL};
        _cleanup_free_ char *escaped = words_join(all);
        _cleanup_strv_ char **bytes_back = NULL;
        assert_int_equal(words_split(escaped, &bytes_back), 0);
        assert_true(strv_equal(bytes_back, all));

        _cleanup_free_ char *nothing = words_join(NULL);
        assert_string_equal(nothing, "");
}

static void test_one_word(void **state) {
        _cleanup_free_ char *word = NULL;
        assert_int_equal(word_unescape("a b\\x2fc", &word), 0);
        assert_string_equal(word, "a b/c");
        char *none = NULL;
        assert_int_equal(word_unescape("a\\x2", &none), -EINVAL);
        assert_null(none);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_tenant_names),   cmocka_unit_test(test_paths),
                cmocka_unit_test(test_long_paths),     cmocka_unit_test(test_within),
                cmocka_unit_test(test_slices),         cmocka_unit_test(test_words),
                cmocka_unit_test(test_words_and_back), cmocka_unit_test(test_one_word),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
