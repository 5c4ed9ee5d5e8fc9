/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What went wrong, in words for a person: what was wrong, with what, what to do. A function that takes a
 * `struct failure *` fills it exactly when it returns a negative errno; the caller logs it or sends it on. */
#include "util.h"

enum failure_kind {
        FAILURE_NONE,
        FAILURE_NO_SUCH_TENANT, /* no tenant of this name */
        FAILURE_TENANT_EXISTS,  /* the name, or one of the cgroups, is a tenant's already */
        FAILURE_AMBIGUOUS_NAME, /* the name fits several units, machines or cgroups */
        FAILURE_NO_SUCH_CGROUP, /* the name fits nothing */
        FAILURE_INVALID_NAME,   /* not a name for a tenant */
        FAILURE_INVALID_CGROUP, /* a path that may not be a tenant: not a cgroup, the root, an ancestor of ours ... */
        FAILURE_INVALID_POLICY, /* unknown policy */
        FAILURE_INVALID_OPTION, /* an option of the call that is unknown, of the wrong type or out of range */
        FAILURE_INVALID_CONFIG, /* configuration files: file, line and word are in the text */
        FAILURE_NOT_SUPPORTED,  /* nothing on this host can protect the tenant */
        FAILURE_NOT_PERMITTED,  /* polkit, or the kernel, says no */
        FAILURE_BUSY,           /* the same tenant is being changed by another call */
        FAILURE_FAILED,         /* the rest */
        _FAILURE_KIND_MAX,
};

struct failure {
        enum failure_kind kind;
        char text[1024]; /* one line, UTF-8, no full stop at the end needed; cut when longer */
};

/* Fills f (which may be NULL) and returns error, a negative errno, so that callers can `return fail(...)`. */
int fail(struct failure *f, enum failure_kind kind, int error, const char *format, ...) _printf_(4, 5);
