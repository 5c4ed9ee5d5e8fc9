// SPDX-License-Identifier: LGPL-2.1-or-later
/* Looks up the configuration's files in the order of the folders. Nothing is opened here but folders. */
#include "config-files.h"
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

const char *const config_folders[] = {"/etc/coresched", "/run/coresched", "/usr/local/lib/coresched",
                                      "/usr/lib/coresched", NULL};

/* Empty, or a link to /dev/null? */
static bool removes(const char *path) {
        struct stat st;
        if (stat(path, &st) < 0)
                return false; /* to be complained of when it is read */
        return (S_ISREG(st.st_mode) && st.st_size == 0) || (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

static int add(struct config_files *files, const char *folder, const char *name) {
        for (size_t i = 0; i < files->n; i++)
                if (strcmp(files->file[i].name, name) == 0)
                        return 0;
        struct config_file *grown = reallocarray(files->file, files->n + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        files->file = grown;
        _cleanup_free_ char *copy = strdup(name);
        char *path = NULL;
        if (!copy || asprintf(&path, "%s/%s", folder, name) < 0)
                return -ENOMEM;
        files->file[files->n++] = (struct config_file){TAKE(copy), path};
        return 0;
}

static bool is_name(const char *name) {
        size_t length = strlen(name), suffix = strlen(".conf");
        return name[0] != '.' && length > suffix && strcmp(name + length - suffix, ".conf") == 0;
}

static void closedirp(DIR **dir) {
        if (*dir)
                closedir(*dir);
}

static int add_folder(struct config_files *files, const char *folder) {
        _cleanup_(closedirp) DIR *dir = opendir(folder);
        if (!dir)
                return errno == ENOENT ? 0 : -errno;
        for (;;) {
                errno = 0;
                const struct dirent *entry = readdir(dir);
                if (!entry)
                        return -errno;
                int r = is_name(entry->d_name) ? add(files, folder, entry->d_name) : 0;
                if (r < 0)
                        return r;
        }
}

static int compare(const void *a, const void *b) {
        return strcmp(((const struct config_file *) a)->name, ((const struct config_file *) b)->name);
}

static void file_done(struct config_file *file) {
        free(file->name);
        free(file->path);
}

int config_files_list(const char *root, const char *subfolder, struct config_files *ret, struct failure *f) {
        _cleanup_(config_files_done) struct config_files files = {0};
        for (const char *const *folder = config_folders; *folder; folder++) {
                _cleanup_free_ char *path = NULL;
                if (asprintf(&path, "%s%s/%s", root, *folder, subfolder) < 0)
                        return fail(f, FAILURE_FAILED, -ENOMEM, "%s: %s", subfolder, strerror(ENOMEM));
                int r = add_folder(&files, path);
                if (r < 0)
                        return fail(f, FAILURE_INVALID_CONFIG, r, "%s: cannot list the folder: %s", path, strerror(-r));
        }
        size_t kept = 0;
        for (size_t i = 0; i < files.n; i++)
                if (removes(files.file[i].path))
                        file_done(&files.file[i]);
                else
                        files.file[kept++] = files.file[i];
        files.n = kept;
        if (kept > 0)
                qsort(files.file, kept, sizeof(*files.file), compare);
        *ret = files;
        files = (struct config_files){0};
        return 0;
}

void config_files_done(struct config_files *files) {
        for (size_t i = 0; i < files->n; i++)
                file_done(&files->file[i]);
        free(files->file);
        *files = (struct config_files){0};
}

int config_files_find(const char *root, const char *name, char **ret) {
        for (const char *const *folder = config_folders; *folder; folder++) {
                _cleanup_free_ char *path = NULL;
                struct stat st;
                if (asprintf(&path, "%s%s/%s", root, *folder, name) < 0)
                        return -ENOMEM;
                if (lstat(path, &st) < 0)
                        continue;
                *ret = removes(path) ? NULL : TAKE(path);
                return 0;
        }
        *ret = NULL;
        return 0;
}
