// SPDX-License-Identifier: LGPL-2.1-or-later
#include "table.h"
#include "text.h"
#include <errno.h>

struct row {
        char *text[COLUMNS_MAX];
        int width[COLUMNS_MAX];
        size_t coloured;
        enum colour colour;
};

const char *colour_begin(bool wanted, enum colour colour) {
        static const char *const sequences[] = {[COLOUR_NONE] = "",
                                                [COLOUR_GOOD] = "\033[32m",
                                                [COLOUR_WARNING] = "\033[33m",
                                                [COLOUR_BAD] = "\033[1;31m"};
        return wanted ? sequences[colour] : "";
}

const char *colour_end(bool wanted, enum colour colour) {
        return wanted && colour != COLOUR_NONE ? "\033[0m" : "";
}

static void row_done(struct row *row) {
        for (size_t i = 0; i < COLUMNS_MAX; i++)
                free(row->text[i]);
}

void table_done(struct table *table) {
        for (size_t i = 0; i < table->n_rows; i++)
                row_done(table->rows + i);
        free(table->rows);
}

int table_add(struct table *table, const char *const *texts, size_t coloured, enum colour colour) {
        if (table->n_rows == table->allocated) {
                size_t n = table->allocated ? 2 * table->allocated : 16;
                struct row *rows = reallocarray(table->rows, n, sizeof(*rows));
                if (!rows)
                        return -ENOMEM;
                table->rows = rows;
                table->allocated = n;
        }
        struct row row = {.coloured = coloured, .colour = colour};
        for (size_t i = 0; i < table->n_columns; i++) {
                row.text[i] = text_printable(texts[i][0] ? texts[i] : "-");
                if (!row.text[i]) {
                        row_done(&row);
                        return -ENOMEM;
                }
                row.width[i] = text_width(row.text[i]);
        }
        table->rows[table->n_rows++] = row;
        return 0;
}

static void print_cell(FILE *f, const struct table *table, size_t i, const char *text, int width, int column_width,
                       const char *begin, const char *end) {
        bool number = table->columns[i].number, last = i + 1 == table->n_columns;
        int gap = column_width - width;
        fprintf(f, "%*s%s%s%s%*s", number ? gap : 0, "", begin, text, end, last ? 0 : number ? 2 : gap + 2, "");
}

void table_print(const struct table *table, FILE *f, bool header, bool colours) {
        int width[COLUMNS_MAX] = {0};
        for (size_t i = 0; i < table->n_columns; i++) {
                if (header)
                        width[i] = text_width(table->columns[i].name);
                for (size_t j = 0; j < table->n_rows; j++)
                        if (table->rows[j].width[i] > width[i])
                                width[i] = table->rows[j].width[i];
        }
        if (header) {
                fprintf(f, "%*s%s", table->indent, "", colours ? "\033[4m" : "");
                for (size_t i = 0; i < table->n_columns; i++)
                        print_cell(f, table, i, table->columns[i].name, text_width(table->columns[i].name), width[i],
                                   "", "");
                fputs(colours ? "\033[0m\n" : "\n", f);
        }
        for (size_t j = 0; j < table->n_rows; j++) {
                const struct row *row = table->rows + j;
                fprintf(f, "%*s", table->indent, "");
                for (size_t i = 0; i < table->n_columns; i++) {
                        enum colour colour = i == row->coloured ? row->colour : COLOUR_NONE;
                        print_cell(f, table, i, row->text[i], row->width[i], width[i], colour_begin(colours, colour),
                                   colour_end(colours, colour));
                }
                fputc('\n', f);
        }
}
