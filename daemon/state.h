/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What must survive a restart of the daemon: which tenants there are, and what they were given. One JSON file in the
 * runtime directory, replaced by rename; trusted for nothing else. */
#include "failure.h"
#include "tenant.h"

struct state {
        struct tenants tenants; /* name, cgroups, policy, origin, cookie, adopted, frozen, stay_frozen */
        char **untagged;        /* configured tenants that were untagged by hand */
};

/* An absent file is an empty state. A garbled one is moved aside (state.json.bad), reported in f, and -EBADMSG. */
int state_load(const char *dir, struct state *ret, struct failure *f);
int state_save(const char *dir, const struct tenants *tenants, char *const *untagged);
void state_done(struct state *state);
