// SPDX-License-Identifier: LGPL-2.1-or-later
/* A stand-in for coreschedd on a bus, for tests of the client: it keeps a list of tenants and answers with what a test
 * asks for, also what the true daemon cannot be brought to. It touches no task.
 *
 *   fake-daemon [CORE-SCHEDULING [SMT-CONTROL]]     says READY on standard output once it owns its name
 *
 * What becomes of a tenant is in its name:
 *   inert-*, degraded-*, exposed-*, pending-*, novel-*: ends in that state (novel is a word that no client knows);
 *   adopted-*: its cookie is somebody else's; transient-*: it is transient;
 *   bad-*: Verify finds one thread of each finding;
 *   error:NAME: every call answers the D-Bus error NAME;
 *   ask-*: changing it needs interactive authorization;
 *   options-*: its StateReason is the list of the options that were given;
 *   slow-*: Tag answers after a second; dies-*: the daemon ends instead of an answer. */
#include "api/names.h"
#include "strv.h"
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <systemd/sd-bus.h>

struct fake_tenant {
        char *name, *path, *policy, *reason;
        char **cgroups;
};

static struct {
        sd_bus *bus;
        const char *core_scheduling, *smt_control;
        struct fake_tenant *tenants;
        size_t n;
} fake;

static bool is(const char *name, const char *pattern) {
        return fnmatch(pattern, name, 0) == 0;
}

static struct fake_tenant *find(const char *name) {
        for (size_t i = 0; i < fake.n; i++)
                if (strcmp(fake.tenants[i].name, name) == 0)
                        return fake.tenants + i;
        return NULL;
}

static const char *state_of(const char *name) {
        static const char *const words[] = {"inert", "degraded", "exposed", "pending", "novel"};
        for (size_t i = 0; i < ELEMENTS(words); i++)
                if (strncmp(name, words[i], strlen(words[i])) == 0 && name[strlen(words[i])] == '-')
                        return words[i];
        return "enforced";
}

static const char *reason_of(const struct fake_tenant *tenant) {
        if (tenant->reason)
                return tenant->reason;
        return is(tenant->name, "degraded-*") ? "2 threads could not be tagged: 4711 (Operation not permitted), 4712"
                                              : "";
}

/* The error that the name asks for, or -ENOENT when it wants none. */
static int wanted_error(sd_bus_message *m, const char *name, sd_bus_error *error) {
        if (strncmp(name, "error:", 6) == 0)
                return sd_bus_error_setf(error, name + 6, "the daemon's own words about '%s'", name);
        if (is(name, "dies-*"))
                _exit(1);
        if (is(name, "ask-*") && sd_bus_message_get_allow_interactive_authorization(m) == 0)
                return sd_bus_error_set(error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
                                        "Authentication needed");
        return -ENOENT;
}

static int no_such_tenant(const char *name, sd_bus_error *error) {
        return sd_bus_error_setf(error, CORESCHED_ERROR_PREFIX "NoSuchTenant", "There is no tenant '%s'", name);
}

static int tenant_string(sd_bus *bus, const char *path, const char *interface, const char *property,
                         sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        const struct fake_tenant *t = userdata;
        const char *value = strcmp(property, "Name") == 0          ? t->name
                            : strcmp(property, "Policy") == 0      ? t->policy
                            : strcmp(property, "Origin") == 0      ? is(t->name, "pattern-*") ? "pattern" : "runtime"
                            : strcmp(property, "Isolation") == 0   ? is(t->name, "exposed-*") ? "none" : "cookie"
                            : strcmp(property, "State") == 0       ? state_of(t->name)
                            : strcmp(property, "StateReason") == 0 ? reason_of(t)
                                                                   : "";
        return sd_bus_message_append(reply, "s", value);
}

static int tenant_number(sd_bus *bus, const char *path, const char *interface, const char *property,
                         sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        const struct fake_tenant *t = userdata;
        bool carries = strcmp(state_of(t->name), "enforced") == 0 || is(t->name, "degraded-*");
        uint64_t value = strcmp(property, "Cookie") == 0      ? carries ? 0x89abcdef : 0
                         : strcmp(property, "Processes") == 0 ? is(t->name, "one*") ? 1 : 12
                         : is(t->name, "one*")                ? 1
                                                              : 345;
        return sd_bus_message_append(reply, "t", value);
}

static int tenant_cgroups(sd_bus *bus, const char *path, const char *interface, const char *property,
                          sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        const struct fake_tenant *t = userdata;
        return sd_bus_message_append_strv(reply, t->cgroups);
}

static int tenant_flag(sd_bus *bus, const char *path, const char *interface, const char *property,
                       sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        const struct fake_tenant *t = userdata;
        bool value = strcmp(property, "Adopted") == 0 ? is(t->name, "adopted-*") : is(t->name, "transient-*");
        return sd_bus_message_append(reply, "b", value);
}

static const sd_bus_vtable tenant_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Name", "s", tenant_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("CGroups", "as", tenant_cgroups, 0, 0),
        SD_BUS_PROPERTY("Policy", "s", tenant_string, 0, 0),
        SD_BUS_PROPERTY("Origin", "s", tenant_string, 0, 0),
        SD_BUS_PROPERTY("Transient", "b", tenant_flag, 0, 0),
        SD_BUS_PROPERTY("Isolation", "s", tenant_string, 0, 0),
        SD_BUS_PROPERTY("State", "s", tenant_string, 0, 0),
        SD_BUS_PROPERTY("StateReason", "s", tenant_string, 0, 0),
        SD_BUS_PROPERTY("Cookie", "t", tenant_number, 0, 0),
        SD_BUS_PROPERTY("Adopted", "b", tenant_flag, 0, 0),
        SD_BUS_PROPERTY("Processes", "t", tenant_number, 0, 0),
        SD_BUS_PROPERTY("Threads", "t", tenant_number, 0, 0),
        SD_BUS_VTABLE_END,
};

static int find_tenant(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret,
                       sd_bus_error *error) {
        for (size_t i = 0; i < fake.n; i++)
                if (strcmp(fake.tenants[i].path, path) == 0) {
                        *ret = fake.tenants + i;
                        return 1;
                }
        return 0;
}

static int list_tenants(sd_bus *bus, const char *prefix, void *userdata, char ***ret, sd_bus_error *error) {
        char **paths = NULL;
        for (size_t i = fake.n; i > 0; i--) /* in no order */
                if (strv_extend(&paths, fake.tenants[i - 1].path) < 0)
                        return -ENOMEM;
        *ret = paths;
        return 0;
}

static int add_tenant(const char *name, const char *policy, char **cgroups, const char *reason,
                      struct fake_tenant **ret) {
        struct fake_tenant *t = find(name);
        if (!t) {
                fake.tenants = reallocarray(fake.tenants, fake.n + 1, sizeof(*t));
                t = fake.tenants + fake.n++;
                *t = (struct fake_tenant){.name = strdup(name)};
                int r = sd_bus_path_encode(CORESCHED_TENANT_PREFIX, name, &t->path);
                if (r < 0)
                        return r;
        }
        free(t->policy);
        free(t->reason);
        t->policy = strdup(policy ? policy : "shared");
        t->reason = reason ? strdup(reason) : NULL;
        if (!t->cgroups || cgroups) {
                strv_free(t->cgroups);
                t->cgroups = NULL;
                char path[256];
                snprintf(path, sizeof(path), "/%s.slice", name);
                int r = cgroups ? strv_copy(cgroups, &t->cgroups) : strv_extend(&t->cgroups, path);
                if (r < 0)
                        return r;
        }
        *ret = t;
        return 0;
}

static int read_cgroups(sd_bus_message *m, char ***ret) {
        const void *path;
        size_t size;
        int r = sd_bus_message_enter_container(m, 'v', "aay");
        if (r >= 0)
                r = sd_bus_message_enter_container(m, 'a', "ay");
        while (r >= 0 && (r = sd_bus_message_read_array(m, 'y', &path, &size)) > 0) {
                char *copy = strndup(path, size);
                r = copy ? strv_extend(ret, copy) : -ENOMEM;
                free(copy);
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_options(sd_bus_message *m, char **ret_policy, char ***ret_cgroups, char *given, size_t size) {
        size_t used = 0;
        int r = sd_bus_message_enter_container(m, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                const char *key, *value = NULL;
                int flag = 0;
                r = sd_bus_message_read(m, "s", &key);
                if (r < 0)
                        break;
                if (strcmp(key, "CGroups") == 0) {
                        r = read_cgroups(m, ret_cgroups);
                } else if (strcmp(key, "Policy") == 0) {
                        r = sd_bus_message_read(m, "v", "s", &value);
                        if (r >= 0)
                                *ret_policy = strdup(value);
                } else {
                        r = sd_bus_message_read(m, "v", "b", &flag);
                }
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                used += (size_t) snprintf(given + used, size - used, "%s%s=%s", used ? " " : "", key,
                                          value  ? value
                                          : flag ? "yes"
                                                 : "...");
        }
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int answer_late(sd_event_source *s, uint64_t usec, void *userdata) {
        sd_bus_message *m = userdata;
        const char *name;
        sd_bus_message_rewind(m, true);
        sd_bus_message_read(m, "s", &name);
        sd_bus_reply_method_return(m, "o", find(name)->path);
        sd_bus_message_unref(m);
        sd_event_source_unref(s);
        return 0;
}

static int method_tag(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        _cleanup_free_ char *policy = NULL;
        _cleanup_strv_ char **cgroups = NULL;
        char given[512] = "";
        const char *name;
        struct fake_tenant *t;
        int r = sd_bus_message_read(m, "s", &name);
        if (r >= 0)
                r = read_options(m, &policy, &cgroups, given, sizeof(given));
        if (r < 0)
                return r;
        r = wanted_error(m, name, error);
        if (r != -ENOENT)
                return r;
        if (policy && strcmp(policy, "shared") != 0 && strcmp(policy, "strict") != 0)
                return sd_bus_error_setf(error, CORESCHED_ERROR_PREFIX "InvalidPolicy", "There is no policy '%s'",
                                         policy);
        r = add_tenant(name, policy, cgroups, is(name, "options-*") ? given : NULL, &t);
        if (r < 0)
                return r;
        if (is(name, "slow-*")) {
                sd_event_source *s;
                r = sd_event_add_time_relative(sd_bus_get_event(fake.bus), &s, 1, USEC_PER_SEC, 0, answer_late,
                                               sd_bus_message_ref(m));
                return r < 0 ? r : 1;
        }
        return sd_bus_reply_method_return(m, "o", t->path);
}

static int method_untag(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        _cleanup_free_ char *policy = NULL;
        _cleanup_strv_ char **cgroups = NULL;
        char given[512] = "";
        const char *name;
        int r = sd_bus_message_read(m, "s", &name);
        if (r >= 0 && sd_bus_message_has_signature(m, "sa{sv}"))
                r = read_options(m, &policy, &cgroups, given, sizeof(given));
        if (r < 0)
                return r;
        r = wanted_error(m, name, error);
        if (r != -ENOENT)
                return r;
        struct fake_tenant *t = find(name);
        if (!t)
                return no_such_tenant(name, error);
        if (is(name, "adopted-*") && !strstr(given, "Force=yes"))
                return sd_bus_error_setf(error, CORESCHED_ERROR_PREFIX "Failed", "Somebody else set the cookie of '%s'",
                                         name);
        free(t->name);
        free(t->path);
        free(t->policy);
        free(t->reason);
        strv_free(t->cgroups);
        *t = fake.tenants[--fake.n];
        return sd_bus_reply_method_return(m, NULL);
}

static int method_get(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *name;
        int r = sd_bus_message_read(m, "s", &name);
        if (r < 0)
                return r;
        r = wanted_error(m, name, error);
        if (r != -ENOENT)
                return r;
        const struct fake_tenant *t = find(name);
        return t ? sd_bus_reply_method_return(m, "o", t->path) : no_such_tenant(name, error);
}

static int append_result(sd_bus_message *reply, const struct fake_tenant *t) {
        bool bad = is(t->name, "bad-*");
        uint64_t n_bad = bad ? 7 : 0, n_outside = bad ? 1 : 0; /* one more than is listed */
        int r = sd_bus_message_open_container(reply, 'r', "sa{sv}");
        if (r >= 0)
                r = sd_bus_message_append(reply, "s", t->name);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "{sv}");
        if (r >= 0)
                r = sd_bus_message_append(reply, "{sv}{sv}{sv}{sv}{sv}{sv}", "State", "s",
                                          bad ? "degraded" : state_of(t->name), "StateReason", "s", reason_of(t),
                                          "Cookie", "t", UINT64_C(0x89abcdef), "Threads", "t", UINT64_C(345), "Bad",
                                          "t", n_bad, "Outside", "t", n_outside);
        if (r >= 0 && bad)
                r = sd_bus_message_append(reply, "{sv}", "Findings", "a(utss)", 6, 11, UINT64_C(0), "untagged", "", 12,
                                          UINT64_C(0x12345678), "foreign-cookie", "", 13, UINT64_C(0x87654321),
                                          "own-cookie", "", 14, UINT64_C(0xabcdef01), "wrong-tenant", "", 15,
                                          UINT64_C(0), "unreadable", "EPERM", 16, UINT64_C(0x89abcdef), "novel", "");
        if (r >= 0 && !bad)
                r = sd_bus_message_append(reply, "{sv}", "Findings", "a(utss)", 0);
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int method_verify(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        sd_bus_message *reply = NULL;
        const char *name;
        int r = sd_bus_message_read(m, "s", &name);
        if (r < 0)
                return r;
        r = wanted_error(m, name, error);
        if (r != -ENOENT)
                return r;
        if (name[0] && !find(name))
                return no_such_tenant(name, error);
        r = sd_bus_message_new_method_return(m, &reply);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "(sa{sv})");
        for (size_t i = 0; r >= 0 && i < fake.n; i++)
                if (!name[0] || strcmp(fake.tenants[i].name, name) == 0)
                        r = append_result(reply, fake.tenants + i);
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        if (r >= 0)
                r = sd_bus_send(NULL, reply, NULL);
        sd_bus_message_unref(reply);
        return r < 0 ? r : 1;
}

static int method_reload(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        if (find("broken-configuration"))
                return sd_bus_error_set(
                        error, CORESCHED_ERROR_PREFIX "InvalidConfig",
                        "/etc/coresched/tenants.d/a.conf:3: unknown key 'Polcy', did you mean 'Policy'?");
        return sd_bus_reply_method_return(m, NULL);
}

static int manager_string(sd_bus *bus, const char *path, const char *interface, const char *property,
                          sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        return sd_bus_message_append(reply, "s",
                                     strcmp(property, "Version") == 0              ? CORESCHED_VERSION
                                     : strcmp(property, "CoreScheduling") == 0     ? fake.core_scheduling
                                     : strcmp(property, "SmtControl") == 0         ? fake.smt_control
                                     : strcmp(property, "ConfigurationError") == 0 ? ""
                                                                                   : "shared");
}

static int manager_smt_active(sd_bus *bus, const char *path, const char *interface, const char *property,
                              sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        return sd_bus_message_append(reply, "b", strcmp(fake.smt_control, "on") == 0);
}

static int manager_policies(sd_bus *bus, const char *path, const char *interface, const char *property,
                            sd_bus_message *reply, void *userdata, sd_bus_error *error) {
        return strcmp(property, "Policies") == 0 ? sd_bus_message_append(reply, "as", 3, "shared", "strict", "vm-host")
               : strcmp(property, "Patterns") == 0 ? sd_bus_message_append(reply, "as", 2, "strict", "vm-host")
                                                   : sd_bus_message_append(reply, "as", 1, "vm-host");
}

static const sd_bus_vtable manager_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Tag", "sa{sv}", "o", method_tag, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Untag", "s", "", method_untag, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("UntagWithOptions", "sa{sv}", "", method_untag, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("GetTenant", "s", "o", method_get, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Verify", "s", "a(sa{sv})", method_verify, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Reload", "", "", method_reload, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_PROPERTY("Version", "s", manager_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("CoreScheduling", "s", manager_string, 0, 0),
        SD_BUS_PROPERTY("SmtControl", "s", manager_string, 0, 0),
        SD_BUS_PROPERTY("SmtActive", "b", manager_smt_active, 0, 0),
        SD_BUS_PROPERTY("DefaultPolicy", "s", manager_string, 0, 0),
        SD_BUS_PROPERTY("ConfigurationError", "s", manager_string, 0, 0),
        SD_BUS_PROPERTY("Policies", "as", manager_policies, 0, 0),
        SD_BUS_PROPERTY("Patterns", "as", manager_policies, 0, 0),
        SD_BUS_PROPERTY("ActivePatterns", "as", manager_policies, 0, 0),
        SD_BUS_VTABLE_END,
};

int main(int argc, char **argv) {
        sd_event *event = NULL;
        fake.core_scheduling = argc > 1 ? argv[1] : "available";
        fake.smt_control = argc > 2 ? argv[2] : "on";
        int r = sd_event_default(&event);
        if (r >= 0)
                r = sd_bus_open_system(&fake.bus);
        if (r >= 0)
                r = sd_bus_attach_event(fake.bus, event, 0);
        if (r >= 0)
                r = sd_bus_add_object_vtable(fake.bus, NULL, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE,
                                             manager_vtable, NULL);
        if (r >= 0)
                r = sd_bus_add_object_manager(fake.bus, NULL, CORESCHED_PATH);
        if (r >= 0)
                r = sd_bus_add_fallback_vtable(fake.bus, NULL, CORESCHED_TENANT_PREFIX, CORESCHED_TENANT_INTERFACE,
                                               tenant_vtable, find_tenant, NULL);
        if (r >= 0)
                r = sd_bus_add_node_enumerator(fake.bus, NULL, CORESCHED_TENANT_PREFIX, list_tenants, NULL);
        if (r >= 0)
                r = sd_bus_request_name(fake.bus, CORESCHED_BUS_NAME, 0);
        if (r >= 0) {
                puts("READY");
                fflush(stdout);
                r = sd_event_loop(event);
        }
        fprintf(stderr, "fake-daemon: %s\n", strerror(-r));
        return 1;
}
