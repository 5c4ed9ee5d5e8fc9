/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The enumerations that are seen outside, as words on the bus, in JSON and in configuration: each has one
 * table of words. Clients must tolerate words that they do not know. */

/* Is the promise to a tenant kept? Never better than what was seen in the last pass. */
enum tenant_state {
        TENANT_PENDING,  /* a pass is due or under way */
        TENANT_ENFORCED, /* every thread carries the tenant's cookie */
        TENANT_INERT,    /* SMT is not active: nothing shares a core; cookies can be neither read nor set */
        TENANT_DEGRADED, /* some tasks could not be brought in: StateReason says which, and why */
        TENANT_EXPOSED,  /* nothing protects it */
        _TENANT_STATE_MAX,
};

/* The means by which tenants are kept apart. */
enum isolation {
        ISOLATION_NONE,
        ISOLATION_COOKIE,
        ISOLATION_WHOLE_CORES,
        ISOLATION_ONE_THREAD,
        ISOLATION_SMT_OFF,
        _ISOLATION_MAX,
};

/* How tasks that already run are tagged. */
enum attach {
        ATTACH_LIVE,   /* while they run */
        ATTACH_FREEZE, /* the cgroups are frozen meanwhile */
        _ATTACH_MAX,
};

/* What is done with a tenant that cannot be protected. */
enum on_exposed {
        ON_EXPOSED_REPORT,
        ON_EXPOSED_FREEZE,
        _ON_EXPOSED_MAX,
};

/* Core scheduling on this host, now. */
enum core_scheduling {
        CORE_SCHEDULING_AVAILABLE,
        CORE_SCHEDULING_NO_SMT,      /* ENODEV: built in, or not: the kernel does not tell while SMT is not active */
        CORE_SCHEDULING_UNSUPPORTED, /* EINVAL: the kernel was built without CONFIG_SCHED_CORE */
        CORE_SCHEDULING_SCHED_EXT,   /* a BPF scheduler is loaded, and the configuration does not allow that */
        CORE_SCHEDULING_DENIED,      /* EPERM: a security module refuses */
        _CORE_SCHEDULING_MAX,
};

/* Where a tenant comes from. */
enum origin {
        ORIGIN_RUNTIME,       /* a Tag call: until untagged or reboot */
        ORIGIN_CONFIGURATION, /* tenants.d */
        ORIGIN_PATTERN,       /* a policy's Match=: as long as its cgroups are there */
        _ORIGIN_MAX,
};

/* What Verify finds of a thread. */
enum finding {
        FINDING_GOOD,
        FINDING_UNTAGGED,     /* cookie 0 */
        FINDING_FOREIGN,      /* a cookie of no tenant that other tasks carry too */
        FINDING_OWN,          /* a cookie that no other thread of the tenant's and no other tenant carries */
        FINDING_WRONG_TENANT, /* another tenant's cookie */
        FINDING_UNREADABLE,   /* the kernel does not let the daemon look */
        _FINDING_MAX,
};

const char *tenant_state_word(enum tenant_state state);
const char *isolation_word(enum isolation isolation);
const char *attach_word(enum attach attach);
const char *on_exposed_word(enum on_exposed on_exposed);
const char *core_scheduling_word(enum core_scheduling core_scheduling);
const char *origin_word(enum origin origin);
const char *finding_word(enum finding finding);

/* The value that a word stands for, or -EINVAL. */
int isolation_from_word(const char *word);
int attach_from_word(const char *word);
int on_exposed_from_word(const char *word);
int tenant_state_from_word(const char *word);
int origin_from_word(const char *word);
