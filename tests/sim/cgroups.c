// SPDX-License-Identifier: LGPL-2.1-or-later
/* The simulated kernel's cgroups. Those that were removed are kept: zombies still refer to them. */
#include "selector.h"
#include "sim.h"
#include <errno.h>
#include <string.h>

struct sim_cgroup *sim_cgroup_find(const struct sim *sim, const char *path) {
        for (size_t i = 0; i < sim->n_cgroups; i++)
                if (!sim->cgroup[i]->removed && strcmp(sim->cgroup[i]->path, path) == 0)
                        return sim->cgroup[i];
        return NULL;
}

struct sim_cgroup *sim_parent(const struct sim *sim, const struct sim_cgroup *cgroup) {
        _cleanup_free_ char *path = must(strdup(cgroup->path));
        char *slash = strrchr(path, '/');
        if (strcmp(path, "/") == 0)
                return NULL;
        slash[slash == path ? 1 : 0] = '\0';
        return sim_cgroup_find(sim, path);
}

struct sim_cgroup *sim_domain(const struct sim *sim, struct sim_cgroup *cgroup) {
        while (cgroup && cgroup->threaded)
                cgroup = sim_parent(sim, cgroup);
        return cgroup;
}

int sim_cgroup_add(struct sim *sim, const char *path, bool threaded) {
        if (path[0] != '/')
                return -EINVAL;
        if (sim_cgroup_find(sim, path))
                return -EEXIST;
        _cleanup_free_ char *parent = must(strdup(path));
        char *slash = strrchr(parent, '/');
        slash[slash == parent ? 1 : 0] = '\0';
        if (strcmp(path, "/") != 0 && !sim_cgroup_find(sim, parent)) {
                int r = sim_cgroup_add(sim, parent, false);
                if (r < 0)
                        return r;
        }
        struct sim_cgroup *cgroup = must(calloc(1, sizeof(*cgroup)));
        cgroup->path = must(strdup(path));
        cgroup->threaded = threaded;
        sim->cgroup = must(reallocarray(sim->cgroup, sim->n_cgroups + 1, sizeof(struct sim_cgroup *)));
        sim->cgroup[sim->n_cgroups++] = cgroup;
        struct sim_cgroup *above = sim_parent(sim, cgroup);
        if (above && above->watched)
                sim_queue_cgroup(sim, CGROUP_EVENT_CREATED, path);
        return 0;
}

int sim_cgroup_remove(struct sim *sim, const char *path) {
        struct sim_cgroup *cgroup = sim_cgroup_find(sim, path);
        if (!cgroup)
                return -ENOENT;
        for (size_t i = 0; i < sim->n_cgroups; i++)
                if (!sim->cgroup[i]->removed && sim->cgroup[i] != cgroup &&
                    cgroup_path_within(sim->cgroup[i]->path, path))
                        return -EBUSY;
        for (pid_t i = 1; i <= sim->pid_max; i++)
                if (sim->thread[i] && sim->thread[i]->cgroup == cgroup && sim->thread[i]->stage != SIM_ZOMBIE)
                        return -EBUSY;
        struct sim_cgroup *above = sim_parent(sim, cgroup);
        cgroup->removed = true;
        cgroup->watched = false;
        if (above && above->watched)
                sim_queue_cgroup(sim, CGROUP_EVENT_REMOVED, path);
        return 0;
}

int sim_freeze(struct sim *sim, const char *path, bool freeze) {
        struct sim_cgroup *cgroup = sim_cgroup_find(sim, path);
        if (!cgroup)
                return -ENOENT;
        if (cgroup->freeze != cgroup->freeze_by_other)
                return -EBUSY;
        cgroup->freeze = cgroup->freeze_by_other = freeze;
        cgroup->freeze_since = sim->now;
        return 0;
}

bool sim_is_inside(const struct sim *sim, const struct sim_cgroup *cgroup) {
        for (char **path = sim->inside; path && *path; path++)
                if (cgroup_path_within(cgroup->path, *path))
                        return true;
        return false;
}
