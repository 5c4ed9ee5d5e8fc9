// SPDX-License-Identifier: LGPL-2.1-or-later
/* Random histories: what tasks, administrators and other managers do while the daemon works. */
#include "play.h"
#include <errno.h>
#include <string.h>

static const char *const places[] = {"/a.slice",         "/a.slice/one.service", "/a.slice/two.service",
                                     "/b.slice",         "/other.slice/b",       "/other.slice/free",
                                     "/threads.slice",   "/threads.slice/c",     "/threads.slice/c/below",
                                     "/threads.slice/d", "/a.slice/threads",     "/system.slice/x.service"};

static bool threaded_place(const char *path) {
        return strncmp(path, "/threads.slice/", 15) == 0 || strcmp(path, "/a.slice/threads") == 0;
}

static int add_place(struct sim *sim, const char *path) {
        if (strcmp(path, "/threads.slice/c/below") == 0)
                (void) sim_cgroup_add(sim, "/threads.slice/c", true);
        return sim_cgroup_add(sim, path, threaded_place(path));
}

static const char *any_place(struct play *play) {
        return places[play_random(play, ELEMENTS(places))];
}

/* A domain cgroup, where processes can be started. */
static const char *any_domain(struct play *play) {
        const char *path;
        do
                path = any_place(play);
        while (threaded_place(path));
        return path;
}

/* A task that can run; NULL if none was found. */
static struct sim_thread *any_thread(struct play *play, bool running) {
        struct sim *sim = play->sim;
        for (unsigned try = 0; try < 40; try++) {
                pid_t tid = SIM_PID_MIN + (pid_t) play_random(play, (unsigned) (sim->pid_max - SIM_PID_MIN + 1));
                struct sim_thread *thread = sim_thread(sim, tid);
                if (thread && thread->stage == SIM_LIVE && !thread->kernel_thread &&
                    !(running && (sim_stopped(sim, thread) || sim_forks(sim, thread))))
                        return thread;
        }
        return NULL;
}

static void fork_one(struct play *play) {
        struct sim_thread *thread = any_thread(play, true);
        if (!thread)
                return;
        bool process = play_random(play, 3) > 0;
        /* Processes of threaded cgroups cannot be cloned out of their domain, nor anybody into it. That a tenant's own
         * process clones one into another place is found by the next check of all tenants only. */
        bool told = !play->follows || !sim_is_inside(play->sim, thread->cgroup);
        const char *into = process && !play->forks_only && told && play_random(play, 4) == 0 ? any_domain(play) : NULL;
        usec_t event = play_random(play, 60), listed = event + play_random(play, 400);
        pid_t parent = thread->tid;
        pid_t tid = sim_fork(play->sim, parent, process, into, event, listed);
        play_say(play, "  %d forks %s %d%s%s", (int) parent, process ? "process" : "thread", (int) tid,
                 into ? " into " : "", into ? into : "");
}

static void end_one(struct play *play) {
        struct sim_thread *thread = any_thread(play, false);
        if (!thread)
                return;
        bool reap = play_random(play, 3) > 0;
        if (play_random(play, 2)) {
                play_say(play, "  process %d ends%s", (int) thread->tgid, reap ? "" : ", a zombie");
                sim_kill(play->sim, thread->tgid, reap);
        } else if (!sim_stopped(play->sim, thread) && !sim_forks(play->sim, thread)) {
                play_say(play, "  thread %d ends", (int) thread->tid);
                pid_t tgid = thread->tgid;
                sim_exit(play->sim, thread->tid);
                if (reap)
                        sim_reap(play->sim, tgid);
        }
}

static void reap_one(struct play *play) {
        for (pid_t i = SIM_PID_MIN; i <= play->sim->pid_max; i++) {
                const struct sim_thread *thread = sim_thread(play->sim, i);
                if (thread && thread->stage == SIM_ZOMBIE && play_random(play, 3) == 0) {
                        sim_reap(play->sim, i);
                        return;
                }
        }
}

static void move_one(struct play *play) {
        struct sim_thread *thread = any_thread(play, false);
        const char *path = any_place(play);
        if (!thread)
                return;
        int r = sim_move(play->sim, thread->tid, path);
        if (r == 0)
                play_say(play, "  %d of %d moves to %s", (int) thread->tid, (int) thread->tgid, path);
}

static void help_itself(struct play *play) {
        struct sim_thread *thread = any_thread(play, true), *other = any_thread(play, false);
        if (!thread || !other)
                return;
        bool group = play_random(play, 2);
        if (play_random(play, 2)) {
                (void) sim_create(play->sim, thread->tid, group);
                play_say(play, "  %d%s makes itself cookie %llx", (int) thread->tid, group ? "'s group" : "",
                         (unsigned long long) sim_cookie(play->sim, thread->tid));
        } else {
                (void) sim_share_from(play->sim, thread->tid, other->tid);
                play_say(play, "  %d takes %llx from %d", (int) thread->tid,
                         (unsigned long long) sim_cookie(play->sim, thread->tid), (int) other->tid);
        }
}

static void change_cgroups(struct play *play) {
        const char *path = any_place(play);
        int r;
        switch (play_random(play, 3)) {
        case 0:
                if (add_place(play->sim, path) == 0)
                        play_say(play, "  cgroup %s is made", path);
                break;
        case 1:
                r = sim_cgroup_remove(play->sim, path);
                if (r == 0)
                        play_say(play, "  cgroup %s is removed", path);
                break;
        default:
                r = sim_freeze(play->sim, path, play_random(play, 2));
                if (r == 0)
                        play_say(play, "  cgroup %s is frozen or thawed by somebody else", path);
        }
}

static void change_machine(struct play *play) {
        if (play_random(play, 3) == 0 && play->sim->smt) {
                sim_smt(play->sim, false);
                play->smt_back = play->sim->now + play_random(play, 2000);
                play_say(play, "  SMT goes off");
        } else {
                sim_lose_events(play->sim);
                play_say(play, "  events are lost");
        }
}

void history_move(struct play *play) {
        struct sim *sim = play->sim;
        if (play->smt_back != 0 && sim->now >= play->smt_back) {
                play->smt_back = 0;
                sim_smt(sim, true);
                play_say(play, "  SMT is on again");
        }
        unsigned what = play_random(play, play->forks_only ? 12 : 24);
        if (what < 7)
                fork_one(play);
        else if (what < 10)
                end_one(play);
        else if (what < 12)
                reap_one(play);
        else if (what < 16)
                move_one(play);
        else if (what < 19) {
                if (!play->follows)
                        help_itself(play);
        } else if (what < 21) {
                const char *path = any_domain(play);
                pid_t tid = sim_spawn(sim, 0, path, 1 + play_random(play, 3));
                play_say(play, "  %d starts in %s", (int) tid, path);
        } else if (what < 22) {
                struct sim_thread *thread = any_thread(play, true);
                if (thread)
                        sim_exec(sim, thread->tid);
        } else if (what < 23)
                change_cgroups(play);
        else if (!play->follows && play_random(play, 6) == 0)
                change_machine(play);
}

void history_hook(struct sim *sim, enum sim_function function, void *userdata) {
        struct play *play = userdata;
        if (play->rate > 0 && play_random(play, play->rate) == 0)
                history_move(play);
}

void history_build(struct play *play) {
        struct sim *sim = play->sim;
        for (size_t i = 0; i < ELEMENTS(places); i++)
                if (i == 0 || play_random(play, 6) > 0)
                        (void) add_place(sim, places[i]);
        for (unsigned i = 0; i < PLAY_TENANTS; i++)
                if (play_random(play, 8) == 0)
                        (void) sim_freeze(sim, play_cgroup(i), true); /* as podman pause does */
        sim->reuse_numbers = play_random(play, 2);
        unsigned n = 3 + play_random(play, 12);
        const char *place = any_domain(play);
        for (unsigned i = 0; i < play->crowd; i++)
                (void) sim_spawn(sim, 0, place, 1 + play_random(play, 2));
        for (unsigned i = 0; i < n; i++) {
                pid_t tid = sim_spawn(sim, 0, any_domain(play), 1 + play_random(play, 3));
                if (tid < 0)
                        continue;
                struct sim_thread *thread = sim_thread(sim, tid);
                thread->freeze_delay = play_random(play, 20) == 0 ? USEC_INFINITY : play_random(play, 300000);
                thread->kernel_thread = play_random(play, 12) == 0;
                thread->denied = !play->forks_only && play_random(play, 20) == 0;
                if (play_random(play, 4) == 0)
                        (void) sim_create(sim, tid, play_random(play, 2));
        }
        for (unsigned i = 0; i < 10; i++) {
                if (play_random(play, 3) == 0)
                        move_one(play);
                else if (play_random(play, 4) == 0)
                        help_itself(play);
        }
}
