// SPDX-License-Identifier: LGPL-2.1-or-later
/* Cgroups that come and go, and moves into them, by inotify: one watch on each watched cgroup's directory, in which
 * every write to one of its files is reported with the file's name, also one made in another cgroup namespace. What
 * always holds: the two trees hold the same watches, one by number, one by path. */
#include "real.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <string.h>
#include <sys/inotify.h>

struct watch {
        int wd;
        char path[];
};

struct cgwatch {
        int fd;
        void *by_wd, *by_path; /* tsearch trees of the same struct watch */
        char *path;            /* of the event given out last */
        size_t at, filled;     /* what of buf is still to be gone through */
        char buf[16 * 1024] __attribute__((aligned(__alignof__(struct inotify_event))));
};

static int compare_wd(const void *a, const void *b) {
        int x = ((const struct watch *) a)->wd, y = ((const struct watch *) b)->wd;

        return (x > y) - (x < y);
}

static int compare_path(const void *a, const void *b) {
        return strcmp(((const struct watch *) a)->path, ((const struct watch *) b)->path);
}

static struct watch *watch_make(int wd, const char *path) {
        size_t size = strlen(path) + 1;
        struct watch *w = malloc(sizeof(*w) + size);

        if (w) {
                w->wd = wd;
                memcpy(w->path, path, size);
        }
        return w;
}

static struct watch *find_wd(const struct cgwatch *c, int wd) {
        struct watch key = {.wd = wd};
        void *node = tfind(&key, &c->by_wd, compare_wd);

        return node ? *(struct watch **) node : NULL;
}

/* -ENOMEM, or 1 when it was found. */
static int find_path(const struct cgwatch *c, const char *path, struct watch **ret) {
        _cleanup_free_ struct watch *key = watch_make(-1, path);
        void *node;

        if (!key)
                return -ENOMEM;
        node = tfind(key, &c->by_path, compare_path);
        if (!node)
                return 0;
        *ret = *(struct watch **) node;
        return 1;
}

static void forget(struct cgwatch *c, struct watch *w) {
        tdelete(w, &c->by_wd, compare_wd);
        tdelete(w, &c->by_path, compare_path);
        free(w);
}

static void unwatch(struct cgwatch *c, const char *path) {
        struct watch *w;

        if (find_path(c, path, &w) <= 0)
                return;
        /* Also of a cgroup that is gone: 6.1 and 6.12 keep its watch until it is taken away. */
        (void) inotify_rm_watch(c->fd, w->wd);
        forget(c, w);
}

/* ---- the table ---- */

static int cgroup_events_watch(void *data, const char *path) {
        const struct real *real = data;
        struct cgwatch *c = real->cgwatch;
        _cleanup_close_ int directory = -1;
        char link[64];
        struct watch *w;
        int wd;

        directory = cgroup_open(real, path, O_PATH);
        if (directory < 0)
                return directory == -ENODEV ? -ENOENT : directory;
        snprintf(link, sizeof(link), "/proc/self/fd/%d", directory); /* paths may be longer than inotify takes */
        wd = inotify_add_watch(c->fd, link, IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MODIFY | IN_ONLYDIR);
        if (wd < 0)
                return -errno;
        w = find_wd(c, wd);
        if (w && strcmp(w->path, path) == 0)
                return 0;
        /* Under this path a cgroup was watched that is gone by now. */
        unwatch(c, path);
        w = watch_make(wd, path);
        if (!w || !tsearch(w, &c->by_wd, compare_wd) || !tsearch(w, &c->by_path, compare_path)) {
                (void) inotify_rm_watch(c->fd, wd);
                if (w)
                        forget(c, w);
                return -ENOMEM;
        }
        return 0;
}

static void cgroup_events_unwatch(void *data, const char *path) {
        const struct real *real = data;

        unwatch(real->cgwatch, path);
}

static void cgroup_events_forget(void *data) {
        const struct real *real = data;
        struct cgwatch *c = real->cgwatch;

        while (c->by_path) {
                struct watch *w = *(struct watch **) c->by_path;
                (void) inotify_rm_watch(c->fd, w->wd);
                forget(c, w);
        }
        c->at = c->filled = 0;
        while (read(c->fd, c->buf, sizeof(c->buf)) > 0)
                ;
}

static int cgroup_events_fd(void *data) {
        const struct real *real = data;

        return real->cgwatch->fd;
}

/* Turns one event into ours. 1, 0 (of no interest), -ENOBUFS, -ENOMEM. */
static int translate(struct cgwatch *c, const struct inotify_event *e, struct cgroup_event *ret) {
        struct watch *w;
        char *path = NULL;
        int r;

        if (e->mask & IN_Q_OVERFLOW)
                return -ENOBUFS;
        w = find_wd(c, e->wd);
        if (!w)
                return 0; /* queued before its watch was taken away */
        if (e->mask & (IN_CREATE | IN_DELETE) && e->mask & IN_ISDIR) {
                r = asprintf(&path, "%s/%s", strcmp(w->path, "/") == 0 ? "" : w->path, e->name);
                ret->kind = e->mask & IN_CREATE ? CGROUP_EVENT_CREATED : CGROUP_EVENT_REMOVED;
        } else if (e->mask & IN_MODIFY && e->len > 0 &&
                   (strcmp(e->name, "cgroup.procs") == 0 || strcmp(e->name, "cgroup.threads") == 0)) {
                r = asprintf(&path, "%s", w->path);
                ret->kind = CGROUP_EVENT_MOVED_IN;
        } else if (e->mask & (IN_DELETE_SELF | IN_IGNORED)) {
                /* IN_IGNORED alone: its file system was unmounted */
                r = asprintf(&path, "%s", w->path);
                ret->kind = CGROUP_EVENT_REMOVED;
        } else
                return 0;
        if (r < 0)
                return -ENOMEM;
        if (ret->kind == CGROUP_EVENT_REMOVED)
                unwatch(c, path);
        free(c->path);
        c->path = path;
        ret->path = path;
        return 1;
}

static int cgroup_events_next(void *data, struct cgroup_event *ret) {
        const struct real *real = data;
        struct cgwatch *c = real->cgwatch;
        int r;

        for (;;) {
                if (c->at >= c->filled) {
                        ssize_t n = read(c->fd, c->buf, sizeof(c->buf));

                        if (n < 0)
                                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
                        c->at = 0;
                        c->filled = (size_t) n;
                }
                const struct inotify_event *e = (const void *) (c->buf + c->at);
                c->at += sizeof(*e) + e->len;
                r = translate(c, e, ret);
                if (r != 0)
                        return r;
        }
}

const struct cgroup_events_ops real_cgroup_events_ops = {
        .watch = cgroup_events_watch,
        .unwatch = cgroup_events_unwatch,
        .forget = cgroup_events_forget,
        .fd = cgroup_events_fd,
        .next = cgroup_events_next,
};

int cgwatch_open(struct real *real, struct failure *f) {
        struct cgwatch *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return fail(f, FAILURE_FAILED, -ENOMEM, "Out of memory");
        c->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (c->fd < 0) {
                r = -errno;
                free(c);
                return fail(f, FAILURE_FAILED, r, "Cannot watch cgroups: %s", strerrordesc_np(-r));
        }
        real->cgwatch = c;
        return 0;
}

static void keep(_unused_ void *node) {}

void cgwatch_close(struct real *real) {
        struct cgwatch *c = real->cgwatch;

        if (!c)
                return;
        tdestroy(c->by_path, keep); /* each watch is in both trees */
        tdestroy(c->by_wd, free);
        close(c->fd);
        free(c->path);
        free(c);
        real->cgwatch = NULL;
}
