/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"

#define INSTANCES "/sys/kernel/tracing/instances"
#define PREFIX    "beside-"

/* All buffers together, and what one CPU's has at least and at most; KiB. */
#define BUFFERS_KB    65536
#define BUFFER_MIN_KB 1024
#define BUFFER_MAX_KB 8192

/* The ring buffer's own event types, and the parts of an event's first word. */
enum {
        TYPE_DATA_MAX = 28,
        TYPE_PADDING,
        TYPE_TIME_EXTEND,
        TYPE_TIME_STAMP,
};
#define TYPE_BITS   5
#define DELTA_BITS  27
#define COMMIT_MASK ((1U << 27) - 1)
#define MISSED      (1U << 31)

/* Where the kernel puts what we read, as its format files say. */
struct layout {
        unsigned id, offset_a, offset_b;
};

static char *folder;
static struct layout on_switch, on_fork;
static struct trace_event *events;
static size_t n_events;

static char *path_of(const char *name) {
        char *path;

        if (asprintf(&path, "%s/%s", folder, name) < 0)
                die_errno("no memory");
        return path;
}

static void put(const char *name, const char *value) {
        char *path = path_of(name);
        int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

        if (fd < 0 || write(fd, value, strlen(value)) < 0)
                die_errno("cannot write '%s' to %s", value, path);
        (void) close(fd);
        free(path);
}

/* Removes what a killed program left behind. */
static void remove_stale(void) {
        DIR *dir = opendir(INSTANCES);
        struct dirent *entry;

        if (!dir)
                die_errno("cannot read " INSTANCES ": is tracefs mounted");
        while ((entry = readdir(dir)))
                if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0) {
                        pid_t pid = atoi(entry->d_name + strlen(PREFIX));

                        if (pid > 0 && kill(pid, 0) < 0 && errno == ESRCH)
                                (void) unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
                }
        (void) closedir(dir);
}

static void trace_close(void) {
        /* A reader that is just ending keeps the instance busy for a moment. */
        for (int i = 0; i < 50; i++) {
                if (rmdir(folder) == 0 || errno != EBUSY)
                        return;
                (void) usleep(20000);
        }
        (void) fprintf(stderr, "cannot remove %s\n", folder);
}

static void read_layout(const char *event, const char *field_a, const char *field_b, struct layout *ret) {
        char name[128], line[512], *path;
        FILE *file;
        struct layout found = {};

        (void) snprintf(name, sizeof name, "events/sched/%s/format", event);
        path = path_of(name);
        file = fopen(path, "re");
        if (!file)
                die_errno("cannot read %s", path);
        while (fgets(line, sizeof line, file)) {
                char *field = strstr(line, "field:"), *end = strchr(line, ';'), *word;
                unsigned offset;

                (void) sscanf(line, "ID: %u", &found.id);
                if (!field || !end || sscanf(end, "; offset:%u", &offset) != 1)
                        continue;
                *end = '\0';
                word = strrchr(field, ' ');
                if (word && strcmp(word + 1, field_a) == 0)
                        found.offset_a = offset;
                if (word && strcmp(word + 1, field_b) == 0)
                        found.offset_b = offset;
        }
        (void) fclose(file);
        if (found.id == 0 || found.offset_a == 0 || found.offset_b == 0)
                die(STATUS_ERROR, "cannot make sense of %s", path);
        free(path);
        *ret = found;
}

void trace_open(void) {
        long size = BUFFERS_KB / sysconf(_SC_NPROCESSORS_ONLN);
        char text[32];

        remove_stale();
        if (asprintf(&folder, INSTANCES "/" PREFIX "%d", getpid()) < 0)
                die_errno("no memory");
        if (mkdir(folder, 0700) < 0)
                die_errno("cannot make %s", folder);
        (void) atexit(trace_close);

        put("tracing_on", "0");
        put("trace_clock", "mono");
        size = size < BUFFER_MIN_KB ? BUFFER_MIN_KB : size > BUFFER_MAX_KB ? BUFFER_MAX_KB : size;
        (void) snprintf(text, sizeof text, "%ld", size);
        put("buffer_size_kb", text);
        read_layout("sched_switch", "prev_pid", "next_pid", &on_switch);
        read_layout("sched_process_fork", "parent_pid", "child_pid", &on_fork);
        put("events/sched/sched_switch/enable", "1");
        put("events/sched/sched_process_fork/enable", "1");
}

void trace_start(void) {
        put("trace", "");
        put("tracing_on", "1");
}

void trace_stop(void) {
        put("tracing_on", "0");
}

static void add_event(int cpu, uint64_t time, const unsigned char *data, size_t size) {
        static size_t allocated;
        struct trace_event event = {.time = time, .cpu = cpu, .order = n_events};
        const struct layout *layout;
        uint16_t id;
        int32_t a, b;

        memcpy(&id, data, sizeof id);
        if (id == on_switch.id) {
                layout = &on_switch;
                event.kind = TRACE_SWITCH;
        } else if (id == on_fork.id) {
                layout = &on_fork;
                event.kind = TRACE_FORK;
        } else
                return;
        if (layout->offset_a + sizeof a > size || layout->offset_b + sizeof b > size)
                die(STATUS_ERROR, "the trace has an event that is too short");
        memcpy(&a, data + layout->offset_a, sizeof a);
        memcpy(&b, data + layout->offset_b, sizeof b);
        if (event.kind == TRACE_SWITCH)
                event.next = b;
        else {
                event.parent = a;
                event.child = b;
        }

        if (n_events == allocated) {
                allocated = allocated ? 2 * allocated : 4096;
                events = realloc(events, allocated * sizeof *events);
                if (!events)
                        die_errno("no memory");
        }
        events[n_events++] = event;
}

/* A page: the time it begins at, how much is in it, then events, each with what passed since the one before. */
static void read_page(int cpu, const unsigned char *page, size_t size) {
        uint64_t time, commit;
        size_t at = sizeof time + sizeof commit, end;

        if (size < at)
                die(STATUS_ERROR, "the trace of CPU %d has a page that is too short", cpu);
        memcpy(&time, page, sizeof time);
        memcpy(&commit, page + sizeof time, sizeof commit);
        if (commit & MISSED)
                die(STATUS_ERROR, "the trace of CPU %d has lost events", cpu);
        end = at + (commit & COMMIT_MASK);
        if (end > size)
                die(STATUS_ERROR, "the trace of CPU %d has a page with an impossible length", cpu);

        while (at + sizeof(uint32_t) <= end) {
                uint32_t word, extra = 0;
                unsigned type;
                uint64_t delta;
                size_t length;

                memcpy(&word, page + at, sizeof word);
                type = word & ((1U << TYPE_BITS) - 1);
                delta = word >> TYPE_BITS;
                if (at + 2 * sizeof word <= end)
                        memcpy(&extra, page + at + sizeof word, sizeof extra);

                if (type == TYPE_TIME_EXTEND || type == TYPE_TIME_STAMP) {
                        delta |= (uint64_t) extra << DELTA_BITS;
                        if (type == TYPE_TIME_STAMP) /* it leaves out the highest bits, which do not change meanwhile */
                                time = (time & ~((UINT64_C(1) << 59) - 1)) | delta;
                        else
                                time += delta;
                        at += 2 * sizeof word;
                        continue;
                }
                if (type == TYPE_PADDING && delta == 0)
                        break; /* nothing more in this page */
                time += delta;
                /* A length of its own in the second word, which counts itself, where it is long or is to be skipped. */
                length = type == 0 || type == TYPE_PADDING ? extra : type * sizeof word;
                if (length == 0 || at + sizeof word + length > end)
                        die(STATUS_ERROR, "the trace of CPU %d has an event with an impossible length", cpu);
                if (type == 0)
                        add_event(cpu, time, page + at + 2 * sizeof word, length - sizeof word);
                else if (type != TYPE_PADDING)
                        add_event(cpu, time, page + at + sizeof word, length);
                at += sizeof word + ((length + 3) & ~(size_t) 3);
        }
}

/* What the kernel counts as lost on this CPU. */
static void check_lost(int cpu) {
        char name[64], line[128], *path;
        FILE *file;
        unsigned found = 0;

        (void) snprintf(name, sizeof name, "per_cpu/cpu%d/stats", cpu);
        path = path_of(name);
        file = fopen(path, "re");
        if (!file)
                die_errno("cannot read %s", path);
        while (fgets(line, sizeof line, file)) {
                unsigned long lost;

                if (sscanf(line, "overrun: %lu", &lost) != 1 && sscanf(line, "commit overrun: %lu", &lost) != 1 &&
                    sscanf(line, "dropped events: %lu", &lost) != 1)
                        continue;
                found++;
                if (lost > 0)
                        die(STATUS_ERROR, "CPU %d lost %lu events: too many for the buffer; take shorter samples", cpu,
                            lost);
        }
        (void) fclose(file);
        if (found != 3)
                die(STATUS_ERROR, "cannot make sense of %s", path);
        free(path);
}

static void read_cpu(int cpu, unsigned char *page, size_t page_size) {
        char name[64], *path;
        int fd;

        (void) snprintf(name, sizeof name, "per_cpu/cpu%d/trace_pipe_raw", cpu);
        path = path_of(name);
        fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) {
                if (errno == ENOENT || errno == ENXIO)
                        goto out; /* a CPU that never was there has none */
                die_errno("cannot read %s", path);
        }
        check_lost(cpu);
        for (;;) {
                ssize_t size = read(fd, page, page_size);

                if (size < 0 && errno == EAGAIN)
                        break;
                if (size < 0)
                        die_errno("cannot read %s", path);
                if (size == 0)
                        break;
                read_page(cpu, page, (size_t) size);
        }
        (void) close(fd);
out:
        free(path);
}

static int compare(const void *a, const void *b) {
        const struct trace_event *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

void trace_read(void (*each)(const struct trace_event *event, void *userdata), void *userdata) {
        size_t page_size = (size_t) sysconf(_SC_PAGESIZE);
        unsigned char *page = malloc(page_size);
        long n_cpus = sysconf(_SC_NPROCESSORS_CONF);

        if (!page)
                die_errno("no memory");
        n_events = 0;
        for (int cpu = 0; cpu < n_cpus; cpu++)
                read_cpu(cpu, page, page_size);
        free(page);
        if (n_events == 0)
                die(STATUS_ERROR, "the trace is empty");
        qsort(events, n_events, sizeof *events, compare);
        for (size_t i = 0; i < n_events; i++)
                each(&events[i], userdata);
}
