/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Owns the event loop's sources, the configuration, the tenants and what is dirty; runs passes. All calls are made, and
 * all callbacks arrive, on the loop's thread. Events and calls only mark a tenant dirty; a pass does the rest. */
#include "config.h"
#include "failure.h"
#include "kernel/kernel.h"
#include "tenant.h"
#include <systemd/sd-event.h>

struct manager;

/* The ways in which the manager speaks to whoever shows it to the world (bus/). Any may be NULL. */
struct manager_listener {
        void (*tenant_added)(struct tenant *tenant, void *userdata);
        /* The tenant is still whole, and freed right after. */
        void (*tenant_removed)(struct tenant *tenant, void *userdata);
        /* Called once a loop turn for a tenant of which something changed. */
        void (*tenant_changed)(struct tenant *tenant, void *userdata);
        /* A thread of the tenant's was found without its cookie, and got it back. */
        void (*drifted)(struct tenant *tenant, pid_t tid, enum finding cause, void *userdata);
        /* Properties of the manager itself changed. */
        void (*manager_changed)(void *userdata);
};

struct manager_options {
        const char *config_root; /* "" for the host's */
        const char *state_dir;   /* "/run/coresched" */
};

/* Takes what is in the state directory and the configuration, and starts to work. Wrong configuration is reported and
 * leaves the built-in one; it is no error here. The kernel table is kept, not owned. */
int manager_new(const struct kernel *kernel, sd_event *event, const struct manager_options *options,
                struct manager **ret, struct failure *f);
void manager_free(struct manager *manager);
static inline void manager_freep(struct manager **manager) {
        manager_free(*manager);
}
void manager_set_listener(struct manager *manager, const struct manager_listener *listener, void *userdata);

/* Runs all that is due now: after the start, the first passes over the tenants that the configuration names. */
void manager_run(struct manager *manager);

/* No tenant may hold, or lie in, this cgroup from now on. 0 or negative errno. */
int manager_protect(struct manager *manager, const char *path);

/* ---- reading ---- */
const struct tenants *manager_tenants(const struct manager *manager);
const struct config *manager_config(const struct manager *manager);
/* What core scheduling is on this host, asked anew. */
enum core_scheduling manager_core_scheduling(struct manager *manager);
/* smt/control and smt/active. */
int manager_smt(struct manager *manager, char **ret_control, bool *ret_active);
/* What holds the tenant apart now. */
enum isolation manager_isolation(struct manager *manager, const struct tenant *tenant);
/* What was wrong with the configuration when it was last read; "" when nothing was. */
const char *manager_config_problem(const struct manager *manager);
/* The name of the policy in force for the tenant. */
const char *manager_policy(const struct manager *manager, const struct tenant *tenant);
/* Is there a cgroup of this path (normalized) now? */
bool manager_has_cgroup(struct manager *manager, const char *path);

/* ---- changing ---- */

/* Ends of calls that take time: error is 0, or negative with f filled. The tenant is valid during the call only. */
typedef void (*manager_done_t)(int error, const struct failure *f, struct tenant *tenant, void *userdata);

struct tag_request {
        const char *name;
        char *const *
                cgroups; /* resolved, not yet normalized; NULL or empty: those the configuration names, else an error */
        const char *policy; /* NULL: the configured tenant's, else the default one */
        bool persistent;    /* writes tenants.d */
        bool force;         /* also where nothing can protect it */
        bool transient;     /* a new tenant ends when its cgroups are gone; not with persistent */
        bool join;          /* the cgroups are added to those of the tenant there is; not with persistent */
};

/* Makes, or tags again, a tenant. done is called once, possibly before this returns: when the tenant is no longer
 * pending, or at once when it was refused (nothing is changed then). The same cgroups under the same name again is no
 * error; other cgroups are (FAILURE_TENANT_EXISTS). */
void manager_tag(struct manager *manager, const struct tag_request *request, manager_done_t done, void *userdata);

/* Gives cookie 0 back to the tenant's tasks and forgets it; thaws what was frozen. done's tenant is NULL. With
 * persistent its file in tenants.d is removed too (if there is one). */
void manager_untag(struct manager *manager, const char *name, bool force, bool persistent, manager_done_t done,
                   void *userdata);

void manager_set_policy(struct manager *manager, const char *name, const char *policy, manager_done_t done,
                        void *userdata);

/* One thread as Verify saw it in the kernel. */
struct verdict {
        pid_t tid;
        uint64_t cookie;
        int error; /* FINDING_UNREADABLE */
        enum finding finding;
};

struct verification {
        struct tenant *tenant;
        size_t n_threads;
        size_t n_bad;
        struct verdict *bad; /* at most VERDICTS_KEPT */
        size_t n_kept;
        size_t n_outside; /* threads outside the tenant that carry its cookie: listed in bad too, as wrong-tenant */
};

#define VERDICTS_KEPT 1000

/* Reads the cookie of every thread of the tenant (NULL: of all) from the kernel, without changing anything but the
 * tenant's state. Calls back once. */
typedef void (*manager_verified_t)(int error, const struct failure *f, const struct verification *verifications,
                                   size_t n, void *userdata);
void manager_verify(struct manager *manager, const char *name, manager_verified_t done, void *userdata);

/* Reads the configuration again; the old one stays when anything is wrong. Either is told to the journal, whoever asked
 * for it. All tenants that it names are tagged, also
 * those that were untagged by hand. */
int manager_reload(struct manager *manager, struct failure *f);
