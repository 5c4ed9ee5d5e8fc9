/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How long a Tag call takes, beside the least that can be done: read cgroup.procs, hand each process the calling
 * thread's cookie, read again, plus one empty bus call. Both are timed in turns, each from the same state: none of the
 * cgroup's tasks has a cookie, and the daemon has had time to finish what it does after a call.
 */

#include "common.h"
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS    9
#define PROCESSES 4096 /* room for them */

static const size_t sizes[] = {500, 1000, 4000};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static const char *const names[N_SIZES] = {"bench-500", "bench-1000", "bench-4000"};

/* Reads cgroup.procs of a cgroup as a whole. */
static size_t read_procs(const char *cgroup, pid_t *pids) {
        static char text[PROCESSES * 12];
        char path[256];
        size_t have = 0, n_pids = 0;
        ssize_t n;
        int fd;

        (void) snprintf(path, sizeof path, "/sys/fs/cgroup/%s/cgroup.procs", cgroup);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                die_errno("cannot open %s", path);
        while ((n = read(fd, text + have, sizeof text - have)) > 0)
                have += (size_t) n;
        if (n < 0 || have == sizeof text)
                die(STATUS_ERROR, "cannot read %s", path);
        (void) close(fd);
        for (const char *line = text; line < text + have && n_pids < PROCESSES; line++) {
                pid_t pid = 0;

                while (*line >= '0' && *line <= '9')
                        pid = pid * 10 + (*line++ - '0');
                pids[n_pids++] = pid;
        }
        return n_pids;
}

static void share(const pid_t *pids, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (core_share_to(pids[i], true) < 0)
                        die_errno("cannot give process %d a cookie", (int) pids[i]);
}

/* Lets the daemon finish: it looks at a tenant once more a tenth of a second after a change. */
static void settle(void) {
        (void) usleep(300000);
}

/* What is to be beaten, microseconds. */
static double bare(sd_bus *bus, size_t size) {
        static pid_t pids[PROCESSES], again[PROCESSES];
        double time, began;
        size_t n;

        if (core_create(0, false) < 0)
                die_errno("cannot make a cookie");
        began = now_us();
        n = read_procs(names[size], pids);
        share(pids, n);
        if (read_procs(names[size], again) != n || n != sizes[size])
                die(STATUS_ERROR, "%s has not %zu processes", names[size], sizes[size]);
        time = now_us() - began;
        /* Back to 0: the bus must not be kept off this core's other thread. */
        if (core_share_from(1) < 0)
                die_errno("cannot take cookie 0");
        share(pids, n);
        settle(); /* the call that is measured comes out of the blue, too */
        began = now_us();
        bus_ping(bus);
        return time + now_us() - began;
}

/* What is measured, microseconds. */
static double tag(sd_bus *bus, size_t size) {
        static pid_t pids[PROCESSES];
        uint64_t first = 0, cookie = 0;
        double time, began;
        char cgroup[64];

        (void) snprintf(cgroup, sizeof cgroup, "/%s", names[size]);
        began = now_us();
        bus_tag(bus, names[size], cgroup);
        time = now_us() - began;

        size_t n = read_procs(names[size], pids);
        for (size_t i = 0; i < n; i++) {
                if (core_get(pids[i], &cookie) < 0)
                        die_errno("cannot read the cookie of process %d", (int) pids[i]);
                if (i == 0)
                        first = cookie;
                if (cookie == 0 || cookie != first)
                        die(STATUS_FAILS, "process %d of %s has not its cookie after Tag", (int) pids[i], names[size]);
        }
        bus_untag(bus, names[size]);
        for (size_t i = 0; i < n; i++)
                if (core_get(pids[i], &cookie) < 0 || cookie != 0)
                        die(STATUS_FAILS, "process %d of %s has a cookie after Untag", (int) pids[i], names[size]);
        return time;
}

int main(int argc, char **argv) {
        double ratios[N_SIZES][ROUNDS], growth[ROUNDS];
        bool alone = argc > 1 && strcmp(argv[1], "alone") == 0;

        for (size_t size = 0; size < N_SIZES; size++) {
                char cgroup[64];

                (void) snprintf(cgroup, sizeof cgroup, "/%s", names[size]);
                cgroup_fill(cgroup, sizes[size]);
        }
        cgroup_fill("/bench-other", 1);

        sd_bus *bus = bus_open();
        if (!alone)
                bus_tag(bus, "bench-other", "/bench-other");

        /* The first round is not counted: programs and caches are cold. */
        for (int round = -1; round < ROUNDS; round++) {
                double per_task[N_SIZES];

                for (size_t size = 0; size < N_SIZES; size++) {
                        settle();
                        double least = bare(bus, size);
                        settle();
                        double time = tag(bus, size);

                        per_task[size] = time / (double) sizes[size];
                        (void) printf(
                                "# round %d, %zu processes: bare loop %.0f us, Tag %.0f us, %.2f us a task: %.2f\n",
                                round + 1, sizes[size], least, time, per_task[size], time / least);
                        (void) fflush(stdout);
                        if (round >= 0)
                                ratios[size][round] = time / least;
                }
                if (round >= 0)
                        growth[round] = per_task[N_SIZES - 1] / per_task[0];
        }
        (void) printf("# Tag / bare loop of 500 processes: %.2f\n", median(ratios[0], ROUNDS));
        judge("Tag / bare loop, 1,000 processes", median(ratios[1], ROUNDS), 1.5);
        judge("Tag / bare loop, 4,000 processes", median(ratios[2], ROUNDS), 1.5);
        judge("Tag, time per task of 4,000 / of 500 processes", median(growth, ROUNDS), 1.2);

        if (!alone)
                bus_untag(bus, "bench-other");
        cgroups_empty();
        sd_bus_flush_close_unref(bus);
        return 0;
}
