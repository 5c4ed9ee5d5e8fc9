/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* One file of the configuration, to typed and checked values. */
#include "config.h"

/* All three return 0 or a negative errno with the failure (FAILURE_INVALID_CONFIG) naming file, line and word. */

/* Of coreschedd.conf or a drop-in, into config, whose policies are there already; values that the file does not name
 * stay. Some may be set when this fails. */
int config_read_daemon(const char *path, struct config *config, struct failure *f);

/* ret's name is left NULL. */
int config_read_policy(const char *path, struct policy *ret, struct failure *f);

/* ret's name is left NULL. The policy must be one of config's, unless that is NULL. */
int config_read_tenant(const char *path, const struct config *config, struct tenant_config *ret, struct failure *f);
void tenant_config_done(struct tenant_config *tenant);

/* The tenant that a file of tenants.d, "NAME.conf", is of; newly allocated. -EINVAL when it is no tenant's name. */
int config_tenant_name(const char *file, char **ret);
