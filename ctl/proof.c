// SPDX-License-Identifier: LGPL-2.1-or-later
#include "proof.h"
#include "api/words.h"
#include "ctl.h"
#include "text.h"
#include "view.h"
#include <errno.h>
#include <linux/prctl.h>
#include <string.h>
#include <sys/prctl.h>

static int read_cookie(pid_t tid, uint64_t *ret) {
        uint64_t cookie __attribute__((aligned(8))) = 0;
        if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, (unsigned long) tid, PR_SCHED_CORE_SCOPE_THREAD,
                  (unsigned long) (uintptr_t) &cookie) < 0)
                return -errno;
        *ret = cookie;
        return 0;
}

int proof_of_task(json_object *tenant, pid_t tid, const char *way_out, const char *doing, const char *what) {
        const char *name = json_text(tenant, "Name"), *state = json_text(tenant, "State");
        uint64_t wanted = json_number(tenant, "Cookie"), cookie = 0;
        int word = tenant_state_from_word(state);

        if (word == TENANT_INERT)
                return STATUS_GOOD;
        if (word == TENANT_EXPOSED) {
                complain("cannot %s '%s': tenant '%s' is exposed: %s%s%s", doing, what, name, view_reason(tenant),
                         way_out ? "; " : "", way_out ? way_out : "");
                return STATUS_FAILED;
        }
        int r = read_cookie(tid, &cookie);
        if (r < 0)
                complain(
                        "cannot %s '%s': the kernel does not show its cookie: %s; 'coreschedctl' shows what this host can do",
                        doing, what, strerror(-r));
        else if (cookie == 0 || cookie != wanted)
                complain("cannot %s '%s': it carries %s, and not the cookie of tenant '%s', which is %s; "
                         "'coreschedctl status' of it tells more",
                         doing, what, cookie == 0 ? "no cookie" : "another cookie", name, state);
        else
                return STATUS_GOOD;
        return STATUS_FAILED;
}
