// SPDX-License-Identifier: LGPL-2.1-or-later
/* A file as a tenant's, a policy's and the daemon's: what is taken holds what config.h promises. */
#include "config-read.h"
#include "fuzz.h"
#include "pattern.h"
#include "selector.h"
#include "strv.h"
#include <string.h>

static void as_tenant(const char *path, const struct config *config) {
        struct tenant_config tenant = {0};
        struct failure f = {0};
        int r = config_read_tenant(path, config, &tenant, &f);
        fuzz_check_failure(r, &f, path);
        if (r < 0)
                return;
        MUST(strv_length(tenant.cgroups) > 0);
        for (char **cgroup = tenant.cgroups; *cgroup; cgroup++) {
                _cleanup_free_ char *normal = NULL;
                MUST(cgroup_path_normalize(*cgroup, &normal) == 0);
                MUST(strcmp(normal, *cgroup) == 0);
                MUST(strcmp(normal, "/") != 0);
        }
        MUST(!tenant.policy || config_policy(config, tenant.policy));
        tenant_config_done(&tenant);
}

/* What a pattern fits has a tenant's name, or none. */
static void check_patterns(const struct policy *policy) {
        MUST(policy->match || (!policy->exclude && !policy->tenant && !policy->active));
        unsigned asked = policy->tenant ? pattern_template_stars(policy->tenant) : 0;
        for (char **pattern = policy->match; pattern && *pattern; pattern++) {
                _cleanup_(match_done) struct match match = {0}, other = {0};
                _cleanup_free_ char *normal = NULL;
                MUST(cgroup_path_normalize(*pattern, &normal) == 0 && strcmp(normal, *pattern) == 0);
                MUST(!pattern_problem(*pattern) && pattern_stars(*pattern) >= asked);
                int r = pattern_match(policy, 1, *pattern, &match);
                MUST(r == 0 || r == 1);
                MUST(!match.name || tenant_name_valid(match.name));
                MUST(r == 0 || match.shared || match.name);
                (void) pattern_match(policy, 1, "/machine.slice/machine-qemu\\x2d1\\x2dvm1.scope", &other);
                MUST(!other.name || tenant_name_valid(other.name));
        }
}

static void as_policy(const char *path) {
        struct policy policy = {0};
        struct failure f = {0};
        int r = config_read_policy(path, &policy, &f);
        fuzz_check_failure(r, &f, path);
        if (r < 0)
                return;
        MUST(policy.isolation == ISOLATION_COOKIE || policy.isolation == ISOLATION_NONE);
        MUST(attach_word(policy.attach) && on_exposed_word(policy.on_exposed));
        check_patterns(&policy);
        policy_done(&policy);
}

static void as_daemon(const char *path, struct config *config) {
        struct failure f = {0};
        int r = config_read_daemon(path, config, &f);
        fuzz_check_failure(r, &f, path);
        MUST(config->freeze_timeout >= 1 * USEC_PER_SEC && config->freeze_timeout <= 60 * USEC_PER_SEC);
        MUST(config->realtime_budget <= 50 * USEC_PER_MSEC);
        MUST(config->verify_interval <= 3600 * USEC_PER_SEC);
        MUST(config_policy(config, config->default_policy));
        for (char **name = config->patterns; name && *name; name++)
                MUST(config_policy(config, *name)->match);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(config_freep) struct config *config = NULL;
        const char *path = fuzz_file(data, size);
        MUST(config_builtin(&config) == 0);
        as_tenant(path, config);
        as_policy(path);
        as_daemon(path, config);
        return 0;
}
