// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch.h"
#include "pass.h"
#include <errno.h>

#define EVENTS_MAX 100000

/* A task forked: the child is noted if its parent is one of the tenant's. */
static void note_fork(struct pass *pass, const struct proc_event *event) {
        if (pids_contain(&pass->delivered.groups, event->tid) || pids_contain(&pass->delivered.threads, event->tid))
                pass->lost = true;
        if (!pids_contain(&pass->members, event->parent_tgid) && !pids_contain(&pass->members, event->parent_tid))
                return;
        if (pids_add(&pass->hints, event->tid) < 0 || pids_insert(&pass->members, event->tid) < 0)
                pass->lost = true;
}

int watch_drain(const struct kernel *kernel, const struct tenants *tenants) {
        _cleanup_free_ struct pass **passes = calloc(tenants->n + 1, sizeof(*passes));
        if (!passes)
                return -ENOMEM;
        size_t n = 0;
        for (size_t i = 0; i < tenants->n; i++)
                if (tenants->tenant[i]->pass)
                        passes[n++] = tenants->tenant[i]->pass;

        /* A host that forks faster than this is read does not keep the pass from going on. */
        for (size_t events = 0;; events++) {
                struct proc_event event;
                if (events == EVENTS_MAX) {
                        for (size_t i = 0; i < n; i++)
                                passes[i]->lost = true;
                        return 0;
                }
                int r = kernel->proc_events->next(kernel->data, &event);
                if (r == 0)
                        return 0;
                if (r < 0 && r != -ENOBUFS)
                        return r;
                for (size_t i = 0; i < n; i++)
                        if (r == -ENOBUFS)
                                passes[i]->lost = true;
                        else if (event.kind == PROC_EVENT_FORK)
                                note_fork(passes[i], &event);
        }
}
