// SPDX-License-Identifier: LGPL-2.1-or-later
/* Every error that a call can end with: which status, and what a person can do. What was wrong, the daemon says itself
 * in the message of its errors. */
#include "api/names.h"
#include "client.h"
#include "nearest.h"
#include "strv.h"
#include "text.h"
#include <errno.h>
#include <string.h>

#define BUS "org.freedesktop.DBus.Error."

static const struct known {
        const char *error; /* the first that it begins with counts */
        int status;
        const char *text; /* NULL: the error's message */
        const char *advice;
} known[] = {
        {CORESCHED_ERROR_PREFIX "NoSuchTenant", STATUS_NO_TENANT, "there is no such tenant",
         "'coreschedctl list' shows those there are"},
        {CORESCHED_ERROR_PREFIX "TenantExists", STATUS_FAILED, NULL,
         "'coreschedctl show' tells whose cgroups are whose"},
        {CORESCHED_ERROR_PREFIX "AmbiguousName", STATUS_FAILED, NULL, "name the cgroup that is meant with --cgroup="},
        {CORESCHED_ERROR_PREFIX "NoSuchCGroup", STATUS_FAILED, NULL,
         "--cgroup= names cgroups, also ones that are yet to come"},
        {CORESCHED_ERROR_PREFIX "InvalidPolicy", STATUS_FAILED, NULL, "'coreschedctl policy' lists the policies"},
        {CORESCHED_ERROR_PREFIX "InvalidConfig", STATUS_FAILED, NULL, "the configuration stays as it was"},
        {CORESCHED_ERROR_PREFIX "NotSupported", STATUS_FAILED, NULL,
         "'coreschedctl status' tells what is missing; with --force the tenant is listed as exposed"},
        {CORESCHED_ERROR_PREFIX "NotPermitted", STATUS_FAILED, NULL, "root may"},
        {CORESCHED_ERROR_PREFIX "Busy", STATUS_FAILED, NULL, "try again when the other call has ended"},
        {CORESCHED_ERROR_PREFIX "Failed", STATUS_FAILED, NULL, "'journalctl -u coreschedd' may tell more"},
        {CORESCHED_ERROR_PREFIX, STATUS_FAILED, NULL, NULL},

        {BUS "InteractiveAuthorizationRequired", STATUS_FAILED, "a password is needed",
         "try again on a terminal, without --no-ask-password, or as root"},
        {BUS "AccessDenied", STATUS_FAILED, "access denied", "root may, and whom polkit allows it"},
        {BUS "ServiceUnknown", STATUS_NOT_ENFORCED, "it does not run, and the bus cannot start it",
         "is it installed? 'systemctl start coreschedd' starts it"},
        {BUS "NameHasNoOwner", STATUS_NOT_ENFORCED, "it does not run, and the bus could not start it",
         "'systemctl status coreschedd' tells why"},
        {BUS "Spawn.", STATUS_NOT_ENFORCED, NULL, "'systemctl status coreschedd' tells why it does not start"},
        {"org.freedesktop.systemd1.", STATUS_NOT_ENFORCED, NULL,
         "'systemctl status coreschedd' tells why it does not start"},
        {BUS "TimedOut", STATUS_FAILED, "coreschedd did not answer in time",
         "'systemctl status coreschedd' tells more"},
        {BUS "NoReply", STATUS_FAILED, "coreschedd ended, or did not answer", "'journalctl -u coreschedd' tells more"},
        {BUS "Disconnected", STATUS_FAILED, "the connection to the bus broke", "try again"},
        {BUS "Unknown", STATUS_FAILED, NULL,
         "coreschedd is of another version than coreschedctl: 'systemctl restart coreschedd' after an upgrade"},
        {BUS "NoMemory", STATUS_FAILED, "out of memory", "try again when there is more"},
};

static const struct known *find(const char *name) {
        static const struct known other = {NULL, STATUS_FAILED, NULL, "'journalctl -u coreschedd' may tell more"};
        for (size_t i = 0; name && i < ELEMENTS(known); i++)
                if (strncmp(name, known[i].error, strlen(known[i].error)) == 0)
                        return known + i;
        return &other;
}

/* The tenant that `name` may be a slip for; newly allocated, NULL when there is none. */
static char *nearest_tenant(sd_bus *bus, const char *name) {
        _cleanup_json_ json_object *tenants = NULL;
        _cleanup_strv_ char **names = NULL;
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        if (client_get_tenants(bus, &error, &tenants) < 0)
                return NULL;
        for (size_t i = 0; i < json_object_array_length(tenants); i++)
                if (strv_extend(&names, json_text(json_object_array_get_idx(tenants, i), "Name")) < 0)
                        return NULL;
        const char *nearest = names ? nearest_word(name, (const char *const *) names) : NULL;
        return nearest ? strdup(nearest) : NULL;
}

int client_failed(sd_bus *bus, const sd_bus_error *error, int r, const char *doing, const char *name) {
        _cleanup_error_ sd_bus_error local = SD_BUS_ERROR_NULL;
        if (!sd_bus_error_is_set(error)) {
                sd_bus_error_set_errno(&local, r);
                error = &local;
        }
        const struct known *k = find(error->name);
        _cleanup_free_ char *nearest = k->status == STATUS_NO_TENANT && name ? nearest_tenant(bus, name) : NULL;
        const char *quote = name ? "'" : "", *text = k->text ? k->text : error->message ? error->message : error->name;
        if (nearest)
                complain("cannot %s '%s': %s; did you mean '%s'?", doing, name, text, nearest);
        else
                complain("cannot %s%s%s%s%s: %s%s%s", doing, name ? " " : "", quote, name ? name : "", quote, text,
                         k->advice ? "; " : "", k->advice ? k->advice : "");
        return k->status;
}
