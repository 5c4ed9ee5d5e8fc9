// SPDX-License-Identifier: LGPL-2.1-or-later
#include "selector.h"
#include "strv.h"
#include "utf8.h"
#include <errno.h>
#include <string.h>

#define NAME_BYTES_MAX  255
#define PATH_BYTES_MAX  4095
#define MOUNT_POINT     "/sys/fs/cgroup"
#define WHITE_SPACE     " \t\n\v\f\r"
#define SLICE_SUFFIX    ".slice"
#define UNIT_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\"

bool tenant_name_valid(const char *name) {
        size_t length = strlen(name);
        if (length == 0 || length > NAME_BYTES_MAX || strchr(name, '/') || !utf8_printable(name))
                return false;
        for (const char *c = name; *c; c += utf8_character(c))
                if (utf8_noncharacter(c))
                        return false;
        if (name[0] == ' ' || name[length - 1] == ' ')
                return false;
        return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

bool cgroup_path_within(const char *path, const char *ancestor) {
        if (strcmp(ancestor, "/") == 0)
                return true;
        size_t length = strlen(ancestor);
        return strncmp(path, ancestor, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

int cgroup_path_normalize(const char *path, char **ret) {
        if (path[0] == '\0' || strchr(path, '\n'))
                return -EINVAL;
        _cleanup_free_ char *normal = malloc(strlen(path) + 2);
        if (!normal)
                return -ENOMEM;
        char *end = normal;
        for (const char *component = path; *component;) {
                component += strspn(component, "/");
                size_t length = strcspn(component, "/");
                if (length > NAME_BYTES_MAX || (length == 2 && memcmp(component, "..", 2) == 0))
                        return -EINVAL;
                if (length > 0 && !(length == 1 && component[0] == '.')) {
                        *end++ = '/';
                        end = mempcpy(end, component, length);
                }
                component += length;
        }
        *end = '\0';
        /* More than once, so that what is normal stays as it is. */
        const char *start = normal;
        while (start[0] != '\0' && cgroup_path_within(start, MOUNT_POINT))
                start += strlen(MOUNT_POINT);
        if (strlen(start) > PATH_BYTES_MAX)
                return -EINVAL;
        char *copy = strdup(start[0] == '\0' ? "/" : start);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        return 0;
}

int slice_path(const char *slice, char **ret) {
        size_t length = strlen(slice), suffix = strlen(SLICE_SUFFIX);
        if (length <= suffix || length > NAME_BYTES_MAX || strcmp(slice + length - suffix, SLICE_SUFFIX) != 0 ||
            slice[strspn(slice, UNIT_CHARACTERS)] != '\0')
                return -EINVAL;
        size_t stem = length - suffix;
        bool root = stem == 1 && slice[0] == '-';
        if (!root && (slice[0] == '-' || slice[0] == '.' || slice[stem - 1] == '-' || strstr(slice, "--")))
                return -EINVAL;

        char *path = NULL;
        size_t size;
        _cleanup_fclose_ FILE *stream = open_memstream(&path, &size);
        if (!stream)
                return -ENOMEM;
        for (size_t i = 0; !root && i <= stem; i++)
                if (i == stem || slice[i] == '-')
                        fprintf(stream, "/%.*s" SLICE_SUFFIX, (int) i, slice);
        if (root)
                fputc('/', stream);
        bool failed = ferror(stream);
        if (fclose(TAKE(stream)) != 0 || failed) {
                free(path);
                return -ENOMEM;
        }
        *ret = path;
        return 0;
}

int cgroup_from_word(const char *word, char **ret) {
        static const char *const units[] = {".service", ".scope", ".socket", ".mount", ".swap"};
        const char *suffix = strrchr(word, '.');
        if (!strchr(word, '/')) {
                int r = slice_path(word, ret);
                if (r != -EINVAL)
                        return r;
                for (size_t i = 0; suffix && i < ELEMENTS(units); i++)
                        if (strcmp(suffix, units[i]) == 0)
                                return -EDOM;
        }
        return cgroup_path_normalize(word, ret);
}

static int hex_digit(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        if (c >= 'A' && c <= 'F')
                return c - 'A' + 10;
        return -1;
}

static int unescape(const char *text, size_t length, char **ret) {
        _cleanup_free_ char *word = malloc(length + 1);
        if (!word)
                return -ENOMEM;
        char *end = word;
        for (size_t i = 0; i < length; i++) {
                if (text[i] != '\\') {
                        *end++ = text[i];
                        continue;
                }
                if (length - i < 4 || text[i + 1] != 'x')
                        return -EINVAL;
                int high = hex_digit(text[i + 2]), low = hex_digit(text[i + 3]);
                if (high < 0 || low < 0 || (high == 0 && low == 0))
                        return -EINVAL;
                *end++ = (char) (high * 16 + low);
                i += 3;
        }
        *end = '\0';
        *ret = TAKE(word);
        return 0;
}

int word_unescape(const char *text, char **ret) {
        return unescape(text, strlen(text), ret);
}

int words_split(const char *list, char ***ret) {
        _cleanup_strv_ char **words = calloc(1, sizeof(char *));
        if (!words)
                return -ENOMEM;
        for (list += strspn(list, WHITE_SPACE); *list; list += strspn(list, WHITE_SPACE)) {
                _cleanup_free_ char *word = NULL;
                size_t length = strcspn(list, WHITE_SPACE);
                int r = unescape(list, length, &word);
                if (r >= 0)
                        r = strv_extend(&words, word);
                if (r < 0)
                        return r;
                list += length;
        }
        *ret = TAKE(words);
        return 0;
}

/* What white space, escapes, comments and quotes would make something else of. */
static bool needs_escape(const char *c) {
        return utf8_character(c) == 0 || utf8_control(c) || utf8_noncharacter(c) || strchr(" \\;#\"'", *c);
}

char *words_join(char *const *words) {
        size_t size = 1;
        for (size_t i = 0; words && words[i]; i++)
                size += 4 * strlen(words[i]) + 1;
        char *joined = malloc(size), *end = joined;
        if (!joined)
                return NULL;
        for (size_t i = 0; words && words[i]; i++) {
                if (i > 0)
                        *end++ = ' ';
                for (const char *c = words[i]; *c;) {
                        if (needs_escape(c)) {
                                end += sprintf(end, "\\x%02x", (unsigned char) *c);
                                c++;
                        } else {
                                size_t length = utf8_character(c);
                                end = mempcpy(end, c, length);
                                c += length;
                        }
                }
        }
        *end = '\0';
        return joined;
}
