// SPDX-License-Identifier: LGPL-2.1-or-later
/* The daemon on the real kernel. */
#include "coreschedd.h"
#include "failure.h"
#include <errno.h>
#include <malloc.h>

static int open_as_root(struct kernel *ret, struct failure *f) {
        if (geteuid() != 0)
                return fail(f, FAILURE_NOT_PERMITTED, -EPERM,
                            "coreschedd must run as root: start it with 'systemctl start coreschedd'");
        return kernel_open(ret, f);
}

/* What a pass over some thousand tasks needs is kept for the next one. */
#define HEAP_KEPT (4 * 1024 * 1024)

int main(int argc, char **argv) {
        (void) mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
        (void) mallopt(M_MMAP_THRESHOLD, HEAP_KEPT);
        return coreschedd_main(argc, argv, open_as_root, kernel_close);
}
