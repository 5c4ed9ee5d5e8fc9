// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl list: the tenants, a line each. */
#include "client.h"
#include "output.h"
#include "text.h"
#include "view.h"
#include <errno.h>
#include <inttypes.h>

static const struct column columns[] = {
        {"TENANT", false}, {"STATE", false},  {"POLICY", false}, {"PROCESSES", true},
        {"THREADS", true}, {"COOKIE", false}, {"ORIGIN", false}, {"REASON", false},
};

static int add(struct table *table, json_object *tenant) {
        char processes[24], threads[24], cookie[COOKIE_TEXT_MAX];
        snprintf(processes, sizeof(processes), "%" PRIu64, json_number(tenant, "Processes"));
        snprintf(threads, sizeof(threads), "%" PRIu64, json_number(tenant, "Threads"));
        const char *state = json_text(tenant, "State");
        const char *texts[] = {json_text(tenant, "Name"),
                               state,
                               json_text(tenant, "Policy"),
                               processes,
                               threads,
                               view_cookie(json_number(tenant, "Cookie"), cookie),
                               json_text(tenant, "Origin"),
                               view_reason(tenant)};
        return table_add(table, texts, 1, view_state_colour(state));
}

static int print(const struct options *options, json_object *tenants) {
        _cleanup_(table_done) struct table table = {.columns = columns, .n_columns = ELEMENTS(columns)};
        size_t n = json_object_array_length(tenants);
        for (size_t i = 0; i < n; i++) {
                int r = add(&table, json_object_array_get_idx(tenants, i));
                if (r < 0)
                        return r;
        }
        output_page(options);
        table_print(&table, stdout, options->legend && n > 0, options->colour);
        if (options->legend)
                printf("%s%zu %s.\n", n > 0 ? "\n" : "", n, plural(n, "tenant", "tenants"));
        return 0;
}

int verb_list(sd_bus *bus, const struct options *options, char **names) {
        _cleanup_json_ json_object *tenants = NULL;
        int r = client_tenants(bus, "list the tenants", &tenants);
        if (r != STATUS_GOOD)
                return r;
        if (options->json != JSON_OFF) {
                output_json(options, tenants);
        } else if (options->quiet) {
                for (size_t i = 0; i < json_object_array_length(tenants); i++)
                        puts(json_text(json_object_array_get_idx(tenants, i), "Name"));
        } else {
                r = print(options, tenants);
                if (r < 0)
                        return client_failed(bus, NULL, r, "list the tenants", NULL);
        }
        return STATUS_GOOD;
}
