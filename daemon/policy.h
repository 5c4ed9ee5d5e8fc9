/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A policy: by which means a tenant is kept apart, and how it is brought there. Plain data. */
#include "api/words.h"
#include <stdbool.h>

struct policy {
        char *name;
        char *description;
        char *file; /* where it was read, NULL: none */
        enum isolation isolation;
        enum attach attach;
        enum on_exposed on_exposed;
};

/* Is this a name for a policy: 1 to POLICY_NAME_MAX ASCII letters, digits and "-_.:@", the first no '.'? */
#define POLICY_NAME_MAX 64
bool policy_name_valid(const char *name);

void policy_done(struct policy *policy);
