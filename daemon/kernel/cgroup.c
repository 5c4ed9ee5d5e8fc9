// SPDX-License-Identifier: LGPL-2.1-or-later
/* cgroup v2: everything is read and written relative to one descriptor of the hierarchy's root. libcgroup, used here
 * alone, tells where that is; its readers of v2 files do not fit (no threads, no vanishing cgroups, no fake tree).
 * What always holds: a cgroup that vanishes meanwhile is an error of that one, never of its surroundings. */
#include "real.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libcgroup.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* ---- where it is ---- */

static bool is_cgroup2(const char *path) {
        struct statfs s;

        return statfs(path, &s) == 0 && s.f_type == CGROUP2_SUPER_MAGIC;
}

/* -ENOENT: there is none with any controller. */
static int find_mount(char **ret) {
        struct cgroup_mount_point mount;
        void *handle = NULL;
        char *found = NULL;
        int r;

        if (cgroup_init() != 0)
                return -ENOENT;
        for (r = cgroup_get_controller_begin(&handle, &mount); r == 0;
             r = cgroup_get_controller_next(&handle, &mount)) {
                if (is_cgroup2(mount.path)) {
                        found = strdup(mount.path);
                        r = found ? 0 : -ENOMEM;
                        break;
                }
        }
        cgroup_get_controller_end(&handle);
        if (!found)
                return r == -ENOMEM ? r : -ENOENT;
        *ret = found;
        return 0;
}

int cgroups_open(struct real *real, const char *mount, struct failure *f) {
        _cleanup_free_ char *found = NULL;
        int fd, r;

        if (!mount) {
                r = find_mount(&found);
                if (r < 0)
                        return fail(f, FAILURE_NOT_SUPPORTED, r,
                                    "No cgroup v2 hierarchy is mounted (%s): boot with the unified hierarchy",
                                    strerrordesc_np(-r));
                mount = found;
        }
        fd = open(mount, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0) {
                r = -errno;
                return fail(f, FAILURE_FAILED, r, "Cannot open %s: %s", mount, strerrordesc_np(-r));
        }
        real->cgroup_fd = fd;
        return 0;
}

void cgroups_close(struct real *real) {
        closep(&real->cgroup_fd);
        real->cgroup_fd = -1;
}

/* ---- opening ---- */

int cgroup_open(const struct real *real, const char *path, int flags) {
        _cleanup_close_ int at = -1;
        int fd;

        while (*path == '/')
                path++;
        /* What the kernel takes in one piece ends at PATH_MAX; cgroups may lie deeper. */
        while (strlen(path) >= PATH_MAX) {
                char piece[PATH_MAX];
                const char *cut = memrchr(path, '/', PATH_MAX - 1);
                size_t length;

                if (!cut)
                        return -ENAMETOOLONG;
                length = (size_t) (cut - path);
                memcpy(piece, path, length);
                piece[length] = '\0';
                fd = openat(at >= 0 ? at : real->cgroup_fd, piece, O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (fd < 0)
                        return -errno;
                closep(&at);
                at = fd;
                for (path = cut; *path == '/';)
                        path++;
        }
        fd = openat(at >= 0 ? at : real->cgroup_fd, *path ? path : ".", flags | O_DIRECTORY | O_CLOEXEC);
        return fd >= 0 ? fd : -errno;
}

/* Opens a file of a cgroup. */
static int open_file(const struct real *real, const char *path, const char *name, int flags) {
        _cleanup_close_ int directory = -1;
        char whole[PATH_MAX];
        int fd;

        while (*path == '/')
                path++;
        if ((size_t) snprintf(whole, sizeof(whole), "%s%s%s", path, *path ? "/" : "", name) < sizeof(whole)) {
                fd = openat(real->cgroup_fd, whole, flags | O_CLOEXEC | O_NOCTTY);
                return fd >= 0 ? fd : -errno;
        }
        directory = cgroup_open(real, path, O_PATH);
        if (directory < 0)
                return directory;
        fd = openat(directory, name, flags | O_CLOEXEC | O_NOCTTY);
        return fd >= 0 ? fd : -errno;
}

/* Reads a short file into buf and ends it with a NUL. */
static int read_file(const struct real *real, const char *path, const char *name, char *buf, size_t size) {
        _cleanup_close_ int fd = -1;
        size_t have = 0;

        fd = open_file(real, path, name, O_RDONLY);
        if (fd < 0)
                return fd;
        for (;;) {
                ssize_t n = read(fd, buf + have, size - 1 - have);
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                have += (size_t) n;
        }
        buf[have] = '\0';
        return 0;
}

/* ---- the table ---- */

static int cgroup_find(void *data, const char *path) {
        const struct real *real = data;
        _cleanup_close_ int directory = -1;
        char file[PATH_MAX];
        struct statfs fs;

        while (*path == '/')
                path++;
        if (*path == '\0' || ((size_t) snprintf(file, sizeof(file), "%s/cgroup.procs", path) < sizeof(file) &&
                              faccessat(real->cgroup_fd, file, F_OK, 0) == 0))
                return 0;
        directory = cgroup_open(real, path, O_PATH);
        if (directory < 0)
                return directory;
        if (faccessat(directory, "cgroup.procs", F_OK, 0) == 0)
                return 0;
        /* it is gone by now, or never was a cgroup */
        return fstatfs(directory, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC ? -ENOENT : -ENOTDIR;
}

static bool vanished(int error) {
        return error == -ENOENT || error == -ENODEV;
}

/* The names of the cgroups in a directory, one after the other, each with its NUL. The directory is closed. */
static int list_children(int fd, char **ret_names, size_t *ret_size) {
        _cleanup_free_ char *names = NULL;
        struct stat status;
        DIR *directory;
        size_t size;
        FILE *f;
        int r;

        /* kernfs counts a directory's links right: its own two, and one of each directory in it. */
        if (fstat(fd, &status) == 0 && status.st_nlink == 2) {
                close(fd);
                *ret_names = NULL;
                *ret_size = 0;
                return 0;
        }
        directory = fdopendir(fd);
        if (!directory) {
                r = -errno;
                close(fd);
                return r;
        }
        f = open_memstream(&names, &size);
        if (!f) {
                closedir(directory);
                return -ENOMEM;
        }
        for (;;) {
                const struct dirent *entry;

                errno = 0;
                entry = readdir(directory);
                if (!entry) {
                        r = -errno;
                        break;
                }
                /* cgroupfs always tells the type */
                if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        fwrite(entry->d_name, strlen(entry->d_name) + 1, 1, f);
        }
        closedir(directory);
        if (fclose(f) != 0)
                r = -ENOMEM;
        if (r < 0)
                return r;
        *ret_names = TAKE(names);
        *ret_size = size;
        return 0;
}

/* *ret_seen: whether path was still there. Each cgroup is shown to the visitor before its children are listed: one that
 * sets a watch in it then misses none of them. Its directory is closed before one of them is entered, so that depth
 * takes no descriptors. */
static int walk(const struct real *real, const char *path, unsigned depth, cgroup_visit_t visit, void *userdata,
                bool *ret_seen) {
        _cleanup_free_ char *names = NULL;
        size_t size = 0;
        bool seen, left_out = false;
        int fd, r;

        if (depth > KERNEL_DEPTH_MAX || strlen(path) > KERNEL_PATH_MAX) {
                *ret_seen = true;
                return -ENAMETOOLONG;
        }

        fd = cgroup_open(real, path, O_RDONLY);
        if (vanished(fd)) {
                *ret_seen = false;
                return 0;
        }
        if (fd < 0)
                return fd;
        *ret_seen = true;
        r = visit(path, userdata);
        if (r != 0) {
                close(fd);
                return r;
        }
        r = list_children(fd, &names, &size);
        if (r < 0)
                return vanished(r) ? 0 : r;
        for (size_t at = 0; at < size; at += strlen(names + at) + 1) {
                _cleanup_free_ char *child = NULL;

                if (asprintf(&child, "%s/%s", strcmp(path, "/") == 0 ? "" : path, names + at) < 0) {
                        child = NULL;
                        return -ENOMEM;
                }
                r = walk(real, child, depth + 1, visit, userdata, &seen);
                left_out = left_out || r == -ENAMETOOLONG;
                if (r != 0 && r != -ENAMETOOLONG)
                        return r;
        }
        return left_out ? -ENAMETOOLONG : 0;
}

static int cgroup_walk(void *data, const char *path, cgroup_visit_t visit, void *userdata) {
        bool seen = false;
        int r;

        r = walk(data, path, 0, visit, userdata, &seen);
        return r != 0 ? r : seen ? 0 : -ENOENT;
}

#define PID_LIMIT (1 << 26) /* far above the kernel's own, 1 << 22; ten times it still fits */

int pids_parse(struct pids *pids, const char **text, const char *end) {
        const char *line = *text;
        int r;

        r = pids_reserve(pids, (size_t) (end - line) / 2 + 1); /* a digit and a newline, at the least */
        if (r < 0)
                return r;
        while (line < end) {
                const char *c = line;
                pid_t pid = 0;

                for (; c < end && *c >= '0' && *c <= '9' && pid < PID_LIMIT; c++)
                        pid = pid * 10 + (*c - '0');
                if (c == end)
                        break;
                if (*c != '\n')
                        return -EBADMSG;
                if (pid > 0) /* 0 stands for those of other PID namespaces */
                        pids->pid[pids->n++] = pid;
                line = c + 1;
        }
        *text = line;
        return 0;
}

static int cgroup_list(void *data, const char *path, bool threads, struct pids *pids) {
        const struct real *real = data;
        _cleanup_close_ int fd = -1;
        size_t n_before = pids->n, kept = 0;
        char buf[8192]; /* the kernel hands out a page at a time, whatever is asked for */
        int r;

        fd = open_file(real, path, threads ? "cgroup.threads" : "cgroup.procs", O_RDONLY);
        if (fd < 0)
                return fd;
        for (;;) {
                const char *text = buf;
                ssize_t n = read(fd, buf + kept, sizeof(buf) - kept);

                if (n == 0)
                        return 0;
                r = n < 0 ? -errno : pids_parse(pids, &text, buf + kept + n);
                if (r < 0) {
                        pids->n = n_before;
                        return r;
                }
                kept = (size_t) (buf + kept + n - text);
                memmove(buf, text, kept);
        }
}

/* The value of a key of a flat keyed file; NULL when it is not there. */
static const char *find_key(const char *text, const char *key) {
        size_t length = strlen(key);

        for (; text; text = strchr(text, '\n')) {
                text += *text == '\n';
                if (strncmp(text, key, length) == 0 && text[length] == ' ')
                        return text + length + 1;
        }
        return NULL;
}

static int cgroup_frozen(void *data, const char *path, bool *ret_asked, bool *ret_frozen) {
        const struct real *real = data;
        char asked[16], events[256];
        const char *frozen;
        int r;

        r = read_file(real, path, "cgroup.freeze", asked, sizeof(asked));
        if (r >= 0)
                r = read_file(real, path, "cgroup.events", events, sizeof(events));
        if (r < 0)
                return r;
        frozen = find_key(events, "frozen");
        if (!frozen)
                return -EBADMSG;
        *ret_asked = asked[0] == '1';
        *ret_frozen = frozen[0] == '1';
        return 0;
}

static int cgroup_freeze(void *data, const char *path, bool freeze) {
        const struct real *real = data;
        _cleanup_close_ int fd = -1;

        fd = open_file(real, path, "cgroup.freeze", O_WRONLY);
        if (fd < 0)
                return fd;
        return write(fd, freeze ? "1" : "0", 1) < 0 ? -errno : 0;
}

const struct cgroup_ops real_cgroup_ops = {
        .find = cgroup_find,
        .walk = cgroup_walk,
        .list = cgroup_list,
        .of_task = task_cgroup,
        .frozen = cgroup_frozen,
        .freeze = cgroup_freeze,
};
