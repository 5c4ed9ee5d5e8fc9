// SPDX-License-Identifier: LGPL-2.1-or-later
/* cgroup_ops on a real kernel, but for freezing. */
#include "kernel-check.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

static const struct cgroup_ops *cg(void) {
        return kernel.cgroup;
}

static int find(const char *path) {
        return cg()->find(kernel.data, path);
}

static void finds(void) {
        CHECK_IS(make(BASE "/a"), 0);
        CHECK_IS(make(BASE "/a/b"), 0);
        CHECK_IS(make(BASE "/a/c"), 0);
        CHECK_IS(find("/"), 0);
        CHECK_IS(find(BASE "/a"), 0);
        CHECK_IS(write_to(BASE "/a/b", "cgroup.type", "threaded"), 0);
        CHECK_IS(find(BASE "/a"), 0);
        CHECK_IS(find(BASE "/a/b"), 0);
        CHECK_IS(find(BASE "/a/c"), 0);
        CHECK_IS(find(BASE "/a/none"), -ENOENT);
        CHECK_IS(find(BASE "/a/cgroup.procs"), -ENOTDIR);
        CHECK_IS(find(BASE "/a/cgroup.procs/x"), -ENOTDIR);
        CHECK_IS(remove_cgroup(BASE "/a/b"), 0);
        CHECK_IS(remove_cgroup(BASE "/a/c"), 0);
        CHECK_IS(remove_cgroup(BASE "/a"), 0);
        CHECK_IS(find(BASE "/a"), -ENOENT);
}

static void listed(void) {
        _cleanup_pids_ struct pids pids = {0};
        pid_t a = start_threads(3), b = start_sleeping();

        CHECK_IS(make(BASE "/a"), 0);
        CHECK_IS(cg()->list(kernel.data, BASE "/a", false, &pids), 0);
        CHECK_IS(pids.n, 0);
        CHECK_IS(put_in(BASE "/a", a), 0);
        CHECK_IS(put_in(BASE "/a", b), 0);
        CHECK_IS(cg()->list(kernel.data, BASE "/a", false, &pids), 0);
        CHECK_IS(pids.n, 2);
        CHECK_IS(cg()->list(kernel.data, BASE "/a", true, &pids), 0);
        CHECK_IS(pids.n, 2 + 4); /* appended */
        pids_sort(&pids);
        CHECK_IS(pids.n, 4);
        CHECK(pids_contain(&pids, a) && pids_contain(&pids, b));
        CHECK_IS(cg()->list(kernel.data, BASE, false, &pids), 0);
        CHECK_IS(pids.n, 4);
        CHECK_IS(cg()->list(kernel.data, BASE "/none", false, &pids), -ENOENT);
        CHECK_IS(pids.n, 4);
        finish(a);
        finish(b);
        CHECK_IS(remove_cgroup(BASE "/a"), 0);
}

static void listed_many(void) {
        enum { N = 1200 }; /* several pages together */
        _cleanup_pids_ struct pids pids = {0};
        pid_t a = start_threads(N), b = start_threads(N);

        CHECK(a > 0 && b > 0);
        CHECK_IS(make(BASE "/a"), 0);
        CHECK_IS(put_in(BASE "/a", a), 0);
        CHECK_IS(put_in(BASE "/a", b), 0);
        CHECK_IS(cg()->list(kernel.data, BASE "/a", true, &pids), 0);
        CHECK_IS(pids.n, 2 * N);
        pids_sort(&pids);
        CHECK_IS(pids.n, 2 * N);
        CHECK(pids_contain(&pids, a) && pids_contain(&pids, b));
        finish(a);
        finish(b);
        CHECK_IS(remove_cgroup(BASE "/a"), 0);
}

static int second_thread(pid_t tid, void *userdata) {
        pid_t *pid = userdata;

        if (tid == *pid)
                return 0;
        *pid = tid;
        return 1;
}

static void threaded(void) {
        _cleanup_pids_ struct pids pids = {0};
        _cleanup_free_ char *path = NULL;
        pid_t a = start_threads(2), thread = a;
        char text[16];

        CHECK_IS(each_thread(a, second_thread, &thread), 1);
        CHECK_IS(make(BASE "/a"), 0);
        CHECK_IS(make(BASE "/a/t"), 0);
        CHECK_IS(write_to(BASE "/a/t", "cgroup.type", "threaded"), 0);
        CHECK_IS(put_in(BASE "/a", a), 0);
        snprintf(text, sizeof(text), "%d", (int) thread);
        CHECK_IS(write_to(BASE "/a/t", "cgroup.threads", text), 0);
        CHECK_IS(cg()->list(kernel.data, BASE "/a/t", false, &pids), -EOPNOTSUPP);
        CHECK_IS(pids.n, 0);
        CHECK_IS(cg()->list(kernel.data, BASE "/a/t", true, &pids), 0);
        CHECK_IS(pids.n, 1);
        CHECK_IS(pids.pid[0], thread);
        pids.n = 0;
        CHECK_IS(cg()->list(kernel.data, BASE "/a", false, &pids), 0);
        CHECK_IS(pids.n, 1);
        CHECK_IS(pids.pid[0], a);
        CHECK_IS(cg()->of_task(kernel.data, thread, &path), 0);
        CHECK(strcmp(path, BASE "/a/t") == 0);
        finish(a);
        CHECK_IS(remove_cgroup(BASE "/a/t"), 0);
        CHECK_IS(remove_cgroup(BASE "/a"), 0);
}

/* ---- names and paths ---- */

struct seen {
        char **paths;
        size_t n, allocated;
};

static int see(const char *path, void *userdata) {
        struct seen *s = userdata;
        char **grown = reallocarray(s->paths, s->n + 1, sizeof(*grown));

        if (!grown)
                return -ENOMEM;
        s->paths = grown;
        s->paths[s->n] = strdup(path);
        return s->paths[s->n++] ? 0 : -ENOMEM;
}

static void seen_done(struct seen *s) {
        for (size_t i = 0; i < s->n; i++)
                free(s->paths[i]);
        free(s->paths);
}

static size_t place(const struct seen *s, const char *path) {
        for (size_t i = 0; i < s->n; i++)
                if (strcmp(s->paths[i], path) == 0)
                        return i;
        return SIZE_MAX;
}

static void names(void) {
        static const char *const odd[] = {
                BASE "/with space",         BASE "/[x]*?",         BASE "/a\\x2db.slice", BASE "/.hidden",
                BASE "/gr\xc3\xbc\xc3\x9f", BASE "/bytes\xff\xfe", BASE "/x (deleted)",   BASE "/tab\tand\\n",
        };
        _cleanup_(seen_done) struct seen seen = {0};
        pid_t a = start_sleeping();

        CHECK_IS(make(BASE "/new\nline"), -EINVAL); /* none can have one */
        for (size_t i = 0; i < ELEMENTS(odd); i++) {
                _cleanup_pids_ struct pids pids = {0};
                _cleanup_free_ char *path = NULL;

                CHECK_IS(make(odd[i]), 0);
                CHECK_IS(put_in(odd[i], a), 0);
                CHECK_IS(cg()->of_task(kernel.data, a, &path), 0);
                CHECK(strcmp(path, odd[i]) == 0);
                CHECK_IS(cg()->list(kernel.data, odd[i], false, &pids), 0);
                CHECK_IS(pids.n, 1);
                CHECK_IS(find(odd[i]), 0);
        }
        CHECK_IS(cg()->walk(kernel.data, BASE, see, &seen), 0);
        CHECK_IS(seen.n, ELEMENTS(odd) + 1);
        CHECK_IS(place(&seen, BASE), 0);
        for (size_t i = 0; i < ELEMENTS(odd); i++)
                CHECK(place(&seen, odd[i]) != SIZE_MAX);
        finish(a);
        for (size_t i = 0; i < ELEMENTS(odd); i++)
                CHECK_IS(remove_cgroup(odd[i]), 0);
}

/* Below BASE, one in the other, each with a name of 200 bytes, until the path is at least so long. The path of each is
 * made relative to its parent, for the kernel takes no path longer than PATH_MAX. */
static char *make_deep(size_t length, unsigned *ret_depth) {
        char name[201], *path = strdup(BASE);
        int at = open(real_path(BASE), O_PATH | O_CLOEXEC);

        memset(name, 'd', 200);
        name[200] = '\0';
        for (*ret_depth = 0; path && at >= 0 && strlen(path) < length; (*ret_depth)++) {
                char *longer = NULL;
                int below;

                if (mkdirat(at, name, 0755) < 0 || asprintf(&longer, "%s/%s", path, name) < 0)
                        break;
                free(path);
                path = longer;
                below = openat(at, name, O_PATH | O_CLOEXEC);
                close(at);
                at = below;
        }
        close(at);
        return path;
}

static int remove_deep(unsigned depth) {
        char name[201];
        int fds[64];

        memset(name, 'd', 200);
        name[200] = '\0';
        fds[0] = open(real_path(BASE), O_PATH | O_CLOEXEC);
        for (unsigned i = 0; i < depth; i++)
                fds[i + 1] = openat(fds[i], name, O_PATH | O_CLOEXEC);
        close(fds[depth]);
        for (unsigned i = depth; i-- > 0;) {
                for (int tries = 0; unlinkat(fds[i], name, AT_REMOVEDIR) < 0; tries++) {
                        if (errno != EBUSY || tries > 1000)
                                return -errno;
                        usleep(5000);
                }
                close(fds[i]);
        }
        return 0;
}

static int put_in_deep(unsigned depth, pid_t pid) {
        int fd = open(real_path(BASE), O_PATH | O_CLOEXEC), next;
        char name[201], text[16];
        ssize_t n;

        memset(name, 'd', 200);
        name[200] = '\0';
        for (unsigned i = 0; i < depth; i++, fd = next) {
                next = openat(fd, name, O_PATH | O_CLOEXEC);
                close(fd);
        }
        next = openat(fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
        close(fd);
        snprintf(text, sizeof(text), "%d", (int) pid);
        n = write(next, text, strlen(text));
        close(next);
        return n < 0 ? -errno : 0;
}

/* Paths of any length, also those that the kernel itself cannot name any more. */
static void long_path(size_t length) {
        _cleanup_(seen_done) struct seen seen = {0};
        _cleanup_pids_ struct pids pids = {0};
        _cleanup_free_ char *deep = NULL, *path = NULL;
        pid_t a = start_sleeping();
        bool asked, frozen;
        unsigned depth;
        int r;

        deep = make_deep(length, &depth);
        CHECK(deep && strlen(deep) >= length);
        if (strlen(deep) <= KERNEL_PATH_MAX) {
                CHECK_IS(cg()->walk(kernel.data, BASE, see, &seen), 0);
                CHECK_IS(seen.n, depth + 1);
                CHECK(strcmp(seen.paths[depth], deep) == 0);
        } else {
                /* What lies too deep is left out; the rest is shown. */
                CHECK_IS(cg()->walk(kernel.data, BASE, see, &seen), -ENAMETOOLONG);
                CHECK(seen.n > 1 && seen.n < depth + 1);
        }
        CHECK_IS(find(deep), 0);
        CHECK_IS(put_in_deep(depth, a), 0);
        CHECK_IS(cg()->list(kernel.data, deep, false, &pids), 0);
        CHECK_IS(pids.n, 1);
        CHECK_IS(pids.pid[0], a);
        CHECK_IS(cg()->freeze(kernel.data, deep, true), 0);
        CHECK_IS(cg()->frozen(kernel.data, deep, &asked, &frozen), 0);
        CHECK(asked);
        CHECK_IS(cg()->freeze(kernel.data, deep, false), 0);
        CHECK_IS(kernel.cgroup_events->watch(kernel.data, deep), 0);
        kernel.cgroup_events->unwatch(kernel.data, deep);
        r = cg()->of_task(kernel.data, a, &path);
        if (strlen(deep) < PATH_MAX) {
                CHECK_IS(r, 0);
                CHECK(strcmp(path, deep) == 0);
        } else
                CHECK_IS(r, -ENAMETOOLONG);
        finish(a);
        CHECK_IS(remove_deep(depth), 0);
}

static void path_of_4000(void) {
        long_path(3890); /* ends at 4,033 */
}

static void path_of_9000(void) {
        long_path(9000);
}

/* ---- walking ---- */

static int stop_at_two(_unused_ const char *path, void *userdata) {
        return ++*(unsigned *) userdata == 2 ? -ECANCELED : 0;
}

static void *come_and_go(void *userdata) {
        const volatile bool *stop = userdata;

        while (!*stop) {
                static const char *const paths[] = {BASE "/v", BASE "/v/1", BASE "/v/1/2", BASE "/v/3"};
                char real[ELEMENTS(paths)][128];

                for (size_t i = 0; i < ELEMENTS(paths); i++) {
                        snprintf(real[i], sizeof(real[i]), "%s", real_path(paths[i]));
                        (void) mkdir(real[i], 0755);
                }
                for (size_t i = ELEMENTS(paths); i-- > 0;)
                        (void) rmdir(real[i]);
        }
        return NULL;
}

static int look_at(const char *path, void *userdata) {
        struct pids *pids = userdata;
        bool asked, frozen;
        int r;

        r = cg()->list(kernel.data, path, false, pids);
        if (r < 0 && r != -ENOENT && r != -ENODEV)
                return r;
        r = cg()->frozen(kernel.data, path, &asked, &frozen);
        if (r < 0 && r != -ENOENT && r != -ENODEV)
                return r;
        r = cg()->find(kernel.data, path);
        return r < 0 && r != -ENOENT && r != -ENODEV ? r : 0;
}

static void walks(void) {
        _cleanup_(seen_done) struct seen seen = {0};
        _cleanup_pids_ struct pids pids = {0};
        unsigned calls = 0, n_before;
        volatile bool stop = false;
        pthread_t thread;

        CHECK_IS(make(BASE "/a"), 0);
        CHECK_IS(make(BASE "/a/b"), 0);
        CHECK_IS(make(BASE "/c"), 0);
        CHECK_IS(cg()->walk(kernel.data, BASE, see, &seen), 0);
        CHECK_IS(seen.n, 4);
        CHECK(place(&seen, BASE "/a") < place(&seen, BASE "/a/b"));
        CHECK_IS(cg()->walk(kernel.data, BASE, stop_at_two, &calls), -ECANCELED);
        CHECK_IS(calls, 2);
        CHECK_IS(cg()->walk(kernel.data, BASE "/none", see, &seen), -ENOENT);
        CHECK_IS(seen.n, 4);
        n_before = (unsigned) seen.n;
        CHECK_IS(cg()->walk(kernel.data, "/", see, &seen), 0);
        CHECK(place(&seen, "/") == n_before);

        CHECK_IS(pthread_create(&thread, NULL, come_and_go, (void *) &stop), 0);
        for (usec_t end = now() + 5 * USEC_PER_SEC; now() < end;) {
                int r = cg()->walk(kernel.data, BASE, look_at, &pids);
                if (r != 0) {
                        check_failed(__FILE__, __LINE__, "walk gave %d", r);
                        break;
                }
        }
        stop = true;
        pthread_join(thread, NULL);
        CHECK(pids.n == 0);
        CHECK_IS(remove_cgroup(BASE "/c"), 0);
        CHECK_IS(remove_cgroup(BASE "/a/b"), 0);
        CHECK_IS(remove_cgroup(BASE "/a"), 0);
}

static void of_task(void) {
        _cleanup_free_ char *path = NULL, *kept = (char *) "untouched";
        pid_t a = start_sleeping(), gone = start_sleeping();

        finish(gone);
        CHECK_IS(cg()->of_task(kernel.data, gone, &kept), -ESRCH);
        CHECK(strcmp(TAKE(kept), "untouched") == 0);
        CHECK_IS(make(BASE "/a"), 0);
        CHECK_IS(put_in(BASE "/a", a), 0);
        CHECK_IS(cg()->of_task(kernel.data, a, &path), 0);
        CHECK(strcmp(path, BASE "/a") == 0);
        /* a zombie keeps its cgroup, but not for ever */
        kill(a, SIGKILL);
        CHECK_IS(remove_cgroup(BASE "/a"), 0);
        CHECK_IS(cg()->of_task(kernel.data, a, &kept), -ESRCH);
        CHECK(kept == NULL);
}

void test_cgroups(void) {
        run_test("finds", finds);
        run_test("lists", listed);
        run_test("lists of 2,400", listed_many);
        run_test("threaded cgroups", threaded);
        run_test("odd names", names);
        run_test("a path of 4,000 bytes", path_of_4000);
        run_test("a path of 9,000 bytes", path_of_9000);
        run_test("walks, also while cgroups vanish", walks);
        run_test("the cgroup of a task", of_task);
}
