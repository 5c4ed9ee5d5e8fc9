// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl show: all properties of tenants, or of the daemon, for programs to read. */
#include "api/names.h"
#include "client.h"
#include "output.h"
#include "text.h"
#include <errno.h>

static int print(json_object *properties) {
        json_object_object_foreach(properties, key, value) {
                _cleanup_free_ char *words = NULL, *shown = NULL;
                if (json_object_is_type(value, json_type_array)) {
                        words = json_words(value);
                        if (!words)
                                return -ENOMEM;
                }
                shown = text_printable(words ? words : json_object_get_string(value));
                if (!shown)
                        return -ENOMEM;
                printf("%s=%s\n", key, shown);
        }
        return 0;
}

static int show_manager(sd_bus *bus, const struct options *options) {
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_json_ json_object *properties = NULL;
        int r = client_properties(bus, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, &error, &properties);
        if (r < 0)
                return client_failed(bus, &error, r, "show the daemon's properties", NULL);
        output_page(options);
        if (options->json != JSON_OFF)
                output_json(options, properties);
        else
                r = print(properties);
        return r < 0 ? client_failed(bus, NULL, r, "show the daemon's properties", NULL) : STATUS_GOOD;
}

int verb_show(sd_bus *bus, const struct options *options, char **names) {
        if (!names[0])
                return show_manager(bus, options);

        _cleanup_json_ json_object *tenants = json_object_new_array();
        int status = STATUS_GOOD, r = tenants ? 0 : -ENOMEM;
        for (; *names && r >= 0; names++) {
                json_object *tenant;
                int one = client_tenant(bus, "show", *names, &tenant);
                status = status_worse(status, one);
                if (one == STATUS_GOOD)
                        r = json_append(tenants, tenant);
        }
        if (r >= 0) {
                output_page(options);
                if (options->json != JSON_OFF)
                        output_json(options, tenants);
                else
                        for (size_t i = 0; i < json_object_array_length(tenants) && r >= 0; i++) {
                                if (i > 0)
                                        putchar('\n');
                                r = print(json_object_array_get_idx(tenants, i));
                        }
        }
        return r < 0 ? client_failed(bus, NULL, r, "show the tenants", NULL) : status;
}
