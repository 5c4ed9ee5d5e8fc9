// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log.h"
#include "strv.h"
#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>

/* The environment names the journal's stream, but is inherited by whoever is started by hand, too. */
static bool stderr_is_journal(void) {
        const char *stream = getenv("JOURNAL_STREAM");
        unsigned long long device, inode;
        struct stat st;

        return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
               st.st_dev == device && st.st_ino == inode;
}

void log_line(int priority, const char *id, const struct tenant *tenant, const char *format, ...) {
        _cleanup_free_ char *message = NULL;
        va_list ap;

        va_start(ap, format);
        int r = vasprintf(&message, format, ap);
        va_end(ap);
        if (r < 0)
                return;
        if (!stderr_is_journal()) {
                fprintf(stderr, "<%d>%s%s%s\n", priority, tenant ? tenant->name : "", tenant ? ": " : "", message);
                return;
        }
        if (!tenant) {
                sd_journal_send("MESSAGE=%s", message, "PRIORITY=%d", priority, id ? "MESSAGE_ID=%s" : NULL, id, NULL);
                return;
        }
        _cleanup_free_ char *cgroups = strv_join(tenant->cgroups, " ");
        sd_journal_send("MESSAGE=%s: %s", tenant->name, message, "PRIORITY=%d", priority, "TENANT=%s", tenant->name,
                        "CGROUP=%s", cgroups ? cgroups : "", "STATE=%s", tenant_state_word(tenant->state),
                        "COOKIE=%#" PRIx64, tenant->cookie, id ? "MESSAGE_ID=%s" : NULL, id, NULL);
}
