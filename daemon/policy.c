// SPDX-License-Identifier: LGPL-2.1-or-later
#include "policy.h"
#include "strv.h"
#include <stdlib.h>
#include <string.h>

bool policy_name_valid(const char *name) {
        size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:@");
        return length > 0 && length <= POLICY_NAME_MAX && name[length] == '\0' && name[0] != '.';
}

void policy_done(struct policy *policy) {
        free(policy->name);
        free(policy->description);
        free(policy->file);
        strv_free(policy->match);
        strv_free(policy->exclude);
        free(policy->tenant);
        *policy = (struct policy){0};
}
