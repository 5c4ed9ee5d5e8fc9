/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A scope of systemd's around this process. */
#include <systemd/sd-bus.h>

struct scope {
        const char *unit;        /* "NAME.scope" */
        const char *slice;       /* where it lies; NULL: systemd's own choice */
        const char *description; /* UTF-8 */
};

/* Has systemd start the scope with this process in it, and waits until that is done. A status, with the error told. */
int scope_start(sd_bus *bus, const struct scope *scope);

/* The cgroup that a process is in, newly allocated. 0 or negative errno. */
int scope_cgroup_of(pid_t pid, char **ret);
