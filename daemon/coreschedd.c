// SPDX-License-Identifier: LGPL-2.1-or-later
#include "coreschedd.h"
#include "api/names.h"
#include "bus/bus.h"
#include "log.h"
#include "manager.h"
#include "state.h"
#include "strv.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

struct arguments {
        bool thaw;
        const char *config_root;
        const char *state_dir;
};

static void unrefp(sd_event **event) {
        sd_event_unref(*event);
}
static void flush_close_unrefp(sd_bus **bus) {
        sd_bus_flush_close_unref(*bus);
}

static void help(void) {
        puts("coreschedd [OPTIONS]\n"
             "\n"
             "Gives tenants core-scheduling cookies. Started by systemd or D-Bus, not by hand.\n"
             "\n"
             "      --config-root=DIR  Read the configuration below DIR instead of /\n"
             "      --state-dir=DIR    Keep the state in DIR instead of /run/coresched\n"
             "      --thaw             Thaw what a daemon that was killed left frozen, and end\n"
             "  -h, --help             Show this text, and end\n"
             "      --version          Show the version, and end\n");
}

/* 0: go on; 1: all is done; negative errno: said on stderr. */
static int parse(int argc, char **argv, struct arguments *ret) {
        enum { OPTION_VERSION = 256, OPTION_THAW, OPTION_CONFIG_ROOT, OPTION_STATE_DIR };
        static const struct option options[] = {
                {"help", no_argument, NULL, 'h'},
                {"version", no_argument, NULL, OPTION_VERSION},
                {"thaw", no_argument, NULL, OPTION_THAW},
                {"config-root", required_argument, NULL, OPTION_CONFIG_ROOT},
                {"state-dir", required_argument, NULL, OPTION_STATE_DIR},
                {0},
        };
        struct arguments arguments = {.config_root = "", .state_dir = "/run/coresched"};
        int c;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case 'h':
                        help();
                        return 1;
                case OPTION_VERSION:
                        puts("coreschedd " CORESCHED_VERSION);
                        return 1;
                case OPTION_THAW:
                        arguments.thaw = true;
                        break;
                case OPTION_CONFIG_ROOT:
                        arguments.config_root = optarg;
                        break;
                case OPTION_STATE_DIR:
                        arguments.state_dir = optarg;
                        break;
                default:
                        return -EINVAL;
                }
        if (optind < argc) {
                fprintf(stderr, "coreschedd: unexpected argument '%s'; see coreschedd --help\n", argv[optind]);
                return -EINVAL;
        }
        *ret = arguments;
        return 0;
}

/* Thaws what the state file says was frozen for the length of a pass. */
static int thaw(const struct kernel *kernel, const char *state_dir) {
        _cleanup_(state_done) struct state state = {0};
        struct failure f;
        int worst = 0;

        int r = state_load(state_dir, &state, &f);
        if (r < 0) {
                log_line(LOG_ERR, NULL, NULL, "%s", f.text);
                return r;
        }
        for (size_t i = 0; i < state.tenants.n; i++) {
                const struct tenant *tenant = state.tenants.tenant[i];
                for (char **path = tenant->frozen; !tenant->stay_frozen && path && *path; path++) {
                        r = kernel->cgroup->freeze(kernel->data, *path, false);
                        if (r == 0 || r == -ENOENT || r == -ENODEV)
                                continue;
                        log_line(LOG_ERR, NULL, tenant, "%s cannot be thawed: %s", *path, strerrordesc_np(-r));
                        worst = r;
                }
        }
        return worst;
}

/* ---- signals ---- */

static int on_reload(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        struct manager *manager = userdata;
        struct failure f;
        uint64_t now = 0;

        (void) sd_event_now(sd_event_source_get_event(source), CLOCK_MONOTONIC, &now);
        (void) sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now);
        (void) manager_reload(manager, &f); /* the journal is told of it */
        (void) sd_notify(false, "READY=1");
        return 0;
}

static int add_signals(sd_event *event, struct manager *manager) {
        sigset_t mask;
        sigemptyset(&mask);
        sigaddset(&mask, SIGTERM);
        sigaddset(&mask, SIGINT);
        sigaddset(&mask, SIGHUP);
        if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
                return -errno;
        int r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGHUP, on_reload, manager);
        return r;
}

/* ---- run ---- */

static int on_bus_lost(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        log_line(LOG_ERR, NULL, NULL, "The connection to the system bus was lost.");
        return sd_event_exit(userdata, EXIT_FAILURE);
}

/* The bus that others reach the daemon by. */
static int open_bus(sd_event *event, sd_bus **ret) {
        _cleanup_(flush_close_unrefp) sd_bus *bus = NULL;
        int r = sd_bus_open_system(&bus);
        if (r >= 0)
                r = sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = sd_bus_match_signal(bus, NULL, "org.freedesktop.DBus.Local", "/org/freedesktop/DBus/Local",
                                        "org.freedesktop.DBus.Local", "Disconnected", on_bus_lost, event);
        if (r >= 0)
                *ret = TAKE(bus);
        return r;
}

static int run(const struct kernel *kernel, const struct arguments *arguments) {
        _cleanup_(unrefp) sd_event *event = NULL;
        _cleanup_(flush_close_unrefp) sd_bus *bus = NULL;
        struct manager *manager = NULL;
        struct bus *shown = NULL;
        struct manager_options options = {.config_root = arguments->config_root, .state_dir = arguments->state_dir};
        struct failure f;

        int r = sd_event_default(&event);
        if (r >= 0)
                r = open_bus(event, &bus);
        if (r < 0) {
                log_line(LOG_ERR, NULL, NULL, "Cannot connect to the system bus: %s; is dbus.service running?",
                         strerrordesc_np(-r));
                return r;
        }
        r = manager_new(kernel, event, &options, &manager, &f);
        if (r < 0) {
                log_line(LOG_ERR, NULL, NULL, "%s", f.text);
                return r;
        }
        r = bus_new(bus, manager, &shown);
        if (r < 0)
                log_line(LOG_ERR, NULL, NULL, "Cannot take the bus name %s: %s", CORESCHED_BUS_NAME,
                         r == -EEXIST   ? "another coreschedd runs"
                         : r == -EACCES ? "the bus's policy forbids it (org.coresched1.conf is missing)"
                                        : strerrordesc_np(-r));
        if (r >= 0) {
                r = add_signals(event, manager);
                if (r >= 0)
                        r = sd_event_set_watchdog(event, true);
                if (r >= 0) {
                        /* Who is ordered after the daemon finds its tenants watched. */
                        manager_run(manager);
                        (void) sd_notify(false, "READY=1");
                        r = sd_event_loop(event);
                }
                (void) sd_notify(false, "STOPPING=1");
                if (r < 0)
                        log_line(LOG_ERR, NULL, NULL, "The event loop failed: %s", strerrordesc_np(-r));
        }
        bus_free(shown);
        manager_free(manager);
        return r;
}

int coreschedd_main(int argc, char **argv, kernel_open_t open_function, kernel_close_t close_function) {
        struct arguments arguments;
        struct kernel kernel;
        struct failure f;

        int r = parse(argc, argv, &arguments);
        if (r != 0)
                return r < 0 ? 2 : EXIT_SUCCESS;
        r = open_function(&kernel, &f);
        if (r < 0) {
                log_line(LOG_ERR, NULL, NULL, "%s", f.text);
                return EXIT_FAILURE;
        }
        r = arguments.thaw ? thaw(&kernel, arguments.state_dir) : run(&kernel, &arguments);
        close_function(&kernel);
        return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
