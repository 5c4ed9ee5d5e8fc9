// SPDX-License-Identifier: LGPL-2.1-or-later
/* From a name as a person types it to a cgroup: a path, a cgroup at the top, a machine of systemd-machined, a unit of
 * systemd. machined is asked first, as a machine is but a unit too; then the units, all at once. Nothing here blocks.
 * When the last answer is there, exactly one cgroup must have been found: a running unit's, or, if there is none, the
 * one that a unit will have which has a file but does not run. */
#include "bus/call.h"
#include "bus/unit-name.h"
#include "selector.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

#define UNITS_MAX 4 /* NAME.slice, NAME.service, NAME.scope, the machine's */
#define SYSTEMD   "org.freedesktop.systemd1"
#define MACHINED  "org.freedesktop.machine1"

struct unit {
        char *name;
        bool loaded; /* and not merely made up from its name */
        char *cgroup, *fragment, *slice;
};

struct question {
        struct resolution *resolution;
        char **ret_answer;
        sd_bus_slot *slot;
};

struct resolution {
        struct call *call;
        char **names; /* of the units to ask for */
        struct unit units[UNITS_MAX];
        size_t n_units;
        struct question questions[3 * UNITS_MAX];
        size_t n_questions, n_waiting;
        sd_bus_slot *slot; /* of the one question before those */
        bool no_systemd;
};

void resolution_free(struct resolution *resolution) {
        if (!resolution)
                return;
        sd_bus_slot_unref(resolution->slot);
        for (size_t i = 0; i < resolution->n_questions; i++)
                sd_bus_slot_unref(resolution->questions[i].slot);
        for (size_t i = 0; i < resolution->n_units; i++) {
                free(resolution->units[i].name);
                free(resolution->units[i].cgroup);
                free(resolution->units[i].fragment);
                free(resolution->units[i].slice);
        }
        strv_free(resolution->names);
        free(resolution);
}

static void fail_call(struct call *call, int error, const char *what) {
        struct failure f;
        (void) fail(&f, FAILURE_FAILED, error, "%s: %s", what, strerror(-error));
        call_fail(call, &f);
}

/* ---- what was found ---- */

struct candidates {
        char **paths;
        char **labels;
};

static void candidates_done(struct candidates *candidates) {
        strv_free(candidates->paths);
        strv_free(candidates->labels);
}

/* One cgroup found in two ways is one candidate. */
static int add_candidate(struct candidates *candidates, const char *what, const char *path) {
        _cleanup_free_ char *label = NULL;
        if (strv_contains(candidates->paths, path))
                return 0;
        if (asprintf(&label, "%s (%s)", what, path) < 0 || strv_extend(&candidates->paths, path) < 0)
                return -ENOMEM;
        return strv_extend(&candidates->labels, label);
}

static int find_candidates(const struct resolution *resolution, struct candidates *candidates) {
        const char *name = resolution->call->name;
        _cleanup_free_ char *top = NULL;
        int r = 0;
        if (asprintf(&top, "/%s", name) < 0)
                return -ENOMEM;
        if (manager_has_cgroup(resolution->call->bus->manager, top))
                r = add_candidate(candidates, "a cgroup", top);
        for (size_t i = 0; r >= 0 && i < resolution->n_units; i++) {
                const struct unit *unit = &resolution->units[i];
                if (unit->cgroup && *unit->cgroup)
                        r = add_candidate(candidates, unit->name, unit->cgroup);
        }
        if (r < 0 || candidates->paths)
                return r;
        for (size_t i = 0; r >= 0 && i < resolution->n_units; i++) {
                const struct unit *unit = &resolution->units[i];
                _cleanup_free_ char *path = NULL;
                bool slice = strcmp(strrchr(unit->name, '.'), ".slice") == 0;
                bool meant = unit->fragment && *unit->fragment;
                /* systemd makes up every slice that it is asked for: only one that was typed in full is meant. */
                if (!unit->loaded || !(meant || (slice && strcmp(unit->name, name) == 0)))
                        continue;
                r = unit_cgroup(unit->name, unit->slice ? unit->slice : "", &path);
                if (r >= 0)
                        r = add_candidate(candidates, unit->name, path);
                else if (r == -EINVAL)
                        r = 0;
        }
        return r;
}

static int fail_none(const struct resolution *resolution, struct failure *f) {
        const char *name = resolution->call->name;
        if (resolution->no_systemd)
                return fail(f, FAILURE_NO_SUCH_CGROUP, -ENOENT,
                            "nothing is called '%s': no tenant in the configuration, and no cgroup /%s; systemd is not "
                            "on the bus, so units cannot be named; 'coreschedctl tag %s --cgroup=PATH' takes a cgroup",
                            name, name, name);
        return fail(
                f, FAILURE_NO_SUCH_CGROUP, -ENOENT,
                "nothing is called '%s': no tenant in the configuration, no unit (%s.slice, .service, .scope), no "
                "machine, and no cgroup /%s; 'coreschedctl tag %s --cgroup=PATH' takes a cgroup that is yet to come",
                name, name, name, name);
}

static void finish(struct resolution *resolution) {
        _cleanup_(candidates_done) struct candidates candidates = {0};
        struct call *call = resolution->call;
        struct failure f;
        int r = find_candidates(resolution, &candidates);
        if (r < 0) {
                fail_call(call, r, "the name cannot be resolved");
                return;
        }
        if (strv_length(candidates.paths) != 1) {
                _cleanup_free_ char *list = strv_join(candidates.labels, ", ");
                if (candidates.paths)
                        (void) fail(&f, FAILURE_AMBIGUOUS_NAME, -ENOTUNIQ,
                                    "'%s' is ambiguous: %s; give the unit's full name, or --cgroup=PATH", call->name,
                                    list ? list : "");
                else
                        (void) fail_none(resolution, &f);
                call_fail(call, &f);
                return;
        }
        call->options.cgroups = TAKE(candidates.paths);
        resolution_free(TAKE(call->resolution));
        call->go(call);
}

/* ---- asking ---- */

static int ask(struct resolution *resolution, const char *service, const char *path, const char *interface,
               const char *method, sd_bus_message **ret) {
        sd_bus_message *message;
        int r = sd_bus_message_new_method_call(resolution->call->bus->bus, &message, service, path, interface, method);
        if (r < 0)
                return r;
        /* Neither is to be started for this: who is not there has no units and no machines. */
        (void) sd_bus_message_set_auto_start(message, false);
        *ret = message;
        return 0;
}

static int property_answered(sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        struct question *question = userdata;
        struct resolution *resolution = question->resolution;
        const char *text;
        /* A unit that vanished meanwhile, or has no such property, has no answer. */
        if (!sd_bus_message_get_error(reply) && sd_bus_message_read(reply, "v", "s", &text) >= 0) {
                *question->ret_answer = strdup(text);
                if (!*question->ret_answer) {
                        fail_call(resolution->call, -ENOMEM, "the name cannot be resolved");
                        return 1;
                }
        }
        if (--resolution->n_waiting == 0)
                finish(resolution);
        return 1;
}

static int ask_property(struct resolution *resolution, const char *path, const char *interface, const char *property,
                        char **ret_answer) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
        struct question *question = &resolution->questions[resolution->n_questions];
        *question = (struct question){.resolution = resolution, .ret_answer = ret_answer};
        int r = ask(resolution, SYSTEMD, path, "org.freedesktop.DBus.Properties", "Get", &message);
        if (r >= 0)
                r = sd_bus_message_append(message, "ss", interface, property);
        if (r >= 0)
                r = sd_bus_call_async(resolution->call->bus->bus, &question->slot, message, property_answered, question,
                                      0);
        if (r < 0)
                return r;
        resolution->n_questions++;
        resolution->n_waiting++;
        return 0;
}

static int ask_unit(struct resolution *resolution, const char *name, const char *load_state, const char *path) {
        const char *interface = unit_interface(name);
        struct unit *unit = &resolution->units[resolution->n_units];
        if (!interface || resolution->n_units == UNITS_MAX)
                return 0;
        *unit = (struct unit){.name = strdup(name), .loaded = strcmp(load_state, "loaded") == 0};
        if (!unit->name)
                return -ENOMEM;
        resolution->n_units++;
        int r = ask_property(resolution, path, interface, "ControlGroup", &unit->cgroup);
        if (r >= 0)
                r = ask_property(resolution, path, SYSTEMD ".Unit", "FragmentPath", &unit->fragment);
        if (r >= 0)
                r = ask_property(resolution, path, interface, "Slice", &unit->slice);
        return r;
}

static int units_answered(sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        struct resolution *resolution = userdata;
        const sd_bus_error *failed = sd_bus_message_get_error(reply);
        const char *name, *load_state, *path;
        int r;
        if (failed) {
                resolution->no_systemd = true;
                if (sd_bus_error_has_names(failed, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
                        finish(resolution);
                else
                        fail_call(resolution->call, -sd_bus_error_get_errno(failed),
                                  "systemd cannot be asked for units");
                return 1;
        }
        r = sd_bus_message_enter_container(reply, 'a', "(ssssssouso)");
        while (r >= 0 && (r = sd_bus_message_read(reply, "(ssssssouso)", &name, NULL, &load_state, NULL, NULL, NULL,
                                                  &path, NULL, NULL, NULL)) > 0)
                r = ask_unit(resolution, name, load_state, path);
        if (r < 0)
                fail_call(resolution->call, r, "systemd cannot be asked for units");
        else if (resolution->n_waiting == 0)
                finish(resolution);
        return 1;
}

static void ask_units(struct resolution *resolution) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
        if (!resolution->names) {
                finish(resolution);
                return;
        }
        int r = ask(resolution, SYSTEMD, "/org/freedesktop/systemd1", SYSTEMD ".Manager", "ListUnitsByNames", &message);
        if (r >= 0)
                r = sd_bus_message_append_strv(message, resolution->names);
        resolution->slot = sd_bus_slot_unref(resolution->slot);
        if (r >= 0)
                r = sd_bus_call_async(resolution->call->bus->bus, &resolution->slot, message, units_answered,
                                      resolution, 0);
        if (r < 0)
                fail_call(resolution->call, r, "systemd cannot be asked for units");
}

static int machine_unit_answered(sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        struct resolution *resolution = userdata;
        const char *unit;
        if (!sd_bus_message_get_error(reply) && sd_bus_message_read(reply, "v", "s", &unit) >= 0 &&
            unit_name_valid(unit) && !strv_contains(resolution->names, unit) &&
            strv_extend(&resolution->names, unit) < 0)
                fail_call(resolution->call, -ENOMEM, "the name cannot be resolved");
        else
                ask_units(resolution);
        return 1;
}

static int machine_answered(sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        struct resolution *resolution = userdata;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
        const char *path;
        if (sd_bus_message_get_error(reply) || sd_bus_message_read(reply, "o", &path) < 0) {
                ask_units(resolution); /* no machine of that name, or no machined */
                return 1;
        }
        int r = ask(resolution, MACHINED, path, "org.freedesktop.DBus.Properties", "Get", &message);
        if (r >= 0)
                r = sd_bus_message_append(message, "ss", MACHINED ".Machine", "Unit");
        resolution->slot = sd_bus_slot_unref(resolution->slot);
        if (r >= 0)
                r = sd_bus_call_async(resolution->call->bus->bus, &resolution->slot, message, machine_unit_answered,
                                      resolution, 0);
        if (r < 0)
                fail_call(resolution->call, r, "systemd-machined cannot be asked");
        return 1;
}

static int ask_machine(struct resolution *resolution) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
        int r = unit_names(resolution->call->name, &resolution->names);
        if (r >= 0)
                r = ask(resolution, MACHINED, "/org/freedesktop/machine1", MACHINED ".Manager", "GetMachine", &message);
        if (r >= 0)
                r = sd_bus_message_append(message, "s", resolution->call->name);
        if (r >= 0)
                r = sd_bus_call_async(resolution->call->bus->bus, &resolution->slot, message, machine_answered,
                                      resolution, 0);
        return r;
}

/* ---- what needs no asking ---- */

/* A path that is typed must be there: one that is yet to come is named by CGroups. */
static int take_path(struct call *call, struct failure *f) {
        _cleanup_free_ char *path = NULL, *name = NULL;
        int r = cgroup_path_normalize(call->name, &path);
        if (r == -ENOMEM)
                return fail(f, FAILURE_FAILED, r, "out of memory");
        if (r < 0)
                return fail(f, FAILURE_INVALID_CGROUP, r, "'%.255s' is no path of a cgroup", call->name);
        if (strcmp(path, "/") == 0)
                return fail(f, FAILURE_INVALID_CGROUP, -EINVAL,
                            "the root cgroup cannot be a tenant: name a cgroup below it");
        if (strv_length(call->options.cgroups) == 0 && !manager_has_cgroup(call->bus->manager, path))
                return fail(f, FAILURE_NO_SUCH_CGROUP, -ENOENT,
                            "there is no cgroup '%.255s' now; --cgroup=PATH names one that is yet to come", path);
        name = strdup(strrchr(path, '/') + 1);
        if (!name || strv_extend(&call->options.cgroups, path) < 0)
                return fail(f, FAILURE_FAILED, -ENOMEM, "out of memory");
        free(call->name);
        call->name = TAKE(name);
        return 0;
}

void call_resolve(struct call *call, void (*go)(struct call *call)) {
        struct manager *manager = call->bus->manager;
        const struct tenant *tenant = tenants_find(manager_tenants(manager), call->name);
        struct failure f;
        int r = 0;

        call->go = go;
        if (strchr(call->name, '/'))
                r = take_path(call, &f);
        else if (!tenant_name_valid(call->name))
                r = fail(&f, FAILURE_INVALID_NAME, -EINVAL, "'%.255s' is no name for a tenant", call->name);
        else if (!config_tenant(manager_config(manager), call->name)) {
                if (tenant) {
                        r = strv_copy(tenant->cgroups, &call->options.cgroups);
                } else {
                        call->resolution = calloc(1, sizeof(*call->resolution));
                        if (call->resolution) {
                                call->resolution->call = call;
                                r = ask_machine(call->resolution);
                                if (r >= 0)
                                        return;
                        } else
                                r = -ENOMEM;
                }
                if (r < 0)
                        (void) fail(&f, FAILURE_FAILED, r, "the name cannot be resolved: %s", strerror(-r));
        }
        if (r < 0)
                call_fail(call, &f);
        else
                go(call);
}
