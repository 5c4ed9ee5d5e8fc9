// SPDX-License-Identifier: LGPL-2.1-or-later
/* org.coresched1.Tenant, as org.coresched1.Tenant.xml has it, and the ends of calls about a tenant. */
#include "api/names.h"
#include "bus/call.h"
#include "bus/error.h"
#include <errno.h>
#include <string.h>

/* ---- ends of calls ---- */

void call_done(int error, const struct failure *f, struct tenant *tenant, void *userdata) {
        struct call *call = userdata;
        if (error < 0)
                call_fail(call, f);
        else
                call_answer(call, NULL);
}

void call_tagged(int error, const struct failure *f, struct tenant *tenant, void *userdata) {
        struct call *call = userdata;
        _cleanup_free_ char *path = NULL;
        struct failure memory;
        if (error < 0)
                call_fail(call, f);
        else if (sd_bus_path_encode(CORESCHED_TENANT_PREFIX, tenant->name, &path) < 0) {
                (void) fail(&memory, FAILURE_FAILED, -ENOMEM, "out of memory");
                call_fail(call, &memory);
        } else
                call_answer(call, path);
}

/* ---- methods ---- */

/* The tenant may be gone when polkit has answered: calls are about its name. */
static int begin(struct tenant *tenant, sd_bus_message *message, struct call **ret) {
        sd_bus *sd = sd_bus_message_get_bus(message);
        struct bus *bus = sd_bus_slot_get_userdata(sd_bus_get_current_slot(sd));
        return call_new(bus, message, tenant->name, ret);
}

static int method_verify(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        struct call *call = NULL;
        int r = begin(userdata, message, &call);
        if (r < 0)
                return r;
        call_authorize(call, ACTION_VERIFY, call_verify_one);
        return 1;
}

static void untag_authorized(struct call *call) {
        call->at_manager = true;
        manager_untag(call->bus->manager, call->name, false, false, call_done, call);
}

static int method_untag(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        struct call *call = NULL;
        int r = begin(userdata, message, &call);
        if (r < 0)
                return r;
        call_authorize(call, ACTION_MANAGE, untag_authorized);
        return 1;
}

static void set_policy_authorized(struct call *call) {
        call->at_manager = true;
        manager_set_policy(call->bus->manager, call->name, call->options.policy, call_done, call);
}

static int method_set_policy(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        _cleanup_(call_freep) struct call *call = NULL;
        const char *policy;
        int r = begin(userdata, message, &call);
        if (r >= 0)
                r = sd_bus_message_read(message, "s", &policy);
        if (r < 0)
                return r;
        call->options.policy = strdup(policy);
        if (!call->options.policy)
                return -ENOMEM;
        call_authorize(TAKE(call), ACTION_MANAGE, set_policy_authorized);
        return 1;
}

/* ---- properties ---- */

static struct bus *bus_of(sd_bus *sd) {
        return sd_bus_slot_get_userdata(sd_bus_get_current_slot(sd));
}

static int append_text(sd_bus_message *reply, const char *text) {
        _cleanup_free_ char *valid = text_for_bus(text ? text : "");
        return valid ? sd_bus_message_append(reply, "s", valid) : -ENOMEM;
}

static int get_name(sd_bus *sd, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                    void *userdata, sd_bus_error *error) {
        const struct tenant *tenant = userdata;
        return append_text(reply, tenant->name);
}

static int get_cgroups(sd_bus *sd, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                       void *userdata, sd_bus_error *error) {
        const struct tenant *tenant = userdata;
        int r = sd_bus_message_open_container(reply, 'a', "s");
        for (char **c = tenant->cgroups; r >= 0 && c && *c; c++)
                r = append_text(reply, *c);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_policy(sd_bus *sd, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                      void *userdata, sd_bus_error *error) {
        return append_text(reply, manager_policy(bus_of(sd)->manager, userdata));
}

static int get_origin(sd_bus *sd, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                      void *userdata, sd_bus_error *error) {
        const struct tenant *tenant = userdata;
        return sd_bus_message_append(reply, "s", origin_word(tenant->origin));
}

static int get_transient(sd_bus *sd, const char *path, const char *interface, const char *property,
                         sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        const struct tenant *tenant = userdata;
        return sd_bus_message_append(reply, "b", tenant->transient);
}

static int get_isolation(sd_bus *sd, const char *path, const char *interface, const char *property,
                         sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        return sd_bus_message_append(reply, "s", isolation_word(manager_isolation(bus_of(sd)->manager, userdata)));
}

static int get_state(sd_bus *sd, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                     void *userdata, sd_bus_error *error) {
        const struct tenant *tenant = userdata;
        return sd_bus_message_append(reply, "s", tenant_state_word(tenant->state));
}

static int get_state_reason(sd_bus *sd, const char *path, const char *interface, const char *property,
                            sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        const struct tenant *tenant = userdata;
        return append_text(reply, tenant->reason);
}

static int get_cookie(sd_bus *sd, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                      void *userdata, sd_bus_error *error) {
        const struct tenant *tenant = userdata;
        return sd_bus_message_append(reply, "t", tenant->cookie);
}

static int get_adopted(sd_bus *sd, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                       void *userdata, sd_bus_error *error) {
        const struct tenant *tenant = userdata;
        return sd_bus_message_append(reply, "b", tenant->adopted);
}

static int get_processes(sd_bus *sd, const char *path, const char *interface, const char *property,
                         sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        const struct tenant *tenant = userdata;
        return sd_bus_message_append(reply, "t", (uint64_t) tenant->n_processes);
}

static int get_threads(sd_bus *sd, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                       void *userdata, sd_bus_error *error) {
        const struct tenant *tenant = userdata;
        return sd_bus_message_append(reply, "t", (uint64_t) tenant->n_threads);
}

static int get_drifts(sd_bus *sd, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                      void *userdata, sd_bus_error *error) {
        const struct tenant *tenant = userdata;
        return sd_bus_message_append(reply, "t", tenant->n_drifts);
}

const sd_bus_vtable tenant_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("Verify", SD_BUS_NO_ARGS, SD_BUS_RESULT("a{sv}", result), method_verify,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Untag", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_untag, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("SetPolicy", SD_BUS_ARGS("s", policy), SD_BUS_NO_RESULT, method_set_policy,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_PROPERTY("Name", "s", get_name, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("CGroups", "as", get_cgroups, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Policy", "s", get_policy, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Origin", "s", get_origin, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Transient", "b", get_transient, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Isolation", "s", get_isolation, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("State", "s", get_state, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("StateReason", "s", get_state_reason, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Cookie", "t", get_cookie, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Adopted", "b", get_adopted, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Processes", "t", get_processes, 0, 0),
        SD_BUS_PROPERTY("Threads", "t", get_threads, 0, 0),
        SD_BUS_PROPERTY("Drifts", "t", get_drifts, 0, 0),
        SD_BUS_VTABLE_END,
};
