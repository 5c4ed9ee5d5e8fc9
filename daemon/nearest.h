/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* "Did you mean ...?": for words that a person mistyped. Pure. */

/* The word of the NULL-terminated list that the fewest inserted, deleted, replaced or swapped letters turn `word` into,
 * if that is at most a third of its letters (at least one); the first of several. NULL when none is that near. Case
 * does not count. */
const char *nearest_word(const char *word, const char *const *words);
