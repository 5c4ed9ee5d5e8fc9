/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Looks at tasks through the kernel's tables, and only looks: what a pass, and Verify, know of the world. What vanishes
 * while it is looked at is left out. */
#include "kernel/kernel.h"
#include "plan.h"
#include "tenant.h"

/* What was seen of one tenant. */
struct sight {
        struct seen *seen;
        size_t n, allocated;
        size_t n_processes;
        size_t n_threads;
        bool threads_known; /* each thread was looked at; otherwise n_threads counts processes alone */
        size_t n_missing;   /* cgroups of the tenant that do not exist */
        struct pids inside; /* sorted: all thread ids listed inside, also of those that were gone a moment later */
};

void sight_done(struct sight *sight);

/* Adds one thread to what was seen. 0 or -ENOMEM. */
int sight_add(struct sight *sight, const struct seen *seen);

/* Every thread inside the tenant's cgroups; with known NULL each is asked for its cookie. Of processes among `known`
 * (sorted) it is taken to be the tenant's: it was delivered a moment ago, to all their threads; and where all processes
 * are known, their threads are listed only if they were not `counted` before. Of a tenant that was given nothing yet
 * and has many processes a sample of these is asked: where none of it carries a cookie, all are taken to carry none,
 * and threads are not listed. 0; -ENODEV, -EINVAL (as cookie_ops.get); -ENOMEM. */
int observe_tenant(const struct kernel *kernel, const struct tenant *tenant, const struct pids *known, bool counted,
                   struct sight *ret);

/* The same of these cgroups alone, which are the tenant's, and none of which is threaded and its own. */
int observe_cgroups(const struct kernel *kernel, const struct tenant *tenant, char *const *cgroups, struct sight *ret);

/* How many processes and threads there are in the tenant's cgroups; no cookie is read. Of a threaded cgroup of its own
 * only the threads. What cannot be listed is not counted. */
void observe_count(const struct kernel *kernel, const struct tenant *tenant, size_t *ret_processes,
                   size_t *ret_threads);

/* Threads that carry a cookie, anywhere on the host. */
struct carrier {
        pid_t tid;
        uint64_t cookie;       /* 0 with an error: it could carry any */
        int error;             /* it cannot be read: negative errno */
        struct tenant *tenant; /* in whose cgroups it is, or NULL */
};

struct host {
        struct carrier *carrier; /* sorted by cookie */
        size_t n, allocated;
};

void host_done(struct host *host);

/* As observe_tenant. */
int observe_host(const struct kernel *kernel, const struct tenants *tenants, struct host *ret);

/* The tenant in whose cgroups a thread is; NULL for none. -ESRCH when it is gone. A child that is just being cloned
 * into a cgroup may still be shown in the root: -EAGAIN, look again. */
int observe_place(const struct kernel *kernel, const struct tenants *tenants, pid_t tid, struct tenant **ret);
