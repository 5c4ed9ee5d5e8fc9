// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tenants by pattern: the true manager on the simulated kernel, where cgroups come and go, tenants are tagged and
 * untagged by hand, the configuration changes, events are lost and the daemon is started again. Whenever it rests,
 * there are the tenants that the patterns want, whatever the history was, and no others; and each thread carries the
 * cookie of its tenant, or none. */
#include "manager.h"
#include "pattern.h"
#include "selector.h"
#include "sim.h"
#include "strv.h"
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define PATIENCE (20 * USEC_PER_SEC)

static const char *const places[] = {
        "/vm/m-1-a",      "/vm/m-2-a",        "/vm/m-3-b",        "/vm/m-4-",  "/vm/other",     "/vm/m-1-a/below",
        "/box/x",         "/box/y.scope",     "/box/conmon-x",    "/user/u-1", "/user/u-1/box", "/user/u-2/box",
        "/user/u-2/else", "/user/u-1/box/in", "/user/u-2/box/in", "/user/u-3", "/deep/box/x",   "/other",
};

struct stage {
        struct sim *sim;
        struct kernel kernel;
        struct manager *manager;
        sd_event *event;
        char dir[64], root[80], state[80]; /* the manager keeps pointers to the last two */
        char **left;                       /* as the manager should know it */
        uint64_t random;
        bool verbose;
        char failure[512];
        usec_t last;
        unsigned pending, hands;
};

static unsigned choose(struct stage *stage, unsigned n) {
        stage->random = stage->random * UINT64_C(6364136223846793005) + 1442695040888963407;
        return (unsigned) (stage->random >> 33) % n;
}

static void _printf_(2, 3) say(struct stage *stage, const char *format, ...) {
        va_list ap;
        va_start(ap, format);
        if (stage->verbose) {
                vprintf(format, ap);
                putchar('\n');
        }
        va_end(ap);
}

static void _printf_(2, 3) wrong(struct stage *stage, const char *format, ...) {
        va_list ap;
        va_start(ap, format);
        if (stage->failure[0] == '\0')
                vsnprintf(stage->failure, sizeof(stage->failure), format, ap);
        va_end(ap);
}

static usec_t clock_now(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (usec_t) t.tv_sec * USEC_PER_SEC + (usec_t) t.tv_nsec / 1000;
}

static void hook(struct sim *sim, enum sim_function function, void *userdata) {
        struct stage *stage = userdata;
        usec_t now = clock_now();
        if (stage->last != 0)
                sim_advance(sim, now - stage->last);
        stage->last = now;
}

/* ---- the manager ---- */

static bool busy(const struct stage *stage) {
        const struct tenants *tenants = manager_tenants(stage->manager);
        for (size_t i = 0; i < tenants->n; i++)
                if (tenants->tenant[i]->pass || tenants->tenant[i]->due != USEC_INFINITY)
                        return true;
        return stage->pending > 0;
}

static void run_quiet(struct stage *stage) {
        usec_t end = clock_now() + PATIENCE;
        for (;;) {
                int r = sd_event_run(stage->event, busy(stage) ? 10 * USEC_PER_MSEC : 30 * USEC_PER_MSEC);
                if (r < 0)
                        wrong(stage, "the event loop: %s", strerror(-r));
                if (r < 0 || (r == 0 && !busy(stage)))
                        return;
                if (clock_now() > end) {
                        wrong(stage, "the manager does not come to rest");
                        return;
                }
        }
}

static void start_manager(struct stage *stage) {
        struct failure f = {0};
        const struct manager_options options = {.config_root = stage->root, .state_dir = stage->state};
        if (sd_event_new(&stage->event) < 0 ||
            manager_new(&stage->kernel, stage->event, &options, &stage->manager, &f) < 0) {
                fprintf(stderr, "%s\n", f.text);
                abort();
        }
}

static void stop_manager(struct stage *stage) {
        manager_free(TAKE(stage->manager));
        stage->event = sd_event_unref(stage->event);
}

static void answered(int error, const struct failure *f, struct tenant *tenant, void *userdata) {
        struct stage *stage = userdata;
        stage->pending--;
        say(stage, "answer: %s", error < 0 ? f->text : "good");
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

static bool find_match(const struct stage *stage, const char *path, struct match *ret) {
        const struct config *config = manager_config(stage->manager);
        return pattern_match(config->policies, config->n_policies, path, ret) > 0;
}

/* By patterns and hands alone. */
static bool is_wanted(const struct stage *stage, const char *path) {
        _cleanup_(match_done) struct match match = {0};
        return find_match(stage, path, &match) && match.name && !strv_contains(stage->left, path) &&
               !is_in_hand(manager_tenants(stage->manager), path);
}

static bool is_nested(const struct stage *stage, const char *path) {
        char above[100];
        strcpy(above, path);
        for (char *slash = strrchr(above, '/'); slash > above; slash = strrchr(above, '/')) {
                *slash = '\0';
                if (is_wanted(stage, above))
                        return true;
        }
        return false;
}

static void check_cgroup(struct stage *stage, const char *path) {
        const struct tenant *owner = tenants_of_cgroup(manager_tenants(stage->manager), path);
        bool own = owner && !by_hand(owner) && is_cgroup_of(owner, path);
        bool wanted = is_wanted(stage, path) && !is_nested(stage, path);
        _cleanup_(match_done) struct match match = {0};
        if (own != wanted)
                wrong(stage, "%s is %s tenant", path, own ? "a" : "no");
        if (!own || !find_match(stage, path, &match))
                return;
        if (strcmp(owner->pattern, match.policy->name) != 0 || strcmp(owner->policy, match.policy->name) != 0)
                wrong(stage, "%s is of policy %s", path, owner->policy);
        if (match.shared ? strcmp(owner->name, match.name) != 0 : strv_length(owner->cgroups) != 1)
                wrong(stage, "%s is part of %s", path, owner->name);
}

static void check_threads(struct stage *stage) {
        const struct sim *sim = stage->sim;
        for (pid_t i = SIM_PID_MIN; i <= sim->pid_max; i++) {
                const struct sim_thread *thread = sim->thread[i];
                if (!thread || thread->stage != SIM_LIVE)
                        continue;
                const struct tenant *owner = tenants_of_cgroup(manager_tenants(stage->manager), thread->cgroup->path);
                uint64_t cookie = sim_cookie(sim, i);
                if (owner ? cookie == 0 || cookie != owner->cookie : cookie != 0)
                        wrong(stage, "thread %d in %s carries %llx", (int) i, thread->cgroup->path,
                              (unsigned long long) cookie);
        }
}

static void check(struct stage *stage) {
        const struct tenants *tenants = manager_tenants(stage->manager);
        for (size_t i = 0; i < stage->sim->n_cgroups; i++)
                if (!stage->sim->cgroup[i]->removed)
                        check_cgroup(stage, stage->sim->cgroup[i]->path);
        for (size_t i = 0; i < tenants->n; i++)
                for (char **c = tenants->tenant[i]->cgroups; !by_hand(tenants->tenant[i]) && *c; c++)
                        if (!sim_cgroup_find(stage->sim, *c))
                                wrong(stage, "%s has %s, which is gone", tenants->tenant[i]->name, *c);
        check_threads(stage);
        if (stage->sim->violation[0])
                wrong(stage, "%s", stage->sim->violation);
}

/* ---- the history ---- */

static void write_file(const struct stage *stage, const char *name, const char *text) {
        char path[160];
        snprintf(path, sizeof(path), "%s/%s", stage->dir, name);
        _cleanup_fclose_ FILE *file = fopen(path, "we");
        if (!file || fputs(text, file) < 0)
                abort();
}

static void configure(struct stage *stage) {
        unsigned which = choose(stage, 8);
        say(stage, "configuration %u", which);
        write_file(stage, "root/etc/coresched/policies.d/customers.conf",
                   which & 1 ? "[Policy]\nMatch=vm/m-*-*\nTenant=c-%2\n" : "[Policy]\nMatch=vm/m-*-?\n");
        write_file(stage, "root/etc/coresched/policies.d/box.conf",
                   which & 2 ? "[Policy]\nMatch=box/* user/*/box */box/*\nExclude=box/conmon-*\nAttach=freeze\n"
                             : "[Policy]\nAttach=freeze\n");
        write_file(stage, "root/etc/coresched/policies.d/users.conf",
                   "[Policy]\nMatch=user/u-*\nExclude=user/u-3\nActive=no\n");
        write_file(stage, "root/etc/coresched/coreschedd.conf",
                   which & 4 ? "[Daemon]\nPatterns=users\n" : "[Daemon]\n");
}

static void kill_in(struct stage *stage, const char *path) {
        for (pid_t i = SIM_PID_MIN; i <= stage->sim->pid_max; i++) {
                const struct sim_thread *thread = stage->sim->thread[i];
                if (thread && thread->stage == SIM_LIVE && strcmp(thread->cgroup->path, path) == 0)
                        sim_kill(stage->sim, thread->tgid, true);
        }
}

static void come_or_go(struct stage *stage) {
        const char *path = places[choose(stage, ELEMENTS(places))];
        if (!sim_cgroup_find(stage->sim, path)) {
                say(stage, "make %s", path);
                (void) sim_cgroup_add(stage->sim, path, false);
        } else if (choose(stage, 2) == 0) {
                say(stage, "remove %s", path);
                kill_in(stage, path);
                if (sim_cgroup_remove(stage->sim, path) == 0)
                        strv_remove(stage->left, path);
        }
        if (sim_cgroup_find(stage->sim, path) && choose(stage, 2) == 0)
                (void) sim_spawn(stage->sim, 0, path, 1 + choose(stage, 3));
}

static void tag(struct stage *stage) {
        char name[20];
        char *cgroups[] = {(char *) places[choose(stage, ELEMENTS(places))], NULL};
        snprintf(name, sizeof(name), "hand-%u", stage->hands++);
        const struct tag_request request = {.name = name, .cgroups = cgroups};
        say(stage, "tag %s %s", name, cgroups[0]);
        stage->pending++;
        manager_tag(stage->manager, &request, answered, stage);
}

static void untag(struct stage *stage) {
        run_quiet(stage);
        const struct tenants *tenants = manager_tenants(stage->manager);
        if (tenants->n == 0)
                return;
        const struct tenant *tenant = tenants->tenant[choose(stage, (unsigned) tenants->n)];
        say(stage, "untag %s", tenant->name);
        for (char **path = tenant->cgroups; *path; path++) {
                _cleanup_(match_done) struct match match = {0};
                if (sim_cgroup_find(stage->sim, *path) && find_match(stage, *path, &match))
                        (void) strv_extend(&stage->left, *path);
        }
        stage->pending++;
        manager_untag(stage->manager, tenant->name, false, false, answered, stage);
        run_quiet(stage);
}

static void reload(struct stage *stage) {
        struct failure f = {0};
        configure(stage);
        strv_free(TAKE(stage->left));
        if (manager_reload(stage->manager, &f) < 0)
                wrong(stage, "reload: %s", f.text);
}

/* No cookie changes by a restart, as long as nothing happens meanwhile. */
static void restart(struct stage *stage) {
        uint64_t before[SIM_PID_MIN + 2000] = {0};
        bool quiet = choose(stage, 2) == 0;
        run_quiet(stage);
        for (pid_t i = SIM_PID_MIN; i <= stage->sim->pid_max; i++)
                before[i] = sim_cookie(stage->sim, i);
        say(stage, "restart");
        stop_manager(stage);
        if (!quiet)
                come_or_go(stage);
        start_manager(stage);
        run_quiet(stage);
        for (pid_t i = SIM_PID_MIN; quiet && i <= stage->sim->pid_max; i++)
                if (sim_cookie(stage->sim, i) != before[i])
                        wrong(stage, "thread %d has another cookie after the restart", (int) i);
}

static void happen(struct stage *stage) {
        switch (choose(stage, 24)) {
        case 0:
                restart(stage);
                break;
        case 1:
                reload(stage);
                break;
        case 2:
                tag(stage);
                break;
        case 3:
        case 4:
                untag(stage);
                break;
        case 5:
                run_quiet(stage);
                say(stage, "unseen:");
                come_or_go(stage);
                sim_lose_events(stage->sim);
                run_quiet(stage);
                break;
        default:
                come_or_go(stage);
        }
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
        return remove(path);
}

static bool run(uint64_t seed, bool verbose) {
        struct stage stage = {.random = seed * 7919, .verbose = verbose};
        static const char *const folders[] = {"state", "root", "root/etc", "root/etc/coresched",
                                              "root/etc/coresched/policies.d"};
        strcpy(stage.dir, "/tmp/coresched-sim-XXXXXX");
        if (!mkdtemp(stage.dir))
                abort();
        snprintf(stage.root, sizeof(stage.root), "%s/root", stage.dir);
        snprintf(stage.state, sizeof(stage.state), "%s/state", stage.dir);
        for (size_t i = 0; i < ELEMENTS(folders); i++) {
                char path[128];
                snprintf(path, sizeof(path), "%s/%s", stage.dir, folders[i]);
                if (mkdir(path, 0755) < 0)
                        abort();
        }
        configure(&stage);
        stage.sim = sim_new(SIM_PID_MIN + 1500);
        sim_kernel(stage.sim, &stage.kernel);
        stage.sim->hook = hook;
        stage.sim->userdata = &stage;
        for (size_t i = 0; i < ELEMENTS(places); i++)
                sim_inside(stage.sim, places[i], true);
        for (unsigned i = choose(&stage, 10); i > 0; i--)
                come_or_go(&stage);
        start_manager(&stage);
        for (unsigned rests = 0; rests < 12 && stage.failure[0] == '\0'; rests++) {
                for (unsigned n = choose(&stage, 12); n > 0; n--) {
                        happen(&stage);
                        (void) sd_event_run(stage.event, choose(&stage, 2000));
                }
                run_quiet(&stage);
                say(&stage, "rest");
                check(&stage);
        }
        bool failed = stage.failure[0] != '\0';
        if (failed)
                printf("patterns, seed %llu: %s\n", (unsigned long long) seed, stage.failure);
        stop_manager(&stage);
        strv_free(stage.left);
        sim_free(stage.sim);
        (void) nftw(stage.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        return failed;
}

int main(int argc, char **argv) {
        uint64_t seeds = 40;
        if (argc == 3 && strcmp(argv[1], "--seed") == 0)
                return run(strtoull(argv[2], NULL, 10), true);
        if (argc == 3 && strcmp(argv[1], "--seeds") == 0)
                seeds = strtoull(argv[2], NULL, 10);
        else if (argc != 1) {
                fputs("run-patterns [--seeds N | --seed N]: N histories (40), or this one, told in full\n", stderr);
                return 2;
        }
        unsigned failed = 0;
        for (uint64_t seed = 1; seed <= seeds; seed++)
                failed += run(seed, false);
        printf("%llu histories of tenants by pattern, %u failed\n", (unsigned long long) seeds, failed);
        return failed > 0;
}
