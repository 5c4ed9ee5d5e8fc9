// SPDX-License-Identifier: LGPL-2.1-or-later
/* The planner: each of its rules once, and its invariants over seeded random worlds, in which its steps are also
 * carried out until it has no more. */
#include "plan.h"
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka.h needs the four above
#include <cmocka.h>

#define INPUT(threads, ...) (&(struct plan_input){.seen = (threads), .n_seen = ELEMENTS(threads), __VA_ARGS__})

/* Asserts the step and, until a 0, its targets. */
static void check_plan(const struct plan_input *input, enum plan_step step, const pid_t *targets) {
        _cleanup_(plan_done) struct plan plan = {0};
        assert_int_equal(plan_make(input, &plan), 0);
        assert_int_equal(plan.step, step);
        size_t n = 0;
        while (targets && targets[n] != 0)
                n++;
        assert_int_equal(plan.n_targets, n);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(plan.targets[i], targets[i]);
}
#define TARGETS(...) ((const pid_t[]){__VA_ARGS__, 0})

static void test_nothing_inside(void **state) {
        const struct seen seen[] = {{.tid = 1, .place = SEEN_OUTSIDE}, {.tid = 2, .place = SEEN_OTHER, .cookie = 9}};
        check_plan(&(struct plan_input){0}, PLAN_DONE, NULL);
        check_plan(INPUT(seen), PLAN_DONE, NULL);
        check_plan(INPUT(seen, .cookie = 7, .freeze = true), PLAN_DONE, NULL);
}

static void test_new_for_leaders_first(void **state) {
        const struct seen seen[] = {{.tid = 10, .leader = true}, {.tid = 11}, {.tid = 20, .leader = true}};
        check_plan(INPUT(seen), PLAN_NEW, TARGETS(10, 20));
        /* A cookie that nobody inside carries any more says nothing. */
        check_plan(INPUT(seen, .cookie = 7), PLAN_NEW, TARGETS(10, 20));
}

static void test_share(void **state) {
        const struct seen seen[] = {{.tid = 11, .cookie = 7},
                                    {.tid = 10, .leader = true, .cookie = 7},
                                    {.tid = 20, .leader = true},
                                    {.tid = 21, .cookie = 8},
                                    {.tid = 30, .leader = true, .cookie = 9}};
        _cleanup_(plan_done) struct plan plan = {0};
        assert_int_equal(plan_make(INPUT(seen, .cookie = 7), &plan), 0);
        assert_int_equal(plan.step, PLAN_SHARE);
        assert_int_equal(plan.source, 10);
        assert_int_equal(plan.cookie, 7);
        assert_false(plan.by_thread);
        assert_int_equal(plan.n_targets, 2);
        assert_int_equal(plan.targets[0], 20);
        assert_int_equal(plan.targets[1], 30);
}

static void test_share_mere_threads(void **state) {
        const struct seen seen[] = {
                {.tid = 10, .leader = true, .cookie = 7}, {.tid = 11, .cookie = 8}, {.tid = 12, .cookie = 9}};
        _cleanup_(plan_done) struct plan plan = {0};
        assert_int_equal(plan_make(INPUT(seen, .cookie = 7), &plan), 0);
        assert_int_equal(plan.step, PLAN_SHARE);
        assert_true(plan.by_thread);
        assert_int_equal(plan.n_targets, 2);
        assert_int_equal(plan.targets[0], 11);
        assert_int_equal(plan.targets[1], 12);
}

static void test_threaded_by_thread(void **state) {
        const struct seen threaded[] = {{.tid = 10, .threaded = true, .leader = true}, {.tid = 11, .threaded = true}};
        _cleanup_(plan_done) struct plan plan = {0};
        assert_int_equal(plan_make(INPUT(threaded), &plan), 0);
        assert_int_equal(plan.step, PLAN_NEW);
        assert_true(plan.by_thread);
        assert_int_equal(plan.n_targets, 2);

        /* Groups come before, and threads of threaded cgroups are never reached by their group. */
        const struct seen mixed[] = {{.tid = 10, .threaded = true}, {.tid = 20, .leader = true}};
        const struct seen half[] = {{.tid = 10, .threaded = true}, {.tid = 20, .leader = true, .cookie = 7}};
        check_plan(INPUT(mixed), PLAN_NEW, TARGETS(20));
        check_plan(INPUT(half, .cookie = 7), PLAN_SHARE, TARGETS(10));
}

static void test_source_that_is_no_leader(void **state) {
        const struct seen seen[] = {{.tid = 11, .cookie = 7}, {.tid = 12, .cookie = 7}, {.tid = 20, .leader = true}};
        _cleanup_(plan_done) struct plan plan = {0};
        assert_int_equal(plan_make(INPUT(seen, .cookie = 7), &plan), 0);
        assert_int_equal(plan.source, 11);
}

static void test_errors_are_left_alone(void **state) {
        const struct seen refused[] = {{.tid = 10, .leader = true, .error = -EPERM}, {.tid = 20, .leader = true}};
        check_plan(INPUT(refused), PLAN_NEW, TARGETS(20));
        const struct seen all[] = {{.tid = 10, .leader = true, .error = -EPERM, .cookie = 7}};
        check_plan(INPUT(all), PLAN_DONE, NULL);
        check_plan(INPUT(all, .cookie = 7), PLAN_DONE, NULL);
        check_plan(INPUT(all, .cookie = 7, .wish = WISH_UNTAGGED), PLAN_DONE, NULL);
        /* A refused thread is no source either. */
        const struct seen source[] = {{.tid = 10, .leader = true, .error = -EPERM, .cookie = 7},
                                      {.tid = 20, .leader = true}};
        check_plan(INPUT(source, .cookie = 7), PLAN_NEW, TARGETS(20));
}

static void test_freeze_first(void **state) {
        const struct seen seen[] = {{.tid = 10, .leader = true}, {.tid = 20, .leader = true, .cookie = 7}};
        check_plan(INPUT(seen, .cookie = 7, .freeze = true), PLAN_FREEZE, NULL);
        check_plan(INPUT(seen, .cookie = 7, .freeze = true, .frozen = true), PLAN_SHARE, TARGETS(10));
        const struct seen fresh[] = {{.tid = 10, .leader = true}};
        check_plan(INPUT(fresh, .freeze = true), PLAN_FREEZE, NULL);
        /* Nothing to bring in: nothing is frozen, nor for taking the cookie away. */
        const struct seen good[] = {{.tid = 20, .leader = true, .cookie = 7},
                                    {.tid = 30, .leader = true, .place = SEEN_OUTSIDE, .cookie = 7}};
        check_plan(INPUT(good, .cookie = 7, .freeze = true), PLAN_CLEAR, TARGETS(30));
        check_plan(INPUT(good, .cookie = 7, .freeze = true, .wish = WISH_UNTAGGED), PLAN_CLEAR, TARGETS(30));
}

static void test_adoption(void **state) {
        const struct seen seen[] = {{.tid = 10, .leader = true, .cookie = 5},
                                    {.tid = 20, .leader = true, .cookie = 6},
                                    {.tid = 30, .leader = true, .cookie = 6},
                                    {.tid = 40, .leader = true}};
        _cleanup_(plan_done) struct plan plan = {0};
        check_plan(INPUT(seen), PLAN_WHOLE_HOST, NULL);
        assert_int_equal(plan_make(INPUT(seen, .whole_host = true), &plan), 0);
        assert_int_equal(plan.step, PLAN_ADOPT);
        assert_int_equal(plan.cookie, 6);

        /* Once adopted, it goes to the others. */
        check_plan(INPUT(seen, .cookie = 6, .adopted = true, .whole_host = true), PLAN_SHARE, TARGETS(10, 40));
}

static void test_adoption_ties(void **state) {
        const struct seen seen[] = {{.tid = 10, .leader = true, .cookie = 6}, {.tid = 20, .leader = true, .cookie = 5}};
        _cleanup_(plan_done) struct plan plan = {0};
        assert_int_equal(plan_make(INPUT(seen, .whole_host = true), &plan), 0);
        assert_int_equal(plan.step, PLAN_ADOPT);
        assert_int_equal(plan.cookie, 5);
}

static void test_adoption_refused(void **state) {
        const struct seen seen[] = {{.tid = 10, .leader = true, .cookie = 5},
                                    {.tid = 20, .leader = true, .cookie = 6},
                                    {.tid = 30, .leader = true, .cookie = 6},
                                    {.tid = 90, .leader = true, .cookie = 6, .place = SEEN_OUTSIDE}};
        _cleanup_(plan_done) struct plan plan = {0};
        assert_int_equal(plan_make(INPUT(seen, .whole_host = true), &plan), 0);
        assert_int_equal(plan.step, PLAN_ADOPT); /* the next most frequent */
        assert_int_equal(plan.cookie, 5);

        const uint64_t five[] = {4, 5, 8};
        check_plan(INPUT(seen, .whole_host = true, .taken = five, .n_taken = ELEMENTS(five)), PLAN_NEW,
                   TARGETS(10, 20, 30));

        const struct seen other[] = {{.tid = 10, .leader = true, .cookie = 5},
                                     {.tid = 90, .leader = true, .cookie = 5, .place = SEEN_OTHER}};
        check_plan(INPUT(other, .whole_host = true), PLAN_NEW, TARGETS(10));

        /* Somebody outside whom one may not look at could carry it. */
        const struct seen hidden[] = {{.tid = 10, .leader = true, .cookie = 5},
                                      {.tid = 90, .leader = true, .error = -EPERM, .place = SEEN_OUTSIDE}};
        check_plan(INPUT(hidden, .whole_host = true), PLAN_NEW, TARGETS(10));
        const struct seen gone[] = {{.tid = 10, .leader = true, .cookie = 5},
                                    {.tid = 90, .leader = true, .error = -ESRCH, .place = SEEN_OUTSIDE}};
        check_plan(INPUT(gone, .whole_host = true), PLAN_ADOPT, NULL);
}

static void test_shared_with_another_tenant(void **state) {
        const struct seen seen[] = {{.tid = 10, .leader = true, .cookie = 7},
                                    {.tid = 20, .leader = true, .cookie = 7},
                                    {.tid = 90, .leader = true, .cookie = 7, .place = SEEN_OTHER}};
        const uint64_t taken[] = {7};
        check_plan(INPUT(seen, .cookie = 7, .taken = taken, .n_taken = 1), PLAN_NEW, TARGETS(10, 20));
}

static void test_outside_is_cleared(void **state) {
        const struct seen seen[] = {{.tid = 10, .leader = true, .cookie = 7},
                                    {.tid = 11},
                                    {.tid = 80, .leader = true, .cookie = 7, .place = SEEN_OUTSIDE},
                                    {.tid = 81, .cookie = 6, .place = SEEN_OUTSIDE},
                                    {.tid = 90, .leader = true, .cookie = 7, .place = SEEN_OTHER}};
        check_plan(INPUT(seen, .cookie = 7), PLAN_SHARE, TARGETS(11)); /* the inside comes first */
        struct seen right[ELEMENTS(seen)];
        memcpy(right, seen, sizeof(right));
        right[1].cookie = 7;
        _cleanup_(plan_done) struct plan plan = {0};
        assert_int_equal(plan_make(INPUT(right, .cookie = 7), &plan), 0);
        assert_int_equal(plan.step, PLAN_CLEAR);
        assert_false(plan.by_thread); /* it was given to the whole group */
        assert_int_equal(plan.n_targets, 1);
        assert_int_equal(plan.targets[0], 80);
        plan_done(&plan);
        right[2].leader = false;
        assert_int_equal(plan_make(INPUT(right, .cookie = 7), &plan), 0);
        assert_int_equal(plan.step, PLAN_CLEAR);
        assert_true(plan.by_thread);
        check_plan(INPUT(right, .cookie = 7, .adopted = true), PLAN_DONE, NULL);
        /* Nobody inside carries it: the number may be another's by now. */
        const struct seen reused[] = {{.tid = 80, .leader = true, .cookie = 7, .place = SEEN_OUTSIDE}};
        check_plan(INPUT(reused, .cookie = 7), PLAN_DONE, NULL);
        check_plan(INPUT(reused, .cookie = 7, .wish = WISH_UNTAGGED), PLAN_DONE, NULL);
}

static void test_untag(void **state) {
        const struct seen seen[] = {{.tid = 10, .leader = true, .cookie = 7},
                                    {.tid = 11, .cookie = 7},
                                    {.tid = 20, .leader = true, .cookie = 6},
                                    {.tid = 30, .leader = true},
                                    {.tid = 90, .leader = true, .cookie = 7, .place = SEEN_OTHER}};
        check_plan(INPUT(seen, .cookie = 7, .wish = WISH_UNTAGGED), PLAN_CLEAR, TARGETS(10));
        check_plan(INPUT(seen, .cookie = 0, .wish = WISH_UNTAGGED), PLAN_DONE, NULL);
        check_plan(INPUT(seen, .cookie = 7, .adopted = true, .wish = WISH_UNTAGGED), PLAN_DONE, NULL);
        check_plan(INPUT(seen, .cookie = 7, .adopted = true, .wish = WISH_UNTAGGED_FORCE), PLAN_CLEAR, TARGETS(10));

        /* Outside first; but not where the number is another tenant's as well. */
        const struct seen left[] = {{.tid = 10, .leader = true, .cookie = 7},
                                    {.tid = 80, .leader = true, .cookie = 7, .place = SEEN_OUTSIDE}};
        const uint64_t taken[] = {7};
        check_plan(INPUT(left, .cookie = 7, .wish = WISH_UNTAGGED), PLAN_CLEAR, TARGETS(80));
        check_plan(INPUT(left, .cookie = 7, .wish = WISH_UNTAGGED, .taken = taken, .n_taken = 1), PLAN_CLEAR,
                   TARGETS(10));
}

/* ---- random worlds ---- */

#define THREADS_MAX 24
#define STEPS_MAX   12

static uint64_t random_state;
static unsigned random_below(unsigned n) {
        random_state += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t z = random_state;
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return (unsigned) ((z ^ (z >> 31)) % n);
}

struct random_world {
        struct seen seen[THREADS_MAX];
        unsigned group[THREADS_MAX]; /* of threads that a delivery by group reaches together */
        size_t n;
        uint64_t taken[3];
        struct plan_input input;
};

/* Thread groups lie in one place, but for those of threaded cgroups. */
static void make_world(struct random_world *w) {
        *w = (struct random_world){.n = random_below(THREADS_MAX + 1)};
        uint64_t cookies = 1 + random_below(8);
        enum seen_place place = SEEN_INSIDE;
        bool threaded = false, refused = random_below(4) == 0;
        for (size_t i = 0; i < w->n; i++) {
                bool leader = i == 0 || random_below(2);
                if (leader) {
                        place = random_below(2) ? SEEN_INSIDE : random_below(2) ? SEEN_OUTSIDE : SEEN_OTHER;
                        threaded = place == SEEN_INSIDE && random_below(4) == 0;
                }
                w->group[i] = leader ? (unsigned) i : w->group[i - 1];
                w->seen[i] = (struct seen){.tid = (pid_t) (100 + i),
                                           .place = threaded && random_below(3) == 0 ? SEEN_OUTSIDE : place,
                                           .leader = leader,
                                           .threaded = threaded,
                                           .error = refused && random_below(6) == 0 ? -EPERM : 0,
                                           .cookie = random_below(2) ? random_below((unsigned) cookies) : 0};
        }
        size_t n_taken = random_below(ELEMENTS(w->taken) + 1);
        uint64_t cookie = 0;
        for (size_t i = 0; i < n_taken; i++)
                w->taken[i] = cookie += 1 + random_below(4);
        w->input = (struct plan_input){.wish = random_below(3) ? WISH_TAGGED : (enum plan_wish) random_below(3),
                                       .cookie = random_below((unsigned) cookies + 1),
                                       .adopted = random_below(4) == 0,
                                       .whole_host = random_below(2),
                                       .freeze = random_below(3) == 0,
                                       .seen = w->seen,
                                       .n_seen = w->n,
                                       .taken = w->taken,
                                       .n_taken = n_taken};
}

static bool world_taken(const struct random_world *w, uint64_t cookie) {
        for (size_t i = 0; i < w->input.n_taken; i++)
                if (w->taken[i] == cookie)
                        return true;
        return false;
}

static struct seen *world_thread(struct random_world *w, pid_t tid) {
        assert_in_range(tid, 100, 99 + w->n);
        return w->seen + (tid - 100);
}

/* What must hold of any plan. */
static void check_invariants(struct random_world *w, const struct plan *plan) {
        const struct plan_input *input = &w->input;
        bool delivers = plan->step == PLAN_NEW || plan->step == PLAN_SHARE || plan->step == PLAN_CLEAR;
        assert_int_equal(plan->n_targets > 0, delivers);
        for (size_t i = 0; i < plan->n_targets; i++) {
                const struct seen *target = world_thread(w, plan->targets[i]);
                assert_int_equal(target->error, 0);
                assert_int_not_equal(target->place, SEEN_OTHER);
                if (!plan->by_thread)
                        assert_false(target->threaded);
                if (plan->step == PLAN_CLEAR)
                        assert_int_equal(target->cookie, input->cookie);
                else
                        assert_int_equal(target->place, SEEN_INSIDE);
        }
        if (plan->step == PLAN_CLEAR) {
                assert_int_not_equal(input->cookie, 0);
                assert_false(input->adopted && input->wish != WISH_UNTAGGED_FORCE);
        }
        if (plan->step == PLAN_SHARE) {
                const struct seen *source = world_thread(w, plan->source);
                assert_int_equal(source->place, SEEN_INSIDE);
                assert_int_equal(source->error, 0);
                assert_int_equal(source->cookie, plan->cookie);
                assert_int_not_equal(plan->cookie, 0);
                assert_false(world_taken(w, plan->cookie));
        }
        if (plan->step == PLAN_ADOPT) {
                assert_true(input->whole_host);
                assert_int_not_equal(plan->cookie, 0);
                assert_false(world_taken(w, plan->cookie));
                bool inside = false;
                for (size_t i = 0; i < w->n; i++)
                        if (w->seen[i].place != SEEN_INSIDE)
                                assert_int_not_equal(w->seen[i].cookie, plan->cookie);
                        else
                                inside |= w->seen[i].cookie == plan->cookie;
                assert_true(inside);
        }
        if (input->wish != WISH_TAGGED)
                assert_true(plan->step == PLAN_CLEAR || plan->step == PLAN_DONE);
        if (plan->step == PLAN_FREEZE)
                assert_true(input->freeze && !input->frozen);
}

/* Does what a pass would do, without a kernel. */
static void apply(struct random_world *w, const struct plan *plan, uint64_t fresh) {
        switch (plan->step) {
        case PLAN_WHOLE_HOST:
                w->input.whole_host = true;
                return;
        case PLAN_FREEZE:
                w->input.frozen = true;
                return;
        case PLAN_ADOPT:
                w->input.cookie = plan->cookie;
                w->input.adopted = true;
                return;
        default:
                break;
        }
        uint64_t cookie = plan->step == PLAN_NEW ? fresh : plan->step == PLAN_SHARE ? plan->cookie : 0;
        if (plan->step == PLAN_NEW) {
                w->input.cookie = fresh;
                w->input.adopted = false;
        }
        for (size_t i = 0; i < plan->n_targets; i++) {
                size_t target = (size_t) (plan->targets[i] - 100);
                for (size_t j = 0; j < w->n; j++)
                        if (j == target || (!plan->by_thread && w->group[j] == w->group[target])) {
                                assert_true(j == target || w->seen[j].place == w->seen[target].place);
                                w->seen[j].cookie = cookie;
                        }
        }
}

static void check_end(const struct random_world *w) {
        for (size_t i = 0; i < w->n; i++) {
                const struct seen *seen = w->seen + i;
                if (seen->place != SEEN_INSIDE || seen->error != 0)
                        continue;
                if (w->input.wish == WISH_TAGGED) {
                        assert_int_equal(seen->cookie, w->input.cookie);
                        assert_int_not_equal(seen->cookie, 0);
                        assert_false(world_taken(w, seen->cookie));
                } else if (w->input.cookie != 0 && (!w->input.adopted || w->input.wish == WISH_UNTAGGED_FORCE))
                        assert_int_not_equal(seen->cookie, w->input.cookie);
        }
}

static void test_random_worlds(void **state) {
        unsigned steps[PLAN_CLEAR + 1] = {0};
        for (unsigned seed = 1; seed <= 20000; seed++) {
                random_state = seed;
                struct random_world w, before;
                make_world(&w);
                before = w;
                unsigned step;
                for (step = 0; step < STEPS_MAX; step++) {
                        _cleanup_(plan_done) struct plan plan = {0};
                        assert_int_equal(plan_make(&w.input, &plan), 0);
                        check_invariants(&w, &plan);
                        steps[plan.step]++;
                        if (plan.step == PLAN_DONE)
                                break;
                        apply(&w, &plan, 1000 + step);
                }
                if (step == STEPS_MAX)
                        fail_msg("seed %u: no end", seed);
                check_end(&w);
                /* Others keep what they had, or are cleared of ours. */
                for (size_t i = 0; i < w.n; i++)
                        if (w.seen[i].place != SEEN_INSIDE)
                                assert_true(w.seen[i].cookie == before.seen[i].cookie ||
                                            (w.seen[i].place == SEEN_OUTSIDE && w.seen[i].cookie == 0));
        }
        for (size_t i = 0; i < ELEMENTS(steps); i++)
                assert_int_not_equal(steps[i], 0); /* the worlds reach all of them */
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_nothing_inside),
                cmocka_unit_test(test_new_for_leaders_first),
                cmocka_unit_test(test_share),
                cmocka_unit_test(test_share_mere_threads),
                cmocka_unit_test(test_threaded_by_thread),
                cmocka_unit_test(test_source_that_is_no_leader),
                cmocka_unit_test(test_errors_are_left_alone),
                cmocka_unit_test(test_freeze_first),
                cmocka_unit_test(test_adoption),
                cmocka_unit_test(test_adoption_ties),
                cmocka_unit_test(test_adoption_refused),
                cmocka_unit_test(test_shared_with_another_tenant),
                cmocka_unit_test(test_outside_is_cleared),
                cmocka_unit_test(test_untag),
                cmocka_unit_test(test_random_worlds),
        };
        return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
