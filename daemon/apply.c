// SPDX-License-Identifier: LGPL-2.1-or-later
#include "apply.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

static int note_failed(struct pass *pass, pid_t tid, int error) {
        struct trouble *grown = reallocarray(pass->failed, pass->n_failed + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        pass->failed = grown;
        pass->failed[pass->n_failed++] = (struct trouble){tid, error};
        return 0;
}

int apply_delivery(struct pass_context *c, struct tenant *tenant, const struct plan *plan) {
        struct pass *pass = tenant->pass;
        _cleanup_free_ struct delivery_target *targets = calloc(plan->n_targets, sizeof(*targets));
        if (!targets)
                return -ENOMEM;
        for (size_t i = 0; i < plan->n_targets; i++)
                targets[i].tid = plan->targets[i];
        struct delivery job = {
                .kind = plan->step == PLAN_NEW     ? DELIVER_NEW
                        : plan->step == PLAN_SHARE ? DELIVER_SHARE
                                                   : DELIVER_CLEAR,
                .source = plan->source,
                .cookie = plan->cookie,
                .by_thread = plan->by_thread,
                .targets = targets,
                .n_targets = plan->n_targets,
        };
        int r = c->kernel->cookie->deliver(c->kernel->data, &job);
        if (r == -ESRCH || r == -ESTALE)
                return 1;
        if (r < 0 && r != -ENODEV)
                return r;
        if (plan->step == PLAN_CLEAR) {
                host_done(&c->host);
                c->host_seen = false;
        }

        struct pids *given = plan->by_thread ? &pass->delivered.threads : &pass->delivered.groups;
        size_t n_given = 0;
        for (size_t i = 0; i < plan->n_targets; i++) {
                int error = targets[i].error, q = 0;
                if (error == 0) {
                        n_given++;
                        tenant->touched = true;
                        if (plan->step != PLAN_CLEAR)
                                q = pids_add(given, targets[i].tid);
                } else if (error != -ESRCH && error != -ENODEV)
                        q = note_failed(pass, targets[i].tid, error);
                if (q < 0)
                        return q;
        }
        pids_sort(given);
        if (plan->step == PLAN_NEW && n_given > 0) {
                tenant->cookie = job.cookie;
                tenant->given = job.cookie;
                tenant->adopted = false;
                tenant->changed = true;
        }
        return r;
}

int apply_freeze(struct pass_context *c, struct tenant *tenant) {
        const struct cgroup_ops *ops = c->kernel->cgroup;
        size_t n_before = strv_length(tenant->frozen);
        int r = 0;

        for (char **path = tenant->cgroups; r == 0 && path && *path; path++) {
                bool asked, frozen;
                r = ops->frozen(c->kernel->data, *path, &asked, &frozen);
                if (r == -ENOENT || r == -ENODEV)
                        r = 0;
                else if (r == 0 && !asked)
                        r = strv_extend(&tenant->frozen, *path);
        }
        if (r == 0 && c->save)
                r = c->save(c->userdata);
        for (size_t i = n_before; r == 0 && i < strv_length(tenant->frozen); i++) {
                r = ops->freeze(c->kernel->data, tenant->frozen[i], true);
                if (r == -ENOENT || r == -ENODEV)
                        r = 0;
        }
        if (r < 0)
                (void) apply_thaw(c, tenant);
        return r;
}

struct frozen_look {
        const struct kernel *kernel;
        bool all_stopped;
        struct pids pids;
};

static int look_stopped(const char *path, void *userdata) {
        struct frozen_look *look = userdata;
        const struct kernel *kernel = look->kernel;

        look->pids.n = 0;
        int r = kernel->cgroup->list(kernel->data, path, true, &look->pids);
        if (r == -ENOENT || r == -ENODEV || r == -EOPNOTSUPP)
                return 0;
        if (r < 0)
                return r;
        for (size_t i = 0; i < look->pids.n; i++) {
                struct task_info info;
                r = kernel->task_info(kernel->data, look->pids.pid[i], &info);
                if (r == -ESRCH || (r == 0 && (info.kernel_thread || info.stopped)))
                        continue;
                if (r < 0)
                        return r;
                look->all_stopped = false;
                return 1;
        }
        return 0;
}

int apply_frozen(const struct pass_context *c, const struct tenant *tenant, bool thoroughly) {
        for (char **path = tenant->cgroups; path && *path; path++) {
                bool asked, frozen;
                int r = c->kernel->cgroup->frozen(c->kernel->data, *path, &asked, &frozen);
                if (r == -ENOENT || r == -ENODEV)
                        continue;
                if (r < 0)
                        return r;
                if (frozen)
                        continue;
                if (!thoroughly)
                        return 0;
                struct frozen_look look = {.kernel = c->kernel, .all_stopped = true};
                r = c->kernel->cgroup->walk(c->kernel->data, *path, look_stopped, &look);
                pids_done(&look.pids);
                if (r < 0 && r != -ENOENT && r != -ENAMETOOLONG)
                        return r;
                if (!look.all_stopped)
                        return 0;
        }
        return 1;
}

int apply_thaw(const struct pass_context *c, struct tenant *tenant) {
        _cleanup_strv_ char **frozen = TAKE(tenant->frozen);
        int worst = 0;

        for (char **path = frozen; path && *path; path++) {
                int r = c->kernel->cgroup->freeze(c->kernel->data, *path, false);
                if (r == 0 || r == -ENOENT || r == -ENODEV)
                        continue;
                worst = r;
                r = strv_extend(&tenant->frozen, *path);
                if (r < 0)
                        return r;
        }
        tenant->stay_frozen = false;
        tenant->changed = tenant->changed || frozen;
        return worst;
}
