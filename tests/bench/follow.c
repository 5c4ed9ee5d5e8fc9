/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How long a task that joins a tenant is without the tenant's cookie, beside a bare program that does nothing but wait
 * for it: moved in by somebody else (inotify), cloned into the cgroup (proc connector), started by systemd in a slice.
 * With "busy", two tagged tenants fill every CPU meanwhile, and the bare program runs under SCHED_FIFO.
 */

#include "common.h"
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLES  200
#define STARTS   20
#define WATCHES  4096
#define LATE_US  5e6
#define CLOCK_US 1000.0 /* less than this says nothing about a start of a unit */

#define ROOT "/sys/fs/cgroup"

/* ---- the bare programs ---- */

static bool busy;

static void share_all(const char *folder) {
        char path[512];
        unsigned long pid;
        FILE *file;

        (void) snprintf(path, sizeof path, "%s/cgroup.procs", folder);
        file = fopen(path, "re");
        while (file && fscanf(file, "%lu", &pid) == 1)
                (void) core_share_to((pid_t) pid, true);
        if (file)
                (void) fclose(file);
}

/* Waits for writes to cgroup.procs in the folder and in those that are made in it. */
static void bare_inotify(const char *folder) {
        static char *folders[WATCHES];
        char buffer[4096] __attribute__((aligned(8)));
        int fd = inotify_init1(IN_CLOEXEC), wd = inotify_add_watch(fd, folder, IN_MODIFY | IN_CREATE);

        if (fd < 0 || wd < 0)
                die_errno("cannot watch %s", folder);
        folders[wd] = strdup(folder);
        for (;;) {
                ssize_t n = read(fd, buffer, sizeof buffer);

                for (char *at = buffer; n > 0 && at < buffer + n;) {
                        const struct inotify_event *e = (const void *) at;

                        at += sizeof *e + e->len;
                        if (e->wd < 0 || e->wd >= WATCHES || !folders[e->wd])
                                continue;
                        if (e->mask & IN_CREATE && e->mask & IN_ISDIR) {
                                char *path;

                                if (asprintf(&path, "%s/%s", folders[e->wd], e->name) < 0)
                                        die_errno("no memory");
                                wd = inotify_add_watch(fd, path, IN_MODIFY);
                                if (wd >= 0 && wd < WATCHES) {
                                        folders[wd] = path;
                                        share_all(path);
                                }
                        } else if (e->mask & IN_MODIFY && strcmp(e->name, "cgroup.procs") == 0)
                                share_all(folders[e->wd]);
                }
        }
}

/* Waits for the forks of one process. */
static void bare_connector(pid_t parent) {
        struct {
                struct nlmsghdr header;
                struct cn_msg about;
                enum proc_cn_mcast_op op;
        } __attribute__((packed)) request = {
                .header = {.nlmsg_len = sizeof request, .nlmsg_type = NLMSG_DONE},
                .about = {.id = {CN_IDX_PROC, CN_VAL_PROC}, .len = sizeof(enum proc_cn_mcast_op)},
                .op = PROC_CN_MCAST_LISTEN,
        };
        struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
        char buffer[4096] __attribute__((aligned(8)));
        int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);

        if (fd < 0 || bind(fd, (struct sockaddr *) &address, sizeof address) < 0 ||
            send(fd, &request, sizeof request, 0) < 0)
                die_errno("cannot listen to process events");
        for (;;) {
                ssize_t n = recv(fd, buffer, sizeof buffer, 0);
                const struct cn_msg *about = NLMSG_DATA((struct nlmsghdr *) buffer);
                struct proc_event event;

                if (n < (ssize_t) (NLMSG_HDRLEN + sizeof *about + sizeof event.event_data.fork))
                        continue;
                memcpy(&event, about->data, sizeof event);
                if (event.what == PROC_EVENT_FORK && event.event_data.fork.parent_tgid == parent)
                        (void) core_share_to(event.event_data.fork.child_tgid, true);
        }
}

static void be_realtime(int priority) {
        if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &(struct sched_param){.sched_priority = priority}) <
            0)
                die_errno("cannot be real-time");
}

/* Starts one of them, with a cookie of its own. */
static pid_t bare_start(const char *folder) {
        pid_t parent = getpid(), pid = fork();

        if (pid < 0)
                die_errno("cannot fork");
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (core_create(0, false) < 0)
                        die_errno("cannot make a cookie");
                if (busy)
                        be_realtime(1);
                if (folder)
                        bare_inotify(folder);
                bare_connector(parent);
        }
        (void) usleep(300000);
        return pid;
}

static void end(pid_t pid) {
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
}

/* ---- what is measured ---- */

/* Until the task has a cookie, microseconds. It is not waited for in a loop: that would take the core's other thread.
 */
static double until_tagged(pid_t pid, double began, const char *what) {
        uint64_t cookie = 0;

        for (;;) {
                if (core_get(pid, &cookie) < 0)
                        die_errno("cannot read the cookie of process %d", (int) pid);
                double time = now_us() - began;
                if (cookie != 0)
                        return time;
                if (time > LATE_US)
                        die(STATUS_FAILS, "process %d is not tagged in %s", (int) pid, what);
                (void) usleep(20);
        }
}

static double sample_move(const char *folder) {
        char path[256], text[16];
        pid_t pid = cgroup_sleeper("/bench-out");
        int fd, length;

        (void) snprintf(path, sizeof path, "%s/cgroup.procs", folder);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        length = snprintf(text, sizeof text, "%d", (int) pid);
        (void) usleep(20000);
        if (fd < 0 || write(fd, text, (size_t) length) < 0)
                die_errno("cannot move into %s", folder);
        double time = until_tagged(pid, now_us(), folder);
        (void) close(fd);
        end(pid);
        return time;
}

static double sample_clone(const char *folder) {
        pid_t pid = cgroup_sleeper(folder + strlen(ROOT));
        double time = until_tagged(pid, now_us(), folder);

        end(pid);
        (void) usleep(20000);
        return time;
}

/* A unit that says itself how long it was untagged after it was executed. */
static double sample_start(const char *folder) {
        char command[256], line[64] = "";
        const char *slice = strrchr(folder, '/') + 1;
        FILE *output;

        (void) snprintf(command, sizeof command, "systemd-run --quiet --collect --pipe --wait --slice=%s %s self",
                        slice, program_invocation_name);
        output = popen(command, "re");
        if (!output || !fgets(line, sizeof line, output))
                die(STATUS_ERROR, "a unit in %s says nothing", slice);
        (void) pclose(output);
        return strtod(line, NULL);
}

static int compare(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

static double p99(double *values, size_t n) {
        qsort(values, n, sizeof *values, compare);
        return values[n - 1 - n / 100];
}

/* Half of the samples of each come before, half after those of the other. */
static void compare_with_bare(const char *what, double (*sample)(const char *folder), bool inotify, const char *bare,
                              const char *tenant, size_t n, double least) {
        double times[2][SAMPLES];
        char text[128];

        for (size_t half = 0; half < 2; half++) {
                pid_t pid = bare_start(inotify ? bare : NULL);

                for (size_t i = half * n / 2; i < (half + 1) * n / 2; i++)
                        times[0][i] = sample(bare);
                end(pid);
                (void) usleep(300000);
                for (size_t i = half * n / 2; i < (half + 1) * n / 2; i++)
                        times[1][i] = sample(tenant);
        }
        double late[2] = {p99(times[0], n), p99(times[1], n)};
        (void) printf("# %s%s: bare %.0f us, p99 %.0f; daemon %.0f us, p99 %.0f\n", what, busy ? ", busy" : "",
                      median(times[0], n), late[0], median(times[1], n), late[1]);
        (void) snprintf(text, sizeof text, "p99 of the daemon / of a bare program, %s%s", what,
                        busy ? ", busy host" : "");
        judge(text, late[1] / (late[0] > least ? late[0] : least), busy ? 3 : 2);
}

static int self(void) {
        double began = now_us();
        uint64_t cookie = 0;

        while (core_get(0, &cookie) == 0 && cookie == 0 && now_us() - began < LATE_US)
                (void) usleep(20);
        if (cookie == 0)
                die(STATUS_FAILS, "not tagged");
        (void) printf("%.0f\n", now_us() - began);
        return 0;
}

/* Two tagged tenants with as many busy tasks each as there are CPUs. */
static void fill_cpus(sd_bus *bus) {
        static const char *const names[] = {"/bench-busy-a", "/bench-busy-b"};

        for (size_t i = 0; i < 2; i++) {
                cgroup_fill_busy(names[i], (size_t) sysconf(_SC_NPROCESSORS_ONLN));
                bus_tag(bus, names[i] + 1, names[i]);
        }
        /* Whoever measures is not to wait behind them. */
        be_realtime(2);
}

int main(int argc, char **argv) {
        if (argc > 1 && strcmp(argv[1], "self") == 0)
                return self();
        busy = argc > 1 && strcmp(argv[1], "busy") == 0;
        (void) prctl(PR_SET_TIMERSLACK, 1);

        cgroup_fill("/bench-out", 1);
        cgroup_fill("/bench-bare", 4);
        cgroup_fill("/bench-tenant", 4);
        sd_bus *bus = bus_open();
        bus_tag(bus, "bench-tenant", "/bench-tenant");
        slice_start("benchbare.slice");
        slice_start("benchtenant.slice");
        bus_tag(bus, "bench-slice", "/benchtenant.slice");
        if (busy)
                fill_cpus(bus);
        (void) sleep(2);

        compare_with_bare("moved in", sample_move, true, ROOT "/bench-bare", ROOT "/bench-tenant", SAMPLES, 1);
        compare_with_bare("cloned into it", sample_clone, false, ROOT "/bench-bare", ROOT "/bench-tenant", SAMPLES, 1);
        compare_with_bare("started by systemd", sample_start, true, ROOT "/benchbare.slice", ROOT "/benchtenant.slice",
                          STARTS, CLOCK_US);

        bus_untag(bus, "bench-tenant");
        bus_untag(bus, "bench-slice");
        if (busy) {
                bus_untag(bus, "bench-busy-a");
                bus_untag(bus, "bench-busy-b");
        }
        slice_stop("benchbare.slice");
        slice_stop("benchtenant.slice");
        cgroups_empty();
        sd_bus_flush_close_unref(bus);
        return 0;
}
