/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* PURE. Sets of thread ids: a growing array that is sorted when it is to be searched. */
#include "util.h"
#include <stdbool.h>

struct pids {
        pid_t *pid;
        size_t n, allocated;
};

static inline void pids_done(struct pids *pids) {
        free(pids->pid);
        *pids = (struct pids){0};
}
#define _cleanup_pids_ _cleanup_(pids_done)

/* Makes room for n more: 0 or -ENOMEM. */
int pids_reserve(struct pids *pids, size_t n);
int pids_add(struct pids *pids, pid_t pid);

/* Puts pid where it belongs; they must be sorted. 0 or -ENOMEM. */
int pids_insert(struct pids *pids, pid_t pid);

/* Takes pid out, if it is among them; they must be sorted. */
void pids_remove(struct pids *pids, pid_t pid);

/* Sorts, and drops duplicates. */
void pids_sort(struct pids *pids);

/* Adds all of more; both must be sorted, and the result is. 0 or -ENOMEM. */
int pids_merge(struct pids *pids, const struct pids *more);

/* Is pid among them? They must be sorted. */
bool pids_contain(const struct pids *pids, pid_t pid);

/* The same, cheaper for whoever asks in ascending order: *cursor starts at 0 and belongs to one row of questions. */
bool pids_next(const struct pids *pids, pid_t pid, size_t *cursor);
