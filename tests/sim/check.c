// SPDX-License-Identifier: LGPL-2.1-or-later
/* What must hold, read from the simulated kernel itself. */
#include "play.h"
#include "selector.h"
#include <string.h>

/* The next thread that is no zombie. */
static struct sim_thread *next(const struct sim *sim, const struct sim_thread *after) {
        for (pid_t i = after ? after->tid + 1 : 1; i <= sim->pid_max; i++)
                if (sim->thread[i] && sim->thread[i]->stage != SIM_ZOMBIE)
                        return sim->thread[i];
        return NULL;
}

static struct tenant *owner(const struct play *play, const struct sim_thread *thread) {
        return tenants_of_cgroup(&play->tenants, thread->cgroup->path);
}

/* Is it something that the pass cannot know of? It is in flight, and the kernel has not told of it yet, or only after
 * the last look, or before the pass began, and it was not listed yet then. A later look finds it. */
static bool unheard_of(const struct play *play, unsigned i, const struct sim_thread *thread) {
        const struct sim_queue *queue = &play->sim->proc_events;
        for (size_t k = queue->first; k < queue->n; k++)
                if (queue->event[k].proc.tid == thread->tid)
                        return true;
        return thread->stage == SIM_FORKING ||
               (thread->event_at <= play->begun[i] && thread->listed_at >= play->begun[i]);
}

void check_truth(struct play *play, unsigned i) {
        struct tenant *tenant = play_tenant(play, i);
        const char *where = play->sim->violation[0] != '\0' ? play->sim->violation : NULL;
        if (where)
                play_fail(play, "%s", where);
        for (char **path = tenant->frozen; path && *path && tenant->state != TENANT_DEGRADED; path++)
                play_fail(play, "%s is left frozen by a pass that ended", *path);
        if (tenant->state == TENANT_PENDING)
                play_fail(play, "%s is still pending after its pass", tenant->name);
        /* Where nothing but forks and exits happens, nothing can have slipped through since the last look. */
        if (tenant->state != TENANT_ENFORCED || !play->forks_only)
                return;
        for (struct sim_thread *thread = next(play->sim, NULL); thread; thread = next(play->sim, thread))
                if (owner(play, thread) == tenant && !unheard_of(play, i, thread) &&
                    sim_cookie(play->sim, thread->tid) != tenant->cookie)
                        play_fail(play, "%s is enforced, but thread %d of %d%s carries %llx", tenant->name,
                                  (int) thread->tid, (int) thread->tgid,
                                  thread->stage == SIM_LIVE ? "" : ", in flight,",
                                  (unsigned long long) sim_cookie(play->sim, thread->tid));
}

void check_untagged(struct play *play, unsigned i, uint64_t cookie) {
        if (!play->forks_only)
                return;
        for (struct sim_thread *thread = next(play->sim, NULL); thread; thread = next(play->sim, thread))
                if (thread->cookie && thread->cookie->delivered && thread->cookie->number == cookie &&
                    !thread->denied && !unheard_of(play, i, thread))
                        play_fail(play, "%s was untagged, but thread %d of %d in %s%s still carries its cookie",
                                  play_cgroup(i), (int) thread->tid, (int) thread->tgid, thread->cgroup->path,
                                  thread->stage == SIM_LIVE ? "" : ", in flight,");
}

static void check_thread(struct play *play, const struct sim_thread *thread) {
        struct tenant *tenant = owner(play, thread);
        if (tenant) {
                if (tenant->state == TENANT_ENFORCED && (!thread->cookie || thread->cookie->number != tenant->cookie))
                        play_fail(play, "%s is enforced, but thread %d of %d carries %llx", tenant->name,
                                  (int) thread->tid, (int) thread->tgid,
                                  (unsigned long long) sim_cookie(play->sim, thread->tid));
                return;
        }
        /* Children of one who was given a cookie by mistake, born while the pass ended early, may keep it when it is an
         * adopted one, which is never taken from those outside, or is no tenant's any more. */
        const struct tenant *carried = tenants_of_cookie(&play->tenants, sim_cookie(play->sim, thread->tid));
        if (thread->cookie && thread->stray && (!thread->born_stray || (carried && !carried->adopted)))
                play_fail(play, "thread %d of %d in %s was given %llx, and has no business with it", (int) thread->tid,
                          (int) thread->tgid, thread->cgroup->path, (unsigned long long) thread->cookie->number);
}

/* Whoever carries the same cookie as somebody in a tenant is of that tenant, came from it, or took it. */
static void check_sharing(struct play *play, const struct sim_thread *thread, const struct sim_thread *other) {
        struct tenant *tenant = owner(play, thread), *others = owner(play, other);
        if (!thread->cookie || thread->cookie != other->cookie || !tenant || tenant == others || thread->denied ||
            other->denied || tenant->state == TENANT_DEGRADED)
                return;
        if (others ? others->state != TENANT_DEGRADED : !other->was_inside && !other->helped_self)
                play_fail(play, "threads %d in %s and %d in %s share cookie %llx", (int) thread->tid,
                          thread->cgroup->path, (int) other->tid, other->cgroup->path,
                          (unsigned long long) thread->cookie->number);
}

void check_rest(struct play *play, bool honest) {
        struct sim *sim = play->sim;
        bool denied[PLAY_TENANTS] = {false}, may_be[PLAY_TENANTS] = {false}; /* all of a group is refused for one */
        for (struct sim_thread *thread = next(sim, NULL); thread; thread = next(sim, thread)) {
                struct tenant *tenant = owner(play, thread);
                check_thread(play, thread);
                if (tenant && thread->denied)
                        denied[tenant->name[0] - 'a'] = true;
                for (pid_t i = 1; tenant && i <= sim->pid_max; i++)
                        if (sim->thread[i] && sim->thread[i]->tgid == thread->tgid && sim->thread[i]->denied)
                                may_be[tenant->name[0] - 'a'] = true;
                for (struct sim_thread *other = next(sim, NULL); other; other = next(sim, other))
                        if (thread->cookie)
                                check_sharing(play, thread, other);
        }
        for (unsigned i = 0; i < PLAY_TENANTS; i++) {
                struct tenant *tenant = play_tenant(play, i);
                if (!tenant)
                        continue;
                if (honest && tenant->state != (denied[i] ? TENANT_DEGRADED : TENANT_ENFORCED) &&
                    !(may_be[i] && tenant->state == TENANT_DEGRADED))
                        play_fail(play, "%s is %s at rest: %s", tenant->name, tenant_state_word(tenant->state),
                                  tenant->reason ? tenant->reason : "no reason");
                for (unsigned j = 0; j < i; j++)
                        if (play_tenant(play, j) && tenant->cookie != 0 &&
                            play_tenant(play, j)->cookie == tenant->cookie)
                                play_fail(play, "%s and %s have one cookie", tenant->name, play_tenant(play, j)->name);
        }
        for (size_t i = 0; i < sim->n_cgroups; i++)
                if (!sim->cgroup[i]->removed && sim->cgroup[i]->freeze != sim->cgroup[i]->freeze_by_other)
                        play_fail(play, "%s is %s", sim->cgroup[i]->path,
                                  sim->cgroup[i]->freeze ? "left frozen" : "not frozen any more");
        if (sim_cookie(sim, SIM_DAEMON) != 0 || sim_cookie(sim, SIM_COURIER) != 0)
                play_fail(play, "a thread of the daemon keeps a cookie");
        if (sim->violation[0] != '\0')
                play_fail(play, "%s", sim->violation);
}
