// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/unit-name.h"
#include "selector.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

static const struct {
        const char *ending, *interface;
} types[] = {
        {".slice", "org.freedesktop.systemd1.Slice"},
        {".service", "org.freedesktop.systemd1.Service"},
        {".scope", "org.freedesktop.systemd1.Scope"},
};

const char *unit_interface(const char *unit) {
        const char *ending = strrchr(unit, '.');
        for (size_t i = 0; ending && i < ELEMENTS(types); i++)
                if (strcmp(ending, types[i].ending) == 0)
                        return types[i].interface;
        return NULL;
}

bool unit_name_valid(const char *unit) {
        _cleanup_free_ char *path = NULL;
        const char *at = strchr(unit, '@'), *ending = strrchr(unit, '.');
        if (!unit_interface(unit) || ending == unit || strlen(unit) > 255 || at == unit || (at && at + 1 == ending))
                return false;
        if (unit[strspn(unit, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@")] != '\0')
                return false;
        return strcmp(ending, ".slice") != 0 || slice_path(unit, &path) >= 0;
}

int unit_names(const char *name, char ***ret) {
        _cleanup_strv_ char **units = NULL;
        bool whole = unit_interface(name);
        for (size_t i = 0; i < (whole ? 1 : ELEMENTS(types)); i++) {
                _cleanup_free_ char *unit = NULL;
                if (asprintf(&unit, "%s%s", name, whole ? "" : types[i].ending) < 0)
                        return -ENOMEM;
                if (unit_name_valid(unit) && strv_extend(&units, unit) < 0)
                        return -ENOMEM;
        }
        *ret = TAKE(units);
        return 0;
}

/* systemd puts a '_' before what the kernel could take for one of its own files. */
static bool needs_prefix(const char *unit) {
        static const char *const controllers[] = {"cgroup", "cpu",    "cpuacct", "cpuset", "io",
                                                  "blkio",  "memory", "devices", "pids"};
        for (size_t i = 0; i < ELEMENTS(controllers); i++) {
                size_t length = strlen(controllers[i]);
                if (strncmp(unit, controllers[i], length) == 0 && strrchr(unit, '.') == unit + length)
                        return true;
        }
        return unit[0] == '_' || unit[0] == '.';
}

int unit_cgroup(const char *unit, const char *slice, char **ret) {
        _cleanup_free_ char *parent = NULL;
        char *path;
        if (strcmp(strrchr(unit, '.'), ".slice") == 0)
                return slice_path(unit, ret);
        int r = slice_path(slice, &parent);
        if (r < 0)
                return r;
        if (asprintf(&path, "%s/%s%s", strcmp(parent, "/") == 0 ? "" : parent, needs_prefix(unit) ? "_" : "", unit) < 0)
                return -ENOMEM;
        *ret = path;
        return 0;
}
