// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl oci-hook: the createRuntime hook of a container. The runtime gives the container's state as JSON on
 * standard input, and goes on when this ends: the container's first process waits until then, so that nothing of the
 * container runs untagged. What is wrong goes to the journal too, as runtimes drop what a hook says. */
#include "client.h"
#include "oci-state.h"
#include "proof.h"
#include "scope.h"
#include "selector.h"
#include "text.h"
#include "view.h"
#include <errno.h>
#include <string.h>

#define STATE_BYTES_MAX ((size_t) 1024 * 1024)

static char *read_all(FILE *file) {
        _cleanup_free_ char *text = malloc(STATE_BYTES_MAX + 1);
        if (!text)
                return NULL;
        size_t size = fread(text, 1, STATE_BYTES_MAX, file);
        if (ferror(file))
                return NULL;
        text[size] = '\0';
        return TAKE(text);
}

/* The cgroup that the container has to itself. */
static int find_cgroup(const struct oci_state *state, char **ret) {
        _cleanup_free_ char *cgroup = NULL, *own = NULL;
        int r = scope_cgroup_of(state->pid, &cgroup);
        if (r >= 0)
                r = scope_cgroup_of(getpid(), &own);
        if (r < 0) {
                complain("cannot find the cgroup of container '%s' (process %d): %s", state->id, (int) state->pid,
                         strerror(-r));
                return STATUS_FAILED;
        }
        char *whole = oci_cgroup(cgroup, state->id);
        if (!whole)
                return client_failed(NULL, NULL, -ENOMEM, "tag", state->id);
        *ret = whole;
        if (strcmp(whole, "/") != 0 && !cgroup_path_within(own, whole))
                return STATUS_GOOD;
        complain("container '%s' has no cgroup of its own (it is in %s); start it without --cgroups=disabled",
                 state->id, whole);
        return STATUS_FAILED;
}

static int tag(const struct options *options, const struct oci_state *state) {
        _cleanup_bus_ sd_bus *bus = NULL;
        _cleanup_json_ json_object *tenant = NULL;
        _cleanup_free_ char *cgroup = NULL;
        int r = find_cgroup(state, &cgroup);
        if (r == STATUS_GOOD)
                r = client_open(options, false, &bus);
        if (r != STATUS_GOOD)
                return r;
        struct options o = *options;
        o.cgroups = (char *[]){cgroup, NULL};
        o.policy = state->policy;
        o.transient = true;
        o.join = state->tenant;
        o.force = !state->required;
        r = client_tag(bus, &o, state->tenant ? state->tenant : state->id, &tenant);
        return r == STATUS_GOOD ? proof_of_task(tenant, state->pid, NULL, "protect container", state->id) : r;
}

int verb_oci_hook(sd_bus *bus, const struct options *options, char **names) {
        _cleanup_(oci_state_done) struct oci_state state = {0};
        _cleanup_free_ char *text = NULL;
        char why[256];

        complain_to_journal();
        text = read_all(stdin);
        if (!text || oci_state_read(text, &state, why, sizeof(why)) < 0) {
                complain("what is on standard input is not the state of a container: %s; OCI runtimes call this, as a "
                         "createRuntime hook",
                         text ? why : strerror(errno));
                return STATUS_FAILED;
        }
        if (tag(options, &state) == STATUS_GOOD)
                return STATUS_GOOD;
        if (state.required)
                return STATUS_FAILED;
        complain("container '%s' starts all the same; the annotation " OCI_REQUIRED "=true would keep it from that",
                 state.id);
        return STATUS_GOOD;
}
