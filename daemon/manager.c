// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel-bugs.h"
#include "log.h"
#include "manager-internal.h"
#include "strv.h"
#include "watch.h"
#include <errno.h>
#include <string.h>

/* Between the passes over a tenant that events ask for: at least this, and as much that they take at most one part in
 * so many of the time. */
#define EVENT_PAUSE (5 * USEC_PER_MSEC)
#define EVENT_SHARE 4

/* So many changes of tenants, and one more for each tenant, are added to the saved state before it is written anew. */
#define APPENDED_MIN 100

usec_t manager_now(const struct manager *m) {
        usec_t now;
        return sd_event_now(m->event, CLOCK_MONOTONIC, &now) < 0 ? 0 : now;
}

const struct policy *manager_policy_of(const struct manager *m, const char *name) {
        const struct policy *policy = name ? config_policy(m->config, name) : NULL;
        return policy ? policy : config_policy(m->config, m->config->default_policy);
}

/* ---- real-time budget ---- */

static void set_realtime(struct manager *m, bool on) {
        if (on == m->is_realtime || (on && m->realtime_refused))
                return;
        int r = m->kernel->sched->realtime(m->kernel->data, on);
        if (r < 0) {
                m->realtime_refused = true;
                log_line(
                        LOG_NOTICE, NULL, NULL,
                        "Real-time scheduling is refused (%s): on a host that tenants fill, new tasks are tagged late.",
                        strerrordesc_np(-r));
                return;
        }
        m->is_realtime = on;
}

/* Real-time while there are tenants to follow, within the budget. Returns when to look again. */
static usec_t rest_realtime(struct manager *m) {
        usec_t again = USEC_INFINITY;
        bool allowed = m->tenants.n > 0 && !m->realtime_refused &&
                       realtime_allowed(&m->realtime, manager_now(m), m->kernel->sched->realtime_used(m->kernel->data),
                                        &again);
        set_realtime(m, allowed);
        return m->tenants.n == 0 || m->realtime_refused || allowed ? USEC_INFINITY : again;
}

/* ---- what is told ---- */

static void tell_changed(struct manager *m, struct tenant *tenant) {
        if (tenant->added && m->listener.tenant_added)
                m->listener.tenant_added(tenant, m->listener_userdata);
        else if (tenant->changed && m->listener.tenant_changed)
                m->listener.tenant_changed(tenant, m->listener_userdata);
        tenant->changed = false;
        if (tenant->added)
                log_line(LOG_INFO, CORESCHED_MESSAGE_TENANT_ADDED, tenant, "is a tenant now.");
        if (tenant->turned)
                log_line(tenant->state == TENANT_DEGRADED || tenant->state == TENANT_EXPOSED ? LOG_WARNING : LOG_INFO,
                         CORESCHED_MESSAGE_TENANT_STATE, tenant, "%s%s%s.", tenant_state_word(tenant->state),
                         tenant->reason ? ": " : "", tenant->reason ? tenant->reason : "");
        tenant->added = tenant->turned = false;
}

static int save(void *userdata) {
        struct manager *m = userdata;
        int r = state_save(m->options.state_dir, &m->tenants, m->untagged, m->left);
        if (r < 0)
                log_line(LOG_ERR, NULL, NULL,
                         "Cannot save the state in %s: %s; after a restart of the daemon, tags made "
                         "since are not known.",
                         m->options.state_dir, strerrordesc_np(-r));
        m->unsaved = r < 0;
        m->n_appended = 0;
        return r;
}

/* Saves what is new about a tenant; everything now and then, and when it has to be. */
static void save_tenant(struct manager *m, const struct tenant *tenant, bool gone) {
        if (!m->unsaved && m->n_appended++ < m->tenants.n + APPENDED_MIN &&
            state_append(m->options.state_dir, tenant, gone) == 0)
                return;
        (void) save(m);
}

/* Ends the waiting for tenants that are through. Waiters may make new calls. */
static void tell_waiters(struct manager *m) {
        for (struct waiter **at = &m->waiters; *at;) {
                struct waiter *waiter = *at;
                if (waiter->untag || waiter->tenant->pass || waiter->tenant->due == 0 ||
                    waiter->tenant->state == TENANT_PENDING) {
                        at = &waiter->next;
                        continue;
                }
                *at = waiter->next;
                waiter->done(0, NULL, waiter->tenant, waiter->userdata);
                free(waiter);
                at = &m->waiters;
        }
}

/* Callers are answered as soon as what they asked for is done and will survive a restart; the rest comes after that. */
static void tell(struct manager *m) {
        for (size_t i = 0; i < m->tenants.n && !m->unsaved; i++)
                if (m->tenants.tenant[i]->changed)
                        save_tenant(m, m->tenants.tenant[i], false);
        if (m->unsaved)
                (void) save(m);
        tell_waiters(m);
        for (size_t i = 0; i < m->tenants.n; i++)
                tell_changed(m, m->tenants.tenant[i]);
}

int manager_wait(struct manager *m, struct tenant *tenant, bool untag, manager_done_t done, void *userdata) {
        struct waiter *waiter = malloc(sizeof(*waiter));
        if (!waiter)
                return -ENOMEM;
        *waiter = (struct waiter){tenant, done, userdata, untag, m->waiters};
        m->waiters = waiter;
        return 0;
}

/* Two tenants may have the same number after 65,535 of them: what one forks then counts for both. */
static void number(struct manager *m, struct tenant *tenant) {
        m->last_number = m->last_number == UINT16_MAX ? 1 : m->last_number + 1;
        tenant->number = m->last_number;
}

int manager_add(struct manager *m, struct tenant *tenant) {
        int r = tenants_add(&m->tenants, tenant);
        if (r < 0)
                return r;
        number(m, tenant);
        tenant->added = tenant->changed = true;
        return 0;
}

/* Tells those who wait for the tenant that they need not any more. */
static void end_waiting(struct manager *m, const struct tenant *tenant, bool untag, int error,
                        const struct failure *f) {
        for (struct waiter **at = &m->waiters; *at;) {
                struct waiter *waiter = *at;
                if (waiter->tenant != tenant || waiter->untag != untag) {
                        at = &waiter->next;
                        continue;
                }
                *at = waiter->next;
                waiter->done(error, f, NULL, waiter->userdata);
                free(waiter);
                at = &m->waiters;
        }
}

void manager_drop(struct manager *m, struct tenant *tenant) {
        struct failure f;

        pidmap_drop(&m->pass.watch.settled, tenant->number);
        tenants_remove(&m->tenants, tenant->name);
        m->rematch = m->rematch || tenant->blocks;
        tell_changed(m, tenant);
        log_line(LOG_INFO, CORESCHED_MESSAGE_TENANT_REMOVED, tenant, "is no tenant any more.");
        if (m->listener.tenant_removed)
                m->listener.tenant_removed(tenant, m->listener_userdata);
        save_tenant(m, tenant, true);
        end_waiting(m, tenant, true, 0, NULL);
        fail(&f, FAILURE_NO_SUCH_TENANT, -ECANCELED, "%s was untagged meanwhile", tenant->name);
        end_waiting(m, tenant, false, -ECANCELED, &f);
        tenant_free(tenant);
        manager_apply_waiting(m);
}

/* ---- passes ---- */

static usec_t earlier(usec_t a, usec_t b) {
        return a < b ? a : b;
}

void manager_arm(struct manager *m) {
        usec_t due = USEC_INFINITY;
        if (m->tenants.n == 0)
                m->sweep = USEC_INFINITY;
        else if (m->sweep == USEC_INFINITY && m->config->verify_interval > 0)
                m->sweep = manager_now(m) + m->config->verify_interval;
        bool listen = false;
        for (size_t i = 0; i < m->tenants.n; i++) {
                due = earlier(due, m->tenants.tenant[i]->due);
                listen = listen || manager_is_followed(m->tenants.tenant[i]);
        }
        manager_listen(m, listen || due != USEC_INFINITY);
        due = earlier(due, earlier(m->sweep, rest_realtime(m)));
        due = earlier(due, earlier(manager_heed_due(m), manager_elsewhere_due(m)));
        (void) sd_event_source_set_time(m->work, due);
        (void) sd_event_source_set_enabled(m->work, due == USEC_INFINITY ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

void manager_mark(struct manager *m, struct tenant *tenant) {
        tenant->due = 0;
        manager_listen(m, true);
        (void) sd_event_source_set_time(m->work, 0);
        (void) sd_event_source_set_enabled(m->work, SD_EVENT_ONESHOT);
}

void manager_mark_soon(struct manager *m, struct tenant *tenant) {
        usec_t pause = tenant->cost * EVENT_SHARE, now = manager_now(m);
        usec_t soonest = tenant->passed + (pause > EVENT_PAUSE ? pause : EVENT_PAUSE);
        if (soonest > now)
                manager_mark_later(m, tenant, soonest - now);
        else if (!tenant->pass && tenant->due > soonest)
                manager_mark(m, tenant);
}

void manager_mark_later(struct manager *m, struct tenant *tenant, usec_t delay) {
        usec_t due = manager_now(m) + delay;
        if (tenant->pass || tenant->due <= due)
                return;
        tenant->due = due;
        manager_arm(m);
}

static void mark_dirty(struct tenant *tenant, void *userdata) {
        manager_mark(userdata, tenant);
}

/* Tasks could not be untagged: it stays a tenant. */
static void refuse_untag(struct manager *m, struct tenant *tenant) {
        struct failure f;

        tenant->untagging = false;
        tenant->refused = true;
        strv_remove(m->untagged, tenant->name);
        manager_unleave(m, tenant);
        m->unsaved = true;
        fail(&f, FAILURE_FAILED, -EIO,
             "%s could not be untagged, and stays a tenant: %s; --force forgets it all the same", tenant->name,
             tenant->reason ? tenant->reason : "no reason is known");
        end_waiting(m, tenant, true, -EIO, &f);
        log_line(LOG_ERR, NULL, tenant, "could not be untagged, and stays a tenant: %s",
                 tenant->reason ? tenant->reason : "no reason is known");
        manager_apply_waiting(m);
}

static void finish_pass(struct manager *m, struct tenant *tenant, enum tenant_state before, int result) {
        if (tenant->untagging && (result == 0 || tenant->force || tenant->over)) {
                manager_drop(m, tenant);
                return;
        }
        if (tenant->untagging)
                refuse_untag(m, tenant);
        if (tenant->checked)
                manager_judge_drift(m, tenant);
        /* A tenant that drifts again at once has to wait for the next check. */
        bool settles =
                tenant->touched && tenant->rest <= manager_now(m) && !(tenant->drifted && tenant->drifted_before);
        tenant->due = settles ? manager_now(m) + MANAGER_SETTLE : USEC_INFINITY;
        tenant->drifted_before = tenant->drifted;
        tenant->drifted = tenant->checked = tenant->touched = false;
        tenant->passed = manager_now(m);
        tenant->turned = tenant->turned || tenant->state != before;
        manager_end_transient(m, tenant);
}

void manager_run_tenant(struct manager *m, struct tenant *tenant, usec_t now, bool narrow) {
        enum tenant_state before = tenant->state;
        usec_t again = USEC_INFINITY, began = manager_cpu_used();
        int r = 0;

        if (!tenant->pass || tenant->due == 0) {
                enum plan_wish wish = !tenant->untagging ? WISH_TAGGED
                                      : tenant->force    ? WISH_UNTAGGED_FORCE
                                                         : WISH_UNTAGGED;
                r = pass_begin(tenant, wish, manager_policy_of(m, tenant->policy));
                if (r == 0 && narrow)
                        pass_narrow(tenant);
                tenant->cost = 0;
        }
        tenant->due = USEC_INFINITY;
        if (r == 0)
                r = pass_step(&m->pass, tenant, now, &again);
        tenant->cost += manager_cpu_used() - began;
        if (r > 0) {
                tenant->due = again > 0 ? again : 1;
                return;
        }
        finish_pass(m, tenant, before, r);
}

/* The next tenant to run: whoever a caller waits for first, then in the order of their names. */
static struct tenant *next_due(struct manager *m, usec_t now) {
        for (struct waiter *waiter = m->waiters; waiter; waiter = waiter->next)
                if (waiter->tenant->due <= now)
                        return waiter->tenant;
        for (size_t i = 0; i < m->tenants.n; i++)
                if (m->tenants.tenant[i]->due <= now)
                        return m->tenants.tenant[i];
        return NULL;
}

/* A cookie of nobody's is kept as long as there are tenants. Without SMT there is none to be had: later, then. */
static void hold(struct manager *m) {
        bool held = m->tenants.n > 0;
        if (held != m->held && m->kernel->cookie->hold(m->kernel->data, held) == 0)
                m->held = held;
}

const char *manager_forbidden(struct manager *m) {
        /* Once a turn of the loop: a call asks more than once. */
        if (m->looked_at != manager_now(m)) {
                m->looked_at = manager_now(m);
                m->sched_ext = m->kernel->sched->sched_ext(m->kernel->data);
        }
        return m->config->allow_sched_ext || !m->sched_ext
                       ? NULL
                       : "a BPF scheduler (sched_ext) is loaded, and hosts with SMT are reported to hang when it meets cookies";
}

/* What was exposed may be tagged now, or the reverse. */
static void notice_forbidden(struct manager *m) {
        const char *forbidden = manager_forbidden(m);

        if (!forbidden == !m->pass.forbidden)
                return;
        m->pass.forbidden = forbidden;
        for (size_t i = 0; i < m->tenants.n; i++)
                manager_mark(m, m->tenants.tenant[i]);
}

void manager_run(struct manager *m) {
        usec_t now = manager_now(m);
        bool sweeps = now >= m->sweep;
        struct tenant *tenant;

        set_realtime(m, false);
        notice_forbidden(m);
        if (sweeps)
                manager_begin_sweep(m, now);
        while ((tenant = next_due(m, now)))
                manager_run_tenant(m, tenant, now, false);
        if (sweeps)
                manager_end_sweep(m, now);
        manager_rematch(m);
        host_done(&m->pass.host);
        m->pass.host_seen = false;
        manager_look_elsewhere(m, now);
        tell(m);
        hold(m);
        manager_follow(m);
        manager_arm(m);
}

static int on_work(sd_event_source *source, uint64_t usec, void *userdata) {
        struct manager *m = userdata;
        usec_t now = manager_now(m);

        if (manager_heed_due(m) <= now)
                manager_heed(m);
        if (next_due(m, now) || m->sweep <= now || manager_elsewhere_due(m) <= now)
                manager_run(m);
        else
                manager_arm(m);
        return 0;
}

static int on_turn(sd_event_source *source, void *userdata) {
        struct manager *m = userdata;
        if (m->is_realtime && rest_realtime(m) != USEC_INFINITY)
                manager_arm(m);
        return 0;
}

/* SMT may have changed. All that was known of the tenants is void if it did. */
bool manager_notice_smt(struct manager *m) {
        int probed = m->kernel->cookie->probe(m->kernel->data);

        if (probed == m->probed)
                return false;
        m->probed = probed;
        manager_untag_unconfigured(m, true);
        for (size_t i = 0; i < m->tenants.n; i++)
                manager_mark(m, m->tenants.tenant[i]);
        if (m->listener.manager_changed)
                m->listener.manager_changed(m->listener_userdata);
        return true;
}

static void on_smt(void *userdata) {
        (void) manager_notice_smt(userdata);
}

/* ---- beginning and end ---- */

static void warn_of_bugs(const struct manager *m) {
        const struct kernel_bug *bug;

        for (size_t n = 0; (n = kernel_bugs_next(m->kernel->release, n, &bug)) > 0;)
                log_line(LOG_WARNING, NULL, NULL, "Linux %s may have %s: %s. It is mended in %s.", m->kernel->release,
                         bug->id, bug->what, bug->mended);
}

int manager_new(const struct kernel *kernel, sd_event *event, const struct manager_options *options,
                struct manager **ret, struct failure *f) {
        _cleanup_(manager_freep) struct manager *m = calloc(1, sizeof(*m));
        struct failure wrong;

        if (!m)
                return fail(f, FAILURE_FAILED, -ENOMEM, "Out of memory");
        m->kernel = kernel;
        m->event = sd_event_ref(event);
        m->options = *options;
        m->pass = (struct pass_context){.kernel = kernel,
                                        .tenants = &m->tenants,
                                        .save = save,
                                        .dirty = mark_dirty,
                                        .drifted = manager_on_drift,
                                        .userdata = m};
        m->sweep = USEC_INFINITY;
        m->quick.budget = MANAGER_HINT_BUDGET;
        int r = config_load(options->config_root, &m->config, &wrong);
        bool known = r == 0;
        if (!known) {
                log_line(LOG_ERR, CORESCHED_MESSAGE_CONFIGURATION, NULL,
                         "%s; no configuration is in force, and tenants of before stay as they are.", wrong.text);
                m->config_failure = wrong;
                r = config_builtin(&m->config);
        }
        if (r == 0)
                r = sd_event_add_time(event, &m->work, CLOCK_MONOTONIC, 0, 1000, on_work, m);
        if (r >= 0)
                r = sd_event_source_set_enabled(m->work, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_post(event, &m->turn, on_turn, m);
        if (r >= 0)
                r = manager_follow_start(m);
        if (r >= 0) {
                r = kernel->smt->watch(kernel->data, event, on_smt, m);
                m->probed = kernel->cookie->probe(kernel->data);
        }
        if (r >= 0)
                r = manager_protect_host(m);
        if (r >= 0)
                r = manager_take_state(m);
        if (r >= 0)
                r = manager_apply_config(m, known);
        if (r < 0)
                return fail(f, FAILURE_FAILED, r, "The daemon cannot start: %s", strerrordesc_np(-r));
        warn_of_bugs(m);
        *ret = TAKE(m);
        return 0;
}

void manager_free(struct manager *m) {
        if (!m)
                return;
        for (size_t i = 0; i < m->tenants.n; i++)
                if (m->tenants.tenant[i]->pass)
                        pass_abort(&m->pass, m->tenants.tenant[i]);
        while (m->waiters) {
                struct waiter *waiter = m->waiters;
                m->waiters = waiter->next;
                struct failure f;
                fail(&f, FAILURE_FAILED, -ESHUTDOWN,
                     "The daemon is being stopped; the call is carried on when it is back");
                waiter->done(-ESHUTDOWN, &f, NULL, waiter->userdata);
                free(waiter);
        }
        sd_event_source_disable_unref(m->work);
        sd_event_source_disable_unref(m->turn);
        sd_event_source_disable_unref(m->cgroup_io);
        sd_event_source_disable_unref(m->process_io);
        if (m->config)
                (void) save(m);
        tenants_done(&m->tenants);
        strv_free(m->untagged);
        strv_free(m->left);
        strv_free(m->told);
        strv_free(m->protected);
        strv_free(m->elsewhere);
        host_done(&m->pass.host);
        watch_done(&m->pass.watch);
        config_free(m->config);
        sd_event_unref(m->event);
        free(m);
}

void manager_set_listener(struct manager *m, const struct manager_listener *listener, void *userdata) {
        m->listener = *listener;
        m->listener_userdata = userdata;
}
