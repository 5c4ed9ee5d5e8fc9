// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strv.h"
#include <errno.h>
#include <string.h>

void strv_free(char **strv) {
        for (char **s = strv; s && *s; s++)
                free(*s);
        free(strv);
}

size_t strv_length(char *const *strv) {
        size_t n = 0;
        while (strv && strv[n])
                n++;
        return n;
}

bool strv_contains(char *const *strv, const char *string) {
        for (; strv && *strv; strv++)
                if (strcmp(*strv, string) == 0)
                        return true;
        return false;
}

int strv_extend(char ***strv, const char *string) {
        size_t n = strv_length(*strv);
        _cleanup_free_ char *copy = strdup(string);
        char **grown = copy ? reallocarray(*strv, n + 2, sizeof(char *)) : NULL;
        if (!grown)
                return -ENOMEM;
        grown[n] = TAKE(copy);
        grown[n + 1] = NULL;
        *strv = grown;
        return 0;
}

int strv_copy(char *const *strv, char ***ret) {
        size_t n = strv_length(strv);
        _cleanup_strv_ char **copy = calloc(n + 1, sizeof(char *));
        if (!copy)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                copy[i] = strdup(strv[i]);
                if (!copy[i])
                        return -ENOMEM;
        }
        *ret = TAKE(copy);
        return 0;
}

bool strv_equal(char *const *a, char *const *b) {
        size_t n = strv_length(a);
        if (n != strv_length(b))
                return false;
        for (size_t i = 0; i < n; i++)
                if (strcmp(a[i], b[i]) != 0)
                        return false;
        return true;
}

char *strv_join(char *const *strv, const char *separator) {
        size_t length = 1, gap = strlen(separator);
        for (size_t i = 0; strv && strv[i]; i++)
                length += strlen(strv[i]) + (i > 0 ? gap : 0);
        char *joined = malloc(length), *end = joined;
        if (!joined)
                return NULL;
        *end = '\0';
        for (size_t i = 0; strv && strv[i]; i++) {
                if (i > 0)
                        end = stpcpy(end, separator);
                end = stpcpy(end, strv[i]);
        }
        return joined;
}

void strv_remove(char **strv, const char *string) {
        char **to = strv;
        for (char **from = strv; from && *from; from++)
                if (strcmp(*from, string) == 0)
                        free(*from);
                else
                        *to++ = *from;
        if (to)
                *to = NULL;
}
