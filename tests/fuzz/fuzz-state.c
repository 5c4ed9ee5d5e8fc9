// SPDX-License-Identifier: LGPL-2.1-or-later
/* A state file: what is taken is saved and loaded the same; what is not is moved aside. */
#include "fuzz.h"
#include "state.h"
#include "strv.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

static char dir[] = "/tmp/coresched-fuzz-XXXXXX";

static const char *in_dir(const char *name) {
        static char path[64];
        snprintf(path, sizeof(path), "%s/%s", dir, name);
        return path;
}

static void clean(void) {
        unlink(in_dir("state.json"));
        unlink(in_dir("state.json.bad"));
        rmdir(dir);
}

static void write_state(const uint8_t *data, size_t size) {
        _cleanup_close_ int fd = open(in_dir("state.json"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        MUST(fd >= 0 && write(fd, data, size) == (ssize_t) size);
}

static void check_same(const struct state *a, const struct state *b) {
        MUST(a->tenants.n == b->tenants.n);
        MUST(strv_equal(a->untagged, b->untagged));
        for (size_t i = 0; i < a->tenants.n; i++) {
                const struct tenant *x = a->tenants.tenant[i], *y = b->tenants.tenant[i];
                MUST(strcmp(x->name, y->name) == 0);
                MUST(strv_equal(x->cgroups, y->cgroups) && strv_equal(x->frozen, y->frozen));
                MUST(x->policy && y->policy ? strcmp(x->policy, y->policy) == 0 : x->policy == y->policy);
                MUST(x->origin == y->origin && x->cookie == y->cookie && x->adopted == y->adopted);
                MUST(x->stay_frozen == y->stay_frozen);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static bool ready;
        if (!ready) {
                MUST(mkdtemp(dir));
                atexit(clean);
                ready = true;
        }
        _cleanup_(state_done) struct state state = {0}, again = {0};
        struct failure f = {0};
        write_state(data, size);
        int r = state_load(dir, &state, &f);
        fuzz_check_failure(r, &f, dir);
        MUST(r == 0 || r == -EBADMSG);
        MUST((access(in_dir("state.json"), F_OK) == 0) == (r == 0));
        if (r < 0)
                return 0;
        MUST(state_save(dir, &state.tenants, state.untagged, state.left) == 0);
        MUST(state_load(dir, &again, &f) == 0);
        check_same(&state, &again);
        return 0;
}
