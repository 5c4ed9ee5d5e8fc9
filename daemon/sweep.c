// SPDX-License-Identifier: LGPL-2.1-or-later
/* The check of all tenants that nobody asks for, and what is made of what it finds. What holds always: the checks take
 * a bounded part of the time, whatever tenants do. */
#include "log.h"
#include "manager-internal.h"
#include <errno.h>

/* Of a tenant whose tasks leave their cookie again and again this many checks in a row find that before it is said, and
 * before it is checked less often: at most RESTS_MAX checks are then left out. */
#define DRIFTS_IN_A_ROW 3
#define RESTS_MAX       32

/* One check in so many lists all cgroups anew, whatever was heard of them. */
#define WHOLE_SWEEPS 20

/* Checking all tenants takes at most one part in so many of the time. */
#define SWEEP_SHARE 50

void manager_on_drift(struct tenant *tenant, pid_t tid, enum finding cause, void *userdata) {
        struct manager *m = userdata;
        struct task_info info = {0};

        if (m->kernel->task_info(m->kernel->data, tid, &info) < 0)
                info.comm[0] = '\0';
        log_line(LOG_WARNING, CORESCHED_MESSAGE_DRIFT, tenant,
                 "thread %d%s%s%s had left its cookie (%s); it gets it back.", (int) tid, info.comm[0] ? " (" : "",
                 info.comm, info.comm[0] ? ")" : "", finding_word(cause));
        if (m->listener.drifted)
                m->listener.drifted(tenant, tid, cause, m->listener_userdata);
}

/* What a check of a tenant found. A tenant that drifts as soon as it is mended is mended less and less often, so that
 * it takes no more of the daemon's time than others; and is said not to be enforced, which it is for moments only. */
void manager_judge_drift(struct manager *m, struct tenant *tenant) {
        if (!tenant->drifted) {
                tenant->drift_streak = 0;
                return;
        }
        tenant->drifted = false;
        if (++tenant->drift_streak < DRIFTS_IN_A_ROW)
                return;
        unsigned rests = RESTS_MAX;
        if (tenant->drift_streak - DRIFTS_IN_A_ROW < 5)
                rests = 1U << (tenant->drift_streak - DRIFTS_IN_A_ROW);
        tenant->rest = manager_now(m) + rests * m->config->verify_interval;
        tenant_set_state(tenant, TENANT_DEGRADED,
                         "its tasks leave their cookie as soon as they have it: found in each of the last %u checks",
                         tenant->drift_streak);
}

usec_t manager_cpu_used(void) {
        return usec_now(CLOCK_PROCESS_CPUTIME_ID);
}

/* Have all that were inside at the last look their cookie still? Whoever is gone is no member any more. 0: not all. */
static bool members_well(struct manager *m, struct tenant *tenant) {
        size_t left = 0;
        bool well = true;

        for (size_t i = 0; i < tenant->members.n; i++) {
                uint64_t cookie = 0;
                pid_t tid = tenant->members.pid[i];
                int r = m->kernel->cookie->get(m->kernel->data, tid, &cookie);
                if (r == -ESRCH)
                        continue;
                well = well && r == 0 && cookie == tenant->cookie;
                tenant->members.pid[left++] = tid;
        }
        tenant->members.n = left;
        return well;
}

/* Is it enough to look at those that were there? Only while every newcomer is heard of. */
static bool is_known(struct manager *m, const struct tenant *tenant) {
        bool grown = watch_grown(&m->pass.watch, tenant->number);

        return m->listening && m->following && !m->blind && !grown && tenant->state == TENANT_ENFORCED && !tenant->wide;
}

/* Has every tenant that is through with its passes looked at. */
void manager_begin_sweep(struct manager *m, usec_t now) {
        bool whole = m->n_sweeps++ % WHOLE_SWEEPS == WHOLE_SWEEPS - 1;

        m->sweep_began = manager_cpu_used();
        for (size_t i = 0; i < m->tenants.n; i++) {
                struct tenant *tenant = m->tenants.tenant[i];
                if (tenant->rest > now || !manager_is_followed(tenant))
                        continue;
                if (!whole && tenant->due == USEC_INFINITY && is_known(m, tenant) && members_well(m, tenant)) {
                        tenant->drift_streak = 0;
                        continue;
                }
                tenant->checked = true;
                if (tenant->pass)
                        continue;
                tenant->due = 0;
        }
}

void manager_end_sweep(struct manager *m, usec_t now) {
        usec_t interval = m->config->verify_interval, least = (manager_cpu_used() - m->sweep_began) * SWEEP_SHARE;
        m->sweep = interval == 0 ? USEC_INFINITY : now + (interval > least ? interval : least);
}
