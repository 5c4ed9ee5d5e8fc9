/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* PURE. Which cgroups a policy's Match= fits, and the name of the tenant that comes of one.
 *
 * A pattern is a normalized path in which `*` stands for any characters of one component, also none, `?` for one
 * character, and `[a-z]` or `[!a-z]` for one of a set; the backslash is a character like any other. */
#include "policy.h"
#include "util.h"
#include <stdbool.h>

/* What a `*` matched: a part of the path. */
struct capture {
        const char *start;
        size_t length;
};

#define CAPTURES_MAX 9

/* What is wrong with a normalized path as a pattern, as the end of a sentence that begins with it; NULL: nothing. */
const char *pattern_problem(const char *pattern);

/* How many `*` there are. */
unsigned pattern_stars(const char *pattern);

/* Does the pattern fit the whole of path (normalized)? captures (room for CAPTURES_MAX) is then what its first `*`
 * matched, each as little as possible, the first ones first. Takes no more than their lengths' product. */
bool pattern_fits(const char *pattern, const char *path, struct capture *captures);

/* The same for the template of a tenant's name, in which %1 to %9 stand for what a `*` matched and %% for %. */
const char *pattern_template_problem(const char *template);

/* The largest number after a % in a template without problems; 0: none. */
unsigned pattern_template_stars(const char *template);

/* What a cgroup is by the policies in force. */
struct match {
        const struct policy *policy;
        char *name;  /* of its tenant; NULL: the policy's template gives it none */
        bool shared; /* the tenant is that of all cgroups with this name and policy; else it is of this one alone */
};

static inline void match_done(struct match *match) {
        free(match->name);
        *match = (struct match){0};
}

/* Finds the policy that is most specific for the cgroup (normalized): of those that are active, of whose patterns one
 * fits and which do not exclude it, the one whose pattern has the most bytes that stand for themselves, then the first
 * (policies being in the order of their names). 1: *ret is filled; 0: there is none; -ENOMEM. */
int pattern_match(const struct policy *policies, size_t n_policies, const char *path, struct match *ret);

/* A name for the tenant of one cgroup (normalized, not the root): its last component without .scope, .service or
 * .slice, and with systemd's escapes decoded where a name may hold what they stand for. For number > 1 with "~NUMBER"
 * after it. Always a tenant's name, not always another one for another cgroup. Newly allocated, NULL when memory is
 * short. */
char *pattern_default_name(const char *path, unsigned number);
