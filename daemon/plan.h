/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* PURE. What is desired and what was observed, of one tenant, to what is to be done next.
 *
 * The planner sees threads with their cookies, and gives at most one step: a pass carries it out, observes again, and
 * asks again, until there is nothing to do. What always holds of a plan: no task outside the tenant is given its
 * cookie; no cookie that another task than the tenant's carries is adopted; a task outside is only ever cleared of the
 * tenant's own cookie, and of an adopted one only if this pass gave it. */
#include "util.h"
#include <stdbool.h>

enum seen_place {
        SEEN_INSIDE,  /* in the tenant's subtrees */
        SEEN_OUTSIDE, /* anywhere else, in no tenant */
        SEEN_OTHER,   /* in another tenant */
};

struct seen {
        pid_t tid;
        enum seen_place place;
        bool leader;   /* of its thread group, or not known to be a mere thread of one */
        bool threaded; /* its tenant's own cgroup is a threaded one: only by-thread delivery reaches it alone */
        int error; /* the kernel would not tell its cookie, or refused it one: negative errno, nothing more is tried */
        uint64_t cookie;
        bool left;  /* it had the tenant's cookie, and has now one that it took itself: nothing to adopt */
        bool given; /* it has the tenant's cookie from this pass, and is outside: it lost its place, or its number */
};

enum plan_wish {
        WISH_TAGGED,
        WISH_UNTAGGED,       /* give 0 to those that carry our cookie */
        WISH_UNTAGGED_FORCE, /* an adopted cookie too */
};

struct plan_input {
        enum plan_wish wish;
        uint64_t cookie; /* the tenant's, as far as is known; 0: unknown */
        bool adopted;
        bool whole_host; /* every thread of the host is among those seen */
        bool freeze;     /* the policy wants the tenant frozen before running tasks are touched ... */
        bool frozen;     /* ... and it is, or cannot be */
        const struct seen *seen;
        size_t n_seen;
        const uint64_t *taken; /* cookies of other tenants, sorted */
        size_t n_taken;
};

enum plan_step {
        PLAN_DONE,       /* nothing to do */
        PLAN_WHOLE_HOST, /* a cookie was found that may be adopted: look at the whole host first */
        PLAN_FREEZE,     /* freeze first */
        PLAN_ADOPT,      /* take cookie as the tenant's */
        PLAN_NEW,        /* deliver a new cookie to targets */
        PLAN_SHARE,      /* deliver the cookie of thread source to targets */
        PLAN_CLEAR,      /* deliver 0 to targets */
};

struct plan {
        enum plan_step step;
        uint64_t cookie;  /* ADOPT, SHARE */
        pid_t source;     /* SHARE */
        bool by_thread;   /* NEW, SHARE, CLEAR */
        pid_t *targets;   /* allocated; NEW, SHARE, CLEAR */
        size_t n_targets; /* at least one with those three */
};

/* 0 or -ENOMEM. */
int plan_make(const struct plan_input *input, struct plan *ret);
void plan_done(struct plan *plan);
