/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A play: a simulated kernel, tenants, and the true passes over them, run with the simulation's clock. It stands where
 * the manager does, and checks what must always hold. */
#include "pass.h"
#include "sim.h"

#define PLAY_TENANTS   3
#define PLAY_CALLS_MAX 200000 /* no pass needs as many in these small worlds */

struct play {
        struct sim *sim;
        struct kernel kernel;
        struct tenants tenants;
        struct pass_context context;
        struct policy live, strict;
        usec_t due[PLAY_TENANTS]; /* of the tenants' passes, by number */
        uint64_t random;

        bool to_begin[PLAY_TENANTS];
        usec_t begun[PLAY_TENANTS];
        bool untagging[PLAY_TENANTS], is_strict[PLAY_TENANTS];
        bool forks_only; /* the history only forks and exits: then each end of a pass is strictly looked at */
        bool follows;    /* the history has only what the daemon is told of: no task helps itself, nothing is lost */
        unsigned crowd;  /* so many processes are in one place at the beginning */
        unsigned rate;   /* the world moves before one of so many calls; 0: it rests */
        usec_t smt_back; /* when SMT is switched on again; 0: it is on */

        bool verbose;
        char failure[512]; /* what did not hold */
};

/* A world of its own for each seed. */
void play_new(struct play *play, uint64_t seed, bool forks_only, bool verbose);
void play_done(struct play *play);

/* [0, n) */
unsigned play_random(struct play *play, unsigned n);
void play_say(struct play *play, const char *format, ...) _printf_(2, 3);
void play_fail(struct play *play, const char *format, ...) _printf_(2, 3);

struct tenant *play_tenant(const struct play *play, unsigned i);
const char *play_cgroup(unsigned i);
void play_tag(struct play *play, unsigned i, bool strict);
void play_untag(struct play *play, unsigned i);
/* Goes on with the passes until none is under way. */
void play_run(struct play *play);
/* The world rests, and each tenant is passed over until nothing changes any more; then all is checked. honest: nothing
 * was made to fail that did not, so that tenants must be enforced. */
void play_rest(struct play *play, bool honest);

/* The hook: something happens in the world, maybe. play is the userdata. */
void history_hook(struct sim *sim, enum sim_function function, void *userdata);
/* Something happens. */
void history_move(struct play *play);
/* What is there before the first tenant is tagged. */
void history_build(struct play *play);

/* ---- checks, of check.c ---- */

/* After a pass over the tenant; it may have been refused nothing. */
void check_truth(struct play *play, unsigned i);
/* After a tenant was untagged. */
void check_untagged(struct play *play, unsigned i, uint64_t cookie);
void check_rest(struct play *play, bool honest);

/* ---- errors.c ---- */

/* All errors and happenings in the world of this seed; how many ended badly, each of which is printed. */
unsigned run_errors(uint64_t seed, unsigned *ret_runs);
/* One of them, told in full; true if it ends badly. */
bool replay_error(uint64_t seed, uint64_t at, const char *what);
