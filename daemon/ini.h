/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Strict reading of one INI file. ini.c alone knows iniparser, whose leniency (lower-cased keys,
 * cut values, silent duplicates, lost sections) never shows here: what is not exactly right is an error that names
 * file, line and word. */
#include "failure.h"
#include <stdbool.h>

/* What may stand in a file; the keys of a section stand together. Sections and keys are matched exactly (case
 * included). */
struct ini_key {
        const char *section, *key;
};

struct ini_entry {
        const char *section, *key, *value;
        unsigned line;
};

/* Called for each entry, in the order of the file. A negative result ends the reading, f being filled. */
typedef int (*ini_entry_t)(const struct ini_entry *entry, void *userdata, struct failure *f);

/* Reads the file and checks all of it against the NULL-ended table of known keys before the first call. A value may be
 * empty; \xNN is left as it stands. Errors: -ENOENT and what else open gives (f is filled too), -EBADMSG (its text is
 * wrong), -EISDIR or -EINVAL (not a regular file), -EFBIG (over 1 MiB), or what the callback returned. */
int ini_read(const char *path, const struct ini_key *known, ini_entry_t entry, void *userdata, struct failure *f);
