// SPDX-License-Identifier: LGPL-2.1-or-later
#include "client.h"
#include "api/names.h"
#include "text.h"
#include <errno.h>
#include <string.h>

static int open_connection(const struct options *options, sd_bus **ret) {
        int r = options->host      ? sd_bus_open_system_remote(ret, options->host)
                : options->machine ? sd_bus_open_system_machine(ret, options->machine)
                                   : sd_bus_open_system(ret);
        if (r >= 0)
                return STATUS_GOOD;
        if (options->host)
                complain("cannot reach host '%s': %s; it is given as [USER@]HOST[:PORT]", options->host, strerror(-r));
        else if (options->machine)
                complain("cannot reach the system bus of machine '%s': %s; 'machinectl list' shows the machines",
                         options->machine, strerror(-r));
        else
                complain("cannot reach the system bus: %s; 'systemctl start dbus.socket' starts it", strerror(-r));
        return STATUS_FAILED;
}

int client_open(const struct options *options, bool patient, sd_bus **ret) {
        _cleanup_bus_ sd_bus *bus = NULL;
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_free_ char *version = NULL;
        int r = open_connection(options, &bus);
        if (r != STATUS_GOOD)
                return r;

        r = sd_bus_get_property_string(bus, CORESCHED_BUS_NAME, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, "Version",
                                       &error, &version);
        if (r < 0 && options->host && !sd_bus_is_ready(bus)) {
                complain("cannot reach host '%s': %s; 'ssh %s systemd-stdio-bridge' has to work", options->host,
                         strerror(-r), options->host);
                return STATUS_FAILED;
        }
        if (r < 0)
                return client_failed(bus, &error, r, "reach coreschedd", NULL);
        if (patient) {
                r = sd_bus_set_method_call_timeout(bus, USEC_INFINITY);
                if (r >= 0)
                        r = sd_bus_set_allow_interactive_authorization(bus, options->ask_password);
                if (r < 0)
                        return client_failed(bus, NULL, r, "prepare the connection", NULL);
        }
        *ret = TAKE(bus);
        return STATUS_GOOD;
}

int client_properties(sd_bus *bus, const char *path, const char *interface, sd_bus_error *error, json_object **ret) {
        _cleanup_message_ sd_bus_message *reply = NULL;
        int r = sd_bus_call_method(bus, CORESCHED_BUS_NAME, path, "org.freedesktop.DBus.Properties", "GetAll", error,
                                   &reply, "s", interface);
        if (r >= 0)
                r = json_read(reply, ret);
        return r < 0 ? sd_bus_error_set_errno(error, r) : 0;
}

int client_tenant(sd_bus *bus, const char *doing, const char *name, json_object **ret) {
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_message_ sd_bus_message *reply = NULL;
        const char *path;
        int r = sd_bus_call_method(bus, CORESCHED_BUS_NAME, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, "GetTenant",
                                   &error, &reply, "s", name);
        if (r >= 0)
                r = sd_bus_message_read(reply, "o", &path);
        if (r >= 0)
                r = client_properties(bus, path, CORESCHED_TENANT_INTERFACE, &error, ret);
        return r < 0 ? client_failed(bus, &error, r, doing, name) : STATUS_GOOD;
}

static int by_name(const void *a, const void *b) {
        return strcmp(json_text(*(json_object *const *) a, "Name"), json_text(*(json_object *const *) b, "Name"));
}

int client_get_tenants(sd_bus *bus, sd_bus_error *error, json_object **ret) {
        _cleanup_message_ sd_bus_message *reply = NULL;
        _cleanup_json_ json_object *objects = NULL, *tenants = NULL;
        int r = sd_bus_call_method(bus, CORESCHED_BUS_NAME, CORESCHED_PATH, "org.freedesktop.DBus.ObjectManager",
                                   "GetManagedObjects", error, &reply, "");
        if (r >= 0)
                r = json_read(reply, &objects);
        if (r < 0)
                return r;
        tenants = json_object_new_array();
        if (!tenants)
                return -ENOMEM;
        struct json_object_iterator path = json_object_iter_begin(objects), end = json_object_iter_end(objects);
        for (; !json_object_iter_equal(&path, &end); json_object_iter_next(&path)) {
                json_object *tenant;
                if (!json_object_object_get_ex(json_object_iter_peek_value(&path), CORESCHED_TENANT_INTERFACE, &tenant))
                        continue;
                r = json_append(tenants, json_object_get(tenant));
                if (r < 0)
                        return r;
        }
        json_object_array_sort(tenants, by_name);
        *ret = TAKE(tenants);
        return 0;
}

int client_tenants(sd_bus *bus, const char *doing, json_object **ret) {
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        int r = client_get_tenants(bus, &error, ret);
        return r < 0 ? client_failed(bus, &error, r, doing, NULL) : STATUS_GOOD;
}
