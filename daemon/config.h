/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Typed configuration, from coreschedd.conf, tenants.d and policies.d, each looked up in /etc, /run, /usr/local/lib and
 * /usr/lib as systemd does: a file masks those of the same name in later folders, an empty one or a link to /dev/null
 * removes them, drop-ins of coreschedd.conf.d are read in the order of their names after coreschedd.conf. All of it is
 * read and checked before any of it is used.
 *
 * What holds always of a configuration: every policy named in it is in it, the policy "shared" is (built in, unless a
 * file gives another), cgroups are normalized, none is the root, and those of all tenants are disjoint subtrees; a
 * policy has exclude, tenant and active with match only, its patterns are right, and each has the `*` that tenant asks
 * for. */
#include "failure.h"
#include "policy.h"
#include "util.h"
#include <stdbool.h>

struct tenant_config {
        char *name;     /* of the file, without .conf, \xNN decoded */
        char **cgroups; /* at least one */
        char *policy;   /* NULL: the default one */
        char *file;
};

struct config {
        char *default_policy;    /* DefaultPolicy= */
        usec_t freeze_timeout;   /* FreezeTimeoutSec= */
        usec_t realtime_budget;  /* RealtimeBudgetMSec=: of each 100 ms, 0 to 50 ms; 0: never real-time */
        bool allow_sched_ext;    /* AllowSchedExt= */
        usec_t verify_interval;  /* VerifyIntervalSec=: 0: never */
        char **patterns;         /* Patterns=: policies whose Match= is in force although their Active=no */
        struct policy *policies; /* in the order of their names */
        size_t n_policies;
        struct tenant_config *tenants; /* in the order of their names */
        size_t n_tenants;
};

/* root is put before the folders: "" for the host's, a directory for tests. 0, or a negative errno with the failure
 * (FAILURE_INVALID_CONFIG) naming file, line and word; *ret is then untouched. */
int config_load(const char *root, struct config **ret, struct failure *f);

/* What config_load gives where there are no files. 0 or -ENOMEM. */
int config_builtin(struct config **ret);

void config_free(struct config *config);
static inline void config_freep(struct config **config) {
        config_free(*config);
}

/* NULL when there is none of that name. */
const struct policy *config_policy(const struct config *config, const char *name);
const struct tenant_config *config_tenant(const struct config *config, const char *name);

/* Writes /etc/coresched/tenants.d/NAME.conf (by rename), where a tenant of this name is configured already: only when
 * this function wrote that file in /etc, or it says the same (nothing is done then); else -EEXIST. What is no plain
 * file name is escaped as in systemd-escape. policy may be NULL. *ret_wrote: whether a file was written. -EINVAL on
 * what no configuration may hold. */
int config_write_tenant(const char *root, const char *name, char *const *cgroups, const char *policy, bool *ret_wrote,
                        struct failure *f);
/* Removes the file of the tenant in /etc. -EEXIST when somebody else wrote it, unless forced; -ENOENT when the tenant
 * is not configured, -EROFS (nothing is done) when its file, or one that would then take effect, is in another folder.
 */
int config_remove_tenant(const char *root, const char *name, bool force, struct failure *f);
