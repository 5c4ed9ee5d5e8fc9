// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is done at once, under real-time scheduling where that is to be had: events are read, newcomers are looked for
 * in the tenants' cgroups, and what is new in a tenant gets its cookie. */
#include "log.h"
#include "manager-internal.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

/* What is read before what was read is looked at. */
#define EVENTS_A_TURN 256

/* A process that is cloned into a cgroup is shown in the root for a moment, which may be long where its CPU is taken
 * away. Others are there, and stay. */
#define PLACE_PATIENCE  (500 * USEC_PER_MSEC)
#define PLACE_PAUSE_MIN (1 * USEC_PER_MSEC)

/* A tenant with more members is not looked at as a whole in a hurry. */
#define SMALL 64

bool manager_is_followed(const struct tenant *tenant) {
        return !tenant->untagging && (tenant->state == TENANT_ENFORCED || tenant->state == TENANT_DEGRADED);
}

/* A process was found in the tenant. */
static void hint_process(struct manager *m, struct tenant *tenant, pid_t pid) {
        struct pids *hints = tenant->pass ? &tenant->pass->hints : &tenant->hinted;
        uint64_t cookie = 0;

        if (!manager_is_followed(tenant))
                return;
        int r = m->kernel->cookie->get(m->kernel->data, pid, &cookie);
        if (r == -ESRCH || (r == 0 && cookie != 0 && cookie == tenant->cookie))
                return;
        if (pids_add(hints, pid) < 0)
                m->pass.watch.lost = true;
        m->hinted = true;
}

/* Where are the newcomers? */
static void place_newcomers(struct manager *m, usec_t now) {
        struct watch *watch = &m->pass.watch;
        usec_t youngest = USEC_INFINITY;
        size_t left = 0;

        m->place_at = USEC_INFINITY;
        watch->added = false;
        for (size_t i = 0; i < watch->n; i++) {
                struct newcomer newcomer = watch->newcomer[i];
                struct tenant *tenant = NULL;
                int r = observe_place(m->kernel, &m->tenants, newcomer.pid, &tenant);
                if (r == 0 && tenant)
                        hint_process(m, tenant, newcomer.pid);
                if (newcomer.since == 0)
                        newcomer.since = now;
                usec_t age = now - newcomer.since;
                if (r != -EAGAIN || age > PLACE_PATIENCE)
                        continue;
                youngest = age < youngest ? age : youngest;
                watch->newcomer[left++] = newcomer;
        }
        watch->n = left;
        if (left > 0)
                m->place_at = now + PLACE_PAUSE_MIN + youngest / 4;
}

/* Some of what happened was not heard of. */
static void look_at_all(struct manager *m) {
        m->pass.watch.lost = false;
        for (size_t i = 0; i < m->tenants.n; i++)
                if (manager_is_followed(m->tenants.tenant[i])) {
                        m->tenants.tenant[i]->wide = true;
                        manager_mark_soon(m, m->tenants.tenant[i]);
                }
}

/* May the pass that the tenant's hints ask for be made at once? Where the tenant has no cookie that could be shared, or
 * is to be looked at anyway, a part of it is not enough. */
static bool is_quick(const struct tenant *tenant, bool *ret_narrow) {
        *ret_narrow = tenant->state == TENANT_ENFORCED && tenant->cookie != 0 && !tenant->threaded && !tenant->wide;
        return *ret_narrow || tenant->members.n <= SMALL;
}

/* Takes up the tenant's hints. */
static void take_hints(struct manager *m, struct tenant *tenant, usec_t now) {
        usec_t again;
        bool narrow;

        if (tenant->pass) {
                /* It looks at the cgroups again anyway. */
                strv_free(TAKE(tenant->hinted_cgroups));
                return;
        }
        if (tenant->due <= now)
                return;
        if (!is_quick(tenant, &narrow) || !realtime_allowed(&m->quick, now, m->quick_used, &again)) {
                manager_mark_soon(m, tenant);
                return;
        }
        usec_t due = tenant->due;
        manager_run_tenant(m, tenant, now, narrow);
        m->quick_used += tenant->cost;
        if (tenant->pass)
                tenant->touched = true; /* so that it is looked at once more */
        else if (tenant->due > due)
                tenant->due = due;
        if (tenant->changed && tenant->due == USEC_INFINITY)
                tenant->due = now + MANAGER_SETTLE; /* it is told of then */
}

void manager_heed(struct manager *m) {
        usec_t now = manager_now(m);

        place_newcomers(m, now);
        if (m->pass.watch.lost)
                look_at_all(m);
        if (m->hinted) {
                m->hinted = false;
                for (size_t i = 0; i < m->tenants.n; i++)
                        if (m->tenants.tenant[i]->hinted.n > 0 || m->tenants.tenant[i]->hinted_cgroups)
                                take_hints(m, m->tenants.tenant[i], now);
                host_done(&m->pass.host);
                m->pass.host_seen = false;
        }
        manager_arm(m);
}

usec_t manager_heed_due(const struct manager *m) {
        /* A pass takes events, too. */
        if (m->pass.watch.added || m->pass.watch.lost)
                return 0;
        return m->pass.watch.n > 0 ? m->place_at : USEC_INFINITY;
}

static int on_process_io(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        struct manager *m = userdata;

        int r = watch_drain(m->kernel, &m->tenants, &m->pass.watch, EVENTS_A_TURN);
        if (r < 0) {
                log_line(LOG_ERR, NULL, NULL, "Cannot read the events of processes: %s", strerrordesc_np(-r));
                return r;
        }
        if (m->pass.watch.n > 0 || m->pass.watch.lost)
                manager_heed(m);
        return 0;
}

void manager_listen(struct manager *m, bool on) {
        if (on == m->listening || m->deaf)
                return;
        m->process_io = sd_event_source_disable_unref(m->process_io);
        int r = m->kernel->proc_events->listen(m->kernel->data, on);
        if (r == 0 && on)
                r = sd_event_add_io(m->event, &m->process_io, m->kernel->proc_events->fd(m->kernel->data), EPOLLIN,
                                    on_process_io, m);
        if (r < 0) {
                m->deaf = true;
                log_line(LOG_WARNING, NULL, NULL,
                         "Process events are not to be had (%s): children forked while their tenant is being tagged, "
                         "and processes started in a tenant from outside, are found a little later.",
                         strerrordesc_np(-r));
                return;
        }
        watch_done(&m->pass.watch);
        m->pass.watch.live = m->listening = on;
        m->pass.watch.execs = m->blind;
}
