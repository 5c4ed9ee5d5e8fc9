// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tenants that the policies' Match= makes of cgroups as they appear. They are transient, and end as their cgroups go.
 * What holds always: a pattern never takes a cgroup, or a part of one, from a tenant that is there, nor from one of the
 * configuration, nor what was untagged by hand; and it makes nothing of a cgroup that it gives no name. */
#include "log.h"
#include "manager-internal.h"
#include "pattern.h"
#include "selector.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

/* So many tenants may have the same name, but for a number at its end. */
#define NAMESAKES_MAX 10000

bool manager_has_patterns(const struct manager *m) {
        for (size_t i = 0; i < m->config->n_policies; i++)
                if (m->config->policies[i].active)
                        return true;
        return false;
}

static int find_match(const struct manager *m, const char *path, struct match *ret) {
        return pattern_match(m->config->policies, m->config->n_policies, path, ret);
}

static void tell(struct manager *m, int priority, const char *path, const struct match *match, const char *why) {
        if (strv_contains(m->told, path))
                return;
        (void) strv_extend(&m->told, path);
        log_line(priority, NULL, NULL, "%s matches policy '%s', but is made no tenant: %s.", path, match->policy->name,
                 why);
}

/* Is it, or does it hold or lie in, a cgroup of the configuration's, be that a tenant now or not? */
static bool is_configured(const struct manager *m, const char *path) {
        for (size_t i = 0; i < m->config->n_tenants; i++)
                for (char **c = m->config->tenants[i].cgroups; *c; c++)
                        if (cgroup_path_within(path, *c) || cgroup_path_within(*c, path))
                                return true;
        return false;
}

static bool is_made_by(const struct tenant *tenant, const struct policy *policy) {
        return tenant->origin == ORIGIN_PATTERN && strcmp(tenant->pattern, policy->name) == 0;
}

/* ---- what appears ---- */

/* Is it a tenant's, or in the way of one? A match within a tenant does not split it. */
static bool is_taken(struct manager *m, const char *path, const struct match *match) {
        struct tenant *owner = tenants_of_cgroup(&m->tenants, path);
        struct tenant *other = owner ? owner : tenants_overlapping(&m->tenants, path);
        if (other)
                other->blocks = other->blocks || other->untagging || !strv_contains(other->cgroups, path);
        if (owner && !strv_contains(owner->cgroups, path))
                tell(m, LOG_DEBUG, path, match, "it lies within a tenant");
        return owner;
}

/* A name that no other tenant has. Newly allocated, or NULL. */
static char *free_name(const struct manager *m, const char *path) {
        for (unsigned number = 1; number <= NAMESAKES_MAX; number++) {
                _cleanup_free_ char *name = pattern_default_name(path, number);
                if (!name)
                        return NULL;
                if (!tenants_find(&m->tenants, name) && !config_tenant(m->config, name))
                        return TAKE(name);
        }
        return NULL;
}

/* Another cgroup for a tenant of many, of which some may just have gone. */
static int join(struct manager *m, struct tenant *tenant, const char *path, const struct match *match,
                struct failure *f) {
        _cleanup_strv_ char **cgroups = NULL;
        tenant->blocks = tenant->blocks || tenant->untagging || tenant->origin != ORIGIN_PATTERN;
        if (tenant->untagging)
                return 0;
        if (!is_made_by(tenant, match->policy))
                return fail(f, FAILURE_TENANT_EXISTS, -EEXIST, "there is another tenant of its name, %s", tenant->name);
        int r = 0;
        for (char **c = tenant->cgroups; r == 0 && *c; c++)
                if (manager_has_cgroup(m, *c))
                        r = strv_extend(&cgroups, *c);
        if (r == 0)
                r = strv_extend(&cgroups, path);
        if (r == 0)
                r = manager_change(m, tenant, cgroups, tenant->policy);
        if (r < 0)
                return fail(f, FAILURE_FAILED, r, "out of memory");
        manager_mark(m, tenant);
        return 0;
}

static int make(struct manager *m, const char *path, const struct match *match, struct failure *f) {
        _cleanup_(tenant_freep) struct tenant *tenant = NULL;
        _cleanup_free_ char *name = NULL;
        char *const cgroups[] = {(char *) path, NULL};

        if (!match->name)
                return fail(f, FAILURE_INVALID_NAME, -EINVAL, "Tenant=%s makes no name of it", match->policy->tenant);
        int r = manager_check_cgroups(m, NULL, cgroups, f);
        if (r < 0)
                return r;
        struct tenant *namesake = match->shared ? tenants_find(&m->tenants, match->name) : NULL;
        if (namesake)
                return join(m, namesake, path, match, f);
        if (match->shared && config_tenant(m->config, match->name))
                return fail(f, FAILURE_TENANT_EXISTS, -EEXIST, "there is a configured tenant of its name, %s",
                            match->name);
        name = match->shared ? strdup(match->name) : free_name(m, path);
        r = name ? tenant_new(name, cgroups, match->policy->name, ORIGIN_PATTERN, &tenant) : -ENOMEM;
        if (r == 0)
                r = tenant_set_pattern(tenant, match->policy->name);
        if (r == 0) {
                tenant->transient = tenant->lived = true;
                r = manager_add(m, tenant);
        }
        if (r < 0)
                return fail(f, FAILURE_FAILED, r, "%s", strerrordesc_np(-r));
        manager_mark(m, TAKE(tenant));
        return 0;
}

void manager_cgroup_appeared(struct manager *m, const char *path) {
        _cleanup_(match_done) struct match match = {0};
        struct failure f;

        if (strcmp(path, "/") == 0 || find_match(m, path, &match) <= 0 || is_taken(m, path, &match) ||
            is_configured(m, path) || strv_contains(m->left, path))
                return;
        if (make(m, path, &match, &f) < 0)
                tell(m, LOG_NOTICE, path, &match, f.text);
}

static int appeared(const char *path, void *userdata) {
        manager_cgroup_appeared(userdata, path);
        return 0;
}

/* Of cgroups that went unseen nothing is kept. */
static int forget_gone(struct manager *m) {
        _cleanup_strv_ char **gone = NULL;
        int r = 0;
        for (char **path = m->left; r == 0 && path && *path; path++)
                if (!manager_has_cgroup(m, *path))
                        r = strv_extend(&gone, *path);
        for (char **path = gone; path && *path; path++)
                strv_remove(m->left, *path);
        m->unsaved = m->unsaved || gone;
        return r < 0 ? r : manager_review_patterns(m);
}

void manager_match_all(struct manager *m) {
        int r = forget_gone(m);
        bool watched = m->following;
        manager_follow(m);
        /* To begin to watch is to look at all. */
        if (r == 0 && watched && manager_has_patterns(m))
                r = m->kernel->cgroup->walk(m->kernel->data, "/", appeared, m);
        if (r < 0)
                log_line(LOG_WARNING, NULL, NULL,
                         "Cannot look at all cgroups (%s): some that match may not be tenants.", strerrordesc_np(-r));
}

void manager_rematch(struct manager *m) {
        if (!m->rematch)
                return;
        m->rematch = false;
        manager_match_all(m);
}

/* ---- what goes ---- */

void manager_cgroup_gone(struct manager *m, const char *path) {
        struct tenant *tenant = tenants_of_cgroup(&m->tenants, path);
        _cleanup_strv_ char **rest = NULL;

        m->unsaved = m->unsaved || strv_contains(m->left, path);
        strv_remove(m->left, path);
        strv_remove(m->told, path);
        if (manager_has_cgroup(m, path)) {
                manager_cgroup_appeared(m, path);
                return;
        }
        /* With its last cgroup the tenant ends as any transient one. */
        if (!tenant || tenant->origin != ORIGIN_PATTERN || strv_length(tenant->cgroups) < 2 ||
            !strv_contains(tenant->cgroups, path) || strv_copy(tenant->cgroups, &rest) < 0)
                return;
        strv_remove(rest, path);
        if (manager_change(m, tenant, rest, tenant->policy) == 0)
                manager_mark(m, tenant);
}

/* ---- what the configuration changes ---- */

/* Would a pattern make it a tenant, if none had made others? 1, 0, -ENOMEM. */
static int is_eligible(const struct manager *m, const char *path) {
        _cleanup_(match_done) struct match match = {0};
        int r = find_match(m, path, &match);
        if (r <= 0)
                return r;
        if (!match.name || is_configured(m, path) || strv_contains(m->left, path) ||
            manager_check_protected(m, path, NULL) < 0)
                return 0;
        for (size_t i = 0; i < m->tenants.n; i++) {
                const struct tenant *tenant = m->tenants.tenant[i];
                for (char **c = tenant->cgroups; tenant->origin != ORIGIN_PATTERN && *c; c++)
                        if (cgroup_path_within(*c, path) || cgroup_path_within(path, *c))
                                return 0;
        }
        const struct tenant *namesake = match.shared ? tenants_find(&m->tenants, match.name) : NULL;
        return namesake ? is_made_by(namesake, match.policy) : !match.shared || !config_tenant(m->config, match.name);
}

/* Does it lie in what a pattern would make a tenant? 1, 0, -ENOMEM. */
static int is_nested(const struct manager *m, const char *path) {
        _cleanup_free_ char *ancestor = strdup(path);
        int r = ancestor ? 0 : -ENOMEM;
        while (r == 0) {
                char *slash = strrchr(ancestor, '/');
                if (slash == ancestor)
                        break;
                *slash = '\0';
                r = is_eligible(m, ancestor);
        }
        return r;
}

/* Would the cgroup be made part of this tenant by the configuration of now? 1, 0, -ENOMEM. */
static int is_wanted(const struct manager *m, const struct tenant *tenant, const char *path) {
        _cleanup_(match_done) struct match match = {0};
        int r = is_configured(m, path) ? 0 : find_match(m, path, &match);
        if (r <= 0 || !is_made_by(tenant, match.policy))
                return r < 0 ? r : 0;
        if (match.shared ? !match.name || strcmp(match.name, tenant->name) != 0 : strv_length(tenant->cgroups) > 1)
                return 0;
        r = is_nested(m, path);
        return r < 0 ? r : r == 0;
}

static int review(struct manager *m, struct tenant *tenant) {
        _cleanup_strv_ char **wanted = NULL, **there = NULL;
        int r = 0;
        for (char **path = tenant->cgroups; r >= 0 && *path; path++) {
                r = is_wanted(m, tenant, *path);
                if (r > 0)
                        r = strv_extend(&wanted, *path);
                else if (r == 0)
                        continue;
                if (r == 0 && manager_has_cgroup(m, *path))
                        r = strv_extend(&there, *path);
        }
        if (r < 0)
                return r;
        char **kept = there ? there : wanted;
        if (strv_equal(kept, tenant->cgroups))
                return 0;
        if (kept)
                r = manager_change(m, tenant, kept, tenant->policy);
        else
                tenant->untagging = true;
        manager_mark(m, tenant);
        return r;
}

int manager_review_patterns(struct manager *m) {
        int r = 0;
        for (size_t i = 0; r == 0 && i < m->tenants.n; i++) {
                struct tenant *tenant = m->tenants.tenant[i];
                if (tenant->origin != ORIGIN_PATTERN || tenant->untagging)
                        continue;
                if (config_tenant(m->config, tenant->name) && !strv_contains(m->untagged, tenant->name)) {
                        tenant->origin = ORIGIN_CONFIGURATION;
                        tenant->transient = false;
                        tenant->changed = true;
                        r = tenant_set_pattern(tenant, NULL);
                } else
                        r = review(m, tenant);
        }
        return r;
}

int manager_leave(struct manager *m, const struct tenant *tenant) {
        int r = 0;
        for (char **path = tenant->cgroups; r >= 0 && *path; path++) {
                _cleanup_(match_done) struct match match = {0};
                if (!manager_has_cgroup(m, *path) || strv_contains(m->left, *path))
                        continue;
                r = find_match(m, *path, &match);
                if (r > 0) {
                        m->unsaved = true;
                        r = strv_extend(&m->left, *path);
                }
        }
        return r < 0 ? r : 0;
}

void manager_unleave(struct manager *m, const struct tenant *tenant) {
        for (char **path = tenant->cgroups; *path; path++)
                strv_remove(m->left, *path);
}

/* ---- what a tag by hand takes the place of ---- */

struct tenant *manager_find_twin(const struct manager *m, char *const *cgroups) {
        for (size_t i = 0; i < m->tenants.n; i++) {
                struct tenant *tenant = m->tenants.tenant[i];
                if (tenant->origin == ORIGIN_PATTERN && !tenant->untagging && strv_equal(tenant->cgroups, cgroups))
                        return tenant;
        }
        return NULL;
}

uint64_t manager_give_way(struct manager *m, struct tenant *twin) {
        uint64_t given = twin->adopted ? 0 : twin->cookie;
        twin->stay_frozen = false;
        pass_abort(&m->pass, twin);
        manager_drop(m, twin);
        return given;
}
