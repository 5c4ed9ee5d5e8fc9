/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A file is replaced as a whole: whoever reads it finds the old text or the new one. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes a new file beside path, which must have a folder, and renames it; durable: all is on the disk when this
 * returns. 0 or negative errno; nothing is left beside path then. */
int replace_file(const char *path, const char *text, size_t size, mode_t mode, bool durable);
