/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Carries out what the planner decided, through the kernel's tables, and reports what became of each part. */
#include "pass.h"

/* Delivers a cookie to the plan's targets. Those that refuse are noted in the pass. 0; 1: the source was gone or
 * changed, observe again; -ENODEV, -EINVAL, -ENOMEM ... */
int apply_delivery(struct pass_context *c, struct tenant *tenant, const struct plan *plan);

/* Asks for the tenant's cgroups to be frozen, and remembers which we asked for. 0 or negative errno (all is thawed
 * then). */
int apply_freeze(struct pass_context *c, struct tenant *tenant);

/* Are all tasks of the tenant but kernel threads stopped? 1 yes, 0 not yet, or negative errno. thoroughly: looks at
 * each task, for where kernel threads keep the kernel from saying so. */
int apply_frozen(const struct pass_context *c, const struct tenant *tenant, bool thoroughly);

/* Thaws what we froze. A cgroup that is gone needs none; what cannot be thawed stays remembered: negative errno. */
int apply_thaw(const struct pass_context *c, struct tenant *tenant);
