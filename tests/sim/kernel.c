// SPDX-License-Identifier: LGPL-2.1-or-later
/* The simulated kernel's face: the tables of functions. Each call is counted, lets the hook change the world, takes two
 * microseconds, and may be made to fail before it has done anything. */
#include "selector.h"
#include "sim.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

#define CALL_TIME 2

static const char *const function_word[_SIM_FUNCTION_MAX] = {
        [SIM_PROBE] = "probe",
        [SIM_GET] = "get",
        [SIM_DELIVER] = "deliver",
        [SIM_DELIVER_TARGET] = "deliver-target",
        [SIM_HOLD] = "hold",
        [SIM_FIND] = "find",
        [SIM_WALK] = "walk",
        [SIM_LIST] = "list",
        [SIM_OF_TASK] = "of-task",
        [SIM_FROZEN] = "frozen",
        [SIM_FREEZE] = "freeze",
        [SIM_LISTEN] = "listen",
        [SIM_PROC_NEXT] = "proc-next",
        [SIM_WATCH] = "watch",
        [SIM_CGROUP_NEXT] = "cgroup-next",
        [SIM_SMT_STATUS] = "smt-status",
        [SIM_REALTIME] = "realtime",
        [SIM_TASK_INFO] = "task-info",
};

const char *sim_function_word(enum sim_function function) {
        return function_word[function];
}

enum sim_function sim_function_from_word(const char *word) {
        for (int i = 0; i < _SIM_FUNCTION_MAX; i++)
                if (strcmp(word, function_word[i]) == 0)
                        return i;
        return _SIM_FUNCTION_MAX;
}

void sim_fail(struct sim *sim, enum sim_function function, unsigned skip, unsigned count, int error) {
        sim->fault[function] = (struct sim_fault){.skip = skip, .count = count, .error = error};
}

int sim_begin(struct sim *sim, enum sim_function function) {
        struct sim_fault *fault = &sim->fault[function];
        sim->calls++;
        sim->calls_of[function]++;
        if (sim->hook)
                sim->hook(sim, function, sim->userdata);
        sim_advance(sim, CALL_TIME);
        if (sim->realtime)
                sim->realtime_used += CALL_TIME;
        if (sim->calls == sim->fail_at)
                return sim->fail_error;
        if (fault->skip > 0)
                fault->skip--;
        else if (fault->count > 0) {
                fault->count--;
                return fault->error;
        }
        return 0;
}

/* ---- cookies ---- */

static int core_scheduling(const struct sim *sim) {
        if (!sim->supported)
                return -EINVAL;
        if (!sim->smt)
                return -ENODEV;
        return sim->denied ? -EPERM : 0;
}

static int op_probe(void *data) {
        struct sim *sim = data;
        int r = sim_begin(sim, SIM_PROBE);
        return r < 0 ? r : core_scheduling(sim);
}

static int op_get(void *data, pid_t tid, uint64_t *ret) {
        struct sim *sim = data;
        int r = sim_begin(sim, SIM_GET);
        if (r == 0)
                r = core_scheduling(sim);
        if (r < 0)
                return r;
        const struct sim_thread *thread = sim_thread(sim, tid);
        if (!thread)
                return -ESRCH;
        if (thread->denied)
                return -EPERM;
        *ret = sim_cookie(sim, tid);
        return 0;
}

/* Has the daemon any business with this thread, which it reaches through target? */
static void check_touch(struct sim *sim, const struct delivery *job, const struct sim_thread *target,
                        struct sim_thread *thread) {
        if (target->reused)
                thread->was_inside = true; /* a stranger, by the number of one inside: it must get 0 back */
        if (job->kind == DELIVER_CLEAR && !thread->cookie)
                return; /* it was, with its group: nothing changes */
        if (thread->was_inside || (job->kind == DELIVER_CLEAR && thread->cookie && thread->cookie->delivered))
                return;
        sim_violation(sim, "call %llu: thread %d of %d in %s, which carries %llx, was %s, through %d",
                      (unsigned long long) sim->calls, (int) thread->tid, (int) thread->tgid, thread->cgroup->path,
                      (unsigned long long) sim_cookie(sim, thread->tid),
                      job->kind == DELIVER_CLEAR ? "cleared" : "given a cookie", (int) target->tid);
}

static int share_to(struct sim *sim, const struct delivery *job, pid_t tid, struct sim_cookie *cookie) {
        struct sim_thread *target = sim_thread(sim, tid);
        if (!target)
                return -ESRCH;
        pid_t first = job->by_thread ? tid : 1, last = job->by_thread ? tid : sim->pid_max;
        for (pid_t i = first; i <= last; i++)
                if (sim->thread[i] && sim->thread[i]->tgid == target->tgid && sim->thread[i]->denied)
                        return -EPERM;
        for (pid_t i = first; i <= last; i++)
                if (sim->thread[i] && sim->thread[i]->tgid == target->tgid) {
                        check_touch(sim, job, target, sim->thread[i]);
                        sim->thread[i]->stray = cookie && !sim_is_inside(sim, sim->thread[i]->cgroup);
                        sim_cookie_set(sim, &sim->thread[i]->cookie, cookie);
                }
        return 0;
}

static int op_deliver(void *data, struct delivery *job) {
        struct sim *sim = data;
        struct sim_cookie **carried = &sim->thread[SIM_COURIER]->cookie;
        int r = sim_begin(sim, SIM_DELIVER);
        if (r == 0)
                r = core_scheduling(sim);
        if (r < 0)
                return r;
        if (job->kind == DELIVER_NEW)
                sim_cookie_set(sim, carried, sim_cookie_new(sim, true));
        else if (job->kind == DELIVER_SHARE) {
                const struct sim_thread *source = sim_thread(sim, job->source);
                if (!source)
                        return -ESRCH;
                if (source->denied)
                        return -EPERM;
                if (job->cookie == 0 || sim_cookie(sim, job->source) != job->cookie)
                        return -ESTALE;
                sim_cookie_set(sim, carried, source->cookie);
        }
        struct sim_cookie *cookie = *carried;
        if (job->kind != DELIVER_SHARE)
                job->cookie = cookie ? cookie->number : 0;
        for (size_t i = 0; i < job->n_targets; i++) {
                struct delivery_target *target = job->targets + i;
                target->error = sim_begin(sim, SIM_DELIVER_TARGET);
                if (target->error == 0)
                        target->error = sim->smt ? share_to(sim, job, target->tid, cookie) : -ENODEV;
                if (target->error == -ENODEV)
                        r = -ENODEV;
        }
        sim_cookie_set(sim, carried, NULL);
        return r;
}

static int op_hold(void *data, bool held) {
        struct sim *sim = data;
        struct sim_cookie **slot = &sim->thread[SIM_HOLDER]->cookie;
        int r = sim_begin(sim, SIM_HOLD);
        if (r < 0)
                return r;
        if (!held)
                sim_cookie_set(sim, slot, NULL);
        else if (!*slot) {
                r = core_scheduling(sim);
                if (r == 0)
                        sim_cookie_set(sim, slot, sim_cookie_new(sim, false));
        }
        return r;
}

/* ---- cgroups ---- */

int sim_find(struct sim *sim, enum sim_function function, const char *path, struct sim_cgroup **ret) {
        int r = sim_begin(sim, function);
        if (r < 0)
                return r;
        struct sim_cgroup *cgroup = sim_cgroup_find(sim, path);
        if (cgroup) {
                *ret = cgroup;
                return 0;
        }
        const char *name = strrchr(path, '/');
        return name && strncmp(name, "/cgroup.", 8) == 0 ? -ENOTDIR : -ENOENT;
}

static int op_find(void *data, const char *path) {
        struct sim_cgroup *cgroup;
        return sim_find(data, SIM_FIND, path, &cgroup);
}

static int compare_paths(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

static int op_walk(void *data, const char *path, cgroup_visit_t visit, void *userdata) {
        struct sim *sim = data;
        struct sim_cgroup *top;
        _cleanup_strv_ char **paths = NULL;
        int r = sim_find(sim, SIM_WALK, path, &top);
        for (size_t i = 0; r == 0 && i < sim->n_cgroups; i++)
                if (!sim->cgroup[i]->removed && cgroup_path_within(sim->cgroup[i]->path, path))
                        r = strv_extend(&paths, sim->cgroup[i]->path);
        if (r < 0 || !paths)
                return r;
        qsort(paths, strv_length(paths), sizeof(*paths), compare_paths);
        for (char **p = paths; *p && r == 0; p++)
                if (sim_cgroup_find(sim, *p))
                        r = visit(*p, userdata);
        return r;
}

static bool listed(const struct sim *sim, const struct sim_thread *thread, struct sim_cgroup *cgroup, bool threads) {
        if (threads)
                return thread->stage == SIM_LIVE && thread->cgroup == cgroup;
        if (thread->tid != thread->tgid || sim_domain(sim, thread->cgroup) != cgroup)
                return false;
        if (thread->stage == SIM_LIVE)
                return true;
        for (pid_t i = 1; thread->stage == SIM_ZOMBIE && i <= sim->pid_max; i++)
                if (sim->thread[i] && sim->thread[i]->tgid == thread->tgid && sim->thread[i]->stage == SIM_LIVE)
                        return true; /* a leader that ended before the others */
        return false;
}

static int op_list(void *data, const char *path, bool threads, struct pids *pids) {
        struct sim *sim = data;
        struct sim_cgroup *cgroup;
        size_t before = pids->n;
        int r = sim_find(sim, SIM_LIST, path, &cgroup);
        if (r == -ENOENT && sim->now % 4 == 0)
                return -ENODEV; /* it vanished after it was opened */
        if (r < 0)
                return r;
        if (!threads && cgroup->threaded)
                return -EOPNOTSUPP;
        bool backwards = sim->now & 64; /* no order is promised */
        for (pid_t i = 1; i <= sim->pid_max && r == 0; i++) {
                const struct sim_thread *thread = sim->thread[backwards ? sim->pid_max + 1 - i : i];
                if (thread && listed(sim, thread, cgroup, threads))
                        r = pids_add(pids, thread->tid);
        }
        if (r < 0)
                pids->n = before;
        return r;
}

static int op_of_task(void *data, pid_t tid, char **ret) {
        struct sim *sim = data;
        int r = sim_begin(sim, SIM_OF_TASK);
        if (r < 0)
                return r;
        const struct sim_thread *thread = sim_thread(sim, tid == getpid() ? SIM_DAEMON : tid);
        if (!thread)
                return -ESRCH;
        bool in_flight = thread->stage == SIM_FORKING || thread->stage == SIM_FORKED;
        char *path = strdup(in_flight ? "/" : thread->cgroup->path);
        if (!path)
                return -ENOMEM;
        *ret = path;
        return 0;
}

static int op_frozen(void *data, const char *path, bool *ret_asked, bool *ret_frozen) {
        struct sim *sim = data;
        struct sim_cgroup *cgroup;
        int r = sim_find(sim, SIM_FROZEN, path, &cgroup);
        if (r < 0)
                return r;
        bool frozen = cgroup->freeze;
        for (size_t i = 0; !frozen && i < sim->n_cgroups; i++)
                frozen = !sim->cgroup[i]->removed && sim->cgroup[i]->freeze &&
                         cgroup_path_within(path, sim->cgroup[i]->path);
        for (pid_t i = 1; frozen && i <= sim->pid_max; i++) {
                const struct sim_thread *thread = sim->thread[i];
                if (thread && thread->stage == SIM_LIVE && cgroup_path_within(thread->cgroup->path, path))
                        frozen = sim_stopped(sim, thread);
        }
        *ret_asked = cgroup->freeze;
        *ret_frozen = frozen;
        return 0;
}

static int op_freeze(void *data, const char *path, bool freeze) {
        struct sim *sim = data;
        struct sim_cgroup *cgroup;
        int r = sim_find(sim, SIM_FREEZE, path, &cgroup);
        if (r < 0)
                return r;
        if (freeze && !sim_is_inside(sim, cgroup))
                sim_violation(sim, "%s, which is no tenant's, was frozen", path);
        if (!freeze && cgroup->freeze_by_other)
                sim_violation(sim, "%s, which somebody else had frozen, was thawed", path);
        if (freeze != cgroup->freeze)
                cgroup->freeze_since = sim->now;
        cgroup->freeze = freeze;
        return 0;
}

/* ---- the rest ---- */

static int op_status(void *data, char **ret_control, bool *ret_active) {
        struct sim *sim = data;
        int r = sim_begin(sim, SIM_SMT_STATUS);
        if (r < 0)
                return r;
        char *control = strdup(sim->smt_control);
        if (!control)
                return -ENOMEM;
        *ret_control = control;
        *ret_active = sim->smt;
        return 0;
}

static int op_smt_watch(void *data, sd_event *event, void (*changed)(void *userdata), void *userdata) {
        struct sim *sim = data;
        sim->smt_changed = changed;
        sim->smt_userdata = userdata;
        return 0;
}

static int op_realtime(void *data, bool on) {
        struct sim *sim = data;
        int r = sim_begin(sim, SIM_REALTIME);
        if (r < 0)
                return r;
        if (sim->realtime_denied)
                return -EPERM;
        sim->realtime = on;
        return 0;
}

static bool op_sched_ext(void *data) {
        return ((struct sim *) data)->sched_ext;
}

static usec_t op_realtime_used(void *data) {
        return ((struct sim *) data)->realtime_used;
}

static int op_task_info(void *data, pid_t tid, struct task_info *ret) {
        struct sim *sim = data;
        int r = sim_begin(sim, SIM_TASK_INFO);
        if (r < 0)
                return r;
        const struct sim_thread *thread = sim_thread(sim, tid);
        if (!thread)
                return -ESRCH;
        *ret = (struct task_info){
                .tgid = thread->tgid, .kernel_thread = thread->kernel_thread, .stopped = sim_stopped(sim, thread)};
        memcpy(ret->comm, thread->comm, sizeof(ret->comm));
        return 0;
}

void sim_kernel(struct sim *sim, struct kernel *ret) {
        static const struct cookie_ops cookie = {op_probe, op_get, op_deliver, op_hold};
        static const struct cgroup_ops cgroup = {op_find, op_walk, op_list, op_of_task, op_frozen, op_freeze};
        static const struct smt_ops smt = {op_status, op_smt_watch};
        static const struct sched_ops sched = {op_realtime, op_realtime_used, op_sched_ext};
        *ret = (struct kernel){.cookie = &cookie,
                               .cgroup = &cgroup,
                               .proc_events = &sim_proc_events_ops,
                               .cgroup_events = &sim_cgroup_events_ops,
                               .smt = &smt,
                               .sched = &sched,
                               .task_info = op_task_info,
                               .data = sim};
}
