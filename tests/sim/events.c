// SPDX-License-Identifier: LGPL-2.1-or-later
/* The simulated kernel's events: two queues that can overrun, each with a descriptor that is readable while there is
 * something in it. */
#include "sim.h"
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

void sim_queue_wake(struct sim_queue *queue) {
        eventfd_t value;
        bool readable = queue->n > queue->first || queue->lost;
        if (queue->fd < 0 || readable == queue->readable)
                return;
        if (readable)
                (void) eventfd_write(queue->fd, 1);
        else
                (void) eventfd_read(queue->fd, &value);
        queue->readable = readable;
}

void sim_queue_clear(struct sim_queue *queue) {
        for (size_t i = queue->first; i < queue->n; i++)
                free(queue->event[i].path);
        queue->first = queue->n = 0;
}

static struct sim_event *add_event(struct sim_queue *queue) {
        if (queue->lost || (queue->limit > 0 && queue->n - queue->first >= queue->limit)) {
                queue->lost = true;
                return NULL;
        }
        if (queue->n == queue->allocated) {
                queue->allocated = queue->allocated ? 2 * queue->allocated : 64;
                queue->event = reallocarray(queue->event, queue->allocated, sizeof(*queue->event));
                if (!queue->event)
                        abort();
        }
        queue->event[queue->n] = (struct sim_event){0};
        return queue->event + queue->n++;
}

void sim_queue_proc(struct sim *sim, enum proc_event_kind kind, const struct sim_thread *thread) {
        struct sim_event *event = sim->proc_events.on ? add_event(&sim->proc_events) : NULL;
        if (event)
                event->proc = (struct proc_event){.kind = kind,
                                                  .tid = thread->tid,
                                                  .tgid = thread->tgid,
                                                  .parent_tid = kind == PROC_EVENT_FORK ? thread->parent_tid : 0,
                                                  .parent_tgid = kind == PROC_EVENT_FORK ? thread->parent_tgid : 0};
        sim_queue_wake(&sim->proc_events);
}

void sim_queue_cgroup(struct sim *sim, enum cgroup_event_kind kind, const char *path) {
        struct sim_event *event = add_event(&sim->cgroup_events);
        if (event) {
                event->kind = kind;
                event->path = strdup(path);
                if (!event->path)
                        abort();
        }
        sim_queue_wake(&sim->cgroup_events);
}

void sim_lose_events(struct sim *sim) {
        struct sim_queue *queues[] = {&sim->proc_events, &sim->cgroup_events};
        for (size_t i = 0; i < ELEMENTS(queues); i++)
                if (queues[i]->n > queues[i]->first) {
                        sim_queue_clear(queues[i]);
                        queues[i]->lost = true;
                        sim_queue_wake(queues[i]);
                }
}

static int op_listen(void *data, bool on) {
        struct sim *sim = data;
        struct sim_queue *queue = &sim->proc_events;
        int r = sim_begin(sim, SIM_LISTEN);
        if (r < 0 || queue->on == on)
                return r;
        if (on && queue->fd < 0) {
                queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
                if (queue->fd < 0)
                        return -errno;
        }
        if (!on) {
                sim_queue_clear(queue);
                queue->lost = false;
                closep(&queue->fd);
                queue->fd = -1;
                queue->readable = false;
        }
        queue->on = on;
        return 0;
}

static int op_proc_fd(void *data) {
        return ((struct sim *) data)->proc_events.fd;
}

/* 1: *ret is the next one. */
static int next(struct sim *sim, enum sim_function function, struct sim_queue *queue, struct sim_event *ret) {
        int r = sim_begin(sim, function);
        if (r == -ENOBUFS)
                sim_queue_clear(queue);
        if (r < 0)
                return r;
        if (queue->first < queue->n) {
                *ret = queue->event[queue->first++];
                if (queue->first == queue->n)
                        queue->first = queue->n = 0;
                r = 1;
        } else if (queue->lost) {
                queue->lost = false;
                r = -ENOBUFS;
        }
        sim_queue_wake(queue);
        return r;
}

static int op_proc_next(void *data, struct proc_event *ret) {
        struct sim *sim = data;
        struct sim_event event = {0};
        int r = next(sim, SIM_PROC_NEXT, &sim->proc_events, &event);
        if (r > 0)
                *ret = event.proc;
        return r;
}

static int op_watch(void *data, const char *path) {
        struct sim *sim = data;
        struct sim_cgroup *cgroup;
        int r = sim_find(sim, SIM_WATCH, path, &cgroup);
        if (r == 0)
                cgroup->watched = true;
        return r;
}

static void op_unwatch(void *data, const char *path) {
        struct sim_cgroup *cgroup = sim_cgroup_find(data, path);
        if (cgroup)
                cgroup->watched = false;
}

static void op_forget(void *data) {
        struct sim *sim = data;
        for (size_t i = 0; i < sim->n_cgroups; i++)
                sim->cgroup[i]->watched = false;
        sim_queue_clear(&sim->cgroup_events);
        sim->cgroup_events.lost = false;
        sim_queue_wake(&sim->cgroup_events);
}

static int op_cgroup_fd(void *data) {
        struct sim_queue *queue = &((struct sim *) data)->cgroup_events;
        if (queue->fd < 0)
                queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (queue->fd < 0)
                return -errno;
        sim_queue_wake(queue);
        return queue->fd;
}

static int op_cgroup_next(void *data, struct cgroup_event *ret) {
        struct sim *sim = data;
        struct sim_event event = {0};
        int r = next(sim, SIM_CGROUP_NEXT, &sim->cgroup_events, &event);
        if (r > 0) {
                free(sim->last_path);
                sim->last_path = event.path;
                *ret = (struct cgroup_event){.kind = event.kind, .path = event.path};
        }
        return r;
}

const struct proc_events_ops sim_proc_events_ops = {op_listen, op_proc_fd, op_proc_next};
const struct cgroup_events_ops sim_cgroup_events_ops = {op_watch, op_unwatch, op_forget, op_cgroup_fd, op_cgroup_next};
