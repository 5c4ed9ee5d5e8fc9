/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the daemon takes of the host: memory with a thousand tenants of four tasks each, and how often it wakes while
 * there is nothing to do. And, for comparison only, what a Tag call costs with few and with many tenants there already.
 */

#include "common.h"
#include "guest.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TENANTS    1000
#define TASKS      4
#define RSS_MAX    16.0 /* MiB */
#define IDLE_S     150
#define SOME_CALLS 50
#define MORE_TASKS 1000
#define SWEEPS_S   40

/* The number that a line of a file in /proc begins with after its key. */
static unsigned long proc_number(const char *path, const char *key) {
        FILE *file = fopen(path, "re");
        char line[256];
        unsigned long value = 0;
        bool found = false;

        if (!file)
                die_errno("cannot open %s", path);
        while (!found && fgets(line, sizeof line, file))
                if (strncmp(line, key, strlen(key)) == 0)
                        found = sscanf(line + strlen(key), ": %lu", &value) == 1;
        (void) fclose(file);
        if (!found)
                die(STATUS_ERROR, "there is no %s in %s", key, path);
        return value;
}

/* How often threads of the process went to sleep so far. */
static unsigned long sleeps(pid_t pid) {
        char folder[64], path[512];
        unsigned long sum = 0;
        struct dirent *entry;
        DIR *directory;

        (void) snprintf(folder, sizeof folder, "/proc/%d/task", (int) pid);
        directory = opendir(folder);
        if (!directory)
                die_errno("cannot open %s", folder);
        while ((entry = readdir(directory)))
                if (entry->d_name[0] != '.') {
                        (void) snprintf(path, sizeof path, "%s/%s/status", folder, entry->d_name);
                        sum += proc_number(path, "voluntary_ctxt_switches");
                }
        (void) closedir(directory);
        return sum;
}

static void get(pid_t tid, void *userdata) {
        pid_t **next = userdata;

        *(*next)++ = tid;
}

/* The check of all tenants, once a second for this, beside the bare question for each task's cookie. */
static void judge_sweep(sd_bus *bus, pid_t pid) {
        static pid_t tids[TENANTS * TASKS + MORE_TASKS + 64], *end = tids;
        char name[64];

        cgroup_fill("/bench-more", MORE_TASKS);
        bus_tag(bus, "bench-more", "/bench-more");
        for (int i = 0; i < TENANTS; i++) {
                (void) snprintf(name, sizeof name, "/bench-%04d", i);
                cgroup_threads(name, get, &end);
        }
        cgroup_threads("/bench-more", get, &end);
        verify_every(1);
        (void) sleep(10);

        double used = cpu_us(pid), bare = 0;
        (void) sleep(SWEEPS_S);
        used = (cpu_us(pid) - used) / SWEEPS_S;
        for (int round = 0; round < 10; round++) {
                double began = cpu_us(getpid());
                for (const pid_t *tid = tids; tid < end; tid++) {
                        uint64_t cookie;
                        if (core_get(*tid, &cookie) < 0)
                                die_errno("cannot read the cookie of process %d", (int) *tid);
                }
                bare += (cpu_us(getpid()) - began) / 10;
        }
        (void) printf("# a check of %d tenants takes %.0f us, the bare question for %zu tasks %.0f us\n", TENANTS + 1,
                      used, (size_t) (end - tids), bare);
        judge("CPU time of a check / of the bare questions", used / bare, 1.5);
}

int main(void) {
        double calls[2][SOME_CALLS];
        char path[64], name[64];

        sd_bus *bus = bus_open();
        bus_ping(bus); /* it runs now */
        pid_t pid = (pid_t) unit_property(bus, "MainPID", 'u');
        double watchdog = (double) unit_property(bus, "WatchdogUSec", 't') / 1e6;
        (void) snprintf(path, sizeof path, "/proc/%d/status", (int) pid);
        if (pid <= 0 || watchdog <= 0)
                die(STATUS_ERROR, "coreschedd has no process, or no watchdog");

        /* A ping of the watchdog's is due after half of its time; what else wakes the daemon is too much. */
        (void) sleep(2);
        unsigned long before = sleeps(pid);
        (void) sleep(IDLE_S);
        judge("wakeups in 150 s without tenants", (double) (sleeps(pid) - before), IDLE_S / (watchdog / 2) + 1);

        (void) printf("# resident without tenants: %.1f MiB\n", (double) proc_number(path, "VmRSS") / 1024);
        for (int i = 0; i < TENANTS; i++) {
                (void) snprintf(name, sizeof name, "/bench-%04d", i);
                cgroup_fill(name, TASKS);
        }
        for (int i = 0; i < TENANTS; i++) {
                (void) snprintf(name, sizeof name, "/bench-%04d", i);
                double began = now_us();
                bus_tag(bus, name + 1, name);
                if (i < SOME_CALLS)
                        calls[0][i] = now_us() - began;
                else if (i >= TENANTS - SOME_CALLS)
                        calls[1][i - (TENANTS - SOME_CALLS)] = now_us() - began;
        }
        (void) sleep(5); /* it looks once more at each, and sets its watches */
        judge("MiB resident with 1,000 tenants of 4 tasks", (double) proc_number(path, "VmRSS") / 1024, RSS_MAX);
        (void) printf("# a Tag call of 4 tasks takes %.0f us with few tenants there, %.0f us with a thousand\n",
                      median(calls[0], SOME_CALLS), median(calls[1], SOME_CALLS));
        before = sleeps(pid);
        (void) sleep(IDLE_S);
        /* It checks them all every 30 s. */
        (void) printf("# %lu wakeups in %d s with 1,000 settled tenants\n", sleeps(pid) - before, IDLE_S);

        judge_sweep(bus, pid);

        /* The guest is thrown away: the tenants need not be untagged, each of which looks at the whole host. */
        cgroups_empty();
        sd_bus_flush_close_unref(bus);
        return 0;
}
