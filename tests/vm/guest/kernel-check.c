// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tries every function of the real kernel's tables on the kernel that it runs on, as root: a line of TAP for each test,
 * and status 1 when one failed. It looks with its own prctl, not through what it tests. */
#include "kernel-check.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum host host;
struct kernel kernel;

static const char *only; /* of tests with this in their names */
static bool failed;      /* the test under way */
static unsigned n_failed;
static pid_t started[8192];
static size_t n_started;

void check_failed(const char *file, int line, const char *format, ...) {
        const char *name = strrchr(file, '/');
        va_list ap;

        printf("# %s:%d: ", name ? name + 1 : file, line);
        va_start(ap, format);
        vprintf(format, ap);
        va_end(ap);
        puts("");
        fflush(stdout);
        failed = true;
}

bool check_has_failed(void) {
        return failed;
}

void run_test(const char *name, void (*test)(void)) {
        usec_t begin = now();

        if (only && !strstr(name, only))
                return;
        failed = false;
        test();
        while (n_started > 0)
                (void) finish(started[n_started - 1]);
        printf("%sok - %s\n", failed ? "not " : "", name);
        if (now() - begin > 5 * USEC_PER_SEC)
                printf("# took %llu s\n", (unsigned long long) ((now() - begin) / USEC_PER_SEC));
        fflush(stdout);
        n_failed += failed;
}

/* ---- processes ---- */

pid_t start(void (*f)(void *), void *userdata) {
        pid_t parent = getpid(), pid;

        fflush(stdout);
        pid = fork();
        if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (getppid() == parent)
                        f(userdata);
                fflush(stdout);
                _exit(0);
        }
        if (pid > 0 && n_started < ELEMENTS(started))
                started[n_started++] = pid;
        return pid;
}

int finish(pid_t pid) {
        int status = -1;

        kill(pid, SIGKILL);
        kill(pid, SIGCONT);
        waitpid(pid, &status, 0);
        for (size_t i = 0; i < n_started; i++)
                if (started[i] == pid) {
                        started[i] = started[--n_started];
                        break;
                }
        return status;
}

static _Noreturn void *sleep_on(_unused_ void *userdata) {
        for (;;)
                pause();
}

struct threads {
        unsigned n;
        int ready; /* pipe */
};

static void be_threads(void *userdata) {
        const struct threads *t = userdata;
        pthread_attr_t small;
        pthread_t thread;

        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 32768);
        for (unsigned i = 1; i < t->n; i++)
                if (pthread_create(&thread, &small, sleep_on, NULL) != 0)
                        _exit(1);
        if (write(t->ready, "", 1) == 1)
                sleep_on(NULL);
}

pid_t start_threads(unsigned n) {
        int ready[2];
        char byte;
        pid_t pid;

        if (pipe(ready) < 0)
                return -1;
        pid = start(be_threads, &(struct threads){.n = n, .ready = ready[1]});
        close(ready[1]);
        if (read(ready[0], &byte, 1) != 1)
                pid = -1;
        close(ready[0]);
        return pid;
}

pid_t start_sleeping(void) {
        return start_threads(1);
}

static void be_busy(_unused_ void *userdata) {
        for (volatile unsigned long i = 0;; i++)
                ;
}

pid_t start_busy(void) {
        return start(be_busy, NULL);
}

static void run_child(void *userdata) {
        void (*f)(void) = *(void (**)(void)) userdata;

        n_started = 0;
        f();
        fflush(stdout);
        _exit(failed);
}

void in_child(void (*f)(void)) {
        pid_t pid = start(run_child, &f);
        int status = -1;

        waitpid(pid, &status, 0);
        n_started--; /* it was the last one */
        if (status != 0)
                check_failed(__FILE__, __LINE__, "the child ended with status %#x", (unsigned) status);
}

/* ---- cgroups ---- */

static char mount_point[64];

const char *real_path(const char *cgroup) {
        static char *path[4];
        static unsigned at;

        at = (at + 1) % ELEMENTS(path);
        free(path[at]);
        if (asprintf(&path[at], "%s%s", mount_point, cgroup) < 0)
                abort();
        return path[at];
}

int make(const char *cgroup) {
        return mkdir(real_path(cgroup), 0755) < 0 ? -errno : 0;
}

int remove_cgroup(const char *cgroup) {
        /* what was killed in it is not gone at once */
        for (int i = 0; i < 1000; i++) {
                if (rmdir(real_path(cgroup)) == 0)
                        return 0;
                if (errno != EBUSY)
                        break;
                usleep(5000);
        }
        return -errno;
}

int write_to(const char *cgroup, const char *file, const char *text) {
        _cleanup_close_ int directory = open(real_path(cgroup), O_PATH | O_CLOEXEC);
        _cleanup_close_ int fd = openat(directory, file, O_WRONLY | O_CLOEXEC);

        return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

int put_in(const char *cgroup, pid_t pid) {
        char text[16];

        snprintf(text, sizeof(text), "%d", (int) pid);
        return write_to(cgroup, "cgroup.procs", text);
}

bool soon(bool (*f)(void *), void *userdata) {
        for (usec_t end = now() + 20 * USEC_PER_SEC; now() < end; usleep(2000))
                if (f(userdata))
                        return true;
        return false;
}

/* ---- looking ---- */

int each_thread(pid_t pid, int (*f)(pid_t tid, void *userdata), void *userdata) {
        char path[64];
        DIR *directory;
        int r = 0;

        snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
        directory = opendir(path);
        if (!directory)
                return -errno;
        for (const struct dirent *e; r == 0 && (e = readdir(directory));)
                if (e->d_name[0] != '.')
                        r = f((pid_t) strtol(e->d_name, NULL, 10), userdata);
        closedir(directory);
        return r;
}

uint64_t cookie_of(pid_t tid) {
        uint64_t cookie = 0;

        if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, tid, PR_SCHED_CORE_SCOPE_THREAD, &cookie) < 0)
                return UINT64_MAX;
        return cookie;
}

static int other_than(pid_t tid, void *userdata) {
        return cookie_of(tid) == *(uint64_t *) userdata ? 0 : 1;
}

bool all_carry(pid_t pid, uint64_t cookie) {
        return each_thread(pid, other_than, &cookie) == 0;
}

static int count_carrier(pid_t tid, void *userdata) {
        *(unsigned *) userdata += cookie_of(tid) != 0;
        return 0;
}

unsigned own_carriers(void) {
        unsigned n = 0;

        (void) each_thread(getpid(), count_carrier, &n);
        return n;
}

usec_t now(void) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (usec_t) t.tv_sec * USEC_PER_SEC + (usec_t) t.tv_nsec / 1000;
}

/* ---- delivering ---- */

int deliver(enum delivery_kind kind, pid_t source, uint64_t *cookie, bool by_thread, pid_t target) {
        struct delivery_target t = {.tid = target, .error = UNTOUCHED};
        struct delivery job = {.kind = kind,
                               .source = source,
                               .cookie = cookie ? *cookie : 0,
                               .by_thread = by_thread,
                               .targets = &t,
                               .n_targets = 1};
        int r = kernel.cookie->deliver(kernel.data, &job);

        if (r >= 0 && cookie)
                *cookie = job.cookie;
        return r < 0 ? r : t.error;
}

/* ---- */

static int find_mount(void) {
        _cleanup_fclose_ FILE *f = fopen("/proc/self/mounts", "re");
        char line[1024], type[32];

        while (f && fgets(line, sizeof(line), f))
                if (sscanf(line, "%*s %63s %31s", mount_point, type) == 2 && strcmp(type, "cgroup2") == 0)
                        return 0;
        return -ENOENT;
}

int main(int argc, char **argv) {
        static const char *const words[] = {
                [HOST_COOKIES] = "cookies",
                [HOST_NO_SMT] = "no-smt",
                [HOST_NO_CORE] = "no-core",
        };
        struct failure f = {0};
        int r;

        for (; host < ELEMENTS(words); host++)
                if (argc >= 2 && argc <= 3 && strcmp(argv[1], words[host]) == 0)
                        break;
        if (host >= ELEMENTS(words)) {
                fprintf(stderr,
                        "Usage: kernel-check cookies|no-smt|no-core [TEST]\nThe first word is what this host has to be.\n");
                return 2;
        }
        only = argv[2];
        r = find_mount();
        if (r >= 0)
                r = kernel_open(&kernel, &f);
        if (r < 0) {
                printf("not ok - open: %s (%s)\n", f.text, strerror(-r));
                return 1;
        }
        (void) make(BASE);
        test_cookies();
        test_cgroups();
        test_tasks();
        test_events();
        test_smt();
        if (remove_cgroup(BASE) < 0) {
                puts("not ok - a test left cgroups behind");
                n_failed++;
        }
        kernel_close(&kernel);
        return n_failed > 0;
}
