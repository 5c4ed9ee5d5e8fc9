// SPDX-License-Identifier: LGPL-2.1-or-later
/* Who may: root, and whom polkit allows. Whatever is not a clear yes is a no. */
#include "bus/call.h"
#include <errno.h>
#include <string.h>

#define PASSWORD_USEC (300 * USEC_PER_SEC) /* time that a person has to type one */

/* So many callers can wait for polkit at once: those that are no root cannot fill the daemon's memory. */
#define WAITING_MAX            256
#define WAITING_MAX_PER_CALLER 32

static void refuse(struct call *call, const char *why) {
        struct failure f;
        (void) fail(&f, FAILURE_NOT_PERMITTED, -EACCES, "%s: run as root, or allow action %s in polkit", why,
                    call->action);
        call_fail(call, &f);
}

static void refuse_without_password(struct call *call) {
        (void) sd_bus_reply_method_errorf(call->message, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
                                          "action %s needs a password, and the caller does not let polkit ask for it",
                                          call->action);
        call_free(call);
}

static int polkit_answered(sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        struct call *call = userdata;
        const sd_bus_error *failed = sd_bus_message_get_error(reply);
        int allowed = 0, challenge = 0;
        if (failed) {
                bool absent =
                        sd_bus_error_has_names(failed, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
                refuse(call, absent ? "polkit is not running" : "polkit gave no answer");
                return 1;
        }
        int r = sd_bus_message_enter_container(reply, 'r', "bba{ss}");
        if (r >= 0)
                r = sd_bus_message_read(reply, "bb", &allowed, &challenge);
        if (r < 0)
                refuse(call, "polkit gave no answer");
        else if (allowed) {
                call->question = sd_bus_slot_unref(call->question);
                call->caller = sd_bus_track_unref(call->caller);
                call->go(call);
        } else if (challenge && sd_bus_message_get_allow_interactive_authorization(call->message) <= 0)
                refuse_without_password(call);
        else
                refuse(call, "not permitted");
        return 1;
}

/* Nobody is left who could be permitted anything. */
static int caller_left(sd_bus_track *track, void *userdata) {
        call_free(userdata);
        return 1;
}

/* Asks the bus, but for a caller that was root the last time: a unique name stands for one connection for ever, and a
 * connection for the user who made it. */
static bool is_root(const struct call *call) {
        _cleanup_(sd_bus_creds_unrefp) sd_bus_creds *creds = NULL;
        const char *sender = sd_bus_message_get_sender(call->message);
        uid_t uid;
        if (call->bus->root && strcmp(call->bus->root, sender) == 0)
                return true;
        if (sd_bus_query_sender_creds(call->message, SD_BUS_CREDS_EUID, &creds) < 0 ||
            sd_bus_creds_get_euid(creds, &uid) < 0 || uid != 0)
                return false;
        free(call->bus->root);
        call->bus->root = strdup(sender); /* or NULL: it is asked again */
        return true;
}

static bool too_many(const struct call *call) {
        const char *sender = sd_bus_message_get_sender(call->message);
        size_t all = 0, same = 0;
        const struct call *other;
        LIST_FOREACH(other, &call->bus->calls, entry) {
                if (!other->question)
                        continue;
                all++;
                same += strcmp(sd_bus_message_get_sender(other->message), sender) == 0;
        }
        return all >= WAITING_MAX || same >= WAITING_MAX_PER_CALLER;
}

static int ask(struct call *call) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *question = NULL;
        sd_bus *sd = call->bus->bus;
        bool interactive = sd_bus_message_get_allow_interactive_authorization(call->message) > 0;
        int r = sd_bus_track_new(sd, &call->caller, caller_left, call);
        if (r >= 0)
                r = sd_bus_track_add_sender(call->caller, call->message);
        if (r >= 0)
                r = sd_bus_message_new_method_call(sd, &question, "org.freedesktop.PolicyKit1",
                                                   "/org/freedesktop/PolicyKit1/Authority",
                                                   "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization");
        if (r >= 0)
                r = sd_bus_message_append(question, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
                                          sd_bus_message_get_sender(call->message), call->action, 0,
                                          (uint32_t) interactive, "");
        if (r >= 0)
                r = sd_bus_call_async(sd, &call->question, question, polkit_answered, call,
                                      interactive ? PASSWORD_USEC : 0);
        return r;
}

void call_authorize(struct call *call, const char *action, void (*go)(struct call *call)) {
        call->action = action;
        call->go = go;
        if (is_root(call))
                go(call);
        else if (too_many(call)) {
                struct failure f;
                (void) fail(&f, FAILURE_BUSY, -EBUSY, "too many calls wait for polkit's answer");
                call_fail(call, &f);
        } else if (ask(call) < 0)
                refuse(call, "polkit cannot be asked");
}
