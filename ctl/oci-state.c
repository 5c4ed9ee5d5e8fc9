// SPDX-License-Identifier: LGPL-2.1-or-later
#include "oci-state.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

#define DEPTH_MAX 32

static int refuse(char *why, size_t size, const char *text) {
        snprintf(why, size, "%s", text);
        return -EINVAL;
}

static json_object *parse(const char *text) {
        json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
        if (!tokener)
                return NULL;
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
        json_object *object = json_tokener_parse_ex(tokener, text, (int) strlen(text) + 1);
        if (json_tokener_get_error(tokener) != json_tokener_success) {
                json_object_put(object);
                object = NULL;
        }
        json_tokener_free(tokener);
        return object;
}

/* NULL for what is not there, or empty. */
static const char *annotation(json_object *annotations, const char *key) {
        const char *text = annotations ? json_text(annotations, key) : "";
        return text[0] ? text : NULL;
}

int oci_state_read(const char *text, struct oci_state *ret, char *why, size_t size) {
        _cleanup_json_ json_object *object = parse(text);
        json_object *annotations = NULL;
        if (!json_object_is_type(object, json_type_object))
                return refuse(why, size, "it is no JSON object");
        uint64_t pid = json_number(object, "pid");
        struct oci_state state = {.object = object, .id = json_text(object, "id"), .pid = (pid_t) pid};
        if (!state.id[0])
                return refuse(why, size, "it has no \"id\"");
        if (pid == 0 || pid > INT_MAX)
                return refuse(why, size, "it has no \"pid\"");
        if (json_object_object_get_ex(object, "annotations", &annotations) &&
            !json_object_is_type(annotations, json_type_object))
                return refuse(why, size, "its \"annotations\" are no object");
        const char *required = annotation(annotations, OCI_REQUIRED);
        state.required = required && strcmp(required, "true") == 0;
        if (required && !state.required && strcmp(required, "false") != 0)
                return refuse(why, size, "the annotation " OCI_REQUIRED " has to be true or false");
        state.tenant = annotation(annotations, OCI_TENANT);
        state.policy = annotation(annotations, OCI_POLICY);
        *ret = state;
        TAKE(object);
        return 0;
}

void oci_state_done(struct oci_state *state) {
        json_object_put(state->object);
}

char *oci_cgroup(const char *cgroup, const char *id) {
        for (const char *component = cgroup; *component == '/';) {
                const char *end = strchrnul(++component, '/');
                const char *found = strstr(component, id);
                if (found && found + strlen(id) <= end)
                        return strndup(cgroup, (size_t) (end - cgroup));
                component = end;
        }
        return strdup(cgroup);
}
