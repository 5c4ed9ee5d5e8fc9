// SPDX-License-Identifier: LGPL-2.1-or-later
/* smt_ops and sched_ops on a real kernel, and cookies while SMT is switched. */
#include "kernel-check.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <systemd/sd-event.h>

/* ---- scheduling ---- */

static int count_realtime(pid_t tid, void *userdata) {
        *(unsigned *) userdata += sched_getscheduler(tid) == (SCHED_FIFO | SCHED_RESET_ON_FORK);
        return 0;
}

static void burn(usec_t how_long) {
        for (usec_t end = now() + how_long; now() < end;)
                ;
}

static void *own_policy(void *userdata) {
        *(int *) userdata = sched_getscheduler(0);
        return NULL;
}

static void realtime(void) {
        unsigned n = 0;
        usec_t before, used;
        pthread_t thread;
        int policy = -1;

        before = kernel.sched->realtime_used(kernel.data);
        burn(20000);
        CHECK_IS(kernel.sched->realtime_used(kernel.data), before);
        CHECK_IS(kernel.sched->realtime(kernel.data, true), 0);
        CHECK_IS(kernel.sched->realtime(kernel.data, true), 0);
        CHECK_IS(sched_getscheduler(0), SCHED_FIFO | SCHED_RESET_ON_FORK);
        (void) each_thread(getpid(), count_realtime, &n);
        CHECK_IS(n, 2);
        CHECK_IS(pthread_create(&thread, NULL, own_policy, &policy), 0);
        pthread_join(thread, NULL);
        CHECK_IS(policy, SCHED_OTHER);
        burn(50000);
        used = kernel.sched->realtime_used(kernel.data) - before;
        CHECK(used > 1000);
        CHECK_IS(kernel.sched->realtime(kernel.data, false), 0);
        used = kernel.sched->realtime_used(kernel.data);
        burn(20000);
        CHECK_IS(kernel.sched->realtime_used(kernel.data), used);
        CHECK_IS(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
        n = 0;
        (void) each_thread(getpid(), count_realtime, &n);
        CHECK_IS(n, 0);
}

/* ---- SMT goes off in the middle ---- */

struct toggler {
        volatile bool stop;
        unsigned times;
};

static int set_smt(const char *word) {
        _cleanup_close_ int fd = open("/sys/devices/system/cpu/smt/control", O_WRONLY | O_CLOEXEC);

        return fd < 0 || write(fd, word, strlen(word)) < 0 ? -errno : 0;
}

static void *toggle(void *userdata) {
        struct toggler *t = userdata;

        while (!t->stop) {
                (void) set_smt("off");
                usleep(1000 + (t->times * 7919) % 20000);
                (void) set_smt("on");
                usleep(1000 + (t->times * 104729) % 20000);
                t->times++;
        }
        return NULL;
}

static void smt_toggled(void) {
        enum { N = 300 };
        static struct delivery_target targets[N];
        unsigned n_off = 0, n_half = 0, n_on = 0, n_realtime = 0;
        struct toggler t = {0};
        uint64_t cookie = 0;
        pthread_t thread;
        pid_t a = start_threads(4), many = start_threads(N);

        CHECK_IS(deliver(DELIVER_NEW, 0, &cookie, false, a), 0);
        CHECK_IS(kernel.sched->realtime(kernel.data, true), 0);
        CHECK_IS(pthread_create(&thread, NULL, toggle, &t), 0);
        for (usec_t end = now() + 20 * USEC_PER_SEC; now() < end || (n_half == 0 && now() < end + 40 * USEC_PER_SEC);) {
                struct delivery job = {.kind = DELIVER_SHARE + (n_on + n_off) % 2,
                                       .source = a,
                                       .cookie = cookie,
                                       .targets = targets,
                                       .n_targets = N};
                bool reached = false, missed = false, held = false;
                int r;

                for (size_t i = 0; i < N; i++)
                        targets[i] = (struct delivery_target){.tid = many, .error = UNTOUCHED};
                r = kernel.cookie->deliver(kernel.data, &job);
                for (size_t i = 0; i < N; i++) {
                        held = held || targets[i].error == UNTOUCHED;
                        reached = reached || targets[i].error == 0;
                        missed = missed || targets[i].error == -ENODEV;
                }
                if (held || (r == 0 && missed) || (r != 0 && !missed)) {
                        t.stop = true;
                        check_failed(__FILE__, __LINE__, "deliver gave %d, untouched %d, reached %d, missed %d", r,
                                     held, reached, missed);
                        break;
                }
                n_on += r == 0;
                n_off += r == -ENODEV && !reached;
                n_half += r == -ENODEV && reached;
                (void) kernel.cookie->hold(kernel.data, (n_on + n_off) % 3 != 0);
        }
        t.stop = true;
        pthread_join(thread, NULL);
        (void) kernel.cookie->hold(kernel.data, false);
        printf("# SMT switched %u times; deliveries: %u done, %u refused, %u half-way\n", t.times, n_on, n_off, n_half);
        CHECK_IS(set_smt("on"), 0);
        CHECK(n_on > 0 && n_off > 0 && n_half > 0);
        CHECK_IS(own_carriers(), 0);
        CHECK_IS(cookie_of(a), cookie);
        CHECK_IS(kernel.cookie->hold(kernel.data, true), 0);
        CHECK_IS(own_carriers(), 1);
        (void) each_thread(getpid(), count_realtime, &n_realtime);
        CHECK_IS(n_realtime, 2); /* the courier of now as the one of before */
        CHECK_IS(kernel.sched->realtime(kernel.data, false), 0);
        CHECK_IS(deliver(DELIVER_CLEAR, 0, NULL, false, a), 0);
        CHECK(all_carry(a, 0));
        CHECK_IS(kernel.cookie->hold(kernel.data, false), 0);
        CHECK_IS(own_carriers(), 0);
}

/* ---- what is told of SMT ---- */

static void smt(void) {
        _cleanup_free_ char *control = NULL;
        bool active = false;

        CHECK_IS(kernel.smt->status(kernel.data, &control, &active), 0);
        printf("# smt/control is %s\n", control);
        if (host == HOST_NO_SMT) {
                CHECK(!active);
                CHECK(strcmp(control, "on") != 0 || !active);
        } else {
                CHECK(active);
                CHECK(strcmp(control, "on") == 0);
        }
}

static void called(void *userdata) {
        (*(unsigned *) userdata)++;
}

static unsigned run_until(sd_event *event, const unsigned *calls, unsigned wanted) {
        for (usec_t end = now() + 10 * USEC_PER_SEC; *calls < wanted && now() < end;)
                (void) sd_event_run(event, USEC_PER_SEC / 10);
        return *calls;
}

static void smt_events(void) {
        sd_event *event = NULL;
        unsigned calls = 0;

        CHECK_IS(sd_event_new(&event), 0);
        CHECK_IS(kernel.smt->watch(kernel.data, event, called, &calls), 0);
        (void) sd_event_run(event, USEC_PER_SEC / 10);
        CHECK_IS(calls, 0);
        CHECK_IS(set_smt("off"), 0);
        CHECK(run_until(event, &calls, 1) >= 1);
        CHECK_IS(set_smt("on"), 0);
        CHECK(run_until(event, &calls, calls + 1) >= 2);
        sd_event_unref(event);
}

void test_smt(void) {
        run_test("real-time scheduling", realtime);
        run_test("SMT", smt);
        if (host != HOST_COOKIES)
                return;
        run_test("SMT switched while delivering", smt_toggled);
        if (access("/run/udev/control", F_OK) == 0)
                run_test("SMT events", smt_events);
        else
                puts("ok - SMT events # SKIP udev does not run here");
}
