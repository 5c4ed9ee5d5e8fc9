/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* PURE. Names of systemd's units that can have a cgroup: slices, services and scopes. */
#include <stdbool.h>

/* The D-Bus interface that has the unit's ControlGroup and Slice, by the name's ending; NULL for other names. */
const char *unit_interface(const char *unit);

/* Would systemd take this as the name of a slice, service or scope that can be loaded (no template)? */
bool unit_name_valid(const char *unit);

/* The units that a typed name can mean: itself when it ends as a unit's name does, else with each of the endings.
 * Invalid ones are left out; *ret may become NULL. 0 or -ENOMEM. */
int unit_names(const char *name, char ***ret);

/* Where systemd will put the unit's cgroup: slice is that of a service or scope (ignored for slices). Newly allocated;
 * -EINVAL, -ENOMEM. */
int unit_cgroup(const char *unit, const char *slice, char **ret);
