/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What programs that run the true manager on the simulated kernel share: folders of its own, a real event loop, and the
 * real clock, by which the simulated one goes. */
#include "manager.h"
#include "sim.h"

struct stage {
        const struct kernel *kernel;
        struct manager *manager;
        sd_event *event;
        char dir[64], root[80], state[80]; /* the manager keeps pointers to the last two */
        unsigned pending;                  /* calls without an answer */
        usec_t last;
};

/* Makes the folders, root/etc/coresched/policies.d among them; takes them away. */
void stage_open(struct stage *stage, const struct kernel *kernel);
void stage_close(struct stage *stage);

/* A file below the stage's folder. */
void stage_write(const struct stage *stage, const char *name, const char *text);

void stage_start(struct stage *stage);
void stage_stop(struct stage *stage);

/* Runs the loop until there is nothing to do. NULL, or what is wrong. */
const char *stage_rest(struct stage *stage);

/* For the simulation's hook: as much time passes in it as did on the clock. */
void stage_advance(struct stage *stage, struct sim *sim);

/* main(): runs the seeds 1 to N (`seeds`, unless --seeds says so), or --seed alone and told in full; run says whether
 * its history failed. Ends with a line that counts them, "N histories of WHAT, N failed". */
int stage_main(int argc, char **argv, uint64_t seeds, const char *what, bool (*run)(uint64_t seed, bool verbose));
