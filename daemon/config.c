// SPDX-License-Identifier: LGPL-2.1-or-later
/* Puts the files' values together, and checks what no file shows alone. */
#include "config.h"
#include "config-files.h"
#include "config-read.h"
#include "selector.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

#define BUILTIN_POLICY "shared"

void config_free(struct config *config) {
        if (!config)
                return;
        free(config->default_policy);
        strv_free(config->patterns);
        for (size_t i = 0; i < config->n_policies; i++)
                policy_done(&config->policies[i]);
        free(config->policies);
        for (size_t i = 0; i < config->n_tenants; i++)
                tenant_config_done(&config->tenants[i]);
        free(config->tenants);
        free(config);
}

static int compare_policies(const void *a, const void *b) {
        return strcmp(((const struct policy *) a)->name, ((const struct policy *) b)->name);
}

static int compare_tenants(const void *a, const void *b) {
        return strcmp(((const struct tenant_config *) a)->name, ((const struct tenant_config *) b)->name);
}

const struct policy *config_policy(const struct config *config, const char *name) {
        struct policy key = {.name = (char *) name};
        return config->n_policies > 0
                       ? bsearch(&key, config->policies, config->n_policies, sizeof(key), compare_policies)
                       : NULL;
}

const struct tenant_config *config_tenant(const struct config *config, const char *name) {
        struct tenant_config key = {.name = (char *) name};
        return config->n_tenants > 0 ? bsearch(&key, config->tenants, config->n_tenants, sizeof(key), compare_tenants)
                                     : NULL;
}

static int no_memory(struct failure *f) {
        return fail(f, FAILURE_FAILED, -ENOMEM, "cannot read the configuration: %s", strerror(ENOMEM));
}

/* Takes over what policy owns. */
static int add_policy(struct config *config, struct policy *policy) {
        struct policy *grown = reallocarray(config->policies, config->n_policies + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        config->policies = grown;
        config->policies[config->n_policies++] = *policy;
        *policy = (struct policy){0};
        qsort(config->policies, config->n_policies, sizeof(*grown), compare_policies);
        return 0;
}

/* Without policies. */
static int config_new(struct config **ret) {
        _cleanup_(config_freep) struct config *config = calloc(1, sizeof(*config));
        if (!config)
                return -ENOMEM;
        config->default_policy = strdup(BUILTIN_POLICY);
        if (!config->default_policy)
                return -ENOMEM;
        config->freeze_timeout = 5 * USEC_PER_SEC;
        config->realtime_budget = 10 * USEC_PER_MSEC;
        config->verify_interval = 30 * USEC_PER_SEC;
        *ret = TAKE(config);
        return 0;
}

static int add_builtin_policy(struct config *config) {
        _cleanup_(policy_done) struct policy policy = {.isolation = ISOLATION_COOKIE};
        policy.name = strdup(BUILTIN_POLICY);
        policy.description = strdup("Built in: a cookie, tasks are tagged while they run");
        if (!policy.name || !policy.description)
                return -ENOMEM;
        return add_policy(config, &policy);
}

int config_builtin(struct config **ret) {
        _cleanup_(config_freep) struct config *config = NULL;
        int r = config_new(&config);
        if (r >= 0)
                r = add_builtin_policy(config);
        if (r < 0)
                return r;
        *ret = TAKE(config);
        return 0;
}

static int load_policies(const char *root, struct config *config, struct failure *f) {
        _cleanup_(config_files_done) struct config_files files = {0};
        int r = config_files_list(root, "policies.d", &files, f);
        for (size_t i = 0; r >= 0 && i < files.n; i++) {
                const struct config_file *file = &files.file[i];
                _cleanup_(policy_done) struct policy policy = {0};
                _cleanup_free_ char *name = strndup(file->name, strlen(file->name) - strlen(".conf"));
                if (!name)
                        return no_memory(f);
                if (!policy_name_valid(name))
                        return fail(f, FAILURE_INVALID_CONFIG, -EBADMSG,
                                    "%s: \"%s\" is no policy's name (ASCII letters, digits and -_.:@, at most %u)",
                                    file->path, name, POLICY_NAME_MAX);
                r = config_read_policy(file->path, &policy, f);
                if (r < 0)
                        return r;
                policy.name = TAKE(name);
                r = add_policy(config, &policy);
                if (r < 0)
                        return no_memory(f);
        }
        if (r >= 0 && !config_policy(config, BUILTIN_POLICY) && add_builtin_policy(config) < 0)
                return no_memory(f);
        return r;
}

static int load_daemon(const char *root, struct config *config, struct failure *f) {
        _cleanup_(config_files_done) struct config_files files = {0};
        _cleanup_free_ char *path = NULL;
        if (config_files_find(root, "coreschedd.conf", &path) < 0)
                return no_memory(f);
        int r = path ? config_read_daemon(path, config, f) : 0;
        if (r >= 0)
                r = config_files_list(root, "coreschedd.conf.d", &files, f);
        for (size_t i = 0; r >= 0 && i < files.n; i++)
                r = config_read_daemon(files.file[i].path, config, f);
        for (size_t i = 0; i < config->n_policies; i++)
                if (strv_contains(config->patterns, config->policies[i].name))
                        config->policies[i].active = true;
        return r;
}

static int load_tenants(const char *root, struct config *config, struct failure *f) {
        _cleanup_(config_files_done) struct config_files files = {0};
        int r = config_files_list(root, "tenants.d", &files, f);
        if (r < 0)
                return r;
        config->tenants = calloc(files.n + 1, sizeof(*config->tenants));
        if (!config->tenants)
                return no_memory(f);
        for (size_t i = 0; i < files.n; i++) {
                struct tenant_config *tenant = &config->tenants[i];
                _cleanup_free_ char *name = NULL;
                r = config_tenant_name(files.file[i].name, &name);
                if (r == -EINVAL)
                        return fail(f, FAILURE_INVALID_CONFIG, -EBADMSG,
                                    "%s: the file's name, without .conf and with \\xNN decoded, is no tenant's name",
                                    files.file[i].path);
                if (r < 0)
                        return no_memory(f);
                r = config_read_tenant(files.file[i].path, config, tenant, f);
                if (r < 0)
                        return r;
                tenant->name = TAKE(name);
                config->n_tenants++;
        }
        qsort(config->tenants, config->n_tenants, sizeof(*config->tenants), compare_tenants);
        for (size_t i = 1; i < config->n_tenants; i++)
                if (strcmp(config->tenants[i].name, config->tenants[i - 1].name) == 0)
                        return fail(f, FAILURE_INVALID_CONFIG, -EBADMSG, "%s and %s are both of tenant \"%s\"",
                                    config->tenants[i - 1].file, config->tenants[i].file, config->tenants[i].name);
        return 0;
}

struct place {
        const char *cgroup, *file;
};

/* '/' is the least of all bytes, so that a subtree stands together, right after its top. */
static int compare_places(const void *a, const void *b) {
        const char *x = ((const struct place *) a)->cgroup, *y = ((const struct place *) b)->cgroup;
        while (*x && *x == *y) {
                x++;
                y++;
        }
        int left = *x == '/' ? 1 : (unsigned char) *x + (*x != '\0'),
            right = *y == '/' ? 1 : (unsigned char) *y + (*y != '\0');
        return left - right;
}

static int check_overlaps(const struct config *config, struct failure *f) {
        size_t n = 0, allocated = 1;
        for (size_t i = 0; i < config->n_tenants; i++)
                for (char **c = config->tenants[i].cgroups; *c; c++)
                        allocated++;
        _cleanup_free_ struct place *places = calloc(allocated, sizeof(*places));
        if (!places)
                return no_memory(f);
        for (size_t i = 0; i < config->n_tenants; i++)
                for (char **c = config->tenants[i].cgroups; *c; c++)
                        places[n++] = (struct place){*c, config->tenants[i].file};
        qsort(places, n, sizeof(*places), compare_places);
        for (size_t i = 1; i < n; i++)
                if (cgroup_path_within(places[i].cgroup, places[i - 1].cgroup))
                        return fail(f, FAILURE_INVALID_CONFIG, -EBADMSG,
                                    "%s: cgroup \"%s\" is, or is inside, \"%s\" of %s: tenants cannot overlap",
                                    places[i].file, places[i].cgroup, places[i - 1].cgroup,
                                    places[i].file == places[i - 1].file ? "the same tenant" : places[i - 1].file);
        return 0;
}

int config_load(const char *root, struct config **ret, struct failure *f) {
        _cleanup_(config_freep) struct config *config = NULL;
        if (config_new(&config) < 0)
                return no_memory(f);
        int r = load_policies(root, config, f);
        if (r >= 0)
                r = load_daemon(root, config, f);
        if (r >= 0)
                r = load_tenants(root, config, f);
        if (r >= 0)
                r = check_overlaps(config, f);
        if (r < 0)
                return r;
        *ret = TAKE(config);
        return 0;
}
