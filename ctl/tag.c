// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl tag: makes tenants, or tags them again, and says what came of it. */
#include "client.h"
#include "output.h"
#include "text.h"
#include "view.h"
#include <errno.h>
#include <inttypes.h>

static void print(const struct options *options, json_object *tenant) {
        const char *state = json_text(tenant, "State"), *reason = view_reason(tenant);
        uint64_t processes = json_number(tenant, "Processes"), threads = json_number(tenant, "Threads");
        enum colour colour = view_state_colour(state);
        _cleanup_free_ char *name = text_printable(json_text(tenant, "Name"));
        _cleanup_free_ char *policy = text_printable(json_text(tenant, "Policy"));
        _cleanup_free_ char *why = text_printable(reason);
        printf("%s: %s%s%s (%" PRIu64 " %s, %" PRIu64 " %s, policy %s)%s%s\n", name ? name : "",
               colour_begin(options->colour, colour), state, colour_end(options->colour, colour), processes,
               plural(processes, "process", "processes"), threads, plural(threads, "thread", "threads"),
               policy ? policy : "", reason[0] ? ": " : "", why ? why : "");
        fflush(stdout);
}

int verb_tag(sd_bus *bus, const struct options *options, char **names) {
        _cleanup_json_ json_object *tenants = json_object_new_array();
        int status = STATUS_GOOD;
        if (!tenants)
                return client_failed(bus, NULL, -ENOMEM, "tag", *names);
        for (; *names; names++) {
                json_object *tenant = NULL;
                int r = client_tag(bus, options, *names, &tenant);
                status = status_worse(status, r);
                if (r != STATUS_GOOD)
                        continue;
                status = status_worse(status, view_state_status(json_text(tenant, "State")));
                if (options->json == JSON_OFF && !options->quiet)
                        print(options, tenant);
                r = json_append(tenants, tenant);
                if (r < 0)
                        return client_failed(bus, NULL, r, "show", *names);
        }
        if (options->json != JSON_OFF)
                output_json(options, tenants);
        return status;
}
