// SPDX-License-Identifier: LGPL-2.1-or-later
#include "play.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define SETTLE (100 * USEC_PER_MSEC) /* as the manager's */

static const char *const names[PLAY_TENANTS] = {"a", "b", "c"};
static const char *const cgroups[PLAY_TENANTS][3] = {
        {"/a.slice", NULL}, {"/b.slice", "/other.slice/b", NULL}, {"/threads.slice/c", NULL}};

unsigned play_random(struct play *play, unsigned n) {
        play->random += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t z = play->random;
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return (unsigned) ((z ^ (z >> 31)) % n);
}

void play_say(struct play *play, const char *format, ...) {
        va_list ap;
        if (!play->verbose)
                return;
        printf("%8llu call %5llu  ", (unsigned long long) play->sim->now, (unsigned long long) play->sim->calls);
        va_start(ap, format);
        vprintf(format, ap);
        va_end(ap);
        putchar('\n');
}

void play_fail(struct play *play, const char *format, ...) {
        va_list ap;
        if (play->failure[0] != '\0')
                return;
        va_start(ap, format);
        vsnprintf(play->failure, sizeof(play->failure), format, ap);
        va_end(ap);
        play_say(play, "FAILURE: %s", play->failure);
}

struct tenant *play_tenant(const struct play *play, unsigned i) {
        return tenants_find(&play->tenants, names[i]);
}

const char *play_cgroup(unsigned i) {
        return cgroups[i][0];
}

static unsigned number_of(const struct tenant *tenant) {
        return (unsigned) (tenant->name[0] - 'a');
}

static void on_dirty(struct tenant *tenant, void *userdata) {
        struct play *play = userdata;
        unsigned i = number_of(tenant);
        if (!tenant->pass)
                play->due[i] = play->sim->now;
}

void play_new(struct play *play, uint64_t seed, bool forks_only, bool verbose) {
        *play = (struct play){.random = seed, .forks_only = forks_only, .verbose = verbose};
        /* Now and then there are more processes in one place than are looked at one by one. */
        play->crowd = play_random(play, 10) == 0 ? 65 + play_random(play, 30) : 0;
        play->sim = sim_new(SIM_PID_MIN + 80 + 2 * (pid_t) play->crowd);
        sim_kernel(play->sim, &play->kernel);
        play->live = (struct policy){.isolation = ISOLATION_COOKIE, .attach = ATTACH_LIVE};
        play->strict = (struct policy){.isolation = ISOLATION_COOKIE, .attach = ATTACH_FREEZE};
        play->context = (struct pass_context){.kernel = &play->kernel,
                                              .tenants = &play->tenants,
                                              .freeze_timeout = USEC_PER_SEC,
                                              .dirty = on_dirty,
                                              .userdata = play};
        for (unsigned i = 0; i < PLAY_TENANTS; i++)
                play->due[i] = USEC_INFINITY;
        history_build(play);
        play->sim->userdata = play;
        play->sim->hook = history_hook;
}

void play_done(struct play *play) {
        for (size_t i = 0; i < play->tenants.n; i++)
                if (play->tenants.tenant[i]->pass)
                        pass_abort(&play->context, play->tenants.tenant[i]);
        host_done(&play->context.host);
        tenants_done(&play->tenants);
        sim_free(play->sim);
}

/* A pass over the tenant is begun, in place of one that may be under way, when its turn comes. */
static void start(struct play *play, unsigned i) {
        play->to_begin[i] = true;
        play->due[i] = play->sim->now;
}

static void begin(struct play *play, unsigned i) {
        enum plan_wish wish = play->untagging[i] ? WISH_UNTAGGED : WISH_TAGGED;
        host_done(&play->context.host);
        play->context.host_seen = false;
        play->to_begin[i] = false;
        play->begun[i] = play->sim->now;
        if (pass_begin(play_tenant(play, i), wish, play->is_strict[i] ? &play->strict : &play->live) < 0)
                abort();
}

void play_tag(struct play *play, unsigned i, bool strict) {
        if (!play_tenant(play, i)) {
                struct tenant *tenant;
                if (tenant_new(names[i], (char *const *) cgroups[i], NULL, ORIGIN_RUNTIME, &tenant) < 0 ||
                    tenants_add(&play->tenants, tenant) < 0)
                        abort();
                for (const char *const *path = cgroups[i]; *path; path++)
                        sim_inside(play->sim, *path, true);
        }
        if (play->untagging[i])
                return;
        play_say(play, "tag %s%s", names[i], strict ? ", strictly" : "");
        /* What was in flight before anybody listened is found by the look after SETTLE only. */
        if (play->forks_only)
                sim_advance(play->sim, SETTLE);
        (void) play->kernel.proc_events->listen(play->sim, true);
        play->is_strict[i] = strict;
        start(play, i);
}

void play_untag(struct play *play, unsigned i) {
        if (!play_tenant(play, i) || play->untagging[i])
                return;
        play_say(play, "untag %s", names[i]);
        play->untagging[i] = true;
        start(play, i);
}

/* The pass is over. */
static void finish(struct play *play, unsigned i, int result) {
        struct tenant *tenant = play_tenant(play, i);
        play->due[i] = USEC_INFINITY;
        play_say(play, "the pass over %s ends with %d: %s, cookie %llx%s (%s)", names[i], result,
                 tenant_state_word(tenant->state), (unsigned long long) tenant->cookie,
                 tenant->adopted ? " adopted" : "", tenant->reason ? tenant->reason : "");
        if (!play->untagging[i]) {
                check_truth(play, i);
                if (tenant->touched)
                        play->due[i] = play->sim->now + SETTLE;
                tenant->touched = false;
                return;
        }
        play->untagging[i] = false;
        if (result < 0)
                return; /* it still is a tenant */
        uint64_t cookie = tenant->adopted ? 0 : tenant->cookie;
        for (const char *const *path = cgroups[i]; *path; path++)
                sim_inside(play->sim, *path, false);
        tenant_free(tenants_remove(&play->tenants, names[i]));
        if (cookie != 0)
                check_untagged(play, i, cookie);
}

/* Steps the pass that is due first; false: there is none. */
static bool step(struct play *play) {
        unsigned first = PLAY_TENANTS;
        for (unsigned i = 0; i < PLAY_TENANTS; i++)
                if (play_tenant(play, i) && play->due[i] != USEC_INFINITY &&
                    (first == PLAY_TENANTS || play->due[i] < play->due[first]))
                        first = i;
        if (first == PLAY_TENANTS)
                return false;
        if (play->due[first] > play->sim->now)
                sim_advance(play->sim, play->due[first] - play->sim->now);
        if (!play_tenant(play, first)->pass || play->to_begin[first])
                begin(play, first);
        usec_t again = 0;
        uint64_t before = play->sim->calls;
        int r = pass_step(&play->context, play_tenant(play, first), play->sim->now, &again);
        if (play->sim->calls - before > PLAY_CALLS_MAX)
                play_fail(play, "a step of a pass took %llu calls", (unsigned long long) (play->sim->calls - before));
        play->due[first] = again;
        if (r == 1 && again <= play->sim->now - (play->sim->calls - before) * 2)
                play_fail(play, "a pass wants to be gone on with at once");
        if (r == 1 ? !play_tenant(play, first)->pass : play_tenant(play, first)->pass != NULL)
                play_fail(play, "pass_step gave %d, and the pass says otherwise", r);
        if (r != 1)
                finish(play, first, r);
        return true;
}

void play_run(struct play *play) {
        unsigned steps = 0;
        while (play->failure[0] == '\0' && step(play)) {
                if (++steps > 1000) /* of waiting, and of looking again at what has changed again */
                        play->rate = 0;
                if (steps > 2000)
                        play_fail(play, "passes do not end");
        }
        if (play->sim->violation[0] != '\0')
                play_fail(play, "%s", play->sim->violation);
}

void play_rest(struct play *play, bool honest) {
        play->rate = 0;
        play_say(play, "rest");
        if (!play->sim->smt)
                sim_smt(play->sim, true);
        sim_advance(play->sim, 10 * USEC_PER_SEC);
        play_run(play);
        for (unsigned round = 0; round < 2; round++) {
                for (unsigned i = 0; i < PLAY_TENANTS; i++)
                        if (play_tenant(play, i))
                                play_tag(play, i, false);
                play_run(play);
        }
        if (play->failure[0] == '\0')
                check_rest(play, honest);
}
