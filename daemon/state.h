/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What must survive a restart of the daemon: which tenants there are, and what they were given. One file in the runtime
 * directory, trusted for nothing else: a line of JSON with everything, replaced by rename, and after it a line for each
 * tenant that changed since, so that a change costs the same whether there are ten tenants or thousands. */
#include "failure.h"
#include "tenant.h"

struct state {
        struct tenants tenants; /* name, cgroups, policy, origin, pattern, cookie, adopted, frozen, stay_frozen,
                                 * transient, lived */
        char **untagged;        /* configured tenants that were untagged by hand */
        char **left;            /* cgroups of others that were, and that patterns leave alone therefore */
};

/* An absent file is an empty state. A garbled one is moved aside (state.json.bad), reported in f, and -EBADMSG. */
int state_load(const char *dir, struct state *ret, struct failure *f);
int state_save(const char *dir, const struct tenants *tenants, char *const *untagged, char *const *left);

/* Adds that a tenant changed, or is gone, to what was saved before. After an error everything has to be saved. */
int state_append(const char *dir, const struct tenant *tenant, bool gone);
void state_done(struct state *state);
