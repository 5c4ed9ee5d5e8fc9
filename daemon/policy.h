/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A policy: by which means a tenant is kept apart, how it is brought there, and which cgroups become tenants by
 * themselves. Plain data. */
#include "api/words.h"
#include <stdbool.h>

struct policy {
        char *name;
        char *description;
        char *file; /* where it was read, NULL: none */
        enum isolation isolation;
        enum attach attach;
        enum on_exposed on_exposed;
        bool active; /* its patterns are in force */

        char **match;   /* patterns (pattern.h) of cgroups that are made tenants; NULL: none */
        char **exclude; /* ... of those that are not */
        char *tenant;   /* the template of the tenant's name; NULL: one tenant for each cgroup */
};

/* Is this a name for a policy: 1 to POLICY_NAME_MAX ASCII letters, digits and "-_.:@", the first no '.'? */
#define POLICY_NAME_MAX 64
bool policy_name_valid(const char *name);

void policy_done(struct policy *policy);
