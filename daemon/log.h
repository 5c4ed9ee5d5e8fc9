/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the daemon tells the journal: one line with fields (MESSAGE_ID, TENANT, CGROUP, STATE, COOKIE), so that it can
 * be found again without reading prose. Where there is no journal, the line goes to stderr. */
#include "tenant.h"
#include <syslog.h>

/* Ids of what an operator may want to find. */
#define CORESCHED_MESSAGE_TENANT_ADDED   "fbaf05fea55f41dc8b14565d11325163"
#define CORESCHED_MESSAGE_TENANT_REMOVED "121b623e8cd24ba1a43f4abff77f4c33"
#define CORESCHED_MESSAGE_TENANT_STATE   "c151a81b95a64619b09a8b499b240d0a"
#define CORESCHED_MESSAGE_DRIFT          "2b0d7f1c4e584f0c9d3e6a5b8c7f1e20"
#define CORESCHED_MESSAGE_CONFIGURATION  "29c498d0788f4d13ba9aecd666dddffe"

/* id and tenant may be NULL. */
void log_line(int priority, const char *id, const struct tenant *tenant, const char *format, ...) _printf_(4, 5);
