// SPDX-License-Identifier: LGPL-2.1-or-later
/* Answers to Verify. */
#include "bus/call.h"
#include "bus/error.h"
#include <errno.h>
#include <string.h>

static int append_finding(sd_bus_message *reply, const struct verdict *verdict) {
        const char *error = verdict->error < 0 ? strerrorname_np(-verdict->error) : "";
        return sd_bus_message_append(reply, "(utss)", (uint32_t) verdict->tid, verdict->cookie,
                                     finding_word(verdict->finding), error ? error : "unknown");
}

static int append_findings(sd_bus_message *reply, const struct verification *v) {
        int r = sd_bus_message_open_container(reply, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append(reply, "s", "Findings");
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'v', "a(utss)");
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "(utss)");
        for (size_t i = 0; r >= 0 && i < v->n_kept; i++)
                r = append_finding(reply, &v->bad[i]);
        for (int closing = 0; r >= 0 && closing < 3; closing++)
                r = sd_bus_message_close_container(reply);
        return r;
}

static int append_result(sd_bus_message *reply, const struct verification *v) {
        _cleanup_free_ char *reason = text_for_bus(v->tenant->reason ? v->tenant->reason : "");
        if (!reason)
                return -ENOMEM;
        int r = sd_bus_message_open_container(reply, 'a', "{sv}");
        if (r >= 0)
                r = sd_bus_message_append(reply, "{sv}{sv}{sv}{sv}{sv}{sv}", "State", "s",
                                          tenant_state_word(v->tenant->state), "StateReason", "s", reason, "Cookie",
                                          "t", v->tenant->cookie, "Threads", "t", (uint64_t) v->n_threads, "Bad", "t",
                                          (uint64_t) v->n_bad, "Outside", "t", (uint64_t) v->n_outside);
        if (r >= 0)
                r = append_findings(reply, v);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int append_results(sd_bus_message *reply, const struct verification *verifications, size_t n) {
        int r = sd_bus_message_open_container(reply, 'a', "(sa{sv})");
        for (size_t i = 0; r >= 0 && i < n; i++) {
                _cleanup_free_ char *name = text_for_bus(verifications[i].tenant->name);
                r = !name ? -ENOMEM : sd_bus_message_open_container(reply, 'r', "sa{sv}");
                if (r >= 0)
                        r = sd_bus_message_append(reply, "s", name);
                if (r >= 0)
                        r = append_result(reply, &verifications[i]);
                if (r >= 0)
                        r = sd_bus_message_close_container(reply);
        }
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static void answer(struct call *call, int error, const struct failure *f, const struct verification *verifications,
                   size_t n, bool one) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        struct failure failed;
        if (error < 0) {
                call_fail(call, f);
                return;
        }
        int r = sd_bus_message_new_method_return(call->message, &reply);
        if (r >= 0)
                r = one ? append_result(reply, verifications) : append_results(reply, verifications, n);
        if (r < 0) {
                (void) fail(&failed, FAILURE_FAILED, r, "the result cannot be sent: %s", strerror(-r));
                call_fail(call, &failed);
                return;
        }
        if (call->bus)
                (void) sd_bus_message_send(reply);
        call_free(call);
}

static void verified_all(int error, const struct failure *f, const struct verification *verifications, size_t n,
                         void *userdata) {
        answer(userdata, error, f, verifications, n, false);
}

static void verified_one(int error, const struct failure *f, const struct verification *verifications, size_t n,
                         void *userdata) {
        answer(userdata, error, f, verifications, n, true);
}

void call_verify_all(struct call *call) {
        call->at_manager = true;
        manager_verify(call->bus->manager, *call->name ? call->name : NULL, verified_all, call);
}

void call_verify_one(struct call *call) {
        call->at_manager = true;
        manager_verify(call->bus->manager, call->name, verified_one, call);
}
