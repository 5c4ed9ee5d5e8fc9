// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl tag: makes tenants, or tags them again, and says what came of it. */
#include "api/names.h"
#include "client.h"
#include "output.h"
#include "text.h"
#include "view.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* As bytes: paths of cgroups need not be UTF-8, which strings have to be. */
static int append_cgroups(sd_bus_message *m, char *const *cgroups) {
        int r = sd_bus_message_open_container(m, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", "CGroups");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'v', "aay");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "ay");
        for (; r >= 0 && *cgroups; cgroups++)
                r = sd_bus_message_append_array(m, 'y', *cgroups, strlen(*cgroups));
        for (int containers = 3; r >= 0 && containers > 0; containers--)
                r = sd_bus_message_close_container(m);
        return r;
}

static int append_options(sd_bus_message *m, const struct options *options) {
        int r = sd_bus_message_open_container(m, 'a', "{sv}");
        if (r >= 0 && options->cgroups)
                r = append_cgroups(m, options->cgroups);
        if (r >= 0 && options->policy)
                r = sd_bus_message_append(m, "{sv}", "Policy", "s", options->policy);
        if (r >= 0 && options->persistent)
                r = sd_bus_message_append(m, "{sv}", "Persistent", "b", true);
        if (r >= 0 && options->force)
                r = sd_bus_message_append(m, "{sv}", "Force", "b", true);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

/* Tags one tenant and gives its properties; a status. */
static int tag(sd_bus *bus, const struct options *options, const char *name, json_object **ret) {
        _cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        const char *path;
        int r = sd_bus_message_new_method_call(bus, &call, CORESCHED_BUS_NAME, CORESCHED_PATH,
                                               CORESCHED_MANAGER_INTERFACE, "Tag");
        if (r >= 0)
                r = sd_bus_message_append(call, "s", name);
        if (r >= 0)
                r = append_options(call, options);
        if (r >= 0)
                r = sd_bus_call(bus, call, 0, &error, &reply);
        if (r >= 0)
                r = sd_bus_message_read(reply, "o", &path);
        if (r >= 0)
                r = client_properties(bus, path, CORESCHED_TENANT_INTERFACE, &error, ret);
        return r < 0 ? client_failed(bus, &error, r, "tag", name) : STATUS_GOOD;
}

static void print(const struct options *options, json_object *tenant) {
        const char *state = json_text(tenant, "State"), *reason = view_reason(tenant);
        uint64_t processes = json_number(tenant, "Processes"), threads = json_number(tenant, "Threads");
        enum colour colour = view_state_colour(state);
        _cleanup_free_ char *name = text_printable(json_text(tenant, "Name"));
        _cleanup_free_ char *policy = text_printable(json_text(tenant, "Policy"));
        _cleanup_free_ char *why = text_printable(reason);
        printf("%s: %s%s%s (%" PRIu64 " %s, %" PRIu64 " %s, policy %s)%s%s\n", name ? name : "",
               colour_begin(options->colour, colour), state, colour_end(options->colour, colour), processes,
               plural(processes, "process", "processes"), threads, plural(threads, "thread", "threads"),
               policy ? policy : "", reason[0] ? ": " : "", why ? why : "");
        fflush(stdout);
}

int verb_tag(sd_bus *bus, const struct options *options, char **names) {
        _cleanup_json_ json_object *tenants = json_object_new_array();
        int status = STATUS_GOOD;
        if (!tenants)
                return client_failed(bus, NULL, -ENOMEM, "tag", *names);
        for (; *names; names++) {
                json_object *tenant = NULL;
                int r = tag(bus, options, *names, &tenant);
                status = status_worse(status, r);
                if (r != STATUS_GOOD)
                        continue;
                status = status_worse(status, view_state_status(json_text(tenant, "State")));
                if (options->json == JSON_OFF && !options->quiet)
                        print(options, tenant);
                r = json_append(tenants, tenant);
                if (r < 0)
                        return client_failed(bus, NULL, r, "show", *names);
        }
        if (options->json != JSON_OFF)
                output_json(options, tenants);
        return status;
}
