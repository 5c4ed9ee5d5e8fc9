/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Text for a terminal: what comes from elsewhere is shown as it is only where it is printable. */
#include "util.h"

/* The only way to standard error: one line, after the program's name; what is not printable is shown as \xNN. */
void complain(const char *format, ...) _printf_(1, 2);

/* From now on what is complained of goes to the journal as well. */
void complain_to_journal(void);

/* A copy with every control character and every byte that is no character of the locale as \xNN; NULL when memory is
 * short. */
char *text_printable(const char *text);

/* Columns that a printable text takes on a terminal. */
int text_width(const char *text);

/* "thread" or "threads": the form of noun for n. */
static inline const char *plural(uint64_t n, const char *one, const char *many) {
        return n == 1 ? one : many;
}
