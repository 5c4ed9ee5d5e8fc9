/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of the client share: the options as they were given, the exit statuses, and the verbs. */
#include <stdbool.h>
#include <systemd/sd-bus.h>

enum json_mode { JSON_OFF, JSON_SHORT, JSON_PRETTY };

struct options {
        enum json_mode json;
        bool colour; /* standard output is a terminal that wants it */
        bool pager, legend, ask_password, quiet;
        const char *host, *machine;
        const char *policy;
        char **cgroups; /* NULL-terminated; NULL for none */
        bool persistent, force, all;
        bool transient;
        bool join; /* not an option of the command line: cgroups are added to those of the tenant there is */
        const char *tenant, *unit, *slice, *description; /* run */
        bool new;
};

/* Every verb ends with one of these. */
enum {
        STATUS_GOOD = 0,
        STATUS_FAILED = 1,
        STATUS_USAGE = 2,
        STATUS_NOT_ENFORCED = 3, /* a tenant is not protected, or (status) the daemon does not run */
        STATUS_NO_TENANT = 4,
};

/* The worse of two: failed, then no such tenant, then not enforced. */
static inline int status_worse(int a, int b) {
        static const int badness[] = {[STATUS_GOOD] = 0,
                                      [STATUS_NOT_ENFORCED] = 1,
                                      [STATUS_NO_TENANT] = 2,
                                      [STATUS_FAILED] = 3,
                                      [STATUS_USAGE] = 4};
        return badness[a] >= badness[b] ? a : b;
}

/* The verbs: names is NULL-terminated and holds as many words as the verb takes. They print their results on standard
 * output and one line for each error on standard error. */
int verb_tag(sd_bus *bus, const struct options *options, char **names);
int verb_untag(sd_bus *bus, const struct options *options, char **names);
int verb_list(sd_bus *bus, const struct options *options, char **names);
int verb_show(sd_bus *bus, const struct options *options, char **names);
int verb_status(sd_bus *bus, const struct options *options, char **names);
int verb_verify(sd_bus *bus, const struct options *options, char **names);
int verb_policy(sd_bus *bus, const struct options *options, char **names);
int verb_run(sd_bus *bus, const struct options *options, char **names);
int verb_oci_hook(sd_bus *bus, const struct options *options, char **names);
int verb_reload(sd_bus *bus, const struct options *options, char **names);
