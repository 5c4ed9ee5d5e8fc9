// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the manager starts from, and what a reload changes: the configuration in force, the tenants of before a restart,
 * and the cgroups that may not be tenants. */
#include "log.h"
#include "manager-internal.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

static bool configured_now(const struct manager *m, const struct config *config, const struct tenant *tenant) {
        return config_tenant(config, tenant->name) && !strv_contains(m->untagged, tenant->name);
}

static bool same(const char *a, const char *b) {
        return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Does the configuration want something else of the tenant than it has, or than it wanted when it was last read? A
 * policy that was chosen since then by a call stays otherwise. */
static bool wants_change(const struct tenant_config *wanted, const struct config *old, const struct tenant *tenant) {
        if (!wanted)
                return false;
        if (!strv_equal(wanted->cgroups, tenant->cgroups))
                return true;
        const struct tenant_config *before = old ? config_tenant(old, tenant->name) : NULL;
        return !same(wanted->policy, tenant->policy) && (!before || !same(wanted->policy, before->policy));
}

/* While the configuration is wrong since the start, nobody knows whom it names: all stays. */
static int keep_tenants(struct manager *m) {
        for (size_t i = 0; i < m->tenants.n; i++) {
                struct tenant *tenant = m->tenants.tenant[i];
                if (tenant->policy && !config_policy(m->config, tenant->policy))
                        log_line(LOG_WARNING, NULL, tenant,
                                 "its policy '%s' is not known now; the default one is in force.", tenant->policy);
                manager_mark(m, tenant);
        }
        return 0;
}

/* What the configuration wants of a tenant cannot be. While other tenants are going, it may be their fault: the
 * configuration is applied again when they are gone. */
static void leave_out(struct manager *m, const struct tenant_config *wanted, const char *what,
                      const struct failure *f) {
        for (size_t i = 0; i < m->tenants.n; i++)
                if (m->tenants.tenant[i]->untagging) {
                        m->config_waits = true;
                        return;
                }
        log_line(LOG_ERR, CORESCHED_MESSAGE_CONFIGURATION, NULL, "%s: %s; %s.", wanted->file, f->text, what);
}

void manager_untag_unconfigured(struct manager *m, bool again) {
        for (size_t i = 0; i < m->tenants.n && m->config_known; i++) {
                struct tenant *tenant = m->tenants.tenant[i];
                if (tenant->origin != ORIGIN_CONFIGURATION || configured_now(m, m->config, tenant))
                        continue;
                if (again)
                        tenant->refused = false;
                tenant->untagging = !tenant->refused;
        }
}

/* Makes the tenants what the configuration says: those it names are there, those it no longer names go. */
static int apply_config(struct manager *m, const struct config *old) {
        m->unsaved = true;
        int reviewed = manager_review_patterns(m);
        if (reviewed < 0)
                return reviewed;
        manager_untag_unconfigured(m, false);
        for (size_t i = 0; i < m->tenants.n; i++) {
                struct tenant *tenant = m->tenants.tenant[i];
                const struct tenant_config *wanted = config_tenant(m->config, tenant->name);

                if (!tenant->untagging && tenant->policy && !config_policy(m->config, tenant->policy)) {
                        log_line(LOG_WARNING, NULL, tenant, "its policy '%s' is gone; the default one is in force.",
                                 tenant->policy);
                        free(TAKE(tenant->policy));
                        tenant->changed = true;
                }
                if (!tenant->untagging && wants_change(wanted, old, tenant)) {
                        struct failure f;
                        int r = manager_check_cgroups(m, tenant, wanted->cgroups, &f);
                        if (r < 0)
                                leave_out(m, wanted, "it keeps the cgroups it had", &f);
                        else
                                r = manager_change(m, tenant, wanted->cgroups, wanted->policy);
                        if (r == -ENOMEM)
                                return r;
                }
                manager_mark(m, tenant);
        }
        for (size_t i = 0; i < m->config->n_tenants; i++) {
                const struct tenant_config *wanted = &m->config->tenants[i];
                struct tenant *tenant;
                struct failure f;

                tenant = tenants_find(&m->tenants, wanted->name);
                if (tenant && tenant->untagging)
                        m->config_waits = true; /* it comes back once it is gone */
                if (tenant || strv_contains(m->untagged, wanted->name))
                        continue;
                int r = manager_check_cgroups(m, NULL, wanted->cgroups, &f);
                if (r < 0) {
                        leave_out(m, wanted, "this tenant is left out", &f);
                        continue;
                }
                r = tenant_new(wanted->name, wanted->cgroups, wanted->policy, ORIGIN_CONFIGURATION, &tenant);
                if (r < 0)
                        return r;
                r = manager_add(m, tenant);
                if (r < 0) {
                        tenant_free(tenant);
                        return r;
                }
                manager_mark(m, tenant);
        }
        manager_match_all(m);
        return 0;
}

void manager_apply_waiting(struct manager *m) {
        if (!m->config_waits)
                return;
        for (size_t i = 0; i < m->tenants.n; i++)
                if (m->tenants.tenant[i]->untagging)
                        return;
        m->config_waits = false;
        if (apply_config(m, NULL) < 0)
                log_line(LOG_ERR, CORESCHED_MESSAGE_CONFIGURATION, NULL,
                         "Not all tenants follow the configuration: out of memory.");
}

/* What was refused is tried again: the reason may be gone. */
static void apply_settings(struct manager *m) {
        m->deaf = m->realtime_refused = false;
        m->pass.freeze_timeout = m->config->freeze_timeout;
        m->realtime.budget = m->config->realtime_budget;
        m->sweep = USEC_INFINITY; /* until the timer is set anew */
}

int manager_apply_config(struct manager *m, bool known) {
        m->config_known = known;
        apply_settings(m);
        return known ? apply_config(m, NULL) : keep_tenants(m);
}

/* No tenant may be what the whole host depends on. */
static int check_tenants(const struct manager *m, const struct config *config, struct failure *f) {
        for (size_t i = 0; i < config->n_tenants; i++)
                for (char **path = config->tenants[i].cgroups; *path; path++) {
                        struct failure why;
                        int r = manager_check_protected(m, *path, &why);
                        if (r < 0)
                                return fail(f, FAILURE_INVALID_CONFIG, r, "%s: %s", config->tenants[i].file, why.text);
                }
        return 0;
}

int manager_read_config(struct manager *m, struct failure *f) {
        _cleanup_(config_freep) struct config *config = NULL;
        int r = config_load(m->options.config_root, &config, f);
        if (r == 0)
                r = check_tenants(m, config, f);
        if (r < 0)
                return r;
        _cleanup_(config_freep) struct config *old = m->config;
        m->config = TAKE(config);
        m->config_failure = (struct failure){0};
        apply_settings(m);
        bool was_known = m->config_known;
        m->config_known = true;
        manager_untag_unconfigured(m, true);
        r = apply_config(m, was_known ? old : NULL);
        if (m->listener.manager_changed)
                m->listener.manager_changed(m->listener_userdata);
        return r < 0 ? fail(f, FAILURE_FAILED, r,
                            "The new configuration is in force, but not all tenants follow it: %s", strerrordesc_np(-r))
                     : 0;
}

int manager_reload(struct manager *m, struct failure *f) {
        _cleanup_strv_ char **untagged = TAKE(m->untagged), **left = TAKE(m->left);
        strv_free(TAKE(m->told));
        int r = manager_read_config(m, f);
        if (r < 0) {
                m->untagged = TAKE(untagged);
                m->left = TAKE(left);
                log_line(LOG_ERR, CORESCHED_MESSAGE_CONFIGURATION, NULL, "%s; the old configuration stays in force.",
                         f->text);
                m->config_failure = *f;
                if (m->listener.manager_changed)
                        m->listener.manager_changed(m->listener_userdata);
        } else
                log_line(LOG_INFO, CORESCHED_MESSAGE_CONFIGURATION, NULL, "The configuration was read again.");
        return r;
}

/* Takes over the tenants of before a restart. Their cookies are looked for in their tasks, not believed. */
int manager_take_state(struct manager *m) {
        struct state state = {0};
        struct failure f;

        int r = state_load(m->options.state_dir, &state, &f);
        if (r < 0) {
                log_line(LOG_WARNING, NULL, NULL, "%s", f.text);
                return r == -ENOMEM ? r : 0;
        }
        m->tenants = state.tenants;
        m->untagged = state.untagged;
        m->left = state.left;
        m->unsaved = true; /* what a line breaks off in the middle of is not gone on with */
        for (size_t i = 0; i < m->tenants.n; i++) {
                struct tenant *tenant = m->tenants.tenant[i];
                tenant->given = tenant->adopted ? 0 : tenant->cookie;
                tenant->cookie = 0;
                tenant->adopted = false;
                tenant->wide = true; /* tasks may have left it meanwhile */
        }
        return 0;
}

int manager_protect(struct manager *m, const char *path) {
        return strv_contains(m->protected, path) ? 0 : strv_extend(&m->protected, path);
}

/* What the daemon and the whole host hang on. */
int manager_protect_host(struct manager *m) {
        static const char *const always[] = {
                "/init.scope",
                "/system.slice/dbus.service",
                "/system.slice/dbus-broker.service",
                "/system.slice/polkit.service",
                "/system.slice/systemd-journald.service",
        };
        int r = 0;
        for (size_t i = 0; r == 0 && i < ELEMENTS(always); i++)
                r = manager_protect(m, always[i]);
        const pid_t those[] = {1, getpid()};
        for (size_t i = 0; r == 0 && i < ELEMENTS(those); i++) {
                _cleanup_free_ char *path = NULL;
                if (m->kernel->cgroup->of_task(m->kernel->data, those[i], &path) == 0 && strcmp(path, "/") != 0)
                        r = manager_protect(m, path);
        }
        return r;
}
