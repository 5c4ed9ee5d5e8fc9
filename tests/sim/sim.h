/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A simulated kernel: cgroups, tasks, cookies, freezer, events, SMT and a clock of its own, behind the tables of
 * functions of daemon/kernel/kernel.h. It can make any call fail, and lets a hook change the world before any call.
 *
 * It also knows what the daemon may do. A delivery to a task that the daemon has no business with is written down in
 * `violation` (the first one), for the tests to look at. The functions here never call the hook. */
#include "kernel/kernel.h"

#define SIM_PID_MIN 300 /* of the tasks that are made; the daemon's own threads lie below */
#define SIM_DAEMON  100 /* the daemon's main thread; its courier and holder follow */
#define SIM_COURIER 101
#define SIM_HOLDER  102

struct sim_cookie {
        uint64_t number;
        size_t references;
        bool delivered; /* made by the daemon, or of a number that one of those had: it cannot tell them apart */
};

struct sim_cgroup {
        char *path;
        bool threaded;
        bool removed;
        bool watched;
        bool freeze;          /* cgroup.freeze now */
        bool freeze_by_other; /* what it would be without the daemon */
        usec_t freeze_since;
};

enum sim_stage {
        SIM_FORKING, /* holds a PID and a cookie, nobody heard of it */
        SIM_FORKED,  /* its fork event is out, it is in no cgroup's list, and reads "/" */
        SIM_LIVE,
        SIM_ZOMBIE, /* in no list, but its PID and its cookie are still there */
};

struct sim_thread {
        pid_t tid, tgid, parent_tid, parent_tgid;
        enum sim_stage stage;
        struct sim_cgroup *cgroup; /* where it is, or will be */
        struct sim_cookie *cookie; /* NULL: 0 */
        usec_t event_at, listed_at;
        usec_t freeze_delay; /* how long it takes to stop; USEC_INFINITY: for ever */
        bool kernel_thread;
        bool denied;     /* a security module answers EPERM */
        bool was_inside; /* is or was in a tenant, or its parent or an earlier task of its number was: may be touched */
        bool reused;     /* its number was that of a task in a tenant */
        bool stray;      /* carries what a delivery gave it, or its parent, while it was in no tenant */
        bool born_stray; /* ... and it was its parent */
        bool helped_self; /* took a cookie from another task */
        char comm[16];
};

enum sim_function {
        SIM_PROBE,
        SIM_GET,
        SIM_DELIVER,
        SIM_DELIVER_TARGET, /* one target of a delivery; the error is the target's own */
        SIM_HOLD,
        SIM_FIND,
        SIM_WALK,
        SIM_LIST,
        SIM_OF_TASK,
        SIM_FROZEN,
        SIM_FREEZE,
        SIM_LISTEN,
        SIM_PROC_NEXT,
        SIM_WATCH,
        SIM_CGROUP_NEXT,
        SIM_SMT_STATUS,
        SIM_REALTIME,
        SIM_TASK_INFO,
        _SIM_FUNCTION_MAX,
};

struct sim_fault {
        unsigned skip, count; /* the next `skip` calls go well, `count` more fail */
        int error;
};

struct sim_event {
        struct proc_event proc;
        enum cgroup_event_kind kind;
        char *path;
};

struct sim_queue {
        bool on;
        bool lost;
        struct sim_event *event;
        size_t first, n, allocated;
        size_t limit; /* more than these are lost; 0: no limit */
        int fd;       /* an eventfd, or -1 */
        bool readable;
};

struct sim {
        usec_t now;
        struct sim_thread **thread; /* by tid */
        pid_t pid_max, pid_next;
        size_t in_flight;
        bool *tid_was_inside;
        struct sim_cgroup **cgroup;
        size_t n_cgroups;
        char **inside; /* subtrees of tenants */

        uint64_t cookies_made;
        struct sim_cookie *dead; /* cookies that died */
        size_t n_dead;
        bool reuse_numbers;

        bool smt, supported, denied;
        char *smt_control;
        void (*smt_changed)(void *userdata);
        void *smt_userdata;
        bool sched_ext;
        bool realtime, realtime_denied;
        usec_t realtime_used;

        struct sim_queue proc_events, cgroup_events;
        char *last_path; /* of the last cgroup event given out */

        struct sim_fault fault[_SIM_FUNCTION_MAX];
        uint64_t calls;
        uint64_t fail_at; /* this call fails with fail_error; 0: none */
        int fail_error;
        unsigned calls_of[_SIM_FUNCTION_MAX];
        void (*hook)(struct sim *sim, enum sim_function function, void *userdata); /* before each call */
        void *userdata;

        char violation[256];
};

struct sim *sim_new(pid_t pid_max);
void sim_free(struct sim *sim);
static inline void sim_freep(struct sim **sim) {
        sim_free(*sim);
}
void sim_kernel(struct sim *sim, struct kernel *ret);

/* ---- cgroups; errors as those of the kernel ---- */

/* Parents are made as well. */
int sim_cgroup_add(struct sim *sim, const char *path, bool threaded);
/* -EBUSY: there are tasks, or cgroups, in it. */
int sim_cgroup_remove(struct sim *sim, const char *path);
struct sim_cgroup *sim_cgroup_find(const struct sim *sim, const char *path);
/* Somebody else than the daemon writes cgroup.freeze. -EBUSY while the daemon itself has frozen it. */
int sim_freeze(struct sim *sim, const char *path, bool freeze);
/* Tells the simulation that this subtree is a tenant's, or is one no more. */
void sim_inside(struct sim *sim, const char *path, bool inside);
bool sim_is_inside(const struct sim *sim, const struct sim_cgroup *cgroup);

/* ---- tasks ---- */

struct sim_thread *sim_thread(const struct sim *sim, pid_t tid);
/* A process of n threads, started by PID 1, at once; tid 0: the next one free. Its tid, or -ENOENT, -EEXIST, -EAGAIN.
 */
pid_t sim_spawn(struct sim *sim, pid_t tid, const char *path, unsigned n);
/* A thread (or, with `process`, a process) forks a child, into its own cgroup or `into`. The child's event comes after
 * event_after, and it is in its cgroup's list after listed_after (which is later). */
pid_t sim_fork(struct sim *sim, pid_t parent, bool process, const char *into, usec_t event_after, usec_t listed_after);
void sim_exec(struct sim *sim, pid_t tid);
/* The thread ends; a leader, or the last one, stays as a zombie until reaped. */
void sim_exit(struct sim *sim, pid_t tid);
void sim_kill(struct sim *sim, pid_t tgid, bool reap);
void sim_reap(struct sim *sim, pid_t tgid);
/* The thread's process, or the thread alone within a threaded domain. */
int sim_move(struct sim *sim, pid_t tid, const char *path);
/* Is it in the middle of a fork? It does nothing else then. */
bool sim_forks(const struct sim *sim, const struct sim_thread *thread);
bool sim_stopped(const struct sim *sim, const struct sim_thread *thread);

/* ---- cookies; as the prctl commands that a task uses on itself ---- */
int sim_create(struct sim *sim, pid_t tid, bool group);
int sim_share_from(struct sim *sim, pid_t tid, pid_t from);
uint64_t sim_cookie(const struct sim *sim, pid_t tid);

/* ---- the machine ---- */
void sim_smt(struct sim *sim, bool on);
/* Lets time pass: forks get on. */
void sim_advance(struct sim *sim, usec_t usec);
/* Loses the events that are queued. */
void sim_lose_events(struct sim *sim);
void sim_fail(struct sim *sim, enum sim_function function, unsigned skip, unsigned count, int error);
const char *sim_function_word(enum sim_function function);
/* _SIM_FUNCTION_MAX: none of that name. */
enum sim_function sim_function_from_word(const char *word);

/* ---- among the files of the simulation ---- */

/* p, of an allocation; ends the program when there was no memory. */
void *must(void *p);

/* Every call into the kernel begins with one of these: counts it, and gives the error that it is to fail with, or 0. */
int sim_begin(struct sim *sim, enum sim_function function);
int sim_find(struct sim *sim, enum sim_function function, const char *path, struct sim_cgroup **ret);
extern const struct proc_events_ops sim_proc_events_ops;
extern const struct cgroup_events_ops sim_cgroup_events_ops;
struct sim_cookie *sim_cookie_new(struct sim *sim, bool delivered);
/* Gives the slot another cookie (NULL: none), and lets go of the one before. */
void sim_cookie_set(struct sim *sim, struct sim_cookie **slot, struct sim_cookie *cookie);
/* The cgroup above; NULL for the root. */
struct sim_cgroup *sim_parent(const struct sim *sim, const struct sim_cgroup *cgroup);
struct sim_cgroup *sim_domain(const struct sim *sim, struct sim_cgroup *cgroup);
void sim_queue_proc(struct sim *sim, enum proc_event_kind kind, const struct sim_thread *thread);
void sim_queue_cgroup(struct sim *sim, enum cgroup_event_kind kind, const char *path);
void sim_queue_wake(struct sim_queue *queue);
void sim_queue_clear(struct sim_queue *queue);
void sim_violation(struct sim *sim, const char *format, ...) _printf_(2, 3);
