// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl run: executes a command in a scope of a tenant, tagged before it begins. This process itself is moved
 * into the scope, sees in the kernel that it carries the tenant's cookie, and only then becomes the command. */
#include "agent.h"
#include "api/words.h"
#include "client.h"
#include "proof.h"
#include "scope.h"
#include "selector.h"
#include "strv.h"
#include "text.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* The unit's name as given, or one that nobody has. */
static char *unit_of(const struct options *options) {
        char *unit;
        uint32_t number = 0;
        if (options->unit) {
                size_t length = strlen(options->unit);
                bool whole = length > 6 && strcmp(options->unit + length - 6, ".scope") == 0;
                return asprintf(&unit, "%s%s", options->unit, whole ? "" : ".scope") < 0 ? NULL : unit;
        }
        (void) getrandom(&number, sizeof(number), 0);
        return asprintf(&unit, "run-%d-%08x.scope", (int) getpid(), number) < 0 ? NULL : unit;
}

/* The slice whose cgroup this is, or NULL. */
static const char *slice_of(const char *cgroup) {
        const char *name = strrchr(cgroup, '/') + 1;
        _cleanup_free_ char *path = NULL;
        return slice_path(name, &path) >= 0 && strcmp(path, cgroup) == 0 ? name : NULL;
}

/* The first of the tenant's cgroups that is a slice: no scope can be started elsewhere. */
static int find_slice(json_object *tenant, const char **ret) {
        json_object *cgroups = json_array(tenant, "CGroups");
        for (size_t i = 0; cgroups && i < json_object_array_length(cgroups); i++) {
                const char *cgroup = json_object_get_string(json_object_array_get_idx(cgroups, i));
                const char *slice = cgroup && cgroup[0] == '/' ? slice_of(cgroup) : NULL;
                if (slice) {
                        *ret = slice;
                        return STATUS_GOOD;
                }
        }
        _cleanup_free_ char *words = json_words(cgroups);
        complain("cannot run in '%s': none of its cgroups (%s) is a slice of systemd's, where a scope can be started; "
                 "tag it with a slice among its cgroups, or use --new",
                 json_text(tenant, "Name"), words ? words : "");
        return STATUS_FAILED;
}

/* Moves this process into the scope. *ret_cgroup: where it is then. */
static int enter(sd_bus *bus, const struct options *options, const char *unit, const char *slice, char **names,
                 char **ret_cgroup) {
        _cleanup_free_ char *words = options->description ? NULL : strv_join(names, " ");
        const char *text = options->description ? options->description : words;
        _cleanup_free_ char *description = text ? text_printable(text) : NULL;
        if (!description)
                return client_failed(bus, NULL, -ENOMEM, "run", names[0]);
        int r = scope_start(bus, &(struct scope){unit, slice, description});
        if (r != STATUS_GOOD)
                return r;
        r = scope_cgroup_of(getpid(), ret_cgroup);
        if (r < 0)
                return client_failed(bus, NULL, r, "find the cgroup of", unit);
        const char *last = strrchr(*ret_cgroup, '/') + 1;
        if (strcmp(last, unit) == 0)
                return STATUS_GOOD;
        complain("cannot run '%s': this process is in %s and not in %s; has somebody moved it?", names[0], *ret_cgroup,
                 unit);
        return STATUS_FAILED;
}

/* In a scope that is a tenant of its own. */
static int enter_new(sd_bus *bus, const struct options *options, const char *unit, char **names, json_object **ret) {
        _cleanup_free_ char *cgroup = NULL;
        int r = enter(bus, options, unit, options->slice, names, &cgroup);
        if (r != STATUS_GOOD)
                return r;
        struct options tag = *options;
        tag.cgroups = (char *[]){cgroup, NULL};
        tag.transient = true;
        return client_tag(bus, &tag, unit, ret);
}

/* In a scope in a slice of a tenant there is. */
static int enter_tenant(sd_bus *bus, const struct options *options, const char *unit, char **names, json_object **ret) {
        _cleanup_json_ json_object *tenant = NULL;
        _cleanup_free_ char *cgroup = NULL, *path = NULL;
        const char *slice;
        int r = client_tenant(bus, "run in", options->tenant, &tenant);
        if (r == STATUS_GOOD)
                r = find_slice(tenant, &slice);
        if (r == STATUS_GOOD)
                r = enter(bus, options, unit, slice, names, &cgroup);
        if (r != STATUS_GOOD)
                return r;
        if (slice_path(slice, &path) < 0 || !cgroup_path_within(cgroup, path)) {
                complain("cannot run '%s': systemd started its scope in %s and not in %s of tenant '%s'; try again",
                         names[0], cgroup, slice, options->tenant);
                return STATUS_FAILED;
        }
        return client_tag(bus, options, options->tenant, ret);
}

static int prove(const struct options *options, json_object *tenant, const char *command) {
        bool exposed = tenant_state_from_word(json_text(tenant, "State")) == TENANT_EXPOSED;
        if (options->force && exposed)
                return STATUS_GOOD;
        return proof_of_task(tenant, 0, "--force runs it all the same", "run", command);
}

int verb_run(sd_bus *bus, const struct options *options, char **names) {
        _cleanup_json_ json_object *tenant = NULL;
        _cleanup_free_ char *unit = unit_of(options);
        if (!unit)
                return client_failed(bus, NULL, -ENOMEM, "run", names[0]);
        int r = options->tenant ? enter_tenant(bus, options, unit, names, &tenant)
                                : enter_new(bus, options, unit, names, &tenant);
        if (r == STATUS_GOOD)
                r = prove(options, tenant, names[0]);
        if (r != STATUS_GOOD)
                return r;
        agent_stop();
        execvp(names[0], names);
        complain("cannot execute '%s': %s; is it installed, and its path right?", names[0], strerror(errno));
        return STATUS_FAILED;
}
