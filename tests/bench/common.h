/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the programs of the bench share: cgroups full of sleeping processes, calls of the daemon, and the verdict. Like
 * guest.h, which they use too, it shares nothing with the product, and ends the program when something fails.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

/* CLOCK_MONOTONIC, microseconds. */
double now_us(void);

/*
 * Makes the cgroup (a path as the kernel writes it) and n single-thread processes in it, which sleep, and end with this
 * program.
 */
void cgroup_fill(const char *cgroup, size_t n);

/* The same with processes that compute without end. */
void cgroup_fill_busy(const char *cgroup, size_t n);

/* One process that sleeps in a cgroup that is there, and is the caller's to end. */
pid_t cgroup_sleeper(const char *cgroup);

/* Ends all those processes, and removes the cgroups. */
void cgroups_empty(void);

/* Calls of the daemon; each waits for the answer. */
sd_bus *bus_open(void);
void bus_ping(sd_bus *bus);
void bus_tag(sd_bus *bus, const char *tenant, const char *cgroup);
void bus_untag(sd_bus *bus, const char *tenant);

/* A property of the daemon's unit, of type u or t. */
uint64_t unit_property(sd_bus *bus, const char *name, char type);
/* Sets VerifyIntervalSec= of the daemon, for good. */
void verify_every(unsigned seconds);
/* CPU time of all threads of a process, microseconds. */
double cpu_us(pid_t pid);

/* A slice without units. */
void slice_start(const char *name);
void slice_stop(const char *name);

/* Sorts the values, and gives the one in the middle. */
double median(double *values, size_t n);

/* Prints "ok - bench: WHAT: VALUE (limit LIMIT)", or "not ok - ..." when it is over the limit. */
void judge(const char *what, double value, double limit);
