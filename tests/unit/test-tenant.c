// SPDX-License-Identifier: LGPL-2.1-or-later
/* The model: the table of tenants, and what changes are seen outside. */
#include "strv.h"
#include "tenant.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
// cmocka.h needs some of the above
#include <cmocka.h>

static struct tenant *make(const char *name, const char *cgroup) {
        struct tenant *tenant = NULL;
        char *cgroups[] = {(char *) cgroup, NULL};
        assert_int_equal(tenant_new(name, cgroups, NULL, ORIGIN_RUNTIME, &tenant), 0);
        return tenant;
}

static void test_new(void **state) {
        _cleanup_(tenant_freep) struct tenant *tenant = NULL;
        char cgroup[] = "/a", *cgroups[] = {cgroup, NULL};
        assert_int_equal(tenant_new("a", cgroups, "strict", ORIGIN_CONFIGURATION, &tenant), 0);
        cgroup[1] = 'x'; /* a copy was taken */
        assert_string_equal(tenant->cgroups[0], "/a");
        assert_string_equal(tenant->policy, "strict");
        assert_int_equal(tenant->origin, ORIGIN_CONFIGURATION);
        assert_int_equal(tenant->state, TENANT_PENDING);
        assert_int_equal(tenant->cookie, 0);
}

static void test_state_marks_changes(void **state) {
        _cleanup_(tenant_freep) struct tenant *tenant = make("a", "/a");
        tenant_set_state(tenant, TENANT_PENDING, NULL);
        assert_false(tenant->changed);
        tenant_set_state(tenant, TENANT_DEGRADED, "%d tasks", 2);
        assert_true(tenant->changed);
        assert_string_equal(tenant->reason, "2 tasks");
        tenant->changed = false;
        tenant_set_state(tenant, TENANT_DEGRADED, "2 %s", "tasks");
        assert_false(tenant->changed);
        tenant_set_state(tenant, TENANT_DEGRADED, "3 tasks");
        assert_true(tenant->changed);
        tenant->changed = false;
        tenant_set_state(tenant, TENANT_DEGRADED, NULL);
        assert_true(tenant->changed);
        assert_null(tenant->reason);
        tenant->changed = false;
        tenant_set_state(tenant, TENANT_ENFORCED, NULL);
        assert_true(tenant->changed);
}

static void test_table(void **state) {
        _cleanup_(tenants_done) struct tenants tenants = {0};
        assert_null(tenants_find(&tenants, "a"));
        assert_null(tenants_remove(&tenants, "a"));
        /* In an order that is none, and more than are allocated at first. */
        for (unsigned i = 0; i < 100; i++) {
                char name[32], cgroup[64];
                snprintf(name, sizeof(name), "t%02u", i * 37 % 100);
                snprintf(cgroup, sizeof(cgroup), "/%s", name);
                assert_int_equal(tenants_add(&tenants, make(name, cgroup)), 0);
        }
        assert_int_equal(tenants.n, 100);
        for (unsigned i = 0; i < 100; i++) {
                char name[32];
                snprintf(name, sizeof(name), "t%02u", i);
                assert_string_equal(tenants.tenant[i]->name, name);
                assert_ptr_equal(tenants_find(&tenants, name), tenants.tenant[i]);
        }
        _cleanup_(tenant_freep) struct tenant *again = make("t50", "/other");
        assert_int_equal(tenants_add(&tenants, again), -EEXIST);
        assert_int_equal(tenants.n, 100);

        _cleanup_(tenant_freep) struct tenant *removed = tenants_remove(&tenants, "t50");
        assert_string_equal(removed->name, "t50");
        assert_int_equal(tenants.n, 99);
        assert_null(tenants_find(&tenants, "t50"));
        assert_non_null(tenants_find(&tenants, "t49"));
        assert_non_null(tenants_find(&tenants, "t51"));
}

static void test_whose_cgroup(void **state) {
        _cleanup_(tenants_done) struct tenants tenants = {0};
        struct tenant *a = make("a", "/x/a"), *b = make("b", "/x/b");
        assert_int_equal(strv_extend(&b->cgroups, "/y"), 0);
        assert_int_equal(tenants_add(&tenants, a), 0);
        assert_int_equal(tenants_add(&tenants, b), 0);

        assert_ptr_equal(tenants_of_cgroup(&tenants, "/x/a"), a);
        assert_ptr_equal(tenants_of_cgroup(&tenants, "/x/a/below"), a);
        assert_ptr_equal(tenants_of_cgroup(&tenants, "/y/below"), b);
        assert_null(tenants_of_cgroup(&tenants, "/x"));
        assert_null(tenants_of_cgroup(&tenants, "/x/ab"));
        assert_null(tenants_of_cgroup(&tenants, "/"));

        assert_ptr_equal(tenants_overlapping(&tenants, "/x"), a);
        assert_ptr_equal(tenants_overlapping(&tenants, "/"), a);
        assert_ptr_equal(tenants_overlapping(&tenants, "/y/below"), b);
        assert_null(tenants_overlapping(&tenants, "/x/ab"));
}

static void test_whose_cookie(void **state) {
        _cleanup_(tenants_done) struct tenants tenants = {0};
        struct tenant *a = make("a", "/a"), *b = make("b", "/b");
        b->cookie = UINT64_MAX;
        assert_int_equal(tenants_add(&tenants, a), 0);
        assert_int_equal(tenants_add(&tenants, b), 0);
        assert_ptr_equal(tenants_of_cookie(&tenants, UINT64_MAX), b);
        assert_null(tenants_of_cookie(&tenants, 1));
        assert_null(tenants_of_cookie(&tenants, 0)); /* though a has it */
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_new),          cmocka_unit_test(test_state_marks_changes),
                cmocka_unit_test(test_table),        cmocka_unit_test(test_whose_cgroup),
                cmocka_unit_test(test_whose_cookie),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
