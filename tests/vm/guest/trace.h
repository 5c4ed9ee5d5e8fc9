/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The kernel's trace of who runs where, from an instance of its own under /sys/kernel/tracing/instances, which is
 * removed when the program ends, by whatever way but SIGKILL (one that was left so is removed by the next program that
 * opens a trace). Every failure ends the program, a lost event too: what is given out is complete.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum trace_kind {
        TRACE_SWITCH, /* 'next' runs on 'cpu' from now on */
        TRACE_FORK,   /* 'parent' made 'child' */
};

struct trace_event {
        uint64_t time; /* ns of CLOCK_MONOTONIC */
        enum trace_kind kind;
        int cpu;
        size_t order; /* among its CPU's events */
        union {
                pid_t next;
                struct {
                        pid_t parent, child;
                };
        };
};

void trace_open(void);
/* Empties the buffers and starts; events that come after its return are in the trace. */
void trace_start(void);
void trace_stop(void);
/* Calls 'each' with every event since trace_start(), of all CPUs in order of time. */
void trace_read(void (*each)(const struct trace_event *event, void *userdata), void *userdata);
