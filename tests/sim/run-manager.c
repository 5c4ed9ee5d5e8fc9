// SPDX-License-Identifier: LGPL-2.1-or-later
/* The true manager on the simulated kernel, with a real event loop and the real clock: histories of what the kernel
 * tells of, in which tenants are tagged and untagged; then a restart, which changes no cookie; then all is untagged. */
#include "manager.h"
#include "play.h"
#include <errno.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define PATIENCE (20 * USEC_PER_SEC)

struct stage {
        struct play play; /* first: the hook's userdata */
        struct manager *manager;
        sd_event *event;
        char dir[64], root[80], state[80]; /* the manager keeps pointers to the last two */
        bool honest;                       /* no task is refused a cookie: of one that was, and ended, nobody hears */
        unsigned pending;                  /* calls without an answer */
        usec_t last;
};

static usec_t clock_now(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (usec_t) t.tv_sec * USEC_PER_SEC + (usec_t) t.tv_nsec / 1000;
}

static void hook(struct sim *sim, enum sim_function function, void *userdata) {
        struct stage *stage = userdata;
        usec_t now = clock_now();
        if (stage->last != 0)
                sim_advance(sim, now - stage->last);
        stage->last = now;
        history_hook(sim, function, userdata);
}

static bool busy(const struct stage *stage) {
        const struct tenants *tenants = manager_tenants(stage->manager);
        for (size_t i = 0; i < tenants->n; i++)
                if (tenants->tenant[i]->pass || tenants->tenant[i]->due != USEC_INFINITY)
                        return true;
        return stage->pending > 0;
}

/* Runs the loop until there is nothing to do. */
static void run_quiet(struct stage *stage) {
        usec_t end = clock_now() + PATIENCE;
        for (;;) {
                int r = sd_event_run(stage->event, busy(stage) ? 10 * USEC_PER_MSEC : 30 * USEC_PER_MSEC);
                if (r < 0)
                        play_fail(&stage->play, "the event loop: %s", strerror(-r));
                if (r < 0 || (r == 0 && !busy(stage)))
                        return;
                if (clock_now() > end) {
                        play_fail(&stage->play, "the manager does not come to rest");
                        return;
                }
        }
}

static void start_manager(struct stage *stage) {
        struct failure f = {0};
        const struct manager_options options = {.config_root = stage->root, .state_dir = stage->state};
        if (sd_event_new(&stage->event) < 0 ||
            manager_new(&stage->play.kernel, stage->event, &options, &stage->manager, &f) < 0) {
                fprintf(stderr, "%s\n", f.text);
                abort();
        }
}

static void stop_manager(struct stage *stage) {
        manager_free(TAKE(stage->manager));
        stage->event = sd_event_unref(stage->event);
}

static void answered(int error, const struct failure *f, struct tenant *tenant, void *userdata) {
        struct stage *stage = userdata;
        stage->pending--;
        play_say(&stage->play, "answer: %s, %s", error < 0 ? f->text : "good",
                 tenant ? tenant_state_word(tenant->state) : "no tenant");
}

static const char *const name[PLAY_TENANTS] = {"a", "b", "c"};

static void tag(struct stage *stage, unsigned i) {
        const char *const cgroups[] = {play_cgroup(i), NULL};
        const struct tag_request request = {.name = name[i],
                                            .cgroups = (char *const *) cgroups,
                                            .policy = play_random(&stage->play, 3) == 0 ? "strict" : NULL};
        play_say(&stage->play, "tag %s", name[i]);
        if (!tenants_find(manager_tenants(stage->manager), name[i]))
                sim_inside(stage->play.sim, cgroups[0], true);
        stage->pending++;
        manager_tag(stage->manager, &request, answered, stage);
}

static void untag(struct stage *stage, unsigned i, bool force) {
        if (!tenants_find(manager_tenants(stage->manager), name[i]))
                return;
        play_say(&stage->play, "untag %s", name[i]);
        stage->pending++;
        manager_untag(stage->manager, name[i], force, false, answered, stage);
        run_quiet(stage);
        if (!tenants_find(manager_tenants(stage->manager), name[i]))
                sim_inside(stage->play.sim, play_cgroup(i), false);
}

static void check(struct stage *stage) {
        struct tenants own = stage->play.tenants;
        stage->play.tenants = *manager_tenants(stage->manager);
        if (stage->play.failure[0] == '\0')
                check_rest(&stage->play, stage->honest);
        stage->play.tenants = own;
}

/* Does, or may, anybody outside of it carry the cookie of a tenant? */
static bool carried_outside(const struct stage *stage) {
        const struct sim *sim = stage->play.sim;
        for (pid_t i = 1; i <= sim->pid_max; i++)
                if (sim->thread[i] && sim->thread[i]->denied)
                        return true;
                else if (sim->thread[i] &&
                         tenants_of_cookie(manager_tenants(stage->manager), sim_cookie(sim, i)) !=
                                 tenants_of_cgroup(manager_tenants(stage->manager), sim->thread[i]->cgroup->path))
                        return true;
        return false;
}

/* Who left a tenant has lost its cookie. What was set by somebody else, and adopted, is not ours to take. */
static void check_leavers(struct stage *stage) {
        const struct sim *sim = stage->play.sim;
        const struct tenants *tenants = manager_tenants(stage->manager);
        for (pid_t i = SIM_PID_MIN; stage->honest && i <= sim->pid_max; i++) {
                const struct sim_thread *thread = sim->thread[i];
                if (!thread || thread->stage != SIM_LIVE || !thread->cookie || !thread->cookie->delivered)
                        continue;
                const struct tenant *carried = tenants_of_cookie(tenants, thread->cookie->number);
                if (carried && !carried->adopted && tenants_of_cgroup(tenants, thread->cgroup->path) != carried)
                        play_fail(&stage->play, "thread %d in %s carries the cookie of %s", (int) i,
                                  thread->cgroup->path, carried->name);
        }
}

/* A restart of the daemon: cookies stay, unless somebody outside could not be told from those inside. */
static void restart(struct stage *stage) {
        struct play *play = &stage->play;
        uint64_t before[SIM_PID_MIN + 300] = {0};
        bool comparable = !carried_outside(stage);
        for (pid_t i = 1; i <= play->sim->pid_max; i++)
                before[i] = sim_cookie(play->sim, i);
        play_say(play, "restart");
        stop_manager(stage);
        start_manager(stage);
        run_quiet(stage);
        for (pid_t i = SIM_PID_MIN; comparable && i <= play->sim->pid_max; i++)
                if (sim_cookie(play->sim, i) != before[i])
                        play_fail(play, "thread %d carried %llx before the restart, and %llx after", (int) i,
                                  (unsigned long long) before[i], (unsigned long long) sim_cookie(play->sim, i));
        check(stage);
}

/* Untags all: nobody who was inside has anything of ours then, but those that the kernel refuses. */
static void untag_all(struct stage *stage) {
        const struct sim *sim = stage->play.sim;
        bool inside[SIM_PID_MIN + 300] = {false};
        for (pid_t i = SIM_PID_MIN; i <= sim->pid_max; i++)
                inside[i] = sim->thread[i] && sim_is_inside(sim, sim->thread[i]->cgroup);
        for (unsigned i = 0; i < PLAY_TENANTS; i++)
                untag(stage, i, true);
        for (pid_t i = SIM_PID_MIN; stage->honest && i <= sim->pid_max; i++) {
                const struct sim_thread *thread = sim->thread[i];
                if (thread && inside[i] && thread->stage == SIM_LIVE && thread->cookie && thread->cookie->delivered)
                        play_fail(&stage->play, "thread %d in %s carries %llx although all is untagged", (int) i,
                                  thread->cgroup->path, (unsigned long long) thread->cookie->number);
        }
        if (manager_tenants(stage->manager)->n > 0)
                play_fail(&stage->play, "there are tenants although all is untagged");
        if (sim_cookie(sim, SIM_HOLDER) != 0)
                play_fail(&stage->play, "a cookie is held although there are no tenants");
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
        return remove(path);
}

static void write_policy(const struct stage *stage) {
        char path[128];
        static const char *const folders[] = {"state", "root", "root/etc", "root/etc/coresched",
                                              "root/etc/coresched/policies.d"};
        for (size_t i = 0; i < ELEMENTS(folders); i++) {
                snprintf(path, sizeof(path), "%s/%s", stage->dir, folders[i]);
                if (mkdir(path, 0755) < 0)
                        abort();
        }
        snprintf(path, sizeof(path), "%s/root/etc/coresched/policies.d/strict.conf", stage->dir);
        _cleanup_fclose_ FILE *file = fopen(path, "we");
        if (!file || fputs("[Policy]\nIsolation=cookie\nAttach=freeze\n", file) < 0)
                abort();
}

static bool run(uint64_t seed, bool verbose) {
        struct stage stage = {0};
        struct play *play = &stage.play;
        strcpy(stage.dir, "/tmp/coresched-sim-XXXXXX");
        if (!mkdtemp(stage.dir))
                abort();
        snprintf(stage.root, sizeof(stage.root), "%s/root", stage.dir);
        snprintf(stage.state, sizeof(stage.state), "%s/state", stage.dir);
        write_policy(&stage);
        play_new(play, seed, false, verbose);
        play->follows = true;
        play->sim->hook = hook;
        stage.honest = seed % 2;
        for (pid_t i = SIM_PID_MIN; stage.honest && i <= play->sim->pid_max; i++)
                if (play->sim->thread[i])
                        play->sim->thread[i]->denied = false;
        start_manager(&stage);
        play->rate = 4 + play_random(play, 60);
        for (unsigned acts = 3 + play_random(play, 5); acts > 0; acts--) {
                unsigned i = play_random(play, PLAY_TENANTS);
                if (play_random(play, 4) == 0)
                        untag(&stage, i, false);
                else
                        tag(&stage, i);
                for (unsigned moves = play_random(play, 8); moves > 0; moves--) {
                        history_move(play);
                        (void) sd_event_run(stage.event, play_random(play, 3000));
                }
        }
        play->rate = 0;
        play_say(play, "rest");
        sim_advance(play->sim, USEC_PER_SEC);
        run_quiet(&stage);
        check(&stage);
        check_leavers(&stage);
        restart(&stage);
        untag_all(&stage);
        bool failed = play->failure[0] != '\0';
        if (failed)
                printf("manager, seed %llu: %s\n", (unsigned long long) seed, play->failure);
        stop_manager(&stage);
        play_done(play);
        (void) nftw(stage.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        return failed;
}

int main(int argc, char **argv) {
        uint64_t seeds = 24;
        if (argc == 3 && strcmp(argv[1], "--seed") == 0)
                return run(strtoull(argv[2], NULL, 10), true);
        if (argc == 3 && strcmp(argv[1], "--seeds") == 0)
                seeds = strtoull(argv[2], NULL, 10);
        else if (argc != 1) {
                fputs("run-manager [--seeds N | --seed N]: N histories (24), or this one, told in full\n", stderr);
                return 2;
        }
        unsigned failed = 0;
        for (uint64_t seed = 1; seed <= seeds; seed++)
                failed += run(seed, false);
        printf("%llu histories of the manager, %u failed\n", (unsigned long long) seeds, failed);
        return failed > 0;
}
