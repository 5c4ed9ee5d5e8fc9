// SPDX-License-Identifier: LGPL-2.1-or-later
/* What callers ask the manager for. A request is checked as a whole before anything is changed. */
#include "log.h"
#include "manager-internal.h"
#include "selector.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

/* ---- reading ---- */

const struct tenants *manager_tenants(const struct manager *m) {
        return &m->tenants;
}

const struct config *manager_config(const struct manager *m) {
        return m->config;
}

enum core_scheduling manager_core_scheduling(struct manager *m) {
        switch (m->kernel->cookie->probe(m->kernel->data)) {
        case 0:
                return manager_forbidden(m) ? CORE_SCHEDULING_SCHED_EXT : CORE_SCHEDULING_AVAILABLE;
        case -ENODEV:
                return CORE_SCHEDULING_NO_SMT;
        case -EPERM:
        case -EACCES:
                return CORE_SCHEDULING_DENIED;
        default:
                return CORE_SCHEDULING_UNSUPPORTED;
        }
}

int manager_smt(struct manager *m, char **ret_control, bool *ret_active) {
        return m->kernel->smt->status(m->kernel->data, ret_control, ret_active);
}

bool manager_has_cgroup(struct manager *m, const char *path) {
        return m->kernel->cgroup->find(m->kernel->data, path) == 0;
}

const char *manager_config_problem(const struct manager *m) {
        return m->config_failure.text;
}

const char *manager_policy(const struct manager *m, const struct tenant *tenant) {
        return manager_policy_of(m, tenant->policy)->name;
}

enum isolation manager_isolation(struct manager *m, const struct tenant *tenant) {
        switch (tenant->state) {
        case TENANT_INERT:
                return ISOLATION_SMT_OFF;
        case TENANT_EXPOSED:
                return ISOLATION_NONE;
        default:
                return manager_policy_of(m, tenant->policy)->isolation;
        }
}

/* ---- checking ---- */

int manager_check_protected(const struct manager *m, const char *path, struct failure *f) {
        if (strcmp(path, "/") == 0)
                return fail(f, FAILURE_INVALID_CGROUP, -EINVAL,
                            "The root cgroup holds the whole host and cannot be a tenant; name a cgroup below it");
        for (char **p = m->protected; p && *p; p++) {
                if (strcmp(path, *p) == 0)
                        return fail(f, FAILURE_INVALID_CGROUP, -EINVAL,
                                    "%s cannot be a tenant: the whole host depends on it", path);
                if (cgroup_path_within(*p, path) || cgroup_path_within(path, *p))
                        return fail(f, FAILURE_INVALID_CGROUP, -EINVAL,
                                    "%s cannot be a tenant: it %s %s, which the whole host depends on", path,
                                    cgroup_path_within(*p, path) ? "contains" : "is within", *p);
        }
        return 0;
}

static int check_cgroup(struct manager *m, const struct tenant *self, const char *path, struct failure *f) {
        int r = manager_check_protected(m, path, f);
        if (r < 0)
                return r;
        r = m->kernel->cgroup->find(m->kernel->data, path);
        if (r == -ENOTDIR)
                return fail(f, FAILURE_INVALID_CGROUP, r, "%s is a file, not a cgroup; name its directory", path);
        if (r == -ENAMETOOLONG)
                return fail(f, FAILURE_INVALID_CGROUP, r, "The path of this cgroup is too long: %.200s...", path);
        if (r < 0 && r != -ENOENT)
                return fail(f, FAILURE_FAILED, r, "Cannot look at cgroup %s: %s", path, strerrordesc_np(-r));
        for (size_t i = 0; i < m->tenants.n; i++) {
                const struct tenant *other = m->tenants.tenant[i];
                for (char **c = other->cgroups; other != self && c && *c; c++)
                        if (cgroup_path_within(path, *c) || cgroup_path_within(*c, path))
                                return fail(
                                        f, FAILURE_TENANT_EXISTS, -EEXIST,
                                        "%s %s tenant %s (%s), and tasks cannot be of two tenants; untag that one first",
                                        path,
                                        strcmp(path, *c) == 0          ? "is already"
                                        : cgroup_path_within(path, *c) ? "is within"
                                                                       : "contains",
                                        other->name, *c);
        }
        return 0;
}

int manager_check_cgroups(struct manager *m, const struct tenant *self, char *const *cgroups, struct failure *f) {
        for (; *cgroups; cgroups++) {
                int r = check_cgroup(m, self, *cgroups, f);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Normalizes what a caller named, and drops what is named twice or lies within another. */
static int normalize(char *const *cgroups, char ***ret, struct failure *f) {
        _cleanup_strv_ char **all = NULL, **kept = NULL;
        int r = 0;

        for (; cgroups && *cgroups; cgroups++) {
                _cleanup_free_ char *path = NULL;
                r = cgroup_from_word(*cgroups, &path);
                if (r == -EDOM)
                        return fail(f, FAILURE_INVALID_CGROUP, -EINVAL,
                                    "'%.200s' is a unit's name; name its cgroup's path, which 'systemctl show -P "
                                    "ControlGroup UNIT' tells while it runs",
                                    *cgroups);
                if (r == -EINVAL)
                        return fail(f, FAILURE_INVALID_CGROUP, r, "'%.200s' is not the path of a cgroup", *cgroups);
                if (r == 0)
                        r = strv_extend(&all, path);
                if (r < 0)
                        return fail(f, FAILURE_FAILED, r, "Out of memory");
        }
        for (char **a = all; a && *a; a++) {
                bool covered = false;
                for (char **b = all; *b; b++)
                        covered = covered || (strcmp(*a, *b) != 0 ? cgroup_path_within(*a, *b) : b < a);
                if (!covered && strv_extend(&kept, *a) < 0)
                        return fail(f, FAILURE_FAILED, -ENOMEM, "Out of memory");
        }
        *ret = TAKE(kept);
        return 0;
}

static int check_policy(const struct manager *m, const char *policy, struct failure *f) {
        if (!policy || config_policy(m->config, policy))
                return 0;
        char names[400];
        size_t length = 0;
        names[0] = '\0';
        for (size_t i = 0; i < m->config->n_policies && length < sizeof(names) - 1; i++)
                length += (size_t) snprintf(names + length, sizeof(names) - length, "%s%s", i > 0 ? ", " : "",
                                            m->config->policies[i].name);
        return fail(f, FAILURE_INVALID_POLICY, -EINVAL, "There is no policy '%.100s'; there are: %s", policy, names);
}

static int check_protectable(struct manager *m, const char *name, struct failure *f) {
        switch (manager_core_scheduling(m)) {
        case CORE_SCHEDULING_UNSUPPORTED:
                return fail(
                        f, FAILURE_NOT_SUPPORTED, -EOPNOTSUPP,
                        "%s cannot be protected: this kernel has no core scheduling (it was built without "
                        "CONFIG_SCHED_CORE); boot one that has, switch SMT off, or use --force to list it as exposed",
                        name);
        case CORE_SCHEDULING_SCHED_EXT:
                return fail(
                        f, FAILURE_NOT_SUPPORTED, -EOPNOTSUPP,
                        "%s is not tagged: %s; unload it, set AllowSchedExt=yes in coreschedd.conf, or use --force to "
                        "list the tenant as exposed",
                        name, manager_forbidden(m));
        case CORE_SCHEDULING_DENIED:
                return fail(f, FAILURE_NOT_SUPPORTED, -EPERM,
                            "%s cannot be protected: a security module denies core scheduling to the daemon; allow it "
                            "ptrace read access, or use --force to list the tenant as exposed",
                            name);
        default:
                return 0;
        }
}

/* ---- changing ---- */

int manager_change(struct manager *m, struct tenant *tenant, char *const *cgroups, const char *policy) {
        _cleanup_strv_ char **cgroups_copy = NULL;
        _cleanup_free_ char *policy_copy = policy ? strdup(policy) : NULL;

        int r = strv_copy(cgroups, &cgroups_copy);
        if (r < 0 || (policy && !policy_copy))
                return -ENOMEM;
        if (!strv_equal(cgroups, tenant->cgroups)) {
                pidmap_drop(&m->pass.watch.settled, tenant->number);
                strv_free(tenant->cgroups);
                tenant->cgroups = TAKE(cgroups_copy);
                tenant->wide = true;
        }
        free(tenant->policy);
        tenant->policy = TAKE(policy_copy);
        tenant->changed = true;
        return 0;
}

static bool all_within(char *const *cgroups, const struct tenant *tenant) {
        for (; *cgroups; cgroups++) {
                bool within = false;
                for (char **c = tenant->cgroups; *c; c++)
                        within = within || cgroup_path_within(*cgroups, *c);
                if (!within)
                        return false;
        }
        return true;
}

/* Makes of the cgroups that are to join the tenant all that it has then. Those of a transient one that are gone by now
 * would only become more and more. */
static int join(struct manager *m, const struct tenant *tenant, char ***cgroups, struct failure *f) {
        _cleanup_strv_ char **all = NULL, **joined = NULL;
        bool within = all_within(*cgroups, tenant);
        int r = 0;

        if (!within && tenant->origin == ORIGIN_CONFIGURATION)
                return fail(
                        f, FAILURE_TENANT_EXISTS, -EEXIST,
                        "%s is a tenant of the configuration, and has the cgroups that its file names; add them there",
                        tenant->name);
        for (char **c = tenant->cgroups; r == 0 && *c; c++)
                if (within || !tenant->transient || manager_has_cgroup(m, *c))
                        r = strv_extend(&all, *c);
        for (char **c = *cgroups; r == 0 && !within && *c; c++)
                r = strv_extend(&all, *c);
        if (r < 0)
                return fail(f, FAILURE_FAILED, r, "Out of memory");
        r = normalize(all, &joined, f);
        if (r == 0)
                r = manager_check_cgroups(m, tenant, joined, f);
        if (r < 0)
                return r;
        strv_free(*cgroups);
        *cgroups = TAKE(joined);
        return 0;
}

/* Checks all of a request. *ret_tenant: the tenant there is, or NULL; *ret_cgroups: those it will have, or NULL for
 * those it has. */
static int check_tag(struct manager *m, const struct tag_request *request, struct tenant **ret_tenant,
                     char ***ret_cgroups, struct failure *f) {
        _cleanup_strv_ char **cgroups = NULL;

        if (!tenant_name_valid(request->name))
                return fail(
                        f, FAILURE_INVALID_NAME, -EINVAL,
                        "'%.200s' is not a name for a tenant: 1 to 255 bytes of UTF-8 without '/' and control characters, and "
                        "without white space at its ends",
                        request->name);
        if ((request->transient || request->join) && request->persistent)
                return fail(f, FAILURE_INVALID_OPTION, -EINVAL, "Persistent does not go with %s; leave one of them out",
                            request->transient ? "Transient" : "Join");
        struct tenant *tenant = tenants_find(&m->tenants, request->name);
        const struct tenant_config *configured = config_tenant(m->config, request->name);
        int r = check_policy(m, request->policy, f);
        if (r == 0)
                r = normalize(request->cgroups, &cgroups, f);
        if (r < 0)
                return r;
        if (tenant && tenant->untagging)
                return fail(f, FAILURE_BUSY, -EBUSY, "%s is being untagged; try again", tenant->name);
        if (tenant && cgroups && request->join) {
                r = join(m, tenant, &cgroups, f);
                if (r < 0)
                        return r;
        } else if (tenant && cgroups && !strv_equal(cgroups, tenant->cgroups)) {
                _cleanup_free_ char *has = strv_join(tenant->cgroups, " ");
                return fail(f, FAILURE_TENANT_EXISTS, -EEXIST,
                            "There is a tenant %s already, of the cgroups %s; untag it first, or take another name",
                            tenant->name, has ? has : "of its own");
        }
        if (!tenant && !cgroups && configured && strv_copy(configured->cgroups, &cgroups) < 0)
                return fail(f, FAILURE_FAILED, -ENOMEM, "Out of memory");
        if (!tenant && !cgroups)
                return fail(f, FAILURE_NO_SUCH_CGROUP, -ENOENT, "%s: no cgroup is named for this tenant",
                            request->name);
        r = tenant ? 0 : manager_check_cgroups(m, manager_find_twin(m, cgroups), cgroups, f);
        if (r == 0 && !request->force && !tenant)
                r = check_protectable(m, request->name, f);
        if (r < 0)
                return r;
        *ret_tenant = tenant;
        *ret_cgroups = TAKE(cgroups);
        return 0;
}

/* Writes the tenant's file, and makes it part of the configuration in force, which takes the tenant in. When anything
 * in the configuration is wrong, the file goes again. */
static int make_persistent(struct manager *m, const char *name, char *const *cgroups, const char *policy,
                           bool as_configured, struct failure *f) {
        _cleanup_(config_freep) struct config *tried = NULL;
        struct failure ignored;
        bool wrote = false;
        int r = config_load(m->options.config_root, &tried, f);
        if (r == 0)
                r = config_write_tenant(m->options.config_root, name, cgroups, policy, &wrote, f);
        if (r < 0 || as_configured)
                return r;
        bool was_untagged = strv_contains(m->untagged, name);
        strv_remove(m->untagged, name);
        r = manager_read_config(m, f);
        if (r < 0 && wrote)
                (void) config_remove_tenant(m->options.config_root, name, false, &ignored);
        if (r < 0 && was_untagged)
                (void) strv_extend(&m->untagged, name);
        return r;
}

static int tag(struct manager *m, const struct tag_request *request, struct tenant **ret, struct failure *f) {
        _cleanup_strv_ char **cgroups = NULL;
        _cleanup_(tenant_freep) struct tenant *created = NULL;
        struct tenant *tenant = NULL;

        int r = check_tag(m, request, &tenant, &cgroups, f);
        if (r < 0)
                return r;
        const struct tenant_config *configured = config_tenant(m->config, request->name);
        bool as_configured = configured && strv_equal(configured->cgroups, tenant ? tenant->cgroups : cgroups);
        const char *policy = request->policy ? request->policy
                             : tenant        ? tenant->policy
                             : as_configured ? configured->policy
                                             : NULL;
        struct tenant *twin = tenant ? NULL : manager_find_twin(m, cgroups);
        uint64_t given = twin ? manager_give_way(m, twin) : 0;
        if (request->persistent) {
                r = make_persistent(m, request->name, tenant ? tenant->cgroups : cgroups, policy, as_configured, f);
                if (r < 0) {
                        manager_match_all(m);
                        return r;
                }
                tenant = tenants_find(&m->tenants, request->name);
        }
        enum origin origin = request->persistent || as_configured ? ORIGIN_CONFIGURATION : ORIGIN_RUNTIME;
        if (tenant) {
                tenant->given = given ? given : tenant->given;
                bool joined = cgroups && !strv_equal(cgroups, tenant->cgroups);
                r = manager_change(m, tenant, cgroups ? cgroups : tenant->cgroups, policy);
                if (origin == ORIGIN_CONFIGURATION || (joined && tenant->origin == ORIGIN_PATTERN)) {
                        /* No pattern's any more: one would leave out what joined. */
                        tenant->origin = origin;
                        (void) tenant_set_pattern(tenant, NULL);
                }
                tenant->transient = tenant->transient && origin != ORIGIN_CONFIGURATION;
        } else {
                r = tenant_new(request->name, cgroups, policy, origin, &created);
                if (r == 0) {
                        created->given = given;
                        created->transient = request->transient && origin == ORIGIN_RUNTIME;
                        manager_end_transient(m, created);
                        r = manager_add(m, created);
                }
                if (r == 0)
                        tenant = TAKE(created);
        }
        if (r < 0)
                return fail(f, FAILURE_FAILED, r, "%s could not be tagged: %s", request->name, strerrordesc_np(-r));
        m->unsaved = m->unsaved || strv_contains(m->untagged, request->name);
        strv_remove(m->untagged, request->name);
        *ret = tenant;
        return 0;
}

void manager_tag(struct manager *m, const struct tag_request *request, manager_done_t done, void *userdata) {
        struct tenant *tenant = NULL;
        struct failure f = {0};

        int r = tag(m, request, &tenant, &f);
        if (r == 0 && manager_wait(m, tenant, false, done, userdata) < 0)
                r = fail(&f, FAILURE_FAILED, -ENOMEM, "Out of memory");
        if (r < 0) {
                done(r, &f, NULL, userdata);
                return;
        }
        manager_mark(m, tenant);
        manager_run(m);
}

static void refuse_unknown(const char *name, manager_done_t done, void *userdata) {
        struct failure f;
        int r = fail(&f, FAILURE_NO_SUCH_TENANT, -ENOENT,
                     "There is no tenant '%.200s'; 'coreschedctl list' shows those there are", name);
        done(r, &f, NULL, userdata);
}

/* Removes the tenant's file, and with it the tenant from the configuration in force. Nothing is done when anything in
 * the configuration is wrong. */
static int remove_file(struct manager *m, const char *name, bool force, struct failure *f) {
        _cleanup_(config_freep) struct config *tried = NULL;
        int r = config_load(m->options.config_root, &tried, f);
        if (r == 0)
                r = config_remove_tenant(m->options.config_root, name, force, f);
        return r < 0 ? r : manager_read_config(m, f);
}

void manager_untag(struct manager *m, const char *name, bool force, bool persistent, manager_done_t done,
                   void *userdata) {
        struct tenant *tenant = tenants_find(&m->tenants, name);
        struct failure f = {0};
        int r = 0;

        if (!tenant && persistent && config_tenant(m->config, name)) {
                /* It was untagged before; its file is left. */
                r = remove_file(m, name, force, &f);
                done(r, r < 0 ? &f : NULL, NULL, userdata);
                return;
        }
        if (!tenant) {
                refuse_unknown(name, done, userdata);
                return;
        }
        if (manager_core_scheduling(m) == CORE_SCHEDULING_NO_SMT && (tenant->cookie != 0 || tenant->given != 0) &&
            !force)
                r = fail(
                        &f, FAILURE_NOT_SUPPORTED, -ENODEV,
                        "%s cannot be untagged while SMT is not active, for the kernel then lets nobody change cookies; "
                        "switch SMT on first, or use --force to forget the tenant and leave its tasks their cookie",
                        name);
        if (r == 0 && persistent && config_tenant(m->config, name)) {
                r = remove_file(m, name, force, &f);
        } else if (r == 0 && config_tenant(m->config, name) && !strv_contains(m->untagged, name) &&
                   strv_extend(&m->untagged, name) < 0)
                r = fail(&f, FAILURE_FAILED, -ENOMEM, "Out of memory");
        if (r == 0 && manager_leave(m, tenant) < 0)
                r = fail(&f, FAILURE_FAILED, -ENOMEM, "Out of memory");
        m->unsaved = m->unsaved || strv_contains(m->untagged, name);
        if (r == 0 && manager_wait(m, tenant, true, done, userdata) < 0)
                r = fail(&f, FAILURE_FAILED, -ENOMEM, "Out of memory");
        if (r < 0) {
                done(r, &f, NULL, userdata);
                return;
        }
        tenant->untagging = true;
        tenant->force = force;
        manager_mark(m, tenant);
        manager_run(m);
}

void manager_set_policy(struct manager *m, const char *name, const char *policy, manager_done_t done, void *userdata) {
        struct tenant *tenant = tenants_find(&m->tenants, name);
        struct failure f = {0};
        int r;

        if (!tenant) {
                refuse_unknown(name, done, userdata);
                return;
        }
        r = check_policy(m, policy, &f);
        if (r == 0 && (manager_change(m, tenant, tenant->cgroups, policy) < 0 ||
                       manager_wait(m, tenant, false, done, userdata) < 0))
                r = fail(&f, FAILURE_FAILED, -ENOMEM, "Out of memory");
        if (r < 0) {
                done(r, &f, NULL, userdata);
                return;
        }
        manager_mark(m, tenant);
        manager_run(m);
}
