// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl reload: the daemon reads its configuration again. */
#include "api/names.h"
#include "client.h"

int verb_reload(sd_bus *bus, const struct options *options, char **names) {
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        int r = sd_bus_call_method(bus, CORESCHED_BUS_NAME, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, "Reload",
                                   &error, NULL, "");
        return r < 0 ? client_failed(bus, &error, r, "reload the configuration", NULL) : STATUS_GOOD;
}
