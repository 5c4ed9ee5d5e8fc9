// SPDX-License-Identifier: LGPL-2.1-or-later
/* Thousands of seeded histories of the world around the true passes, and the walk over errors. What must hold is in
 * check.c; what failed can be played again alone. */
#include "play.h"
#include <errno.h>
#include <getopt.h>

#define ERROR_WORLDS 8

/* Tags, untags and tags again while the world moves. True if something did not hold. */
static bool run_history(uint64_t seed, bool verbose) {
        struct play play;
        play_new(&play, seed, seed % 2, verbose);
        play.rate = (2 + play_random(&play, 40)) * (play.crowd > 0 ? 20 : 1); /* a pass over many makes more calls */
        unsigned acts = 2 + play_random(&play, 6);
        for (unsigned act = 0; act < acts && play.failure[0] == '\0'; act++) {
                unsigned i = play_random(&play, PLAY_TENANTS);
                if (play_random(&play, 4) == 0)
                        play_untag(&play, i);
                else
                        play_tag(&play, i, play_random(&play, 3) == 0);
                if (play_random(&play, 3) > 0)
                        play_run(&play);
                for (unsigned moves = play_random(&play, 6); moves > 0; moves--) {
                        history_move(&play);
                        sim_advance(play.sim, play_random(&play, 500));
                }
        }
        play_rest(&play, true);
        bool failed = play.failure[0] != '\0';
        if (failed)
                printf("seed %llu: %s\n", (unsigned long long) seed, play.failure);
        play_done(&play);
        return failed;
}

static const char help[] = "run-seeds [--seeds N] [--verbose]           N histories (2000), and the walk over errors\n"
                           "run-seeds --seed N [--verbose]              this one\n"
                           "run-seeds --world N --call N --what ERROR   this error, or happening, of the walk\n";

int main(int argc, char **argv) {
        static const struct option options[] = {
                {"seed", required_argument, NULL, 's'},  {"seeds", required_argument, NULL, 'n'},
                {"world", required_argument, NULL, 'w'}, {"call", required_argument, NULL, 'c'},
                {"what", required_argument, NULL, 'e'},  {"verbose", no_argument, NULL, 'v'},
                {"help", no_argument, NULL, 'h'},        {0}};
        uint64_t seed = 0, seeds = 2000, world = 0, call = 0;
        const char *what = NULL;
        bool verbose = false;
        setvbuf(stdout, NULL, _IOLBF, 0);
        for (int c; (c = getopt_long(argc, argv, "", options, NULL)) >= 0;)
                switch (c) {
                case 's':
                        seed = strtoull(optarg, NULL, 10);
                        break;
                case 'n':
                        seeds = strtoull(optarg, NULL, 10);
                        break;
                case 'w':
                        world = strtoull(optarg, NULL, 10);
                        break;
                case 'c':
                        call = strtoull(optarg, NULL, 10);
                        break;
                case 'e':
                        what = optarg;
                        break;
                case 'v':
                        verbose = true;
                        break;
                case 'h':
                        fputs(help, stdout);
                        return 0;
                default:
                        fputs(help, stderr);
                        return 2;
                }
        if (what)
                return replay_error(world, call, what);
        if (seed != 0)
                return run_history(seed, verbose);
        unsigned failed = 0;
        for (seed = 1; seed <= seeds; seed++)
                failed += run_history(seed, verbose);
        printf("%llu histories, %u failed\n", (unsigned long long) seeds, failed);
        unsigned runs = 0, errors_failed = 0;
        for (world = 1; world <= ERROR_WORLDS; world++) {
                unsigned n;
                errors_failed += run_errors(world, &n);
                runs += n;
        }
        printf("%u errors and happenings, %u failed\n", runs, errors_failed);
        return failed + errors_failed > 0;
}
