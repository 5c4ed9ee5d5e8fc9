// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/options.h"
#include "strv.h"
#include <errno.h>
#include <string.h>

static const struct {
        const char *name, *type, *meaning;
        enum option option;
        const char *other_type;
} known[] = {
        {"CGroups", "as", "an array of strings", OPTION_CGROUPS, "aay"},
        {"Policy", "s", "a string", OPTION_POLICY, NULL},
        {"Persistent", "b", "a boolean", OPTION_PERSISTENT, NULL},
        {"Force", "b", "a boolean", OPTION_FORCE, NULL},
        {"Transient", "b", "a boolean", OPTION_TRANSIENT, NULL},
        {"Join", "b", "a boolean", OPTION_JOIN, NULL},
};

void options_done(struct options *options) {
        strv_free(options->cgroups);
        free(options->policy);
        *options = (struct options){0};
}

/* A string, or as many bytes, of which the last may be a NUL. 1, or 0 at the end of the array. */
static int read_path(sd_bus_message *message, bool bytes, char **ret) {
        const char *text;
        size_t size;
        int r = bytes ? sd_bus_message_read_array(message, 'y', (const void **) &text, &size)
                      : sd_bus_message_read(message, "s", &text);
        if (r <= 0)
                return r;
        if (!bytes)
                size = strlen(text);
        else if (size > 0 && text[size - 1] == '\0')
                size--;
        if (memchr(text, '\0', size))
                return -EINVAL;
        *ret = strndup(text, size);
        return *ret ? 1 : -ENOMEM;
}

static int read_cgroups(sd_bus_message *message, char ***ret, struct failure *f) {
        _cleanup_strv_ char **cgroups = NULL;
        const char *type;
        int r = sd_bus_message_peek_type(message, NULL, &type);
        bool bytes = r > 0 && strcmp(type, "ay") == 0;
        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', type);
        for (size_t n = 0; r >= 0; n++) {
                _cleanup_free_ char *path = NULL;
                r = read_path(message, bytes, &path);
                if (r <= 0)
                        break;
                if (n >= CGROUPS_MAX)
                        return fail(f, FAILURE_INVALID_OPTION, -E2BIG, "CGroups has more than %d entries", CGROUPS_MAX);
                r = strv_extend(&cgroups, path);
        }
        if (r < 0)
                return fail(f, FAILURE_INVALID_OPTION, r, "CGroups cannot be read: %s", strerror(-r));
        if (!cgroups)
                return fail(f, FAILURE_INVALID_OPTION, -EINVAL, "CGroups is empty");
        (void) sd_bus_message_exit_container(message);
        *ret = TAKE(cgroups);
        return 0;
}

static bool *flag_of(struct options *options, enum option option) {
        return option == OPTION_FORCE       ? &options->force
               : option == OPTION_TRANSIENT ? &options->transient
               : option == OPTION_JOIN      ? &options->join
                                            : &options->persistent;
}

static int read_value(sd_bus_message *message, enum option option, struct options *options, struct failure *f) {
        const char *text;
        int yes, r;

        switch (option) {
        case OPTION_CGROUPS:
                return read_cgroups(message, &options->cgroups, f);
        case OPTION_POLICY:
                r = sd_bus_message_read(message, "s", &text);
                if (r < 0)
                        break;
                options->policy = strdup(text);
                return options->policy ? 0 : fail(f, FAILURE_FAILED, -ENOMEM, "out of memory");
        case OPTION_PERSISTENT:
        case OPTION_FORCE:
        case OPTION_TRANSIENT:
        case OPTION_JOIN:
                r = sd_bus_message_read(message, "b", &yes);
                if (r < 0)
                        break;
                *flag_of(options, option) = yes;
                return 0;
        default:
                r = -EINVAL;
        }
        return fail(f, FAILURE_INVALID_OPTION, r, "an option cannot be read: %s", strerror(-r));
}

static int read_option(sd_bus_message *message, unsigned allowed, unsigned *seen, struct options *options,
                       struct failure *f) {
        const char *name, *type;
        int r = sd_bus_message_read(message, "s", &name);
        if (r >= 0)
                r = sd_bus_message_peek_type(message, NULL, &type);
        if (r < 0)
                return fail(f, FAILURE_INVALID_OPTION, r, "the options cannot be read: %s", strerror(-r));
        for (size_t i = 0; i < ELEMENTS(known); i++) {
                if (strcmp(name, known[i].name) != 0 || !(allowed & known[i].option))
                        continue;
                if (*seen & known[i].option)
                        return fail(f, FAILURE_INVALID_OPTION, -EINVAL, "option %s is given twice", name);
                if (strcmp(type, known[i].type) != 0 &&
                    (!known[i].other_type || strcmp(type, known[i].other_type) != 0))
                        return fail(f, FAILURE_INVALID_OPTION, -EINVAL,
                                    "option %s must be %s (D-Bus type '%s'), not of type '%.32s'", name,
                                    known[i].meaning, known[i].type, type);
                *seen |= known[i].option;
                r = sd_bus_message_enter_container(message, 'v', type);
                if (r < 0)
                        return fail(f, FAILURE_INVALID_OPTION, r, "option %s cannot be read: %s", name, strerror(-r));
                r = read_value(message, known[i].option, options, f);
                if (r >= 0)
                        (void) sd_bus_message_exit_container(message);
                return r;
        }
        return fail(f, FAILURE_INVALID_OPTION, -EINVAL, "there is no option '%.64s' here", name);
}

int options_read(sd_bus_message *message, unsigned allowed, struct options *ret, struct failure *f) {
        _cleanup_(options_done) struct options options = {0};
        unsigned seen = 0;
        int r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = read_option(message, allowed, &seen, &options, f);
                if (r < 0)
                        return r;
                r = sd_bus_message_exit_container(message);
        }
        if (r < 0)
                return fail(f, FAILURE_INVALID_OPTION, r, "the options cannot be read: %s", strerror(-r));
        *ret = options;
        options = (struct options){0};
        return 0;
}
