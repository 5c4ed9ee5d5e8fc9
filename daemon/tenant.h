/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The model of a tenant: a name for tasks that trust each other and nobody else. Plain data; nothing here asks the
 * kernel. What holds always: the cgroups of all tenants are disjoint subtrees; no two tenants have the same cookie but
 * 0. */
#include "api/words.h"
#include "pids.h"
#include "util.h"
#include <stdbool.h>

/* A task that could not be brought in, and why. */
struct trouble {
        pid_t tid;
        int error;
};

#define TROUBLES_KEPT 16

/* Who was given a tenant's cookie. Both sorted. */
struct given {
        struct pids groups;  /* with all their threads */
        struct pids threads; /* each alone */
};

static inline void given_done(struct given *given) {
        pids_done(&given->groups);
        pids_done(&given->threads);
}

struct tenant {
        char *name;
        char **cgroups; /* normalized; they need not exist yet */
        char *policy;   /* as asked for: NULL for the default one */
        char *pattern;  /* ORIGIN_PATTERN: the policy whose Match= made it; else NULL */
        enum origin origin;
        bool transient; /* it ends when none of its cgroups is there any more ... */
        bool lived;     /* ... after one has been */

        /* What the last pass saw. */
        enum tenant_state state;
        char *reason;       /* one line; NULL when there is nothing to say */
        uint64_t cookie;    /* what its tasks carry; 0: none known */
        uint64_t given;     /* the last cookie that we gave it, also before a restart: tells an adopted one from ours */
        bool adopted;       /* the cookie was set by somebody else */
        size_t n_processes; /* thread groups */
        size_t n_threads;
        struct trouble troubles[TROUBLES_KEPT]; /* the first ones */
        size_t n_troubles;                      /* all of them */

        char **frozen;    /* cgroups that we froze, and will thaw ... */
        bool stay_frozen; /* ... but not when a pass ends: nothing protects the tenant, and its policy wants it so */

        bool changed; /* something that is seen outside changed since this was last cleared */
        bool touched; /* the last pass changed the cookie of some task */
        /* To whom a pass that ended early gave the tenant's cookie: the next one sees whether they are still inside. */
        struct given unfinished;

        struct pids members;   /* who was inside, with the tenant's cookie, when the last pass ended; sorted */
        uint64_t n_drifts;     /* how often one of them was found without it later */
        unsigned drift_streak; /* so many checks in a row found that */

        bool threaded; /* some of its own cgroups are threaded */

        /* Where events say that a task without the tenant's cookie may be: a look at these alone is enough. */
        struct pids hinted;
        char **hinted_cgroups;

        struct pass *pass; /* the pass that is under way, or NULL; pass.c's */

        /* The manager's. */
        usec_t passed;       /* when the last pass ended */
        usec_t due;          /* when the pass begins or goes on; USEC_INFINITY: nothing to do */
        usec_t rest;         /* until then it is not checked, as its tasks leave their cookie as soon as they have it */
        usec_t cost;         /* CPU time that the last pass took */
        uint16_t number;     /* not 0: for tables */
        bool checked;        /* the pass under way, or due, is such a check */
        bool drifted;        /* the pass under way found drift ... */
        bool drifted_before; /* ... and so did the last one */
        bool wide;           /* the next pass looks at the whole host for tasks that carry the tenant's cookie */
        bool added;          /* the journal is to be told that it is a tenant ... */
        bool turned;         /* ... and which state it is in */
        bool blocks;         /* it is in the way of what a pattern would make a tenant */
        bool refused;        /* its tasks could not be untagged */
        bool untagging;      /* it is to be untagged, and forgotten then */
        bool force;          /* ... of a cookie that was set by somebody else too */
        bool over;           /* ... and in any case: its cgroups are gone */
};

/* name, cgroups and policy are copied. 0 or -ENOMEM. */
int tenant_new(const char *name, char *const *cgroups, const char *policy, enum origin origin, struct tenant **ret);
void tenant_free(struct tenant *tenant);
static inline void tenant_freep(struct tenant **tenant) {
        tenant_free(*tenant);
}

/* Sets the policy whose Match= made the tenant (NULL: none any more). 0 or -ENOMEM. */
int tenant_set_pattern(struct tenant *tenant, const char *pattern);

/* Sets state and reason (printf; NULL for none) and marks the tenant changed if they differ from what they were. */
void tenant_set_state(struct tenant *tenant, enum tenant_state state, const char *reason, ...) _printf_(3, 4);

/* A table of tenants, sorted by name. */
struct tenants {
        struct tenant **tenant;
        size_t n, allocated;
};

void tenants_done(struct tenants *tenants);
struct tenant *tenants_find(const struct tenants *tenants, const char *name);
/* The tenant whose subtrees path is in, or NULL. */
struct tenant *tenants_of_cgroup(const struct tenants *tenants, const char *path);
/* The first tenant of whose cgroups one is path, above it or below it, or NULL. */
struct tenant *tenants_overlapping(const struct tenants *tenants, const char *path);
/* The tenant that has this cookie (not 0), or NULL. */
struct tenant *tenants_of_cookie(const struct tenants *tenants, uint64_t cookie);
/* Takes over the tenant. 0, -EEXIST (the name is taken; nothing is taken over), -ENOMEM. */
int tenants_add(struct tenants *tenants, struct tenant *tenant);
/* Takes the tenant out and gives it to the caller. */
struct tenant *tenants_remove(struct tenants *tenants, const char *name);
