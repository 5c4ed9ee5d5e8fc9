/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the daemon takes of the host while somebody forks without a pause in a part of it that is no tenant's: CPU time
 * for each fork, beside that of cgrulesengd (Debian's cgroup-tools) with one rule that never matches. What joins a
 * tenant meanwhile is not missed.
 */

#include "common.h"
#include "guest.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORM_S  30
#define JOINERS  20
#define LIMIT    0.1
#define PATIENCE 20e6 /* microseconds */

/* Forks since boot. */
static unsigned long forks(void) {
        unsigned long value = 0;
        char line[4096];
        FILE *file = fopen("/proc/stat", "re");

        while (file && fgets(line, sizeof line, file))
                if (sscanf(line, "processes %lu", &value) == 1)
                        break;
        if (file)
                (void) fclose(file);
        return value;
}

static pid_t start(const char *command) {
        pid_t pid = fork();

        if (pid < 0)
                die_errno("cannot fork");
        if (pid == 0) {
                (void) execl("/bin/sh", "sh", "-c", command, NULL);
                _exit(1);
        }
        return pid;
}

/* CPU time of the process for each fork while forks are made without a pause, microseconds. */
static double cost(pid_t pid) {
        pid_t storm = start("echo $$ >/sys/fs/cgroup/bench-storm/cgroup.procs; exec load forker");

        (void) sleep(1);
        unsigned long before = forks();
        double used = cpu_us(pid);
        (void) sleep(STORM_S);
        used = cpu_us(pid) - used;
        unsigned long n = forks() - before;
        (void) kill(storm, SIGKILL);
        (void) waitpid(storm, NULL, 0);
        if (n < 1000)
                die(STATUS_ERROR, "only %lu forks in %d s", n, STORM_S);
        (void) printf("# %lu forks in %d s: %.1f us each\n", n, STORM_S, used / (double) n);
        return used / (double) n;
}

/* Whoever joins while there are forks without a pause gets its cookie. */
static void join(void) {
        pid_t storm = start("echo $$ >/sys/fs/cgroup/bench-storm/cgroup.procs; exec load forker");
        pid_t pids[JOINERS];
        double began = now_us();
        size_t tagged = 0;

        for (size_t i = 0; i < JOINERS; i++) {
                pids[i] = cgroup_sleeper("/bench-tenant");
                (void) usleep(200000);
        }
        while (tagged < JOINERS && now_us() - began < PATIENCE) {
                tagged = 0;
                for (size_t i = 0; i < JOINERS; i++) {
                        uint64_t cookie = 0;
                        tagged += core_get(pids[i], &cookie) == 0 && cookie != 0;
                }
                (void) usleep(1000);
        }
        judge("untagged of 20 that were cloned into a tenant meanwhile", (double) (JOINERS - tagged), 0);
        (void) kill(storm, SIGKILL);
        (void) waitpid(storm, NULL, 0);
        for (size_t i = 0; i < JOINERS; i++) {
                (void) kill(pids[i], SIGKILL);
                (void) waitpid(pids[i], NULL, 0);
        }
}

int main(void) {
        cgroup_fill("/bench-tenant", 4);
        cgroup_fill("/bench-storm", 1);
        sd_bus *bus = bus_open();

        /* The other one first, while the daemon does not listen. */
        /* It wants these to be there. */
        FILE *groups = fopen("/etc/cgconfig.conf", "ae");
        if (!groups || fclose(groups) != 0 || (mkdir("/etc/cgconfig.d", 0755) < 0 && errno != EEXIST))
                die_errno("cannot make what cgrulesengd wants");
        FILE *rules = fopen("/etc/cgrules.conf", "we");
        if (!rules || fputs("nobody cpu /nowhere\n", rules) < 0 || fclose(rules) != 0)
                die_errno("cannot write the rule of cgrulesengd");
        pid_t other = start("exec cgrulesengd -n -Q -f /dev/null");
        (void) sleep(2);
        if (waitpid(other, NULL, WNOHANG) != 0)
                die(STATUS_ERROR, "cgrulesengd does not run");
        double theirs = cost(other);
        (void) kill(other, SIGKILL);
        (void) waitpid(other, NULL, 0);

        bus_tag(bus, "bench-tenant", "/bench-tenant");
        (void) sleep(1);
        double ours = cost((pid_t) unit_property(bus, "MainPID", 'u'));
        judge("CPU time for a fork elsewhere / that of cgrulesengd", ours / theirs, LIMIT);
        join();

        bus_untag(bus, "bench-tenant");
        cgroups_empty();
        sd_bus_flush_close_unref(bus);
        return 0;
}
