// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes and removes tenants' files. What was written is what config_load reads. */
#include "config-files.h"
#include "config-read.h"
#include "replace-file.h"
#include "selector.h"
#include "strv.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MARK           "# Written by coreschedd, which may overwrite it.\n"
#define LINE_BYTES_MAX 1000

int config_tenant_name(const char *file, char **ret) {
        _cleanup_free_ char *stem = strndup(file, strlen(file) - strlen(".conf")), *name = NULL;
        if (!stem)
                return -ENOMEM;
        int r = word_unescape(stem, &name);
        if (r >= 0 && !tenant_name_valid(name))
                r = -EINVAL;
        if (r < 0)
                return r;
        *ret = TAKE(name);
        return 0;
}

/* The reverse, the one that this program writes. */
static char *tenant_file(const char *root, const char *name) {
        char *path =
                malloc(strlen(root) + strlen(config_folders[0]) + strlen("/tenants.d/.conf") + 4 * strlen(name) + 1);
        if (!path)
                return NULL;
        char *end = path + sprintf(path, "%s%s/tenants.d/", root, config_folders[0]);
        for (const char *c = name; *c; c++) {
                bool plain = (unsigned char) *c >= 0x80 || isalnum((unsigned char) *c) || strchr("-_:@", *c) ||
                             (*c == '.' && c > name);
                end += sprintf(end, plain ? "%c" : "\\x%02x", (unsigned char) *c);
        }
        strcpy(end, ".conf");
        return path;
}

/* The file that configures the tenant now; NULL: none. */
static int effective_file(const char *root, const char *name, char **ret, struct failure *f) {
        _cleanup_(config_files_done) struct config_files files = {0};
        int r = config_files_list(root, "tenants.d", &files, f);
        if (r < 0)
                return r;
        for (size_t i = 0; i < files.n; i++) {
                _cleanup_free_ char *its_name = NULL;
                if (config_tenant_name(files.file[i].name, &its_name) >= 0 && strcmp(its_name, name) == 0) {
                        *ret = TAKE(files.file[i].path);
                        return 0;
                }
        }
        *ret = NULL;
        return 0;
}

static bool is_ours(const char *path) {
        char start[sizeof(MARK)] = "";
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
        return fd >= 0 && read(fd, start, strlen(MARK)) == (ssize_t) strlen(MARK) && strcmp(start, MARK) == 0;
}

static bool says(const char *path, char *const *cgroups, const char *policy) {
        _cleanup_(tenant_config_done) struct tenant_config tenant = {0};
        if (config_read_tenant(path, NULL, &tenant, NULL) < 0)
                return false;
        return strv_equal(tenant.cgroups, cgroups) &&
               (policy && tenant.policy ? strcmp(policy, tenant.policy) == 0 : policy == tenant.policy);
}

/* The text of the file, and the cgroups' normal paths. */
static int compose(const char *name, char *const *cgroups, const char *policy, char **ret_text, size_t *ret_size,
                   char ***ret_paths, struct failure *f) {
        _cleanup_strv_ char **paths = NULL;
        if (!tenant_name_valid(name))
                return fail(f, FAILURE_INVALID_NAME, -EINVAL, "\"%s\" is no tenant's name", name);
        if (policy && !policy_name_valid(policy))
                return fail(f, FAILURE_INVALID_POLICY, -EINVAL, "\"%s\" is no policy's name", policy);
        if (strv_length(cgroups) == 0)
                return fail(f, FAILURE_INVALID_CGROUP, -EINVAL, "tenant \"%s\" has no cgroup", name);
        for (size_t i = 0; cgroups[i]; i++) {
                _cleanup_free_ char *path = NULL;
                int r = cgroup_path_normalize(cgroups[i], &path);
                if (r == -EINVAL || (r >= 0 && strcmp(path, "/") == 0))
                        return fail(f, FAILURE_INVALID_CGROUP, -EINVAL, "\"%s\" is no cgroup for a tenant", cgroups[i]);
                for (char **other = paths; r >= 0 && other && *other; other++)
                        if (cgroup_path_within(path, *other) || cgroup_path_within(*other, path))
                                return fail(f, FAILURE_INVALID_CGROUP, -EINVAL, "cgroups \"%s\" and \"%s\" overlap",
                                            *other, path);
                if (r < 0 || strv_extend(&paths, path) < 0)
                        return fail(f, FAILURE_FAILED, -ENOMEM, "%s: %s", name, strerror(ENOMEM));
        }
        _cleanup_free_ char *list = words_join(paths);
        char *text = NULL;
        if (list && strlen("CGroups=") + strlen(list) > LINE_BYTES_MAX)
                return fail(
                        f, FAILURE_INVALID_CGROUP, -EINVAL,
                        "the cgroups of tenant \"%s\" are too long for a configuration file (%zu bytes, at most %zu)",
                        name, strlen(list), LINE_BYTES_MAX - strlen("CGroups="));
        int size = -1;
        if (list)
                size = asprintf(&text, MARK "[Tenant]\nCGroups=%s\n%s%s%s", list, policy ? "Policy=" : "",
                                policy ? policy : "", policy ? "\n" : "");
        if (size < 0)
                return fail(f, FAILURE_FAILED, -ENOMEM, "%s: %s", name, strerror(ENOMEM));
        *ret_size = (size_t) size;
        *ret_text = text;
        *ret_paths = TAKE(paths);
        return 0;
}

/* Makes the folders between the root and the file. */
static int make_folders(const char *root, char *path) {
        for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                int r = mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
                *slash = '/';
                if (r < 0)
                        return r;
        }
        return 0;
}

int config_write_tenant(const char *root, const char *name, char *const *cgroups, const char *policy,
                        struct failure *f) {
        _cleanup_free_ char *text = NULL, *path = NULL, *present = NULL;
        _cleanup_strv_ char **paths = NULL;
        size_t size = 0;
        struct stat st;
        int r = compose(name, cgroups, policy, &text, &size, &paths, f);
        if (r >= 0)
                r = effective_file(root, name, &present, f);
        if (r < 0)
                return r;
        path = tenant_file(root, name);
        if (!path)
                return fail(f, FAILURE_FAILED, -ENOMEM, "%s: %s", name, strerror(ENOMEM));
        if (present && says(present, paths, policy))
                return 0;
        if (present && (strcmp(present, path) != 0 || !is_ours(present)))
                return fail(f, FAILURE_TENANT_EXISTS, -EEXIST,
                            "tenant \"%s\" is configured otherwise in %s: change that file", name, present);
        if (!present && lstat(path, &st) == 0)
                return fail(f, FAILURE_TENANT_EXISTS, -EEXIST, "tenant \"%s\" is masked by %s: remove that file", name,
                            path);
        r = make_folders(root, path);
        if (r >= 0)
                r = replace_file(path, text, size, 0644, true);
        return r < 0 ? fail(f, r == -ENAMETOOLONG ? FAILURE_INVALID_NAME : FAILURE_FAILED, r, "cannot write %s: %s",
                            path, strerror(-r))
                     : 0;
}

int config_remove_tenant(const char *root, const char *name, bool force, struct failure *f) {
        _cleanup_free_ char *present = NULL;
        int r = effective_file(root, name, &present, f);
        if (r < 0)
                return r;
        if (!present)
                return fail(f, FAILURE_NO_SUCH_TENANT, -ENOENT, "tenant \"%s\" is not configured", name);
        const char *file = strrchr(present, '/') + 1;
        for (const char *const *folder = config_folders + 1; *folder; folder++) {
                _cleanup_free_ char *path = NULL;
                struct stat st;
                if (asprintf(&path, "%s%s/tenants.d/%s", root, *folder, file) < 0)
                        return fail(f, FAILURE_FAILED, -ENOMEM, "%s: %s", name, strerror(ENOMEM));
                if (lstat(path, &st) == 0)
                        return fail(
                                f, FAILURE_FAILED, -EROFS,
                                "tenant \"%s\" is configured in %s, too: mask it with a link %s/tenants.d/%s to /dev/null",
                                name, path, config_folders[0], file);
        }
        if (!force && !is_ours(present))
                return fail(
                        f, FAILURE_TENANT_EXISTS, -EEXIST,
                        "tenant \"%s\" is configured in %s, which was written by hand: remove that file and reload, or "
                        "use --force",
                        name, present);
        if (unlink(present) < 0)
                return fail(f, FAILURE_FAILED, -errno, "cannot remove %s: %m", present);
        return 0;
}
