// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which cgroups are watched, and what their events make dirty. A tenant's cgroups are watched, all of them; of one that
 * does not exist, the nearest ancestor that does. */
#include "log.h"
#include "manager-internal.h"
#include "selector.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

/* Somebody who makes and removes cgroups without a pause does not keep callers waiting. */
#define EVENTS_A_TURN 1000

static int watch_cgroup(const char *path, void *userdata) {
        struct manager *m = userdata;
        int r = m->kernel->cgroup_events->watch(m->kernel->data, path);
        return r == -ENOENT ? 0 : r;
}

static int unwatch_cgroup(const char *path, void *userdata) {
        struct manager *m = userdata;
        if (manager_has_patterns(m))
                return 0;
        m->kernel->cgroup_events->unwatch(m->kernel->data, path);
        return 0;
}

/* Watches the nearest ancestor of path that exists. */
static int wait_at_ancestor(struct manager *m, struct tenant *tenant, const char *path) {
        _cleanup_free_ char *ancestor = strdup(path);
        if (!ancestor)
                return -ENOMEM;
        for (;;) {
                char *slash = strrchr(ancestor, '/');
                if (!slash)
                        return -ENOENT;
                slash[slash == ancestor] = '\0';
                int r = m->kernel->cgroup_events->watch(m->kernel->data, ancestor);
                if (r == 0)
                        return strv_contains(tenant->waits_at, ancestor) ? 0 : strv_extend(&tenant->waits_at, ancestor);
                if (r != -ENOENT || slash == ancestor)
                        return r;
        }
}

/* Does somebody else need the watch on this cgroup? */
static bool needed_by_others(const struct manager *m, const struct tenant *tenant, const char *path) {
        const struct tenant *owner = tenants_of_cgroup(&m->tenants, path);
        if ((owner && owner != tenant) || manager_has_patterns(m))
                return true;
        for (size_t i = 0; i < m->tenants.n; i++)
                if (m->tenants.tenant[i] != tenant && strv_contains(m->tenants.tenant[i]->waits_at, path))
                        return true;
        return false;
}

/* Ends the watches on ancestors, but for those that are waited at still. */
static void stop_waiting(struct manager *m, struct tenant *tenant, char *const *waited_at) {
        for (; waited_at && *waited_at; waited_at++)
                if (!strv_contains(tenant->waits_at, *waited_at) && !needed_by_others(m, tenant, *waited_at))
                        m->kernel->cgroup_events->unwatch(m->kernel->data, *waited_at);
}

/* Watches one of the tenant's cgroups and all below it. What was made before its parent was watched has no event: so
 * the parent is watched first, and then looked into. */
static int follow_cgroup(struct manager *m, struct tenant *tenant, const char *path) {
        size_t n_waits;
        int r;
        do {
                n_waits = strv_length(tenant->waits_at);
                r = m->kernel->cgroup->walk(m->kernel->data, path, watch_cgroup, m);
                /* Not every kernel tells of a cgroup's own end: its parent does. */
                if (r == -ENOENT || (r == 0 && tenant->transient))
                        r = wait_at_ancestor(m, tenant, path);
        } while (r == 0 && strv_length(tenant->waits_at) > n_waits);
        return r;
}

void manager_follow(struct manager *m, struct tenant *tenant) {
        _cleanup_strv_ char **waited_at = TAKE(tenant->waits_at);
        int r = 0;

        tenant->fresh = false;
        for (char **path = tenant->cgroups; r == 0 && path && *path; path++)
                r = follow_cgroup(m, tenant, *path);
        stop_waiting(m, tenant, waited_at);
        if (r < 0)
                log_line(LOG_WARNING, NULL, tenant,
                         "its cgroups cannot be watched (%s): tasks that join are found at the next verification only.",
                         r == -ENOSPC ? "fs.inotify.max_user_watches is reached" : strerrordesc_np(-r));
}

void manager_unfollow(struct manager *m, struct tenant *tenant) {
        for (char **path = tenant->cgroups; path && *path; path++)
                (void) m->kernel->cgroup->walk(m->kernel->data, *path, unwatch_cgroup, m);
        _cleanup_strv_ char **waited_at = TAKE(tenant->waits_at);
        stop_waiting(m, tenant, waited_at);
}

static void renew(struct manager *m, struct tenant *tenant) {
        tenant->fresh = true;
        manager_mark_soon(m, tenant);
}

int manager_follow_all(struct manager *m) {
        int r = m->kernel->cgroup->walk(m->kernel->data, "/", watch_cgroup, m);
        if (r < 0)
                log_line(LOG_WARNING, NULL, NULL, "Not all cgroups can be watched (%s): some that match are missed.",
                         r == -ENOSPC ? "fs.inotify.max_user_watches is reached" : strerrordesc_np(-r));
        return r;
}

static int appear(const char *path, void *userdata) {
        manager_cgroup_appeared(userdata, path);
        return 0;
}

/* For the patterns: what was made in it before it was watched has no event. */
static void match(struct manager *m, const struct cgroup_event *event) {
        if (event->kind == CGROUP_EVENT_REMOVED)
                manager_cgroup_gone(m, event->path);
        if (event->kind != CGROUP_EVENT_CREATED || !manager_has_patterns(m))
                return;
        (void) m->kernel->cgroup->walk(m->kernel->data, event->path, watch_cgroup, m);
        (void) m->kernel->cgroup->walk(m->kernel->data, event->path, appear, m);
}

static void on_cgroup_event(struct manager *m, const struct cgroup_event *event) {
        struct tenant *tenant = tenants_of_cgroup(&m->tenants, event->path);

        if (event->kind == CGROUP_EVENT_REMOVED)
                m->kernel->cgroup_events->unwatch(m->kernel->data, event->path);
        if (tenant && event->kind == CGROUP_EVENT_MOVED_IN)
                manager_mark_soon(m, tenant);
        else if (tenant)
                renew(m, tenant);
        else if (event->kind != CGROUP_EVENT_MOVED_IN)
                /* An ancestor of what tenants wait for. */
                for (size_t i = 0; i < m->tenants.n; i++)
                        for (char **path = m->tenants.tenant[i]->cgroups; path && *path; path++)
                                if (cgroup_path_within(*path, event->path))
                                        renew(m, m->tenants.tenant[i]);
        match(m, event);
}

static int on_cgroup_io(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        struct manager *m = userdata;
        struct cgroup_event event;
        int r;

        for (unsigned n = 0; n < EVENTS_A_TURN && (r = m->kernel->cgroup_events->next(m->kernel->data, &event)) != 0;
             n++) {
                if (r == 1)
                        on_cgroup_event(m, &event);
                else if (r == -ENOBUFS) {
                        for (size_t i = 0; i < m->tenants.n; i++)
                                renew(m, m->tenants.tenant[i]);
                        manager_match_all(m);
                } else {
                        log_line(LOG_ERR, NULL, NULL, "Cannot read the events of cgroups: %s", strerrordesc_np(-r));
                        return r;
                }
        }
        return 0;
}

int manager_follow_start(struct manager *m) {
        return sd_event_add_io(m->event, &m->cgroup_io, m->kernel->cgroup_events->fd(m->kernel->data), EPOLLIN,
                               on_cgroup_io, m);
}
