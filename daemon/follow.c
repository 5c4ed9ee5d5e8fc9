// SPDX-License-Identifier: LGPL-2.1-or-later
/* The cgroups of the whole host are watched while there are tenants, or patterns that would make some: what appears,
 * goes, and is moved into makes hints for its tenant. What is moved anywhere else may have left a tenant, and taken its
 * cookie along. */
#include "log.h"
#include "manager-internal.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

/* Somebody who makes and removes cgroups without a pause does not keep callers waiting. */
#define EVENTS_A_TURN 1000

/* Looking at cgroups of no tenant takes at most one part in so many of the time. */
#define ELSEWHERE_SHARE 10
#define ELSEWHERE_MAX   1000
#define ELSEWHERE_PAUSE (5 * USEC_PER_MSEC)

/* The tenant of the cgroup; of one that is being untagged it is, in a moment, no tenant's. */
static struct tenant *find_owner(const struct manager *m, const char *path) {
        struct tenant *tenant = tenants_of_cgroup(&m->tenants, path);
        return tenant && !tenant->untagging ? tenant : NULL;
}

/* Something may be new in this cgroup. */
static void hint_cgroup(struct manager *m, const char *path) {
        struct tenant *tenant = find_owner(m, path);
        char ***paths = tenant ? &tenant->hinted_cgroups : &m->elsewhere;

        if (tenant && !manager_is_followed(tenant))
                return;
        if (!tenant && strv_length(m->elsewhere) >= ELSEWHERE_MAX)
                return; /* who left is found by the next check */
        if (!strv_contains(*paths, path) && strv_extend(paths, path) < 0)
                m->pass.watch.lost = true;
        else if (tenant)
                m->hinted = true;
}

static int watch_cgroup(const char *path, void *userdata) {
        struct manager *m = userdata;
        int r = m->kernel->cgroup_events->watch(m->kernel->data, path);

        if (r == -ENOENT)
                return 0;
        if (r < 0 && !m->blind) {
                m->blind = m->pass.watch.execs = true;
                log_line(LOG_WARNING, NULL, NULL,
                         "Not all cgroups can be watched (%s): a process that is moved into a tenant is found when it "
                         "executes a program, or at the next check.",
                         r == -ENOSPC ? "fs.inotify.max_user_watches is reached" : strerrordesc_np(-r));
        }
        hint_cgroup(m, path);
        manager_cgroup_appeared(m, path);
        return 0;
}

/* Watches the cgroup and all below it. What was made before its parent was watched has no event: so the parent is
 * watched first, and then looked into. */
static void appeared(struct manager *m, const char *path) {
        int r = m->kernel->cgroup->walk(m->kernel->data, path, watch_cgroup, m);
        if (r < 0 && r != -ENOENT && r != -ENAMETOOLONG)
                m->pass.watch.lost = true;
}

static void on_cgroup_event(struct manager *m, const struct cgroup_event *event) {
        struct tenant *tenant;

        switch (event->kind) {
        case CGROUP_EVENT_MOVED_IN:
                hint_cgroup(m, event->path);
                break;
        case CGROUP_EVENT_CREATED:
                appeared(m, event->path);
                break;
        case CGROUP_EVENT_REMOVED:
                m->kernel->cgroup_events->unwatch(m->kernel->data, event->path);
                tenant = tenants_of_cgroup(&m->tenants, event->path);
                if (tenant)
                        manager_mark_later(m, tenant, MANAGER_SETTLE);
                manager_cgroup_gone(m, event->path);
                break;
        }
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
                        /* Cgroups may have come and gone meanwhile. */
                        manager_unfollow(m);
                        m->pass.watch.lost = true;
                        manager_follow(m);
                        manager_match_all(m);
                } else {
                        log_line(LOG_ERR, NULL, NULL, "Cannot read the events of cgroups: %s", strerrordesc_np(-r));
                        return r;
                }
        }
        manager_heed(m);
        return 0;
}

void manager_unfollow(struct manager *m) {
        m->kernel->cgroup_events->forget(m->kernel->data);
        m->following = m->blind = m->pass.watch.execs = false;
        strv_free(TAKE(m->elsewhere));
}

void manager_follow(struct manager *m) {
        bool needed = m->tenants.n > 0 || manager_has_patterns(m);

        if (needed == m->following)
                return;
        if (!needed) {
                manager_unfollow(m);
                return;
        }
        m->following = true;
        appeared(m, "/");
        strv_free(TAKE(m->elsewhere)); /* whoever left before is found by the tenants' own passes */
        /* What joined a tenant after its last pass, and before its cgroup was watched, has been hinted at. */
        manager_heed(m);
}

int manager_follow_start(struct manager *m) {
        return sd_event_add_io(m->event, &m->cgroup_io, m->kernel->cgroup_events->fd(m->kernel->data), EPOLLIN,
                               on_cgroup_io, m);
}

/* ---- cgroups of no tenant ---- */

/* Whose cookies are carried here? Those tenants look for who left them. */
static void look_elsewhere(struct manager *m, const char *path) {
        _cleanup_pids_ struct pids threads = {0};

        if (find_owner(m, path) || m->kernel->cgroup->list(m->kernel->data, path, true, &threads) < 0)
                return;
        for (size_t i = 0; i < threads.n; i++) {
                uint64_t cookie = 0;
                struct tenant *tenant;

                if (m->kernel->cookie->get(m->kernel->data, threads.pid[i], &cookie) < 0 || cookie == 0)
                        continue;
                tenant = tenants_of_cookie(&m->tenants, cookie);
                if (!tenant || tenant->adopted)
                        continue;
                tenant->wide = true;
                manager_mark_soon(m, tenant);
        }
}

usec_t manager_elsewhere_due(const struct manager *m) {
        return m->elsewhere ? m->elsewhere_at : USEC_INFINITY;
}

void manager_look_elsewhere(struct manager *m, usec_t now) {
        _cleanup_strv_ char **paths = NULL;

        if (!m->elsewhere || now < m->elsewhere_at)
                return;
        usec_t began = manager_cpu_used();
        paths = TAKE(m->elsewhere);
        for (char **path = paths; *path; path++)
                look_elsewhere(m, *path);
        usec_t pause = (manager_cpu_used() - began) * ELSEWHERE_SHARE;
        m->elsewhere_at = now + (pause > ELSEWHERE_PAUSE ? pause : ELSEWHERE_PAUSE);
}
