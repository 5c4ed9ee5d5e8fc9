// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state file: a line with a JSON object of "version", "tenants", "untagged" and "left", and lines with a tenant
 * each, which stands for all that was said of it before, or with {"gone": NAME}. A last line without its end was being
 * written when the daemon was killed, and says nothing. Paths are written as words (\xNN), since cgroups may be of
 * bytes that JSON cannot hold. What is read is checked as if somebody else had written it. */
#include "state.h"
#include "policy.h"
#include "replace-file.h"
#include "selector.h"
#include "strv.h"
#include <errno.h>
#include <fcntl.h>
#include <json.h>
#include <string.h>
#include <sys/stat.h>

#define STATE_VERSION  1
#define FILE_BYTES_MAX (64L * 1024 * 1024)
#define DEPTH_MAX      8

static void putp(json_object **object) {
        json_object_put(*object);
}
static void tokener_freep(json_tokener **tokener) {
        if (*tokener)
                json_tokener_free(*tokener);
}

/* ---- writing ---- */

/* Takes over value, also when it fails. */
static int put(json_object *object, const char *key, json_object *value) {
        if (value && json_object_object_add_ex(object, key, value,
                                               JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_KEY_IS_CONSTANT) == 0)
                return 0;
        json_object_put(value);
        return -ENOMEM;
}

static int put_strings(json_object *object, const char *key, char *const *strings, bool escape) {
        json_object *array = json_object_new_array_ext((int) strv_length(strings));
        int r = put(object, key, array);
        for (size_t i = 0; r >= 0 && strings && strings[i]; i++) {
                _cleanup_free_ char *word = escape ? words_join((char *const[]){strings[i], NULL}) : NULL;
                json_object *string = escape && !word ? NULL : json_object_new_string(escape ? word : strings[i]);
                if (!string || json_object_array_add(array, string) < 0) {
                        json_object_put(string);
                        r = -ENOMEM;
                }
        }
        return r;
}

static int print(FILE *stream, json_object *object) {
        size_t size;
        const char *text = json_object_to_json_string_length(
                object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &size);
        return text && fwrite(text, 1, size, stream) == size ? 0 : -ENOMEM;
}

/* One at a time, so that a thousand of them need no more memory than one. */
static int print_tenant(FILE *stream, const struct tenant *tenant) {
        _cleanup_(putp) json_object *object = json_object_new_object();
        if (!object)
                return -ENOMEM;
        int r = put(object, "name", json_object_new_string(tenant->name));
        if (r >= 0)
                r = put_strings(object, "cgroups", tenant->cgroups, true);
        if (r >= 0 && tenant->policy)
                r = put(object, "policy", json_object_new_string(tenant->policy));
        if (r >= 0)
                r = put(object, "origin", json_object_new_string(origin_word(tenant->origin)));
        if (r >= 0 && tenant->origin == ORIGIN_PATTERN)
                r = put(object, "pattern", json_object_new_string(tenant->pattern));
        if (r >= 0)
                r = put(object, "cookie", json_object_new_uint64(tenant->cookie ? tenant->cookie : tenant->given));
        if (r >= 0)
                r = put(object, "adopted", json_object_new_boolean(tenant->adopted));
        if (r >= 0)
                r = put_strings(object, "frozen", tenant->frozen, true);
        if (r >= 0 && tenant->transient)
                r = put(object, "transient", json_object_new_boolean(true));
        if (r >= 0 && tenant->transient)
                r = put(object, "lived", json_object_new_boolean(tenant->lived));
        if (r >= 0)
                r = put(object, "stay-frozen", json_object_new_boolean(tenant->stay_frozen));
        return r < 0 ? r : print(stream, object);
}

static int print_state(FILE *stream, const struct tenants *tenants, char *const *untagged, char *const *left) {
        _cleanup_(putp) json_object *rest = json_object_new_object();
        int r = rest ? put_strings(rest, "untagged", untagged, false) : -ENOMEM;
        if (r >= 0)
                r = put_strings(rest, "left", left, true);
        fprintf(stream, "{\"version\":%d,\"tenants\":[", STATE_VERSION);
        for (size_t i = 0; r >= 0 && i < tenants->n; i++) {
                if (i > 0)
                        fputc(',', stream);
                r = print_tenant(stream, tenants->tenant[i]);
        }
        fputs("],\"untagged\":", stream);
        if (r >= 0)
                r = print(stream, json_object_object_get(rest, "untagged"));
        fputs(",\"left\":", stream);
        if (r >= 0)
                r = print(stream, json_object_object_get(rest, "left"));
        fputs("}\n", stream);
        return r >= 0 && ferror(stream) ? -ENOMEM : r;
}

static int print_gone(FILE *stream, const struct tenant *tenant) {
        _cleanup_(putp) json_object *object = json_object_new_object();
        int r = object ? put(object, "gone", json_object_new_string(tenant->name)) : -ENOMEM;
        return r < 0 ? r : print(stream, object);
}

/* Ends the text that was printed (r: how that went), and gives the name of the file that it is for. */
static int end_text(FILE *stream, int r, const char *dir, char **ret_path) {
        if (fclose(stream) != 0 && r >= 0)
                r = -ENOMEM;
        return r < 0 ? r : asprintf(ret_path, "%s/state.json", dir) < 0 ? -ENOMEM : 0;
}

int state_save(const char *dir, const struct tenants *tenants, char *const *untagged, char *const *left) {
        _cleanup_free_ char *path = NULL, *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        if (!stream)
                return -ENOMEM;
        int r = end_text(stream, print_state(stream, tenants, untagged, left), dir, &path);
        return r < 0 ? r : replace_file(path, text, size, 0600, false);
}

int state_append(const char *dir, const struct tenant *tenant, bool gone) {
        _cleanup_free_ char *path = NULL, *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        if (!stream)
                return -ENOMEM;
        int r = gone ? print_gone(stream, tenant) : print_tenant(stream, tenant);
        fputc('\n', stream);
        r = end_text(stream, r, dir, &path);
        if (r < 0)
                return r;
        _cleanup_close_ int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
                return -errno;
        ssize_t n = write(fd, text, size);
        return n < 0 ? -errno : (size_t) n < size ? -ENOSPC : 0;
}

/* ---- reading ---- */

/* What is read must be this, or the whole file is garbled: -EBADMSG. *ret is NULL where it may be absent, and is. */
static int get(const json_object *object, const char *key, json_type type, bool optional, json_object **ret) {
        json_object *value = NULL;
        if (!json_object_object_get_ex(object, key, &value)) {
                *ret = NULL;
                return optional ? 0 : -EBADMSG;
        }
        if (!json_object_is_type(value, type))
                return -EBADMSG;
        *ret = value;
        return 0;
}

/* NULL when it is no string, or holds a NUL byte. */
static const char *string_of(json_object *value) {
        if (!json_object_is_type(value, json_type_string))
                return NULL;
        const char *string = json_object_get_string(value);
        return strlen(string) == (size_t) json_object_get_string_len(value) ? string : NULL;
}

static int get_paths(const json_object *object, const char *key, char ***ret) {
        json_object *array;
        _cleanup_strv_ char **paths = NULL;
        int r = get(object, key, json_type_array, false, &array);
        if (r < 0)
                return r;
        for (size_t i = 0; i < json_object_array_length(array); i++) {
                _cleanup_strv_ char **words = NULL;
                _cleanup_free_ char *path = NULL;
                const char *string = string_of(json_object_array_get_idx(array, i));
                r = string ? words_split(string, &words) : -EBADMSG;
                if (r >= 0)
                        r = strv_length(words) == 1 ? cgroup_path_normalize(words[0], &path) : -EBADMSG;
                if (r < 0)
                        return r == -ENOMEM ? r : -EBADMSG;
                if (strcmp(path, words[0]) != 0 || strcmp(path, "/") == 0)
                        return -EBADMSG;
                r = strv_extend(&paths, path);
                if (r < 0)
                        return r;
        }
        *ret = TAKE(paths);
        return 0;
}

static int get_cookie(const json_object *object, uint64_t *ret) {
        json_object *value;
        int r = get(object, "cookie", json_type_int, false, &value);
        if (r < 0)
                return r;
        /* json-c saturates: 0 for what is below. */
        if (json_object_get_int64(value) < 0)
                return -EBADMSG;
        *ret = json_object_get_uint64(value);
        return 0;
}

static int check_tenant(const struct tenants *tenants, const struct tenant *tenant) {
        if (strv_length(tenant->cgroups) == 0)
                return -EBADMSG;
        for (char **c = tenant->cgroups; *c; c++)
                if (tenants_overlapping(tenants, *c))
                        return -EBADMSG;
        return 0;
}

static int get_tenant(json_object *object, struct tenants *tenants) {
        _cleanup_(tenant_freep) struct tenant *tenant = NULL;
        _cleanup_strv_ char **cgroups = NULL;
        json_object *name, *policy, *origin, *pattern, *adopted, *stay_frozen, *transient, *lived;
        if (!json_object_is_type(object, json_type_object))
                return -EBADMSG;
        int r = get(object, "name", json_type_string, false, &name);
        if (r >= 0)
                r = get(object, "policy", json_type_string, true, &policy);
        if (r >= 0)
                r = get(object, "origin", json_type_string, false, &origin);
        if (r >= 0)
                r = get(object, "pattern", json_type_string, true, &pattern);
        if (r >= 0)
                r = get(object, "adopted", json_type_boolean, false, &adopted);
        if (r >= 0)
                r = get(object, "stay-frozen", json_type_boolean, true, &stay_frozen);
        if (r >= 0)
                r = get(object, "transient", json_type_boolean, true, &transient);
        if (r >= 0)
                r = get(object, "lived", json_type_boolean, true, &lived);
        if (r >= 0)
                r = get_paths(object, "cgroups", &cgroups);
        if (r < 0)
                return r;
        const char *name_word = string_of(name), *policy_word = policy ? string_of(policy) : NULL;
        int origin_value = origin_from_word(json_object_get_string(origin));
        if (!name_word || !tenant_name_valid(name_word) || origin_value < 0 ||
            (policy && (!policy_word || !policy_name_valid(policy_word))))
                return -EBADMSG;
        const char *pattern_word = pattern ? string_of(pattern) : NULL;
        if (pattern ? !pattern_word || !policy_name_valid(pattern_word) : origin_value == ORIGIN_PATTERN)
                return -EBADMSG;
        r = tenant_new(name_word, cgroups, policy_word, (enum origin) origin_value, &tenant);
        if (r >= 0 && origin_value == ORIGIN_PATTERN)
                r = tenant_set_pattern(tenant, pattern_word);
        if (r >= 0)
                r = get_cookie(object, &tenant->cookie);
        if (r >= 0)
                r = get_paths(object, "frozen", &tenant->frozen);
        if (r >= 0)
                r = check_tenant(tenants, tenant);
        if (r < 0)
                return r;
        /* What one was given and lost, the kernel may have used again for another. */
        if (tenants_of_cookie(tenants, tenant->cookie))
                tenant->cookie = 0;
        tenant->adopted = json_object_get_boolean(adopted);
        tenant->stay_frozen = stay_frozen && json_object_get_boolean(stay_frozen);
        tenant->transient = transient && json_object_get_boolean(transient);
        tenant->lived = lived && json_object_get_boolean(lived);
        r = tenants_add(tenants, tenant);
        if (r < 0)
                return r == -EEXIST ? -EBADMSG : r;
        TAKE(tenant);
        return 0;
}

static int get_state(json_object *object, struct state *state) {
        json_object *version, *tenants, *untagged, *left;
        if (!json_object_is_type(object, json_type_object))
                return -EBADMSG;
        int r = get(object, "version", json_type_int, false, &version);
        if (r >= 0)
                r = get(object, "tenants", json_type_array, false, &tenants);
        if (r >= 0)
                r = get(object, "untagged", json_type_array, false, &untagged);
        if (r >= 0)
                r = get(object, "left", json_type_array, true, &left);
        if (r >= 0 && json_object_get_int64(version) != STATE_VERSION)
                r = -EBADMSG;
        for (size_t i = 0; r >= 0 && i < json_object_array_length(tenants); i++)
                r = get_tenant(json_object_array_get_idx(tenants, i), &state->tenants);
        for (size_t i = 0; r >= 0 && i < json_object_array_length(untagged); i++) {
                const char *name = string_of(json_object_array_get_idx(untagged, i));
                r = name && tenant_name_valid(name) ? strv_extend(&state->untagged, name) : -EBADMSG;
        }
        if (r >= 0 && left)
                r = get_paths(object, "left", &state->left);
        return r;
}

static int get_change(json_object *object, struct state *state) {
        json_object *name = NULL;
        bool gone = json_object_object_get_ex(object, "gone", &name);
        if (!gone && !json_object_object_get_ex(object, "name", &name))
                return -EBADMSG;
        const char *word = string_of(name);
        struct tenant *before = word ? tenants_find(&state->tenants, word) : NULL;
        if (before) {
                tenants_remove(&state->tenants, word);
                tenant_free(before);
        }
        if (gone)
                return word ? 0 : -EBADMSG; /* it may never have been saved */
        return get_tenant(object, &state->tenants);
}

static int parse_line(const char *text, size_t size, bool first, struct state *state) {
        _cleanup_(tokener_freep) json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
        if (!tokener)
                return -ENOMEM;
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
        _cleanup_(putp) json_object *object = json_tokener_parse_ex(tokener, text, (int) size);
        if (json_tokener_get_error(tokener) != json_tokener_success || json_tokener_get_parse_end(tokener) != size)
                return -EBADMSG;
        return first ? get_state(object, state) : get_change(object, state);
}

static int parse(const char *text, size_t size, struct state *ret) {
        _cleanup_(state_done) struct state state = {0};
        const char *line = text, *end = text + size, *newline;
        do {
                newline = memchr(line, '\n', (size_t) (end - line));
                if (!newline && line > text)
                        break;
                int r = parse_line(line, (size_t) ((newline ? newline : end) - line), line == text, &state);
                if (r < 0)
                        return r;
                line = newline ? newline + 1 : end;
        } while (line < end);
        *ret = state;
        state = (struct state){0};
        return 0;
}

static int read_file(const char *path, char **ret, size_t *ret_size) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0)
                return errno == ELOOP ? -EBADMSG : -errno; /* a link is not of our writing */
        if (!S_ISREG(st.st_mode) || st.st_size > FILE_BYTES_MAX)
                return -EBADMSG;
        size_t size = 0, room = (size_t) st.st_size;
        _cleanup_free_ char *text = malloc(room + 1);
        if (!text)
                return -ENOMEM;
        ssize_t n = 1;
        while (size < room && (n = read(fd, text + size, room - size)) > 0)
                size += (size_t) n;
        if (n < 0)
                return -errno;
        *ret = TAKE(text);
        *ret_size = size;
        return 0;
}

int state_load(const char *dir, struct state *ret, struct failure *f) {
        _cleanup_free_ char *path = NULL, *bad = NULL, *text = NULL;
        size_t size = 0;
        if (asprintf(&path, "%s/state.json", dir) < 0 || asprintf(&bad, "%s.bad", path) < 0)
                return fail(f, FAILURE_FAILED, -ENOMEM, "%s: %s", dir, strerror(ENOMEM));
        int r = read_file(path, &text, &size);
        if (r == -ENOENT) {
                *ret = (struct state){0};
                return 0;
        }
        if (r >= 0)
                r = parse(text ? text : "", size, ret);
        if (r == -EBADMSG && rename(path, bad) < 0)
                return fail(f, FAILURE_FAILED, r, "%s: is garbled, and cannot be moved to %s: %m", path, bad);
        if (r == -EBADMSG)
                return fail(f, FAILURE_FAILED, r, "%s: is garbled; moved to %s", path, bad);
        return r < 0 ? fail(f, FAILURE_FAILED, r, "%s: %s", path, strerror(-r)) : 0;
}

void state_done(struct state *state) {
        tenants_done(&state->tenants);
        strv_free(state->untagged);
        strv_free(state->left);
        *state = (struct state){0};
}
