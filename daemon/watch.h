/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The kernel's events, turned into hints for the passes under way. Knows no cookie and changes nothing. */
#include "kernel/kernel.h"
#include "tenant.h"

/* Takes all process events that are queued. The passes under way are told of children of their tasks; when events were
 * lost, they are told that too. 0, or the error of the event source. */
int watch_drain(const struct kernel *kernel, const struct tenants *tenants);
