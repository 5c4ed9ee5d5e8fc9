// SPDX-License-Identifier: LGPL-2.1-or-later
/* Patterns, what their stars match, and the names that come of it; cases 14 and 42. */
#include "pattern.h"
#include "selector.h"
#include "strv.h"
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka.h needs some of the above
#include <cmocka.h>

/* Does it fit, with these captures (NULL-ended)? */
static void check_fits(const char *pattern, const char *path, const char *const *expected) {
        struct capture captures[CAPTURES_MAX] = {0};
        assert_null(pattern_problem(pattern));
        if (!pattern_fits(pattern, path, captures))
                fail_msg("%s does not fit %s", pattern, path);
        for (size_t i = 0; expected[i]; i++) {
                assert_int_equal(captures[i].length, strlen(expected[i]));
                assert_memory_equal(captures[i].start, expected[i], captures[i].length);
        }
}

#define FITS(pattern, path, ...) check_fits(pattern, path, (const char *const[]){__VA_ARGS__, NULL})

static void test_fits(void **state) {
        FITS("/a", "/a", NULL);
        FITS("/*", "/a", "a");
        FITS("/machine.slice/machine-*.scope", "/machine.slice/machine-qemu\\x2d1\\x2dvm1.scope", "qemu\\x2d1\\x2dvm1");
        FITS("/machine.slice/machine-qemu\\x2d*\\x2d*.scope", "/machine.slice/machine-qemu\\x2d1\\x2dvm\\x2d1.scope",
             "1", "vm\\x2d1");
        FITS("/u/user-*.slice/user@*.service", "/u/user-1000.slice/user@1000.service", "1000", "1000");
        FITS("/a*b*c", "/abbcbc", "", "bcb");
        FITS("/*a*/*", "/xaya/z", "x", "ya", "z");
        FITS("/**", "/ab", "", "ab");
        FITS("/a*", "/a", "");
        FITS("/?[0-9]*",
             "/\xc3\xa4"
             "7",
             "");
        FITS("/*?b",
             "/\xe8\x8a\xaf\xc3\xa4"
             "b",
             "\xe8\x8a\xaf");
        FITS("/[]a-]*", "/]x", "x");
        FITS("/[!]a]", "/b", NULL);
        FITS("/a b*", "/a b c", " c");
        FITS("/*", "/.hidden", ".hidden");
        FITS("/*\xff", "/\xfe\xff", "\xfe");

        static const char *const not [][2] = {
                {"/a", "/b"},   {"/a", "/a/b"},      {"/a/*", "/a"},         {"/a/*", "/a/b/c"},
                {"/*", "/a/b"}, {"/a?b", "/a/b"},    {"/a[!x]b", "/a/b"},    {"/a[0-9]", "/ax"},
                {"/*b", "/a"},  {"/a*b/c", "/ab/d"}, {"/*/b/*", "/a/c/b/c"},
        };
        struct capture captures[CAPTURES_MAX];
        for (size_t i = 0; i < ELEMENTS(not ); i++)
                if (pattern_fits(not [i][0], not [i][1], captures))
                        fail_msg("%s fits %s", not [i][0], not [i][1]);

        /* More stars than can be named, and a name made to take long. */
        char many[600] = "/", longest[300] = "/";
        for (unsigned i = 0; i < 100; i++)
                strcat(many, "a*");
        strcat(many, "b");
        memset(longest + 1, 'a', 255);
        assert_int_equal(pattern_stars(many), 100);
        assert_false(pattern_fits(many, longest, captures));
        longest[255] = 'b';
        assert_true(pattern_fits(many, longest, captures));
}

static void random_text(char *text, const char *letters, size_t most) {
        size_t n = (size_t) rand() % most;
        *text++ = '/';
        for (size_t i = 0; i < n; i++)
                *text++ = letters[(size_t) rand() % strlen(letters)];
        *text = '\0';
}

/* Fits what fnmatch() fits; what is between the captures is the pattern's. */
static void test_as_fnmatch(void **state) {
        static const char *const sets[] = {"[a-b]", "[!a]", "[]-]", "[/"};
        unsigned fitted = 0;
        srand(1);
        for (unsigned i = 0; i < 300000; i++) {
                char pattern[40], path[40];
                struct capture captures[CAPTURES_MAX];
                random_text(pattern, "aab-/\\**?", 9);
                if (i % 4 == 0)
                        strcat(pattern, sets[(size_t) rand() % ELEMENTS(sets)]);
                if (i % 8 == 0)
                        random_text(pattern + strlen(pattern) - 1, "ab*", 3);
                random_text(path, "aab-/\\", 9);
                if (pattern_problem(pattern))
                        continue;
                bool fits = pattern_fits(pattern, path, captures);
                fitted += fits;
                if (fits != (fnmatch(pattern, path, FNM_NOESCAPE | FNM_PATHNAME) == 0))
                        fail_msg("%s %s %s", pattern, fits ? "fits" : "does not fit", path);
                const char *at = path;
                unsigned n = pattern_stars(pattern);
                for (unsigned k = 0; fits && k < n && k < CAPTURES_MAX; k++) {
                        assert_true(captures[k].start >= at);
                        at = captures[k].start + captures[k].length;
                        assert_true(at <= path + strlen(path));
                        assert_null(memchr(captures[k].start, '/', captures[k].length));
                }
        }
        assert_true(fitted > 5000);
}

static char *strings(const char *a, const char *b, char ***ret) {
        *ret = NULL;
        if (a)
                assert_int_equal(strv_extend(ret, a), 0);
        if (b)
                assert_int_equal(strv_extend(ret, b), 0);
        return NULL;
}

static struct policy policies[4];

/* In the order of their names. */
static void set_policy(size_t i, const char *name, const char *match, const char *more, const char *exclude,
                       const char *template) {
        policy_done(&policies[i]);
        policies[i].name = strdup(name);
        strings(match, more, &policies[i].match);
        strings(exclude, NULL, &policies[i].exclude);
        policies[i].tenant = template ? strdup(template) : NULL;
        policies[i].active = true;
}

static int done_policies(void **state) {
        for (size_t i = 0; i < ELEMENTS(policies); i++)
                policy_done(&policies[i]);
        return 0;
}

/* policy NULL: none matches; name NULL: no name. */
static void check_match(const char *path, const char *policy, const char *name) {
        _cleanup_(match_done) struct match match = {0};
        assert_int_equal(pattern_match(policies, ELEMENTS(policies), path, &match), policy ? 1 : 0);
        if (!policy)
                return;
        assert_string_equal(match.policy->name, policy);
        assert_int_equal(match.shared, match.policy->tenant != NULL);
        if (name)
                assert_string_equal(match.name, name);
        else
                assert_null(match.name);
}

static void test_most_specific(void **state) {
        set_policy(0, "a", "/m/*", NULL, NULL, NULL);
        set_policy(1, "b", "/m/machine-*", "/m/v*", NULL, NULL);
        set_policy(2, "c", "/m/*.scope", "/m/vm?", NULL, NULL);
        set_policy(3, "d", "/m/machine-?", NULL, NULL, NULL);
        check_match("/m/x", "a", "x");
        check_match("/m/x.scope", "c", "x");
        check_match("/m/machine-1", "b", "machine-1"); /* as many bytes, first name */
        check_match("/m/machine-1.scope", "b", "machine-1");
        check_match("/m/vm1", "c", "vm1"); /* its better pattern counts */
        check_match("/m", NULL, NULL);
        check_match("/m/x/y", NULL, NULL);
        check_match("/", NULL, NULL);
        policies[1].active = false;
        check_match("/m/machine-1", "d", "machine-1");
        assert_int_equal(strv_extend(&policies[3].exclude, "/m/*-1"), 0);
        check_match("/m/machine-1", "a", "machine-1"); /* what one excludes another may take */
        check_match("/m/machine-2", "d", "machine-2");
}

/* Case 42. */
static void test_conmon(void **state) {
        set_policy(0, "containers", "/machine.slice/libpod-*.scope", NULL, "/machine.slice/libpod-conmon-*.scope",
                   NULL);
        check_match("/machine.slice/libpod-1f2e.scope", "containers", "libpod-1f2e");
        check_match("/machine.slice/libpod-conmon-1f2e.scope", NULL, NULL);
}

/* Case 14: what is empty, or no name, is in no tenant. */
static void test_templates(void **state) {
        set_policy(0, "vm", "/machine.slice/machine-qemu\\x2d*\\x2d*\\x2d*.scope", "/vm/*/*/*", NULL, "customer-%2");
        check_match("/machine.slice/machine-qemu\\x2d1\\x2dacme\\x2dweb.scope", "vm", "customer-acme");
        check_match("/machine.slice/machine-qemu\\x2d2\\x2dacme\\x2ddb\\x2d1.scope", "vm", "customer-acme");
        check_match("/machine.slice/machine-qemu\\x2d2\\x2d\\x2ddb.scope", "vm", NULL);
        check_match("/vm/1/\xff/2", "vm", NULL);
        check_match("/vm/1/a\tb/2", "vm", NULL);
        char path[300] = "/vm/1/";
        memset(path + 6, 'a', 247);
        strcpy(path + 6 + 247, "/2");
        check_match(path, "vm", NULL); /* 256 bytes */
        set_policy(0, "vm", "/vm/*", NULL, NULL, "%1");
        check_match("/vm/x ", "vm", NULL);
        check_match("/vm/x", "vm", "x");
        set_policy(0, "vm", "/vm/a*", NULL, NULL, "100%% of all");
        check_match("/vm/a", "vm", "100% of all");
        check_match("/vm/ab", "vm", "100% of all");

        assert_int_equal(pattern_template_stars("a%%3"), 0);
        assert_int_equal(pattern_template_stars("%2%9%1"), 9);
        static const char *const bad[] = {"", "%", "a%", "%0", "%a", "a/b", " a", "a\x01", "\xff", "%%%"};
        for (size_t i = 0; i < ELEMENTS(bad); i++)
                assert_non_null(pattern_template_problem(bad[i]));
        char text[300];
        memset(text, 'a', sizeof(text));
        text[256] = '\0';
        assert_non_null(pattern_template_problem(text));
        text[255] = '\0';
        assert_null(pattern_template_problem(text));
        assert_null(pattern_template_problem("%1%%"));
}

static void check_name(const char *path, unsigned number, const char *expected) {
        _cleanup_free_ char *name = pattern_default_name(path, number);
        assert_string_equal(name, expected);
        assert_true(tenant_name_valid(name));
}

static void test_default_names(void **state) {
        check_name("/machine.slice/machine-qemu\\x2d1\\x2dvm1.scope", 1, "machine-qemu-1-vm1");
        check_name("/user.slice/user-1000.slice", 1, "user-1000");
        check_name("/user.slice/user-1000.slice", 2, "user-1000~2");
        check_name("/a/b.service", 1, "b");
        check_name("/lxc.payload.web", 1, "lxc.payload.web");
        check_name("/a.mount", 1, "a.mount");
        check_name("/a\\x2fb", 1, "a\\x2fb"); /* not a/b */
        check_name("/a\\xb", 1, "a\\xb");
        check_name("/\\x2e", 1, "\\x2e");
        check_name("/.scope", 1, ".scope");
        check_name("/..slice", 1, "..slice");
        check_name("/...slice", 1, "...slice");
        check_name("/\xff x", 1, "\\xff\\x20x");
        check_name("/x ", 1, "x\\x20");
        check_name("/m\xc3\xbcller.scope", 3, "m\xc3\xbcller~3");
}

/* Whatever the component is, it has a name, and with another number another one. */
static void test_any_name(void **state) {
        srand(2);
        for (unsigned i = 0; i < 20000; i++) {
                char path[300] = "/a/";
                size_t n = 1 + (size_t) rand() % 255;
                for (size_t k = 0; k < n; k++)
                        do
                                path[3 + k] = (char) (i % 2 ? rand() % 256 : "\\x2d .\xc3\xa4"[rand() % 8]);
                        while (path[3 + k] == '\0' || path[3 + k] == '/');
                path[3 + n] = '\0';
                if (strcmp(path, "/a/.") == 0 || strcmp(path, "/a/..") == 0)
                        continue;
                _cleanup_free_ char *first = pattern_default_name(path, 1), *second = pattern_default_name(path, 2),
                                    *last = pattern_default_name(path, 10000);
                if (!tenant_name_valid(first) || !tenant_name_valid(second) || !tenant_name_valid(last))
                        fail_msg("%s: %s, %s, %s", path, first, second, last);
                assert_string_not_equal(first, second);
                assert_string_not_equal(second, last);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_fits),
                cmocka_unit_test(test_as_fnmatch),
                cmocka_unit_test_teardown(test_most_specific, done_policies),
                cmocka_unit_test_teardown(test_conmon, done_policies),
                cmocka_unit_test_teardown(test_templates, done_policies),
                cmocka_unit_test(test_default_names),
                cmocka_unit_test(test_any_name),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
