// SPDX-License-Identifier: LGPL-2.1-or-later
/* What /proc tells of one task. Dear (tens of microseconds a file): for single tasks, never for all of a tenant. */
#include "real.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define PF_KTHREAD 0x00200000U /* of the flags in /proc/PID/stat */

/* Reads /proc/TID/name whole, as far as size goes, and ends it with a NUL. -ESRCH: the task is gone. */
static int read_proc(pid_t tid, const char *name, char *buf, size_t size) {
        _cleanup_close_ int fd = -1;
        char path[64];
        size_t have = 0;

        snprintf(path, sizeof(path), "/proc/%d/%s", (int) tid, name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? -ESRCH : -errno;
        for (;;) {
                ssize_t n = read(fd, buf + have, size - 1 - have);
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                have += (size_t) n;
        }
        buf[have] = '\0';
        return have > 0 ? 0 : -ESRCH;
}

/* ---- the cgroup ---- */

int cgroup_line_parse(const char *text, char **ret) {
        /* The kernel escapes nothing here, and lets no cgroup have a newline in its name. */
        for (const char *line = text; *line; line += *line == '\n') {
                size_t length = strcspn(line, "\n");

                if (strncmp(line, "0::/", 4) == 0) {
                        char *path = strndup(line + 3, length - 3);
                        if (!path)
                                return -ENOMEM;
                        *ret = path;
                        return 0;
                }
                line += length;
        }
        return -ENODATA;
}

int task_cgroup(void *data, pid_t tid, char **ret) {
        static const char deleted[] = " (deleted)";
        const struct real *real = data;
        _cleanup_free_ char *path = NULL;
        char text[PATH_MAX + 1024]; /* one path, and lines of old hierarchies */
        size_t length;
        int r;

        r = read_proc(tid, "cgroup", text, sizeof(text));
        if (r >= 0)
                r = cgroup_line_parse(text, &path);
        if (r < 0)
                return r;
        length = strlen(path);
        if (length >= PATH_MAX - 1) /* 6.1 cuts it there in silence, newer kernels refuse to tell */
                return -ENAMETOOLONG;
        if (length >= strlen(deleted) && strcmp(path + length - strlen(deleted), deleted) == 0) {
                _cleanup_close_ int directory = cgroup_open(real, path, O_PATH);

                /* A cgroup may have that in its name. Otherwise it was removed, which the kernel allows only when none
                 * but tasks past their exit are left in it. */
                if (directory < 0)
                        return -ESRCH;
        }
        *ret = TAKE(path);
        return 0;
}

/* ---- the task itself ---- */

int stat_parse(const char *text, char comm[static 16], char *ret_state, unsigned *ret_flags) {
        /* comm holds anything, also parentheses and newlines; what comes behind it does not */
        const char *open = strchr(text, '('), *close = strrchr(text, ')');
        unsigned flags;
        size_t length;
        char state;

        if (!open || !close || close < open)
                return -EBADMSG;
        if (sscanf(close + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
                return -EBADMSG;
        length = (size_t) (close - open - 1);
        length = length < 15 ? length : 15;
        memcpy(comm, open + 1, length);
        comm[length] = '\0';
        *ret_state = state;
        *ret_flags = flags;
        return 0;
}

/* The kernel tells no task's freezer state in any file. But once cgroup.freeze was written (the write returns when all
 * tasks were signalled, and joining tasks are on joining), no task gets from kernel to user mode without entering the
 * freezer: signal_wake_up() and JOBCTL_TRAP_FREEZE in kernel/cgroup/freezer.c, get_signal() in kernel/signal.c. So a
 * task that is in any state but running or runnable is frozen or will be before its next user instruction. */
static bool state_stopped(char state) {
        return state != 'R';
}

int task_info(void *data, pid_t tid, struct task_info *ret) {
        char text[4096], state;
        struct task_info info = {0};
        const char *tgid;
        unsigned flags;
        int r;

        r = read_proc(tid, "stat", text, sizeof(text));
        if (r < 0)
                return r;
        r = stat_parse(text, info.comm, &state, &flags);
        if (r < 0)
                return r;
        r = read_proc(tid, "status", text, sizeof(text));
        if (r < 0)
                return r;
        tgid = strstr(text, "\nTgid:\t"); /* a newline in the name, the line before it, is escaped */
        if (!tgid || sscanf(tgid, " Tgid: %d", &info.tgid) != 1)
                return -EBADMSG;
        info.kernel_thread = flags & PF_KTHREAD;
        info.stopped = state_stopped(state);
        *ret = info;
        return 0;
}
