// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pass.h"
#include "apply.h"
#include "look.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

/* How long a tenant may take to freeze before each of its tasks is looked at, and the pauses between looks. */
#define FREEZE_PATIENCE  (100 * USEC_PER_MSEC)
#define FREEZE_PAUSE_MIN (1 * USEC_PER_MSEC)
#define FREEZE_PAUSE_MAX (50 * USEC_PER_MSEC)
/* A child that is being cloned into a cgroup is there within this. */
#define CLONE_PAUSE (1 * USEC_PER_MSEC)
#define CLONE_WAITS 8
/* A child that was in flight when its parent was cleared is there within this. */
#define UNTAG_SETTLE (20 * USEC_PER_MSEC)
/* Early at boot the kernel shows every cookie as 0, until it has drawn the key of its hashes. */
#define KEY_PAUSE (500 * USEC_PER_MSEC)
#define KEY_WAITS 120
/* With FREEZE_PAUSE_MAX between them. */
#define THAW_TRIES 40

static void pass_free(struct pass *pass) {
        if (!pass)
                return;
        free(pass->freeze_note);
        strv_free(pass->cgroups);
        pids_done(&pass->members);
        pids_done(&pass->left);
        pids_done(&pass->hints);
        given_done(&pass->delivered);
        free(pass->failed);
        free(pass);
}

int pass_begin(struct tenant *tenant, enum plan_wish wish, const struct policy *policy) {
        struct pass *pass = calloc(1, sizeof(*pass));
        if (!pass)
                return -ENOMEM;
        pass->gives_up = wish == WISH_TAGGED && policy->isolation == ISOLATION_NONE;
        if (pass->gives_up)
                wish = WISH_UNTAGGED;
        pass->wish = wish;
        pass->freeze = wish == WISH_TAGGED && policy->attach == ATTACH_FREEZE;
        pass->stay_frozen_if_exposed = wish == WISH_TAGGED && policy->on_exposed == ON_EXPOSED_FREEZE;
        pass->whole_host = wish != WISH_TAGGED || tenant->wide;
        if (tenant->pass) {
                /* What is frozen already is thawed at the end, whatever the new pass is for. */
                pass->freezing = wish == WISH_TAGGED ? tenant->pass->freezing : FREEZE_NOT_YET;
                pass->freeze_deadline = tenant->pass->freeze_deadline;
                pass->freeze_pause = tenant->pass->freeze_pause;
                pass->hints = tenant->pass->hints;
                tenant->pass->hints = (struct pids){0};
                pass->delivered = tenant->pass->delivered;
                pass->distrust = true;
                tenant->pass->delivered = (struct given){0};
                pass_free(tenant->pass);
        } else {
                /* Who is in flight into the tenant is in no list yet. */
                pass->hints = tenant->hinted;
                tenant->hinted = (struct pids){0};
                pass->delivered = tenant->unfinished;
                pass->distrust = tenant->unfinished.groups.n > 0 || tenant->unfinished.threads.n > 0;
                tenant->unfinished = (struct given){0};
        }
        pass->cgroups = TAKE(tenant->hinted_cgroups);
        tenant->pass = pass;
        return 0;
}

void pass_narrow(struct tenant *tenant) {
        tenant->pass->narrow = true;
}

void pass_abort(const struct pass_context *c, struct tenant *tenant) {
        pass_free(TAKE(tenant->pass));
        (void) apply_thaw(c, tenant);
}

/* ---- how a pass ends ---- */

static void note_trouble(struct tenant *tenant, pid_t tid, int error) {
        if (tenant->n_troubles < TROUBLES_KEPT)
                tenant->troubles[tenant->n_troubles] = (struct trouble){tid, error};
        tenant->n_troubles++;
}

/* What could not be read or tagged, of what was seen last. Returns whether there was any. */
static bool note_troubles(struct tenant *tenant, const struct sight *sight, const char *what) {
        char text[512];
        size_t length = 0;

        tenant->n_troubles = 0;
        for (size_t i = 0; i < sight->n; i++)
                if (sight->seen[i].error != 0 && sight->seen[i].error != -ESRCH && sight->seen[i].place == SEEN_INSIDE)
                        note_trouble(tenant, sight->seen[i].tid, sight->seen[i].error);
        if (tenant->n_troubles == 0)
                return false;
        for (size_t i = 0; i < tenant->n_troubles && i < TROUBLES_KEPT && length < sizeof(text) - 80; i++)
                length += (size_t) snprintf(text + length, sizeof(text) - length, "%s%d (%s)", i > 0 ? ", " : "",
                                            (int) tenant->troubles[i].tid, strerrordesc_np(-tenant->troubles[i].error));
        tenant_set_state(tenant, TENANT_DEGRADED, "%zu of %zu threads could not be %s: %s", tenant->n_troubles,
                         sight->n_threads, what, text);
        return true;
}

/* The forks of a process that had the cookie at the end of two passes are no news any more: what it forked before it
 * got the cookie was told of in between. The same for each thread, for it is known to be the same one as long as no
 * exit is told of. */
static void settle(struct pass_context *c, const struct tenant *tenant, const struct sight *sight) {
        for (size_t i = 0; i < sight->n; i++) {
                const struct seen *seen = &sight->seen[i];
                if (seen->place == SEEN_INSIDE && seen->error == 0 && seen->cookie == tenant->cookie &&
                    pids_contain(&tenant->members, seen->tid))
                        pidmap_set(&c->watch.settled, seen->tid, tenant->number);
        }
}

/* Only a part was looked at, and is tagged now: the rest is as it was. */
static void conclude_narrow(struct tenant *tenant) {
        struct pass *pass = tenant->pass;

        if (pids_merge(&tenant->members, &pass->members) < 0 || pass->n_failed > 0)
                tenant->touched = true; /* the look after a change sees to it */
}

static void conclude_tagged(struct pass_context *c, struct tenant *tenant, const struct sight *sight) {
        struct pass *pass = tenant->pass;

        for (size_t i = 0; i < pass->n_failed; i++)
                pids_remove(&pass->members, pass->failed[i].tid);
        if (pass->narrow) {
                conclude_narrow(tenant);
                return;
        }
        tenant->wide = false;
        tenant->threaded = pass->threaded;
        if (c->watch.live)
                settle(c, tenant, sight);
        pids_done(&tenant->members);
        tenant->members = pass->members;
        pass->members = (struct pids){0};
        tenant->n_processes = sight->n_processes;
        tenant->n_threads = sight->n_threads;
        if (note_troubles(tenant, sight, "tagged"))
                return;
        if (pass->freeze_note)
                tenant_set_state(tenant, TENANT_ENFORCED, "%s", pass->freeze_note);
        else if (sight->n_missing > 0)
                tenant_set_state(tenant, TENANT_ENFORCED, "%zu of %zu cgroups do not exist yet", sight->n_missing,
                                 strv_length(tenant->cgroups));
        else
                tenant_set_state(tenant, TENANT_ENFORCED, NULL);
}

/* Thaws, and ends. What does not thaw is tried again for a while. */
static int end(const struct pass_context *c, struct tenant *tenant, usec_t now, usec_t *ret_again) {
        struct pass *pass = tenant->pass;
        int result = pass->result;

        if (!tenant->stay_frozen) {
                int r = apply_thaw(c, tenant);
                if (r < 0 && pass->thaw_tries++ < THAW_TRIES) {
                        pass->ending = true;
                        *ret_again = now + FREEZE_PAUSE_MAX;
                        return 1;
                }
                if (r < 0) {
                        tenant_set_state(tenant, TENANT_DEGRADED, "%s cannot be thawed: %s",
                                         tenant->frozen ? tenant->frozen[0] : "a cgroup", strerrordesc_np(-r));
                        result = result < 0 ? result : r;
                }
        }
        if (result < 0) {
                tenant->wide = tenant->wide || pass->delivered.groups.n > 0 || pass->delivered.threads.n > 0;
                tenant->unfinished = pass->delivered;
                pass->delivered = (struct given){0};
        }
        pass_free(TAKE(tenant->pass));
        return result;
}

static void conclude_exposed(struct pass_context *c, struct tenant *tenant, const char *why) {
        struct pass *pass = tenant->pass;

        if (!pass->stay_frozen_if_exposed) {
                tenant_set_state(tenant, TENANT_EXPOSED, "%s", why);
                return;
        }
        tenant->stay_frozen = true;
        int r = apply_freeze(c, tenant);
        if (r < 0) {
                tenant->stay_frozen = false;
                tenant_set_state(tenant, TENANT_EXPOSED, "%s; it cannot be frozen either: %s", why,
                                 strerrordesc_np(-r));
        } else
                tenant_set_state(tenant, TENANT_EXPOSED, "%s; frozen, as its policy asks", why);
}

/* An error of the kernel's that concerns the whole tenant. */
static void conclude_error(struct pass_context *c, struct tenant *tenant, int error) {
        tenant->pass->result = error;
        observe_count(c->kernel, tenant, &tenant->n_processes, &tenant->n_threads);
        if (error == -ENODEV)
                tenant_set_state(tenant, TENANT_INERT, "SMT is not active: no two tasks share a core");
        else if (error == -EINVAL)
                conclude_exposed(c, tenant, "this kernel has no core scheduling (CONFIG_SCHED_CORE)");
        else if (error == -EPERM)
                conclude_exposed(c, tenant, "a security module denies core scheduling to the daemon");
        else
                tenant_set_state(tenant, TENANT_DEGRADED, "the tenant could not be looked at, or not be %s: %s",
                                 tenant->pass->wish == WISH_TAGGED ? "tagged" : "untagged", strerrordesc_np(-error));
}

static int make_plan(const struct pass_context *c, const struct tenant *tenant, const struct sight *sight,
                     struct plan *ret) {
        const struct pass *pass = tenant->pass;
        _cleanup_free_ uint64_t *taken = calloc(c->tenants->n + 1, sizeof(*taken));
        size_t n = 0;

        if (!taken)
                return -ENOMEM;
        for (size_t i = 0; i < c->tenants->n; i++)
                if (c->tenants->tenant[i] != tenant && c->tenants->tenant[i]->cookie != 0)
                        taken[n++] = c->tenants->tenant[i]->cookie;
        if (n > 1)
                qsort(taken, n, sizeof(*taken), look_compare_cookies);
        struct plan_input input = {
                .wish = pass->wish,
                .cookie = tenant->cookie,
                .adopted = tenant->adopted,
                .whole_host = pass->whole_host,
                .freeze = pass->freeze,
                .frozen = pass->freezing == FREEZE_OVER,
                .seen = sight->seen,
                .n_seen = sight->n,
                .taken = taken,
                .n_taken = n,
        };
        return plan_make(&input, ret);
}

/* 1: not frozen yet, look again at *ret_again; 0: go on. */
static int wait_for_freezer(const struct pass_context *c, struct tenant *tenant, usec_t now, usec_t *ret_again) {
        struct pass *pass = tenant->pass;
        bool patient = now + c->freeze_timeout < pass->freeze_deadline + FREEZE_PATIENCE;

        int r = apply_frozen(c, tenant, !patient);
        if (r == 0 && now < pass->freeze_deadline) {
                *ret_again = now + pass->freeze_pause;
                pass->freeze_pause =
                        2 * pass->freeze_pause < FREEZE_PAUSE_MAX ? 2 * pass->freeze_pause : FREEZE_PAUSE_MAX;
                return 1;
        }
        if (r == 0 && asprintf(&pass->freeze_note, "tagged while it ran: it did not freeze within %.1f s",
                               (double) c->freeze_timeout / (double) USEC_PER_SEC) < 0)
                pass->freeze_note = NULL;
        if (r < 0 && asprintf(&pass->freeze_note, "tagged while it ran: whether it is frozen cannot be read: %s",
                              strerrordesc_np(-r)) < 0)
                pass->freeze_note = NULL;
        pass->freezing = FREEZE_OVER;
        return 0;
}

static void begin_freeze(struct pass_context *c, struct tenant *tenant, usec_t now) {
        struct pass *pass = tenant->pass;

        int r = apply_freeze(c, tenant);
        pass->freezing = FREEZE_WAITING;
        pass->freeze_deadline = now + c->freeze_timeout;
        pass->freeze_pause = FREEZE_PAUSE_MIN;
        if (r < 0) {
                pass->freezing = FREEZE_OVER;
                if (asprintf(&pass->freeze_note, "tagged while it ran: it cannot be frozen: %s", strerrordesc_np(-r)) <
                    0)
                        pass->freeze_note = NULL;
        }
}

/* Members of before that carry something else now. */
static void note_drifts(const struct pass_context *c, struct tenant *tenant, const struct sight *sight) {
        unsigned told = 0;

        for (size_t i = 0; i < sight->n && tenant->cookie != 0; i++) {
                const struct seen *seen = &sight->seen[i];
                if (seen->place != SEEN_INSIDE || seen->error != 0 || seen->cookie == tenant->cookie ||
                    !pids_contain(&tenant->members, seen->tid) ||
                    (c->watch.live && pidmap_get(&c->watch.settled, seen->tid) == 0))
                        continue;
                (void) pids_insert(&tenant->pass->left, seen->tid);
                tenant->n_drifts++;
                tenant->drifted = true;
                if (c->drifted && told++ < DRIFTS_TOLD)
                        c->drifted(tenant, seen->tid,
                                   seen->cookie == 0                             ? FINDING_UNTAGGED
                                   : tenants_of_cookie(c->tenants, seen->cookie) ? FINDING_WRONG_TENANT
                                                                                 : FINDING_OWN,
                                   c->userdata);
        }
}

/* Where nobody is known to have the tenant's cookie, looking at a part of it says nothing. */
static void widen(struct pass *pass) {
        pass->narrow = false;
        pass->rounds = 0;
}

/* Observes, plans and applies once. 1: go on; 0: nothing is left to do, *sight being what was seen; negative errno. */
static int go_round(struct pass_context *c, struct tenant *tenant, usec_t now, struct sight *sight) {
        struct pass *pass = tenant->pass;
        _cleanup_(plan_done) struct plan plan = {0};

        if (pass->lost) {
                pass->lost = false;
                pass->distrust = true;
        }
        int r = look(c, tenant, sight);
        if (r == -ENODATA && pass->narrow) {
                widen(pass);
                return 1;
        }
        if (r < 0)
                return r;
        if (!pass->looked && pass->wish == WISH_TAGGED)
                note_drifts(c, tenant, sight);
        pass->looked = true;
        for (size_t i = 0; i < sight->n && pass->left.n > 0; i++)
                sight->seen[i].left = pids_contain(&pass->left, sight->seen[i].tid);
        r = make_plan(c, tenant, sight, &plan);
        if (r < 0)
                return r;
        if (pass->narrow && (plan.step == PLAN_NEW || plan.step == PLAN_ADOPT || plan.step == PLAN_WHOLE_HOST)) {
                widen(pass);
                return 1;
        }
        switch (plan.step) {
        case PLAN_DONE:
                return pass->lost;
        case PLAN_WHOLE_HOST:
                pass->whole_host = true;
                return 1;
        case PLAN_FREEZE:
                begin_freeze(c, tenant, now);
                return 1;
        case PLAN_ADOPT:
                tenant->adopted = plan.cookie != tenant->given;
                tenant->cookie = plan.cookie;
                tenant->changed = true;
                pass->whole_host = tenant->wide;
                return 1;
        case PLAN_NEW:
        case PLAN_SHARE:
        case PLAN_CLEAR:
                pass->cleared = pass->cleared || (pass->wish != WISH_TAGGED && plan.step == PLAN_CLEAR);
                r = apply_delivery(c, tenant, &plan);
                return r < 0 ? r : 1;
        }
        return -EINVAL;
}

/* Observes, plans and applies until there is nothing to do (0), something must be waited for (1), or an error. */
static int go(struct pass_context *c, struct tenant *tenant, usec_t now, usec_t *ret_again) {
        struct pass *pass = tenant->pass;
        int r = c->kernel->cookie->probe(c->kernel->data);

        if (r < 0)
                return r;
        for (;;) {
                _cleanup_(sight_done) struct sight sight = {0};

                if (pass->freezing == FREEZE_WAITING && wait_for_freezer(c, tenant, now, ret_again) > 0)
                        return 1;
                if (pass->rounds++ == PASS_ROUNDS) {
                        tenant_set_state(tenant, TENANT_DEGRADED, "its tasks still changed after %d looks",
                                         PASS_ROUNDS);
                        pass->result = -EBUSY;
                        return 0;
                }
                r = go_round(c, tenant, now, &sight);
                if (r == -EAGAIN && pass->key_waits++ < KEY_WAITS) {
                        pass->rounds = 0; /* it is not the tenant that changes */
                        *ret_again = now + KEY_PAUSE;
                        return 1;
                }
                if (r < 0)
                        return r;
                if (r > 0)
                        continue;
                if (pass->hints.n > 0 && pass->clone_waits++ < CLONE_WAITS) {
                        *ret_again = now + CLONE_PAUSE;
                        return 1;
                }
                if (pass->cleared && !pass->settled) {
                        pass->settled = true;
                        *ret_again = now + UNTAG_SETTLE;
                        return 1;
                }
                if (pass->wish == WISH_TAGGED)
                        conclude_tagged(c, tenant, &sight);
                else if (note_troubles(tenant, &sight, "untagged"))
                        pass->result = -EPERM;
                return 0;
        }
}

static void conclude_given_up(const struct pass_context *c, struct tenant *tenant) {
        if (!tenant->adopted)
                tenant->cookie = tenant->given = 0;
        pids_done(&tenant->members);
        observe_count(c->kernel, tenant, &tenant->n_processes, &tenant->n_threads);
        tenant_set_state(tenant, TENANT_EXPOSED, "its policy asks for no isolation");
}

int pass_step(struct pass_context *c, struct tenant *tenant, usec_t now, usec_t *ret_again) {
        struct pass *pass = tenant->pass;
        int r = 0;

        if (pass->ending)
                return end(c, tenant, now, ret_again);
        tenant->stay_frozen = false;
        if (c->forbidden && pass->wish == WISH_TAGGED) {
                conclude_exposed(c, tenant, c->forbidden);
                observe_count(c->kernel, tenant, &tenant->n_processes, &tenant->n_threads);
        } else if (!pass->gives_up || tenant->cookie != 0)
                r = go(c, tenant, now, ret_again);
        if (r > 0)
                return 1;
        /* Where it has no cookie and none can be had, there is none to take back. */
        if (pass->wish != WISH_TAGGED && tenant->cookie == 0 && (r == -EINVAL || r == -ENODEV))
                r = 0;
        if (r < 0)
                conclude_error(c, tenant, r);
        else if (pass->gives_up && pass->result == 0)
                conclude_given_up(c, tenant);
        return end(c, tenant, now, ret_again);
}
