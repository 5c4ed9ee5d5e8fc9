// SPDX-License-Identifier: LGPL-2.1-or-later
/* The true manager on the simulated kernel, with a real event loop and the real clock: histories of what the kernel
 * tells of, in which tenants are tagged and untagged; then a restart, which changes no cookie; then all is untagged. */
#include "play.h"
#include "stage.h"

struct act {
        struct play play; /* first: the hook's userdata */
        struct stage stage;
        bool honest; /* no task is refused a cookie: of one that was, and ended, nobody hears */
};

static void hook(struct sim *sim, enum sim_function function, void *userdata) {
        struct act *act = userdata;
        stage_advance(&act->stage, sim);
        history_hook(sim, function, userdata);
}

static void run_quiet(struct act *act) {
        const char *wrong = stage_rest(&act->stage);
        if (wrong)
                play_fail(&act->play, "%s", wrong);
}

static void answered(int error, const struct failure *f, struct tenant *tenant, void *userdata) {
        struct act *act = userdata;
        act->stage.pending--;
        play_say(&act->play, "answer: %s, %s", error < 0 ? f->text : "good",
                 tenant ? tenant_state_word(tenant->state) : "no tenant");
}

static const char *const name[PLAY_TENANTS] = {"a", "b", "c"};

static void tag(struct act *act, unsigned i) {
        const char *const cgroups[] = {play_cgroup(i), NULL};
        const struct tag_request request = {.name = name[i],
                                            .cgroups = (char *const *) cgroups,
                                            .policy = play_random(&act->play, 3) == 0 ? "strict" : NULL};
        play_say(&act->play, "tag %s", name[i]);
        if (!tenants_find(manager_tenants(act->stage.manager), name[i]))
                sim_inside(act->play.sim, cgroups[0], true);
        act->stage.pending++;
        manager_tag(act->stage.manager, &request, answered, act);
}

static void untag(struct act *act, unsigned i, bool force) {
        if (!tenants_find(manager_tenants(act->stage.manager), name[i]))
                return;
        play_say(&act->play, "untag %s", name[i]);
        act->stage.pending++;
        manager_untag(act->stage.manager, name[i], force, false, answered, act);
        run_quiet(act);
        if (!tenants_find(manager_tenants(act->stage.manager), name[i]))
                sim_inside(act->play.sim, play_cgroup(i), false);
}

static void check(struct act *act) {
        struct tenants own = act->play.tenants;
        act->play.tenants = *manager_tenants(act->stage.manager);
        if (act->play.failure[0] == '\0')
                check_rest(&act->play, act->honest);
        act->play.tenants = own;
}

/* Does, or may, anybody outside of it carry the cookie of a tenant? */
static bool carried_outside(const struct act *act) {
        const struct sim *sim = act->play.sim;
        for (pid_t i = 1; i <= sim->pid_max; i++)
                if (sim->thread[i] && sim->thread[i]->denied)
                        return true;
                else if (sim->thread[i] &&
                         tenants_of_cookie(manager_tenants(act->stage.manager), sim_cookie(sim, i)) !=
                                 tenants_of_cgroup(manager_tenants(act->stage.manager), sim->thread[i]->cgroup->path))
                        return true;
        return false;
}

/* Who left a tenant has lost its cookie. What was set by somebody else, and adopted, is not ours to take. */
static void check_leavers(struct act *act) {
        const struct sim *sim = act->play.sim;
        const struct tenants *tenants = manager_tenants(act->stage.manager);
        for (pid_t i = SIM_PID_MIN; act->honest && i <= sim->pid_max; i++) {
                const struct sim_thread *thread = sim->thread[i];
                if (!thread || thread->stage != SIM_LIVE || !thread->cookie || !thread->cookie->delivered)
                        continue;
                const struct tenant *carried = tenants_of_cookie(tenants, thread->cookie->number);
                if (carried && !carried->adopted && tenants_of_cgroup(tenants, thread->cgroup->path) != carried)
                        play_fail(&act->play, "thread %d in %s carries the cookie of %s", (int) i, thread->cgroup->path,
                                  carried->name);
        }
}

/* A restart of the daemon: cookies stay, unless somebody outside could not be told from those inside. */
static void restart(struct act *act) {
        struct play *play = &act->play;
        uint64_t before[SIM_PID_MIN + 300] = {0};
        bool comparable = !carried_outside(act);
        for (pid_t i = 1; i <= play->sim->pid_max; i++)
                before[i] = sim_cookie(play->sim, i);
        play_say(play, "restart");
        stage_stop(&act->stage);
        stage_start(&act->stage);
        run_quiet(act);
        for (pid_t i = SIM_PID_MIN; comparable && i <= play->sim->pid_max; i++)
                if (sim_cookie(play->sim, i) != before[i])
                        play_fail(play, "thread %d carried %llx before the restart, and %llx after", (int) i,
                                  (unsigned long long) before[i], (unsigned long long) sim_cookie(play->sim, i));
        check(act);
}

/* Untags all: nobody who was inside has anything of ours then, but those that the kernel refuses. */
static void untag_all(struct act *act) {
        const struct sim *sim = act->play.sim;
        bool inside[SIM_PID_MIN + 300] = {false};
        for (pid_t i = SIM_PID_MIN; i <= sim->pid_max; i++)
                inside[i] = sim->thread[i] && sim_is_inside(sim, sim->thread[i]->cgroup);
        for (unsigned i = 0; i < PLAY_TENANTS; i++)
                untag(act, i, true);
        for (pid_t i = SIM_PID_MIN; act->honest && i <= sim->pid_max; i++) {
                const struct sim_thread *thread = sim->thread[i];
                if (thread && inside[i] && thread->stage == SIM_LIVE && thread->cookie && thread->cookie->delivered)
                        play_fail(&act->play, "thread %d in %s carries %llx although all is untagged", (int) i,
                                  thread->cgroup->path, (unsigned long long) thread->cookie->number);
        }
        if (manager_tenants(act->stage.manager)->n > 0)
                play_fail(&act->play, "there are tenants although all is untagged");
        if (sim_cookie(sim, SIM_HOLDER) != 0)
                play_fail(&act->play, "a cookie is held although there are no tenants");
}

static bool run(uint64_t seed, bool verbose) {
        struct act act = {0};
        struct play *play = &act.play;
        stage_open(&act.stage, &play->kernel);
        stage_write(&act.stage, "root/etc/coresched/policies.d/strict.conf",
                    "[Policy]\nIsolation=cookie\nAttach=freeze\n");
        play_new(play, seed, false, verbose);
        play->follows = true;
        play->sim->hook = hook;
        act.honest = seed % 2;
        for (pid_t i = SIM_PID_MIN; act.honest && i <= play->sim->pid_max; i++)
                if (play->sim->thread[i])
                        play->sim->thread[i]->denied = false;
        stage_start(&act.stage);
        play->rate = 4 + play_random(play, 60);
        for (unsigned acts = 3 + play_random(play, 5); acts > 0; acts--) {
                unsigned i = play_random(play, PLAY_TENANTS);
                if (play_random(play, 4) == 0)
                        untag(&act, i, false);
                else
                        tag(&act, i);
                for (unsigned moves = play_random(play, 8); moves > 0; moves--) {
                        history_move(play);
                        (void) sd_event_run(act.stage.event, play_random(play, 3000));
                }
        }
        play->rate = 0;
        play_say(play, "rest");
        sim_advance(play->sim, USEC_PER_SEC);
        run_quiet(&act);
        check(&act);
        check_leavers(&act);
        restart(&act);
        untag_all(&act);
        bool failed = play->failure[0] != '\0';
        if (failed)
                printf("manager, seed %llu: %s\n", (unsigned long long) seed, play->failure);
        stage_stop(&act.stage);
        play_done(play);
        stage_close(&act.stage);
        return failed;
}

int main(int argc, char **argv) {
        return stage_main(argc, argv, 24, "the manager", run);
}
