// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tenants that end by themselves: a transient one is untagged and forgotten once none of its cgroups is there any
 * more. One whose cgroups are yet to come waits for them. */
#include "manager-internal.h"
#include <errno.h>

/* Is any of its cgroups there? What cannot be told counts as there. */
static bool has_cgroup(const struct manager *m, const struct tenant *tenant) {
        for (char **path = tenant->cgroups; path && *path; path++)
                if (m->kernel->cgroup->find(m->kernel->data, *path) != -ENOENT)
                        return true;
        return false;
}

void manager_end_transient(struct manager *m, struct tenant *tenant) {
        if (!tenant->transient || tenant->untagging || config_tenant(m->config, tenant->name))
                return;
        if (has_cgroup(m, tenant)) {
                tenant->changed = tenant->changed || !tenant->lived; /* has to survive a restart */
                tenant->lived = true;
        } else if (tenant->lived) {
                /* Tasks that were moved out of it may carry its cookie still. */
                tenant->untagging = tenant->over = true;
                manager_mark(m, tenant);
        }
}
