// SPDX-License-Identifier: LGPL-2.1-or-later
/* PURE. Whoever may make cgroups may choose their names: no name makes this slow, and none that is odd makes a tenant
 * of what has no name, or one of two. */
#include "pattern.h"
#include "selector.h"
#include "strv.h"
#include "utf8.h"
#include <errno.h>
#include <string.h>

#define NAME_BYTES_MAX 255

/* ---- patterns ---- */

/* The bytes of the set that begins at `[`, and of its `]`; 0 when there is no end. */
static size_t set_length(const char *set) {
        size_t i = 1;
        i += set[i] == '!' || set[i] == '^';
        i += set[i] == ']';
        i += strcspn(set + i, "]/");
        return set[i] == ']' ? i + 1 : 0;
}

static bool set_holds(const char *set, size_t length, char c) {
        size_t i = 1;
        bool negated = set[i] == '!' || set[i] == '^', found = false;
        for (i += negated; i < length - 1; i++)
                if (i + 2 < length - 1 && set[i + 1] == '-') {
                        found = found || (set[i] <= c && c <= set[i + 2]);
                        i += 2;
                } else
                        found = found || set[i] == c;
        return found != negated;
}

static const char *set_problem(const char *set) {
        size_t length = set_length(set);
        if (length == 0)
                return "has a [ without its ]";
        for (size_t i = 1; i < length - 1; i++) {
                if ((unsigned char) set[i] >= 0x80)
                        return "has other characters than ASCII between [ and ]";
                if (set[i] == '[' && strchr(":.=", set[i + 1]))
                        return "has a class between [ and ]; name the characters, as in [0-9]";
        }
        size_t i = 1;
        for (i += set[i] == '!' || set[i] == '^'; i + 2 < length - 1; i++)
                if (set[i + 1] == '-') {
                        if (set[i] > set[i + 2])
                                return "has a range between [ and ] that ends before it begins";
                        i += 2;
                }
        return NULL;
}

const char *pattern_problem(const char *pattern) {
        if (strcmp(pattern, "/") == 0)
                return "is the root cgroup, which cannot be a tenant";
        if (strstr(pattern, "\\x5cx"))
                return "has \\x5c; a pattern has no escapes: write the unit's name as it is, as in machine-qemu\\x2d*";
        for (const char *c = pattern; *c;) {
                const char *problem = *c == '[' ? set_problem(c) : NULL;
                if (problem)
                        return problem;
                c += *c == '[' ? set_length(c) : 1;
        }
        return NULL;
}

unsigned pattern_stars(const char *pattern) {
        unsigned n = 0;
        for (const char *c = pattern; *c; c += *c == '[' ? set_length(c) : 1)
                n += *c == '*';
        return n;
}

/* The bytes that stand for themselves. */
static size_t literal_bytes(const char *pattern) {
        size_t n = 0;
        for (const char *c = pattern; *c; c += *c == '[' ? set_length(c) : 1)
                n += !strchr("*?[", *c);
        return n;
}

/* What is no UTF-8 goes byte by byte. */
static size_t character(const char *c) {
        size_t length = utf8_character(c);
        return length > 0 ? length : 1;
}

/* Steps over the first element of the pattern, which is no `*`, and what it fits of the path, if it does. */
static bool step(const char **pattern, const char **path) {
        const char *p = *pattern, *s = *path;
        size_t elements = 1, bytes = 1;
        if (*s == '\0')
                return false;
        if (*p == '?' || *p == '[') {
                elements = *p == '[' ? set_length(p) : 1;
                bytes = character(s);
                if (*s == '/' || (*p == '[' && !set_holds(p, elements, *s)))
                        return false;
        } else if (*p != *s)
                return false;
        *pattern = p + elements;
        *path = s + bytes;
        return true;
}

/* Only the last `*` ever has to take more: if an earlier one could, so can it, unless a `/` lies between. */
bool pattern_fits(const char *pattern, const char *path, struct capture *captures) {
        const char *after = NULL; /* the last `*` of the component */
        struct capture last = {0};
        unsigned n = 0;
        for (;;) {
                if (*pattern == '*') {
                        after = ++pattern;
                        last = (struct capture){path, 0};
                        if (++n <= CAPTURES_MAX)
                                captures[n - 1] = last;
                        continue;
                }
                if (*pattern == '\0' && *path == '\0')
                        return true;
                bool slash = *pattern == '/';
                if (*pattern != '\0' && step(&pattern, &path)) {
                        after = slash ? NULL : after;
                        continue;
                }
                const char *end = after ? last.start + last.length : "";
                if (*end == '\0' || *end == '/')
                        return false;
                last.length += character(end);
                if (n <= CAPTURES_MAX)
                        captures[n - 1] = last;
                path = last.start + last.length;
                pattern = after;
        }
}

/* ---- names ---- */

const char *pattern_template_problem(const char *template) {
        char example[NAME_BYTES_MAX + 2];
        size_t length = 0;
        for (const char *c = template; *c; c++) {
                if (*c == '%' && c[1] != '%' && (c[1] < '1' || c[1] > '9'))
                        return "has a % that is not of %1 to %9 or %%";
                if (length == sizeof(example) - 1)
                        break;
                example[length++] = *c;
                c += *c == '%';
        }
        example[length] = '\0';
        return tenant_name_valid(example) ? NULL
                                          : "is no tenant's name: 1 to 255 bytes of UTF-8 without '/' and control "
                                            "characters";
}

unsigned pattern_template_stars(const char *template) {
        unsigned most = 0;
        for (const char *c = template; *c; c++)
                if (*c == '%' && *++c != '%' && (unsigned) (*c - '0') > most)
                        most = (unsigned) (*c - '0');
        return most;
}

/* NULL: something is empty, or this is no tenant's name. */
static const char *expand(const char *template, const struct capture *captures, char name[NAME_BYTES_MAX + 1]) {
        size_t length = 0;
        for (const char *c = template; *c; c++) {
                struct capture part = {c, 1};
                if (*c == '%' && *++c != '%')
                        part = captures[*c - '1'];
                if (part.length == 0 || part.length > NAME_BYTES_MAX - length)
                        return NULL;
                memcpy(name + length, part.start, part.length);
                length += part.length;
        }
        name[length] = '\0';
        return tenant_name_valid(name) ? name : NULL;
}

/* Ends the name at most this many bytes on, between two characters, and not after a blank. */
static void cut(char *name, size_t most) {
        size_t length = 0;
        for (size_t n; name[length] && length + (n = character(name + length)) <= most;)
                length += n;
        while (length > 1 && name[length - 1] == ' ')
                length--;
        name[length] = '\0';
}

char *pattern_default_name(const char *path, unsigned number) {
        static const char *const suffixes[] = {".scope", ".service", ".slice"};
        _cleanup_free_ char *component = strdup(strrchr(path, '/') + 1), *decoded = NULL, *escaped = NULL;
        char suffix[16] = "", *name = NULL;
        if (!component)
                return NULL;
        char *dot = strrchr(component, '.');
        for (size_t i = 0; dot && dot > component && i < ELEMENTS(suffixes); i++)
                if (strcmp(dot, suffixes[i]) == 0)
                        *dot = '\0';
        if (word_unescape(component, &decoded) == -ENOMEM)
                return NULL;
        if (number > 1)
                snprintf(suffix, sizeof(suffix), "~%u", number);
        const char *stem = decoded && tenant_name_valid(decoded) ? decoded : component;
        if (!tenant_name_valid(stem)) {
                escaped = words_join((char *const[]){component, NULL});
                if (!escaped)
                        return NULL;
                cut(escaped, NAME_BYTES_MAX);
                /* "." and "..", which were "..slice" or the like */
                stem = tenant_name_valid(escaped) ? escaped : strrchr(path, '/') + 1;
        }
        if (asprintf(&name, "%s%s", stem, suffix) < 0)
                return NULL;
        if (strlen(name) > NAME_BYTES_MAX) {
                cut(name, NAME_BYTES_MAX - strlen(suffix));
                strcat(name, suffix);
        }
        return name;
}

/* ---- policies ---- */

static bool excluded(const struct policy *policy, const char *path) {
        struct capture ignored[CAPTURES_MAX];
        for (char **pattern = policy->exclude; pattern && *pattern; pattern++)
                if (pattern_fits(*pattern, path, ignored))
                        return true;
        return false;
}

int pattern_match(const struct policy *policies, size_t n_policies, const char *path, struct match *ret) {
        struct capture best_captures[CAPTURES_MAX] = {0}, captures[CAPTURES_MAX] = {0};
        const struct policy *best = NULL;
        size_t most = 0;
        for (size_t i = 0; i < n_policies; i++) {
                const struct policy *policy = policies + i;
                for (char **pattern = policy->active ? policy->match : NULL; pattern && *pattern; pattern++) {
                        size_t literal = literal_bytes(*pattern);
                        if ((best && literal <= most) || !pattern_fits(*pattern, path, captures) ||
                            excluded(policy, path))
                                continue;
                        best = policy;
                        most = literal;
                        memcpy(best_captures, captures, sizeof(captures));
                }
        }
        if (!best)
                return 0;
        char name[NAME_BYTES_MAX + 1], *copy = NULL;
        const char *expanded = best->tenant ? expand(best->tenant, best_captures, name) : NULL;
        if (best->tenant)
                copy = expanded ? strdup(expanded) : NULL;
        else
                copy = pattern_default_name(path, 1);
        if (!copy && (expanded || !best->tenant))
                return -ENOMEM;
        *ret = (struct match){best, copy, best->tenant != NULL};
        return 1;
}
