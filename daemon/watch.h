/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The kernel's events of processes, turned into hints. Knows no cookie and changes nothing. What always holds: a
 * process whose fork, since `live` was set, was told of is a child of a settled one, a newcomer, gone, or `lost` is
 * set. */
#include "kernel/kernel.h"
#include "pidmap.h"
#include "tenant.h"

/* A process of which nobody has looked yet in which cgroup it is. */
struct newcomer {
        pid_t pid;
        usec_t since; /* when its cgroup was looked for first; 0: not yet. The manager's */
};

#define WATCH_NUMBERS 4096

struct watch {
        bool live;  /* newcomers are of interest */
        bool execs; /* those who execute a program count as such, for moves between cgroups are not told of */
        bool added; /* there are newcomers whom nobody looked for; whoever does takes it back */
        bool lost;  /* some went unnoticed: all tenants are to be looked at */
        /* Threads of tenants that have had their cookie for some time, with the tenant's number: children of these
         * processes inherit it, and are no newcomers. */
        struct pidmap settled;
        /* Of tenants with this number modulo WATCH_NUMBERS some settled process forked. */
        uint64_t grown[WATCH_NUMBERS / 64];
        struct newcomer *newcomer;
        size_t n, allocated;
};

#define WATCH_ALL SIZE_MAX

/* Takes the process events that are queued, at most `max` of them. The passes under way are told of children of their
 * tasks; when events were lost, they are told that too. 0, or the error of the event source. */
int watch_drain(const struct kernel *kernel, const struct tenants *tenants, struct watch *watch, size_t max);

/* Has a settled process of the tenant with this number forked since this was last asked? */
bool watch_grown(struct watch *watch, uint16_t number);

/* Forgets what is known. */
void watch_done(struct watch *watch);
