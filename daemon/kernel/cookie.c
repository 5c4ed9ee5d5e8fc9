// SPDX-License-Identifier: LGPL-2.1-or-later
/* Cookies, by prctl(PR_SCHED_CORE). The kernel hands cookies on only from and to the calling thread, so a thread of
 * their own, the courier, takes a cookie on, pushes it to the targets and takes 0 back. What always holds: the main
 * thread has cookie 0, and of the daemon's threads only the parked holder has another when a function here returns. */
#include "real.h"
#include <errno.h>
#include <linux/prctl.h>
#include <string.h>
#include <sys/prctl.h>

static int core(unsigned long command, pid_t tid, unsigned long scope, uint64_t *cookie) {
        return prctl(PR_SCHED_CORE, command, (unsigned long) tid, scope, (unsigned long) (uintptr_t) cookie) < 0
                       ? -errno
                       : 0;
}

/* tid 0 is the calling thread. */
static int core_get(pid_t tid, uint64_t *ret) {
        uint64_t cookie = 0; /* of 8-byte alignment, which the kernel asks for */
        int r;

        r = core(PR_SCHED_CORE_GET, tid, PR_SCHED_CORE_SCOPE_THREAD, &cookie);
        if (r >= 0)
                *ret = cookie;
        return r;
}

static int core_share_from(pid_t tid) {
        return core(PR_SCHED_CORE_SHARE_FROM, tid, PR_SCHED_CORE_SCOPE_THREAD, NULL);
}

/* Takes the cookie of a thread and sees whether it was 0. -EPERM when it was not. */
static int take_zero_from(pid_t tid) {
        uint64_t cookie = 0;
        int r;

        r = core_share_from(tid);
        if (r >= 0)
                r = core_get(0, &cookie);
        if (r < 0)
                return r;
        return cookie == 0 ? 0 : -EPERM;
}

/* The main thread's cookie is whoever started or tagged the daemon's doing: it is looked at before it is counted on. */
static int main_at_zero(struct real *real) {
        /* PID 1 and kthreadd, of which nobody has a reason to tag either */
        static const pid_t usually_zero[] = {1, 2};
        uint64_t cookie = 0;
        int r;

        r = core_get(0, &cookie);
        if (r < 0 || cookie == 0)
                return r;
        r = -EPERM;
        for (size_t i = 0; i < ELEMENTS(usually_zero) && r < 0; i++)
                r = take_zero_from(usually_zero[i]);
        if (r < 0)
                return r;
        /* Whoever tagged this thread most likely tagged all of ours. */
        if (real->courier.running)
                (void) core(PR_SCHED_CORE_SHARE_TO, real->courier.tid, PR_SCHED_CORE_SCOPE_THREAD, NULL);
        if (real->holder.running)
                (void) core(PR_SCHED_CORE_CREATE, real->holder.tid, PR_SCHED_CORE_SCOPE_THREAD, NULL);
        return 0;
}

/* ---- the courier, on its own thread ---- */

/* Makes the courier's cookie the one that is to be pushed. */
static int courier_load(const struct courier *courier, struct delivery *job) {
        uint64_t cookie = 0;
        int r;

        switch (job->kind) {
        case DELIVER_NEW:
                r = core(PR_SCHED_CORE_CREATE, 0, PR_SCHED_CORE_SCOPE_THREAD, NULL);
                break;
        case DELIVER_SHARE:
                r = core_share_from(job->source);
                break;
        case DELIVER_CLEAR:
                r = take_zero_from(courier->main_tid);
                break;
        default:
                return -EINVAL;
        }
        if (r >= 0)
                r = core_get(0, &cookie);
        if (r < 0)
                return r;
        if (job->kind == DELIVER_NEW && cookie == 0)
                return -EAGAIN; /* what the kernel shows is a keyed hash, and 0 until it has drawn the key */
        if (job->kind == DELIVER_SHARE && cookie != job->cookie)
                return -ESTALE;
        job->cookie = cookie;
        return 0;
}

static void fail_targets(struct delivery *job, size_t first, int error) {
        for (size_t i = first; i < job->n_targets; i++)
                job->targets[i].error = error;
}

static int courier_carry(const struct courier *courier, struct delivery *job) {
        unsigned long scope = job->by_thread ? PR_SCHED_CORE_SCOPE_THREAD : PR_SCHED_CORE_SCOPE_THREAD_GROUP;
        int r;

        r = courier_load(courier, job);
        if (r == -ENODEV)
                fail_targets(job, 0, -ENODEV);
        if (r < 0)
                return r;
        for (size_t i = 0; i < job->n_targets; i++) {
                struct delivery_target *target = &job->targets[i];

                /* 0 would be the courier itself */
                r = target->tid > 0 ? core(PR_SCHED_CORE_SHARE_TO, target->tid, scope, NULL) : -ESRCH;
                target->error = r;
                if (r == -ENODEV) {
                        fail_targets(job, i, -ENODEV);
                        return -ENODEV;
                }
        }
        return 0;
}

static void *courier_run(void *userdata) {
        struct courier *courier = userdata;

        courier->tid = gettid();
        sem_post(&courier->done);
        for (;;) {
                semaphore_wait(&courier->go);
                if (!courier->job)
                        return NULL;
                courier->result = courier_carry(courier, courier->job);
                courier->stuck = take_zero_from(courier->main_tid) < 0;
                sem_post(&courier->done);
        }
}

/* ---- the courier, seen from the main thread ---- */

static int courier_start(struct real *real) {
        struct courier *courier = &real->courier;
        int r;

        r = thread_start("courier", courier_run, courier, &courier->thread);
        if (r < 0)
                return r;
        semaphore_wait(&courier->done); /* the tid is known now */
        courier->running = true;
        courier->stuck = false;
        sched_courier_started(real);
        return 0;
}

static void courier_end(struct real *real) {
        struct courier *courier = &real->courier;

        if (!courier->running)
                return;
        sched_courier_ends(real);
        courier->running = false;
        courier->job = NULL;
        sem_post(&courier->go);
        thread_join(courier->thread, courier->tid);
}

/* ---- the holder ---- */

static void *holder_run(void *userdata) {
        struct holder *holder = userdata;

        holder->tid = gettid();
        sem_post(&holder->done);
        semaphore_wait(&holder->go);
        return NULL;
}

static void holder_end(struct holder *holder) {
        if (!holder->running)
                return;
        holder->running = false;
        /* Cleared first, so that the cookie is gone now and not when the last of the dead task is; without SMT, where
         * that is refused, it goes with the task. */
        (void) core(PR_SCHED_CORE_SHARE_TO, holder->tid, PR_SCHED_CORE_SCOPE_THREAD, NULL);
        sem_post(&holder->go);
        thread_join(holder->thread, holder->tid);
}

/* ---- the table ---- */

static int cookie_probe(void *data) {
        uint64_t cookie;

        return core_get(0, &cookie);
}

static int cookie_get(void *data, pid_t tid, uint64_t *ret) {
        return tid > 0 ? core_get(tid, ret) : -EINVAL;
}

static int cookie_deliver(void *data, struct delivery *job) {
        struct real *real = data;
        struct courier *courier = &real->courier;
        int r;

        if (job->kind == DELIVER_SHARE && (job->source <= 0 || job->cookie == 0))
                return -EINVAL;
        r = main_at_zero(real);
        if (r < 0) {
                if (r == -ENODEV)
                        fail_targets(job, 0, -ENODEV);
                return r;
        }
        if (!courier->running) {
                r = courier_start(real);
                if (r < 0)
                        return r;
        }
        courier->job = job;
        sem_post(&courier->go);
        semaphore_wait(&courier->done);
        r = courier->result;
        if (courier->stuck) {
                courier_end(real);
                (void) courier_start(real); /* or at the next job */
        }
        return r;
}

static int cookie_hold(void *data, bool held) {
        struct real *real = data;
        struct holder *holder = &real->holder;
        uint64_t cookie = 0;
        int r;

        if (!held) {
                holder_end(holder);
                return 0;
        }
        if (holder->running) {
                r = core_get(holder->tid, &cookie);
                if (r == -ENODEV || cookie != 0) /* cookies outlast a time without SMT */
                        return 0;
        }
        r = main_at_zero(real);
        if (r < 0)
                return r;
        if (!holder->running) {
                r = thread_start("holder", holder_run, holder, &holder->thread);
                if (r < 0)
                        return r;
                semaphore_wait(&holder->done);
                holder->running = true;
        }
        r = core(PR_SCHED_CORE_CREATE, holder->tid, PR_SCHED_CORE_SCOPE_THREAD, NULL);
        if (r < 0)
                holder_end(holder);
        return r;
}

const struct cookie_ops real_cookie_ops = {
        .probe = cookie_probe,
        .get = cookie_get,
        .deliver = cookie_deliver,
        .hold = cookie_hold,
};

int cookies_open(struct real *real, struct failure *f) {
        int r;

        sem_init(&real->courier.go, 0, 0);
        sem_init(&real->courier.done, 0, 0);
        sem_init(&real->holder.go, 0, 0);
        sem_init(&real->holder.done, 0, 0);
        real->courier.main_tid = real->main_tid;

        r = main_at_zero(real);
        if (r < 0 && r != -ENODEV && r != -EINVAL)
                return fail(f, FAILURE_NOT_PERMITTED, r,
                            "The daemon itself carries a core-scheduling cookie, and cannot take 0 from PID 1 or "
                            "kthreadd (%s): start it from a task that has none, as a system service does",
                            strerrordesc_np(-r));
        r = courier_start(real);
        if (r < 0)
                return fail(f, FAILURE_FAILED, r, "Cannot start a thread: %s", strerrordesc_np(-r));
        return 0;
}

void cookies_close(struct real *real) {
        courier_end(real);
        holder_end(&real->holder);
        sem_destroy(&real->courier.go);
        sem_destroy(&real->courier.done);
        sem_destroy(&real->holder.go);
        sem_destroy(&real->holder.done);
}
