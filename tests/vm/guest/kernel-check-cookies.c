// SPDX-License-Identifier: LGPL-2.1-or-later
/* cookie_ops and sched_ops on a real kernel. */
#include "kernel-check.h"
#include <errno.h>
#include <linux/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

static int core(unsigned long command, pid_t pid, unsigned long scope) {
        return prctl(PR_SCHED_CORE, command, pid, scope, 0) < 0 ? -errno : 0;
}

static void probe(void) {
        static const int wanted[] = {[HOST_COOKIES] = 0, [HOST_NO_SMT] = -ENODEV, [HOST_NO_CORE] = -EINVAL};

        CHECK_IS(kernel.cookie->probe(kernel.data), wanted[host]);
}

static void refused(void) {
        int wanted = host == HOST_NO_SMT ? -ENODEV : -EINVAL;
        pid_t pid = start_sleeping();
        struct delivery_target targets[2] = {{.tid = pid, .error = UNTOUCHED}, {.tid = pid, .error = UNTOUCHED}};
        uint64_t cookie = 5;

        CHECK_IS(kernel.cookie->get(kernel.data, pid, &cookie), wanted);
        CHECK_IS(cookie, 5);
        for (enum delivery_kind kind = DELIVER_NEW; kind <= DELIVER_CLEAR; kind++) {
                struct delivery job = {
                        .kind = kind, .source = pid, .cookie = 9, .targets = targets, .n_targets = ELEMENTS(targets)};
                CHECK_IS(kernel.cookie->deliver(kernel.data, &job), wanted);
                CHECK_IS(targets[0].error, host == HOST_NO_SMT ? -ENODEV : UNTOUCHED);
                CHECK_IS(targets[1].error, host == HOST_NO_SMT ? -ENODEV : UNTOUCHED);
        }
        CHECK_IS(kernel.cookie->hold(kernel.data, true), wanted);
        CHECK_IS(kernel.cookie->hold(kernel.data, false), 0);
}

static void get(void) {
        pid_t pid = start_sleeping(), gone = start_sleeping();
        uint64_t cookie = 5;

        finish(gone);
        CHECK_IS(kernel.cookie->get(kernel.data, gone, &cookie), -ESRCH);
        CHECK_IS(cookie, 5);
        CHECK_IS(kernel.cookie->get(kernel.data, pid, &cookie), 0);
        CHECK_IS(cookie, 0);
        CHECK_IS(core(PR_SCHED_CORE_CREATE, pid, PR_SCHED_CORE_SCOPE_THREAD), 0);
        CHECK_IS(kernel.cookie->get(kernel.data, pid, &cookie), 0);
        CHECK(cookie != 0);
        CHECK_IS(cookie, cookie_of(pid));
        CHECK_IS(kernel.cookie->get(kernel.data, 0, &cookie), -EINVAL);
}

static void new_share_clear(void) {
        pid_t a = start_threads(4), b = start_sleeping(), c = start_threads(3), gone = start_sleeping();
        struct delivery_target two[] = {{.tid = a}, {.tid = gone}, {.tid = b}, {.tid = 0}};
        struct delivery job = {.kind = DELIVER_NEW, .targets = two, .n_targets = ELEMENTS(two)};
        uint64_t cookie, other = 0;

        finish(gone);
        CHECK_IS(kernel.cookie->deliver(kernel.data, &job), 0);
        CHECK_IS(two[0].error, 0);
        CHECK_IS(two[1].error, -ESRCH);
        CHECK_IS(two[2].error, 0);
        CHECK_IS(two[3].error, -ESRCH);
        cookie = job.cookie;
        CHECK(cookie != 0);
        CHECK(all_carry(a, cookie));
        CHECK(all_carry(b, cookie));
        CHECK(all_carry(c, 0));
        CHECK_IS(own_carriers(), 0);

        CHECK_IS(deliver(DELIVER_NEW, 0, &other, false, c), 0);
        CHECK(other != 0 && other != cookie);
        CHECK(all_carry(c, other));

        CHECK_IS(deliver(DELIVER_SHARE, b, &cookie, false, c), 0);
        CHECK(all_carry(c, cookie));
        CHECK_IS(own_carriers(), 0);

        CHECK_IS(deliver(DELIVER_CLEAR, 0, NULL, false, a), 0);
        CHECK(all_carry(a, 0));
        CHECK(all_carry(b, cookie));
        CHECK_IS(own_carriers(), 0);
}

static int second_thread(pid_t tid, void *userdata) {
        pid_t *pid = userdata;

        if (tid == *pid)
                return 0;
        *pid = tid;
        return 1;
}

static void by_thread(void) {
        pid_t a = start_threads(3), thread = a;
        uint64_t cookie = 0;

        CHECK_IS(each_thread(a, second_thread, &thread), 1);
        CHECK_IS(deliver(DELIVER_NEW, 0, &cookie, true, thread), 0);
        CHECK_IS(cookie_of(thread), cookie);
        CHECK_IS(cookie_of(a), 0);
        /* any thread of a group leads to the whole of it */
        CHECK_IS(deliver(DELIVER_SHARE, thread, &cookie, false, thread), 0);
        CHECK(all_carry(a, cookie));
        CHECK_IS(deliver(DELIVER_CLEAR, 0, NULL, true, thread), 0);
        CHECK_IS(cookie_of(thread), 0);
        CHECK_IS(cookie_of(a), cookie);
}

static void stale_source(void) {
        pid_t a = start_sleeping(), b = start_sleeping(), gone = start_sleeping();
        uint64_t cookie = 0, none = 0;

        finish(gone);
        CHECK_IS(deliver(DELIVER_NEW, 0, &cookie, false, a), 0);
        CHECK_IS(core(PR_SCHED_CORE_CREATE, a, PR_SCHED_CORE_SCOPE_THREAD), 0); /* it gave itself another one */
        CHECK_IS(deliver(DELIVER_SHARE, a, &cookie, false, b), -ESTALE);
        CHECK_IS(own_carriers(), 0);
        CHECK_IS(deliver(DELIVER_SHARE, b, &cookie, false, a), -ESTALE);
        CHECK_IS(deliver(DELIVER_SHARE, gone, &cookie, false, b), -ESRCH);
        CHECK_IS(deliver(DELIVER_SHARE, a, &none, false, b), -EINVAL);
        CHECK_IS(deliver(DELIVER_SHARE, 0, &cookie, false, b), -EINVAL);
        CHECK_IS(cookie_of(b), 0);
        CHECK_IS(own_carriers(), 0);
}

/* A process that dies, and one whose first thread is dead, are targets like any other. */
static _Noreturn void *end_first(_unused_ void *userdata) {
        for (;;)
                pause();
}

static void be_leaderless(_unused_ void *userdata) {
        pthread_t thread;

        pthread_create(&thread, NULL, end_first, NULL);
        pthread_exit(NULL);
}

static bool two_and_dead(void *userdata) {
        struct task_info info;

        return kernel.task_info(kernel.data, *(pid_t *) userdata, &info) == 0 && info.stopped;
}

static void dead_leader(void) {
        pid_t a = start(be_leaderless, NULL), thread = a;
        uint64_t cookie = 0;

        CHECK(soon(two_and_dead, &a));
        CHECK_IS(each_thread(a, second_thread, &thread), 1);
        CHECK_IS(deliver(DELIVER_NEW, 0, &cookie, false, a), 0);
        CHECK_IS(cookie_of(thread), cookie);
}

static int find_carrier(pid_t tid, void *userdata) {
        if (cookie_of(tid) == 0)
                return 0;
        *(pid_t *) userdata = tid;
        return 1;
}

static void hold(void) {
        pid_t holder = 0, a = start_sleeping();
        uint64_t cookie, other = 0;

        CHECK_IS(kernel.cookie->hold(kernel.data, false), 0);
        CHECK_IS(kernel.cookie->hold(kernel.data, true), 0);
        CHECK_IS(own_carriers(), 1);
        CHECK_IS(each_thread(getpid(), find_carrier, &holder), 1);
        cookie = cookie_of(holder);
        CHECK_IS(deliver(DELIVER_NEW, 0, &other, false, a), 0);
        CHECK(other != cookie);
        CHECK_IS(kernel.cookie->hold(kernel.data, true), 0);
        CHECK_IS(own_carriers(), 1);
        CHECK_IS(cookie_of(holder), cookie);
        /* somebody took it away */
        CHECK_IS(core(PR_SCHED_CORE_SHARE_TO, holder, PR_SCHED_CORE_SCOPE_THREAD), 0);
        CHECK_IS(own_carriers(), 0);
        CHECK_IS(kernel.cookie->hold(kernel.data, true), 0);
        CHECK_IS(own_carriers(), 1);
        CHECK_IS(kernel.cookie->hold(kernel.data, false), 0);
        CHECK_IS(own_carriers(), 0);
        CHECK_IS(tgkill(getpid(), holder, 0), -1);
}

/* Not root: what belongs to others is refused, and only that. */
static void as_user(void) {
        pid_t theirs = getppid(), ours;
        struct delivery_target targets[2];
        struct delivery job = {.kind = DELIVER_NEW, .targets = targets, .n_targets = ELEMENTS(targets)};
        struct failure f = {0};
        uint64_t cookie = 5;

        CHECK_IS(setuid(1000), 0);
        prctl(PR_SET_DUMPABLE, 1);
        CHECK_IS(kernel_open(&kernel, &f), 0);
        ours = start_sleeping();
        targets[0] = (struct delivery_target){.tid = theirs};
        targets[1] = (struct delivery_target){.tid = ours};
        CHECK_IS(kernel.cookie->get(kernel.data, theirs, &cookie), -EPERM);
        CHECK_IS(cookie, 5);
        CHECK_IS(kernel.cookie->deliver(kernel.data, &job), 0);
        CHECK_IS(targets[0].error, -EPERM);
        CHECK_IS(targets[1].error, 0);
        CHECK_IS(cookie_of(ours), job.cookie);
        job.kind = DELIVER_SHARE;
        job.source = theirs;
        targets[1].error = UNTOUCHED;
        CHECK_IS(kernel.cookie->deliver(kernel.data, &job), -EPERM);
        CHECK_IS(targets[1].error, UNTOUCHED);
        CHECK_IS(own_carriers(), 0);
        CHECK_IS(kernel.sched->realtime(kernel.data, true), -EPERM);
        CHECK_IS(kernel.proc_events->listen(kernel.data, true), -EPERM);
        CHECK_IS(kernel.proc_events->fd(kernel.data), -1);
        kernel_close(&kernel);
        finish(ours);

        /* tagged, and with nobody to take 0 from */
        CHECK_IS(core(PR_SCHED_CORE_CREATE, 0, PR_SCHED_CORE_SCOPE_THREAD), 0);
        CHECK_IS(kernel_open(&kernel, &f), -EPERM);
        CHECK_IS(f.kind, FAILURE_NOT_PERMITTED);
        CHECK(strstr(f.text, "cookie"));
}

static void not_permitted(void) {
        in_child(as_user);
}

static void tagged_opens(void) {
        struct failure f = {0};
        uint64_t cookie = 0;
        pid_t a;

        CHECK_IS(core(PR_SCHED_CORE_CREATE, 0, PR_SCHED_CORE_SCOPE_THREAD_GROUP), 0);
        a = start_sleeping(); /* has it too */
        CHECK(cookie_of(a) != 0);
        CHECK_IS(kernel_open(&kernel, &f), 0);
        CHECK_IS(own_carriers(), 0);
        CHECK_IS(deliver(DELIVER_CLEAR, 0, NULL, false, a), 0);
        CHECK_IS(cookie_of(a), 0);
        CHECK_IS(kernel.cookie->hold(kernel.data, true), 0);
        /* and again while it runs */
        CHECK_IS(core(PR_SCHED_CORE_CREATE, getpid(), PR_SCHED_CORE_SCOPE_THREAD_GROUP), 0);
        CHECK(own_carriers() > 1);
        CHECK_IS(deliver(DELIVER_NEW, 0, &cookie, false, a), 0);
        CHECK_IS(cookie_of(a), cookie);
        CHECK_IS(own_carriers(), 1);
        CHECK_IS(deliver(DELIVER_CLEAR, 0, NULL, false, a), 0);
        CHECK_IS(cookie_of(a), 0);
        kernel_close(&kernel);
        CHECK_IS(own_carriers(), 0);
        finish(a);
}

static void tagged_itself(void) {
        in_child(tagged_opens);
}

/* ---- how dear it is ---- */

/* One job for many, each named several times. How long it takes is the bench's matter. */
static void many(void) {
        enum { PROCESSES = 500, N = 4 * PROCESSES };
        static struct delivery_target targets[N];
        struct delivery job = {.kind = DELIVER_NEW, .targets = targets, .n_targets = N};

        for (size_t i = 0; i < N; i++) {
                targets[i].tid = i < PROCESSES ? start_sleeping() : targets[i - PROCESSES].tid;
                targets[i].error = -EIO;
                CHECK(targets[i].tid > 0);
        }
        CHECK_IS(kernel.cookie->deliver(kernel.data, &job), 0);
        CHECK(job.cookie != 0);
        for (size_t i = 0; i < N; i++) {
                CHECK_IS(targets[i].error, 0);
                CHECK(cookie_of(targets[i].tid) == job.cookie);
        }
}

void test_cookies(void) {
        run_test("probe", probe);
        if (host != HOST_COOKIES) {
                run_test("all refused", refused);
                return;
        }
        run_test("get", get);
        run_test("new, share, clear", new_share_clear);
        run_test("by thread", by_thread);
        run_test("source gone or changed", stale_source);
        run_test("a process whose first thread is dead", dead_leader);
        run_test("the holder", hold);
        run_test("without privileges", not_permitted);
        run_test("tagged by somebody else", tagged_itself);
        run_test("many at once", many);
}
