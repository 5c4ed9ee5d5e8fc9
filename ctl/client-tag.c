// SPDX-License-Identifier: LGPL-2.1-or-later
/* The call that makes a tenant, for the verbs that do: tag, run, oci-hook. */
#include "api/names.h"
#include "client.h"
#include <string.h>

#define BUSY_TRIES 50
#define BUSY_PAUSE (100 * USEC_PER_MSEC)

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
        if (r >= 0 && options->transient)
                r = sd_bus_message_append(m, "{sv}", "Transient", "b", true);
        if (r >= 0 && options->join)
                r = sd_bus_message_append(m, "{sv}", "Join", "b", true);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

/* One call; negative errno with error set. */
static int call_tag(sd_bus *bus, const struct options *options, const char *name, sd_bus_error *error,
                    json_object **ret) {
        _cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
        const char *path;
        int r = sd_bus_message_new_method_call(bus, &call, CORESCHED_BUS_NAME, CORESCHED_PATH,
                                               CORESCHED_MANAGER_INTERFACE, "Tag");
        if (r >= 0)
                r = sd_bus_message_append(call, "s", name);
        if (r >= 0)
                r = append_options(call, options);
        if (r >= 0)
                r = sd_bus_call(bus, call, 0, error, &reply);
        if (r >= 0)
                r = sd_bus_message_read(reply, "o", &path);
        return r < 0 ? r : client_properties(bus, path, CORESCHED_TENANT_INTERFACE, error, ret);
}

int client_tag(sd_bus *bus, const struct options *options, const char *name, json_object **ret) {
        for (unsigned i = 0;; i++) {
                _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
                int r = call_tag(bus, options, name, &error, ret);
                if (r >= 0)
                        return STATUS_GOOD;
                /* A transient tenant of this name may just be ending. */
                if (!options->transient || !sd_bus_error_has_name(&error, CORESCHED_ERROR_PREFIX "Busy") ||
                    i == BUSY_TRIES)
                        return client_failed(bus, &error, r, "tag", name);
                usleep(BUSY_PAUSE);
        }
}
