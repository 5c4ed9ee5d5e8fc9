/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Is a task what its tenant says? Asked of the kernel, not of the daemon. */
#include "json.h"

/* Whether the task (0: this one) carries the cookie of the tenant, whose properties were just read. STATUS_GOOD, also
 * where SMT is not active and so nothing can share a core; else a status, with the reason told: "cannot DOING 'WHAT':
 * ...". way_out: what to do where nothing protects the tenant, or NULL. */
int proof_of_task(json_object *tenant, pid_t tid, const char *way_out, const char *doing, const char *what);
