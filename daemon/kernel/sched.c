// SPDX-License-Identifier: LGPL-2.1-or-later
/* Real-time scheduling of the daemon's main thread and courier. What always holds: threads and processes that they
 * start are scheduled as all others are (SCHED_RESET_ON_FORK), and what they used is counted across a change of
 * couriers. */
#include "real.h"
#include <errno.h>
#include <sched.h>

static usec_t cpu_time(pthread_t thread) {
        clockid_t clock;

        return pthread_getcpuclockid(thread, &clock) == 0 ? usec_now(clock) : 0;
}

static int set(pid_t tid, bool on) {
        /* The flag stays when real-time ends: to take it off needs a privilege, and it does nothing then. */
        int policy = (on ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK;

        return sched_setscheduler(tid, policy, &(struct sched_param){.sched_priority = on ? 1 : 0}) < 0 ? -errno : 0;
}

static usec_t used_by_courier(const struct real *real) {
        return real->courier.running ? cpu_time(real->courier.thread) - real->scheduling.courier_since : 0;
}

static usec_t sched_realtime_used(void *data) {
        const struct real *real = data;
        const struct scheduling *s = &real->scheduling;

        if (!s->realtime)
                return s->used;
        return s->used + cpu_time(real->main_thread) - s->main_since + used_by_courier(real);
}

static int sched_realtime(void *data, bool on) {
        struct real *real = data;
        struct scheduling *s = &real->scheduling;
        int r;

        if (on == s->realtime)
                return 0;
        r = set(real->main_tid, on);
        if (r < 0)
                return r;
        if (real->courier.running) {
                r = set(real->courier.tid, on);
                if (r < 0) {
                        (void) set(real->main_tid, !on);
                        return r;
                }
        }
        s->used = sched_realtime_used(real);
        s->realtime = on;
        s->main_since = cpu_time(real->main_thread);
        s->courier_since = real->courier.running ? cpu_time(real->courier.thread) : 0;
        return 0;
}

void sched_courier_ends(struct real *real) {
        if (real->scheduling.realtime)
                real->scheduling.used += used_by_courier(real);
}

void sched_courier_started(struct real *real) {
        if (!real->scheduling.realtime)
                return;
        (void) set(real->courier.tid, true); /* refused: it works all the same, only later */
        real->scheduling.courier_since = cpu_time(real->courier.thread);
}

static bool sched_sched_ext(void *data) {
        char state[16] = "disabled";

        /* What cannot be read, or does not exist, is not loaded. */
        (void) read_word("/sys/kernel/sched_ext", "state", state, sizeof(state));
        return strcmp(state, "disabled") != 0;
}

const struct sched_ops real_sched_ops = {
        .realtime = sched_realtime,
        .realtime_used = sched_realtime_used,
        .sched_ext = sched_sched_ext,
};
