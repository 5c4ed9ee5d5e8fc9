/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A folder of its own for a test, with files in it. */
#include <stddef.h>

/* Made in TMPDIR or /tmp; the name is freed with scratch_done, which removes all of it. Both end the test on failure.
 */
char *scratch_new(void);
void scratch_done(char *scratch);

/* The path of a file in it; valid until the fourth next call. */
const char *scratch_path(const char *scratch, const char *file);

/* Writes the file, and makes its folders. */
void scratch_write(const char *scratch, const char *file, const char *text);
void scratch_write_bytes(const char *scratch, const char *file, const void *bytes, size_t size);

/* The file's text, newly allocated. */
char *scratch_read(const char *scratch, const char *file);
