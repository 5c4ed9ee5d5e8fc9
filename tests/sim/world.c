// SPDX-License-Identifier: LGPL-2.1-or-later
/* The simulated kernel's world: what there is, and what its tasks do by themselves. A cookie lives as long as a task
 * holds it; a task in flight holds its PID and cookie before it is listed anywhere. */
#include "sim.h"
#include "strv.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

void *must(void *p) {
        if (!p)
                abort();
        return p;
}

void sim_violation(struct sim *sim, const char *format, ...) {
        va_list ap;
        if (sim->violation[0] != '\0')
                return;
        va_start(ap, format);
        vsnprintf(sim->violation, sizeof(sim->violation), format, ap);
        va_end(ap);
}

/* ---- cookies ---- */

struct sim_cookie *sim_cookie_new(struct sim *sim, bool delivered) {
        struct sim_cookie *cookie = must(calloc(1, sizeof(*cookie)));
        if (sim->reuse_numbers && sim->n_dead > 0)
                *cookie = sim->dead[--sim->n_dead];
        else
                cookie->number = ((++sim->cookies_made * UINT64_C(0x9e3779b1)) & UINT32_MAX) | 1;
        cookie->delivered = cookie->delivered || delivered;
        return cookie;
}

void sim_cookie_set(struct sim *sim, struct sim_cookie **slot, struct sim_cookie *cookie) {
        struct sim_cookie *old = *slot;
        if (cookie)
                cookie->references++;
        *slot = cookie;
        if (!old || --old->references > 0)
                return;
        sim->dead = must(reallocarray(sim->dead, sim->n_dead + 1, sizeof(*sim->dead)));
        sim->dead[sim->n_dead++] = *old;
        free(old);
}

/* Who carries what the daemon made may be cleared of it; and so may, by mistake, whoever has its number next. */
static void note_carrier(struct sim *sim, pid_t tid, const struct sim_cookie *cookie) {
        if (cookie && cookie->delivered)
                sim->tid_was_inside[tid] = true;
}

uint64_t sim_cookie(const struct sim *sim, pid_t tid) {
        const struct sim_thread *thread = sim_thread(sim, tid);
        return thread && thread->cookie ? thread->cookie->number : 0;
}

int sim_create(struct sim *sim, pid_t tid, bool group) {
        const struct sim_thread *caller = sim_thread(sim, tid);
        if (!sim->smt)
                return -ENODEV;
        if (!caller)
                return -ESRCH;
        struct sim_cookie *cookie = sim_cookie_new(sim, false);
        for (pid_t i = 1; i <= sim->pid_max; i++) {
                struct sim_thread *thread = sim->thread[i];
                if (!thread || (group ? thread->tgid != caller->tgid : thread != caller))
                        continue;
                sim_cookie_set(sim, &thread->cookie, cookie);
                thread->stray = false;
        }
        return 0;
}

int sim_share_from(struct sim *sim, pid_t tid, pid_t from) {
        struct sim_thread *thread = sim_thread(sim, tid), *source = sim_thread(sim, from);
        if (!sim->smt)
                return -ENODEV;
        if (!thread || !source)
                return -ESRCH;
        thread->helped_self = true;
        thread->stray = false;
        note_carrier(sim, tid, source->cookie);
        sim_cookie_set(sim, &thread->cookie, source->cookie);
        return 0;
}

/* ---- what is a tenant's ---- */

static void note_inside(struct sim *sim, struct sim_thread *thread) {
        if (!sim_is_inside(sim, thread->cgroup))
                return;
        thread->was_inside = true;
        thread->stray = false;
        sim->tid_was_inside[thread->tid] = true;
}

void sim_inside(struct sim *sim, const char *path, bool inside) {
        if (inside) {
                if (strv_extend(&sim->inside, path) < 0)
                        abort();
        } else {
                _cleanup_strv_ char **before = TAKE(sim->inside);
                for (char **p = before; p && *p; p++)
                        if (strcmp(*p, path) != 0 && strv_extend(&sim->inside, *p) < 0)
                                abort();
        }
        for (pid_t i = 1; i <= sim->pid_max; i++)
                if (sim->thread[i])
                        note_inside(sim, sim->thread[i]);
}

/* ---- tasks ---- */

struct sim_thread *sim_thread(const struct sim *sim, pid_t tid) {
        return tid > 0 && tid <= sim->pid_max ? sim->thread[tid] : NULL;
}

static pid_t free_tid(struct sim *sim) {
        for (pid_t i = SIM_PID_MIN; i <= sim->pid_max; i++) {
                pid_t tid = sim->pid_next;
                sim->pid_next = tid == sim->pid_max ? SIM_PID_MIN : tid + 1;
                if (!sim->thread[tid])
                        return tid;
        }
        return -EAGAIN;
}

static pid_t add_thread(struct sim *sim, pid_t tid, pid_t tgid, struct sim_cgroup *cgroup,
                        const struct sim_thread *parent) {
        if (tid == 0)
                tid = free_tid(sim);
        if (tid < 0)
                return tid;
        if (tid > sim->pid_max)
                return -EINVAL;
        if (sim->thread[tid])
                return -EEXIST;
        struct sim_thread *thread = must(calloc(1, sizeof(*thread)));
        *thread = (struct sim_thread){.tid = tid, .tgid = tgid ? tgid : tid, .stage = SIM_LIVE, .cgroup = cgroup};
        strcpy(thread->comm, "task");
        thread->parent_tid = thread->parent_tgid = 1;
        thread->reused = sim->tid_was_inside[tid];
        thread->was_inside = thread->reused || (parent && parent->was_inside);
        if (parent) {
                thread->parent_tid = parent->tid;
                thread->parent_tgid = parent->tgid;
                thread->denied = parent->denied;
                thread->freeze_delay = parent->freeze_delay;
                thread->helped_self = parent->helped_self;
                thread->stray = thread->born_stray = parent->stray;
                note_carrier(sim, tid, parent->cookie);
                sim_cookie_set(sim, &thread->cookie, parent->cookie);
        }
        sim->thread[tid] = thread;
        note_inside(sim, thread);
        return tid;
}

pid_t sim_spawn(struct sim *sim, pid_t tid, const char *path, unsigned n) {
        struct sim_cgroup *cgroup = sim_cgroup_find(sim, path);
        if (!cgroup)
                return -ENOENT;
        pid_t leader = add_thread(sim, tid, 0, cgroup, NULL);
        if (leader < 0)
                return leader;
        sim_queue_proc(sim, PROC_EVENT_FORK, sim->thread[leader]);
        for (unsigned i = 1; i < n; i++) {
                pid_t other = add_thread(sim, 0, leader, cgroup, sim->thread[leader]);
                if (other < 0)
                        return other;
                sim_queue_proc(sim, PROC_EVENT_FORK, sim->thread[other]);
        }
        if (cgroup->watched)
                sim_queue_cgroup(sim, CGROUP_EVENT_MOVED_IN, path);
        return leader;
}

pid_t sim_fork(struct sim *sim, pid_t parent, bool process, const char *into, usec_t event_after, usec_t listed_after) {
        struct sim_thread *from = sim_thread(sim, parent);
        if (!from || from->stage != SIM_LIVE)
                return -ESRCH;
        struct sim_cgroup *cgroup = into ? sim_cgroup_find(sim, into) : from->cgroup;
        if (!cgroup)
                return -ENOENT;
        pid_t tid = add_thread(sim, 0, process ? 0 : from->tgid, cgroup, from);
        if (tid < 0)
                return tid;
        struct sim_thread *child = sim->thread[tid];
        child->stage = SIM_FORKING;
        sim->in_flight++;
        child->event_at = sim->now + event_after;
        child->listed_at = sim->now + listed_after;
        sim_advance(sim, 0);
        return tid;
}

static void get_on(struct sim *sim, struct sim_thread *thread, bool land) {
        if (thread->stage == SIM_FORKING && (land || thread->event_at <= sim->now)) {
                thread->stage = SIM_FORKED;
                sim_queue_proc(sim, PROC_EVENT_FORK, thread);
        }
        if (thread->stage == SIM_FORKED && (land || thread->listed_at <= sim->now)) {
                thread->stage = SIM_LIVE;
                sim->in_flight--;
        }
}

/* A fork that is under way is one system call of the parent's: neither it nor the child ends or moves before it is
 * done. */
static void land(struct sim *sim, pid_t tgid) {
        for (pid_t i = SIM_PID_MIN; sim->in_flight > 0 && i <= sim->pid_max; i++)
                if (sim->thread[i] && (sim->thread[i]->tgid == tgid || sim->thread[i]->parent_tgid == tgid))
                        get_on(sim, sim->thread[i], true);
}

static void release(struct sim *sim, struct sim_thread *thread) {
        sim_cookie_set(sim, &thread->cookie, NULL);
        sim->thread[thread->tid] = NULL;
        free(thread);
}

static unsigned live_threads(const struct sim *sim, pid_t tgid) {
        unsigned n = 0;
        for (pid_t i = 1; i <= sim->pid_max; i++)
                n += sim->thread[i] && sim->thread[i]->tgid == tgid && sim->thread[i]->stage != SIM_ZOMBIE;
        return n;
}

void sim_exit(struct sim *sim, pid_t tid) {
        struct sim_thread *thread = sim_thread(sim, tid);
        if (!thread || thread->stage == SIM_ZOMBIE)
                return;
        land(sim, thread->tgid);
        sim_queue_proc(sim, PROC_EVENT_EXIT, thread);
        if (thread->tid == thread->tgid)
                thread->stage = SIM_ZOMBIE;
        else
                release(sim, thread);
}

void sim_reap(struct sim *sim, pid_t tgid) {
        struct sim_thread *leader = sim_thread(sim, tgid);
        if (leader && leader->stage == SIM_ZOMBIE && live_threads(sim, tgid) == 0)
                release(sim, leader);
}

void sim_kill(struct sim *sim, pid_t tgid, bool reap) {
        for (pid_t i = 1; i <= sim->pid_max; i++)
                if (sim->thread[i] && sim->thread[i]->tgid == tgid)
                        sim_exit(sim, i);
        if (reap)
                sim_reap(sim, tgid);
}

void sim_exec(struct sim *sim, pid_t tid) {
        struct sim_thread *thread = sim_thread(sim, tid);
        if (!thread || thread->stage != SIM_LIVE || thread->tid != thread->tgid)
                return;
        for (pid_t i = 1; i <= sim->pid_max; i++)
                if (i != tid && sim->thread[i] && sim->thread[i]->tgid == tid)
                        sim_exit(sim, i);
        sim_queue_proc(sim, PROC_EVENT_EXEC, thread);
}

int sim_move(struct sim *sim, pid_t tid, const char *path) {
        struct sim_thread *thread = sim_thread(sim, tid);
        struct sim_cgroup *cgroup = sim_cgroup_find(sim, path);
        if (!cgroup)
                return -ENOENT;
        if (!thread || thread->stage != SIM_LIVE)
                return -ESRCH;
        land(sim, thread->tgid);
        bool alone = sim_domain(sim, cgroup) == sim_domain(sim, thread->cgroup);
        if (cgroup->threaded && !alone)
                return -EOPNOTSUPP;
        for (pid_t i = 1; i <= sim->pid_max; i++) {
                struct sim_thread *other = sim->thread[i];
                if (!other || (alone ? other != thread : other->tgid != thread->tgid))
                        continue;
                other->cgroup = cgroup;
                note_inside(sim, other);
        }
        if (cgroup->watched)
                sim_queue_cgroup(sim, CGROUP_EVENT_MOVED_IN, path);
        return 0;
}

bool sim_forks(const struct sim *sim, const struct sim_thread *thread) {
        for (pid_t i = SIM_PID_MIN; sim->in_flight > 0 && i <= sim->pid_max; i++)
                if (sim->thread[i] && sim->thread[i]->parent_tid == thread->tid &&
                    (sim->thread[i]->stage == SIM_FORKING || sim->thread[i]->stage == SIM_FORKED))
                        return true;
        return false;
}

bool sim_stopped(const struct sim *sim, const struct sim_thread *thread) {
        if (thread->kernel_thread || thread->freeze_delay == USEC_INFINITY || thread->stage == SIM_ZOMBIE)
                return false;
        for (const struct sim_cgroup *c = thread->cgroup; c; c = sim_parent(sim, c))
                if (c->freeze && sim->now >= c->freeze_since + thread->freeze_delay)
                        return true;
        return false;
}

/* ---- the machine ---- */

void sim_smt(struct sim *sim, bool on) {
        sim->smt = on;
        free(sim->smt_control);
        sim->smt_control = must(strdup(on ? "on" : "off"));
        if (sim->smt_changed)
                sim->smt_changed(sim->smt_userdata);
}

void sim_advance(struct sim *sim, usec_t usec) {
        sim->now += usec;
        for (pid_t i = SIM_PID_MIN; sim->in_flight > 0 && i <= sim->pid_max; i++) {
                if (sim->thread[i])
                        get_on(sim, sim->thread[i], false);
        }
}

struct sim *sim_new(pid_t pid_max) {
        struct sim *sim = must(calloc(1, sizeof(*sim)));
        sim->pid_max = pid_max;
        sim->pid_next = SIM_PID_MIN;
        sim->thread = must(calloc((size_t) pid_max + 1, sizeof(struct sim_thread *)));
        sim->tid_was_inside = must(calloc((size_t) pid_max + 1, sizeof(bool)));
        sim->now = USEC_PER_SEC;
        sim->supported = true;
        sim->proc_events.fd = sim->cgroup_events.fd = -1;
        sim_smt(sim, true);
        (void) sim_cgroup_add(sim, "/", false);
        (void) sim_cgroup_add(sim, "/init.scope", false);
        (void) sim_cgroup_add(sim, "/system.slice/coreschedd.service", false);
        (void) sim_spawn(sim, 1, "/init.scope", 1);
        struct sim_cgroup *own = sim_cgroup_find(sim, "/system.slice/coreschedd.service");
        (void) add_thread(sim, SIM_DAEMON, 0, own, NULL);
        (void) add_thread(sim, SIM_COURIER, SIM_DAEMON, own, NULL);
        (void) add_thread(sim, SIM_HOLDER, SIM_DAEMON, own, NULL);
        return sim;
}

void sim_free(struct sim *sim) {
        if (!sim)
                return;
        for (pid_t i = 1; i <= sim->pid_max; i++)
                if (sim->thread[i])
                        release(sim, sim->thread[i]);
        for (size_t i = 0; i < sim->n_cgroups; i++) {
                free(sim->cgroup[i]->path);
                free(sim->cgroup[i]);
        }
        sim_queue_clear(&sim->proc_events);
        sim_queue_clear(&sim->cgroup_events);
        closep(&sim->proc_events.fd);
        closep(&sim->cgroup_events.fd);
        strv_free(sim->inside);
        free(sim->proc_events.event);
        free(sim->cgroup_events.event);
        free(sim->last_path);
        free(sim->thread);
        free(sim->tid_was_inside);
        free(sim->cgroup);
        free(sim->dead);
        free(sim->smt_control);
        free(sim);
}
