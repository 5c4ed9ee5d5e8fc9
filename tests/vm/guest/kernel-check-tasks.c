// SPDX-License-Identifier: LGPL-2.1-or-later
/* Freezing and task_info on a real kernel. */
#include "kernel-check.h"
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* ---- freezing ---- */

static bool is_frozen(void *userdata) {
        bool asked, frozen;

        return kernel.cgroup->frozen(kernel.data, userdata, &asked, &frozen) == 0 && asked && frozen;
}

static void be_vfork_parent(_unused_ void *userdata) {
        if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) == 0) { /* as vfork(), but with a memory of its own */
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                        pause();
        }
}

static bool is_stopped(void *userdata) {
        struct task_info info;

        return kernel.task_info(kernel.data, *(pid_t *) userdata, &info) == 0 && info.stopped;
}

static int stopped(pid_t tid) {
        struct task_info info;
        int r = kernel.task_info(kernel.data, tid, &info);

        return r < 0 ? r : info.stopped;
}

/* One of kernel threads that may be moved. */
static pid_t a_kernel_thread(void) {
        for (pid_t pid = 3; pid < 200; pid++) {
                struct task_info info;

                if (kernel.task_info(kernel.data, pid, &info) == 0 && info.kernel_thread && put_in(BASE "/f", pid) == 0)
                        return pid;
        }
        return -1;
}

static void freezing(void) {
        pid_t busy = start_busy(), sleeping = start_threads(3), vforked = start(be_vfork_parent, NULL),
              stopped_by_hand = start_sleeping(), kthread;
        bool asked, frozen;

        kill(stopped_by_hand, SIGSTOP);
        CHECK_IS(make(BASE "/f"), 0);
        CHECK_IS(put_in(BASE "/f", busy), 0);
        CHECK_IS(put_in(BASE "/f", sleeping), 0);
        CHECK_IS(put_in(BASE "/f", vforked), 0);
        CHECK_IS(put_in(BASE "/f", stopped_by_hand), 0);
        CHECK_IS(kernel.cgroup->frozen(kernel.data, BASE "/f", &asked, &frozen), 0);
        CHECK(!asked && !frozen);
        CHECK_IS(stopped(busy), 0);
        CHECK_IS(kernel.cgroup->freeze(kernel.data, BASE "/f", true), 0);
        CHECK(soon(is_frozen, (void *) BASE "/f"));
        CHECK_IS(stopped(busy), 1);
        CHECK_IS(stopped(sleeping), 1);
        CHECK_IS(stopped(vforked), 1);
        CHECK_IS(stopped(stopped_by_hand), 1);
        CHECK_IS(kernel.cgroup->freeze(kernel.data, BASE "/f", false), 0);
        for (int i = 0; i < 2000 && stopped(busy) != 0; i++)
                usleep(1000);
        CHECK_IS(stopped(busy), 0);
        CHECK_IS(kernel.cgroup->frozen(kernel.data, BASE "/f", &asked, &frozen), 0);
        CHECK(!asked && !frozen);

        /* With a kernel thread in it, it never is, and all others are stopped all the same. */
        kthread = a_kernel_thread();
        CHECK(kthread > 0);
        CHECK_IS(kernel.cgroup->freeze(kernel.data, BASE "/f", true), 0);
        CHECK(soon(is_stopped, &busy));
        usleep(300000);
        CHECK_IS(kernel.cgroup->frozen(kernel.data, BASE "/f", &asked, &frozen), 0);
        CHECK(asked && !frozen);
        CHECK_IS(stopped(busy), 1);
        CHECK_IS(stopped(sleeping), 1);
        CHECK_IS(put_in("/", kthread), 0);
        CHECK_IS(kernel.cgroup->freeze(kernel.data, BASE "/f", false), 0);
        CHECK_IS(kernel.cgroup->freeze(kernel.data, BASE "/none", true), -ENOENT);
        CHECK_IS(kernel.cgroup->frozen(kernel.data, BASE "/none", &asked, &frozen), -ENOENT);
        write_to(BASE "/f", "cgroup.kill", "1");
        finish(busy);
        finish(sleeping);
        finish(vforked);
        finish(stopped_by_hand);
        CHECK_IS(remove_cgroup(BASE "/f"), 0);
}

/* A frozen task does nothing, though it looks asleep; this is what task_info's word rests on. */
static volatile unsigned long *counter;

static void be_counting(void *userdata) {
        for (;;) {
                (*counter)++;
                if (userdata)
                        usleep(50);
        }
}

static void stopped_stays(void) {
        pid_t sleeper, burner;
        unsigned long at[2];

        _Static_assert(sizeof(unsigned long) == 8, "one word");
        CHECK_IS(make(BASE "/f"), 0);
        for (int i = 0; i < 20; i++) {
                sleeper = start(be_counting, &sleeper);
                burner = start(be_counting, NULL);
                CHECK_IS(put_in(BASE "/f", sleeper), 0);
                CHECK_IS(put_in(BASE "/f", burner), 0);
                CHECK_IS(kernel.cgroup->freeze(kernel.data, BASE "/f", true), 0);
                while (stopped(sleeper) == 0 || stopped(burner) == 0)
                        ;
                at[0] = *counter;
                usleep(30000);
                at[1] = *counter;
                CHECK_IS(at[1], at[0]);
                CHECK_IS(kernel.cgroup->freeze(kernel.data, BASE "/f", false), 0);
                finish(sleeper);
                finish(burner);
        }
        CHECK_IS(remove_cgroup(BASE "/f"), 0);
}

/* ---- task_info ---- */

static _Noreturn void *odd_name(void *userdata) {
        prctl(PR_SET_NAME, "a) R 1 (\nTgid:");
        *(volatile pid_t *) userdata = gettid();
        for (;;)
                pause();
}

static void about_tasks(void) {
        struct task_info info = {.tgid = 5};
        volatile pid_t tid = 0;
        pthread_t thread;
        pid_t gone = start_sleeping();

        finish(gone);
        CHECK_IS(kernel.task_info(kernel.data, gone, &info), -ESRCH);
        CHECK_IS(info.tgid, 5);
        CHECK_IS(kernel.task_info(kernel.data, 2, &info), 0);
        CHECK(info.kernel_thread);
        CHECK_IS(info.tgid, 2);
        CHECK(strcmp(info.comm, "kthreadd") == 0);
        CHECK_IS(kernel.task_info(kernel.data, 1, &info), 0);
        CHECK(!info.kernel_thread);
        CHECK_IS(pthread_create(&thread, NULL, odd_name, (void *) &tid), 0);
        while (tid == 0)
                usleep(1000);
        CHECK_IS(kernel.task_info(kernel.data, tid, &info), 0);
        CHECK_IS(info.tgid, getpid());
        CHECK(!info.kernel_thread);
        CHECK(strcmp(info.comm, "a) R 1 (\nTgid:") == 0);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        CHECK_IS(kernel.task_info(kernel.data, getpid(), &info), 0);
        CHECK(!info.stopped);
}

void test_tasks(void) {
        counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        run_test("freezing", freezing);
        run_test("what is stopped stays so", stopped_stays);
        run_test("task info", about_tasks);
}
