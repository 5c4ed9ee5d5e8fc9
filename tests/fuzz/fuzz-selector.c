// SPDX-License-Identifier: LGPL-2.1-or-later
/* Words and paths: there and back. */
#include "fuzz.h"
#include "selector.h"
#include "strv.h"
#include "utf8.h"
#include <string.h>

static void check_words(const char *list) {
        _cleanup_strv_ char **words = NULL, **again = NULL;
        if (words_split(list, &words) < 0)
                return;
        _cleanup_free_ char *joined = words_join(words);
        MUST(joined && utf8_printable(joined));
        MUST(words_split(joined, &again) == 0);
        MUST(strv_equal(words, again));
}

/* Any string but the empty one is a word. */
static void check_word(const char *word) {
        _cleanup_strv_ char **again = NULL;
        char *words[] = {(char *) word, NULL};
        _cleanup_free_ char *joined = words_join(words);
        MUST(joined && words_split(joined, &again) == 0);
        MUST(*word == '\0' ? strv_length(again) == 0 : strv_equal(words, again));
        _cleanup_free_ char *plain = NULL;
        MUST(word_unescape(joined, &plain) == 0 && strcmp(plain, word) == 0);
}

static void check_path(const char *path) {
        _cleanup_free_ char *normal = NULL, *again = NULL;
        if (cgroup_path_normalize(path, &normal) < 0)
                return;
        MUST(cgroup_path_normalize(normal, &again) == 0);
        MUST(strcmp(normal, again) == 0);
        MUST(normal[0] == '/' && !strstr(normal, "//") && !strstr(normal, "/./") && !strstr(normal, "/../"));
        MUST(strcmp(normal, "/") == 0 || normal[strlen(normal) - 1] != '/');
        MUST(cgroup_path_within(normal, normal) && cgroup_path_within(normal, "/"));
}

static void check_slice(const char *slice) {
        _cleanup_free_ char *path = NULL, *normal = NULL;
        if (slice_path(slice, &path) < 0)
                return;
        MUST(strcmp(path, "/") == 0 || strcmp(strrchr(path, '/') + 1, slice) == 0);
        if (cgroup_path_normalize(path, &normal) == 0)
                MUST(strcmp(normal, path) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *string = fuzz_string(data, size);
        check_words(string);
        check_word(string);
        check_path(string);
        check_slice(string);
        if (tenant_name_valid(string))
                MUST(utf8_printable(string) && !strchr(string, '/'));
        return 0;
}
