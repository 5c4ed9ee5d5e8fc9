/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* PURE. For errors about a word that is not known: which one was meant? */
#include <stddef.h>

struct hint {
        char text[256];
};

/* `; did you mean "Policy"?`, or, when none of the NULL-ended words is near, `; valid are: CGroups, Policy`. */
struct hint nearest_hint(const char *word, const char *const *valid);
