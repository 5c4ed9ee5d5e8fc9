// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/error.h"
#include "api/names.h"
#include "utf8.h"
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

char *text_for_bus(const char *text) {
        char *copy = malloc(4 * strlen(text) + 1), *to = copy;
        if (!copy)
                return NULL;
        while (*text) {
                size_t length = utf8_noncharacter(text) ? 0 : utf8_character(text);
                if (length > 0)
                        to = mempcpy(to, text, length);
                else
                        to += sprintf(to, "\\x%02x", (unsigned char) *text);
                text += length > 0 ? length : 1;
        }
        *to = '\0';
        return copy;
}
