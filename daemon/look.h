/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What a pass knows of its tenant. */
#include "pass.h"

/* Looks at the tenant: its threads, their children that are not listed yet, those that were given its cookie and lost
 * their place, and, where the pass wants the whole host, all others that carry a cookie of theirs. Takes the events
 * that are queued. 0, or as observe_tenant. */
int look(struct pass_context *c, struct tenant *tenant, struct sight *ret);

/* For qsort. */
int look_compare_cookies(const void *a, const void *b);
