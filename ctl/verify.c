// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl verify: what cookies the tenants' threads carry in the kernel, and each thread that is wrong. */
#include "api/names.h"
#include "client.h"
#include "output.h"
#include "text.h"
#include "view.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct column columns[] = {
        {"THREAD", true},
        {"COOKIE", false},
        {"FINDING", false},
        {"ERROR", false},
};

/* (utss) -> {"Thread": ..., "Cookie": ..., "Finding": ..., "Error": ...} */
static int name_finding(json_object *fields, json_object *findings) {
        static const char *const keys[] = {"Thread", "Cookie", "Finding", "Error"};
        json_object *finding = json_object_new_object();
        int r = json_append(findings, finding);
        for (size_t i = 0; i < ELEMENTS(keys) && r >= 0; i++)
                r = json_put(finding, keys[i], json_object_get(json_object_array_get_idx(fields, i)));
        return r;
}

/* One element of Verify's answer as an object with names throughout. */
static int name_result(json_object *element, json_object *results) {
        json_object *result = json_object_new_object(), *findings = json_object_new_array();
        int r = json_append(results, result);
        if (r >= 0)
                r = json_put(result, "Name", json_object_get(json_object_array_get_idx(element, 0)));
        if (r >= 0) {
                json_object_object_foreach(json_object_array_get_idx(element, 1), key, value) {
                        bool named = strcmp(key, "Findings") == 0;
                        for (size_t i = 0; named && i < json_object_array_length(value) && r >= 0; i++)
                                r = name_finding(json_object_array_get_idx(value, i), findings);
                        if (!named && r >= 0)
                                r = json_put(result, key, json_object_get(value));
                }
        }
        if (r < 0) {
                json_object_put(findings);
                return r;
        }
        return json_put(result, "Findings", findings);
}

/* Appends the results for one name ("" for all tenants). */
static int verify(sd_bus *bus, const char *name, json_object *results) {
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_message_ sd_bus_message *reply = NULL;
        _cleanup_json_ json_object *elements = NULL;
        int r = sd_bus_call_method(bus, CORESCHED_BUS_NAME, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, "Verify",
                                   &error, &reply, "s", name);
        if (r >= 0)
                r = json_read(reply, &elements);
        for (size_t i = 0; r >= 0 && i < json_object_array_length(elements); i++)
                r = name_result(json_object_array_get_idx(elements, i), results);
        return r < 0 ? client_failed(bus, &error, r, name[0] ? "verify" : "verify the tenants", name[0] ? name : NULL)
                     : STATUS_GOOD;
}

static int result_status(json_object *result) {
        return json_number(result, "Bad") > 0 || json_number(result, "Outside") > 0
                       ? STATUS_NOT_ENFORCED
                       : view_state_status(json_text(result, "State"));
}

static void print_summary(const struct options *options, json_object *result) {
        const char *state = json_text(result, "State"), *reason = view_reason(result);
        uint64_t threads = json_number(result, "Threads"), bad = json_number(result, "Bad");
        uint64_t outside = json_number(result, "Outside"), cookie = json_number(result, "Cookie");
        enum colour colour = view_state_colour(state);
        char buffer[COOKIE_TEXT_MAX];
        _cleanup_free_ char *name = text_printable(json_text(result, "Name"));
        _cleanup_free_ char *why = text_printable(reason);
        printf("%s: %s%s%s", name ? name : "", colour_begin(options->colour, colour), state,
               colour_end(options->colour, colour));
        if (strcmp(state, "inert") != 0) {
                printf(" (%" PRIu64 " %s read", threads, plural(threads, "thread", "threads"));
                if (cookie)
                        printf(", cookie %s", view_cookie(cookie, buffer));
                if (bad > 0)
                        printf(", %" PRIu64 " wrong", bad);
                if (outside > 0)
                        printf(", %" PRIu64 " outside with its cookie", outside);
                putchar(')');
        }
        printf("%s%s\n", reason[0] ? ": " : "", why ? why : "");
}

static int print_findings(const struct options *options, json_object *result) {
        json_object *findings = json_array(result, "Findings");
        size_t n = findings ? json_object_array_length(findings) : 0;
        uint64_t bad = json_number(result, "Bad");
        _cleanup_(table_done) struct table table = {.columns = columns, .n_columns = ELEMENTS(columns), .indent = 2};
        for (size_t i = 0; i < n; i++) {
                json_object *finding = json_object_array_get_idx(findings, i);
                char thread[24], cookie[COOKIE_TEXT_MAX];
                snprintf(thread, sizeof(thread), "%" PRIu64, json_number(finding, "Thread"));
                int r = table_add(&table,
                                  (const char *[]){thread, view_cookie(json_number(finding, "Cookie"), cookie),
                                                   json_text(finding, "Finding"), json_text(finding, "Error")},
                                  2, COLOUR_BAD);
                if (r < 0)
                        return r;
        }
        if (n > 0)
                table_print(&table, stdout, options->legend, options->colour);
        if (options->legend && bad > n)
                printf("  and %" PRIu64 " more\n", bad - n);
        return 0;
}

int verb_verify(sd_bus *bus, const struct options *options, char **names) {
        _cleanup_json_ json_object *results = json_object_new_array();
        int status = STATUS_GOOD, r = 0;
        if (!results)
                return client_failed(bus, NULL, -ENOMEM, "verify the tenants", NULL);
        if (!names[0])
                status = verify(bus, "", results);
        for (; *names; names++)
                status = status_worse(status, verify(bus, *names, results));

        size_t n = json_object_array_length(results);
        if (!options->quiet)
                output_page(options);
        for (size_t i = 0; i < n && r >= 0; i++) {
                json_object *result = json_object_array_get_idx(results, i);
                status = status_worse(status, result_status(result));
                if (options->json == JSON_OFF && !options->quiet) {
                        print_summary(options, result);
                        r = print_findings(options, result);
                }
        }
        if (r < 0)
                return client_failed(bus, NULL, r, "verify the tenants", NULL);
        if (options->json != JSON_OFF)
                output_json(options, results);
        else if (n == 0 && status == STATUS_GOOD && options->legend && !options->quiet)
                puts("0 tenants.");
        return status;
}
