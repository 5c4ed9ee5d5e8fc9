/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define CGROUP_ROOT "/sys/fs/cgroup"

static void say(const char *format, va_list arguments) {
        (void) fprintf(stderr, "%s: ", program_invocation_short_name);
        (void) vfprintf(stderr, format, arguments);
}

void die(int status, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        say(format, arguments);
        va_end(arguments);
        (void) fputc('\n', stderr);
        exit(status);
}

void die_errno(const char *format, ...) {
        int error = errno;
        va_list arguments;

        va_start(arguments, format);
        say(format, arguments);
        va_end(arguments);
        (void) fprintf(stderr, ": %s\n", strerror(error));
        exit(STATUS_ERROR);
}

long parse_number(const char *what, const char *text, long least, long most) {
        char *end;
        long number;

        errno = 0;
        number = strtol(text, &end, 10);
        if (errno != 0 || end == text || *end != '\0' || number < least || number > most)
                die(STATUS_USAGE, "%s is a number from %ld to %ld, not '%s'", what, least, most, text);
        return number;
}

/* The path of a slice: each dash in its name is a level ("a-b.slice" is /a.slice/a-b.slice). */
static char *slice_path(const char *name) {
        size_t length = strlen(name) - strlen(".slice");
        char *path = strdup("");

        for (size_t i = 1; i <= length && path; i++)
                if (i == length || name[i] == '-') {
                        char *longer;

                        if (asprintf(&longer, "%s/%.*s.slice", path, (int) i, name) < 0)
                                longer = NULL;
                        free(path);
                        path = longer;
                }
        if (!path)
                die_errno("no memory");
        return path;
}

const char *cgroup_name(const char *name) {
        char *path, *made;
        struct stat st;
        size_t length = strlen(name);

        if (!strchr(name, '/') && length > strlen(".slice") && strcmp(name + length - strlen(".slice"), ".slice") == 0)
                made = slice_path(name);
        else {
                if (cgroup_below(name, CGROUP_ROOT))
                        name += strlen(CGROUP_ROOT);
                while (*name == '/')
                        name++;
                if (asprintf(&made, "/%s", name) < 0)
                        die_errno("no memory");
        }
        length = strlen(made);
        while (length > 1 && made[length - 1] == '/')
                made[--length] = '\0';

        if (asprintf(&path, CGROUP_ROOT "%s", made) < 0)
                die_errno("no memory");
        if (stat(path, &st) < 0)
                die_errno("there is no cgroup %s", made);
        free(path);
        return made;
}

bool cgroup_below(const char *path, const char *top) {
        size_t length = strlen(top);

        if (strcmp(top, "/") == 0)
                return true;
        return strncmp(path, top, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

static void walk_folder(const char *folder, void (*each)(pid_t tid, void *userdata), void *userdata) {
        char *path;
        FILE *file;
        DIR *dir;
        struct dirent *entry;
        int tid;

        if (asprintf(&path, "%s/cgroup.threads", folder) < 0)
                die_errno("no memory");
        file = fopen(path, "re");
        if (file) {
                while (fscanf(file, "%d", &tid) == 1)
                        each(tid, userdata);
                (void) fclose(file);
        } else if (errno != ENOENT && errno != ENODEV)
                die_errno("cannot read %s", path);
        free(path);

        dir = opendir(folder);
        if (!dir) {
                if (errno != ENOENT && errno != ENODEV)
                        die_errno("cannot read %s", folder);
                return;
        }
        while ((entry = readdir(dir))) {
                if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                        continue;
                if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
                        die_errno("no memory");
                walk_folder(path, each, userdata);
                free(path);
        }
        (void) closedir(dir);
}

void cgroup_threads(const char *name, void (*each)(pid_t tid, void *userdata), void *userdata) {
        char *path;

        if (asprintf(&path, CGROUP_ROOT "%s", name) < 0)
                die_errno("no memory");
        walk_folder(path, each, userdata);
        free(path);
}

int core_get(pid_t tid, uint64_t *ret_cookie) {
        uint64_t cookie __attribute__((aligned(8))) = 0;

        if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, tid, PR_SCHED_CORE_SCOPE_THREAD, &cookie) < 0)
                return -1;
        *ret_cookie = cookie;
        return 0;
}

static unsigned long scope(bool whole_process) {
        return whole_process ? PR_SCHED_CORE_SCOPE_THREAD_GROUP : PR_SCHED_CORE_SCOPE_THREAD;
}

int core_create(pid_t pid, bool whole_process) {
        return prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, pid, scope(whole_process), 0);
}

int core_share_to(pid_t pid, bool whole_process) {
        return prctl(PR_SCHED_CORE, PR_SCHED_CORE_SHARE_TO, pid, scope(whole_process), 0);
}

int core_share_from(pid_t tid) {
        return prctl(PR_SCHED_CORE, PR_SCHED_CORE_SHARE_FROM, tid, PR_SCHED_CORE_SCOPE_THREAD, 0);
}

const char *core_error(int error) {
        switch (error) {
        case EINVAL:
                return "EINVAL: this kernel has no core scheduling";
        case ENODEV:
                return "ENODEV: SMT is off or not there";
        case EPERM:
                return "EPERM: not permitted";
        case ESRCH:
                return "ESRCH: no such task";
        default:
                return strerror(error);
        }
}
