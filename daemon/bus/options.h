/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The options of a call (a{sv}), strictly read. */
#include "failure.h"
#include <stdbool.h>
#include <systemd/sd-bus.h>

enum option {
        OPTION_CGROUPS = 1 << 0,    /* as, or aay for paths that are not UTF-8; 1 to CGROUPS_MAX */
        OPTION_POLICY = 1 << 1,     /* s */
        OPTION_PERSISTENT = 1 << 2, /* b */
        OPTION_FORCE = 1 << 3,      /* b */
        OPTION_TRANSIENT = 1 << 4,  /* b */
        OPTION_JOIN = 1 << 5,       /* b */
};

#define CGROUPS_MAX 64

struct options {
        char **cgroups; /* NULL: not given */
        char *policy;   /* NULL: not given */
        bool persistent, force, transient, join;
};

/* Reads the dictionary that is next in the message. An option that is not among the allowed ones, given twice, of the
 * wrong type or out of range is -EINVAL, and f names it. */
int options_read(sd_bus_message *message, unsigned allowed, struct options *ret, struct failure *f);
void options_done(struct options *options);
