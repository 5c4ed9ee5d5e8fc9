/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads cookies from the kernel, task by task, and checks what is asserted of them. It knows of the product only the
 * name of its process. Every thread of the host is looked at, through /proc; tasks that end meanwhile, and those that
 * have ended but are still there (they never run again), do not count.
 *
 * Exit status: 0 it holds, 1 it does not (with the tasks that break it on stderr), 2 usage, 3 cookies cannot be read.
 */

#include "guest.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAEMON_COMM "coreschedd"
#define SHOWN_MAX   20

struct task {
        pid_t tid, tgid;
        uint64_t cookie;
        char comm[64];
        char *cgroup;
};

static struct task *tasks;
static size_t n_tasks;

static const char usage[] =
        "Usage: cookies                       every thread of the host: TID TGID COOKIE CGROUP COMM\n"
        "       cookies tagged                those that carry a cookie\n"
        "       cookies cgroup CGROUP...      those in these cgroups and below\n"
        "       cookies pid PID...            those of these processes\n"
        "       cookies assert-same CGROUP    all threads there carry one and the same cookie\n"
        "       cookies assert-zero CGROUP    no thread there carries any\n"
        "       cookies assert-distinct CGROUP CGROUP...  assert-same for each, and no two share a cookie\n"
        "       cookies assert-only [CGROUP...]  nobody else carries any, but for one thread of " DAEMON_COMM "\n"
        "                                     at most, and that one's cookie is nobody else's\n";

/* Reads a small file of /proc; -1 if it, or its task, is not there any more. */
static ssize_t read_proc(char *buffer, size_t size, const char *format, int tgid, int tid) {
        char path[64];
        FILE *file;
        size_t length;

        (void) snprintf(path, sizeof path, format, tgid, tid);
        file = fopen(path, "re");
        if (!file)
                return -1;
        length = fread(buffer, 1, size - 1, file);
        (void) fclose(file);
        buffer[length] = '\0';
        return length == 0 ? -1 : (ssize_t) length;
}

static void add_task(pid_t tgid, pid_t tid) {
        static size_t allocated;
        char buffer[8192], *open, *close, *line, *end;
        struct task task = {.tid = tid, .tgid = tgid};

        if (read_proc(buffer, sizeof buffer, "/proc/%d/task/%d/stat", tgid, tid) < 0)
                return;
        open = strchr(buffer, '(');
        close = strrchr(buffer, ')');
        if (!open || !close || close[1] == '\0')
                die(STATUS_ERROR, "cannot make sense of /proc/%d/task/%d/stat", tgid, tid);
        if (strchr("ZX", close[2]))
                return;
        *close = '\0';
        (void) snprintf(task.comm, sizeof task.comm, "%s", open + 1);

        if (read_proc(buffer, sizeof buffer, "/proc/%d/task/%d/cgroup", tgid, tid) < 0)
                return;
        line = strstr(buffer, "0::");
        if (!line)
                die(STATUS_ERROR, "task %d is in no cgroup v2", tid);
        line += strlen("0::");
        end = strchr(line, '\n');
        if (end)
                *end = '\0';

        if (core_get(tid, &task.cookie) < 0) {
                if (errno == ESRCH)
                        return;
                die(STATUS_ERROR, "cannot read the cookie of task %d (%s): %s", tid, task.comm, core_error(errno));
        }

        task.cgroup = strdup(line);
        if (n_tasks == allocated) {
                allocated = allocated ? 2 * allocated : 1024;
                tasks = realloc(tasks, allocated * sizeof *tasks);
        }
        if (!task.cgroup || !tasks)
                die_errno("no memory");
        tasks[n_tasks++] = task;
}

static void read_all(void) {
        DIR *proc = opendir("/proc");
        struct dirent *entry;

        if (!proc)
                die_errno("cannot read /proc");
        while ((entry = readdir(proc))) {
                char path[64];
                DIR *threads;
                struct dirent *thread;

                if (!isdigit((unsigned char) entry->d_name[0]))
                        continue;
                (void) snprintf(path, sizeof path, "/proc/%d/task", atoi(entry->d_name));
                threads = opendir(path);
                if (!threads)
                        continue;
                while ((thread = readdir(threads)))
                        if (isdigit((unsigned char) thread->d_name[0]))
                                add_task(atoi(entry->d_name), atoi(thread->d_name));
                (void) closedir(threads);
        }
        (void) closedir(proc);
}

static void print_task(FILE *to, const struct task *task) {
        (void) fprintf(to, "%d %d %08" PRIx64 " %s %s\n", task->tid, task->tgid, task->cookie, task->cgroup,
                       task->comm);
}

/* Shows a task that breaks what was asserted, as long as there are not too many. */
static void blame(const struct task *task, size_t n) {
        if (n < SHOWN_MAX)
                print_task(stderr, task);
        else if (n == SHOWN_MAX)
                (void) fputs("...\n", stderr);
}

/* The cookie that most of the cgroup's threads carry; how many threads there are. */
static uint64_t common_cookie(const char *cgroup, size_t *ret_n) {
        uint64_t best = 0;
        size_t most = 0, n = 0;

        for (size_t i = 0; i < n_tasks; i++) {
                size_t count = 0;

                if (!cgroup_below(tasks[i].cgroup, cgroup))
                        continue;
                n++;
                if (most > 0 && tasks[i].cookie == best)
                        continue;
                for (size_t j = 0; j < n_tasks; j++)
                        count += tasks[j].cookie == tasks[i].cookie && cgroup_below(tasks[j].cgroup, cgroup);
                if (count > most) {
                        most = count;
                        best = tasks[i].cookie;
                }
        }
        *ret_n = n;
        return best;
}

/* All threads of the cgroup carry 'cookie'; says so or who does not. */
static bool all_carry(const char *cgroup, uint64_t cookie, size_t n) {
        size_t wrong = 0;

        if (n == 0) {
                (void) fprintf(stderr, "%s has no task at all: nothing was checked\n", cgroup);
                return false;
        }
        for (size_t i = 0; i < n_tasks; i++)
                if (cgroup_below(tasks[i].cgroup, cgroup) && tasks[i].cookie != cookie)
                        blame(&tasks[i], wrong++);
        if (wrong > 0)
                (void) fprintf(stderr, "%zu of the %zu threads in %s do not carry the cookie %08" PRIx64 "\n", wrong, n,
                               cgroup, cookie);
        return wrong == 0;
}

static bool assert_same(const char *cgroup, uint64_t *ret_cookie) {
        size_t n;

        *ret_cookie = common_cookie(cgroup, &n);
        if (n > 0 && *ret_cookie == 0) {
                (void) fprintf(stderr, "most of the %zu threads in %s carry no cookie\n", n, cgroup);
                return false;
        }
        if (!all_carry(cgroup, *ret_cookie, n))
                return false;
        (void) printf("%s: %zu threads carry %08" PRIx64 "\n", cgroup, n, *ret_cookie);
        return true;
}

static bool assert_zero(const char *cgroup) {
        size_t n;

        (void) common_cookie(cgroup, &n);
        if (!all_carry(cgroup, 0, n))
                return false;
        (void) printf("%s: %zu threads carry no cookie\n", cgroup, n);
        return true;
}

static bool assert_distinct(char **cgroups, int n) {
        uint64_t *cookies = calloc((size_t) n, sizeof *cookies);
        bool good = true;

        if (!cookies)
                die_errno("no memory");
        for (int i = 0; i < n; i++) {
                good = assert_same(cgroups[i], &cookies[i]) && good;
                for (int j = 0; j < i; j++)
                        if (cookies[i] != 0 && cookies[i] == cookies[j]) {
                                (void) fprintf(stderr, "%s and %s share the cookie %08" PRIx64 "\n", cgroups[j],
                                               cgroups[i], cookies[i]);
                                good = false;
                        }
        }
        free(cookies);
        return good;
}

static bool is_daemon(pid_t tgid) {
        char comm[64];

        return read_proc(comm, sizeof comm, "/proc/%d/comm", tgid, 0) > 0 && strcmp(comm, DAEMON_COMM "\n") == 0;
}

static bool assert_only(char **cgroups, int n) {
        const struct task *parked = NULL;
        size_t wrong = 0;

        for (size_t i = 0; i < n_tasks; i++) {
                bool ours = false;

                for (int j = 0; j < n && !ours; j++)
                        ours = cgroup_below(tasks[i].cgroup, cgroups[j]);
                if (ours || tasks[i].cookie == 0)
                        continue;
                if (!parked && is_daemon(tasks[i].tgid))
                        parked = &tasks[i];
                else
                        blame(&tasks[i], wrong++);
        }
        if (wrong > 0)
                (void) fprintf(stderr, "%zu threads carry a cookie and should not\n", wrong);
        for (size_t i = 0; parked && i < n_tasks; i++)
                if (&tasks[i] != parked && tasks[i].cookie == parked->cookie) {
                        blame(&tasks[i], wrong++);
                        (void) fprintf(stderr, "it carries the cookie of the parked thread %d of " DAEMON_COMM "\n",
                                       parked->tid);
                }
        if (wrong == 0)
                (void) printf("nobody else carries a cookie (%s parked thread)\n", parked ? "one" : "no");
        return wrong == 0;
}

static void names_to_cgroups(char **names, int n) {
        for (int i = 0; i < n; i++)
                names[i] = (char *) cgroup_name(names[i]);
}

int main(int argc, char **argv) {
        const char *verb = argc > 1 ? argv[1] : "all";
        char **names = argv + 2;
        int n = argc > 2 ? argc - 2 : 0;
        uint64_t cookie;
        bool good = true;

        if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0) {
                (void) fputs(usage, stdout);
                return STATUS_HOLDS;
        }
        if (strcmp(verb, "all") == 0 || strcmp(verb, "tagged") == 0) {
                if (n != 0)
                        die(STATUS_USAGE, "'%s' takes no arguments", verb);
                read_all();
                for (size_t i = 0; i < n_tasks; i++)
                        if (tasks[i].cookie != 0 || strcmp(verb, "all") == 0)
                                print_task(stdout, &tasks[i]);
        } else if (strcmp(verb, "pid") == 0 && n > 0) {
                read_all();
                for (int j = 0; j < n; j++) {
                        pid_t pid = (pid_t) parse_number("PID", names[j], 1, INT32_MAX);
                        bool found = false;

                        for (size_t i = 0; i < n_tasks; i++)
                                if (tasks[i].tgid == pid) {
                                        print_task(stdout, &tasks[i]);
                                        found = true;
                                }
                        if (!found)
                                die(STATUS_ERROR, "there is no process %d", pid);
                }
        } else if (strcmp(verb, "cgroup") == 0 && n > 0) {
                names_to_cgroups(names, n);
                read_all();
                for (size_t i = 0; i < n_tasks; i++)
                        for (int j = 0; j < n; j++)
                                if (cgroup_below(tasks[i].cgroup, names[j])) {
                                        print_task(stdout, &tasks[i]);
                                        break;
                                }
        } else if (strncmp(verb, "assert-", strlen("assert-")) == 0) {
                names_to_cgroups(names, n);
                read_all();
                if (strcmp(verb, "assert-same") == 0 && n == 1)
                        good = assert_same(names[0], &cookie);
                else if (strcmp(verb, "assert-zero") == 0 && n == 1)
                        good = assert_zero(names[0]);
                else if (strcmp(verb, "assert-distinct") == 0 && n >= 2)
                        good = assert_distinct(names, n);
                else if (strcmp(verb, "assert-only") == 0)
                        good = assert_only(names, n);
                else
                        die(STATUS_USAGE, "'%s' takes another number of cgroups. See cookies --help", verb);
        } else
                die(STATUS_USAGE, "not understood. See cookies --help");

        if (fflush(stdout) != 0)
                die_errno("cannot write");
        return good ? STATUS_HOLDS : STATUS_FAILS;
}
