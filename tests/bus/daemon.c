// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedd on the simulated kernel, whose clock is the host's. Tests change the world by
 *
 *   busctl call org.coresched1.Simulation / org.coresched1.Simulation Do s COMMAND
 *
 * which answers with a string. Commands:
 *   tenant PATH                    makes a cgroup that the daemon may touch
 *   cgroup PATH                    makes one that it may not
 *   remove PATH                    removes a cgroup
 *   spawn PATH THREADS             starts a process; answers with its PID
 *   kill PID                       ends a process
 *   cookie TID                     what the thread carries
 *   own TID                        the thread gives itself a cookie
 *   share TID FROM                 the thread takes another's
 *   stubborn TID                   the thread cannot be frozen
 *   smt on|off                     switches SMT
 *   kernel full|none|denied        core scheduling in the kernel: there, not built in, denied by a security module
 *   fail FUNCTION SKIP COUNT ERRNO makes calls fail (the names of functions are the simulation's)
 *   unseen COMMAND                 the same, and the events of it are lost
 *   violation                      what the daemon did that it may not, or nothing */
#include "coreschedd.h"
#include "failure.h"
#include "sim.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

static struct sim *sim;
static sd_bus *control;
static sd_event *event;

static void let_time_pass(struct sim *world, enum sim_function function, void *userdata) {
        static usec_t last;
        usec_t present = usec_now(CLOCK_MONOTONIC);
        if (last != 0 && present > last)
                sim_advance(world, present - last);
        last = present;
}

static int make(const char *path, bool inside) {
        int r = sim_cgroup_add(sim, path, false);
        if (r >= 0 && inside)
                sim_inside(sim, path, true);
        return r;
}

static int set_kernel(const char *word) {
        sim->supported = strcmp(word, "none") != 0;
        sim->denied = strcmp(word, "denied") == 0;
        sim->sched_ext = strcmp(word, "ext") == 0;
        return 0;
}

static int make_stubborn(pid_t tid) {
        struct sim_thread *thread = sim_thread(sim, tid);
        if (!thread)
                return -ESRCH;
        thread->freeze_delay = USEC_INFINITY;
        return 0;
}

static int arrange_failure(const char *function, unsigned skip, unsigned count, int error) {
        enum sim_function f = sim_function_from_word(function);
        if (f == _SIM_FUNCTION_MAX)
                return -EINVAL;
        sim_fail(sim, f, skip, count, -error);
        return 0;
}

/* The answer is in text, or a negative errno. */
static int obey(const char *command, char *text, size_t size) {
        char word[128], path[4096];
        unsigned a, b, n;
        int error;

        if (strncmp(command, "unseen ", 7) == 0) {
                int r = obey(command + 7, text, size);
                sim_lose_events(sim);
                return r;
        }
        if (sscanf(command, "tenant %4095s", path) == 1)
                return make(path, true);
        if (sscanf(command, "cgroup %4095s", path) == 1)
                return make(path, false);
        if (sscanf(command, "remove %4095s", path) == 1)
                return sim_cgroup_remove(sim, path);
        if (sscanf(command, "kill %u", &a) == 1) {
                sim_kill(sim, (pid_t) a, true);
                return 0;
        }
        if (sscanf(command, "spawn %4095s %u", path, &n) == 2) {
                pid_t pid = sim_spawn(sim, 0, path, n);
                snprintf(text, size, "%d", pid);
                return pid < 0 ? pid : 0;
        }
        if (sscanf(command, "cookie %u", &a) == 1) {
                snprintf(text, size, "%" PRIu64, sim_cookie(sim, (pid_t) a));
                return 0;
        }
        if (sscanf(command, "own %u", &a) == 1)
                return sim_create(sim, (pid_t) a, false);
        if (sscanf(command, "share %u %u", &a, &b) == 2)
                return sim_share_from(sim, (pid_t) a, (pid_t) b);
        if (sscanf(command, "stubborn %u", &a) == 1)
                return make_stubborn((pid_t) a);
        if (sscanf(command, "smt %127s", word) == 1) {
                sim_smt(sim, strcmp(word, "on") == 0);
                return 0;
        }
        if (sscanf(command, "kernel %127s", word) == 1)
                return set_kernel(word);
        if (sscanf(command, "fail %127s %u %u %d", word, &a, &n, &error) == 4)
                return arrange_failure(word, a, n, error);
        if (strcmp(command, "violation") == 0) {
                snprintf(text, size, "%s", sim->violation);
                return 0;
        }
        return -EINVAL;
}

static int method_do(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        const char *command;
        char text[256] = "";
        int r = sd_bus_message_read(message, "s", &command);
        if (r >= 0)
                r = obey(command, text, sizeof(text));
        return r < 0 ? r : sd_bus_reply_method_return(message, "s", text);
}

static const sd_bus_vtable control_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Do", "s", "s", method_do, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static void close_simulation(struct kernel *kernel) {
        sd_bus_flush_close_unref(control);
        sd_event_unref(event);
        sim_free(sim);
}

static int open_simulation(struct kernel *ret, struct failure *f) {
        int r = sd_event_default(&event);
        sim = sim_new(65536);
        if (r >= 0)
                r = sd_bus_open_system(&control);
        if (r >= 0)
                r = sd_bus_add_object_vtable(control, NULL, "/", "org.coresched1.Simulation", control_vtable, NULL);
        if (r >= 0)
                r = sd_bus_attach_event(control, event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = sd_bus_request_name(control, "org.coresched1.Simulation", 0);
        if (r < 0 || !sim) {
                close_simulation(NULL);
                return fail(f, FAILURE_FAILED, r < 0 ? r : -ENOMEM, "the simulation cannot be set up: %s",
                            strerror(r < 0 ? -r : ENOMEM));
        }
        sim->hook = let_time_pass;
        sim_kernel(sim, ret);
        return 0;
}

int main(int argc, char *argv[]) {
        return coreschedd_main(argc, argv, open_simulation, close_simulation);
}
