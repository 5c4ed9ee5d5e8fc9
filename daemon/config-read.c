// SPDX-License-Identifier: LGPL-2.1-or-later
/* The keys of the configuration: what each may be, and its default. Only keys that have an effect are known. */
#include "config-read.h"
#include "ini.h"
#include "nearest.h"
#include "pattern.h"
#include "selector.h"
#include "strv.h"
#include "utf8.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

struct reader {
        const char *path;
        struct config *daemon;
        struct policy *policy;
        unsigned tenant_line; /* of the policy's Tenant= */
        int active;           /* the policy's Active=; -1: not said */
        struct tenant_config *tenant;
        const struct config *policies;
};

static const struct ini_key daemon_keys[] = {{"Daemon", "DefaultPolicy"},
                                             {"Daemon", "FreezeTimeoutSec"},
                                             {"Daemon", "Patterns"},
                                             {"Daemon", "RealtimeBudgetMSec"},
                                             {"Daemon", "VerifyIntervalSec"},
                                             {"Daemon", "AllowSchedExt"},
                                             {0}};
static const struct ini_key policy_keys[] = {{"Policy", "Description"}, {"Policy", "Isolation"}, {"Policy", "Attach"},
                                             {"Policy", "OnExposed"},   {"Policy", "Match"},     {"Policy", "Exclude"},
                                             {"Policy", "Tenant"},      {"Policy", "Active"},    {0}};
static const struct ini_key tenant_keys[] = {{"Tenant", "CGroups"}, {"Tenant", "Policy"}, {0}};

static int wrong(const struct reader *reader, const struct ini_entry *entry, const char *word, const char *what,
                 const char *hint, struct failure *f) {
        return fail(f, FAILURE_INVALID_CONFIG, -EBADMSG, "%s:%u: %s=: \"%s\" %s%s", reader->path, entry->line,
                    entry->key, word, what, hint);
}

static int no_memory(const struct reader *reader, struct failure *f) {
        return fail(f, FAILURE_FAILED, -ENOMEM, "%s: %s", reader->path, strerror(ENOMEM));
}

static int set_string(const struct reader *reader, const char *value, char **place, struct failure *f) {
        char *copy = strdup(value);
        if (!copy)
                return no_memory(reader, f);
        free(*place);
        *place = copy;
        return 0;
}

/* A number of decimal digits alone. */
static int set_usec(const struct reader *reader, const struct ini_entry *entry, unsigned low, unsigned high,
                    usec_t unit, usec_t *place, struct failure *f) {
        const char *value = entry->value;
        size_t length = strspn(value, "0123456789");
        unsigned long number = length > 0 && length < 10 ? strtoul(value, NULL, 10) : ULONG_MAX;
        if (value[length] != '\0' || (length > 1 && value[0] == '0') || number < low || number > high)
                return fail(f, FAILURE_INVALID_CONFIG, -EBADMSG, "%s:%u: %s=: \"%s\" is no whole number from %u to %u",
                            reader->path, entry->line, entry->key, value, low, high);
        *place = number * unit;
        return 0;
}

static int get_word(const struct reader *reader, const struct ini_entry *entry, int (*from_word)(const char *),
                    const char *const *valid, struct failure *f) {
        for (const char *const *v = valid; *v; v++)
                if (strcmp(*v, entry->value) == 0)
                        return from_word(*v);
        if (from_word(entry->value) >= 0)
                return wrong(reader, entry, entry->value, "is not supported", nearest_hint("", valid).text, f);
        return wrong(reader, entry, entry->value, "is unknown", nearest_hint(entry->value, valid).text, f);
}

static int unknown_policy(const struct reader *reader, const struct ini_entry *entry, const char *word,
                          const struct config *config, struct failure *f) {
        _cleanup_free_ const char **valid = calloc(config->n_policies + 1, sizeof(*valid));
        for (size_t i = 0; valid && i < config->n_policies; i++)
                valid[i] = config->policies[i].name;
        return valid ? wrong(reader, entry, word, "is no policy's name", nearest_hint(word, valid).text, f)
                     : no_memory(reader, f);
}

static int truth_from_word(const char *word) {
        return strcmp(word, "yes") == 0 ? 1 : strcmp(word, "no") == 0 ? 0 : -EINVAL;
}

static int set_truth(const struct reader *reader, const struct ini_entry *entry, bool *place, struct failure *f) {
        static const char *const truths[] = {"yes", "no", NULL};
        int value = get_word(reader, entry, truth_from_word, truths, f);
        if (value < 0)
                return value;
        *place = value;
        return 0;
}

static int set_policy_name(const struct reader *reader, const struct ini_entry *entry, const struct config *config,
                           char **place, struct failure *f) {
        if (config && !config_policy(config, entry->value))
                return unknown_policy(reader, entry, entry->value, config, f);
        if (!policy_name_valid(entry->value))
                return wrong(reader, entry, entry->value, "is no policy's name", "", f);
        return set_string(reader, entry->value, place, f);
}

/* Splits a list at white space alone: in patterns and names the backslash is a character like any other. */
static int split(const struct reader *reader, const char *value, char ***ret, struct failure *f) {
        static const char blanks[] = " \t";
        _cleanup_strv_ char **words = NULL;
        for (value += strspn(value, blanks); *value; value += strspn(value, blanks)) {
                size_t length = strcspn(value, blanks);
                _cleanup_free_ char *word = strndup(value, length);
                if (!word || strv_extend(&words, word) < 0)
                        return no_memory(reader, f);
                value += length;
        }
        *ret = TAKE(words);
        return 0;
}

static int set_patterns(const struct reader *reader, const struct ini_entry *entry, struct config *config,
                        struct failure *f) {
        _cleanup_strv_ char **words = NULL;
        int r = split(reader, entry->value, &words, f);
        for (char **word = words; r >= 0 && word && *word; word++) {
                const struct policy *policy = config_policy(config, *word);
                if (!policy)
                        return unknown_policy(reader, entry, *word, config, f);
                if (!policy->match)
                        return wrong(reader, entry, *word, "is a policy without Match=",
                                     "; to have it for tenants that name none, see DefaultPolicy=", f);
        }
        if (r >= 0) {
                strv_free(config->patterns);
                config->patterns = TAKE(words);
        }
        return r;
}

static int read_daemon_entry(const struct ini_entry *entry, void *userdata, struct failure *f) {
        struct reader *reader = userdata;
        struct config *config = reader->daemon;
        if (strcmp(entry->key, "DefaultPolicy") == 0)
                return set_policy_name(reader, entry, reader->policies, &config->default_policy, f);
        if (strcmp(entry->key, "FreezeTimeoutSec") == 0)
                return set_usec(reader, entry, 1, 60, USEC_PER_SEC, &config->freeze_timeout, f);
        if (strcmp(entry->key, "Patterns") == 0)
                return set_patterns(reader, entry, config, f);
        if (strcmp(entry->key, "RealtimeBudgetMSec") == 0)
                return set_usec(reader, entry, 0, 50, USEC_PER_MSEC, &config->realtime_budget, f);
        if (strcmp(entry->key, "AllowSchedExt") == 0)
                return set_truth(reader, entry, &config->allow_sched_ext, f);
        return set_usec(reader, entry, 0, 3600, USEC_PER_SEC, &config->verify_interval, f); /* VerifyIntervalSec */
}

/* Where systemd never puts a unit: at the root. Such a pattern would fit nothing. */
static const char *misplaced(const char *word) {
        static const char *const suffixes[] = {".service", ".scope", ".slice"};
        const char *suffix = strrchr(word, '.');
        for (size_t i = 0; !strchr(word, '/') && suffix && i < ELEMENTS(suffixes); i++)
                if (strcmp(suffix, suffixes[i]) == 0 && (strcmp(suffix, ".slice") != 0 || strchr(word, '-')))
                        return suffix;
        return NULL;
}

static int add_pattern(const struct reader *reader, const struct ini_entry *entry, const char *word, char ***patterns,
                       struct failure *f) {
        _cleanup_free_ char *pattern = NULL;
        if (misplaced(word))
                return wrong(reader, entry, word, "is a unit's name",
                             "; write the pattern of its cgroup's whole path, as in machine.slice/machine-*.scope", f);
        int r = cgroup_path_normalize(word, &pattern);
        if (r == -EINVAL)
                return wrong(reader, entry, word, "is no path of a cgroup", "", f);
        const char *problem = r >= 0 ? pattern_problem(pattern) : NULL;
        if (problem)
                return wrong(reader, entry, word, problem, "", f);
        if (r >= 0)
                r = strv_extend(patterns, pattern);
        return r < 0 ? no_memory(reader, f) : 0;
}

static int add_patterns(const struct reader *reader, const struct ini_entry *entry, char ***patterns,
                        struct failure *f) {
        _cleanup_strv_ char **words = NULL;
        int r = split(reader, entry->value, &words, f);
        if (r >= 0 && !words)
                return wrong(reader, entry, "", "names no pattern", "", f);
        for (char **word = words; r >= 0 && *word; word++)
                r = add_pattern(reader, entry, *word, patterns, f);
        return r;
}

static int set_template(struct reader *reader, const struct ini_entry *entry, struct failure *f) {
        const char *problem = pattern_template_problem(entry->value);
        if (problem)
                return wrong(reader, entry, entry->value, problem, "", f);
        reader->tenant_line = entry->line;
        return set_string(reader, entry->value, &reader->policy->tenant, f);
}

static int set_active(struct reader *reader, const struct ini_entry *entry, struct failure *f) {
        bool yes;
        int r = set_truth(reader, entry, &yes, f);
        if (r >= 0)
                reader->active = yes;
        return r;
}

/* What no key shows alone. */
static int check_patterns(const struct reader *reader, struct failure *f) {
        const struct policy *policy = reader->policy;
        const char *alone = policy->exclude       ? "Exclude"
                            : policy->tenant      ? "Tenant"
                            : reader->active >= 0 ? "Active"
                                                  : NULL;
        if (!policy->match && alone)
                return fail(f, FAILURE_INVALID_CONFIG, -EBADMSG,
                            "%s: %s= has no effect without Match= in [Policy]; add that, or leave it out", reader->path,
                            alone);
        unsigned asked = policy->tenant ? pattern_template_stars(policy->tenant) : 0;
        for (char **pattern = policy->match; pattern && *pattern; pattern++)
                if (pattern_stars(*pattern) < asked)
                        return fail(f, FAILURE_INVALID_CONFIG, -EBADMSG,
                                    "%s:%u: Tenant=: \"%s\" asks for %%%u, but \"%s\" of Match= has only %u *",
                                    reader->path, reader->tenant_line, policy->tenant, asked, *pattern + 1,
                                    pattern_stars(*pattern));
        return 0;
}

static int read_policy_entry(const struct ini_entry *entry, void *userdata, struct failure *f) {
        static const char *const isolations[] = {"cookie", "none", NULL};
        static const char *const attaches[] = {"live", "freeze", NULL};
        static const char *const on_exposeds[] = {"report", "freeze", NULL};
        struct reader *reader = userdata;
        struct policy *policy = reader->policy;
        int value;
        if (strcmp(entry->key, "Description") == 0)
                return *entry->value ? set_string(reader, entry->value, &policy->description, f)
                                     : wrong(reader, entry, "", "is no description", "", f);
        if (strcmp(entry->key, "Match") == 0)
                return add_patterns(reader, entry, &policy->match, f);
        if (strcmp(entry->key, "Exclude") == 0)
                return add_patterns(reader, entry, &policy->exclude, f);
        if (strcmp(entry->key, "Tenant") == 0)
                return set_template(reader, entry, f);
        if (strcmp(entry->key, "Active") == 0)
                return set_active(reader, entry, f);
        if (strcmp(entry->key, "Isolation") == 0) {
                value = get_word(reader, entry, isolation_from_word, isolations, f);
                if (value >= 0)
                        policy->isolation = (enum isolation) value;
        } else if (strcmp(entry->key, "Attach") == 0) {
                value = get_word(reader, entry, attach_from_word, attaches, f);
                if (value >= 0)
                        policy->attach = (enum attach) value;
        } else { /* OnExposed */
                value = get_word(reader, entry, on_exposed_from_word, on_exposeds, f);
                if (value >= 0)
                        policy->on_exposed = (enum on_exposed) value;
        }
        return value;
}

/* The first \xNN that stands for a byte which needs none. A name that holds the four characters \x2d, as systemd gives
 * them to units, has most likely been pasted, and would in silence become another name. */
static const char *needless_escape(const char *value) {
        for (const char *e = strchr(value, '\\'); e; e = strchr(e + 1, '\\')) {
                unsigned byte;
                if (sscanf(e, "\\x%2x", &byte) == 1 && byte > 0x20 && byte < 0x7f && !strchr("\\;#\"'", (int) byte))
                        return e;
        }
        return NULL;
}

static int add_cgroup(const struct reader *reader, const struct ini_entry *entry, const char *word, struct failure *f) {
        _cleanup_free_ char *path = NULL;
        int r = cgroup_from_word(word, &path);
        if (r == -EDOM)
                return wrong(
                        reader, entry, word, "is a unit's name",
                        "; write its cgroup's path, which `systemctl show -P ControlGroup UNIT` tells while it runs",
                        f);
        if (r == -EINVAL)
                return wrong(reader, entry, word, "is no path of a cgroup", "", f);
        if (r >= 0 && strcmp(path, "/") == 0)
                return wrong(reader, entry, word, "is the root cgroup, which cannot be a tenant", "", f);
        if (r >= 0)
                r = strv_extend(&reader->tenant->cgroups, path);
        return r < 0 ? no_memory(reader, f) : 0;
}

static int read_tenant_entry(const struct ini_entry *entry, void *userdata, struct failure *f) {
        struct reader *reader = userdata;
        if (strcmp(entry->key, "Policy") == 0)
                return set_policy_name(reader, entry, reader->policies, &reader->tenant->policy, f);
        const char *escape = needless_escape(entry->value);
        if (escape) {
                char word[sizeof("\\xNN")];
                snprintf(word, sizeof(word), "%s", escape);
                return wrong(
                        reader, entry, word,
                        "stands for a character that needs no escape; where the name holds a backslash, write \\x5c "
                        "for it",
                        "", f);
        }
        _cleanup_strv_ char **words = NULL;
        int r = words_split(entry->value, &words);
        if (r == -EINVAL)
                return wrong(reader, entry, entry->value, "has a backslash that is not of \\xNN", "", f);
        if (r < 0)
                return no_memory(reader, f);
        if (strv_length(words) == 0)
                return wrong(reader, entry, "", "names no cgroup", "", f);
        for (char **word = words; r >= 0 && *word; word++)
                r = add_cgroup(reader, entry, *word, f);
        return r;
}

int config_read_daemon(const char *path, struct config *config, struct failure *f) {
        struct reader reader = {.path = path, .daemon = config, .policies = config};
        return ini_read(path, daemon_keys, read_daemon_entry, &reader, f);
}

int config_read_policy(const char *path, struct policy *ret, struct failure *f) {
        _cleanup_(policy_done) struct policy policy = {.isolation = ISOLATION_COOKIE};
        struct reader reader = {.path = path, .policy = &policy, .active = -1};
        int r = ini_read(path, policy_keys, read_policy_entry, &reader, f);
        if (r >= 0)
                r = check_patterns(&reader, f);
        if (r < 0)
                return r;
        policy.active = policy.match && reader.active != 0;
        policy.file = strdup(path);
        if (!policy.file)
                return no_memory(&reader, f);
        *ret = policy;
        policy = (struct policy){0};
        return 0;
}

int config_read_tenant(const char *path, const struct config *config, struct tenant_config *ret, struct failure *f) {
        _cleanup_(tenant_config_done) struct tenant_config tenant = {0};
        struct reader reader = {.path = path, .tenant = &tenant, .policies = config};
        int r = ini_read(path, tenant_keys, read_tenant_entry, &reader, f);
        if (r < 0)
                return r;
        if (!tenant.cgroups)
                return fail(f, FAILURE_INVALID_CONFIG, -EBADMSG, "%s: CGroups= is missing in [Tenant]", path);
        tenant.file = strdup(path);
        if (!tenant.file)
                return no_memory(&reader, f);
        *ret = tenant;
        tenant = (struct tenant_config){0};
        return 0;
}

void tenant_config_done(struct tenant_config *tenant) {
        free(tenant->name);
        strv_free(tenant->cgroups);
        free(tenant->policy);
        free(tenant->file);
        *tenant = (struct tenant_config){0};
}
