// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pids.h"
#include <errno.h>
#include <string.h>

int pids_reserve(struct pids *pids, size_t n) {
        if (n <= pids->allocated - pids->n)
                return 0;
        size_t allocated = pids->n + n > 2 * pids->allocated ? pids->n + n : 2 * pids->allocated;
        pid_t *grown = reallocarray(pids->pid, allocated, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        pids->pid = grown;
        pids->allocated = allocated;
        return 0;
}

int pids_add(struct pids *pids, pid_t pid) {
        int r = pids_reserve(pids, 1);
        if (r < 0)
                return r;
        pids->pid[pids->n++] = pid;
        return 0;
}

/* Where pid stands, or would have to. */
static size_t position(const struct pids *pids, pid_t pid) {
        size_t low = 0, high = pids->n;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (pids->pid[middle] < pid)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

void pids_remove(struct pids *pids, pid_t pid) {
        size_t at = position(pids, pid);
        if (at == pids->n || pids->pid[at] != pid)
                return;
        pids->n--;
        memmove(pids->pid + at, pids->pid + at + 1, (pids->n - at) * sizeof(*pids->pid));
}

int pids_insert(struct pids *pids, pid_t pid) {
        size_t low = position(pids, pid);
        if (low < pids->n && pids->pid[low] == pid)
                return 0;
        int r = pids_reserve(pids, 1);
        if (r < 0)
                return r;
        memmove(pids->pid + low + 1, pids->pid + low, (pids->n - low) * sizeof(*pids->pid));
        pids->pid[low] = pid;
        pids->n++;
        return 0;
}

static int compare(const void *a, const void *b) {
        pid_t x = *(const pid_t *) a, y = *(const pid_t *) b;
        return (x > y) - (x < y);
}

void pids_sort(struct pids *pids) {
        /* The kernel mostly lists them in order already. */
        size_t ordered = 1;
        while (ordered < pids->n && pids->pid[ordered - 1] < pids->pid[ordered])
                ordered++;
        if (ordered >= pids->n)
                return;
        qsort(pids->pid, pids->n, sizeof(*pids->pid), compare);
        size_t kept = 1;
        for (size_t i = 1; i < pids->n; i++)
                if (pids->pid[i] != pids->pid[kept - 1])
                        pids->pid[kept++] = pids->pid[i];
        pids->n = kept;
}

bool pids_contain(const struct pids *pids, pid_t pid) {
        return pids->n > 0 && bsearch(&pid, pids->pid, pids->n, sizeof(pid), compare);
}

int pids_merge(struct pids *pids, const struct pids *more) {
        size_t cursor = 0, n_before = pids->n;
        struct pids before;

        int r = pids_reserve(pids, more->n);
        if (r < 0)
                return r;
        before = (struct pids){.pid = pids->pid, .n = n_before};
        for (size_t i = 0; i < more->n; i++)
                if (n_before == 0 || !pids_next(&before, more->pid[i], &cursor))
                        pids->pid[pids->n++] = more->pid[i];
        pids_sort(pids);
        return 0;
}

bool pids_next(const struct pids *pids, pid_t pid, size_t *cursor) {
        if (*cursor < pids->n && pids->pid[*cursor] == pid) {
                (*cursor)++;
                return true;
        }
        const pid_t *found = pids->n > 0 ? bsearch(&pid, pids->pid, pids->n, sizeof(pid), compare) : NULL;
        if (found)
                *cursor = (size_t) (found - pids->pid) + 1;
        return found != NULL;
}
