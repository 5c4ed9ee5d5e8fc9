// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the strict scan takes, iniparser reads the same: never is it the comparison behind the scan that refuses a file.
 */
#include "fuzz.h"
#include "ini.h"
#include "utf8.h"
#include <iniparser.h>
#include <string.h>

static const struct ini_key known[] = {
        {"Tenant", "CGroups"}, {"Tenant", "Policy"}, {"Daemon", "DefaultPolicy"}, {"Daemon", "FreezeTimeoutSec"}, {0}};

struct seen {
        const dictionary *lenient;
        unsigned line;
        size_t n;
};

static int see(const struct ini_entry *entry, void *userdata, struct failure *f) {
        struct seen *seen = userdata;
        char name[64];
        snprintf(name, sizeof(name), "%s:%s", entry->section, entry->key);
        const char *value = iniparser_getstring(seen->lenient, name, NULL);
        MUST(value && strcmp(value, entry->value) == 0);
        MUST(entry->line > seen->line);
        seen->line = entry->line;
        seen->n++;
        return 0;
}

static int silent(const char *format, ...) {
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *path = fuzz_file(data, size);
        struct failure f = {0};
        iniparser_set_error_callback(silent);
        struct seen seen = {.lenient = iniparser_load(path)};
        int r = ini_read(path, known, see, &seen, &f);
        fuzz_check_failure(r, &f, path);
        if (r < 0) {
                const char *what = f.text + strlen(path);
                what += strspn(what, ":0123456789 ");
                MUST(strncmp(what, "iniparser", strlen("iniparser")) != 0);
        } else {
                MUST(seen.n < ELEMENTS(known));
        }
        if (seen.lenient)
                iniparser_freedict((dictionary *) seen.lenient);
        return 0;
}
