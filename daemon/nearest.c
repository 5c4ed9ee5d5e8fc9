// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nearest.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define COMPARED_MAX 63 /* longer words are near to nothing */

static bool same_letter(char a, char b) {
        return tolower((unsigned char) a) == tolower((unsigned char) b);
}

/* Letters to insert, remove or replace, and neighbours to swap; case is none of them. */
static size_t distance(const char *a, const char *b) {
        size_t rows[3][COMPARED_MAX + 1], length = strlen(b);
        size_t *before = rows[0], *above = rows[1], *row = rows[2];
        for (size_t j = 0; j <= length; j++)
                row[j] = j;
        for (size_t i = 0; a[i]; i++) {
                size_t *oldest = before;
                before = above;
                above = row;
                row = oldest;
                row[0] = i + 1;
                for (size_t j = 0; j < length; j++) {
                        size_t best = above[j] + !same_letter(a[i], b[j]);
                        best = above[j + 1] + 1 < best ? above[j + 1] + 1 : best;
                        best = row[j] + 1 < best ? row[j] + 1 : best;
                        if (i > 0 && j > 0 && same_letter(a[i], b[j - 1]) && same_letter(a[i - 1], b[j]))
                                best = before[j - 1] + 1 < best ? before[j - 1] + 1 : best;
                        row[j + 1] = best;
                }
        }
        return row[length];
}

struct hint nearest_hint(const char *word, const char *const *valid) {
        struct hint hint = {0};
        const char *nearest = NULL;
        size_t length = strlen(word), least = length / 2 + 1;
        for (const char *const *v = valid; length <= COMPARED_MAX && *v; v++) {
                size_t d = strlen(*v) <= COMPARED_MAX ? distance(word, *v) : least;
                if (d < least) {
                        least = d;
                        nearest = *v;
                }
        }
        if (nearest) {
                snprintf(hint.text, sizeof(hint.text), "; did you mean \"%s\"?", nearest);
                return hint;
        }
        size_t used = (size_t) snprintf(hint.text, sizeof(hint.text), "; valid are: ");
        for (const char *const *v = valid; *v; v++) {
                const char *separator = v == valid ? "" : ", ";
                if (used + strlen(separator) + strlen(*v) + sizeof(", ...") > sizeof(hint.text)) {
                        snprintf(hint.text + used, sizeof(hint.text) - used, "%s...", separator);
                        break;
                }
                used += (size_t) sprintf(hint.text + used, "%s%s", separator, *v);
        }
        return hint;
}
