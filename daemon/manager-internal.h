/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of the manager share: manager.c (loop, passes), configure.c, follow.c, patterns.c, requests.c (what
 * callers ask for), verify.c. No other room includes this. */
#include "manager.h"
#include "pass.h"
#include "realtime.h"
#include "state.h"

/* Somebody who waits for a tenant to be through. */
struct waiter {
        struct tenant *tenant;
        manager_done_t done;
        void *userdata;
        bool untag; /* waits for the tenant to be gone */
        struct waiter *next;
};

struct manager {
        const struct kernel *kernel;
        sd_event *event;
        struct manager_options options;
        struct manager_listener listener;
        void *listener_userdata;

        struct config *config;
        struct failure
                config_failure; /* what was wrong with it when it was last read; without a text when nothing was */
        bool config_known;      /* else it is the built-in one, as the files were wrong at the start */
        struct tenants tenants;
        uint16_t last_number; /* of a tenant */
        char **untagged;      /* configured tenants that were untagged by hand */
        char **left;          /* cgroups of others that were: patterns leave them alone until they go, or a reload */
        char **told;          /* cgroups that match, and of which it was told why they are made no tenant */
        bool rematch;         /* a tenant that was in the way of a match is gone */
        struct pass_context pass;
        struct waiter *waiters;
        char **protected; /* cgroups that may not be tenants, nor hold or lie in one */

        struct realtime realtime;
        sd_event_source *work;       /* runs passes that are due; a timer */
        sd_event_source *cgroup_io;  /* cgroup events */
        sd_event_source *process_io; /* process events, while listening */
        sd_event_source *turn;       /* after each loop turn: keeps to the real-time budget */
        bool is_realtime, realtime_refused;
        bool sched_ext;        /* a BPF scheduler was loaded ... */
        usec_t looked_at;      /* ... at this time */
        bool held;             /* the parked holder is there */
        bool listening, deaf;  /* to process events; they are not to be had */
        bool blind;            /* not all cgroups can be watched */
        bool following;        /* all cgroups are watched */
        bool hinted;           /* some tenant has hints that nobody has taken up */
        usec_t place_at;       /* when newcomers whose cgroup is not known yet are looked at again */
        char **elsewhere;      /* cgroups of no tenant into which somebody was moved ... */
        usec_t elsewhere_at;   /* ... and when they may be looked at */
        struct realtime quick; /* the budget for taking up hints at once ... */
        usec_t quick_used;     /* ... and what was used of it */
        usec_t sweep;          /* when all tenants are to be checked next; USEC_INFINITY: never, or not known yet */
        unsigned n_sweeps;
        usec_t sweep_began; /* CPU time used by then */
        int probed;         /* what the kernel said of core scheduling when SMT last changed */
        bool config_waits;  /* part of the configuration waits for tenants to be gone */
        bool unsaved;       /* more than what tenants tell of themselves has changed */
        size_t n_appended;  /* to the state that was saved as a whole */
};

/* The tenant is looked at as soon as possible. */
void manager_mark(struct manager *m, struct tenant *tenant);

/* The same for events, which a tenant may cause as fast as it likes: its passes keep a distance. A pass that is under
 * way looks again anyway. */
void manager_mark_soon(struct manager *m, struct tenant *tenant);

/* At the latest after this time. */
void manager_mark_later(struct manager *m, struct tenant *tenant, usec_t delay);

/* A fork that was in flight when its parent was tagged, and a task that came before the cgroup was watched, have shown
 * up by then: the tenant is looked at once more. */
#define MANAGER_SETTLE (100 * USEC_PER_MSEC)

/* Begins to watch all cgroups when there are tenants or patterns in force, looking for what these match; ends it when
 * there are none; ends it. follow.c's. */
void manager_follow(struct manager *m);
void manager_unfollow(struct manager *m);
int manager_follow_start(struct manager *m);
/* Looks at cgroups of no tenant into which somebody was moved, and when that is due. */
void manager_look_elsewhere(struct manager *m, usec_t now);
usec_t manager_elsewhere_due(const struct manager *m);

/* CPU time of each 100 ms in which hints are taken up at once: beyond that a tenant that makes them without a pause has
 * to wait. */
#define MANAGER_HINT_BUDGET (25 * USEC_PER_MSEC)

/* Takes up what events said of tenants, and when that is due without events. hints.c's. */
void manager_heed(struct manager *m);
usec_t manager_heed_due(const struct manager *m);
/* Is what happens in the tenant's cgroups of interest? */
bool manager_is_followed(const struct tenant *tenant);
/* Begins, or ends, to listen to process events. */
void manager_listen(struct manager *m, bool on);

/* Begins the pass over the tenant that is due (narrow: at its hints alone), or goes on with it. */
void manager_run_tenant(struct manager *m, struct tenant *tenant, usec_t now, bool narrow);
/* Sets the timer. */
void manager_arm(struct manager *m);
/* CPU time that the daemon used so far. */
usec_t manager_cpu_used(void);

/* Why no cookie may be given now although the kernel would; NULL: nothing forbids it. */
const char *manager_forbidden(struct manager *m);

/* Has SMT been switched? Then all tenants are to be looked at. */
bool manager_notice_smt(struct manager *m);

/* Checks all tenants that are through with their passes, which are due then; and says when that is to be done next. */
void manager_begin_sweep(struct manager *m, usec_t now);
void manager_end_sweep(struct manager *m, usec_t now);
/* What a pass found: a thread that had left its cookie; at its end, whether there were any. sweep.c's. */
void manager_on_drift(struct tenant *tenant, pid_t tid, enum finding cause, void *userdata);
void manager_judge_drift(struct manager *m, struct tenant *tenant);

/* Notes whether a transient tenant's cgroups are there, and has it untagged when they are gone. transient.c's. */
void manager_end_transient(struct manager *m, struct tenant *tenant);

/* Makes the tenants what the configuration says, or, if that is not known, leaves them as they are; takes over those of
 * before a restart; protects what the daemon and the whole host hang on. 0 or negative errno. configure.c's. */
int manager_apply_config(struct manager *m, bool known);
int manager_take_state(struct manager *m);
/* Tenants of a configuration that does not name them any more go; with again also those that could not be untagged. */
void manager_untag_unconfigured(struct manager *m, bool again);
/* After a tenant is gone: applies what of the configuration had to wait for that. */
void manager_apply_waiting(struct manager *m);
/* As manager_reload, but configured tenants that were untagged by hand stay so. */
int manager_read_config(struct manager *m, struct failure *f);
int manager_protect_host(struct manager *m);

/* ---- patterns.c's: tenants that policies' Match= makes ---- */

/* Is there any policy whose patterns are in force? Then the whole tree of cgroups is watched. */
bool manager_has_patterns(const struct manager *m);

/* A cgroup (normalized path) has appeared: makes it a tenant, or part of one, where a pattern wants that. Harmless for
 * one that was there before. */
void manager_cgroup_appeared(struct manager *m, const char *path);

/* A cgroup is gone, or was and is there anew: a tenant of several loses it. */
void manager_cgroup_gone(struct manager *m, const char *path);

/* All cgroups of the host, as if they had just appeared: at the start, after a reload, and when events were lost. */
void manager_match_all(struct manager *m);

/* As manager_match_all, when a tenant that was in the way of a match is gone. */
void manager_rematch(struct manager *m);

/* Before configured tenants are made: those of patterns that are in their way, or that no pattern wants any more, go.
 */
int manager_review_patterns(struct manager *m);

/* The tenant is untagged by hand: patterns leave its cgroups alone; that failed: they do not. 0 or -ENOMEM. */
int manager_leave(struct manager *m, const struct tenant *tenant);
void manager_unleave(struct manager *m, const struct tenant *tenant);

/* The tenant of just these cgroups that a pattern made, or NULL. It gives way to one that is tagged by hand: it is
 * forgotten, but its tasks keep their cookie, which is the result if we gave it (else 0). */
struct tenant *manager_find_twin(const struct manager *m, char *const *cgroups);
uint64_t manager_give_way(struct manager *m, struct tenant *twin);

/* Does the host depend on this cgroup, or on one above or below it? requests.c's, as the next. */
int manager_check_protected(const struct manager *m, const char *path, struct failure *f);

/* May these cgroups (normalized) be those of a tenant? self: the tenant they are meant for, or NULL. requests.c's. */
int manager_check_cgroups(struct manager *m, const struct tenant *self, char *const *cgroups, struct failure *f);

/* Gives the tenant other cgroups and another policy; what is outside then loses its cookie. 0 or -ENOMEM. */
int manager_change(struct manager *m, struct tenant *tenant, char *const *cgroups, const char *policy);

/* The policy of this name (NULL: the default one); the default one also where that is not known. */
const struct policy *manager_policy_of(const struct manager *m, const char *name);

/* Takes the tenant in, and tells; or drops it, and tells. */
int manager_add(struct manager *m, struct tenant *tenant);
void manager_drop(struct manager *m, struct tenant *tenant);

/* 0 or -ENOMEM */
int manager_wait(struct manager *m, struct tenant *tenant, bool untag, manager_done_t done, void *userdata);

usec_t manager_now(const struct manager *m);
