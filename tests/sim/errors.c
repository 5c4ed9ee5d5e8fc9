// SPDX-License-Identifier: LGPL-2.1-or-later
/* One quiet history, played again and again: each time another call of it fails in another way that does not lie about
 * the world, or something happens in the world just before it. Whatever it was, the ends of the passes tell the truth,
 * and the next passes make it good. */
#include "play.h"
#include <errno.h>
#include <string.h>

#define CALLS_MAX 20000

enum happening {
        SMT_GOES_OFF,
        TASK_DIES, /* and its number is given to a stranger at once */
        TASK_FORKS,
        TASK_MOVES_OUT,
        TASK_HELPS_ITSELF,
        STRANGER_MOVES_IN,
        EVENTS_ARE_LOST,
        _HAPPENING_MAX,
};

static const char *const happening_word[_HAPPENING_MAX + 1] = {
        [SMT_GOES_OFF] = "SMT goes off",
        [TASK_DIES] = "a task dies",
        [TASK_FORKS] = "a task forks",
        [TASK_MOVES_OUT] = "a task moves out",
        [TASK_HELPS_ITSELF] = "a task makes itself a cookie",
        [STRANGER_MOVES_IN] = "a stranger moves in",
        [EVENTS_ARE_LOST] = "events are lost",
        [_HAPPENING_MAX] = "nothing",
};

/* Errors that a call can end with although all is as it seems to be; none ends a list. */
static const int errors[_SIM_FUNCTION_MAX][5] = {
        [SIM_PROBE] = {-ENODEV, -EINVAL, -EPERM},
        [SIM_GET] = {-EPERM, -EIO},
        [SIM_DELIVER] = {-ENOMEM, -EPERM, -ESRCH, -ESTALE},
        [SIM_DELIVER_TARGET] = {-EPERM, -EACCES},
        [SIM_WALK] = {-ENOMEM, -EIO, -EACCES},
        [SIM_LIST] = {-ENOMEM, -EIO, -EACCES},
        [SIM_OF_TASK] = {-ENOMEM, -EIO},
        [SIM_FROZEN] = {-EIO, -EACCES},
        [SIM_FREEZE] = {-EIO, -EACCES, -EBUSY},
        [SIM_LISTEN] = {-EPERM},
        [SIM_PROC_NEXT] = {-ENOBUFS, -ENOMEM, -EIO},
        [SIM_TASK_INFO] = {-EIO, -EACCES},
};

struct walk {
        struct play play; /* first: the hook's userdata is a play's too */
        uint64_t at;
        enum happening happening;
        unsigned char trace[CALLS_MAX];
};

static void happen(struct play *play, enum happening what) {
        struct sim *sim = play->sim;
        pid_t victim = 0, stranger = 0;
        for (pid_t i = SIM_PID_MIN; i <= sim->pid_max; i++) {
                const struct sim_thread *thread = sim_thread(sim, i);
                if (!thread || thread->stage != SIM_LIVE || thread->tid != thread->tgid || thread->kernel_thread)
                        continue;
                if (!sim_is_inside(sim, thread->cgroup))
                        stranger = i;
                else if (victim == 0 || play_random(play, 3) == 0)
                        victim = i;
        }
        switch (what) {
        case SMT_GOES_OFF:
                sim_smt(sim, false);
                break;
        case TASK_DIES:
                if (victim == 0)
                        break;
                sim_kill(sim, victim, true);
                sim->pid_next = victim;
                (void) sim_spawn(sim, 0, "/system.slice", 2);
                break;
        case TASK_FORKS:
                (void) sim_fork(sim, victim, true, NULL, 20, 100);
                break;
        case TASK_MOVES_OUT:
                (void) sim_move(sim, victim, "/system.slice");
                break;
        case TASK_HELPS_ITSELF:
                (void) sim_create(sim, victim, false);
                break;
        case STRANGER_MOVES_IN:
                (void) sim_move(sim, stranger, play_cgroup(0));
                break;
        case EVENTS_ARE_LOST:
        case _HAPPENING_MAX:
                sim_lose_events(sim);
                break;
        }
}

static void walk_hook(struct sim *sim, enum sim_function function, void *userdata) {
        struct walk *walk = userdata;
        if (sim->calls < CALLS_MAX)
                walk->trace[sim->calls] = (unsigned char) function;
        play_say(&walk->play, "  %s", sim_function_word(function));
        if (sim->calls == walk->at && walk->happening != _HAPPENING_MAX)
                happen(&walk->play, walk->happening);
}

/* Plays the history. The number of calls before the rest, or 0 when something did not hold. */
static uint64_t run(struct walk *walk, uint64_t seed, uint64_t at, int error, enum happening happening, bool verbose) {
        struct play *play = &walk->play;
        bool quiet = happening != TASK_MOVES_OUT && happening != TASK_HELPS_ITSELF && happening != STRANGER_MOVES_IN;
        play_new(play, seed, true, verbose);
        play->forks_only = quiet;
        walk->at = at;
        walk->happening = happening;
        play->sim->hook = walk_hook;
        if (error != 0) {
                play->sim->fail_at = at;
                play->sim->fail_error = error;
        }
        play_tag(play, 0, false);
        play_tag(play, 1, true);
        play_tag(play, 2, seed % 2);
        play_run(play);
        play_tag(play, 0, true);
        play_run(play);
        play_untag(play, 1);
        play_run(play);
        uint64_t calls = play->sim->calls;
        play_rest(play, true);
        if (play->failure[0] != '\0') {
                printf("errors: world %llu, call %llu (%s), %s: %s\n", (unsigned long long) seed,
                       (unsigned long long) at, at < CALLS_MAX ? sim_function_word(walk->trace[at]) : "?",
                       error != 0 ? strerrorname_np(-error) : happening_word[happening], play->failure);
                calls = 0;
        }
        play_done(play);
        return calls;
}

unsigned run_errors(uint64_t seed, unsigned *ret_runs) {
        static struct walk walk, other;
        unsigned failed = 0, runs = 1;
        uint64_t calls = run(&walk, seed, CALLS_MAX, 0, _HAPPENING_MAX, false);
        if (calls == 0)
                failed++;
        for (uint64_t at = 1; at <= calls && at < CALLS_MAX; at++) {
                for (const int *error = errors[walk.trace[at]]; *error != 0; error++, runs++)
                        failed += run(&other, seed, at, *error, _HAPPENING_MAX, false) == 0;
                for (enum happening happening = 0; happening < _HAPPENING_MAX; happening++, runs++)
                        failed += run(&other, seed, at, 0, happening, false) == 0;
        }
        *ret_runs = runs;
        return failed;
}

bool replay_error(uint64_t seed, uint64_t at, const char *what) {
        static struct walk walk;
        int error = 0;
        enum happening happening = 0;
        while (happening < _HAPPENING_MAX && strcmp(what, happening_word[happening]) != 0)
                happening++;
        for (int e = 1; happening == _HAPPENING_MAX && e < 200; e++)
                if (strerrorname_np(e) && strcmp(what, strerrorname_np(e)) == 0)
                        error = -e;
        return run(&walk, seed, at, error, happening, true) == 0;
}
