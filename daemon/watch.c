// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch.h"
#include "pass.h"
#include <errno.h>

#define EVENTS_MAX 100000

/* With more that wait to be looked at, looking at all tenants is cheaper. */
#define NEWCOMERS_MAX 4096

/* A process that ends as soon as it was started is found among so many of the last ones. */
#define RECENT 64

#define KTHREADD 2

void watch_done(struct watch *watch) {
        pidmap_done(&watch->settled);
        free(watch->newcomer);
        *watch = (struct watch){0};
}

static void lose(struct watch *watch) {
        pidmap_done(&watch->settled);
        watch->n = 0;
        watch->lost = watch->live;
}

static void add_newcomer(struct watch *watch, pid_t pid) {
        if (watch->n == watch->allocated && watch->n < NEWCOMERS_MAX) {
                size_t allocated = watch->allocated ? 2 * watch->allocated : RECENT;
                struct newcomer *grown = reallocarray(watch->newcomer, allocated, sizeof(*grown));
                if (grown) {
                        watch->newcomer = grown;
                        watch->allocated = allocated;
                }
        }
        if (watch->n == watch->allocated)
                lose(watch);
        else
                watch->newcomer[watch->n++] = (struct newcomer){.pid = pid};
        watch->added = true;
}

static void remove_newcomer(struct watch *watch, pid_t pid) {
        for (size_t i = watch->n; i > 0 && i + RECENT > watch->n; i--)
                if (watch->newcomer[i - 1].pid == pid) {
                        watch->newcomer[i - 1] = watch->newcomer[--watch->n];
                        return;
                }
}

static uint64_t *grown(struct watch *watch, uint16_t number) {
        return &watch->grown[number % WATCH_NUMBERS / 64];
}

static uint64_t grown_bit(uint16_t number) {
        return UINT64_C(1) << (number % 64);
}

bool watch_grown(struct watch *watch, uint16_t number) {
        bool was = *grown(watch, number) & grown_bit(number);
        *grown(watch, number) &= ~grown_bit(number);
        return was;
}

/* What the event means where no pass is under way. Threads are where their processes are. */
static void note(struct watch *watch, const struct proc_event *event) {
        uint16_t number;

        if (event->kind == PROC_EVENT_EXIT)
                pidmap_set(&watch->settled, event->tid, 0);
        if (event->tid != event->tgid)
                return;
        switch (event->kind) {
        case PROC_EVENT_FORK:
                number = pidmap_get(&watch->settled, event->parent_tgid);
                pidmap_set(&watch->settled, event->tgid, number);
                if (number != 0)
                        *grown(watch, number) |= grown_bit(number);
                else if (event->parent_tgid != KTHREADD) {
                        add_newcomer(watch, event->tgid);
                }
                break;
        case PROC_EVENT_EXEC:
                if (watch->execs && pidmap_get(&watch->settled, event->tgid) == 0)
                        add_newcomer(watch, event->tgid);
                break;
        case PROC_EVENT_EXIT:
                remove_newcomer(watch, event->tgid);
                break;
        }
}

/* A task forked: the child is noted if its parent is one of the tenant's. */
static void note_fork(struct pass *pass, const struct proc_event *event) {
        if (pids_contain(&pass->delivered.groups, event->tid) || pids_contain(&pass->delivered.threads, event->tid))
                pass->lost = true;
        if (!pids_contain(&pass->members, event->parent_tgid) && !pids_contain(&pass->members, event->parent_tid))
                return;
        if (pids_add(&pass->hints, event->tid) < 0 || pids_insert(&pass->members, event->tid) < 0)
                pass->lost = true;
}

int watch_drain(const struct kernel *kernel, const struct tenants *tenants, struct watch *watch, size_t max) {
        _cleanup_free_ struct pass **passes = calloc(tenants->n + 1, sizeof(*passes));
        if (!passes)
                return -ENOMEM;
        size_t n = 0;
        for (size_t i = 0; i < tenants->n; i++)
                if (tenants->tenant[i]->pass)
                        passes[n++] = tenants->tenant[i]->pass;

        for (size_t events = 0; events < max; events++) {
                struct proc_event event;
                int r = events == EVENTS_MAX ? -ENOBUFS : kernel->proc_events->next(kernel->data, &event);
                if (r == 0)
                        return 0;
                if (r < 0 && r != -ENOBUFS)
                        return r;
                for (size_t i = 0; i < n; i++)
                        if (r == -ENOBUFS)
                                passes[i]->lost = true;
                        else if (event.kind == PROC_EVENT_FORK)
                                note_fork(passes[i], &event);
                if (r == -ENOBUFS)
                        lose(watch);
                else if (watch->live)
                        note(watch, &event);
                /* A host that forks faster than this is read does not keep the pass from going on. */
                if (events == EVENTS_MAX)
                        return 0;
        }
        return 0;
}
