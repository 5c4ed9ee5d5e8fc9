/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* PURE. The state of a container as an OCI runtime gives it to hooks, and what its annotations ask for. */
#include "json.h"

#define OCI_TENANT   "org.coresched1.tenant"
#define OCI_POLICY   "org.coresched1.policy"
#define OCI_REQUIRED "org.coresched1.required"

struct oci_state {
        json_object *object; /* holds the strings */
        const char *id;
        pid_t pid;
        const char *tenant, *policy; /* NULL: not asked for */
        bool required;
};

/* 0, or -EINVAL with the reason in why. */
int oci_state_read(const char *text, struct oci_state *ret, char *why, size_t size);
void oci_state_done(struct oci_state *state);

/* The container's cgroup, of that of its first process: down to the first component that names the container (runtimes
 * may put the process further down, and those that come later beside it), else the whole of it. Newly allocated. */
char *oci_cgroup(const char *cgroup, const char *id);
