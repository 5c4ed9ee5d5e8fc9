// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl status: is the host protected, and if not, what is to be done; or one tenant in full. */
#include "api/names.h"
#include "client.h"
#include "output.h"
#include "text.h"
#include "view.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* What to say of CoreScheduling's word besides itself; "" for nothing. */
static const char *core_scheduling_advice(const char *word) {
        static const struct {
                const char *word, *advice;
        } advices[] = {
                {"no-smt", ": SMT is not active, nothing shares a core; tenants are tagged once it is"},
                {"unsupported",
                 ": this kernel is built without CONFIG_SCHED_CORE; boot one that has it, or switch SMT off"},
                {"sched-ext",
                 ": a BPF scheduler is loaded, with which hosts are reported to hang when there are cookies; unload it, or set "
                 "AllowSchedExt=yes"},
                {"denied", ": a security module refuses prctl(PR_SCHED_CORE); allow it to coreschedd"},
        };
        for (size_t i = 0; i < ELEMENTS(advices); i++)
                if (strcmp(word, advices[i].word) == 0)
                        return advices[i].advice;
        return "";
}

/* {"enforced": 2, ...}: of the states that there are; newly allocated, NULL when memory is short. */
static json_object *count_states(json_object *tenants) {
        _cleanup_json_ json_object *counts = json_object_new_object();
        for (size_t i = 0; counts && i < json_object_array_length(tenants); i++) {
                const char *state = json_text(json_object_array_get_idx(tenants, i), "State");
                if (json_put(counts, state, json_object_new_uint64(json_number(counts, state) + 1)) < 0)
                        return NULL;
        }
        return TAKE(counts);
}

/* "3 (2 enforced, 1 degraded)" */
static char *counts_text(size_t n, json_object *counts) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        if (!f)
                return NULL;
        fprintf(f, "%zu", n);
        const char *separator = " (";
        json_object_object_foreach(counts, state, count) {
                fprintf(f, "%s%" PRIu64 " %s", separator, json_object_get_uint64(count), state);
                separator = ", ";
        }
        fputs(n > 0 ? ")" : "", f);
        if (fclose(f) == 0)
                return text;
        free(text);
        return NULL;
}

static int print_unprotected(const struct options *options, json_object *tenants) {
        static const struct column columns[] = {{"", false}, {"", false}, {"", false}};
        _cleanup_(table_done) struct table table = {.columns = columns, .n_columns = ELEMENTS(columns), .indent = 2};
        for (size_t i = 0; i < json_object_array_length(tenants); i++) {
                json_object *tenant = json_object_array_get_idx(tenants, i);
                const char *state = json_text(tenant, "State");
                if (view_state_status(state) == STATUS_GOOD)
                        continue;
                int r = table_add(&table, (const char *[]){json_text(tenant, "Name"), state, view_reason(tenant)}, 1,
                                  view_state_colour(state));
                if (r < 0)
                        return r;
        }
        if (table.n_rows > 0) {
                puts("\nNot protected:");
                table_print(&table, stdout, false, options->colour);
        }
        return 0;
}

static int print_manager(const struct options *options, json_object *manager, json_object *tenants,
                         json_object *counts) {
        const char *scheduling = json_text(manager, "CoreScheduling");
        bool bad = strcmp(scheduling, "unsupported") == 0 || strcmp(scheduling, "denied") == 0 ||
                   strcmp(scheduling, "sched-ext") == 0;
        enum colour colour = bad ? COLOUR_BAD : COLOUR_GOOD;
        _cleanup_free_ char *control = text_printable(json_text(manager, "SmtControl"));
        _cleanup_free_ char *tally = counts_text(json_object_array_length(tenants), counts);
        _cleanup_free_ char *problem = text_printable(json_text(manager, "ConfigurationError"));
        if (!control || !tally || !problem)
                return -ENOMEM;
        output_page(options);
        view_field("coreschedd", json_text(manager, "Version"));
        printf("%16s: %s%s%s%s\n", "core scheduling", colour_begin(options->colour, colour), scheduling,
               colour_end(options->colour, colour), core_scheduling_advice(scheduling));
        printf("%16s: %s (smt/control: %s)\n", "SMT", json_truth(manager, "SmtActive") ? "active" : "not active",
               control);
        if (problem[0] != '\0')
                printf("%16s: %swrong%s: %s; what was in force before stays\n", "configuration",
                       colour_begin(options->colour, COLOUR_BAD), colour_end(options->colour, COLOUR_BAD), problem);
        view_field("default policy", json_text(manager, "DefaultPolicy"));
        view_field("tenants", tally);
        return print_unprotected(options, tenants);
}

static int status_manager(sd_bus *bus, const struct options *options) {
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        _cleanup_json_ json_object *manager = NULL, *tenants = NULL, *counts = NULL;
        int r = client_properties(bus, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, &error, &manager);
        if (r >= 0)
                r = client_get_tenants(bus, &error, &tenants);
        if (r >= 0) {
                counts = count_states(tenants);
                r = counts ? 0 : -ENOMEM;
        }
        if (r >= 0 && options->json != JSON_OFF) {
                r = json_put(manager, "Tenants", json_object_get(counts));
                if (r >= 0)
                        output_json(options, manager);
        } else if (r >= 0 && !options->quiet) {
                r = print_manager(options, manager, tenants, counts);
        }
        return r < 0 ? client_failed(bus, &error, r, "ask for the status", NULL) : STATUS_GOOD;
}

static int print_tenant(const struct options *options, json_object *tenant) {
        const char *state = json_text(tenant, "State"), *reason = view_reason(tenant),
                   *origin = json_text(tenant, "Origin");
        enum colour colour = view_state_colour(state);
        uint64_t processes = json_number(tenant, "Processes"), threads = json_number(tenant, "Threads");
        char cookie[COOKIE_TEXT_MAX];
        _cleanup_free_ char *why = text_printable(reason), *cgroups = json_words(json_array(tenant, "CGroups"));
        if (!why || !cgroups)
                return -ENOMEM;
        output_page(options);
        view_field("tenant", json_text(tenant, "Name"));
        printf("%16s: %s%s%s%s%s\n", "state", colour_begin(options->colour, colour), state,
               colour_end(options->colour, colour), reason[0] ? ": " : "", why);
        view_field("policy", json_text(tenant, "Policy"));
        view_field("isolation", json_text(tenant, "Isolation"));
        view_field("cgroups", cgroups);
        printf("%16s: %" PRIu64 " %s, %" PRIu64 " %s\n", "tasks", processes, plural(processes, "process", "processes"),
               threads, plural(threads, "thread", "threads"));
        if (json_number(tenant, "Cookie") > 0)
                printf("%16s: %s%s\n", "cookie", view_cookie(json_number(tenant, "Cookie"), cookie),
                       json_truth(tenant, "Adopted") ? ", set by somebody else" : "");
        if (json_number(tenant, "Drifts") > 0)
                printf("%16s: %" PRIu64 " times a thread was found without its cookie\n", "drift",
                       json_number(tenant, "Drifts"));
        if (strcmp(origin, "runtime") == 0)
                origin = json_truth(tenant, "Transient") ? "runtime: until its cgroups are gone"
                                                         : "runtime: until untagged or reboot";
        else if (strcmp(origin, "pattern") == 0)
                origin = "pattern: as long as its cgroups match a policy's Match=";
        view_field("origin", origin);
        return 0;
}

int verb_status(sd_bus *bus, const struct options *options, char **names) {
        if (!names[0])
                return status_manager(bus, options);
        _cleanup_json_ json_object *tenant = NULL;
        int r = client_tenant(bus, "show", names[0], &tenant);
        if (r != STATUS_GOOD)
                return r;
        if (options->json != JSON_OFF)
                output_json(options, tenant);
        else if (!options->quiet)
                r = print_tenant(options, tenant);
        return r < 0 ? client_failed(bus, NULL, r, "show", names[0]) : view_state_status(json_text(tenant, "State"));
}
