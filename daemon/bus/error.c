// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/error.h"
#include "api/names.h"
#include <errno.h>
#include <string.h>

static const char *const names[_FAILURE_KIND_MAX] = {
        [FAILURE_NONE] = CORESCHED_ERROR_PREFIX "Failed",
        [FAILURE_NO_SUCH_TENANT] = CORESCHED_ERROR_PREFIX "NoSuchTenant",
        [FAILURE_TENANT_EXISTS] = CORESCHED_ERROR_PREFIX "TenantExists",
        [FAILURE_AMBIGUOUS_NAME] = CORESCHED_ERROR_PREFIX "AmbiguousName",
        [FAILURE_NO_SUCH_CGROUP] = CORESCHED_ERROR_PREFIX "NoSuchCGroup",
        [FAILURE_INVALID_NAME] = CORESCHED_ERROR_PREFIX "InvalidName",
        [FAILURE_INVALID_CGROUP] = CORESCHED_ERROR_PREFIX "InvalidCGroup",
        [FAILURE_INVALID_POLICY] = CORESCHED_ERROR_PREFIX "InvalidPolicy",
        [FAILURE_INVALID_OPTION] = CORESCHED_ERROR_PREFIX "InvalidOption",
        [FAILURE_INVALID_CONFIG] = CORESCHED_ERROR_PREFIX "InvalidConfig",
        [FAILURE_NOT_SUPPORTED] = CORESCHED_ERROR_PREFIX "NotSupported",
        [FAILURE_NOT_PERMITTED] = CORESCHED_ERROR_PREFIX "NotPermitted",
        [FAILURE_BUSY] = CORESCHED_ERROR_PREFIX "Busy",
        [FAILURE_FAILED] = CORESCHED_ERROR_PREFIX "Failed",
};

int error_set(sd_bus_error *error, const struct failure *f) {
        _cleanup_free_ char *text = text_for_bus(f->text);
        if (!text)
                return -ENOMEM;
        return sd_bus_error_set(error, names[f->kind], text);
}

/* The length of the UTF-8 character at s, or 0 when there is none: no overlong forms, no surrogates, none above
 * U+10FFFF. */
static size_t character(const unsigned char *s) {
        size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
        for (size_t i = 1; i < length; i++)
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
        if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
            (s[0] == 0xf4 && s[1] > 0x8f))
                return 0;
        return length;
}

char *text_for_bus(const char *text) {
        char *copy = malloc(4 * strlen(text) + 1), *to = copy;
        if (!copy)
                return NULL;
        for (const unsigned char *s = (const unsigned char *) text; *s;) {
                size_t length = character(s);
                if (length > 0)
                        to = mempcpy(to, s, length);
                else
                        to += sprintf(to, "\\x%02x", *s);
                s += length > 0 ? length : 1;
        }
        *to = '\0';
        return copy;
}
