/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Tables as a terminal shows them: columns as wide as their widest cell, of what is printable only. */
#include "util.h"
#include <stdbool.h>

enum colour { COLOUR_NONE, COLOUR_GOOD, COLOUR_WARNING, COLOUR_BAD };

/* The sequences that begin and end a colour: empty when it is not wanted. */
const char *colour_begin(bool wanted, enum colour colour);
const char *colour_end(bool wanted, enum colour colour);

#define COLUMNS_MAX 8

struct column {
        const char *name;
        bool number; /* to the right */
};

struct table {
        const struct column *columns; /* at most COLUMNS_MAX; the last one is not padded unless it is a number */
        size_t n_columns;
        int indent; /* columns that are left empty before it */
        struct row *rows;
        size_t n_rows, allocated;
};

void table_done(struct table *table);

/* Copies one text for each column; an empty one shows as "-". The colour is that of the cell in the coloured column. 0
 * or -ENOMEM. */
int table_add(struct table *table, const char *const *texts, size_t coloured, enum colour colour);

void table_print(const struct table *table, FILE *f, bool header, bool colours);
