// SPDX-License-Identifier: LGPL-2.1-or-later
/* Verify: what the kernel says of every thread, beside what it should be. Changes nothing but the state of the tenant,
 * and marks those dirty that are not as they should be. */
#include "manager-internal.h"
#include "observe.h"
#include <errno.h>
#include <string.h>

/* 0 or -ENOMEM. */
static int add_verdict(struct verification *v, const struct verdict *verdict) {
        if (v->n_kept == VERDICTS_KEPT)
                return 0;
        /* Room is made whenever their number is a power of two. */
        if ((v->n_kept & (v->n_kept - 1)) == 0) {
                size_t n = v->n_kept > 0 ? 2 * v->n_kept : 1;
                struct verdict *grown = reallocarray(v->bad, n, sizeof(*grown));
                if (!grown)
                        return -ENOMEM;
                v->bad = grown;
        }
        v->bad[v->n_kept++] = *verdict;
        return 0;
}

/* Does a thread outside of the tenant carry the cookie? */
static bool carried_elsewhere(const struct host *host, const struct tenant *tenant, uint64_t cookie) {
        for (size_t i = 0; i < host->n; i++)
                if (host->carrier[i].cookie == cookie && host->carrier[i].tenant != tenant)
                        return true;
        return false;
}

static enum finding judge(const struct manager *m, const struct host *host, const struct tenant *tenant,
                          const struct seen *seen) {
        if (seen->error < 0)
                return FINDING_UNREADABLE;
        if (seen->cookie == 0)
                return FINDING_UNTAGGED;
        if (seen->cookie == tenant->cookie)
                return FINDING_GOOD;
        if (tenants_of_cookie(&m->tenants, seen->cookie))
                return FINDING_WRONG_TENANT;
        return carried_elsewhere(host, tenant, seen->cookie) ? FINDING_FOREIGN : FINDING_OWN;
}

static int verify_tenant(struct manager *m, const struct host *host, struct tenant *tenant, struct verification *v) {
        _cleanup_(sight_done) struct sight sight = {0};

        v->tenant = tenant;
        int r = observe_tenant(m->kernel, tenant, NULL, false, &sight);
        if (r < 0)
                return r;
        v->n_threads = sight.n;
        for (size_t i = 0; r == 0 && i < sight.n; i++) {
                const struct seen *seen = &sight.seen[i];
                enum finding finding = judge(m, host, tenant, seen);
                if (finding == FINDING_GOOD)
                        continue;
                v->n_bad++;
                r = add_verdict(v, &(struct verdict){seen->tid, seen->cookie, seen->error, finding});
        }
        for (size_t i = 0; r == 0 && i < host->n; i++) {
                const struct carrier *carrier = &host->carrier[i];
                if (tenant->cookie == 0 || carrier->cookie != tenant->cookie || carrier->tenant == tenant ||
                    pids_contain(&sight.inside, carrier->tid))
                        continue;
                v->n_outside++;
                r = add_verdict(v, &(struct verdict){carrier->tid, carrier->cookie, 0, FINDING_WRONG_TENANT});
        }
        return r;
}

/* What was found is the tenant's state now, and is mended. */
static void conclude(struct manager *m, struct verification *v) {
        struct tenant *tenant = v->tenant;

        if ((v->n_bad == 0 && v->n_outside == 0) || manager_policy_of(m, tenant->policy)->isolation == ISOLATION_NONE)
                return;
        if (v->n_bad > 0)
                tenant_set_state(tenant, TENANT_DEGRADED, "%zu of %zu threads were found without the tenant's cookie",
                                 v->n_bad, v->n_threads);
        else
                tenant_set_state(tenant, TENANT_DEGRADED,
                                 "%zu threads outside of the tenant were found with its cookie", v->n_outside);
        tenant->wide = tenant->wide || v->n_outside > 0;
        manager_mark(m, tenant);
}

void manager_verify(struct manager *m, const char *name, manager_verified_t done, void *userdata) {
        _cleanup_(host_done) struct host host = {0};
        struct failure f = {0};

        /* What SMT makes of the tenants is part of the answer. */
        if (manager_notice_smt(m))
                manager_run(m);
        struct tenant *one = name ? tenants_find(&m->tenants, name) : NULL;
        size_t n = name ? 1 : m->tenants.n;

        if (name && !one) {
                int r = fail(&f, FAILURE_NO_SUCH_TENANT, -ENOENT,
                             "There is no tenant '%.200s'; 'coreschedctl list' shows those there are", name);
                done(r, &f, NULL, 0, userdata);
                return;
        }
        struct verification *verifications = calloc(n + 1, sizeof(*verifications));
        int r = verifications ? observe_host(m->kernel, &m->tenants, &host) : -ENOMEM;
        bool readable = r == 0;
        /* Without SMT, or core scheduling, nobody has a cookie to be read: the tenants' state says so. */
        if (r == -ENODEV || r == -EINVAL)
                r = 0;
        for (size_t i = 0; r == 0 && i < n; i++) {
                struct tenant *tenant = one ? one : m->tenants.tenant[i];
                verifications[i].tenant = tenant;
                if (readable)
                        r = verify_tenant(m, &host, tenant, &verifications[i]);
                if (r == -ENODEV || r == -EINVAL) {
                        r = 0;
                        readable = false;
                }
                if (!readable)
                        manager_mark(m, tenant);
        }
        if (r == 0) {
                for (size_t i = 0; readable && i < n; i++)
                        conclude(m, &verifications[i]);
                done(0, NULL, verifications, n, userdata);
        } else {
                fail(&f, FAILURE_FAILED, r, "The tasks could not be looked at: %s", strerrordesc_np(-r));
                done(r, &f, NULL, 0, userdata);
        }
        for (size_t i = 0; verifications && i < n; i++)
                free(verifications[i].bad);
        free(verifications);
}
