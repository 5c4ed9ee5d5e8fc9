// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nearest.h"
#include "util.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define WORD_MAX 63 /* longer ones are nobody's typing errors */

static bool same(char a, char b) {
        return tolower((unsigned char) a) == tolower((unsigned char) b);
}

static size_t least(size_t a, size_t b) {
        return a < b ? a : b;
}

/* The optimal string alignment distance: row[i % 3][j] turns the first i letters of a into the first j of b. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b) {
        size_t row[3][WORD_MAX + 1];
        for (size_t j = 0; j <= n_b; j++)
                row[0][j] = j;
        for (size_t i = 1; i <= n_a; i++) {
                size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
                now[0] = i;
                for (size_t j = 1; j <= n_b; j++) {
                        now[j] = least(last[j], now[j - 1]) + 1;
                        now[j] = least(now[j], last[j - 1] + !same(a[i - 1], b[j - 1]));
                        if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                                now[j] = least(now[j], before[j - 2] + 1);
                }
        }
        return row[n_a % 3][n_b];
}

const char *nearest_word(const char *word, const char *const *words) {
        size_t length = strlen(word);
        if (length > WORD_MAX)
                return NULL;
        size_t bound = length < 6 ? 1 : length / 3;
        const char *nearest = NULL;
        for (; *words; words++) {
                size_t n = strlen(*words);
                if (n > WORD_MAX)
                        continue;
                size_t d = distance(word, length, *words, n);
                if (d < bound || (d == bound && !nearest)) {
                        nearest = *words;
                        bound = d;
                }
        }
        return nearest;
}
