// SPDX-License-Identifier: LGPL-2.1-or-later
/* The configuration as a whole: which files count, what they may say, and how wrong ones are named; cases 4, 7 and 30.
 */
#include "config.h"
#include "pattern.h"
#include "scratch.h"
#include "strv.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
// cmocka.h needs some of the above
#include <cmocka.h>

#define ETC "etc/coresched/"
#define LIB "usr/lib/coresched/"

static char *root;

static int setup(void **state) {
        root = scratch_new();
        return 0;
}

static int teardown(void **state) {
        scratch_done(root);
        return 0;
}

static struct config *load(void) {
        struct config *config = NULL;
        struct failure f = {0};
        int r = config_load(root, &config, &f);
        if (r < 0)
                print_error("%s\n", f.text);
        assert_int_equal(r, 0);
        return config;
}

/* The failure must be this; each % stands for the root, but %% for itself. */
static void check_bad(const char *expected) {
        struct config *config = (struct config *) root;
        struct failure f = {0};
        char text[2048] = "";
        assert_int_equal(config_load(root, &config, &f), -EBADMSG);
        assert_ptr_equal(config, root);
        assert_int_equal(f.kind, FAILURE_INVALID_CONFIG);
        for (const char *e = expected; *e; e++) {
                bool is_root = *e == '%' && e[1] != '%';
                sprintf(text + strlen(text), is_root ? "%s" : "%.1s", is_root ? root : e);
                e += *e == '%' && e[1] == '%';
        }
        assert_string_equal(f.text, text);
}

static void test_no_files(void **state) {
        _cleanup_(config_freep) struct config *config = load(), *builtin = NULL;
        assert_int_equal(config_builtin(&builtin), 0);
        struct config *both[] = {config, builtin};
        for (size_t i = 0; i < ELEMENTS(both); i++) {
                assert_string_equal(both[i]->default_policy, "shared");
                assert_int_equal(both[i]->freeze_timeout, 5 * USEC_PER_SEC);
                assert_int_equal(both[i]->realtime_budget, 10 * USEC_PER_MSEC);
                assert_int_equal(both[i]->verify_interval, 30 * USEC_PER_SEC);
                assert_int_equal(both[i]->n_policies, 1);
                assert_int_equal(both[i]->n_tenants, 0);
                const struct policy *shared = config_policy(both[i], "shared");
                assert_non_null(shared);
                assert_int_equal(shared->isolation, ISOLATION_COOKIE);
                assert_int_equal(shared->attach, ATTACH_LIVE);
                assert_int_equal(shared->on_exposed, ON_EXPOSED_REPORT);
                assert_null(shared->file);
                assert_null(config_policy(both[i], "strict"));
                assert_null(config_tenant(both[i], "a"));
        }
}

/* The files that are installed, and what the defaults of the commented one are. */
static void test_shipped(void **state) {
        static const char *const files[] = {"coreschedd.conf", "shared.conf", "strict.conf", "containers.conf",
                                            "lxc.conf",        "users.conf",  "vm-host.conf"};
        for (size_t i = 0; i < ELEMENTS(files); i++) {
                char place[64];
                char *text = scratch_read(POLICIES, files[i]);
                snprintf(place, sizeof(place), LIB "%s%s", i > 0 ? "policies.d/" : "", files[i]);
                scratch_write(root, place, text);
                if (i == 0) {
                        for (char *c = text; (c = strstr(c, "\n#")); c++)
                                if (strchr(c, '=') && strcspn(c + 2, "=") < strcspn(c + 2, " \n"))
                                        c[1] = ' ';
                        scratch_write(root, ETC "coreschedd.conf.d/defaults.conf", text);
                        assert_non_null(strstr(text, "\n FreezeTimeoutSec="));
                }
                free(text);
        }
        _cleanup_(config_freep) struct config *config = load();
        assert_int_equal(config->n_policies, 6);
        assert_null(config->patterns);
        for (size_t i = 0; i < config->n_policies; i++)
                assert_false(config->policies[i].active);
        const struct policy *shared = config_policy(config, "shared"), *strict = config_policy(config, "strict");
        assert_int_equal(shared->isolation, ISOLATION_COOKIE);
        assert_int_equal(shared->attach, ATTACH_LIVE);
        assert_int_equal(shared->on_exposed, ON_EXPOSED_REPORT);
        assert_int_equal(strict->isolation, ISOLATION_COOKIE);
        assert_int_equal(strict->attach, ATTACH_FREEZE);
        assert_int_equal(strict->on_exposed, ON_EXPOSED_FREEZE);
        assert_string_equal(strict->file, scratch_path(root, LIB "policies.d/strict.conf"));
        assert_string_equal(config->default_policy, "shared");
        assert_int_equal(config->freeze_timeout, 5 * USEC_PER_SEC);
        assert_int_equal(config->realtime_budget, 10 * USEC_PER_MSEC);
}

#define ID "4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c"

/* Paths as the programs give them, with all the policies that are installed in force; case 42. */
static void test_shipped_patterns(void **state) {
        static const char *const names[] = {"containers", "lxc", "users", "vm-host"};
        static const struct {
                const char *path, *policy, *name;
        } paths[] = {
                {"/machine.slice/machine-qemu\\x2d1\\x2dvm1.scope", "vm-host", "machine-qemu-1-vm1"},
                {"/machine.slice/machine-qemu\\x2d1\\x2dvm1.scope/libvirt/vcpu0", NULL, NULL},
                {"/machine.slice/machine-debian.scope", "vm-host", "machine-debian"},
                {"/machine.slice/systemd-nspawn@debian.service", "vm-host", "systemd-nspawn@debian"},
                {"/machine/qemu-2-vm.libvirt-qemu", "vm-host", "qemu-2-vm.libvirt-qemu"},
                {"/machine.slice", NULL, NULL},
                {"/machine.slice/libpod-" ID ".scope", "containers", "libpod-" ID},
                {"/machine.slice/libpod-conmon-" ID ".scope", NULL, NULL},
                {"/machine.slice/machine-libpod_pod_" ID ".slice", "containers", "machine-libpod_pod_" ID},
                {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", "containers",
                 "libpod-" ID},
                {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-conmon-" ID ".scope", NULL, NULL},
                {"/user.slice/user-1000.slice/user@1000.service/user.slice/user-libpod_pod_" ID ".slice", "containers",
                 "user-libpod_pod_" ID},
                {"/libpod_parent/libpod-" ID, "containers", "libpod-" ID},
                {"/libpod_parent/conmon", NULL, NULL},
                {"/system.slice/docker-" ID ".scope", "containers", "docker-" ID},
                {"/system.slice/docker.service", NULL, NULL},
                {"/docker/" ID, "containers", ID},
                {"/docker/buildkit", NULL, NULL},
                {"/system.slice/nerdctl-" ID ".scope", "containers", "nerdctl-" ID},
                {"/system.slice/cri-containerd-" ID ".scope", "containers", "cri-containerd-" ID},
                {"/system.slice/crio-conmon-" ID ".scope", NULL, NULL},
                {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b_2c.slice", "containers",
                 "kubepods-burstable-pod0a1b_2c"},
                {"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod0a1b_2c.slice", "containers",
                 "kubepods-besteffort-pod0a1b_2c"},
                {"/kubepods.slice/kubepods-pod0a1b_2c.slice", "containers", "kubepods-pod0a1b_2c"},
                {"/kubepods.slice/kubepods-burstable.slice", NULL, NULL},
                {"/kubepods.slice/kubepods-pod0a1b_2c.slice/cri-containerd-" ID ".scope", NULL, NULL},
                {"/kubepods/burstable/pod0a1b-2c", "containers", "pod0a1b-2c"},
                {"/kubepods/pod0a1b-2c", "containers", "pod0a1b-2c"},
                {"/kubepods/burstable", NULL, NULL},
                {"/lxc.payload.web", "lxc", "lxc.payload.web"},
                {"/lxc.monitor.web", NULL, NULL},
                {"/user.slice/user-1000.slice/session-3.scope/lxc.payload.web", "lxc", "lxc.payload.web"},
                {"/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope/lxc.payload.web", "lxc",
                 "lxc.payload.web"},
                {"/user.slice/user-1000.slice", "users", "user-1000"},
                {"/user.slice/user-1000.slice/session-3.scope", NULL, NULL},
                {"/user.slice/user-0.slice", NULL, NULL},
                {"/user.slice", NULL, NULL},
                {"/system.slice", NULL, NULL},
                {"/init.scope", NULL, NULL},
        };
        for (size_t i = 0; i < ELEMENTS(names); i++) {
                char file[24], place[64];
                snprintf(file, sizeof(file), "%s.conf", names[i]);
                snprintf(place, sizeof(place), LIB "policies.d/%s", file);
                _cleanup_free_ char *text = scratch_read(POLICIES, file);
                scratch_write(root, place, text);
        }
        scratch_write(root, ETC "coreschedd.conf.d/on.conf", "[Daemon]\nPatterns=containers lxc users vm-host\n");
        _cleanup_(config_freep) struct config *config = load();
        for (size_t i = 0; i < ELEMENTS(paths); i++) {
                _cleanup_(match_done) struct match match = {0};
                int r = pattern_match(config->policies, config->n_policies, paths[i].path, &match);
                if (r != (paths[i].policy != NULL))
                        fail_msg("%s is of policy %s", paths[i].path, r > 0 ? match.policy->name : "none");
                if (r == 0)
                        continue;
                assert_string_equal(match.policy->name, paths[i].policy);
                assert_string_equal(match.name, paths[i].name);
        }
}

static void test_daemon_and_drop_ins(void **state) {
        scratch_write(root, LIB "coreschedd.conf", "[Daemon]\nFreezeTimeoutSec=7\nRealtimeBudgetMSec=0\n");
        scratch_write(root, ETC "policies.d/vm.conf", "[Policy]\nDescription=of VMs\nAttach=freeze ; stop them\n");
        scratch_write(root, ETC "coreschedd.conf.d/20-b.conf", "[Daemon]\nDefaultPolicy=vm\nFreezeTimeoutSec=60\n");
        scratch_write(root, LIB "coreschedd.conf.d/10-a.conf",
                      "[Daemon]\nFreezeTimeoutSec=1\nRealtimeBudgetMSec=50\nVerifyIntervalSec=3600\n");
        _cleanup_(config_freep) struct config *config = load();
        assert_string_equal(config->default_policy, "vm");
        assert_int_equal(config->freeze_timeout, 60 * USEC_PER_SEC);
        assert_int_equal(config->realtime_budget, 50 * USEC_PER_MSEC);
        assert_int_equal(config->verify_interval, 3600 * USEC_PER_SEC);
        const struct policy *vm = config_policy(config, "vm");
        assert_string_equal(vm->description, "of VMs");
        assert_int_equal(vm->attach, ATTACH_FREEZE);
        assert_int_equal(vm->isolation, ISOLATION_COOKIE);

        /* The main file in /etc masks the other. */
        scratch_write(root, ETC "coreschedd.conf", "[Daemon]\n");
        scratch_write(root, ETC "coreschedd.conf.d/20-b.conf", "");
        scratch_write(root, ETC "coreschedd.conf.d/10-a.conf", "");
        _cleanup_(config_freep) struct config *masked = load();
        assert_string_equal(masked->default_policy, "shared");
        assert_int_equal(masked->freeze_timeout, 5 * USEC_PER_SEC);
        assert_int_equal(masked->realtime_budget, 10 * USEC_PER_MSEC);
}

static void test_masking(void **state) {
        scratch_write(root, LIB "tenants.d/a.conf", "[Tenant]\nCGroups=/lib-a\n");
        scratch_write(root, LIB "tenants.d/b.conf", "[Tenant]\nCGroups=/lib-b\n");
        scratch_write(root, LIB "tenants.d/c.conf", "[Tenant]\nCGroups=/lib-c\n");
        scratch_write(root, LIB "tenants.d/d.conf", "[Tenant]\nCGroups=/lib-d\n");
        scratch_write(root, "run/coresched/tenants.d/a.conf", "[Tenant]\nCGroups=/run-a\n");
        scratch_write(root, "run/coresched/tenants.d/d.conf", "[Tenant]\nCGroups=/run-d\n");
        scratch_write(root, "usr/local/lib/coresched/tenants.d/d.conf", "[Tenant]\nCGroups=/local-d\n");
        scratch_write(root, ETC "tenants.d/a.conf", "[Tenant]\nCGroups=/etc-a\n");
        scratch_write(root, ETC "tenants.d/b.conf", "");
        assert_int_equal(symlink("/dev/null", scratch_path(root, ETC "tenants.d/c.conf")), 0);
        /* No configuration: */
        scratch_write(root, ETC "tenants.d/README", "x");
        scratch_write(root, ETC "tenants.d/.hidden.conf", "x");
        scratch_write(root, ETC "tenants.d/e.conf.bak", "x");
        scratch_write(root, ETC "tenants.d/.conf", "x");
        _cleanup_(config_freep) struct config *config = load();
        assert_int_equal(config->n_tenants, 2);
        assert_string_equal(config->tenants[0].name, "a");
        assert_string_equal(config->tenants[0].cgroups[0], "/etc-a");
        assert_string_equal(config->tenants[0].file, scratch_path(root, ETC "tenants.d/a.conf"));
        assert_string_equal(config->tenants[1].name, "d");
        assert_string_equal(config->tenants[1].cgroups[0], "/run-d");
}

static void test_tenants(void **state) {
        scratch_write(root, ETC "tenants.d/tenant-b.conf", "[Tenant]\nCGroups=/b\nPolicy=shared\n");
        scratch_write(root, ETC "tenants.d/m\\xc3\\xbcller \\x5cx.conf", "[Tenant]\nCGroups=/m\n");
        scratch_write(root, ETC "tenants.d/tenant-a.conf",
                      "[Tenant]\nCGroups=tenant-a.slice other\\x20name.slice /tenant-a.slice "
                      "machine.slice/machine-qemu\\x5cx2d1.scope /\\xff ; five\n");
        _cleanup_(config_freep) struct config *config = load();
        assert_int_equal(config->n_tenants, 3);
        const struct tenant_config *a = config_tenant(config, "tenant-a");
        assert_int_equal(strv_length(a->cgroups), 5);
        assert_string_equal(a->cgroups[0], "/tenant.slice/tenant-a.slice");
        assert_string_equal(a->cgroups[1], "/other name.slice");
        assert_string_equal(a->cgroups[2], "/tenant-a.slice");
        assert_string_equal(a->cgroups[3], "/machine.slice/machine-qemu\\x2d1.scope");
        assert_string_equal(a->cgroups[4], "/\xff");
        assert_null(a->policy);
        assert_string_equal(config_tenant(config, "tenant-b")->policy, "shared");
        assert_non_null(config_tenant(config, "m\xc3\xbcller \\x"));
        assert_null(config_tenant(config, "tenant"));
}

static void check_bad_tenant(const char *text, const char *expected) {
        scratch_write(root, ETC "tenants.d/a.conf", text);
        check_bad(expected);
}

static void test_bad_tenants(void **state) {
        check_bad_tenant("[Tenant]\nCGroup=/a\n",
                         "%/etc/coresched/tenants.d/a.conf:2: unknown key \"CGroup\"; did you mean \"CGroups\"?");
        check_bad_tenant("[Tenant]\nCGroups=/a\nPolicy=shraed\n",
                         "%/etc/coresched/tenants.d/a.conf:3: Policy=: \"shraed\" is no policy's name; did you mean "
                         "\"shared\"?");
        check_bad_tenant("[Tenant]\nCGroups=/a\nPolicy=\n",
                         "%/etc/coresched/tenants.d/a.conf:3: Policy=: \"\" is no policy's name; valid are: shared");
        check_bad_tenant("[Tenant]\nPolicy=shared\n",
                         "%/etc/coresched/tenants.d/a.conf: CGroups= is missing in [Tenant]");
        check_bad_tenant("\n", "%/etc/coresched/tenants.d/a.conf: CGroups= is missing in [Tenant]");
        check_bad_tenant("[Tenant]\nCGroups= ; none\n",
                         "%/etc/coresched/tenants.d/a.conf:2: CGroups=: \"\" names no cgroup");
        check_bad_tenant("[Tenant]\nCGroups=/a /b/../c\n",
                         "%/etc/coresched/tenants.d/a.conf:2: CGroups=: \"/b/../c\" is no path of a cgroup");
        check_bad_tenant("[Tenant]\nCGroups=/a\\x0ab\n",
                         "%/etc/coresched/tenants.d/a.conf:2: CGroups=: \"/a?b\" is no path of a cgroup");
        check_bad_tenant(
                "[Tenant]\nCGroups=/\\xgg\n",
                "%/etc/coresched/tenants.d/a.conf:2: CGroups=: \"/\\xgg\" has a backslash that is not of \\xNN");
        static const char *const roots[] = {"/", "-.slice", "/sys/fs/cgroup", "."};
        for (size_t i = 0; i < ELEMENTS(roots); i++) {
                char text[100], expected[200];
                snprintf(text, sizeof(text), "[Tenant]\nCGroups=%s\n", roots[i]);
                snprintf(
                        expected, sizeof(expected),
                        "%%/etc/coresched/tenants.d/a.conf:2: CGroups=: \"%s\" is the root cgroup, which cannot be a tenant",
                        roots[i]);
                check_bad_tenant(text, expected);
        }
        check_bad_tenant("[Tenant]\nCGroups=machine.slice/machine-qemu\\x2d1\\x2dvm.scope\n",
                         "%/etc/coresched/tenants.d/a.conf:2: CGroups=: \"\\x2d\" stands for a character that needs no "
                         "escape; where the name holds a backslash, write \\x5c for it");
        check_bad_tenant("[Tenant]\nCGroups=nginx.service\n",
                         "%/etc/coresched/tenants.d/a.conf:2: CGroups=: \"nginx.service\" is a unit's name; write its "
                         "cgroup's path, which `systemctl show -P ControlGroup UNIT` tells while it runs");
}

static void test_overlaps(void **state) {
        scratch_write(root, ETC "tenants.d/a.conf", "[Tenant]\nCGroups=/x/a\n");
        scratch_write(root, ETC "tenants.d/b.conf", "[Tenant]\nCGroups=/x/a-b /x/a.b /x/ab\n");
        _cleanup_(config_freep) struct config *config = load();
        assert_int_equal(config->n_tenants, 2);

        scratch_write(root, ETC "tenants.d/c.conf", "[Tenant]\nCGroups=/z /x/a/below/it\n");
        check_bad("%/etc/coresched/tenants.d/c.conf: cgroup \"/x/a/below/it\" is, or is inside, \"/x/a\" of "
                  "%/etc/coresched/tenants.d/a.conf: tenants cannot overlap");
        scratch_write(root, ETC "tenants.d/c.conf", "[Tenant]\nCGroups=/z /y /z\n");
        check_bad(
                "%/etc/coresched/tenants.d/c.conf: cgroup \"/z\" is, or is inside, \"/z\" of the same tenant: tenants "
                "cannot overlap");
        scratch_write(root, ETC "tenants.d/c.conf", "[Tenant]\nCGroups=/x\n");
        check_bad("%/etc/coresched/tenants.d/a.conf: cgroup \"/x/a\" is, or is inside, \"/x\" of "
                  "%/etc/coresched/tenants.d/c.conf: tenants cannot overlap");
}

static void test_bad_names(void **state) {
        scratch_write(root, ETC "tenants.d/a b.conf", "[Tenant]\nCGroups=/a\n");
        scratch_write(root, ETC "tenants.d/a\\x20b.conf", "[Tenant]\nCGroups=/b\n");
        struct failure f = {0};
        struct config *config = NULL;
        assert_int_equal(config_load(root, &config, &f), -EBADMSG);
        assert_non_null(strstr(f.text, "a b.conf"));
        assert_non_null(strstr(f.text, "a\\x20b.conf"));
        assert_non_null(strstr(f.text, "are both of tenant \"a b\""));
        assert_int_equal(unlink(scratch_path(root, ETC "tenants.d/a b.conf")), 0);
        assert_int_equal(rename(scratch_path(root, ETC "tenants.d/a\\x20b.conf"),
                                scratch_path(root, ETC "tenants.d/a\\x2fb.conf")),
                         0);
        check_bad(
                "%/etc/coresched/tenants.d/a\\x2fb.conf: the file's name, without .conf and with \\xNN decoded, is no "
                "tenant's name");
        assert_int_equal(unlink(scratch_path(root, ETC "tenants.d/a\\x2fb.conf")), 0);
        scratch_write(root, ETC "policies.d/a b.conf", "[Policy]\n");
        check_bad(
                "%/etc/coresched/policies.d/a b.conf: \"a b\" is no policy's name (ASCII letters, digits and -_.:@, at "
                "most 64)");
}

static void check_bad_policy(const char *text, const char *expected) {
        scratch_write(root, ETC "policies.d/p.conf", text);
        check_bad(expected);
}

static void test_bad_policies(void **state) {
        check_bad_policy(
                "[Policy]\nIsolation=cooky\n",
                "%/etc/coresched/policies.d/p.conf:2: Isolation=: \"cooky\" is unknown; did you mean \"cookie\"?");
        /* What would have no effect is not taken in silence (case 4). */
        check_bad_policy(
                "[Policy]\nIsolation=whole-cores\n",
                "%/etc/coresched/policies.d/p.conf:2: Isolation=: \"whole-cores\" is not supported; valid are: "
                "cookie, none");
        check_bad_policy("[Policy]\nIsolation=one-thread\n",
                         "%/etc/coresched/policies.d/p.conf:2: Isolation=: \"one-thread\" is not supported; valid are: "
                         "cookie, none");
        check_bad_policy("[Policy]\nFallback=whole-cores\n",
                         "%/etc/coresched/policies.d/p.conf:2: unknown key \"Fallback\"; valid are: Description, "
                         "Isolation, Attach, OnExposed, Match, Exclude, Tenant, Active");
        check_bad_policy("[Policy]\nAttach=Live\n",
                         "%/etc/coresched/policies.d/p.conf:2: Attach=: \"Live\" is unknown; did you mean \"live\"?");
        check_bad_policy("[Policy]\nOnExposed=\n",
                         "%/etc/coresched/policies.d/p.conf:2: OnExposed=: \"\" is unknown; valid are: report, freeze");
        check_bad_policy("[Policy]\nDescription=\n",
                         "%/etc/coresched/policies.d/p.conf:2: Description=: \"\" is no description");
        check_bad_policy("[Tenant]\n",
                         "%/etc/coresched/policies.d/p.conf:1: unknown section \"Tenant\"; valid are: Policy");
        assert_int_equal(unlink(scratch_path(root, ETC "policies.d/p.conf")), 0);
        assert_int_equal(mkdir(scratch_path(root, ETC "policies.d/p.conf"), 0755), 0);
        struct failure f = {0};
        struct config *config = NULL;
        assert_int_equal(config_load(root, &config, &f), -EISDIR);
        assert_non_null(strstr(f.text, "policies.d/p.conf: is a directory"));
}

static void check_bad_daemon(const char *line, const char *expected) {
        char text[200], whole[400];
        snprintf(text, sizeof(text), "[Daemon]\n%s\n", line);
        snprintf(whole, sizeof(whole), "%%/etc/coresched/coreschedd.conf:2: %s", expected);
        scratch_write(root, ETC "coreschedd.conf", text);
        check_bad(whole);
}

static void test_bad_daemon(void **state) {
        check_bad_daemon("DefaultPolicy=strict", "DefaultPolicy=: \"strict\" is no policy's name; valid are: shared");
        check_bad_daemon("FreezeTimeoutSec=0", "FreezeTimeoutSec=: \"0\" is no whole number from 1 to 60");
        check_bad_daemon("FreezeTimeoutSec=61", "FreezeTimeoutSec=: \"61\" is no whole number from 1 to 60");
        check_bad_daemon("FreezeTimeoutSec=010", "FreezeTimeoutSec=: \"010\" is no whole number from 1 to 60");
        check_bad_daemon("FreezeTimeoutSec=12abc", "FreezeTimeoutSec=: \"12abc\" is no whole number from 1 to 60");
        check_bad_daemon("FreezeTimeoutSec=-1", "FreezeTimeoutSec=: \"-1\" is no whole number from 1 to 60");
        check_bad_daemon("FreezeTimeoutSec=+1", "FreezeTimeoutSec=: \"+1\" is no whole number from 1 to 60");
        check_bad_daemon("FreezeTimeoutSec=1.5", "FreezeTimeoutSec=: \"1.5\" is no whole number from 1 to 60");
        check_bad_daemon("FreezeTimeoutSec=", "FreezeTimeoutSec=: \"\" is no whole number from 1 to 60");
        check_bad_daemon("FreezeTimeoutSec=18446744073709551617",
                         "FreezeTimeoutSec=: \"18446744073709551617\" is no whole number from 1 to 60");
        check_bad_daemon("RealtimeBudgetMSec=51", "RealtimeBudgetMSec=: \"51\" is no whole number from 0 to 50");
}

static void test_patterns(void **state) {
        scratch_write(root, ETC "policies.d/vm.conf",
                      "[Policy]\nMatch=machine.slice/machine-qemu\\x2d*\\x2d*.scope /machine/*-* ; two\n"
                      "Exclude=/sys/fs/cgroup/machine/host-*\nTenant=customer-%2 of %%%1\nAttach=freeze\n");
        scratch_write(root, ETC "policies.d/off.conf", "[Policy]\nActive=no\nMatch=a/[!x-z]*/b?\n");
        _cleanup_(config_freep) struct config *config = load();
        const struct policy *vm = config_policy(config, "vm"), *off = config_policy(config, "off");
        assert_int_equal(strv_length(vm->match), 2);
        assert_string_equal(vm->match[0], "/machine.slice/machine-qemu\\x2d*\\x2d*.scope");
        assert_string_equal(vm->match[1], "/machine/*-*");
        assert_string_equal(vm->exclude[0], "/machine/host-*");
        assert_string_equal(vm->tenant, "customer-%2 of %%%1");
        assert_true(vm->active);
        assert_string_equal(off->match[0], "/a/[!x-z]*/b?");
        assert_null(off->tenant);
        assert_false(off->active);
        assert_false(config_policy(config, "shared")->active);

        scratch_write(root, ETC "coreschedd.conf.d/a.conf", "[Daemon]\nPatterns=vm  off\n");
        _cleanup_(config_freep) struct config *on = load();
        assert_true(config_policy(on, "vm")->active);
        assert_true(config_policy(on, "off")->active);
        scratch_write(root, ETC "coreschedd.conf.d/b.conf", "[Daemon]\nPatterns=\n");
        _cleanup_(config_freep) struct config *again = load();
        assert_true(config_policy(again, "vm")->active);
        assert_false(config_policy(again, "off")->active);
}

static void check_bad_pattern(const char *lines, unsigned line, const char *expected) {
        char text[500], whole[700];
        snprintf(text, sizeof(text), "[Policy]\n%s\n", lines);
        if (line > 0)
                snprintf(whole, sizeof(whole), "%%/etc/coresched/policies.d/p.conf:%u: %s", line, expected);
        else
                snprintf(whole, sizeof(whole), "%%/etc/coresched/policies.d/p.conf: %s", expected);
        check_bad_policy(text, whole);
}

static void test_bad_patterns(void **state) {
        check_bad_pattern("Match=", 2, "Match=: \"\" names no pattern");
        check_bad_pattern("Match=a/../b", 2, "Match=: \"a/../b\" is no path of a cgroup");
        check_bad_pattern("Match=/", 2, "Match=: \"/\" is the root cgroup, which cannot be a tenant");
        check_bad_pattern("Match=a/b[0-9", 2, "Match=: \"a/b[0-9\" has a [ without its ]");
        check_bad_pattern("Match=a/b[0/9]", 2, "Match=: \"a/b[0/9]\" has a [ without its ]");
        check_bad_pattern("Match=a/[9-0]", 2,
                          "Match=: \"a/[9-0]\" has a range between [ and ] that ends before it begins");
        check_bad_pattern("Match=a/[[:alpha:]]*", 2,
                          "Match=: \"a/[[:alpha:]]*\" has a class between [ and ]; name the characters, as in [0-9]");
        check_bad_pattern(
                "Match=a/machine\\x5cx2d*", 2,
                "Match=: \"a/machine\\x5cx2d*\" has \\x5c; a pattern has no escapes: write the unit's name as "
                "it is, as in machine-qemu\\x2d*");
        static const char *const units[] = {"machine-*.scope", "user-*.slice", "*.service"};
        for (size_t i = 0; i < ELEMENTS(units); i++) {
                char text[100], expected[300];
                snprintf(text, sizeof(text), "Match=ok/* %s", units[i]);
                snprintf(expected, sizeof(expected),
                         "Match=: \"%s\" is a unit's name; write the pattern of its cgroup's whole path, as in "
                         "machine.slice/machine-*.scope",
                         units[i]);
                check_bad_pattern(text, 2, expected);
        }
        check_bad_pattern("Match=a/*\nExclude=b//../c", 3, "Exclude=: \"b//../c\" is no path of a cgroup");
        check_bad_pattern(
                "Match=a/*\nTenant=", 3,
                "Tenant=: \"\" is no tenant's name: 1 to 255 bytes of UTF-8 without '/' and control characters");
        check_bad_pattern("Match=a/*\nTenant=x/%1", 3,
                          "Tenant=: \"x/%%1\" is no tenant's name: 1 to 255 bytes of UTF-8 without '/' and control "
                          "characters");
        check_bad_pattern("Match=a/*\nTenant=x-%0", 3, "Tenant=: \"x-%%0\" has a %% that is not of %%1 to %%9 or %%%%");
        check_bad_pattern("Tenant=x-%3\nMatch=a/*/*/* a/*/*b", 2,
                          "Tenant=: \"x-%%3\" asks for %%3, but \"a/*/*b\" of Match= has only 2 *");
        check_bad_pattern("Match=a/*\nActive=on", 3, "Active=: \"on\" is unknown; did you mean \"no\"?");
        check_bad_pattern("Tenant=x", 0, "Tenant= has no effect without Match= in [Policy]; add that, or leave it out");
        check_bad_pattern("Exclude=x", 0,
                          "Exclude= has no effect without Match= in [Policy]; add that, or leave it out");
        check_bad_pattern("Active=no", 0,
                          "Active= has no effect without Match= in [Policy]; add that, or leave it out");
        check_bad_pattern("Matches=x", 2, "unknown key \"Matches\"; did you mean \"Match\"?");

        scratch_write(root, ETC "policies.d/p.conf", "[Policy]\nMatch=a/*\n");
        check_bad_daemon("Patterns=p share", "Patterns=: \"share\" is no policy's name; did you mean \"shared\"?");
        check_bad_daemon("Patterns=shared",
                         "Patterns=: \"shared\" is a policy without Match=; to have it for tenants that "
                         "name none, see DefaultPolicy=");
}

/* What is written is read. */
static bool wrote;

static void test_write(void **state) {
        char path_a[] = "/sys/fs/cgroup/a b//c", path_b[] = "/x.slice/\\x2d\xff;#\"",
             *cgroups[] = {path_a, path_b, NULL};
        static const char *const names[] = {"tenant-a",      "with space", ".hidden", "a\\x2db",
                                            "m\xc3\xbcller", "%s;#",       "a.conf"};
        struct failure f = {0};
        char policy[] = "shared";
        for (size_t i = 0; i < ELEMENTS(names); i++) {
                assert_int_equal(config_write_tenant(root, names[i], cgroups, i % 2 ? policy : NULL, &wrote, &f), 0);
                _cleanup_(config_freep) struct config *config = load();
                assert_int_equal(config->n_tenants, 1);
                const struct tenant_config *tenant = config_tenant(config, names[i]);
                assert_non_null(tenant);
                assert_int_equal(strv_length(tenant->cgroups), 2);
                assert_string_equal(tenant->cgroups[0], "/a b/c");
                assert_string_equal(tenant->cgroups[1], path_b);
                if (i % 2)
                        assert_string_equal(tenant->policy, "shared");
                else
                        assert_null(tenant->policy);
                struct stat st;
                assert_int_equal(stat(tenant->file, &st), 0);
                assert_int_equal(st.st_mode, S_IFREG | 0644);
                assert_int_equal(config_remove_tenant(root, names[i], false, &f), 0);
                assert_int_equal(config_remove_tenant(root, names[i], false, &f), -ENOENT);
                assert_int_equal(f.kind, FAILURE_NO_SUCH_TENANT);
                assert_int_equal(rmdir(scratch_path(root, ETC "tenants.d")), 0); /* nothing else was left in it */
        }
}

static void test_write_again(void **state) {
        char a[] = "/a", b[] = "/b", *first[] = {a, NULL}, *second[] = {b, NULL};
        struct failure f = {0};
        /* Its own file it overwrites. */
        assert_int_equal(config_write_tenant(root, "t", first, NULL, &wrote, &f), 0);
        assert_int_equal(config_write_tenant(root, "t", second, "shared", &wrote, &f), 0);
        _cleanup_(config_freep) struct config *config = load();
        assert_string_equal(config_tenant(config, "t")->cgroups[0], "/b");

        /* Others' it leaves, */
        scratch_write(root, ETC "tenants.d/t.conf", "# by hand\n[Tenant]\nCGroups=b # same\n");
        assert_int_equal(config_write_tenant(root, "t", second, NULL, &wrote, &f), 0);
        _cleanup_free_ char *text = scratch_read(root, ETC "tenants.d/t.conf");
        assert_string_equal(text, "# by hand\n[Tenant]\nCGroups=b # same\n");
        assert_int_equal(config_write_tenant(root, "t", second, "shared", &wrote, &f), -EEXIST);
        assert_int_equal(f.kind, FAILURE_TENANT_EXISTS);
        assert_int_equal(config_write_tenant(root, "t", first, NULL, &wrote, &f), -EEXIST);
        assert_int_equal(config_remove_tenant(root, "t", false, &f), -EEXIST); /* somebody else wrote it */
        assert_int_equal(config_remove_tenant(root, "t", true, &f), 0);

        /* wherever they are, and by whatever name, */
        scratch_write(root, LIB "tenants.d/t\\x20u.conf", "[Tenant]\nCGroups=/b\n");
        scratch_write(root, ETC "tenants.d/v w.conf", "[Tenant]\nCGroups=/c\n");
        assert_int_equal(config_write_tenant(root, "t u", first, NULL, &wrote, &f), -EEXIST);
        assert_int_equal(config_write_tenant(root, "v w", first, NULL, &wrote, &f), -EEXIST);
        assert_int_equal(config_remove_tenant(root, "t u", false, &f), -EROFS);
        assert_int_equal(config_remove_tenant(root, "v w", true, &f), 0);

        /* also those that remove one. */
        scratch_write(root, ETC "tenants.d/t\\x20u.conf", "");
        assert_int_equal(config_write_tenant(root, "t u", first, NULL, &wrote, &f), -EEXIST);
        _cleanup_(config_freep) struct config *masked = load();
        assert_int_equal(masked->n_tenants, 0);
}

static void test_write_refused(void **state) {
        char a[] = "/a", slash[] = "/", up[] = "/a/..", *good[] = {a, NULL}, *top[] = {slash, NULL},
             *bad[] = {up, NULL};
        struct failure f = {0};
        assert_int_equal(config_write_tenant(root, "a/b", good, NULL, &wrote, &f), -EINVAL);
        assert_int_equal(f.kind, FAILURE_INVALID_NAME);
        assert_int_equal(config_write_tenant(root, "a", top, NULL, &wrote, &f), -EINVAL);
        assert_int_equal(f.kind, FAILURE_INVALID_CGROUP);
        assert_int_equal(config_write_tenant(root, "a", bad, NULL, &wrote, &f), -EINVAL);
        assert_int_equal(config_write_tenant(root, "a", NULL, NULL, &wrote, &f), -EINVAL);
        char below[] = "/a/b", *nested[] = {below, a, NULL};
        assert_int_equal(config_write_tenant(root, "a", nested, NULL, &wrote, &f), -EINVAL);
        assert_int_equal(f.kind, FAILURE_INVALID_CGROUP);
        assert_int_equal(config_write_tenant(root, "a", good, "a;b", &wrote, &f), -EINVAL);
        assert_int_equal(f.kind, FAILURE_INVALID_POLICY);

        /* The longest line is read, and none longer written. */
        char path[1100], *longest[] = {path, NULL};
        for (size_t i = 0; i < 992; i++)
                path[i] = i % 100 == 0 ? '/' : 'a';
        path[992] = '\0';
        assert_int_equal(config_write_tenant(root, "a", longest, NULL, &wrote, &f), 0);
        _cleanup_(config_freep) struct config *config = load();
        assert_string_equal(config_tenant(config, "a")->cgroups[0], path);
        strcpy(path + 992, "a");
        assert_int_equal(config_write_tenant(root, "a", longest, NULL, &wrote, &f), -EINVAL);
        assert_int_equal(f.kind, FAILURE_INVALID_CGROUP);

        /* A name that is too long for a file, and a place that cannot be written to, leave nothing. */
        char name[256];
        memset(name, 'a', 255);
        name[255] = '\0';
        assert_int_equal(config_write_tenant(root, name, good, NULL, &wrote, &f), -ENAMETOOLONG);
        assert_int_equal(f.kind, FAILURE_INVALID_NAME);
        assert_int_equal(config_remove_tenant(root, "a", false, &f), 0);
        assert_int_equal(rmdir(scratch_path(root, ETC "tenants.d")), 0);
        assert_int_equal(rmdir(scratch_path(root, "etc/coresched")), 0);
        scratch_write(root, "etc/coresched", "in the way");
        assert_int_equal(config_write_tenant(root, "a", good, NULL, &wrote, &f), -ENOTDIR);
}

static void test_many(void **state) {
        for (unsigned i = 0; i < 1000; i++) {
                char file[64], text[128];
                snprintf(file, sizeof(file), ETC "tenants.d/t%u.conf", i);
                snprintf(text, sizeof(text), "[Tenant]\nCGroups=/many.slice/t%u t-%u.slice\n", i, i);
                scratch_write(root, file, text);
        }
        _cleanup_(config_freep) struct config *config = load();
        assert_int_equal(config->n_tenants, 1000);
        assert_string_equal(config_tenant(config, "t999")->cgroups[1], "/t.slice/t-999.slice");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                TEST(test_no_files),         TEST(test_shipped),   TEST(test_daemon_and_drop_ins),
                TEST(test_masking),          TEST(test_tenants),   TEST(test_bad_tenants),
                TEST(test_overlaps),         TEST(test_bad_names), TEST(test_bad_policies),
                TEST(test_shipped_patterns), TEST(test_patterns),  TEST(test_bad_patterns),
                TEST(test_bad_daemon),       TEST(test_write),     TEST(test_write_again),
                TEST(test_write_refused),    TEST(test_many),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
