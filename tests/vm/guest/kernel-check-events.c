// SPDX-License-Identifier: LGPL-2.1-or-later
/* proc_events_ops and cgroup_events_ops on a real kernel. */
#include "kernel-check.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- processes ---- */

static struct proc_event events[20000];
static size_t n_events;

/* All that is queued: how many, or an error. */
static int drain(void) {
        int r;

        n_events = 0;
        while ((r = kernel.proc_events->next(kernel.data, &events[n_events])) == 1)
                if (n_events < ELEMENTS(events) - 1)
                        n_events++;
        return r < 0 ? r : (int) n_events;
}

static const struct proc_event *find(enum proc_event_kind kind, pid_t tid) {
        for (size_t i = 0; i < n_events; i++)
                if (events[i].kind == kind && events[i].tid == tid)
                        return &events[i];
        return NULL;
}

static void be_exec(_unused_ void *userdata) {
        execl("/proc/self/exe", "kernel-check", (char *) NULL); /* prints its usage and ends */
}

static void *end_thread(void *userdata) {
        *(pid_t *) userdata = gettid();
        return NULL;
}

static void *fork_from_thread(void *userdata) {
        pid_t *pids = userdata;

        pids[0] = gettid();
        pids[1] = fork();
        if (pids[1] == 0)
                _exit(0);
        waitpid(pids[1], NULL, 0);
        return NULL;
}

static pid_t fork_and_wait(void) {
        pid_t pid = fork();

        if (pid == 0)
                _exit(0);
        waitpid(pid, NULL, 0);
        return pid;
}

static void kinds(void) {
        const struct proc_event *e;
        pid_t child, thread_id = 0, pair[2];
        pthread_t thread;
        int quiet;

        CHECK_IS(kernel.proc_events->fd(kernel.data), -1);
        CHECK_IS(kernel.proc_events->next(kernel.data, &events[0]), 0);
        CHECK_IS(kernel.proc_events->listen(kernel.data, true), 0);
        CHECK_IS(kernel.proc_events->listen(kernel.data, true), 0);
        CHECK(kernel.proc_events->fd(kernel.data) >= 0);
        CHECK(drain() >= 0);

        fflush(stdout);
        quiet = dup(2);
        CHECK(freopen("/dev/null", "w", stderr));
        child = start(be_exec, NULL);
        waitpid(child, NULL, 0);
        dup2(quiet, 2);
        close(quiet);
        usleep(20000); /* the event of an exit comes after the parent was told */
        CHECK(drain() >= 3);
        e = find(PROC_EVENT_FORK, child);
        CHECK(e);
        CHECK_IS(e->tgid, child);
        CHECK_IS(e->parent_tgid, getpid());
        CHECK_IS(e->parent_tid, gettid());
        e = find(PROC_EVENT_EXEC, child);
        CHECK(e && e > find(PROC_EVENT_FORK, child));
        CHECK_IS(e->tgid, child);
        e = find(PROC_EVENT_EXIT, child);
        CHECK(e && e > find(PROC_EVENT_EXEC, child));

        CHECK_IS(pthread_create(&thread, NULL, end_thread, &thread_id), 0);
        pthread_join(thread, NULL);
        usleep(20000);
        CHECK(drain() >= 2);
        e = find(PROC_EVENT_FORK, thread_id);
        CHECK(e);
        CHECK_IS(e->tgid, getpid());
        CHECK_IS(e->parent_tgid, getpid());
        e = find(PROC_EVENT_EXIT, thread_id);
        CHECK(e);
        CHECK_IS(e->tgid, getpid());

        CHECK_IS(pthread_create(&thread, NULL, fork_from_thread, pair), 0);
        pthread_join(thread, NULL);
        CHECK(drain() >= 1);
        e = find(PROC_EVENT_FORK, pair[1]);
        CHECK(e);
        CHECK_IS(e->parent_tgid, getpid());
        CHECK_IS(e->parent_tid, pair[0]);

        /* of no interest, and no reason for the connector to fall silent */
        prctl(PR_SET_NAME, "renamed");
        child = fork_and_wait();
        CHECK(drain() >= 1);
        CHECK(find(PROC_EVENT_FORK, child));

        CHECK_IS(kernel.proc_events->listen(kernel.data, false), 0);
        CHECK_IS(kernel.proc_events->listen(kernel.data, false), 0);
        CHECK_IS(kernel.proc_events->fd(kernel.data), -1);
        (void) fork_and_wait();
        CHECK_IS(drain(), 0);
        CHECK_IS(kernel.proc_events->listen(kernel.data, true), 0);
        child = fork_and_wait();
        CHECK(drain() >= 1);
        CHECK(find(PROC_EVENT_FORK, child));
        CHECK_IS(kernel.proc_events->listen(kernel.data, false), 0);
}

static void into_cgroup(void) {
        _cleanup_close_ int directory = -1;
        _cleanup_free_ char *path = NULL;
        struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
        const struct proc_event *e;
        pid_t child;

        CHECK_IS(make(BASE "/c"), 0);
        directory = open(real_path(BASE "/c"), O_PATH | O_CLOEXEC);
        args.cgroup = (__u64) directory;
        CHECK_IS(kernel.proc_events->listen(kernel.data, true), 0);
        child = (pid_t) syscall(SYS_clone3, &args, sizeof(args));
        if (child == 0)
                for (;;)
                        pause();
        CHECK(child > 0);
        CHECK(drain() >= 1);
        e = find(PROC_EVENT_FORK, child);
        CHECK(e);
        CHECK_IS(e->parent_tgid, getpid());
        CHECK_IS(kernel.cgroup->of_task(kernel.data, child, &path), 0);
        CHECK(strcmp(path, BASE "/c") == 0);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        CHECK_IS(kernel.proc_events->listen(kernel.data, false), 0);
        CHECK_IS(remove_cgroup(BASE "/c"), 0);
}

static void burst(void) {
        enum { N = 2000 };
        size_t n_forks = 0;

        CHECK_IS(kernel.proc_events->listen(kernel.data, true), 0);
        for (int i = 0; i < N; i++)
                (void) fork_and_wait();
        CHECK(drain() >= 2 * N - 1);
        for (size_t i = 0; i < n_events; i++)
                n_forks += events[i].kind == PROC_EVENT_FORK && events[i].parent_tgid == getpid();
        CHECK_IS(n_forks, N);
        CHECK_IS(kernel.proc_events->listen(kernel.data, false), 0);
}

static void overrun(void) {
        int queue = 0, small = 4096;
        socklen_t size = sizeof(queue);
        pid_t child;
        int fd;

        CHECK_IS(kernel.proc_events->listen(kernel.data, true), 0);
        fd = kernel.proc_events->fd(kernel.data);
        CHECK_IS(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &queue, &size), 0);
        CHECK_IS(queue, 2 * 16 * 1024 * 1024);
        CHECK_IS(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
        for (int round = 0; round < 3; round++) {
                int r;

                for (int i = 0; i < 200; i++)
                        (void) fork_and_wait();
                CHECK_IS(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0), 1);
                do
                        r = kernel.proc_events->next(kernel.data, &events[0]);
                while (r == 1);
                CHECK_IS(r, -ENOBUFS);
                /* From here on all is seen again: nothing that is queued before the next loss is missing. */
                child = fork_and_wait();
                CHECK(drain() >= 1); /* its parent may know of its end before the event is sent */
                CHECK(find(PROC_EVENT_FORK, child));
        }
        CHECK_IS(kernel.proc_events->listen(kernel.data, false), 0);
}

/* ---- cgroups ---- */

/* The next event of this kind; its path has to be this one. */
static bool comes(enum cgroup_event_kind kind, const char *path) {
        struct cgroup_event e;
        int r = 0;

        for (int i = 0; i < 500; i++) {
                r = kernel.cgroup_events->next(kernel.data, &e);
                if (r != 0)
                        break;
                usleep(2000);
        }
        if (r == 1 && e.kind == kind && strcmp(e.path, path) == 0)
                return true;
        if (r == 1)
                printf("# event %d of %s instead of %d of %s\n", e.kind, e.path, kind, path);
        else
                printf("# next() gave %d instead of event %d of %s\n", r, kind, path);
        return false;
}

static int nothing_comes(void) {
        struct cgroup_event e;
        int r;

        usleep(50000);
        r = kernel.cgroup_events->next(kernel.data, &e);
        if (r == 1)
                printf("# event %d of %s\n", e.kind, e.path);
        return r;
}

static void watches(void) {
        const struct cgroup_events_ops *w = kernel.cgroup_events;
        pid_t a = start_sleeping();
        char text[16];

        CHECK_IS(make(BASE "/w"), 0);
        CHECK_IS(w->watch(kernel.data, BASE "/w"), 0);
        CHECK_IS(w->watch(kernel.data, BASE "/w"), 0);
        CHECK_IS(w->watch(kernel.data, BASE "/none"), -ENOENT);
        CHECK(w->fd(kernel.data) >= 0);
        CHECK_IS(nothing_comes(), 0);

        CHECK_IS(put_in(BASE "/w", a), 0);
        CHECK(comes(CGROUP_EVENT_MOVED_IN, BASE "/w"));
        snprintf(text, sizeof(text), "%d", (int) a);
        CHECK_IS(write_to(BASE "/w", "cgroup.threads", text), 0);
        CHECK(comes(CGROUP_EVENT_MOVED_IN, BASE "/w"));
        /* other files are of no interest */
        CHECK_IS(write_to(BASE "/w", "cgroup.max.depth", "7"), 0);
        CHECK_IS(kernel.cgroup->freeze(kernel.data, BASE "/w", true), 0);
        CHECK_IS(kernel.cgroup->freeze(kernel.data, BASE "/w", false), 0);
        CHECK_IS(nothing_comes(), 0);

        CHECK_IS(make(BASE "/w/x y"), 0);
        CHECK(comes(CGROUP_EVENT_CREATED, BASE "/w/x y"));
        CHECK_IS(w->watch(kernel.data, BASE "/w/x y"), 0);
        CHECK_IS(put_in(BASE "/w/x y", a), 0);
        CHECK(comes(CGROUP_EVENT_MOVED_IN, BASE "/w/x y"));
        finish(a);
        CHECK_IS(remove_cgroup(BASE "/w/x y"), 0);
        CHECK(comes(CGROUP_EVENT_REMOVED, BASE "/w/x y"));
        (void) nothing_comes(); /* newer kernels tell of it twice */
        CHECK_IS(nothing_comes(), 0);

        /* one of the same name is a new one */
        a = start_sleeping();
        CHECK_IS(make(BASE "/w/x y"), 0);
        CHECK(comes(CGROUP_EVENT_CREATED, BASE "/w/x y"));
        CHECK_IS(w->watch(kernel.data, BASE "/w/x y"), 0);
        CHECK_IS(put_in(BASE "/w/x y", a), 0);
        CHECK(comes(CGROUP_EVENT_MOVED_IN, BASE "/w/x y"));
        finish(a);
        w->unwatch(kernel.data, BASE "/w/x y");
        w->unwatch(kernel.data, BASE "/w/x y");
        CHECK_IS(remove_cgroup(BASE "/w/x y"), 0);
        CHECK(comes(CGROUP_EVENT_REMOVED, BASE "/w/x y"));

        /* all at once, with what is queued */
        CHECK_IS(make(BASE "/w/z"), 0);
        CHECK_IS(w->watch(kernel.data, BASE "/w/z"), 0);
        w->forget(kernel.data);
        CHECK_IS(remove_cgroup(BASE "/w/z"), 0);
        CHECK_IS(nothing_comes(), 0);
        CHECK_IS(w->watch(kernel.data, BASE "/w"), 0);
        CHECK_IS(make(BASE "/w/z"), 0);
        CHECK(comes(CGROUP_EVENT_CREATED, BASE "/w/z"));
        CHECK_IS(remove_cgroup(BASE "/w/z"), 0);
        CHECK(comes(CGROUP_EVENT_REMOVED, BASE "/w/z"));

        w->unwatch(kernel.data, BASE "/w");
        CHECK_IS(make(BASE "/w/z"), 0);
        CHECK_IS(remove_cgroup(BASE "/w/z"), 0);
        CHECK_IS(nothing_comes(), 0);
        CHECK_IS(remove_cgroup(BASE "/w"), 0);
}

/* The watch of a cgroup that went and came again while its parent was not watched. */
static void rewatches(void) {
        const struct cgroup_events_ops *w = kernel.cgroup_events;
        struct cgroup_event e;

        for (int i = 0; i < 3; i++) {
                CHECK_IS(make(BASE "/w"), 0);
                CHECK_IS(w->watch(kernel.data, BASE "/w"), 0);
                CHECK_IS(make(BASE "/w/x"), 0);
                CHECK(comes(CGROUP_EVENT_CREATED, BASE "/w/x"));
                CHECK_IS(remove_cgroup(BASE "/w/x"), 0);
                CHECK(comes(CGROUP_EVENT_REMOVED, BASE "/w/x"));
                CHECK_IS(remove_cgroup(BASE "/w"), 0);
                if (i == 1)
                        while (w->next(kernel.data, &e) == 1)
                                ;
        }
        w->unwatch(kernel.data, BASE "/w");
        while (w->next(kernel.data, &e) == 1)
                ;
}

static int set_limit(const char *name, const char *value) {
        char path[128];
        _cleanup_close_ int fd = -1;

        snprintf(path, sizeof(path), "/proc/sys/fs/inotify/%s", name);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        return fd < 0 || write(fd, value, strlen(value)) < 0 ? -errno : 0;
}

static void with_short_queue(void) {
        const struct cgroup_events_ops *w;
        struct cgroup_event e;
        struct failure f;
        unsigned n = 0;
        int r;

        CHECK_IS(kernel_open(&kernel, &f), 0);
        w = kernel.cgroup_events;
        CHECK_IS(w->watch(kernel.data, BASE "/w"), 0);
        for (int i = 0; i < 40; i++) {
                CHECK_IS(make(BASE "/w/x"), 0);
                CHECK_IS(remove_cgroup(BASE "/w/x"), 0);
        }
        while ((r = w->next(kernel.data, &e)) == 1)
                n++;
        CHECK_IS(r, -ENOBUFS);
        CHECK(n > 0 && n <= 16);
        CHECK_IS(make(BASE "/w/y"), 0);
        CHECK(comes(CGROUP_EVENT_CREATED, BASE "/w/y"));
        CHECK_IS(remove_cgroup(BASE "/w/y"), 0);
        CHECK_IS(set_limit("max_user_watches", "1"), 0);
        r = w->watch(kernel.data, BASE);
        (void) set_limit("max_user_watches", "8192");
        CHECK_IS(r, -ENOSPC);
        kernel_close(&kernel);
}

static void watch_limits(void) {
        CHECK_IS(make(BASE "/w"), 0);
        CHECK_IS(set_limit("max_queued_events", "16"), 0);
        in_child(with_short_queue);
        CHECK_IS(set_limit("max_queued_events", "16384"), 0);
        CHECK_IS(remove_cgroup(BASE "/w"), 0);
}

void test_events(void) {
        run_test("process events", kinds);
        run_test("cloned into a cgroup", into_cgroup);
        run_test("a burst of 2,000 forks", burst);
        run_test("process events lost", overrun);
        run_test("watched cgroups", watches);
        run_test("watched cgroups that come again", rewatches);
        run_test("cgroup events lost, no watches left", watch_limits);
}
