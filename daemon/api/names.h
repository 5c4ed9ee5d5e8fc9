/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The names that the daemon, the client and the introspection XML share. */

#define CORESCHED_BUS_NAME          "org.coresched1"
#define CORESCHED_PATH              "/org/coresched1"
#define CORESCHED_TENANT_PREFIX     "/org/coresched1/tenant"
#define CORESCHED_MANAGER_INTERFACE "org.coresched1.Manager"
#define CORESCHED_TENANT_INTERFACE  "org.coresched1.Tenant"
#define CORESCHED_ERROR_PREFIX      "org.coresched1.Error."
