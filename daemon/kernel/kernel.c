// SPDX-License-Identifier: LGPL-2.1-or-later
/* The real kernel, put together. What always holds: it is made and used on one thread, and the courier exists before
 * any real-time scheduling is set. */
#include "kernel.h"
#include "real.h"
#include <errno.h>
#include <sys/utsname.h>

static void real_free(struct real *real) {
        smt_close(real);
        cgwatch_close(real);
        procevents_close(real);
        cookies_close(real);
        cgroups_close(real);
        free(real);
}

int kernel_open(struct kernel *ret, struct failure *f) {
        struct real *real;
        int r;

        real = calloc(1, sizeof(*real));
        if (!real)
                return fail(f, FAILURE_FAILED, -ENOMEM, "Out of memory");
        real->cgroup_fd = -1;
        real->main_thread = pthread_self();
        real->main_tid = gettid();

        r = cookies_open(real, f);
        if (r >= 0)
                r = cgroups_open(real, NULL, f);
        if (r >= 0)
                r = procevents_open(real, f);
        if (r >= 0)
                r = cgwatch_open(real, f);
        if (r < 0) {
                real_free(real);
                return r;
        }
        *ret = (struct kernel){
                .cookie = &real_cookie_ops,
                .cgroup = &real_cgroup_ops,
                .proc_events = &real_proc_events_ops,
                .cgroup_events = &real_cgroup_events_ops,
                .smt = &real_smt_ops,
                .sched = &real_sched_ops,
                .task_info = task_info,
                .data = real,
        };
        struct utsname name;
        if (uname(&name) == 0)
                snprintf(ret->release, sizeof(ret->release), "%s", name.release);
        return 0;
}

void kernel_close(struct kernel *kernel) {
        if (kernel->data)
                real_free(kernel->data);
        *kernel = (struct kernel){0};
}
