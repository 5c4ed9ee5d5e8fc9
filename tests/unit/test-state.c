// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is saved, as a whole and line by line, is loaded again; what is garbled is moved aside. */
#include "scratch.h"
#include "state.h"
#include "strv.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
// cmocka.h needs some of the above
#include <cmocka.h>

static char *scratch;

static int setup(void **state) {
        scratch = scratch_new();
        return 0;
}

static int teardown(void **state) {
        scratch_done(scratch);
        return 0;
}

static void add(struct tenants *tenants, const char *name, const char *policy, enum origin origin, uint64_t cookie,
                char *const *cgroups) {
        struct tenant *tenant = NULL;
        assert_int_equal(tenant_new(name, cgroups, policy, origin, &tenant), 0);
        tenant->cookie = cookie;
        assert_int_equal(tenants_add(tenants, tenant), 0);
}

static void test_there_and_back(void **state) {
        _cleanup_(tenants_done) struct tenants tenants = {0};
        char a[] = "/a.slice", bytes[] = "/\xff \\x2d\"\t", utf8[] = "/m\xc3\xbcller/[x] y";
        add(&tenants, "a", NULL, ORIGIN_RUNTIME, UINT64_MAX, (char *[]){a, NULL});
        add(&tenants, "m\xc3\xbcller \"x\\", "strict", ORIGIN_CONFIGURATION, 0, (char *[]){bytes, utf8, NULL});
        char v[] = "/machine.slice/v.scope";
        add(&tenants, "v", "vm-host", ORIGIN_PATTERN, 0, (char *[]){v, NULL});
        assert_int_equal(tenant_set_pattern(tenants.tenant[2], "vm-host"), 0);
        tenants.tenant[0]->adopted = true;
        tenants.tenant[0]->transient = true;
        tenants.tenant[0]->lived = true;
        tenants.tenant[1]->stay_frozen = true;
        tenants.tenant[1]->given = 7; /* told where no cookie is known */
        assert_int_equal(strv_extend(&tenants.tenant[1]->frozen, bytes), 0);
        char u[] = "untagged one", *untagged[] = {u, NULL}, *left[] = {bytes, NULL};
        assert_int_equal(state_save(scratch, &tenants, untagged, left), 0);

        _cleanup_(state_done) struct state loaded = {0};
        struct failure f = {0};
        assert_int_equal(state_load(scratch, &loaded, &f), 0);
        assert_int_equal(f.kind, FAILURE_NONE);
        assert_int_equal(loaded.tenants.n, 3);
        assert_true(strv_equal(loaded.untagged, untagged));
        assert_true(strv_equal(loaded.left, left));
        for (size_t i = 0; i < 2; i++) {
                const struct tenant *before = tenants.tenant[i], *after = loaded.tenants.tenant[i];
                assert_string_equal(after->name, before->name);
                assert_true(strv_equal(after->cgroups, before->cgroups));
                assert_true(strv_equal(after->frozen, before->frozen));
                assert_int_equal(after->origin, before->origin);
                assert_int_equal(after->cookie, i == 0 ? UINT64_MAX : 7);
                assert_int_equal(after->stay_frozen, before->stay_frozen);
                assert_int_equal(after->adopted, before->adopted);
                assert_int_equal(after->transient, before->transient);
                assert_int_equal(after->lived, before->lived);
                assert_int_equal(after->state, TENANT_PENDING);
        }
        assert_null(loaded.tenants.tenant[0]->policy);
        assert_null(loaded.tenants.tenant[1]->pattern);
        assert_int_equal(loaded.tenants.tenant[2]->origin, ORIGIN_PATTERN);
        assert_string_equal(loaded.tenants.tenant[2]->pattern, "vm-host");
        assert_string_equal(loaded.tenants.tenant[1]->policy, "strict");

        /* Replaced as a whole, with nothing left beside it. */
        assert_int_equal(state_save(scratch, &(struct tenants){0}, NULL, NULL), 0);
        _cleanup_(state_done) struct state empty = {0};
        assert_int_equal(state_load(scratch, &empty, &f), 0);
        assert_int_equal(empty.tenants.n, 0);
        assert_int_equal(strv_length(empty.untagged), 0);
        assert_int_equal(unlink(scratch_path(scratch, "state.json")), 0);
        assert_int_equal(rmdir(scratch), 0);
        assert_int_equal(mkdir(scratch, 0755), 0);
}

static void test_absent(void **state) {
        struct state loaded = {.tenants.n = 7};
        struct failure f = {0};
        assert_int_equal(state_load(scratch, &loaded, &f), 0);
        assert_int_equal(loaded.tenants.n, 0);
        assert_null(loaded.untagged);
}

#define TENANT(name, cgroup, cookie)                                                                                   \
        "{\"name\":\"" name "\",\"cgroups\":[\"" cgroup "\"],\"origin\":\"runtime\",\"cookie\":" cookie                \
        ",\"adopted\":false,\"frozen\":[],\"stay-frozen\":false}"
#define STATE(tenants) "{\"version\":1,\"tenants\":[" tenants "],\"untagged\":[]}"

static void check_garbled_bytes(const char *text, size_t size) {
        struct state loaded = {.tenants.n = 7};
        struct failure f = {0};
        char expected[1024];
        scratch_write_bytes(scratch, "state.json", text, size);
        if (state_load(scratch, &loaded, &f) != -EBADMSG)
                fail_msg("taken: %s", text);
        assert_int_equal(loaded.tenants.n, 7);
        snprintf(expected, sizeof(expected), "%s: is garbled; moved to %s", scratch_path(scratch, "state.json"),
                 scratch_path(scratch, "state.json.bad"));
        assert_string_equal(f.text, expected);
        assert_int_equal(access(scratch_path(scratch, "state.json"), F_OK), -1);
        char *moved = scratch_read(scratch, "state.json.bad");
        assert_string_equal(moved, text);
        free(moved);
}

static void test_garbled(void **state) {
        /* The frame of what follows is right: */
        _cleanup_(state_done) struct state loaded = {0};
        scratch_write(scratch, "state.json",
                      STATE(TENANT("a", "/a", "1") "," TENANT("b", "/b", "18446744073709551615")));
        assert_int_equal(state_load(scratch, &loaded, NULL), 0);
        assert_int_equal(loaded.tenants.n, 2);
        assert_true(loaded.tenants.tenant[1]->cookie == UINT64_MAX);

        static const char *const garbled[] = {
                "",
                "x",
                "[]",
                "null",
                "{}",
                "{\"version\":1,\"tenants\":[",
                STATE("") "x",
                STATE("") STATE(""),
                STATE("") "\n" STATE("") "\n",
                STATE("") "\n\n",
                STATE("") "\n{}\n",
                STATE("") "\n{\"gone\":7}\n",
                STATE("") "\n{\"gone\":\"a\"}x\n",
                STATE(TENANT("a", "/a", "1")) "\n" TENANT("b", "/a/b", "2") "\n",
                "{\"version\":2,\"tenants\":[],\"untagged\":[]}",
                "{\"version\":\"1\",\"tenants\":[],\"untagged\":[]}",
                "{\"version\":1,\"tenants\":{},\"untagged\":[]}",
                "{\"version\":1,\"tenants\":[],\"untagged\":[\"a/b\"]}",
                "{\"version\":1,\"tenants\":[],\"untagged\":[7]}",
                "{\"version\":1,\"tenants\":[]}",
                STATE("7"),
                STATE("{}"),
                STATE(TENANT("", "/a", "1")),
                STATE(TENANT("a/b", "/a", "1")),
                STATE(TENANT("a\\u0000", "/a", "1")),
                STATE(TENANT("a", "/", "1")),
                STATE(TENANT("a", "a", "1")),
                STATE(TENANT("a", "/a/", "1")),
                STATE(TENANT("a", "/a/..", "1")),
                STATE(TENANT("a", "/a b", "1")),
                STATE(TENANT("a", "/a\\\\x2", "1")),
                STATE(TENANT("a", "/a\\u0000b", "1")),
                STATE(TENANT("a", "/a", "-1")),
                STATE(TENANT("a", "/a", "1.5")),
                STATE(TENANT("a", "/a", "\"1\"")),
                STATE(TENANT("a", "/a", "1") "," TENANT("a", "/b", "2")),
                STATE(TENANT("a", "/a", "1") "," TENANT("b", "/a/b", "2")),
                STATE("{\"name\":\"a\",\"cgroups\":[],\"origin\":\"runtime\",\"cookie\":1,\"adopted\":false,\"frozen\":[],\"stay-frozen\":false}"),
                STATE("{\"name\":\"a\",\"cgroups\":[\"/a\"],\"origin\":\"else\",\"cookie\":1,\"adopted\":false,\"frozen\":[],\"stay-frozen\":false}"),
                STATE("{\"name\":\"a\",\"cgroups\":[\"/a\"],\"origin\":\"runtime\",\"cookie\":1,\"adopted\":0,\"frozen\":[],\"stay-frozen\":false}"),
                STATE("{\"name\":\"a\",\"policy\":\"a b\",\"cgroups\":[\"/a\"],\"origin\":\"runtime\",\"cookie\":1,"
                      "\"adopted\":false,\"frozen\":[],\"stay-frozen\":false}"),
                STATE("{\"name\":\"a\",\"cgroups\":[\"/a\"],\"origin\":\"runtime\",\"cookie\":1,\"adopted\":false,\"stay-frozen\":false}"),
                STATE(TENANT("\xff", "/a", "1")),
                STATE("[[[[[[[[[[]]]]]]]]]]"),
        };
        for (size_t i = 0; i < ELEMENTS(garbled); i++)
                check_garbled_bytes(garbled[i], strlen(garbled[i]));
}

/* A tenant's last line counts. One that was being written when the daemon was killed does not. */
static void test_appended(void **state) {
        _cleanup_(tenants_done) struct tenants tenants = {0};
        char a[] = "/a", b[] = "/b", c[] = "/c";
        add(&tenants, "a", NULL, ORIGIN_RUNTIME, 1, (char *[]){a, NULL});
        add(&tenants, "b", NULL, ORIGIN_RUNTIME, 2, (char *[]){b, NULL});
        assert_int_equal(state_append(scratch, tenants.tenant[0], false), -ENOENT);
        assert_int_equal(state_save(scratch, &tenants, NULL, NULL), 0);
        add(&tenants, "c", "strict", ORIGIN_CONFIGURATION, 3, (char *[]){c, NULL});
        tenants.tenant[1]->cookie = 4;
        assert_int_equal(state_append(scratch, tenants.tenant[1], false), 0);
        assert_int_equal(state_append(scratch, tenants.tenant[2], false), 0);
        assert_int_equal(state_append(scratch, tenants.tenant[0], true), 0);
        assert_int_equal(state_append(scratch, tenants.tenant[0], true), 0);

        char *text = scratch_read(scratch, "state.json");
        for (unsigned broken = 0; broken < 2; broken++) {
                _cleanup_(state_done) struct state loaded = {0};
                char longer[4096];
                snprintf(longer, sizeof(longer), "%s%s", text, broken ? TENANT("a", "/a", "1") : "");
                scratch_write(scratch, "state.json", longer);
                assert_int_equal(state_load(scratch, &loaded, NULL), 0);
                assert_int_equal(loaded.tenants.n, 2);
                assert_string_equal(loaded.tenants.tenant[0]->name, "b");
                assert_int_equal(loaded.tenants.tenant[0]->cookie, 4);
                assert_string_equal(loaded.tenants.tenant[1]->name, "c");
                assert_string_equal(loaded.tenants.tenant[1]->policy, "strict");
        }
        free(text);
}

/* The cookie is a hint, no reason to lose the tenants: a number may have been used again. */
static void test_same_cookie(void **state) {
        _cleanup_(state_done) struct state loaded = {0};
        scratch_write(scratch, "state.json", STATE(TENANT("a", "/a", "1") "," TENANT("b", "/b", "1")));
        assert_int_equal(state_load(scratch, &loaded, NULL), 0);
        assert_int_equal(loaded.tenants.tenant[0]->cookie, 1);
        assert_int_equal(loaded.tenants.tenant[1]->cookie, 0);
}

static void test_no_regular_file(void **state) {
        struct state loaded = {0};
        assert_int_equal(mkdir(scratch_path(scratch, "state.json"), 0755), 0);
        assert_int_equal(state_load(scratch, &loaded, NULL), -EBADMSG);
        assert_int_equal(rmdir(scratch_path(scratch, "state.json.bad")), 0);
        /* A link is not followed, for the state is root's to write. */
        scratch_write(scratch, "elsewhere", STATE(""));
        assert_int_equal(symlink("elsewhere", scratch_path(scratch, "state.json")), 0);
        assert_int_equal(state_load(scratch, &loaded, NULL), -EBADMSG);
        assert_int_equal(access(scratch_path(scratch, "elsewhere"), F_OK), 0);
}

static void test_cannot_write(void **state) {
        assert_int_equal(state_save(scratch_path(scratch, "none"), &(struct tenants){0}, NULL, NULL), -ENOENT);
        scratch_write(scratch, "file", "");
        assert_int_equal(state_save(scratch_path(scratch, "file"), &(struct tenants){0}, NULL, NULL), -ENOTDIR);
        /* What cannot be replaced leaves nothing beside it. */
        assert_int_equal(mkdir(scratch_path(scratch, "state.json"), 0755), 0);
        assert_int_equal(state_save(scratch, &(struct tenants){0}, NULL, NULL), -EISDIR);
        assert_int_equal(rmdir(scratch_path(scratch, "state.json")), 0);
        assert_int_equal(unlink(scratch_path(scratch, "file")), 0);
        assert_int_equal(rmdir(scratch), 0);
        assert_int_equal(mkdir(scratch, 0755), 0);
}

static void test_many(void **state) {
        _cleanup_(tenants_done) struct tenants tenants = {0};
        for (unsigned i = 0; i < 1000; i++) {
                char name[32], cgroup[64], *cgroups[] = {cgroup, NULL};
                snprintf(name, sizeof(name), "tenant-%04u", i);
                snprintf(cgroup, sizeof(cgroup), "/machine.slice/machine-qemu\\x2d%u.scope", i);
                add(&tenants, name, "strict", ORIGIN_RUNTIME, i + 1, cgroups);
        }
        assert_int_equal(state_save(scratch, &tenants, NULL, NULL), 0);
        _cleanup_(state_done) struct state loaded = {0};
        assert_int_equal(state_load(scratch, &loaded, NULL), 0);
        assert_int_equal(loaded.tenants.n, 1000);
        assert_string_equal(loaded.tenants.tenant[999]->cgroups[0], "/machine.slice/machine-qemu\\x2d999.scope");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                TEST(test_there_and_back), TEST(test_absent),          TEST(test_garbled),      TEST(test_appended),
                TEST(test_same_cookie),    TEST(test_no_regular_file), TEST(test_cannot_write), TEST(test_many),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
