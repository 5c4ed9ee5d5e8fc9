/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* PURE. Process ids, each with a number: a table that is asked for each fork of the host, of which only those parts
 * take memory that hold some. */
#include "util.h"
#include <stdbool.h>

/* More than any host allows (PID_MAX_LIMIT of 64-bit kernels). Larger ones are never in it. */
#define PIDMAP_MAX  (4 * 1024 * 1024)
#define PIDMAP_PART 4096

struct pidmap_part {
        unsigned n; /* entries that are not 0 */
        uint16_t number[PIDMAP_PART];
};

struct pidmap {
        struct pidmap_part *part[PIDMAP_MAX / PIDMAP_PART];
};

void pidmap_done(struct pidmap *map);

/* number: 0 takes the process out. Without memory nothing is put in. */
void pidmap_set(struct pidmap *map, pid_t pid, uint16_t number);
/* 0: it is not in it. */
uint16_t pidmap_get(const struct pidmap *map, pid_t pid);
/* Takes out all that have this number. */
void pidmap_drop(struct pidmap *map, uint16_t number);
