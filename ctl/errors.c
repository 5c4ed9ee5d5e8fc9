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
        {CORESCHED_ERROR_PREFIX "NoSuchTenant", STATUS_NO_TENANT, "there is no such tenant", NULL},
        {CORESCHED_ERROR_PREFIX, STATUS_FAILED, NULL, NULL}, /* says what to do itself */

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

/* What may have been meant by the name of no tenant. */
static struct hint hint_at_tenant(sd_bus *bus, const char *name) {
        _cleanup_json_ json_object *tenants = NULL;
        _cleanup_strv_ char **names = NULL;
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        struct hint none = {"; 'coreschedctl list' shows those there are"};
        if (client_get_tenants(bus, &error, &tenants) < 0)
                return none;
        for (size_t i = 0; i < json_object_array_length(tenants); i++)
                if (strv_extend(&names, json_text(json_object_array_get_idx(tenants, i), "Name")) < 0)
                        return none;
        return names ? nearest_hint(name, (const char *const *) names) : none;
}

int client_failed(sd_bus *bus, const sd_bus_error *error, int r, const char *doing, const char *name) {
        _cleanup_error_ sd_bus_error local = SD_BUS_ERROR_NULL;
        if (!sd_bus_error_is_set(error)) {
                sd_bus_error_set_errno(&local, r);
                error = &local;
        }
        const struct known *k = find(error->name);
        const char *text = k->text ? k->text : error->message ? error->message : error->name;
        struct hint advice = {0};
        if (k->status == STATUS_NO_TENANT && name)
                advice = hint_at_tenant(bus, name);
        else if (k->advice)
                snprintf(advice.text, sizeof(advice.text), "; %s", k->advice);
        size_t length = strlen(text);
        if (length > 0 && text[length - 1] == '.' && advice.text[0])
                length--; /* the line goes on */
        if (name)
                complain("cannot %s '%s': %.*s%s", doing, name, (int) length, text, advice.text);
        else
                complain("cannot %s: %.*s%s", doing, (int) length, text, advice.text);
        return k->status;
}
