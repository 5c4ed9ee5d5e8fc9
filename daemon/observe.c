// SPDX-License-Identifier: LGPL-2.1-or-later
#include "observe.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

void sight_done(struct sight *sight) {
        free(sight->seen);
        pids_done(&sight->inside);
        *sight = (struct sight){0};
}

static int sight_reserve(struct sight *sight, size_t n) {
        if (n <= sight->allocated - sight->n)
                return 0;
        size_t allocated = sight->n + n > 2 * sight->allocated ? sight->n + n : 2 * sight->allocated;
        struct seen *grown = reallocarray(sight->seen, allocated, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        sight->seen = grown;
        sight->allocated = allocated;
        return 0;
}

int sight_add(struct sight *sight, const struct seen *seen) {
        int r = sight_reserve(sight, 1);
        if (r < 0)
                return r;
        sight->seen[sight->n++] = *seen;
        return 0;
}

/* Of more processes than this, as many are asked whether somebody has tagged them before. */
#define SAMPLE 64

/* What listing a subtree gathers. */
struct listing {
        const struct kernel *kernel;
        const struct pids *known;
        const char *root;
        bool root_threaded;
        bool all_known;                      /* no process is listed but known ones */
        bool counted;                        /* their threads were listed before */
        bool sampling;                       /* threads are of no interest where there are many processes */
        bool left_out;                       /* some were not listed, for one of these reasons */
        struct pids leaders, threads, loose; /* loose: threads whose processes are outside of the tenant */
};

static bool vanished(int error) {
        return error == -ENOENT || error == -ENODEV || error == -ENOTDIR;
}

static bool all_known(const struct listing *l, size_t first) {
        size_t cursor = 0;
        for (size_t i = first; i < l->leaders.n; i++)
                if (!pids_next(l->known, l->leaders.pid[i], &cursor))
                        return false;
        return true;
}

static bool is_sampled(const struct listing *l) {
        return l->sampling && l->leaders.n > SAMPLE;
}

static int list_cgroup(const char *path, void *userdata) {
        struct listing *l = userdata;
        const struct cgroup_ops *ops = l->kernel->cgroup;
        size_t before = l->leaders.n;
        int r;

        /* Where each process has one thread, the list of threads says as much as both. */
        if (l->all_known && !l->counted) {
                r = ops->list(l->kernel->data, path, true, &l->leaders);
                if (r == 0 && all_known(l, before))
                        return 0;
                l->leaders.n = before;
        }
        r = ops->list(l->kernel->data, path, false, &l->leaders);
        if (vanished(r))
                return 0;
        if (r == -EOPNOTSUPP) {
                /* A threaded cgroup: its processes are listed at the domain above, which is in the tenant too unless
                 * this is the tenant's own cgroup. */
                if (strcmp(path, l->root) == 0)
                        l->root_threaded = true;
        } else if (r < 0)
                return r;
        l->all_known = l->all_known && all_known(l, before);
        if (((l->all_known && l->counted) || is_sampled(l)) && !l->root_threaded) {
                l->left_out = l->leaders.n > 0;
                return 0;
        }
        r = ops->list(l->kernel->data, path, true, l->root_threaded ? &l->loose : &l->threads);
        return vanished(r) ? 0 : r;
}

static int look(const struct kernel *kernel, const struct tenant *tenant, bool known, struct seen *seen,
                struct sight *sight) {
        if (known)
                seen->cookie = tenant->cookie;
        else {
                int r = kernel->cookie->get(kernel->data, seen->tid, &seen->cookie);
                if (r == -ESRCH)
                        return 0;
                if (r == -ENODEV || r == -EINVAL)
                        return r;
                seen->error = r;
        }
        return sight_add(sight, seen);
}

/* 1: some of the processes carry a cookie; 0: none of those that were asked does. */
static int sample_carries(const struct listing *l) {
        for (size_t i = 0; i < SAMPLE; i++) {
                uint64_t cookie = 0;
                int r = l->kernel->cookie->get(l->kernel->data, l->leaders.pid[i * l->leaders.n / SAMPLE], &cookie);
                if (r == -ENODEV || r == -EINVAL)
                        return r;
                if (cookie != 0)
                        return 1;
        }
        return 0;
}

static void listing_done(struct listing *l) {
        pids_done(&l->leaders);
        pids_done(&l->threads);
        pids_done(&l->loose);
}

static void sort(struct listing *l) {
        pids_sort(&l->leaders);
        pids_sort(&l->threads);
        pids_sort(&l->loose);
}

static int list_root(struct listing *l, size_t *n_missing, bool *left_out) {
        int r = l->kernel->cgroup->walk(l->kernel->data, l->root, list_cgroup, l);
        if (r == -ENAMETOOLONG) {
                *left_out = true;
                r = 0;
        }
        if (vanished(r)) {
                (*n_missing)++;
                r = 0;
        }
        if (r == 0 && is_sampled(l)) {
                r = sample_carries(l);
                if (r > 0) {
                        l->leaders.n = l->threads.n = l->loose.n = 0;
                        l->sampling = l->left_out = false;
                        return list_root(l, n_missing, left_out);
                }
        }
        sort(l);
        return r;
}

static int look_at_listed(const struct tenant *tenant, const struct listing *l, struct sight *sight) {
        bool sampled = is_sampled(l);
        size_t cursor = 0, n = l->leaders.n + l->threads.n + l->loose.n;
        int r = pids_reserve(&sight->inside, n);
        r = r < 0 ? r : sight_reserve(sight, n);
        for (size_t i = 0; r == 0 && i < l->leaders.n; i++)
                r = look(l->kernel, tenant, sampled || (l->known && pids_next(l->known, l->leaders.pid[i], &cursor)),
                         &(struct seen){.tid = l->leaders.pid[i], .leader = true}, sight);
        cursor = 0;
        for (size_t i = 0; r == 0 && i < l->threads.n; i++)
                if (!pids_next(&l->leaders, l->threads.pid[i], &cursor))
                        r = look(l->kernel, tenant, l->all_known, &(struct seen){.tid = l->threads.pid[i]}, sight);
        for (size_t i = 0; r == 0 && i < l->loose.n; i++)
                r = look(l->kernel, tenant, false, &(struct seen){.tid = l->loose.pid[i], .threaded = true}, sight);
        r = r < 0 ? r : pids_merge(&sight->inside, &l->leaders);
        r = r < 0 ? r : pids_merge(&sight->inside, &l->threads);
        r = r < 0 ? r : pids_merge(&sight->inside, &l->loose);
        sight->n_processes += l->leaders.n;
        sight->threads_known = sight->threads_known && !l->left_out;
        return r;
}

static void give(struct sight *sight, struct sight *ret) {
        pids_sort(&sight->inside);
        sight->n_threads = sight->n;
        *ret = *sight;
        *sight = (struct sight){0};
}

int observe_tenant(const struct kernel *kernel, const struct tenant *tenant, const struct pids *known, bool counted,
                   struct sight *ret) {
        _cleanup_(sight_done) struct sight sight = {.threads_known = true};

        for (char **root = tenant->cgroups; root && *root; root++) {
                struct listing l = {.kernel = kernel,
                                    .known = known,
                                    .root = *root,
                                    .all_known = known && known->n > 0,
                                    .counted = counted,
                                    .sampling = known && known->n == 0 && tenant->cookie == 0};
                int r = list_root(&l, &sight.n_missing, &sight.too_deep);
                if (r == 0)
                        r = look_at_listed(tenant, &l, &sight);
                listing_done(&l);
                if (r < 0)
                        return r;
        }
        give(&sight, ret);
        return 0;
}

int observe_cgroups(const struct kernel *kernel, const struct tenant *tenant, char *const *cgroups, struct sight *ret) {
        _cleanup_(sight_done) struct sight sight = {.threads_known = true};
        struct listing l = {.kernel = kernel, .root = ""};
        int r = 0;

        for (; r == 0 && cgroups && *cgroups; cgroups++)
                r = list_cgroup(*cgroups, &l);
        sort(&l);
        if (r == 0)
                r = look_at_listed(tenant, &l, &sight);
        listing_done(&l);
        if (r < 0)
                return r;
        give(&sight, ret);
        return 0;
}

struct count {
        const struct kernel *kernel;
        struct pids processes, threads;
};

static int count_cgroup(const char *path, void *userdata) {
        struct count *count = userdata;
        const struct kernel *kernel = count->kernel;

        (void) kernel->cgroup->list(kernel->data, path, false, &count->processes);
        (void) kernel->cgroup->list(kernel->data, path, true, &count->threads);
        return 0;
}

void observe_count(const struct kernel *kernel, const struct tenant *tenant, size_t *ret_processes,
                   size_t *ret_threads) {
        struct count count = {.kernel = kernel};

        for (char **root = tenant->cgroups; root && *root; root++)
                (void) kernel->cgroup->walk(kernel->data, *root, count_cgroup, &count);
        *ret_processes = count.processes.n;
        *ret_threads = count.threads.n;
        pids_done(&count.processes);
        pids_done(&count.threads);
}

void host_done(struct host *host) {
        free(host->carrier);
        *host = (struct host){0};
}

struct host_listing {
        const struct kernel *kernel;
        const struct tenants *tenants;
        struct host *host;
        struct pids threads;
};

static int list_carriers(const char *path, void *userdata) {
        struct host_listing *l = userdata;

        l->threads.n = 0;
        int r = l->kernel->cgroup->list(l->kernel->data, path, true, &l->threads);
        if (vanished(r) || r == -EOPNOTSUPP)
                return 0;
        if (r < 0)
                return r;
        struct tenant *tenant = l->threads.n > 0 ? tenants_of_cgroup(l->tenants, path) : NULL;
        for (size_t i = 0; i < l->threads.n; i++) {
                uint64_t cookie = 0;
                r = l->kernel->cookie->get(l->kernel->data, l->threads.pid[i], &cookie);
                if (r == -ENODEV || r == -EINVAL)
                        return r;
                if (r == -ESRCH || (r == 0 && cookie == 0))
                        continue;
                struct host *host = l->host;
                if (host->n == host->allocated) {
                        size_t allocated = host->allocated ? 2 * host->allocated : 64;
                        struct carrier *grown = reallocarray(host->carrier, allocated, sizeof(*grown));
                        if (!grown)
                                return -ENOMEM;
                        host->carrier = grown;
                        host->allocated = allocated;
                }
                host->carrier[host->n++] = (struct carrier){l->threads.pid[i], cookie, r, tenant};
        }
        return 0;
}

static int compare_carriers(const void *a, const void *b) {
        const struct carrier *x = a, *y = b;
        if (x->cookie != y->cookie)
                return x->cookie < y->cookie ? -1 : 1;
        return (x->tid > y->tid) - (x->tid < y->tid);
}

int observe_host(const struct kernel *kernel, const struct tenants *tenants, struct host *ret) {
        _cleanup_(host_done) struct host host = {0};
        struct host_listing l = {.kernel = kernel, .tenants = tenants, .host = &host};

        int r = kernel->cgroup->walk(kernel->data, "/", list_carriers, &l);
        pids_done(&l.threads);
        if (r < 0 && r != -ENAMETOOLONG)
                return r;
        if (host.n > 0)
                qsort(host.carrier, host.n, sizeof(*host.carrier), compare_carriers);
        *ret = host;
        host = (struct host){0};
        return 0;
}

int observe_place(const struct kernel *kernel, const struct tenants *tenants, pid_t tid, struct tenant **ret) {
        _cleanup_free_ char *path = NULL;
        int r = kernel->cgroup->of_task(kernel->data, tid, &path);
        if (r < 0)
                return r;
        if (strcmp(path, "/") == 0)
                return -EAGAIN;
        *ret = tenants_of_cgroup(tenants, path);
        return 0;
}
