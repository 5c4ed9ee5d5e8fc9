/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A pass over one tenant: observe, plan, apply, take the events that came meanwhile, and observe again, until the
 * planner finds nothing to do or the bound is reached. A pass that must wait (for the freezer) is left and taken up
 * again later; it reads no clock. It ends with the tenant's state set, and nothing of the tenant frozen that was not
 * before. */
#include "kernel/kernel.h"
#include "observe.h"
#include "plan.h"
#include "policy.h"
#include "tenant.h"
#include "watch.h"

/* Rounds of observing and applying, after which a tenant that still changes is degraded. */
#define PASS_ROUNDS 64

#define DRIFTS_TOLD 16

struct pass_context {
        const struct kernel *kernel;
        struct tenants *tenants;
        usec_t freeze_timeout; /* how long a tenant may take to freeze before it is tagged live */

        /* Called before tenants are frozen, so that whoever comes after a crash knows what to thaw. May be NULL. */
        int (*save)(void *userdata);
        /* Another tenant was found to need a pass. May be NULL. */
        void (*dirty)(struct tenant *tenant, void *userdata);
        /* A thread that had the tenant's cookie was found without it (or with none that could be seen to be right); it
         * gets it back. At most DRIFTS_TOLD times in a pass; tenant->n_drifts counts all. May be NULL. */
        void (*drifted)(struct tenant *tenant, pid_t tid, enum finding cause, void *userdata);
        void *userdata;
        const char *forbidden; /* why no tenant may be tagged; NULL: nothing forbids it */

        /* The carriers of the whole host, as seen since the caller last emptied this (host_done); looked up when
         * needed. */
        struct host host;
        bool host_seen;

        struct watch watch;
};

struct pass {
        enum plan_wish wish;
        bool freeze, stay_frozen_if_exposed; /* the policy's */
        bool gives_up;                       /* the policy wants no isolation: what cookie there is goes */
        bool whole_host;
        bool narrow; /* only these cgroups of the tenant, and the hints, are looked at */
        bool looked; /* at all */
        enum { FREEZE_NOT_YET, FREEZE_WAITING, FREEZE_OVER } freezing;
        usec_t freeze_deadline, freeze_pause;
        char *freeze_note; /* why it was tagged live */
        char **cgroups;    /* all of them are the tenant's, or were */
        size_t n_others;   /* so many threads lead no group, at the last look that listed them ... */
        bool counted;      /* ... if one did */
        unsigned rounds, clone_waits, key_waits, thaw_tries;
        struct pids members; /* sorted: all that was seen inside, and their children */
        struct pids left;    /* sorted: members of before without the tenant's cookie */
        struct pids hints;   /* children to look at */
        struct given delivered;
        struct trouble *failed; /* what refused */
        size_t n_failed;
        bool strayed;          /* some of what was delivered was found outside, and may have forked meanwhile */
        bool cleared, settled; /* an untag's: some task was cleared; children in flight then were waited for */
        bool ending;           /* all is done but the thawing */
        int result;
        bool threaded; /* some of its own cgroups are threaded */
        bool lost;     /* events were lost, or a number was used again: nothing that was known counts */
        bool distrust; /* that was so once */
};

/* Begins a pass, in place of one that may be under way. 0 or -ENOMEM. */
int pass_begin(struct tenant *tenant, enum plan_wish wish, const struct policy *policy);

/* Lets the pass that was just begun look only where events say that something is new: at what the tenant's hints name.
 * It becomes one over the whole tenant when it finds more to do than to share the tenant's cookie. */
void pass_narrow(struct tenant *tenant);

/* Goes on until the pass must wait (1: call again at *ret_again) or ends: tenant->pass is NULL again, and the tenant's
 * state is set. 0: it was carried through; else the error that ended it early, for an untag also that tasks refused to
 * be cleared. now: CLOCK_MONOTONIC. */
int pass_step(struct pass_context *c, struct tenant *tenant, usec_t now, usec_t *ret_again);

/* Ends a pass where it is; thaws. */
void pass_abort(const struct pass_context *c, struct tenant *tenant);
