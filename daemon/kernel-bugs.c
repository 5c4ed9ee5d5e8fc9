// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel-bugs.h"
#include "util.h"
#include <stdbool.h>
#include <stdio.h>

struct version {
        unsigned major, minor, patch;
};

/* Newer ones have it not from `mainline` on; of a stable branch not from the version listed on. */
static const struct {
        struct kernel_bug bug;
        struct version since, mainline, branch[4];
} bugs[] = {
        {{"CVE-2026-89520",
          "when the last cookie on the host goes while another is being set, the kernel's run queues may end up with different "
          "locks; the daemon keeps a cookie of its own as long as there are tenants, so that its own tags do not cause it",
          "6.1.192 and 7.3"},
         {5, 14, 0},
         {7, 3, 0},
         {{6, 1, 192}}},
};

static bool before(const struct version *a, const struct version *b) {
        if (a->major != b->major)
                return a->major < b->major;
        if (a->minor != b->minor)
                return a->minor < b->minor;
        return a->patch < b->patch;
}

static bool has(size_t i, const struct version *version) {
        if (before(version, &bugs[i].since) || !before(version, &bugs[i].mainline))
                return false;
        for (size_t k = 0; k < ELEMENTS(bugs[i].branch); k++) {
                const struct version *mended = &bugs[i].branch[k];
                if (mended->major == version->major && mended->minor == version->minor && !before(version, mended))
                        return false;
        }
        return true;
}

size_t kernel_bugs_next(const char *release, size_t after, const struct kernel_bug **ret) {
        struct version version = {0};

        if (sscanf(release, "%u.%u.%u", &version.major, &version.minor, &version.patch) < 2)
                return 0;
        for (size_t i = after; i < ELEMENTS(bugs); i++)
                if (has(i, &version)) {
                        *ret = &bugs[i].bug;
                        return i + 1;
                }
        return 0;
}
