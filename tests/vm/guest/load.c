/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Makes work to be watched, tagged and measured: run it inside the cgroup that shall have it. It says "ready" on
 * stdout, and to systemd if started by a Type=notify unit, once all that was asked for is there; then it stays until it
 * is ended, and all that it started goes with it.
 */

#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT_MAX 100000

static const char usage[] =
        "Usage: load busy N           N processes that compute without end\n"
        "       load threads N        one process with N threads that compute without end\n"
        "       load idle-threads N   one process with N threads that sleep\n"
        "       load sleepers N       N processes that sleep\n"
        "       load forker           forks without a pause; its children end at once\n"
        "       load chain            a process that forks, ends, and lives on in its child, without a pause\n"
        "       load execer           forks without a pause; its children exec a program\n"
        "       load ping             two processes that wake each other through pipes\n"
        "       load nondumpable N    N sleeping processes that only a privileged tracer may look into\n"
        "       load into CGROUP N    N sleeping processes that are born in another cgroup (CLONE_INTO_CGROUP)\n"
        "       load escape MS        gives itself a new cookie every MS milliseconds\n"
        "       load steal PID MS     takes the cookie of PID every MS milliseconds\n"
        "       load carry COMMAND... gives itself a new cookie and becomes COMMAND, which has it then\n"
        "       load tag CGROUP       gives all tasks in CGROUP and below one new cookie, and ends: no part of the product,\n"
        "                             a means to try the bed itself\n"
        "       load untag CGROUP     gives them back cookie 0, and ends\n";

static volatile unsigned long counter;

static void spin(void) {
        for (;;)
                counter++;
}

static void *spin_thread(void *userdata) {
        (void) userdata;
        spin();
        return NULL;
}

static void *sleep_thread(void *userdata) {
        (void) userdata;
        for (;;)
                (void) pause();
        return NULL;
}

static void sleep_ms(long ms) {
        struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

        (void) nanosleep(&time, NULL);
}

/* A child that dies with its parent. 0 in the child. */
static pid_t child(void) {
        pid_t parent = getpid(), pid = fork();

        if (pid < 0)
                die_errno("cannot fork");
        if (pid == 0) {
                if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
                        _exit(1);
        }
        return pid;
}

static void ready(void) {
        const char *name = getenv("NOTIFY_SOCKET");
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        static const char message[] = "READY=1";
        size_t length;
        int fd;

        (void) puts("ready");
        (void) fflush(stdout);
        if (!name)
                return;
        length = strlen(name);
        if (length >= sizeof address.sun_path)
                die(STATUS_ERROR, "NOTIFY_SOCKET is too long");
        memcpy(address.sun_path, name, length);
        if (address.sun_path[0] == '@')
                address.sun_path[0] = '\0';
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || sendto(fd, message, strlen(message), 0, (struct sockaddr *) &address,
                             (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length)) < 0)
                die_errno("cannot tell systemd that it is ready");
        (void) close(fd);
}

static _Noreturn void stay(void) {
        ready();
        for (;;)
                (void) pause();
}

static _Noreturn void processes(long n, bool busy, bool dumpable) {
        /* The parent sleeps; of N processes at work it is none. */
        for (long i = 0; i < n; i++)
                if (child() == 0) {
                        if (!dumpable && prctl(PR_SET_DUMPABLE, 0) < 0)
                                _exit(1);
                        if (busy)
                                spin();
                        for (;;)
                                (void) pause();
                }
        stay();
}

static _Noreturn void threads(long n, void *(*what)(void *) ) {
        pthread_attr_t attributes;

        (void) pthread_attr_init(&attributes);
        (void) pthread_attr_setstacksize(&attributes, 64 * 1024);
        for (long i = 0; i < n; i++) {
                pthread_t thread;

                errno = pthread_create(&thread, &attributes, what, NULL);
                if (errno != 0)
                        die_errno("cannot start a thread");
        }
        stay();
}

static _Noreturn void forker(bool exec) {
        ready();
        for (;;) {
                pid_t pid = fork();

                if (pid == 0) {
                        if (exec)
                                (void) execl("/bin/true", "true", NULL);
                        _exit(0);
                }
                if (pid > 0)
                        (void) waitpid(pid, NULL, 0);
        }
}

static _Noreturn void chain(void) {
        /* Each link is somebody else's orphan: nobody's death signal reaches it, its cgroup's end does. */
        ready();
        if (signal(SIGCHLD, SIG_IGN) == SIG_ERR)
                die_errno("cannot ignore children");
        if (child() > 0)
                for (;;)
                        (void) pause();
        (void) prctl(PR_SET_PDEATHSIG, 0);
        for (;;) {
                pid_t pid = fork();

                if (pid > 0)
                        _exit(0);
        }
}

static _Noreturn void ping(void) {
        int to[2], from[2];
        char byte = 0;
        bool first;

        if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
                die_errno("cannot make a pipe");
        first = child() != 0;
        if (first)
                ready();
        for (;;) {
                if (first && write(to[1], &byte, 1) != 1)
                        die_errno("cannot write to a pipe");
                if (read(first ? from[0] : to[0], &byte, 1) != 1)
                        die_errno("cannot read from a pipe");
                if (!first && write(from[1], &byte, 1) != 1)
                        die_errno("cannot write to a pipe");
        }
}

static _Noreturn void into(const char *cgroup, long n) {
        char *path;
        int fd;

        if (asprintf(&path, "/sys/fs/cgroup%s", cgroup_name(cgroup)) < 0)
                die_errno("no memory");
        fd = open(path, O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                die_errno("cannot open %s", path);
        for (long i = 0; i < n; i++) {
                struct clone_args arguments = {
                        .flags = CLONE_INTO_CGROUP,
                        .exit_signal = SIGCHLD,
                        .cgroup = (uint64_t) fd,
                };
                pid_t parent = getpid();
                long pid = syscall(SYS_clone3, &arguments, sizeof arguments);

                if (pid < 0)
                        die_errno("cannot start a process in %s", path);
                if (pid == 0) {
                        /* Not libc's fork: it keeps nothing of its own right here, and the child needs nothing of it.
                         */
                        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
                                _exit(1);
                        for (;;)
                                (void) pause();
                }
        }
        stay();
}

static _Noreturn void leave(pid_t from, long ms) {
        ready();
        for (;;) {
                sleep_ms(ms);
                if ((from > 0 ? core_share_from(from) : core_create(0, false)) < 0)
                        die(STATUS_ERROR, "cannot change its own cookie: %s", core_error(errno));
        }
}

static _Noreturn void carry(char **command) {
        if (core_create(0, true) < 0)
                die(STATUS_ERROR, "cannot make a cookie: %s", core_error(errno));
        (void) execvp(command[0], command);
        die_errno("cannot run %s", command[0]);
}

static void tag_one(pid_t tid, void *userdata) {
        size_t *n = userdata;

        if (core_share_to(tid, false) == 0)
                (*n)++;
        else if (errno != ESRCH)
                die(STATUS_ERROR, "cannot give task %d a cookie: %s", tid, core_error(errno));
}

static void tag(const char *cgroup, bool off) {
        const char *name = cgroup_name(cgroup);
        size_t n = 0;

        if (!off && core_create(0, false) < 0)
                die(STATUS_ERROR, "cannot make a cookie: %s", core_error(errno));
        cgroup_threads(name, tag_one, &n);
        (void) printf("%s: %zu threads\n", name, n);
}

int main(int argc, char **argv) {
        const char *verb = argc > 1 ? argv[1] : "";
        const char *first = argc > 2 ? argv[2] : "";
        int n = argc - 2;

        if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0) {
                (void) fputs(usage, stdout);
                return 0;
        }
        if (strcmp(verb, "busy") == 0 && n == 1)
                processes(parse_number("N", first, 1, COUNT_MAX), true, true);
        if (strcmp(verb, "sleepers") == 0 && n == 1)
                processes(parse_number("N", first, 1, COUNT_MAX), false, true);
        if (strcmp(verb, "nondumpable") == 0 && n == 1)
                processes(parse_number("N", first, 1, COUNT_MAX), false, false);
        if (strcmp(verb, "threads") == 0 && n == 1)
                threads(parse_number("N", first, 1, COUNT_MAX), spin_thread);
        if (strcmp(verb, "idle-threads") == 0 && n == 1)
                threads(parse_number("N", first, 1, COUNT_MAX), sleep_thread);
        if (strcmp(verb, "forker") == 0 && n == 0)
                forker(false);
        if (strcmp(verb, "execer") == 0 && n == 0)
                forker(true);
        if (strcmp(verb, "chain") == 0 && n == 0)
                chain();
        if (strcmp(verb, "ping") == 0 && n == 0)
                ping();
        if (strcmp(verb, "into") == 0 && n == 2)
                into(first, parse_number("N", argv[3], 1, COUNT_MAX));
        if (strcmp(verb, "escape") == 0 && n == 1)
                leave(0, parse_number("MS", first, 1, 1000000));
        if (strcmp(verb, "steal") == 0 && n == 2)
                leave((pid_t) parse_number("PID", first, 1, INT32_MAX), parse_number("MS", argv[3], 1, 1000000));
        if (strcmp(verb, "carry") == 0 && n >= 1)
                carry(argv + 2);
        if ((strcmp(verb, "tag") == 0 || strcmp(verb, "untag") == 0) && n == 1) {
                tag(first, strcmp(verb, "untag") == 0);
                return 0;
        }
        die(STATUS_USAGE, "not understood. See load --help");
}
