// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/call.h"
#include "bus/error.h"
#include <errno.h>
#include <string.h>

int call_new(struct bus *bus, sd_bus_message *message, const char *name, struct call **ret) {
        _cleanup_free_ struct call *call = calloc(1, sizeof(*call));
        if (!call)
                return -ENOMEM;
        call->name = strdup(name);
        if (!call->name)
                return -ENOMEM;
        call->bus = bus;
        call->message = sd_bus_message_ref(message);
        LIST_INSERT_HEAD(&bus->calls, call, entry);
        *ret = TAKE(call);
        return 0;
}

void call_free(struct call *call) {
        if (!call)
                return;
        if (call->bus)
                LIST_REMOVE(call, entry);
        sd_bus_slot_unref(call->question);
        sd_bus_track_unref(call->caller);
        resolution_free(call->resolution);
        sd_bus_message_unref(call->message);
        options_done(&call->options);
        free(call->name);
        free(call);
}

/* That an answer cannot be sent means that the bus is gone: the daemon ends with it, and nobody waits. */
void call_answer(struct call *call, const char *path) {
        if (call->bus)
                (void) sd_bus_reply_method_return(call->message, path ? "o" : "", path);
        call_free(call);
}

void call_refuse(struct call *call, const struct failure *f) {
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        int r = error_set(&error, f);
        (void) sd_bus_reply_method_errno(call->message, r, &error);
}

void call_fail(struct call *call, const struct failure *f) {
        if (call->bus)
                call_refuse(call, f);
        call_free(call);
}
