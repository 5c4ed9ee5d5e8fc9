/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of the real kernel share; nobody else includes this but their tests. Everything is made, called and
 * closed on one thread, the daemon's main one; the courier and the holder only do what it tells them. */
#include "failure.h"
#include "kernel.h"
#include <pthread.h>
#include <semaphore.h>
#include <systemd/sd-device.h>

/* The thread that carries cookies. It has cookie 0 whenever it waits. */
struct courier {
        bool running;
        pthread_t thread;
        pid_t tid;
        pid_t main_tid;
        sem_t go, done;
        struct delivery *job; /* NULL: end */
        int result;           /* of the job */
        bool stuck;           /* it could not take 0 back, and must end */
};

/* A thread that sleeps, with a cookie that was made for it. */
struct holder {
        bool running;
        pthread_t thread;
        pid_t tid;
        sem_t go, done;
};

struct scheduling {
        bool realtime;
        usec_t used; /* up to the last switch */
        usec_t main_since, courier_since;
};

/* smt.c's. */
struct smt_watch {
        sd_device_monitor *monitor;
        void (*changed)(void *userdata);
        void *userdata;
};

struct procevents; /* procevents.c */
struct cgwatch;    /* cgwatch.c */

struct real {
        int cgroup_fd; /* the hierarchy's root, O_PATH; -1: none */
        pthread_t main_thread;
        pid_t main_tid;
        struct courier courier;
        struct holder holder;
        struct scheduling scheduling;
        struct procevents *procevents;
        struct cgwatch *cgwatch;
        struct smt_watch smt_watch;
};

extern const struct cookie_ops real_cookie_ops;
extern const struct cgroup_ops real_cgroup_ops;
extern const struct proc_events_ops real_proc_events_ops;
extern const struct cgroup_events_ops real_cgroup_events_ops;
extern const struct smt_ops real_smt_ops;
extern const struct sched_ops real_sched_ops;

/* ---- cookie.c ---- */
int cookies_open(struct real *real, struct failure *f);
void cookies_close(struct real *real);

/* ---- thread.c ---- */
/* Starts a thread of the daemon: small stack, all signals blocked, ordinary scheduling. 0 or -ENOMEM. */
int thread_start(const char *name, void *(*run)(void *), void *userdata, pthread_t *ret);
/* Waits until it ended and the kernel has let go of the task: from then on it is in nobody's list. Bounded: a
 * tenth of a second after its end. */
void thread_join(pthread_t thread, pid_t tid);
void semaphore_wait(sem_t *semaphore);

/* ---- cgroup.c ---- */
/* mount: where cgroup v2 is mounted; NULL: to be found. */
int cgroups_open(struct real *real, const char *mount, struct failure *f);
void cgroups_close(struct real *real);
/* Opens the directory of a cgroup; paths may be longer than PATH_MAX. The descriptor, or -ENOENT, -ENOTDIR ... */
int cgroup_open(const struct real *real, const char *path, int flags);
/* Takes the numbers out of cgroup.procs' text, from *text to end, up to the last complete line; *text is moved behind
 * it. */
int pids_parse(struct pids *pids, const char **text, const char *end);

/* ---- task.c ---- */
int task_cgroup(void *data, pid_t tid, char **ret);
int task_info(void *data, pid_t tid, struct task_info *ret);
/* The path of the cgroup v2 line in /proc/TID/cgroup, newly allocated; -ENODATA when there is none. ` (deleted)` is
 * still on it. */
int cgroup_line_parse(const char *text, char **ret);
/* /proc/TID/stat: comm (cut), state and flags. -EBADMSG. */
int stat_parse(const char *text, char comm[static 16], char *ret_state, unsigned *ret_flags);

/* ---- sched.c ---- */
/* The courier ends, was started: real-time scheduling and what it used go with the daemon, not with the thread. */
void sched_courier_ends(struct real *real);
void sched_courier_started(struct real *real);

/* ---- procevents.c, cgwatch.c ---- */
int procevents_open(struct real *real, struct failure *f);
void procevents_close(struct real *real);
int cgwatch_open(struct real *real, struct failure *f);
void cgwatch_close(struct real *real);

/* ---- smt.c ---- */
void smt_close(struct real *real);
/* directory: "/sys/devices/system/cpu/smt", or a picture of it. */
/* The first line of a file of /sys. -ENOENT: this kernel has no such file. */
int read_word(const char *directory, const char *name, char *buf, size_t size);

int smt_read(const char *directory, char **ret_control, bool *ret_active);
