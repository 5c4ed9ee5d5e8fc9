/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the fuzzers share. */
#include "failure.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold of every input; stays in when assert() does not. */
#define MUST(condition)                                                                                                \
        do {                                                                                                           \
                if (!(condition)) {                                                                                    \
                        fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                 \
                        abort();                                                                                       \
                }                                                                                                      \
        } while (0)

/* The path of a file in memory that holds these bytes, until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* The bytes as a string, up to the first NUL; newly allocated. */
char *fuzz_string(const uint8_t *data, size_t size);

/* A call gave r and f, about the file: a failure is filled exactly when r is negative, with one line that names it. */
void fuzz_check_failure(int r, const struct failure *f, const char *file);
