/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* NULL-terminated arrays of strings, as libsystemd takes and gives them. A NULL array is an empty one. */
#include "util.h"
#include <stdbool.h>

void strv_free(char **strv);
static inline void strv_freep(char ***strv) {
        strv_free(*strv);
}
#define _cleanup_strv_ _cleanup_(strv_freep)

size_t strv_length(char *const *strv);
bool strv_contains(char *const *strv, const char *string);

/* Appends a copy of string. 0 or -ENOMEM (the array is then unchanged). */
int strv_extend(char ***strv, const char *string);

/* Drops every copy of string. */
void strv_remove(char **strv, const char *string);

/* 0 or -ENOMEM. */
int strv_copy(char *const *strv, char ***ret);
bool strv_equal(char *const *a, char *const *b);

/* Joins with the separator between; NULL when memory is short. */
char *strv_join(char *const *strv, const char *separator);
