// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/bus.h"
#include "api/names.h"
#include "bus/call.h"
#include "bus/error.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

static int find_tenant(sd_bus *sd, const char *path, const char *interface, void *userdata, void **ret_found,
                       sd_bus_error *error) {
        struct bus *bus = userdata;
        _cleanup_free_ char *name = NULL;
        int r = sd_bus_path_decode(path, CORESCHED_TENANT_PREFIX, &name);
        if (r <= 0)
                return r;
        struct tenant *tenant = bus->leaving && strcmp(bus->leaving->name, name) == 0
                                        ? bus->leaving
                                        : tenants_find(manager_tenants(bus->manager), name);
        if (!tenant)
                return 0;
        *ret_found = tenant;
        return 1;
}

static int list_tenants(sd_bus *sd, const char *prefix, void *userdata, char ***ret_nodes, sd_bus_error *error) {
        struct bus *bus = userdata;
        const struct tenants *tenants = manager_tenants(bus->manager);
        _cleanup_strv_ char **nodes = calloc(tenants->n + 1, sizeof(char *));
        if (!nodes)
                return -ENOMEM;
        for (size_t i = 0; i < tenants->n; i++) {
                int r = sd_bus_path_encode(CORESCHED_TENANT_PREFIX, tenants->tenant[i]->name, &nodes[i]);
                if (r < 0)
                        return r;
        }
        *ret_nodes = TAKE(nodes);
        return 0;
}

/* ---- what the manager tells: a signal that cannot be sent means that the bus is gone, and the daemon ends ---- */

static void tenant_added(struct tenant *tenant, void *userdata) {
        struct bus *bus = userdata;
        _cleanup_free_ char *path = NULL;
        if (sd_bus_path_encode(CORESCHED_TENANT_PREFIX, tenant->name, &path) >= 0)
                (void) sd_bus_emit_object_added(bus->bus, path);
}

static void tenant_removed(struct tenant *tenant, void *userdata) {
        struct bus *bus = userdata;
        _cleanup_free_ char *path = NULL;
        bus->leaving = tenant;
        if (sd_bus_path_encode(CORESCHED_TENANT_PREFIX, tenant->name, &path) >= 0)
                (void) sd_bus_emit_object_removed(bus->bus, path);
        bus->leaving = NULL;
}

/* All properties that can change go into one signal: a pass often changes several of them. */
static void tenant_changed(struct tenant *tenant, void *userdata) {
        struct bus *bus = userdata;
        _cleanup_free_ char *path = NULL;
        if (sd_bus_path_encode(CORESCHED_TENANT_PREFIX, tenant->name, &path) >= 0)
                (void) sd_bus_emit_properties_changed_strv(bus->bus, path, CORESCHED_TENANT_INTERFACE, NULL);
}

static void drifted(struct tenant *tenant, pid_t tid, enum finding cause, void *userdata) {
        struct bus *bus = userdata;
        _cleanup_free_ char *name = text_for_bus(tenant->name);
        if (name)
                (void) sd_bus_emit_signal(bus->bus, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, "Drift", "sus", name,
                                          (uint32_t) tid, finding_word(cause));
}

static void manager_changed(void *userdata) {
        struct bus *bus = userdata;
        (void) sd_bus_emit_properties_changed_strv(bus->bus, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, NULL);
}

static const struct manager_listener listener = {
        .tenant_added = tenant_added,
        .tenant_removed = tenant_removed,
        .tenant_changed = tenant_changed,
        .drifted = drifted,
        .manager_changed = manager_changed,
};

/* Nobody is left waiting for an answer that will not come. */
static void end_calls(struct bus *bus) {
        struct call *call, *next;
        for (call = LIST_FIRST(&bus->calls); call; call = next) {
                struct failure f;
                next = LIST_NEXT(call, entry);
                (void) fail(&f, FAILURE_FAILED, -ESHUTDOWN, "the daemon is being stopped%s",
                            call->at_manager ? ", and carries this on when it is back" : "; call again");
                if (!call->at_manager) {
                        call_fail(call, &f);
                        continue;
                }
                call_refuse(call, &f);
                LIST_REMOVE(call, entry);
                call->bus = NULL;
        }
}

/* Before the loop's end closes the bus. */
static int on_exit_loop(sd_event_source *source, void *userdata) {
        end_calls(userdata);
        return 0;
}

int bus_new(sd_bus *sd, struct manager *manager, struct bus **ret) {
        _cleanup_(bus_freep) struct bus *bus = calloc(1, sizeof(*bus));
        if (!bus)
                return -ENOMEM;
        bus->bus = sd_bus_ref(sd);
        bus->manager = manager;
        LIST_INIT(&bus->calls);
        manager_set_listener(manager, &listener, bus);

        int r = sd_bus_add_object_vtable(sd, &bus->slots[bus->n_slots++], CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE,
                                         manager_vtable, bus);
        if (r >= 0)
                r = sd_bus_add_fallback_vtable(sd, &bus->slots[bus->n_slots++], CORESCHED_TENANT_PREFIX,
                                               CORESCHED_TENANT_INTERFACE, tenant_vtable, find_tenant, bus);
        if (r >= 0)
                r = sd_bus_add_node_enumerator(sd, &bus->slots[bus->n_slots++], CORESCHED_TENANT_PREFIX, list_tenants,
                                               bus);
        if (r >= 0)
                r = sd_bus_add_object_manager(sd, &bus->slots[bus->n_slots++], CORESCHED_PATH);
        if (r >= 0)
                r = sd_event_add_exit(sd_bus_get_event(sd), &bus->exit, on_exit_loop, bus);
        if (r >= 0)
                r = sd_event_source_set_priority(bus->exit, SD_EVENT_PRIORITY_IMPORTANT);
        if (r >= 0)
                r = sd_bus_request_name(sd, CORESCHED_BUS_NAME, 0);
        if (r < 0)
                return r;
        *ret = TAKE(bus);
        return 0;
}

void bus_free(struct bus *bus) {
        if (!bus)
                return;
        manager_set_listener(bus->manager, &(const struct manager_listener){0}, NULL);
        end_calls(bus);
        sd_event_source_disable_unref(bus->exit);
        for (size_t i = 0; i < bus->n_slots; i++)
                sd_bus_slot_unref(bus->slots[i]);
        sd_bus_unref(bus->bus);
        free(bus->root);
        free(bus);
}
