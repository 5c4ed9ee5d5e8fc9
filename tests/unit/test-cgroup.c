// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reader of cgroups on a tree of plain files (links and vanishing cgroups included), and what is parsed of /proc.
 */
#include "kernel/real.h"
#include "scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
// cmocka.h needs some of the above
#include <cmocka.h>

static char *tree;
static struct real real = {.cgroup_fd = -1};
static const struct cgroup_ops *const ops = &real_cgroup_ops;

static void make_cgroup(const char *path, const char *procs, const char *threads) {
        char file[PATH_MAX];

        snprintf(file, sizeof(file), "%s/cgroup.procs", path);
        scratch_write(tree, file, procs);
        snprintf(file, sizeof(file), "%s/cgroup.threads", path);
        scratch_write(tree, file, threads);
        snprintf(file, sizeof(file), "%s/cgroup.type", path);
        scratch_write(tree, file, "domain\n");
        snprintf(file, sizeof(file), "%s/cgroup.freeze", path);
        scratch_write(tree, file, "0\n");
        snprintf(file, sizeof(file), "%s/cgroup.events", path);
        scratch_write(tree, file, "populated 1\nfrozen 0\n");
}

static int setup(void **state) {
        tree = scratch_new();
        scratch_write(tree, "cgroup.procs", "1\n2\n");
        make_cgroup("a", "10\n11\n", "10\n11\n12\n");
        make_cgroup("a/b", "20\n", "20\n");
        make_cgroup("c d", "", "");
        struct failure f;
        assert_int_equal(cgroups_open(&real, tree, &f), 0);
        return 0;
}

static int teardown(void **state) {
        cgroups_close(&real);
        scratch_done(tree);
        return 0;
}

static void test_open(void **state) {
        struct real other = {.cgroup_fd = -1};
        struct failure f = {0};
        assert_int_equal(cgroups_open(&other, scratch_path(tree, "none"), &f), -ENOENT);
        assert_int_equal(f.kind, FAILURE_FAILED);
        assert_non_null(strstr(f.text, "none"));
        assert_int_equal(cgroups_open(&other, scratch_path(tree, "cgroup.procs"), &f), -ENOTDIR);
        assert_int_equal(other.cgroup_fd, -1);
}

static void test_find(void **state) {
        assert_int_equal(ops->find(&real, "/a"), 0);
        assert_int_equal(ops->find(&real, "/"), 0);
        assert_int_equal(ops->find(&real, "/none"), -ENOENT);
        assert_int_equal(ops->find(&real, "/a/cgroup.procs"), -ENOTDIR);
        assert_int_equal(mkdir(scratch_path(tree, "plain"), 0755), 0); /* a folder, no cgroup */
        assert_int_equal(ops->find(&real, "/plain"), -ENOTDIR);
}

static void test_list(void **state) {
        _cleanup_pids_ struct pids pids = {0};
        assert_int_equal(ops->list(&real, "/a", false, &pids), 0);
        assert_int_equal(pids.n, 2);
        assert_int_equal(ops->list(&real, "/a", true, &pids), 0);
        assert_int_equal(pids.n, 5);
        assert_int_equal(pids.pid[0], 10);
        assert_int_equal(pids.pid[4], 12);
        assert_int_equal(ops->list(&real, "/c d", false, &pids), 0);
        assert_int_equal(ops->list(&real, "/", false, &pids), 0);
        assert_int_equal(pids.n, 7);
        assert_int_equal(pids.pid[5], 1);
        assert_int_equal(ops->list(&real, "/none", false, &pids), -ENOENT);
        assert_int_equal(ops->list(&real, "/a/cgroup.type", false, &pids), -ENOTDIR);
        scratch_write(tree, "a/cgroup.procs", "30\nx\n31\n");
        assert_int_equal(ops->list(&real, "/a", false, &pids), -EBADMSG);
        assert_int_equal(pids.n, 7);
}

/* Many reads long, with numbers that lie across the ends of reads. */
static void test_list_long(void **state) {
        _cleanup_pids_ struct pids pids = {0};
        _cleanup_free_ char *text = malloc((size_t) 8 * 40000);
        size_t length = 0;
        for (int i = 1; i <= 40000; i++)
                length += (size_t) sprintf(text + length, "%d\n", i * 7);
        scratch_write(tree, "a/cgroup.procs", text);
        assert_int_equal(ops->list(&real, "/a", false, &pids), 0);
        assert_int_equal(pids.n, 40000);
        for (int i = 1; i <= 40000; i++)
                assert_int_equal(pids.pid[i - 1], i * 7);
}

static void test_pids_parse(void **state) {
        _cleanup_pids_ struct pids pids = {0};
        const char *text = "1\n0\n22\n333";
        const char *end = text + strlen(text);
        assert_int_equal(pids_parse(&pids, &text, end), 0);
        assert_int_equal(pids.n, 2); /* 0 is nobody */
        assert_int_equal(pids.pid[1], 22);
        assert_string_equal(text, "333"); /* it may go on */
        end = text;
        assert_int_equal(pids_parse(&pids, &text, end), 0);
        assert_int_equal(pids.n, 2);
        text = "-1\n";
        assert_int_equal(pids_parse(&pids, &text, text + 3), -EBADMSG);
        text = "99999999999999999999\n";
        assert_int_equal(pids_parse(&pids, &text, text + 21), -EBADMSG);
}

/* ---- walking ---- */

struct walk {
        char *seen; /* the paths, each with a | behind it */
        size_t size;
        FILE *f;
        const char *act_at;
        int result;
};

static int visit(const char *path, void *userdata) {
        struct walk *w = userdata;
        fprintf(w->f, "%s|", path);
        if (!w->act_at || strcmp(path, w->act_at) != 0)
                return 0;
        return w->result;
}

static int walk(const char *path, struct walk *w) {
        free(w->seen);
        w->f = open_memstream(&w->seen, &w->size);
        int r = ops->walk(&real, path, visit, w);
        fclose(w->f);
        return r;
}

static void test_walk(void **state) {
        struct walk w = {0};
        assert_int_equal(walk("/a", &w), 0);
        assert_string_equal(w.seen, "/a|/a/b|");
        assert_int_equal(walk("/", &w), 0);
        assert_non_null(strstr(w.seen, "/|"));
        assert_non_null(strstr(w.seen, "|/c d|"));
        assert_true(strstr(w.seen, "|/a|") < strstr(w.seen, "|/a/b|"));
        assert_int_equal(walk("/none", &w), -ENOENT);
        assert_string_equal(w.seen, "");
        assert_int_equal(walk("/a/cgroup.procs", &w), -ENOTDIR);

        w.act_at = "/a/b";
        w.result = -ENOENT; /* the visitor's, not the tree's */
        assert_int_equal(walk("/", &w), -ENOENT);
        w.act_at = "/a";
        w.result = -ECANCELED;
        assert_int_equal(walk("/a", &w), -ECANCELED);
        assert_string_equal(w.seen, "/a|");
        free(w.seen);
}

static int remove_sibling(const char *path, void *userdata) {
        char **seen = userdata;
        size_t n = *seen ? strlen(*seen) : 0;
        *seen = realloc(*seen, n + strlen(path) + 2);
        sprintf(*seen + n, "%s|", path);
        /* The first of the two that is visited takes the other away. */
        if (strcmp(path, "/v/1") == 0)
                assert_int_equal(unlinkat(real.cgroup_fd, "v/2", AT_REMOVEDIR), 0);
        else if (strcmp(path, "/v/2") == 0)
                assert_int_equal(unlinkat(real.cgroup_fd, "v/1", AT_REMOVEDIR), 0);
        return 0;
}

static void test_walk_vanishing(void **state) {
        _cleanup_free_ char *seen = NULL;
        assert_int_equal(mkdir(scratch_path(tree, "v"), 0755), 0);
        assert_int_equal(mkdir(scratch_path(tree, "v/1"), 0755), 0);
        assert_int_equal(mkdir(scratch_path(tree, "v/2"), 0755), 0);
        assert_int_equal(ops->walk(&real, "/v", remove_sibling, &seen), 0);
        assert_true(strcmp(seen, "/v|/v/1|") == 0 || strcmp(seen, "/v|/v/2|") == 0);
}

static int make_child(const char *path, void *userdata) {
        (*(unsigned *) userdata)++;
        if (strcmp(path, "/a/b") == 0)
                assert_int_equal(mkdirat(real.cgroup_fd, "a/b/new", 0755), 0);
        return 0;
}

/* What comes after the visit is seen: a visitor that watches a cgroup misses no child. */
static void test_walk_appearing(void **state) {
        unsigned n = 0;
        assert_int_equal(ops->walk(&real, "/a", make_child, &n), 0);
        assert_int_equal(n, 3);
}

static void test_walk_links(void **state) {
        struct walk w = {0};
        assert_int_equal(symlinkat("..", real.cgroup_fd, "a/b/up"), 0);
        assert_int_equal(walk("/a", &w), 0);
        assert_string_equal(w.seen, "/a|/a/b|");
        free(w.seen);
}

/* ---- long paths ---- */

static void test_long_paths(void **state) {
        char name[201], path[60 * 201 + 1] = "";
        int at = dup(real.cgroup_fd);
        memset(name, 'n', 200);
        name[200] = '\0';
        struct walk w = {0};
        for (int i = 0; i < 30; i++) {
                assert_int_equal(mkdirat(at, name, 0755), 0);
                int below = openat(at, name, O_PATH | O_CLOEXEC);
                assert_true(below >= 0);
                close(at);
                at = below;
                strcat(strcat(path, "/"), name);
        }
        int fd = openat(at, "cgroup.procs", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        assert_int_equal(write(fd, "5\n", 2), 2);
        close(fd);
        close(at);

        _cleanup_pids_ struct pids pids = {0};
        assert_true(strlen(path) > PATH_MAX);
        assert_int_equal(ops->list(&real, path, false, &pids), 0);
        assert_int_equal(pids.n, 1);
        assert_int_equal(pids.pid[0], 5);
        char first[202];
        snprintf(first, sizeof(first), "/%s", name);
        /* What lies too deep is left out; the rest is not. */
        assert_int_equal(walk(first, &w), -ENAMETOOLONG);
        assert_null(strstr(w.seen, path));
        path[20 * 201] = '\0';
        assert_non_null(strstr(w.seen, path));
        path[20 * 201] = '/';
        free(w.seen);
        strcat(path, "/none");
        assert_int_equal(ops->list(&real, path, false, &pids), -ENOENT);
        /* one name that is too long */
        memset(path, 'n', sizeof(path) - 1);
        path[0] = '/';
        assert_int_equal(ops->list(&real, path, false, &pids), -ENAMETOOLONG);

        /* nftw() cannot take such a tree away */
        int fds[31];
        fds[0] = dup(real.cgroup_fd);
        for (int i = 0; i < 30; i++)
                fds[i + 1] = openat(fds[i], name, O_PATH | O_CLOEXEC);
        assert_int_equal(unlinkat(fds[30], "cgroup.procs", 0), 0);
        close(fds[30]);
        for (int i = 29; i >= 0; i--) {
                assert_int_equal(unlinkat(fds[i], name, AT_REMOVEDIR), 0);
                close(fds[i]);
        }
}

static void test_freeze(void **state) {
        bool asked = true, frozen = true;
        assert_int_equal(ops->frozen(&real, "/a", &asked, &frozen), 0);
        assert_false(asked);
        assert_false(frozen);
        assert_int_equal(ops->freeze(&real, "/a", true), 0);
        _cleanup_free_ char *text = scratch_read(tree, "a/cgroup.freeze");
        assert_string_equal(text, "1\n");
        assert_int_equal(ops->frozen(&real, "/a", &asked, &frozen), 0);
        assert_true(asked);
        assert_false(frozen);
        scratch_write(tree, "a/cgroup.events", "frozen 1\npopulated 0\n");
        assert_int_equal(ops->frozen(&real, "/a", &asked, &frozen), 0);
        assert_true(frozen);
        scratch_write(tree, "a/cgroup.events", "populated 0\nunfrozen 1\n");
        assert_int_equal(ops->frozen(&real, "/a", &asked, &frozen), -EBADMSG);
        assert_int_equal(ops->freeze(&real, "/none", true), -ENOENT);
        assert_int_equal(ops->frozen(&real, "/none", &asked, &frozen), -ENOENT);
}

/* ---- /proc ---- */

static void test_cgroup_line(void **state) {
        static const struct {
                const char *text, *path;
        } good[] = {
                {"0::/\n", "/"},
                {"0::/a b/c:d\n", "/a b/c:d"},
                {"12:cpu,cpuacct:/x\n1:name=systemd:/y\n0::/z", "/z"},
                {"0::/gone (deleted)\n", "/gone (deleted)"},
                {"10::/no\n0::/yes\n", "/yes"},
        };
        static const char *const bad[] = {"", "\n", "0::", "0::relative\n", "1:name=0::/x:/y\n", "10::/no\n"};
        for (size_t i = 0; i < ELEMENTS(good); i++) {
                _cleanup_free_ char *path = NULL;
                assert_int_equal(cgroup_line_parse(good[i].text, &path), 0);
                assert_string_equal(path, good[i].path);
        }
        for (size_t i = 0; i < ELEMENTS(bad); i++) {
                char *path = NULL;
                assert_int_equal(cgroup_line_parse(bad[i], &path), -ENODATA);
                assert_null(path);
        }
}

static void test_stat(void **state) {
        static const struct {
                const char *text, *comm;
                char state;
                unsigned flags;
        } good[] = {
                {"1 (systemd) S 0 1 1 0 -1 4194560 1 2 3", "systemd", 'S', 4194560},
                {"7 (a) R (b) S) D 0 1 1 0 -1 2129984 1", "a) R (b) S", 'D', 2129984},
                {"7 (new\nline) Z 0 1 1 0 -1 5 1", "new\nline", 'Z', 5},
                {"7 () t 0 1 1 0 -1 5 1", "", 't', 5},
                {"7 (kworker/0:1-a-long-name) I 2 0 0 0 -1 69238880 0", "kworker/0:1-a-l", 'I', 69238880},
        };
        static const char *const bad[] = {"",     "7", "7 (x", "7 x) S 0", "7 )x( S 0 1 1 0 -1 5", "7 (x) S 0 1 1 0 -1",
                                          "7 (x)"};
        for (size_t i = 0; i < ELEMENTS(good); i++) {
                char comm[16], task_state;
                unsigned flags;
                assert_int_equal(stat_parse(good[i].text, comm, &task_state, &flags), 0);
                assert_string_equal(comm, good[i].comm);
                assert_int_equal(task_state, good[i].state);
                assert_int_equal(flags, good[i].flags);
        }
        for (size_t i = 0; i < ELEMENTS(bad); i++) {
                char comm[16], task_state;
                unsigned flags;
                assert_int_equal(stat_parse(bad[i], comm, &task_state, &flags), -EBADMSG);
        }
}

/* Of this process, on whatever kernel this is. */
static void test_own_task(void **state) {
        struct task_info info;
        assert_int_equal(task_info(&real, getpid(), &info), 0);
        assert_int_equal(info.tgid, getpid());
        assert_false(info.kernel_thread);
        assert_false(info.stopped);
        assert_string_equal(info.comm, "test-cgroup");
        assert_int_equal(task_info(&real, 0x7fffffff, &info), -ESRCH);
}

/* ---- SMT ---- */

static void test_smt(void **state) {
        _cleanup_free_ char *control = NULL;
        bool active = true;
        assert_int_equal(smt_read(scratch_path(tree, "smt"), &control, &active), 0);
        assert_string_equal(control, "notsupported");
        assert_false(active);
        static const char *const words[] = {"on", "off", "forceoff", "notsupported", "notimplemented", "1"};
        for (size_t i = 0; i < ELEMENTS(words); i++) {
                char line[32];
                snprintf(line, sizeof(line), "%s\n", words[i]);
                scratch_write(tree, "smt/control", line);
                scratch_write(tree, "smt/active", i == 0 ? "1\n" : "0\n");
                free(TAKE(control));
                assert_int_equal(smt_read(scratch_path(tree, "smt"), &control, &active), 0);
                assert_string_equal(control, words[i]);
                assert_int_equal(active, i == 0);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_open, setup, teardown),
                cmocka_unit_test_setup_teardown(test_find, setup, teardown),
                cmocka_unit_test_setup_teardown(test_list, setup, teardown),
                cmocka_unit_test_setup_teardown(test_list_long, setup, teardown),
                cmocka_unit_test(test_pids_parse),
                cmocka_unit_test_setup_teardown(test_walk, setup, teardown),
                cmocka_unit_test_setup_teardown(test_walk_vanishing, setup, teardown),
                cmocka_unit_test_setup_teardown(test_walk_appearing, setup, teardown),
                cmocka_unit_test_setup_teardown(test_walk_links, setup, teardown),
                cmocka_unit_test_setup_teardown(test_long_paths, setup, teardown),
                cmocka_unit_test_setup_teardown(test_freeze, setup, teardown),
                cmocka_unit_test(test_cgroup_line),
                cmocka_unit_test(test_stat),
                cmocka_unit_test(test_own_task),
                cmocka_unit_test_setup_teardown(test_smt, setup, teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
