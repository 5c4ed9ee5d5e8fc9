// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stage.h"
#include <errno.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#define PATIENCE (20 * USEC_PER_SEC)

void stage_open(struct stage *stage, const struct kernel *kernel) {
        static const char *const folders[] = {"state", "root", "root/etc", "root/etc/coresched",
                                              "root/etc/coresched/policies.d"};
        stage->kernel = kernel;
        strcpy(stage->dir, "/tmp/coresched-sim-XXXXXX");
        if (!mkdtemp(stage->dir))
                abort();
        snprintf(stage->root, sizeof(stage->root), "%s/root", stage->dir);
        snprintf(stage->state, sizeof(stage->state), "%s/state", stage->dir);
        for (size_t i = 0; i < ELEMENTS(folders); i++) {
                char path[128];
                snprintf(path, sizeof(path), "%s/%s", stage->dir, folders[i]);
                if (mkdir(path, 0755) < 0)
                        abort();
        }
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
        return remove(path);
}

void stage_close(struct stage *stage) {
        (void) nftw(stage->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void stage_write(const struct stage *stage, const char *name, const char *text) {
        char path[200];
        snprintf(path, sizeof(path), "%s/%s", stage->dir, name);
        _cleanup_fclose_ FILE *file = fopen(path, "we");
        if (!file || fputs(text, file) < 0)
                abort();
}

void stage_start(struct stage *stage) {
        struct failure f = {0};
        const struct manager_options options = {.config_root = stage->root, .state_dir = stage->state};
        if (sd_event_new(&stage->event) < 0 ||
            manager_new(stage->kernel, stage->event, &options, &stage->manager, &f) < 0) {
                fprintf(stderr, "%s\n", f.text);
                abort();
        }
}

void stage_stop(struct stage *stage) {
        manager_free(TAKE(stage->manager));
        stage->event = sd_event_unref(stage->event);
}

static bool busy(const struct stage *stage) {
        const struct tenants *tenants = manager_tenants(stage->manager);
        for (size_t i = 0; i < tenants->n; i++)
                if (tenants->tenant[i]->pass || tenants->tenant[i]->due != USEC_INFINITY)
                        return true;
        return stage->pending > 0;
}

const char *stage_rest(struct stage *stage) {
        usec_t end = usec_now(CLOCK_MONOTONIC) + PATIENCE;
        for (;;) {
                int r = sd_event_run(stage->event, busy(stage) ? 10 * USEC_PER_MSEC : 30 * USEC_PER_MSEC);
                if (r < 0)
                        return strerrordesc_np(-r);
                if (r == 0 && !busy(stage))
                        return NULL;
                if (usec_now(CLOCK_MONOTONIC) > end)
                        return "the manager does not come to rest";
        }
}

void stage_advance(struct stage *stage, struct sim *sim) {
        usec_t now = usec_now(CLOCK_MONOTONIC);
        if (stage->last != 0)
                sim_advance(sim, now - stage->last);
        stage->last = now;
}

int stage_main(int argc, char **argv, uint64_t seeds, const char *what, bool (*run)(uint64_t seed, bool verbose)) {
        if (argc == 3 && strcmp(argv[1], "--seed") == 0)
                return run(strtoull(argv[2], NULL, 10), true);
        if (argc == 3 && strcmp(argv[1], "--seeds") == 0)
                seeds = strtoull(argv[2], NULL, 10);
        else if (argc != 1) {
                fprintf(stderr, "%s [--seeds N | --seed N]: N histories (%llu), or this one, told in full\n",
                        program_invocation_short_name, (unsigned long long) seeds);
                return 2;
        }
        unsigned failed = 0;
        for (uint64_t seed = 1; seed <= seeds; seed++)
                failed += run(seed, false);
        printf("%llu histories of %s, %u failed\n", (unsigned long long) seeds, what, failed);
        return failed > 0;
}
