/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the programs of the test bed share: names of cgroups, the tasks in them, and the kernel's word on cookies. It
 * shares nothing with the product, on purpose: what checks must not be what is checked.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
        STATUS_HOLDS = 0,
        STATUS_FAILS = 1, /* what was asserted is not so */
        STATUS_USAGE = 2,
        STATUS_ERROR = 3, /* it could not be found out */
};

/* Ends the program: "NAME: message" on stderr, then STATUS. */
_Noreturn void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like die(STATUS_ERROR, ...), with errno named after the message. */
_Noreturn void die_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A number of the command line, between 'least' and 'most'; anything else ends the program. */
long parse_number(const char *what, const char *text, long least, long most);

/*
 * The path of a cgroup as the kernel writes it ("/tenant.slice/tenant-a.slice"), from that, from the same without its
 * slash, from a path below /sys/fs/cgroup, or from the name of a slice ("tenant-a.slice"). Ends the program if there is
 * no such cgroup. Never freed.
 */
const char *cgroup_name(const char *name);

/* Is 'path' the cgroup 'top' or below it? Both as cgroup_name() gives them. */
bool cgroup_below(const char *path, const char *top);

/* Calls 'each' with every thread of the cgroup and of all below it. A cgroup that goes away meanwhile is skipped. */
void cgroup_threads(const char *name, void (*each)(pid_t tid, void *userdata), void *userdata);

/* prctl(PR_SCHED_CORE, ...), as it comes: 0 or -1 and errno. */
int core_get(pid_t tid, uint64_t *ret_cookie);
int core_create(pid_t pid, bool whole_process);
int core_share_to(pid_t pid, bool whole_process);
int core_share_from(pid_t tid);

/* What errno means, coming from PR_SCHED_CORE. */
const char *core_error(int error);
