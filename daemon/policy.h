/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A policy: by which means a tenant is kept apart, and how it is brought there. Plain data. */
#include "api/words.h"

struct policy {
        char *name;
        char *description;
        char *file; /* where it was read, NULL: none */
        enum isolation isolation;
        enum attach attach;
        enum on_exposed on_exposed;
};

void policy_done(struct policy *policy);
