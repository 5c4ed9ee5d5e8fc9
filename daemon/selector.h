/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* PURE. Paths of cgroups: checking, comparing and matching them; names of tenants. */
#include <stdbool.h>
#include <stddef.h>

/* Is this a name for a tenant: 1 to 255 bytes of valid UTF-8, no '/', no control characters, no white space at either
 * end, and neither "." nor ".."? */
bool tenant_name_valid(const char *name);

/* The cgroup path in its one form: absolute, no empty, "." or ".." components, no '/' at the end (the root is "/").
 * Accepts a path with or without the leading '/', and below the mount point /sys/fs/cgroup as well. Newly allocated.
 * -EINVAL when it is no such path (empty, "..", a line feed, over 4,095 bytes, a component over 255 bytes), -ENOMEM. */
int cgroup_path_normalize(const char *path, char **ret);

/* Is path the ancestor itself or below it? Both normalized. */
bool cgroup_path_within(const char *path, const char *ancestor);

/* The cgroup path that systemd gives a slice ("a-b.slice": "/a.slice/a-b.slice", "-.slice": "/"), newly allocated;
 * -EINVAL when it is no slice's name, -ENOMEM. */
int slice_path(const char *slice, char **ret);

/* A cgroup as people name it: the name of a slice, or a path. As slice_path and cgroup_path_normalize; -EDOM: it is the
 * name of another kind of unit, whose cgroup cannot be told from it. */
int cgroup_from_word(const char *word, char **ret);

/* Splits a list of white-space separated words, with \xNN for any byte, as is needed for white space and the backslash.
 * Newly allocated; -EINVAL on a bad escape or a NUL byte, -ENOMEM. */
int words_split(const char *list, char ***ret);

/* The reverse, newly allocated; NULL when memory is short. The result is UTF-8 without control characters, may stand in
 * an INI file, and is split into the same words again (a word is not empty). */
char *words_join(char *const *words);

/* Decodes \xNN in a text that is one word, white space included. Newly allocated; as words_split. */
int word_unescape(const char *text, char **ret);
