/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Everything that the daemon asks of the kernel, as tables of functions. The files of this folder fill them with
 * the real thing, tests/sim with a simulated one; no other room touches the kernel.
 *
 * All errors are negative errno. What a function gives back is untouched when it fails. A cgroup path is absolute
 * within the cgroup v2 hierarchy ("/machine.slice/x.scope"; the root is "/"), of any bytes but NUL. */
#include "pids.h"
#include "util.h"
#include <stdbool.h>
#include <systemd/sd-event.h>

/* ---- cookies: prctl(PR_SCHED_CORE) ---- */

enum delivery_kind {
        DELIVER_NEW,   /* a cookie that nobody has yet */
        DELIVER_SHARE, /* the cookie that thread `source` carries, if it still is `cookie` */
        DELIVER_CLEAR, /* cookie 0 */
};

struct delivery_target {
        pid_t tid;
        int error; /* filled in: 0 or negative errno (-ESRCH: gone, -EPERM: a security module refuses) */
};

/* A job for the courier, the thread that carries cookies to tasks. */
struct delivery {
        enum delivery_kind kind;
        pid_t source;    /* DELIVER_SHARE: a thread that should carry `cookie` */
        uint64_t cookie; /* DELIVER_SHARE: what it should be; filled in: what was delivered */
        bool by_thread;  /* each target alone, instead of its whole thread group */
        struct delivery_target *targets;
        size_t n_targets;
};

struct cookie_ops {
        /* Is core scheduling to be had? 0, -ENODEV (SMT is not active), -EINVAL (not in this kernel), -EPERM. Asks the
         * kernel anew each time: the answer changes with SMT. */
        int (*probe)(void *data);

        /* The cookie of one thread as the kernel shows it, 0 for none: good for comparing tasks that live at the same
         * time, no lasting identity. -ESRCH, -EPERM, -ENODEV, -EINVAL. */
        int (*get)(void *data, pid_t tid, uint64_t *ret);

        /* Carries out a job. 0: it was gone through, and each target has its own outcome. -ESRCH: the source is gone,
         * -ESTALE: the source carries another cookie than expected: no target was touched. -ENODEV: SMT went off, maybe
         * half-way: targets not reached have -ENODEV too. -ENOMEM, -EINVAL, -EPERM: no target was touched; nor with
         * -EAGAIN: too early after boot, the kernel shows all cookies as 0.
         * However it ends, no thread of the daemon keeps the cookie. */
        int (*deliver)(void *data, struct delivery *job);

        /* Parks, or ends, a thread of the daemon that carries a cookie of nobody else's: the kernel then does not
         * switch core scheduling off and on between tags. Idempotent. 0, or as deliver. */
        int (*hold)(void *data, bool held);
};

/* ---- cgroups ---- */

/* Called for the cgroup itself and each one below it, parents first. A result other than 0 ends the walk, and is its
 * result. */
typedef int (*cgroup_visit_t)(const char *path, void *userdata);

struct cgroup_ops {
        /* 0; -ENOENT: nothing there; -ENOTDIR: a file, or no cgroup; -ENAMETOOLONG. */
        int (*find)(void *data, const char *path);

        /* What vanishes meanwhile is left out; -ENOENT when path itself is not there. */
        int (*walk)(void *data, const char *path, cgroup_visit_t visit, void *userdata);

        /* Appends to pids what cgroup.procs (or, with threads, cgroup.threads) lists of this cgroup alone, in the
         * kernel's order. -ENOENT and -ENODEV: it vanished; -EOPNOTSUPP: processes of a threaded cgroup. Nothing is
         * appended on error. */
        int (*list)(void *data, const char *path, bool threads, struct pids *pids);

        /* The cgroup of a thread, newly allocated. -ESRCH when it is gone; -ENAMETOOLONG. Costs 15 to 124 us: not for
         * hot paths. */
        int (*of_task)(void *data, pid_t tid, char **ret);

        /* cgroup.freeze (what is asked for) and cgroup.events' frozen (what is). */
        int (*frozen)(void *data, const char *path, bool *ret_asked, bool *ret_frozen);
        int (*freeze)(void *data, const char *path, bool freeze);
};

/* ---- tasks ---- */

struct task_info {
        pid_t tgid;
        bool kernel_thread;
        /* In the freezer, or else unable to run user code until it is thawed. Says so only of a task in a cgroup that
         * was asked to freeze; of another it means that the task is not running just now. */
        bool stopped;
        char comm[16];
};

/* ---- events ---- */

enum proc_event_kind {
        PROC_EVENT_FORK, /* a new thread or process */
        PROC_EVENT_EXEC,
        PROC_EVENT_EXIT,
};

struct proc_event {
        enum proc_event_kind kind;
        pid_t tid, tgid;               /* of the child, for a fork */
        pid_t parent_tid, parent_tgid; /* fork only; of a new thread: its process */
};

struct proc_events_ops {
        /* Starts, or ends, listening. When it returns, every later fork is reported. Idempotent. */
        int (*listen)(void *data, bool on);

        /* A descriptor that is readable when there are events; -1 while not listening. */
        int (*fd)(void *data);

        /* 1: *ret is the next event; 0: none queued now; -ENOBUFS: some were lost, everything must be looked at again
         * (listening goes on). Never blocks. */
        int (*next)(void *data, struct proc_event *ret);
};

enum cgroup_event_kind {
        CGROUP_EVENT_CREATED, /* path is the new cgroup */
        CGROUP_EVENT_REMOVED,
        CGROUP_EVENT_MOVED_IN, /* cgroup.procs or cgroup.threads of path was written */
};

struct cgroup_event {
        enum cgroup_event_kind kind;
        const char *path; /* valid until the next call */
};

struct cgroup_events_ops {
        /* Watches one cgroup: children created and removed in it, and writes to its cgroup.procs and cgroup.threads.
         * Idempotent. -ENOENT, -ENOSPC (out of inotify watches). */
        int (*watch)(void *data, const char *path);
        void (*unwatch)(void *data, const char *path);
        /* Ends all watches, and forgets the events that are queued. */
        void (*forget)(void *data);
        int (*fd)(void *data);
        /* As proc_events_ops.next. */
        int (*next)(void *data, struct cgroup_event *ret);
};

/* ---- SMT ---- */

struct smt_ops {
        /* smt/control as it reads ("notsupported" when the kernel has no such file), newly allocated, and smt/active.
         */
        int (*status)(void *data, char **ret_control, bool *ret_active);

        /* From now on calls back, on the loop, whenever a CPU was brought up or taken down: SMT may have changed then.
         * Once for each kernel. Where the host tells of no such events, nothing is called. */
        int (*watch)(void *data, sd_event *event, void (*changed)(void *userdata), void *userdata);
};

/* ---- the daemon's own scheduling ---- */

struct sched_ops {
        /* Real-time (SCHED_FIFO 1) or ordinary scheduling for the daemon's main and courier threads. */
        int (*realtime)(void *data, bool on);
        /* CPU time that those threads have used under real-time scheduling so far, microseconds. */
        usec_t (*realtime_used)(void *data);
        /* Is a BPF scheduler (sched_ext) loaded? */
        bool (*sched_ext)(void *data);
};

struct kernel {
        const struct cookie_ops *cookie;
        const struct cgroup_ops *cgroup;
        const struct proc_events_ops *proc_events;
        const struct cgroup_events_ops *cgroup_events;
        const struct smt_ops *smt;
        const struct sched_ops *sched;
        /* -ESRCH when the thread is gone. */
        int (*task_info)(void *data, pid_t tid, struct task_info *ret);
        char release[65]; /* uname's, "6.1.192" */
        void *data;       /* handed to every function */
};

/* The real kernel: cgroup v2 at its mount point, threads started. 0 or negative errno with the reason. */
struct failure;
int kernel_open(struct kernel *ret, struct failure *f);
void kernel_close(struct kernel *kernel);
