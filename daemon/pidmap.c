// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pidmap.h"

#define N_PARTS ELEMENTS(((struct pidmap *) NULL)->part)

void pidmap_done(struct pidmap *map) {
        for (size_t i = 0; i < N_PARTS; i++)
                free(TAKE(map->part[i]));
}

static bool possible(pid_t pid) {
        return pid >= 0 && pid < PIDMAP_MAX;
}

uint16_t pidmap_get(const struct pidmap *map, pid_t pid) {
        const struct pidmap_part *part = possible(pid) ? map->part[pid / PIDMAP_PART] : NULL;
        return part ? part->number[pid % PIDMAP_PART] : 0;
}

void pidmap_set(struct pidmap *map, pid_t pid, uint16_t number) {
        if (!possible(pid) || pidmap_get(map, pid) == number)
                return;
        struct pidmap_part **part = &map->part[pid / PIDMAP_PART];
        if (!*part)
                *part = calloc(1, sizeof(**part));
        if (!*part)
                return;
        uint16_t *entry = &(*part)->number[pid % PIDMAP_PART];
        (*part)->n += (number != 0) - (*entry != 0);
        *entry = number;
        if ((*part)->n == 0)
                free(TAKE(*part));
}

void pidmap_drop(struct pidmap *map, uint16_t number) {
        for (size_t i = 0; i < N_PARTS; i++)
                for (size_t k = 0; map->part[i] && k < PIDMAP_PART; k++)
                        if (map->part[i]->number[k] == number)
                                pidmap_set(map, (pid_t) (i * PIDMAP_PART + k), 0);
}
