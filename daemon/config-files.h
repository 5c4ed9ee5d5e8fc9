/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Where the configuration's files are. */
#include "failure.h"

/* The folders in the order in which they mask each other, NULL-ended. Files are written to the first. */
extern const char *const config_folders[];

struct config_file {
        char *name; /* with .conf */
        char *path; /* with root */
};

struct config_files {
        struct config_file *file; /* in the order of their names */
        size_t n;
};

/* The files *.conf of a subfolder ("tenants.d") that are in effect: hidden names, masked and removed ones are left out.
 * A folder that does not exist is an empty one. */
int config_files_list(const char *root, const char *subfolder, struct config_files *ret, struct failure *f);
void config_files_done(struct config_files *files);

/* The one file of this name that is in effect; *ret is NULL when there is none. 0 or -ENOMEM. */
int config_files_find(const char *root, const char *name, char **ret);
