// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tenant.h"
#include "selector.h"
#include "strv.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

int tenant_new(const char *name, char *const *cgroups, const char *policy, enum origin origin, struct tenant **ret) {
        _cleanup_(tenant_freep) struct tenant *tenant = calloc(1, sizeof(*tenant));
        if (!tenant)
                return -ENOMEM;
        tenant->name = strdup(name);
        tenant->policy = policy ? strdup(policy) : NULL;
        if (!tenant->name || (policy && !tenant->policy) || strv_copy(cgroups, &tenant->cgroups) < 0)
                return -ENOMEM;
        tenant->origin = origin;
        tenant->state = TENANT_PENDING;
        tenant->due = USEC_INFINITY;
        *ret = TAKE(tenant);
        return 0;
}

void tenant_free(struct tenant *tenant) {
        if (!tenant)
                return;
        free(tenant->name);
        strv_free(tenant->cgroups);
        free(tenant->policy);
        free(tenant->pattern);
        free(tenant->reason);
        strv_free(tenant->frozen);
        given_done(&tenant->unfinished);
        pids_done(&tenant->hinted);
        strv_free(tenant->hinted_cgroups);
        pids_done(&tenant->members);
        free(tenant);
}

int tenant_set_pattern(struct tenant *tenant, const char *pattern) {
        char *copy = pattern ? strdup(pattern) : NULL;
        if (pattern && !copy)
                return -ENOMEM;
        free(tenant->pattern);
        tenant->pattern = copy;
        return 0;
}

void tenant_set_state(struct tenant *tenant, enum tenant_state state, const char *reason, ...) {
        _cleanup_free_ char *text = NULL;
        if (reason) {
                va_list ap;
                va_start(ap, reason);
                if (vasprintf(&text, reason, ap) < 0)
                        text = NULL;
                va_end(ap);
        }
        bool same = text && tenant->reason ? strcmp(text, tenant->reason) == 0 : text == tenant->reason;
        if (tenant->state == state && same)
                return;
        tenant->state = state;
        free(tenant->reason);
        tenant->reason = TAKE(text);
        tenant->changed = true;
}

void tenants_done(struct tenants *tenants) {
        for (size_t i = 0; i < tenants->n; i++)
                tenant_free(tenants->tenant[i]);
        free(tenants->tenant);
        *tenants = (struct tenants){0};
}

/* Where name stands, or would have to stand. */
static size_t position(const struct tenants *tenants, const char *name, bool *ret_found) {
        size_t low = 0, high = tenants->n;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = strcmp(tenants->tenant[middle]->name, name);
                if (order == 0) {
                        *ret_found = true;
                        return middle;
                }
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        *ret_found = false;
        return low;
}

struct tenant *tenants_find(const struct tenants *tenants, const char *name) {
        bool found;
        size_t at = position(tenants, name, &found);
        return found ? tenants->tenant[at] : NULL;
}

struct tenant *tenants_of_cgroup(const struct tenants *tenants, const char *path) {
        for (size_t i = 0; i < tenants->n; i++)
                for (char **c = tenants->tenant[i]->cgroups; c && *c; c++)
                        if (cgroup_path_within(path, *c))
                                return tenants->tenant[i];
        return NULL;
}

struct tenant *tenants_overlapping(const struct tenants *tenants, const char *path) {
        for (size_t i = 0; i < tenants->n; i++)
                for (char **c = tenants->tenant[i]->cgroups; c && *c; c++)
                        if (cgroup_path_within(path, *c) || cgroup_path_within(*c, path))
                                return tenants->tenant[i];
        return NULL;
}

struct tenant *tenants_of_cookie(const struct tenants *tenants, uint64_t cookie) {
        for (size_t i = 0; cookie != 0 && i < tenants->n; i++)
                if (tenants->tenant[i]->cookie == cookie)
                        return tenants->tenant[i];
        return NULL;
}

int tenants_add(struct tenants *tenants, struct tenant *tenant) {
        bool found;
        size_t at = position(tenants, tenant->name, &found);
        if (found)
                return -EEXIST;
        if (tenants->n == tenants->allocated) {
                size_t allocated = tenants->allocated ? 2 * tenants->allocated : 16;
                struct tenant **grown = reallocarray(tenants->tenant, allocated, sizeof(*grown));
                if (!grown)
                        return -ENOMEM;
                tenants->tenant = grown;
                tenants->allocated = allocated;
        }
        memmove(tenants->tenant + at + 1, tenants->tenant + at, (tenants->n - at) * sizeof(*tenants->tenant));
        tenants->tenant[at] = tenant;
        tenants->n++;
        return 0;
}

struct tenant *tenants_remove(struct tenants *tenants, const char *name) {
        bool found;
        size_t at = position(tenants, name, &found);
        if (!found)
                return NULL;
        struct tenant *tenant = tenants->tenant[at];
        tenants->n--;
        memmove(tenants->tenant + at, tenants->tenant + at + 1, (tenants->n - at) * sizeof(*tenants->tenant));
        return tenant;
}
