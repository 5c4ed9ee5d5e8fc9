// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tenants by pattern: the true manager on the simulated kernel, where cgroups come and go, tenants are tagged and
 * untagged by hand, the configuration changes, events are lost and the daemon is started again. Whenever it rests,
 * there are the tenants that the patterns want, whatever the history was, and no others; and each thread carries the
 * cookie of its tenant, or none. */
#include "pattern.h"
#include "selector.h"
#include "stage.h"
#include "strv.h"
#include <stdarg.h>
#include <string.h>

static const char *const places[] = {
        "/vm/m-1-a",      "/vm/m-2-a",        "/vm/m-3-b",        "/vm/m-4-",  "/vm/other",     "/vm/m-1-a/below",
        "/box/x",         "/box/y.scope",     "/box/conmon-x",    "/user/u-1", "/user/u-1/box", "/user/u-2/box",
        "/user/u-2/else", "/user/u-1/box/in", "/user/u-2/box/in", "/user/u-3", "/deep/box/x",   "/other",
};

struct act {
        struct stage stage;
        struct sim *sim;
        struct kernel kernel;
        char **left; /* as the manager should know it */
        uint64_t random;
        bool verbose;
        char failure[512];
        unsigned hands;
};

static unsigned choose(struct act *act, unsigned n) {
        act->random = act->random * UINT64_C(6364136223846793005) + 1442695040888963407;
        return (unsigned) (act->random >> 33) % n;
}

static void _printf_(2, 3) say(struct act *act, const char *format, ...) {
        va_list ap;
        va_start(ap, format);
        if (act->verbose) {
                vprintf(format, ap);
                putchar('\n');
        }
        va_end(ap);
}

static void _printf_(2, 3) wrong(struct act *act, const char *format, ...) {
        va_list ap;
        va_start(ap, format);
        if (act->failure[0] == '\0')
                vsnprintf(act->failure, sizeof(act->failure), format, ap);
        va_end(ap);
}

/* ---- the manager ---- */

static void hook(struct sim *sim, enum sim_function function, void *userdata) {
        struct act *act = userdata;
        stage_advance(&act->stage, sim);
}

static void run_quiet(struct act *act) {
        const char *what = stage_rest(&act->stage);
        if (what)
                wrong(act, "%s", what);
}

static void answered(int error, const struct failure *f, struct tenant *tenant, void *userdata) {
        struct act *act = userdata;
        act->stage.pending--;
        say(act, "answer: %s", error < 0 ? f->text : "good");
}

/* ---- the oracle ---- */

static bool by_hand(const struct tenant *tenant) {
        return tenant->origin != ORIGIN_PATTERN;
}

static bool is_cgroup_of(const struct tenant *tenant, const char *path) {
        return strv_contains(tenant->cgroups, path);
}

/* Does a tenant that was tagged by hand have a part of it? */
static bool is_in_hand(const struct tenants *tenants, const char *path) {
        for (size_t i = 0; i < tenants->n; i++)
                for (char **c = tenants->tenant[i]->cgroups; by_hand(tenants->tenant[i]) && *c; c++)
                        if (cgroup_path_within(*c, path) || cgroup_path_within(path, *c))
                                return true;
        return false;
}

static bool find_match(const struct act *act, const char *path, struct match *ret) {
        const struct config *config = manager_config(act->stage.manager);
        return pattern_match(config->policies, config->n_policies, path, ret) > 0;
}

/* By patterns and hands alone. */
static bool is_wanted(const struct act *act, const char *path) {
        _cleanup_(match_done) struct match match = {0};
        return find_match(act, path, &match) && match.name && !strv_contains(act->left, path) &&
               !is_in_hand(manager_tenants(act->stage.manager), path);
}

static bool is_nested(const struct act *act, const char *path) {
        char above[100];
        strcpy(above, path);
        for (char *slash = strrchr(above, '/'); slash > above; slash = strrchr(above, '/')) {
                *slash = '\0';
                if (is_wanted(act, above))
                        return true;
        }
        return false;
}

static void check_cgroup(struct act *act, const char *path) {
        const struct tenant *owner = tenants_of_cgroup(manager_tenants(act->stage.manager), path);
        bool own = owner && !by_hand(owner) && is_cgroup_of(owner, path);
        bool wanted = is_wanted(act, path) && !is_nested(act, path);
        _cleanup_(match_done) struct match match = {0};
        if (own != wanted)
                wrong(act, "%s is %s tenant", path, own ? "a" : "no");
        if (!own || !find_match(act, path, &match))
                return;
        if (strcmp(owner->pattern, match.policy->name) != 0 || strcmp(owner->policy, match.policy->name) != 0)
                wrong(act, "%s is of policy %s", path, owner->policy);
        if (match.shared ? strcmp(owner->name, match.name) != 0 : strv_length(owner->cgroups) != 1)
                wrong(act, "%s is part of %s", path, owner->name);
}

static void check_threads(struct act *act) {
        const struct sim *sim = act->sim;
        for (pid_t i = SIM_PID_MIN; i <= sim->pid_max; i++) {
                const struct sim_thread *thread = sim->thread[i];
                if (!thread || thread->stage != SIM_LIVE)
                        continue;
                const struct tenant *owner =
                        tenants_of_cgroup(manager_tenants(act->stage.manager), thread->cgroup->path);
                uint64_t cookie = sim_cookie(sim, i);
                if (owner ? cookie == 0 || cookie != owner->cookie : cookie != 0)
                        wrong(act, "thread %d in %s carries %llx", (int) i, thread->cgroup->path,
                              (unsigned long long) cookie);
        }
}

static void check(struct act *act) {
        const struct tenants *tenants = manager_tenants(act->stage.manager);
        for (size_t i = 0; i < act->sim->n_cgroups; i++)
                if (!act->sim->cgroup[i]->removed)
                        check_cgroup(act, act->sim->cgroup[i]->path);
        for (size_t i = 0; i < tenants->n; i++)
                for (char **c = tenants->tenant[i]->cgroups; !by_hand(tenants->tenant[i]) && *c; c++)
                        if (!sim_cgroup_find(act->sim, *c))
                                wrong(act, "%s has %s, which is gone", tenants->tenant[i]->name, *c);
        check_threads(act);
        if (act->sim->violation[0])
                wrong(act, "%s", act->sim->violation);
}

/* ---- the history ---- */

static void configure(struct act *act) {
        unsigned which = choose(act, 8);
        say(act, "configuration %u", which);
        stage_write(&act->stage, "root/etc/coresched/policies.d/customers.conf",
                    which & 1 ? "[Policy]\nMatch=vm/m-*-*\nTenant=c-%2\n" : "[Policy]\nMatch=vm/m-*-?\n");
        stage_write(&act->stage, "root/etc/coresched/policies.d/box.conf",
                    which & 2 ? "[Policy]\nMatch=box/* user/*/box */box/*\nExclude=box/conmon-*\nAttach=freeze\n"
                              : "[Policy]\nAttach=freeze\n");
        stage_write(&act->stage, "root/etc/coresched/policies.d/users.conf",
                    "[Policy]\nMatch=user/u-*\nExclude=user/u-3\nActive=no\n");
        stage_write(&act->stage, "root/etc/coresched/coreschedd.conf",
                    which & 4 ? "[Daemon]\nPatterns=users\n" : "[Daemon]\n");
}

static void kill_in(struct act *act, const char *path) {
        for (pid_t i = SIM_PID_MIN; i <= act->sim->pid_max; i++) {
                const struct sim_thread *thread = act->sim->thread[i];
                if (thread && thread->stage == SIM_LIVE && strcmp(thread->cgroup->path, path) == 0)
                        sim_kill(act->sim, thread->tgid, true);
        }
}

static void come_or_go(struct act *act) {
        const char *path = places[choose(act, ELEMENTS(places))];
        if (!sim_cgroup_find(act->sim, path)) {
                say(act, "make %s", path);
                (void) sim_cgroup_add(act->sim, path, false);
        } else if (choose(act, 2) == 0) {
                say(act, "remove %s", path);
                kill_in(act, path);
                if (sim_cgroup_remove(act->sim, path) == 0)
                        strv_remove(act->left, path);
        }
        if (sim_cgroup_find(act->sim, path) && choose(act, 2) == 0)
                (void) sim_spawn(act->sim, 0, path, 1 + choose(act, 3));
}

static void tag(struct act *act) {
        char name[20];
        char *cgroups[] = {(char *) places[choose(act, ELEMENTS(places))], NULL};
        snprintf(name, sizeof(name), "hand-%u", act->hands++);
        const struct tag_request request = {.name = name, .cgroups = cgroups};
        say(act, "tag %s %s", name, cgroups[0]);
        act->stage.pending++;
        manager_tag(act->stage.manager, &request, answered, act);
}

static void untag(struct act *act) {
        run_quiet(act);
        const struct tenants *tenants = manager_tenants(act->stage.manager);
        if (tenants->n == 0)
                return;
        const struct tenant *tenant = tenants->tenant[choose(act, (unsigned) tenants->n)];
        say(act, "untag %s", tenant->name);
        for (char **path = tenant->cgroups; *path; path++) {
                _cleanup_(match_done) struct match match = {0};
                if (sim_cgroup_find(act->sim, *path) && find_match(act, *path, &match))
                        (void) strv_extend(&act->left, *path);
        }
        act->stage.pending++;
        manager_untag(act->stage.manager, tenant->name, false, false, answered, act);
        run_quiet(act);
}

static void reload(struct act *act) {
        struct failure f = {0};
        configure(act);
        strv_free(TAKE(act->left));
        if (manager_reload(act->stage.manager, &f) < 0)
                wrong(act, "reload: %s", f.text);
}

/* No cookie changes by a restart, as long as nothing happens meanwhile. */
static void restart(struct act *act) {
        uint64_t before[SIM_PID_MIN + 2000] = {0};
        bool quiet = choose(act, 2) == 0;
        run_quiet(act);
        for (pid_t i = SIM_PID_MIN; i <= act->sim->pid_max; i++)
                before[i] = sim_cookie(act->sim, i);
        say(act, "restart");
        stage_stop(&act->stage);
        if (!quiet)
                come_or_go(act);
        stage_start(&act->stage);
        run_quiet(act);
        for (pid_t i = SIM_PID_MIN; quiet && i <= act->sim->pid_max; i++)
                if (sim_cookie(act->sim, i) != before[i])
                        wrong(act, "thread %d has another cookie after the restart", (int) i);
}

static void happen(struct act *act) {
        switch (choose(act, 24)) {
        case 0:
                restart(act);
                break;
        case 1:
                reload(act);
                break;
        case 2:
                tag(act);
                break;
        case 3:
        case 4:
                untag(act);
                break;
        case 5:
                run_quiet(act);
                say(act, "unseen:");
                come_or_go(act);
                sim_lose_events(act->sim);
                run_quiet(act);
                break;
        default:
                come_or_go(act);
        }
}

static bool run(uint64_t seed, bool verbose) {
        struct act act = {.random = seed * 7919, .verbose = verbose};
        stage_open(&act.stage, &act.kernel);
        configure(&act);
        act.sim = sim_new(SIM_PID_MIN + 1500);
        sim_kernel(act.sim, &act.kernel);
        act.sim->hook = hook;
        act.sim->userdata = &act;
        for (size_t i = 0; i < ELEMENTS(places); i++)
                sim_inside(act.sim, places[i], true);
        for (unsigned i = choose(&act, 10); i > 0; i--)
                come_or_go(&act);
        stage_start(&act.stage);
        for (unsigned rests = 0; rests < 12 && act.failure[0] == '\0'; rests++) {
                for (unsigned n = choose(&act, 12); n > 0; n--) {
                        happen(&act);
                        (void) sd_event_run(act.stage.event, choose(&act, 2000));
                }
                run_quiet(&act);
                say(&act, "rest");
                check(&act);
        }
        bool failed = act.failure[0] != '\0';
        if (failed)
                printf("patterns, seed %llu: %s\n", (unsigned long long) seed, act.failure);
        stage_stop(&act.stage);
        strv_free(act.left);
        sim_free(act.sim);
        stage_close(&act.stage);
        return failed;
}

int main(int argc, char **argv) {
        return stage_main(argc, argv, 40, "tenants by pattern", run);
}
