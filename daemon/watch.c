// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch.h"
#include "pass.h"
#include <errno.h>

int watch_drain(const struct kernel *kernel, const struct tenants *tenants) {
        _cleanup_free_ struct pass **passes = calloc(tenants->n + 1, sizeof(*passes));
        if (!passes)
                return -ENOMEM;
        size_t n = 0;
        for (size_t i = 0; i < tenants->n; i++)
                if (tenants->tenant[i]->pass)
                        passes[n++] = tenants->tenant[i]->pass;

        for (;;) {
                struct proc_event event;
                int r = kernel->proc_events->next(kernel->data, &event);
                if (r == 0)
                        return 0;
                if (r < 0 && r != -ENOBUFS)
                        return r;
                for (size_t i = 0; i < n; i++)
                        if (r == -ENOBUFS)
                                passes[i]->lost = true;
                        else if (event.kind == PROC_EVENT_FORK)
                                pass_note_fork(passes[i], &event);
        }
}
