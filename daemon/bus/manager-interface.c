// SPDX-License-Identifier: LGPL-2.1-or-later
/* org.coresched1.Manager, as org.coresched1.Manager.xml has it. */
#include "api/names.h"
#include "bus/call.h"
#include "bus/error.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

/* ---- methods ---- */

static void tag_now(struct call *call) {
        const struct tag_request request = {
                .name = call->name,
                .cgroups = call->options.cgroups,
                .policy = call->options.policy,
                .persistent = call->options.persistent,
                .force = call->options.force,
                .transient = call->options.transient,
                .join = call->options.join,
        };
        call->at_manager = true;
        manager_tag(call->bus->manager, &request, call_tagged, call);
}

static void tag_authorized(struct call *call) {
        if (call->options.cgroups)
                tag_now(call);
        else
                call_resolve(call, tag_now);
}

static void untag_authorized(struct call *call) {
        call->at_manager = true;
        manager_untag(call->bus->manager, call->name, call->options.force, call->options.persistent, call_done, call);
}

static void reload_authorized(struct call *call) {
        struct failure f = {0};
        if (manager_reload(call->bus->manager, &f) < 0)
                call_fail(call, &f);
        else
                call_answer(call, NULL);
}

/* Reads a name and, with allowed options, the dictionary after it, and begins the call. */
static int begin(struct bus *bus, sd_bus_message *message, unsigned allowed, struct call **ret, sd_bus_error *error) {
        _cleanup_(call_freep) struct call *call = NULL;
        struct failure f = {0};
        const char *name;
        int r = sd_bus_message_read(message, "s", &name);
        if (r < 0)
                return r;
        r = call_new(bus, message, name, &call);
        if (r < 0)
                return r;
        if (allowed != 0 && options_read(message, allowed, &call->options, &f) < 0) {
                (void) error_set(error, &f);
                return -EINVAL;
        }
        *ret = TAKE(call);
        return 0;
}

/* Writing or removing configuration is the greater right, and implies the other one. */
static const char *action_for(const struct call *call) {
        return call->options.persistent ? ACTION_CONFIGURE : ACTION_MANAGE;
}

static int method_tag(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        struct call *call = NULL;
        const unsigned allowed =
                OPTION_CGROUPS | OPTION_POLICY | OPTION_PERSISTENT | OPTION_FORCE | OPTION_TRANSIENT | OPTION_JOIN;
        int r = begin(userdata, message, allowed, &call, error);
        if (r < 0)
                return r;
        call_authorize(call, action_for(call), tag_authorized);
        return 1;
}

static int method_untag(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        struct call *call = NULL;
        int r = begin(userdata, message, 0, &call, error);
        if (r < 0)
                return r;
        call_authorize(call, ACTION_MANAGE, untag_authorized);
        return 1;
}

static int method_untag_with_options(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        struct call *call = NULL;
        int r = begin(userdata, message, OPTION_PERSISTENT | OPTION_FORCE, &call, error);
        if (r < 0)
                return r;
        call_authorize(call, action_for(call), untag_authorized);
        return 1;
}

static int method_verify(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        struct call *call = NULL;
        int r = begin(userdata, message, 0, &call, error);
        if (r < 0)
                return r;
        call_authorize(call, ACTION_VERIFY, call_verify_all);
        return 1;
}

static int method_reload(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        struct call *call = NULL;
        int r = call_new(userdata, message, "", &call);
        if (r < 0)
                return r;
        call_authorize(call, ACTION_RELOAD, reload_authorized);
        return 1;
}

static int method_get_tenant(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        struct bus *bus = userdata;
        _cleanup_free_ char *path = NULL;
        const char *name;
        int r = sd_bus_message_read(message, "s", &name);
        if (r < 0)
                return r;
        if (!tenants_find(manager_tenants(bus->manager), name)) {
                struct failure f = {0};
                (void) fail(&f, FAILURE_NO_SUCH_TENANT, -ENOENT, "there is no tenant '%.255s'", name);
                return error_set(error, &f);
        }
        r = sd_bus_path_encode(CORESCHED_TENANT_PREFIX, name, &path);
        if (r < 0)
                return r;
        return sd_bus_reply_method_return(message, "o", path);
}

/* ---- properties ---- */

static int get_version(sd_bus *sd, const char *path, const char *interface, const char *property, sd_bus_message *reply,
                       void *userdata, sd_bus_error *error) {
        return sd_bus_message_append(reply, "s", CORESCHED_VERSION);
}

static int get_core_scheduling(sd_bus *sd, const char *path, const char *interface, const char *property,
                               sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        struct bus *bus = userdata;
        return sd_bus_message_append(reply, "s", core_scheduling_word(manager_core_scheduling(bus->manager)));
}

static int get_smt_control(sd_bus *sd, const char *path, const char *interface, const char *property,
                           sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        struct bus *bus = userdata;
        _cleanup_free_ char *control = NULL, *text = NULL;
        bool active;
        int r = manager_smt(bus->manager, &control, &active);
        if (r < 0)
                return r;
        text = text_for_bus(control);
        return text ? sd_bus_message_append(reply, "s", text) : -ENOMEM;
}

static int get_smt_active(sd_bus *sd, const char *path, const char *interface, const char *property,
                          sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        struct bus *bus = userdata;
        _cleanup_free_ char *control = NULL;
        bool active;
        int r = manager_smt(bus->manager, &control, &active);
        return r < 0 ? r : sd_bus_message_append(reply, "b", active);
}

static int get_default_policy(sd_bus *sd, const char *path, const char *interface, const char *property,
                              sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        struct bus *bus = userdata;
        _cleanup_free_ char *text = text_for_bus(manager_config(bus->manager)->default_policy);
        return text ? sd_bus_message_append(reply, "s", text) : -ENOMEM;
}

static bool is_policy(const struct policy *policy) {
        return true;
}

static bool has_patterns(const struct policy *policy) {
        return policy->match;
}

static bool has_active_patterns(const struct policy *policy) {
        return policy->active;
}

/* The names of those policies that are such. */
static int append_policies(sd_bus_message *reply, const struct bus *bus, bool (*is_such)(const struct policy *)) {
        const struct config *config = manager_config(bus->manager);
        int r = sd_bus_message_open_container(reply, 'a', "s");
        for (size_t i = 0; r >= 0 && i < config->n_policies; i++) {
                if (!is_such(&config->policies[i]))
                        continue;
                _cleanup_free_ char *text = text_for_bus(config->policies[i].name);
                r = text ? sd_bus_message_append(reply, "s", text) : -ENOMEM;
        }
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_policies(sd_bus *sd, const char *path, const char *interface, const char *property,
                        sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        return append_policies(reply, userdata, is_policy);
}

static int get_patterns(sd_bus *sd, const char *path, const char *interface, const char *property,
                        sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        return append_policies(reply, userdata, has_patterns);
}

static int get_active_patterns(sd_bus *sd, const char *path, const char *interface, const char *property,
                               sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        return append_policies(reply, userdata, has_active_patterns);
}

static int get_configuration_error(sd_bus *sd, const char *path, const char *interface, const char *property,
                                   sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        struct bus *bus = userdata;
        _cleanup_free_ char *text = text_for_bus(manager_config_problem(bus->manager));
        return text ? sd_bus_message_append(reply, "s", text) : -ENOMEM;
}

/* Who may call is polkit's matter (polkit.c): for sd-bus all are unprivileged. */
const sd_bus_vtable manager_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD_WITH_ARGS("Tag", SD_BUS_ARGS("s", name, "a{sv}", options), SD_BUS_RESULT("o", tenant), method_tag,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Untag", SD_BUS_ARGS("s", name), SD_BUS_NO_RESULT, method_untag,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("UntagWithOptions", SD_BUS_ARGS("s", name, "a{sv}", options), SD_BUS_NO_RESULT,
                                method_untag_with_options, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetTenant", SD_BUS_ARGS("s", name), SD_BUS_RESULT("o", tenant), method_get_tenant,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Verify", SD_BUS_ARGS("s", name), SD_BUS_RESULT("a(sa{sv})", results), method_verify,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_reload, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_SIGNAL_WITH_ARGS("Drift", SD_BUS_ARGS("s", tenant, "u", thread, "s", cause), 0),
        SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("CoreScheduling", "s", get_core_scheduling, 0, 0),
        SD_BUS_PROPERTY("SmtControl", "s", get_smt_control, 0, 0),
        SD_BUS_PROPERTY("SmtActive", "b", get_smt_active, 0, 0),
        SD_BUS_PROPERTY("DefaultPolicy", "s", get_default_policy, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("ConfigurationError", "s", get_configuration_error, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Policies", "as", get_policies, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Patterns", "as", get_patterns, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("ActivePatterns", "as", get_active_patterns, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_VTABLE_END,
};
