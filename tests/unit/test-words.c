// SPDX-License-Identifier: LGPL-2.1-or-later
/* The words of the enumerations: every value has one of its own, and what is read gives the value back. */
#include "api/words.h"
#include "util.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka.h needs some of the above
#include <cmocka.h>

/* The words must be these, in this order: they are the interface. */
#define CHECK_WORDS(name, max, ...)                                                                                    \
        do {                                                                                                           \
                static const char *const expected[] = {__VA_ARGS__};                                                   \
                assert_int_equal(ELEMENTS(expected), max);                                                             \
                for (int i = 0; i < (max); i++)                                                                        \
                        assert_string_equal(name##_word(i), expected[i]);                                              \
                assert_null(name##_word(max));                                                                         \
        } while (0)
#define CHECK_BACK(name, max)                                                                                          \
        do {                                                                                                           \
                for (int i = 0; i < (max); i++)                                                                        \
                        assert_int_equal(name##_from_word(name##_word(i)), i);                                         \
                assert_int_equal(name##_from_word(""), -EINVAL);                                                       \
                assert_int_equal(name##_from_word("no-such-word"), -EINVAL);                                           \
        } while (0)

static void test_words(void **state) {
        CHECK_WORDS(tenant_state, _TENANT_STATE_MAX, "pending", "enforced", "inert", "degraded", "exposed");
        CHECK_WORDS(isolation, _ISOLATION_MAX, "none", "cookie", "whole-cores", "one-thread", "smt-off");
        CHECK_WORDS(attach, _ATTACH_MAX, "live", "freeze");
        CHECK_WORDS(on_exposed, _ON_EXPOSED_MAX, "report", "freeze");
        CHECK_WORDS(core_scheduling, _CORE_SCHEDULING_MAX, "available", "no-smt", "unsupported", "sched-ext", "denied");
        CHECK_WORDS(origin, _ORIGIN_MAX, "runtime", "configuration", "pattern");
        CHECK_WORDS(finding, _FINDING_MAX, "good", "untagged", "foreign-cookie", "own-cookie", "wrong-tenant",
                    "unreadable");
}

static void test_back(void **state) {
        CHECK_BACK(tenant_state, _TENANT_STATE_MAX);
        CHECK_BACK(isolation, _ISOLATION_MAX);
        CHECK_BACK(attach, _ATTACH_MAX);
        CHECK_BACK(on_exposed, _ON_EXPOSED_MAX);
        CHECK_BACK(origin, _ORIGIN_MAX);
}

int main(void) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_back)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
