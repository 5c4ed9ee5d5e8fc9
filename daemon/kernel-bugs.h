/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* PURE. What is known to be wrong with core scheduling in kernels of a version, and where it is mended. Distributions
 * mend bugs without a new version, so a warning says that the kernel may have it. */
#include <stddef.h>

struct kernel_bug {
        const char *id;
        const char *what;   /* what happens, and what the daemon does about it */
        const char *mended; /* in which versions */
};

/* The bug number `after` or a later one that this release ("6.1.90-1-amd64") may have: its number + 1; 0: no further
 * one. A release that cannot be read has none. */
size_t kernel_bugs_next(const char *release, size_t after, const struct kernel_bug **ret);
