// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl untag: gives the tasks of tenants cookie 0 back and forgets the tenants. */
#include "api/names.h"
#include "client.h"

static int untag(sd_bus *bus, const struct options *options, const char *name) {
        _cleanup_message_ sd_bus_message *call = NULL;
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        int r = sd_bus_message_new_method_call(bus, &call, CORESCHED_BUS_NAME, CORESCHED_PATH,
                                               CORESCHED_MANAGER_INTERFACE, "UntagWithOptions");
        if (r >= 0)
                r = sd_bus_message_append(call, "s", name);
        if (r >= 0)
                r = sd_bus_message_open_container(call, 'a', "{sv}");
        if (r >= 0 && options->persistent)
                r = sd_bus_message_append(call, "{sv}", "Persistent", "b", true);
        if (r >= 0 && options->force)
                r = sd_bus_message_append(call, "{sv}", "Force", "b", true);
        if (r >= 0)
                r = sd_bus_message_close_container(call);
        if (r >= 0)
                r = sd_bus_call(bus, call, 0, &error, NULL);
        return r < 0 ? client_failed(bus, &error, r, "untag", name) : STATUS_GOOD;
}

int verb_untag(sd_bus *bus, const struct options *options, char **names) {
        _cleanup_json_ json_object *tenants = NULL;
        int status = STATUS_GOOD;
        if (options->all) {
                status = client_tenants(bus, "untag the tenants", &tenants);
                if (status != STATUS_GOOD)
                        return status;
                for (size_t i = 0; i < json_object_array_length(tenants); i++)
                        status = status_worse(
                                status, untag(bus, options, json_text(json_object_array_get_idx(tenants, i), "Name")));
        }
        for (; *names; names++)
                status = status_worse(status, untag(bus, options, *names));
        return status;
}
