/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the programs of the bench share: cgroups full of sleeping processes, calls of the daemon, and the verdict. Like
 * guest.h, which they use too, it shares nothing with the product, and ends the program when something fails.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

/* CLOCK_MONOTONIC, microseconds. */
double now_us(void);

/*
 * Makes the cgroup (a path as the kernel writes it) and n single-thread processes in it, which sleep, and end with this
 * program.
 */
void cgroup_fill(const char *cgroup, size_t n);

/* Ends all those processes, and removes the cgroups. */
void cgroups_empty(void);

/* Calls of the daemon; each waits for the answer. */
sd_bus *bus_open(void);
void bus_ping(sd_bus *bus);
void bus_tag(sd_bus *bus, const char *tenant, const char *cgroup);
void bus_untag(sd_bus *bus, const char *tenant);

/* Sorts the values, and gives the one in the middle. */
double median(double *values, size_t n);

/* Prints "ok - bench: WHAT: VALUE (limit LIMIT)", or "not ok - ..." when it is over the limit. */
void judge(const char *what, double value, double limit);
