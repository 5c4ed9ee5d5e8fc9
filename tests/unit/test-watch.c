// SPDX-License-Identifier: LGPL-2.1-or-later
/* Process events, and which of them make newcomers. */
#include "watch.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
// cmocka.h needs some of the above
#include <cmocka.h>

/* A row of events that a kernel tells. */
struct row {
        const struct proc_event *event;
        size_t n, at;
        size_t lost_at; /* before this one, some are lost */
};

static int next(void *data, struct proc_event *ret) {
        struct row *row = data;
        if (row->lost_at == row->at && row->lost_at != SIZE_MAX) {
                row->lost_at = SIZE_MAX;
                return -ENOBUFS;
        }
        if (row->at == row->n)
                return 0;
        *ret = row->event[row->at++];
        return 1;
}

static struct row row_of(const struct proc_event *event, size_t n) {
        return (struct row){.event = event, .n = n, .lost_at = SIZE_MAX};
}

static void drain(struct row *row, struct watch *watch, size_t max) {
        static const struct proc_events_ops ops = {.next = next};
        const struct kernel kernel = {.proc_events = &ops, .data = row};
        const struct tenants nobody = {0};
        assert_int_equal(watch_drain(&kernel, &nobody, watch, max), 0);
}

#define FORK(parent, child)                                                                                            \
        { .kind = PROC_EVENT_FORK, .tid = (child), .tgid = (child), .parent_tid = (parent), .parent_tgid = (parent) }
#define END(process)                                                                                                   \
        { .kind = PROC_EVENT_EXIT, .tid = (process), .tgid = (process) }
#define EXEC(process)                                                                                                  \
        { .kind = PROC_EVENT_EXEC, .tid = (process), .tgid = (process) }

static void test_newcomers(void **state) {
        static const struct proc_event events[] = {
                FORK(10, 11), /* settled */
                FORK(11, 12), /* as well */
                FORK(20, 21), /* a newcomer */
                FORK(20, 22), /* one that ends */
                {.kind = PROC_EVENT_FORK, .tid = 24, .tgid = 20, .parent_tid = 20, .parent_tgid = 20}, /* a thread */
                END(22),
                FORK(2, 23), /* a kernel thread */
                EXEC(30),
                END(10),
                FORK(10, 13), /* the number is somebody else's by now */
        };
        struct row row = row_of(events, ELEMENTS(events));
        struct watch watch = {.live = true};

        pidmap_set(&watch.settled, 10, 7);
        drain(&row, &watch, WATCH_ALL);
        assert_int_equal(watch.n, 2);
        assert_int_equal(watch.newcomer[0].pid, 21);
        assert_int_equal(watch.newcomer[1].pid, 13);
        assert_int_equal(pidmap_get(&watch.settled, 11), 7);
        assert_int_equal(pidmap_get(&watch.settled, 12), 7);
        assert_int_equal(pidmap_get(&watch.settled, 10), 0);
        assert_int_equal(pidmap_get(&watch.settled, 24), 0);
        assert_false(watch.lost);
        assert_true(watch_grown(&watch, 7));
        assert_false(watch_grown(&watch, 7));
        assert_false(watch_grown(&watch, 8));
        watch_done(&watch);
}

static void test_not_live(void **state) {
        static const struct proc_event events[] = {FORK(20, 21), FORK(20, 22)};
        struct row row = row_of(events, ELEMENTS(events));
        struct watch watch = {0};

        row.lost_at = 1;
        drain(&row, &watch, WATCH_ALL);
        assert_int_equal(row.at, 2);
        assert_int_equal(watch.n, 0);
        assert_false(watch.lost);
        watch_done(&watch);
}

static void test_execs(void **state) {
        static const struct proc_event events[] = {EXEC(10), EXEC(30)};
        struct row row = row_of(events, ELEMENTS(events));
        struct watch watch = {.live = true, .execs = true};

        pidmap_set(&watch.settled, 10, 7);
        drain(&row, &watch, WATCH_ALL);
        assert_int_equal(watch.n, 1);
        assert_int_equal(watch.newcomer[0].pid, 30);
        watch_done(&watch);
}

static void test_loss(void **state) {
        static const struct proc_event events[] = {FORK(20, 21), FORK(10, 11)};
        struct row row = row_of(events, ELEMENTS(events));
        struct watch watch = {.live = true};

        pidmap_set(&watch.settled, 10, 7);
        row.lost_at = 1;
        drain(&row, &watch, WATCH_ALL);
        assert_true(watch.lost);
        assert_int_equal(pidmap_get(&watch.settled, 10), 0);
        assert_int_equal(watch.n, 1); /* what came after the loss is news, whoever its parent is */
        assert_int_equal(watch.newcomer[0].pid, 11);
        watch_done(&watch);
}

/* Some at a time; and no more newcomers than it pays to look at. */
static void test_bounds(void **state) {
        enum { N = 5000 };
        static struct proc_event events[N];
        for (pid_t i = 0; i < N; i++)
                events[i] = (struct proc_event) FORK(20, 100 + i);
        struct row row = row_of(events, N);
        struct watch watch = {.live = true};

        drain(&row, &watch, 10);
        assert_int_equal(row.at, 10);
        assert_int_equal(watch.n, 10);
        drain(&row, &watch, WATCH_ALL);
        assert_int_equal(row.at, N);
        assert_true(watch.lost);
        assert_true(watch.n < N);
        watch_done(&watch);
}

static void test_pidmap(void **state) {
        struct pidmap map = {0};

        pidmap_set(&map, 5, 0);
        assert_int_equal(pidmap_get(&map, 5), 0);
        for (pid_t i = 0; i < 10000; i += 7)
                pidmap_set(&map, i, 1 + (uint16_t) (i % 2));
        for (pid_t i = 0; i < 10000; i++)
                assert_int_equal(pidmap_get(&map, i), i % 7 == 0 ? 1 + i % 2 : 0);
        pidmap_set(&map, 7, 9);
        assert_int_equal(pidmap_get(&map, 7), 9);
        pidmap_drop(&map, 1);
        for (pid_t i = 0; i < 10000; i++)
                assert_int_equal(pidmap_get(&map, i), i == 7 ? 9 : i % 14 == 7 ? 2 : 0);
        pidmap_set(&map, PIDMAP_MAX - 1, UINT16_MAX);
        assert_int_equal(pidmap_get(&map, PIDMAP_MAX - 1), UINT16_MAX);
        assert_non_null(map.part[PIDMAP_MAX / PIDMAP_PART - 1]);
        pidmap_set(&map, PIDMAP_MAX - 1, 0);
        assert_null(map.part[PIDMAP_MAX / PIDMAP_PART - 1]);
        pidmap_set(&map, PIDMAP_MAX, 1);
        pidmap_set(&map, -1, 1);
        assert_int_equal(pidmap_get(&map, PIDMAP_MAX), 0);
        assert_int_equal(pidmap_get(&map, -1), 0);
        pidmap_done(&map);
        assert_int_equal(pidmap_get(&map, 7), 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_newcomers), cmocka_unit_test(test_not_live), cmocka_unit_test(test_execs),
                cmocka_unit_test(test_loss),      cmocka_unit_test(test_bounds),   cmocka_unit_test(test_pidmap),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
