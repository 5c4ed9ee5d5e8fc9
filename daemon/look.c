// SPDX-License-Identifier: LGPL-2.1-or-later
/* All that a pass knows of its tenant at one moment: the tenant's threads, and whoever else bears on them. Nothing is
 * changed here but the pass's own notes of whom to look at. */
#include "look.h"
#include "watch.h"
#include <errno.h>

int look_compare_cookies(const void *a, const void *b) {
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
        return (x > y) - (x < y);
}

/* So many members are asked whether they still have their cookie, before the whole tenant is looked at. */
#define SOURCES_ASKED 16

/* How often children of children that are gone already are looked for. */
#define GENERATIONS 100

/* Children of the tenant's tasks that were not listed yet: forked while their parents were being tagged. Those that are
 * still shown in the root stay hints. *ret_gone: some are gone, and may have left children. */
static int add_hints(const struct pass_context *c, struct tenant *tenant, struct sight *sight, bool *ret_gone) {
        struct pass *pass = tenant->pass;
        struct pids again = {0};
        bool gone = false;
        int r = 0;

        for (size_t i = 0; r == 0 && i < pass->hints.n; i++) {
                pid_t tid = pass->hints.pid[i];
                struct seen seen = {.tid = tid, .leader = !pass->threaded, .threaded = pass->threaded};
                struct tenant *owner;

                if (pids_contain(&sight->inside, tid))
                        continue;
                r = c->kernel->cookie->get(c->kernel->data, tid, &seen.cookie);
                if (r == -ENODEV || r == -EINVAL)
                        break;
                gone = gone || r == -ESRCH;
                bool carries = r == 0 && seen.cookie != 0 && seen.cookie == tenant->cookie;
                bool right = carries == (pass->wish == WISH_TAGGED);
                if (r < 0 || (right && !(carries && pass->strayed))) {
                        r = 0; /* gone or unreadable; or it has what it should have */
                        continue;
                }
                r = observe_place(c->kernel, c->tenants, tid, &owner);
                gone = gone || r == -ESRCH;
                if (r == -EAGAIN)
                        r = pids_add(&again, tid);
                else if (r == 0 && owner == tenant && !right)
                        r = sight_add(sight, &seen);
                else if (r == 0 && !owner && carries && pass->strayed) {
                        seen.place = SEEN_OUTSIDE;
                        seen.given = true;
                        r = sight_add(sight, &seen);
                } else
                        r = 0;
        }
        pids_done(&pass->hints);
        pass->hints = again;
        *ret_gone = gone;
        return r;
}

/* Takes the events that are queued, and looks at the children they tell of. A process that forks and ends without a
 * pause is never there any more when it is looked at, but its events were queued before it went. */
static int add_children(struct pass_context *c, struct tenant *tenant, struct sight *sight) {
        bool gone = true;
        int r = 0;

        for (unsigned i = 0; r == 0 && gone && i < GENERATIONS; i++) {
                r = watch_drain(c->kernel, c->tenants, &c->watch, WATCH_ALL);
                if (r == 0)
                        r = add_hints(c, tenant, sight, &gone);
        }
        return r;
}

/* Those that were given the tenant's cookie and are not inside any more: gone, moved away, or a stranger that got the
 * number of one that was gone. */
static int add_strays(const struct pass_context *c, struct tenant *tenant, const struct pids *given, bool groups,
                      struct sight *sight) {
        size_t cursor = 0;

        for (size_t i = 0; i < given->n; i++) {
                struct seen seen = {.tid = given->pid[i], .leader = groups, .place = SEEN_OUTSIDE, .given = true};
                struct tenant *owner = NULL;

                if (pids_next(&sight->inside, seen.tid, &cursor))
                        continue;
                int r = c->kernel->cookie->get(c->kernel->data, seen.tid, &seen.cookie);
                if (r == -ENODEV || r == -EINVAL)
                        return r;
                if (r < 0 || seen.cookie != tenant->cookie)
                        continue;
                r = observe_place(c->kernel, c->tenants, seen.tid, &owner);
                if (r == -ESRCH || (r == 0 && owner == tenant))
                        continue;
                if (owner) {
                        if (c->dirty)
                                c->dirty(owner, c->userdata);
                        continue;
                }
                tenant->pass->strayed = true;
                r = sight_add(sight, &seen);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Of those who were members at the end of the last pass: who has left, and taken the cookie along. An adopted one is
 * somebody else's affair. */
static int add_leavers(struct pass_context *c, struct tenant *tenant, struct sight *sight) {
        struct pass *pass = tenant->pass;
        size_t before = sight->n;

        if (pass->narrow || pass->rounds > 1 || tenant->cookie == 0 || tenant->adopted)
                return 0;
        int r = add_strays(c, tenant, &tenant->members, false, sight);
        for (size_t i = before; r == 0 && i < sight->n; i++) {
                struct task_info info;
                /* A process leaves with all its threads, also those that are being made. */
                sight->seen[i].leader = !pass->threaded &&
                                        c->kernel->task_info(c->kernel->data, sight->seen[i].tid, &info) == 0 &&
                                        info.tgid == sight->seen[i].tid;
                pidmap_set(&c->watch.settled, sight->seen[i].tid, 0);
                pass->whole_host = true;                             /* they may have children ... */
                r = pids_insert(&pass->members, sight->seen[i].tid); /* ... and have some now */
        }
        return r;
}

/* A living member with the cookie, from whom the others are to get it. 0; -ENODATA: none is certain. */
static int add_source(const struct pass_context *c, const struct tenant *tenant, struct sight *sight) {
        unsigned asked = 0;

        for (size_t i = 0; i < sight->n; i++)
                if (sight->seen[i].place == SEEN_INSIDE && sight->seen[i].error == 0 &&
                    sight->seen[i].cookie == tenant->cookie)
                        return 0;
        for (size_t i = 0; i < tenant->members.n && asked < SOURCES_ASKED; i++) {
                struct seen seen = {.tid = tenant->members.pid[i], .leader = true};
                if (pidmap_get(&c->watch.settled, seen.tid) == 0)
                        continue; /* it may be gone, and its number somebody else's */
                asked++;
                int r = c->kernel->cookie->get(c->kernel->data, seen.tid, &seen.cookie);
                if (r == -ENODEV || r == -EINVAL)
                        return r;
                if (r == 0 && seen.cookie == tenant->cookie)
                        return sight_add(sight, &seen);
        }
        return -ENODATA;
}

/* The first carrier of the cookie, or of a larger one. */
static size_t first_carrier(const struct host *host, uint64_t cookie) {
        size_t low = 0, high = host->n;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (host->carrier[middle].cookie < cookie)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* Who else on the host carries the tenant's cookie, or one that is carried inside. */
static int add_host(struct pass_context *c, struct tenant *tenant, struct sight *sight) {
        _cleanup_free_ uint64_t *cookies = calloc(sight->n + 1, sizeof(*cookies));
        size_t n = 0;

        if (!cookies)
                return -ENOMEM;
        cookies[n++] = tenant->cookie;
        for (size_t i = 0; i < sight->n; i++)
                cookies[n++] = sight->seen[i].cookie;
        qsort(cookies, n, sizeof(*cookies), look_compare_cookies);
        if (!c->host_seen) {
                int r = observe_host(c->kernel, c->tenants, &c->host);
                if (r < 0)
                        return r;
                c->host_seen = true;
        }
        for (size_t i = 0; i < c->host.n && c->host.carrier[i].cookie == 0; i++) {
                const struct carrier *carrier = &c->host.carrier[i];
                const struct seen seen = {.tid = carrier->tid,
                                          .error = carrier->error,
                                          .place = carrier->tenant ? SEEN_OTHER : SEEN_OUTSIDE};
                if (carrier->tenant == tenant || pids_contain(&sight->inside, carrier->tid))
                        continue;
                int r = sight_add(sight, &seen);
                if (r < 0)
                        return r;
        }
        for (size_t k = 0; k < n; k++) {
                if (cookies[k] == 0 || (k > 0 && cookies[k] == cookies[k - 1]))
                        continue;
                for (size_t i = first_carrier(&c->host, cookies[k]);
                     i < c->host.n && c->host.carrier[i].cookie == cookies[k]; i++) {
                        const struct carrier *carrier = &c->host.carrier[i];
                        struct seen seen = {.tid = carrier->tid, .cookie = carrier->cookie};
                        if (carrier->tenant == tenant || pids_contain(&sight->inside, carrier->tid))
                                continue;
                        seen.place = carrier->tenant ? SEEN_OTHER : SEEN_OUTSIDE;
                        /* The host was looked at a while ago. */
                        int r = c->kernel->cookie->get(c->kernel->data, seen.tid, &seen.cookie);
                        if (r == -ENODEV || r == -EINVAL)
                                return r;
                        if (r == -ESRCH || seen.cookie != carrier->cookie)
                                continue;
                        seen.error = r;
                        r = sight_add(sight, &seen);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

/* Where the threads were left out there are as many as at the last look that listed them. */
static void count_threads(struct pass *pass, struct sight *sight) {
        if (sight->threads_known) {
                pass->counted = true;
                pass->n_others = sight->n_threads - sight->n_processes;
        } else
                sight->n_threads = sight->n_processes + pass->n_others;
}

int look(struct pass_context *c, struct tenant *tenant, struct sight *ret) {
        static const struct pids nobody = {0};
        struct pass *pass = tenant->pass;
        _cleanup_(sight_done) struct sight sight = {0};

        bool known = pass->wish == WISH_TAGGED && tenant->cookie != 0 && !pass->distrust;
        int r = pass->narrow ? observe_cgroups(c->kernel, tenant, pass->cgroups, &sight)
                             : observe_tenant(c->kernel, tenant, known ? &pass->delivered.groups : &nobody,
                                              pass->counted, &sight);
        if (r < 0)
                return r;
        for (size_t i = 0; i < sight.n && !pass->threaded; i++)
                pass->threaded = sight.seen[i].threaded;
        if (!pass->narrow)
                count_threads(pass, &sight);
        r = pids_merge(&pass->members, &sight.inside);
        if (r == 0)
                r = watch_drain(c->kernel, c->tenants, &c->watch, WATCH_ALL);
        if (r == 0)
                r = add_strays(c, tenant, &pass->delivered.groups, true, &sight);
        if (r == 0)
                r = add_strays(c, tenant, &pass->delivered.threads, false, &sight);
        if (r == 0)
                r = add_leavers(c, tenant, &sight);
        if (r == 0 && pass->narrow)
                r = add_source(c, tenant, &sight);
        if (r == 0)
                r = add_children(c, tenant, &sight);
        if (r == 0 && pass->whole_host)
                r = add_host(c, tenant, &sight);
        if (r < 0)
                return r;

        for (size_t f = 0; f < pass->n_failed; f++)
                for (size_t i = 0; i < sight.n; i++)
                        if (sight.seen[i].tid == pass->failed[f].tid)
                                sight.seen[i].error = pass->failed[f].error;
        *ret = sight;
        sight = (struct sight){0};
        return 0;
}
