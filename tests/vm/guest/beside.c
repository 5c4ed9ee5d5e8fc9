/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Measures how much of the time tasks of two cgroups ran at once on the threads of one core, from the kernel's own
 * sched_switch events. Each sample: tracing goes on (in an instance of its own, removed at the end), this program
 * visits every CPU so that it is known who runs there, then sleeps; afterwards the events of all CPUs are put in order
 * of time and followed. It runs as SCHED_FIFO 1: behind two tagged tenants it would not be let in for seconds. A lost
 * event, or a cgroup that did not run at all, makes it fail: it would have measured nothing.
 */

#include "guest.h"
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES_MAX 101

static const char usage[] =
        "Usage: beside [--samples N] [--seconds S] CGROUP CGROUP\n"
        "How much of the time tasks of both cgroups ran at once on the threads of one core (where they ran on several cores,\n"
        "the mean of these): a line a sample (S seconds, 2 unless said otherwise; N of them, 5 unless said otherwise), then\n"
        "'median PERCENT'.\n";

enum { NOBODY, FIRST, SECOND, N_SIDES };

/* Who is who: the side of each task, found by its tid. */
static unsigned char *side_of;
static long pid_max;

/* The cores: which one each CPU belongs to, or -1. */
static int core_of[CPU_SETSIZE];
static int n_cores;          /* all that have a CPU online */
static int n_threaded_cores; /* those that have more than one */

struct sample {
        uint64_t length;  /* ns */
        uint64_t beside;  /* ns, of all cores together */
        uint64_t longest; /* ns */
        unsigned long windows;
        unsigned cores;        /* on which one of the sides ran */
        uint64_t ran[N_SIDES]; /* ns of CPU time */
};

static void mark(pid_t tid, void *userdata) {
        int side = *(int *) userdata;

        if (tid >= pid_max)
                die(STATUS_ERROR, "task %d is beyond pid_max", tid);
        if (side_of[tid] != NOBODY && side_of[tid] != side)
                die(STATUS_ERROR, "task %d is in both cgroups", tid);
        side_of[tid] = (unsigned char) side;
}

static void read_sides(const char *cgroups[static 2]) {
        memset(side_of, NOBODY, (size_t) pid_max);
        for (int side = FIRST; side <= SECOND; side++)
                cgroup_threads(cgroups[side - FIRST], mark, &side);
}

static long read_number(const char *path) {
        FILE *file = fopen(path, "re");
        long number;

        if (!file || fscanf(file, "%ld", &number) != 1)
                die_errno("cannot read %s", path);
        (void) fclose(file);
        return number;
}

/* A core is known by the first CPU of its list of threads. */
static void read_cores(void) {
        int n_threads[CPU_SETSIZE] = {}, core_by_first[CPU_SETSIZE];

        n_cores = n_threaded_cores = 0;
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
                core_of[cpu] = core_by_first[cpu] = -1;
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
                char path[128];
                long first;

                (void) snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
                if (access(path, F_OK) < 0)
                        continue;
                first = read_number(path);
                if (first < 0 || first >= CPU_SETSIZE)
                        die(STATUS_ERROR, "cannot make sense of %s", path);
                if (core_by_first[first] < 0)
                        core_by_first[first] = n_cores++;
                core_of[cpu] = core_by_first[first];
                if (++n_threads[core_of[cpu]] == 2)
                        n_threaded_cores++;
        }
        if (n_cores == 0)
                die(STATUS_ERROR, "/sys shows no topology");
}

static uint64_t now(void) {
        struct timespec time;

        (void) clock_gettime(CLOCK_MONOTONIC, &time);
        return (uint64_t) time.tv_sec * 1000000000U + (uint64_t) time.tv_nsec;
}

/* Makes every CPU switch once: from then on it is known who runs there. */
static void visit_cpus(void) {
        cpu_set_t all, one;

        if (sched_getaffinity(0, sizeof all, &all) < 0)
                die_errno("cannot read its own affinity");
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
                if (core_of[cpu] < 0)
                        continue;
                CPU_ZERO(&one);
                CPU_SET(cpu, &one);
                if (sched_setaffinity(0, sizeof one, &one) < 0)
                        die_errno("cannot go to CPU %d", cpu);
        }
        if (sched_setaffinity(0, sizeof all, &all) < 0)
                die_errno("cannot go where it came from");
}

struct core {
        unsigned running[N_SIDES];
        uint64_t since; /* both sides run on it since then; 0: they do not */
        bool used;      /* one of them ran on it */
};

struct follow {
        struct sample *sample;
        uint64_t begin, end;
        struct core cores[CPU_SETSIZE];
        int now_on[CPU_SETSIZE]; /* a side */
        uint64_t on_since[CPU_SETSIZE];
};

static uint64_t clip(const struct follow *follow, uint64_t time) {
        return time < follow->begin ? follow->begin : time > follow->end ? follow->end : time;
}

static void put_on(struct follow *follow, int cpu, int side, uint64_t time) {
        struct sample *sample = follow->sample;
        struct core *core = &follow->cores[core_of[cpu]];

        time = clip(follow, time);
        sample->ran[follow->now_on[cpu]] += time - follow->on_since[cpu];
        core->running[follow->now_on[cpu]]--;
        core->running[side]++;
        follow->now_on[cpu] = side;
        follow->on_since[cpu] = time;
        core->used = core->used || (side != NOBODY && time < follow->end);

        if (core->running[FIRST] > 0 && core->running[SECOND] > 0) {
                if (core->since == 0)
                        core->since = time;
        } else if (core->since > 0) {
                uint64_t length = time - core->since;

                core->since = 0;
                if (length == 0)
                        return;
                sample->beside += length;
                sample->windows++;
                if (length > sample->longest)
                        sample->longest = length;
        }
}

static void on_event(const struct trace_event *event, void *userdata) {
        struct follow *follow = userdata;

        if (event->kind == TRACE_FORK) {
                if (event->child < 0 || event->child >= pid_max || event->parent < 0 || event->parent >= pid_max)
                        die(STATUS_ERROR, "the trace has an impossible task %d or %d", event->parent, event->child);
                if (side_of[event->parent] != NOBODY)
                        side_of[event->child] = side_of[event->parent];
                return;
        }
        if (core_of[event->cpu] < 0)
                die(STATUS_ERROR, "CPU %d came online meanwhile", event->cpu);
        if (event->next < 0 || event->next >= pid_max)
                die(STATUS_ERROR, "the trace has an impossible task %d", event->next);
        put_on(follow, event->cpu, side_of[event->next], event->time);
}

static void take_sample(const char *cgroups[static 2], long seconds, struct sample *ret) {
        static struct follow follow;
        struct timespec length = {.tv_sec = seconds};

        read_cores();
        memset(&follow, 0, sizeof follow);
        *ret = (struct sample){};
        follow.sample = ret;

        trace_start();
        read_sides(cgroups); /* what is forked from now on is in the trace */
        visit_cpus();
        follow.begin = now();
        if (nanosleep(&length, NULL) < 0)
                die(STATUS_ERROR, "interrupted");
        follow.end = now();
        trace_stop();

        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
                if (core_of[cpu] >= 0) {
                        follow.cores[core_of[cpu]].running[NOBODY]++;
                        follow.on_since[cpu] = follow.begin;
                }
        trace_read(on_event, &follow);
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
                if (core_of[cpu] >= 0)
                        put_on(&follow, cpu, NOBODY, follow.end);

        for (int core = 0; core < n_cores; core++)
                ret->cores += follow.cores[core].used;
        ret->length = follow.end - follow.begin;
        for (int side = FIRST; side <= SECOND; side++)
                if (ret->ran[side] == 0)
                        die(STATUS_ERROR, "no task of %s ran during the sample: nothing was measured",
                            cgroups[side - FIRST]);
}

static int compare(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;

        return x < y ? -1 : x > y;
}

static double percent(uint64_t part, uint64_t whole) {
        return 100.0 * (double) part / (double) whole;
}

static void on_signal(int number) {
        (void) number; /* it ends the sleep, or the next one; the way out is the common one */
}

int main(int argc, char **argv) {
        const char *cgroups[2];
        long samples = 5, seconds = 2;
        double shares[SAMPLES_MAX];
        const struct sched_param priority = {.sched_priority = 1};
        const struct sigaction action = {.sa_handler = on_signal};
        int i = 1;

        for (; i < argc && argv[i][0] == '-'; i++) {
                if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
                        (void) fputs(usage, stdout);
                        return 0;
                }
                if (strcmp(argv[i], "--samples") == 0 && i + 1 < argc)
                        samples = parse_number("--samples", argv[++i], 1, SAMPLES_MAX);
                else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
                        seconds = parse_number("--seconds", argv[++i], 1, 3600);
                else
                        die(STATUS_USAGE, "'%s' is not understood. See beside --help", argv[i]);
        }
        if (argc - i != 2)
                die(STATUS_USAGE, "it takes two cgroups. See beside --help");
        cgroups[0] = cgroup_name(argv[i]);
        cgroups[1] = cgroup_name(argv[i + 1]);

        for (int number = 1; number <= SIGTERM; number++)
                if (number == SIGHUP || number == SIGINT || number == SIGTERM || number == SIGPIPE)
                        (void) sigaction(number, &action, NULL);
        if (sched_setscheduler(0, SCHED_FIFO, &priority) < 0)
                die_errno("cannot become SCHED_FIFO");
        pid_max = read_number("/proc/sys/kernel/pid_max");
        side_of = calloc((size_t) pid_max, 1);
        if (!side_of)
                die_errno("no memory");
        read_cores();
        if (n_threaded_cores == 0)
                (void) fprintf(stderr,
                               "beside: no core has more than one thread online: nobody can run beside anybody\n");
        trace_open();

        for (long n = 0; n < samples; n++) {
                struct sample sample;

                take_sample(cgroups, seconds, &sample);
                shares[n] = percent(sample.beside, sample.length) / sample.cores;
                (void) printf("sample %ld: %.2f %% of %.2f s side by side, %lu windows, mean %.0f us, longest %.0f us; "
                              "CPU time %.0f %% and %.0f %%\n",
                              n + 1, shares[n], (double) sample.length / 1e9, sample.windows,
                              sample.windows == 0 ? 0.0 : (double) sample.beside / 1e3 / (double) sample.windows,
                              (double) sample.longest / 1e3, percent(sample.ran[FIRST], sample.length),
                              percent(sample.ran[SECOND], sample.length));
                (void) fflush(stdout);
        }
        qsort(shares, (size_t) samples, sizeof *shares, compare);
        (void) printf("median %.2f\n", (shares[(samples - 1) / 2] + shares[samples / 2]) / 2);
        if (fflush(stdout) != 0)
                die_errno("cannot write");
        return 0;
}
