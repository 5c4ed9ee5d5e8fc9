// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl policy: the policies that a tenant can have. */
#include "api/names.h"
#include "client.h"
#include "output.h"
#include "table.h"
#include "view.h"
#include <errno.h>
#include <string.h>

static const struct column columns[] = {{"POLICY", false}, {"DEFAULT", false}, {"PATTERNS", false}};

static bool names(json_object *manager, const char *property, const char *name) {
        json_object *array = json_array(manager, property);
        for (size_t i = 0; array && i < json_object_array_length(array); i++)
                if (strcmp(json_object_get_string(json_object_array_get_idx(array, i)), name) == 0)
                        return true;
        return false;
}

static const char *patterns_word(json_object *manager, const char *name) {
        return names(manager, "ActivePatterns", name) ? "active"
               : names(manager, "Patterns", name)     ? "inactive"
                                                      : "none";
}

/* [{"Name": ..., "Default": ..., "Patterns": ...}, ...] */
static int describe(json_object *manager, json_object *policies) {
        json_object *all = json_array(manager, "Policies");
        for (size_t i = 0; all && i < json_object_array_length(all); i++) {
                const char *name = json_object_get_string(json_object_array_get_idx(all, i));
                json_object *policy = json_object_new_object();
                int r = json_append(policies, policy);
                if (r >= 0)
                        r = json_put(policy, "Name", json_object_new_string(name));
                if (r >= 0)
                        r = json_put(policy, "Default",
                                     json_object_new_boolean(strcmp(name, json_text(manager, "DefaultPolicy")) == 0));
                if (r >= 0)
                        r = json_put(policy, "Patterns", json_object_new_string(patterns_word(manager, name)));
                if (r < 0)
                        return r;
        }
        return 0;
}

static int print(const struct options *options, json_object *policies) {
        _cleanup_(table_done) struct table table = {.columns = columns, .n_columns = ELEMENTS(columns)};
        for (size_t i = 0; i < json_object_array_length(policies); i++) {
                json_object *policy = json_object_array_get_idx(policies, i);
                const char *name = json_text(policy, "Name"), *patterns = json_text(policy, "Patterns");
                const char *texts[] = {name, json_truth(policy, "Default") ? "yes" : "no",
                                       strcmp(patterns, "none") == 0 ? "" : patterns};
                if (options->quiet)
                        puts(name);
                int r = table_add(&table, texts, 0, COLOUR_NONE);
                if (r < 0)
                        return r;
        }
        if (!options->quiet) {
                output_page(options);
                table_print(&table, stdout, options->legend, options->colour);
        }
        return 0;
}

int verb_policy(sd_bus *bus, const struct options *options, char **names) {
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_json_ json_object *manager = NULL, *policies = json_object_new_array();
        int r = policies ? client_properties(bus, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, &error, &manager)
                         : -ENOMEM;
        if (r >= 0)
                r = describe(manager, policies);
        if (r >= 0) {
                if (options->json != JSON_OFF)
                        output_json(options, policies);
                else
                        r = print(options, policies);
        }
        return r < 0 ? client_failed(bus, &error, r, "list the policies", NULL) : STATUS_GOOD;
}
