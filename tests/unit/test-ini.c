// SPDX-License-Identifier: LGPL-2.1-or-later
/* Strict INI files; case 30: each thing that is not exactly right is an error that names file, line and word. */
#include "ini.h"
#include "scratch.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
// cmocka.h needs some of the above
#include <cmocka.h>

static const struct ini_key known[] = {{"One", "Alpha"}, {"One", "Beta"}, {"Two", "Gamma"}, {0}};

static char *scratch;

static int setup(void **state) {
        scratch = scratch_new();
        return 0;
}

static int teardown(void **state) {
        scratch_done(scratch);
        return 0;
}

/* Writes down what it is called with, one line an entry. */
static int note(const struct ini_entry *entry, void *userdata, struct failure *f) {
        char *notes = userdata;
        sprintf(notes + strlen(notes), "%u:%s.%s=%s\n", entry->line, entry->section, entry->key, entry->value);
        return 0;
}

static int read_text(const char *text, size_t size, char *notes, struct failure *f) {
        scratch_write_bytes(scratch, "a.conf", text, size);
        notes[0] = '\0';
        return ini_read(scratch_path(scratch, "a.conf"), known, note, notes, f);
}

static void check_good(const char *text, const char *expected) {
        struct failure f = {0};
        char notes[8192];
        int r = read_text(text, strlen(text), notes, &f);
        if (r < 0)
                print_error("%s\n", f.text);
        assert_int_equal(r, 0);
        assert_string_equal(notes, expected);
        assert_int_equal(f.kind, FAILURE_NONE);
}

/* expected follows "FILE:LINE: ". Nothing may have been handed on. */
static void check_bad_bytes(const char *text, size_t size, unsigned line, const char *expected) {
        struct failure f = {0};
        char notes[8192], whole[2048];
        assert_int_equal(read_text(text, size, notes, &f), -EBADMSG);
        assert_int_equal(f.kind, FAILURE_INVALID_CONFIG);
        snprintf(whole, sizeof(whole), "%s:%u: %s", scratch_path(scratch, "a.conf"), line, expected);
        assert_string_equal(f.text, whole);
        assert_string_equal(notes, "");
}

static void check_bad(const char *text, unsigned line, const char *expected) {
        check_bad_bytes(text, strlen(text), line, expected);
}

static void test_good(void **state) {
        check_good("", "");
        check_good("\n\n# only\n  ; comments\n", "");
        check_good("[One]\n", "");
        check_good("[One]\nAlpha=1", "2:One.Alpha=1\n");
        check_good("[One]\nAlpha = a b\tc  \n\n[Two]\n\tGamma=x\n", "2:One.Alpha=a b\tc\n5:Two.Gamma=x\n");
        check_good("[Two]\nGamma=\n[One]\nBeta==x=y\n", "2:Two.Gamma=\n4:One.Beta==x=y\n");
        check_good("  [One]  \n  Alpha  =  1\n", "2:One.Alpha=1\n");
        check_good("[One]\nAlpha=m\xc3\xbcller [x] don't \"q\"\n", "2:One.Alpha=m\xc3\xbcller [x] don't \"q\"\n");
        check_good("[One]\nAlpha=a\\x20b\n", "2:One.Alpha=a\\x20b\n");
}

static void test_comments(void **state) {
        check_good("[One]\nAlpha=a ; b\nBeta=c\t# d ; e\n", "2:One.Alpha=a\n3:One.Beta=c\n");
        check_good("[One]\nAlpha=;a\nBeta= # b\n", "2:One.Alpha=\n3:One.Beta=\n");
        check_good("[One]\nAlpha=a ; it's \"quoted\"; x#y\n", "2:One.Alpha=a\n");
        check_bad("[One]\nAlpha=a;b\n", 2,
                  "a comment begins after white space only, and in a value ; is \\x3b and # is \\x23, not \";b\"");
        check_bad("[One]\nAlpha=a b#c ; d\n", 2,
                  "a comment begins after white space only, and in a value ; is \\x3b and # is \\x23, not \"#c ; d\"");
}

static void test_syntax(void **state) {
        check_bad("[One]\nAlpha\n", 2, "neither [SECTION] nor KEY=VALUE nor a comment: \"Alpha\"");
        check_bad("Alpha=1\n[One]\n", 1, "a key before any [SECTION]: \"Alpha\"");
        check_bad("[One\nAlpha=1\n", 1, "no ] ends the section \"[One\"");
        check_bad("[One] # a=b\n", 1, "only white space may follow a section, not \" # a=b\"");
        check_bad("[One] x\n", 1, "only white space may follow a section, not \" x\"");
        check_bad("[One]\nAlpha=\"x\"\n", 2, "a value does not begin with a quote: \"\"x\"\"");
        check_bad("[One]\nAlpha='x y'\n", 2, "a value does not begin with a quote: \"'x y'\"");
        check_bad("[One]\nAlpha=x \\\ny\n", 2, "a line does not go on after a backslash: \"Alpha=x \\\"");
        check_bad("# comment \\\n[One]\n", 1, "a line does not go on after a backslash: \"# comment \\\"");
}

static void test_unknown(void **state) {
        check_bad("[one]\n", 1, "unknown section \"one\"; did you mean \"One\"?");
        check_bad("[ One]\n", 1, "unknown section \" One\"; did you mean \"One\"?");
        check_bad("[]\n", 1, "unknown section \"\"; valid are: One, Two");
        check_bad("[One:Alpha]\n", 1, "unknown section \"One:Alpha\"; valid are: One, Two");
        check_bad("[One]\n\nAlfa=1\n", 3, "unknown key \"Alfa\"; did you mean \"Alpha\"?");
        check_bad("[One]\nalpha=1\n", 2, "unknown key \"alpha\"; did you mean \"Alpha\"?");
        check_bad("[One]\nGamma=1\n", 2,
                  "unknown key \"Gamma\"; valid are: Alpha, Beta"); /* it is of another section */
        check_bad("[Two]\nZ=1\n", 2, "unknown key \"Z\"; valid are: Gamma");
        check_bad("[Two]\n=1\n", 2, "unknown key \"\"; valid are: Gamma");
}

static void test_twice(void **state) {
        check_bad("[One]\nAlpha=1\nBeta=2\nAlpha=1\n", 4, "key \"Alpha\" a second time, it stands in line 2");
        check_bad("[One]\n[Two]\nGamma=1\n[One]\n", 4, "section \"One\" a second time, it stands in line 1");
}

static void test_bytes(void **state) {
        check_bad("\xef\xbb\xbf[One]\nAlpha=1\n", 1, "the file begins with a UTF-8 byte-order mark: remove it");
        check_bad("[One]\r\nAlpha=1\r\n", 1, "a line feed alone ends a line, not CR LF, as here: \"[One]\"");
        check_bad("[One]\nAlpha=1\r\n", 2, "a line feed alone ends a line, not CR LF, as here: \"Alpha=1\"");
        check_bad("\r\n", 1, "a line feed alone ends a line, not CR LF, as here: \"\"");
        check_bad("[One]\nAlpha=\xff\n", 2, "not UTF-8 (\\xNN stands for a byte): \"?\"");
        check_bad("[One]\nAlpha=a\x1b[31m\n", 2, "a control character before \"[31m\"");
        check_bad("# \x01\n", 1, "a control character before \"\"");
        check_bad_bytes("[One]\nAl\0pha=1\n", 15, 2, "a NUL byte after \"Al\"");
        check_bad_bytes("[One]\n\0", 7, 2, "a NUL byte after \"\"");
}

static void test_long_lines(void **state) {
        char text[4096], expected[4096];
        /* 1,000 bytes are read whole ... */
        strcpy(text, "[One]\nAlpha=");
        memset(text + 12, 'a', 994);
        strcpy(text + 12 + 994, "\nBeta=1\n");
        snprintf(expected, sizeof(expected), "2:One.Alpha=%.994s\n3:One.Beta=1\n", text + 12);
        check_good(text, expected);
        /* ... and not one more, wherever they stand. */
        memset(text + 12, 'a', 995);
        strcpy(text + 12 + 995, "\n");
        check_bad(text, 2,
                  "a line of 1001 bytes that begins with \"Alpha=aaaaaaaaaaaaaaaaaaaaaaaaaa\", at most 1000 are read");
        memset(text, '#', 2000);
        strcpy(text + 2000, "\n[One]\n");
        check_bad(text, 1,
                  "a line of 2000 bytes that begins with \"################################\", at most 1000 are read");
}

static void test_files(void **state) {
        struct failure f = {0};
        char expected[1024];
        assert_int_equal(ini_read(scratch_path(scratch, "none.conf"), known, note, NULL, &f), -ENOENT);
        snprintf(expected, sizeof(expected), "%s: No such file or directory", scratch_path(scratch, "none.conf"));
        assert_string_equal(f.text, expected);

        assert_int_equal(mkdir(scratch_path(scratch, "dir.conf"), 0755), 0);
        assert_int_equal(ini_read(scratch_path(scratch, "dir.conf"), known, note, NULL, &f), -EISDIR);
        snprintf(expected, sizeof(expected), "%s: is a directory, not a regular file",
                 scratch_path(scratch, "dir.conf"));
        assert_string_equal(f.text, expected);

        /* Does not wait for a writer. */
        assert_int_equal(mkfifo(scratch_path(scratch, "fifo.conf"), 0644), 0);
        assert_int_equal(ini_read(scratch_path(scratch, "fifo.conf"), known, note, NULL, &f), -EINVAL);

        size_t size = 1 << 20;
        char *text = malloc(size + 1);
        assert_non_null(text);
        memset(text, '\n', size + 1);
        scratch_write_bytes(scratch, "big.conf", text, size + 1);
        assert_int_equal(ini_read(scratch_path(scratch, "big.conf"), known, note, NULL, &f), -EFBIG);
        scratch_write_bytes(scratch, "big.conf", text, size);
        assert_int_equal(ini_read(scratch_path(scratch, "big.conf"), known, note, NULL, &f), 0);
        free(text);
}

static int refuse(const struct ini_entry *entry, void *userdata, struct failure *f) {
        unsigned *calls = userdata;
        (*calls)++;
        return strcmp(entry->key, "Beta") == 0 ? -ERANGE : 0;
}

static void test_callback_ends(void **state) {
        unsigned calls = 0;
        scratch_write(scratch, "a.conf", "[One]\nAlpha=1\nBeta=2\n[Two]\nGamma=3\n");
        assert_int_equal(ini_read(scratch_path(scratch, "a.conf"), known, refuse, &calls, NULL), -ERANGE);
        assert_int_equal(calls, 2);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_good),          cmocka_unit_test(test_comments),
                cmocka_unit_test(test_syntax),        cmocka_unit_test(test_unknown),
                cmocka_unit_test(test_twice),         cmocka_unit_test(test_bytes),
                cmocka_unit_test(test_long_lines),    cmocka_unit_test(test_files),
                cmocka_unit_test(test_callback_ends),
        };
        return cmocka_run_group_tests(tests, setup, teardown);
}
