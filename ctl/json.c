// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int read_basic(sd_bus_message *m, char type, json_object **ret) {
        union {
                uint8_t u8;
                int16_t i16;
                uint16_t u16;
                int32_t i32;
                uint32_t u32;
                int64_t i64;
                uint64_t u64;
                double d;
                int b;
                const char *s;
        } v;
        if (!strchr("ybnqiuxtdsog", type))
                return -EBADMSG;
        int r = sd_bus_message_read_basic(m, type, &v);
        if (r < 0)
                return r;
        json_object *value = type == 'b'   ? json_object_new_boolean(v.b)
                             : type == 'y' ? json_object_new_uint64(v.u8)
                             : type == 'q' ? json_object_new_uint64(v.u16)
                             : type == 'u' ? json_object_new_uint64(v.u32)
                             : type == 't' ? json_object_new_uint64(v.u64)
                             : type == 'n' ? json_object_new_int64(v.i16)
                             : type == 'i' ? json_object_new_int64(v.i32)
                             : type == 'x' ? json_object_new_int64(v.i64)
                             : type == 'd' ? json_object_new_double(v.d)
                                           : json_object_new_string(v.s);
        if (!value)
                return -ENOMEM;
        *ret = value;
        return 0;
}

/* Reads up to the end of the container that was entered last. */
static int read_elements(sd_bus_message *m, json_object *array) {
        for (;;) {
                int r = sd_bus_message_at_end(m, false);
                if (r != 0)
                        return r < 0 ? r : 0;
                json_object *value;
                r = json_read(m, &value);
                if (r < 0)
                        return r;
                r = json_append(array, value);
                if (r < 0)
                        return r;
        }
}

static int read_entries(sd_bus_message *m, const char *contents, json_object *object) {
        _cleanup_free_ char *entry = strndup(contents + 1, strlen(contents) - 2); /* without the braces */
        if (!entry)
                return -ENOMEM;
        if (!strchr("sog", entry[0]))
                return -EBADMSG;
        for (;;) {
                int r = sd_bus_message_enter_container(m, 'e', entry);
                if (r <= 0)
                        return r;
                const char *key;
                json_object *value;
                r = sd_bus_message_read_basic(m, entry[0], (void *) &key);
                if (r < 0)
                        return r;
                r = json_read(m, &value);
                if (r < 0)
                        return r;
                r = json_put(object, key, value);
                if (r < 0)
                        return r;
                r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
}

int json_read(sd_bus_message *m, json_object **ret) {
        char type;
        const char *contents;
        int r = sd_bus_message_peek_type(m, &type, &contents);
        if (r <= 0)
                return r < 0 ? r : -ENXIO;
        if (!strchr("var", type))
                return read_basic(m, type, ret);

        r = sd_bus_message_enter_container(m, type, contents);
        if (r < 0)
                return r;
        _cleanup_json_ json_object *value = NULL;
        if (type == 'v') {
                r = json_read(m, &value);
        } else {
                bool object = type == 'a' && contents[0] == '{';
                value = object ? json_object_new_object() : json_object_new_array();
                r = !value ? -ENOMEM : object ? read_entries(m, contents, value) : read_elements(m, value);
        }
        if (r < 0)
                return r;
        r = sd_bus_message_exit_container(m);
        if (r < 0)
                return r;
        *ret = TAKE(value);
        return 0;
}

static json_object *member(json_object *object, const char *key, json_type type) {
        json_object *value;
        return json_object_object_get_ex(object, key, &value) && json_object_is_type(value, type) ? value : NULL;
}

const char *json_text(json_object *object, const char *key) {
        json_object *value = member(object, key, json_type_string);
        return value ? json_object_get_string(value) : "";
}

uint64_t json_number(json_object *object, const char *key) {
        json_object *value = member(object, key, json_type_int);
        return value ? json_object_get_uint64(value) : 0;
}

bool json_truth(json_object *object, const char *key) {
        json_object *value = member(object, key, json_type_boolean);
        return value && json_object_get_boolean(value);
}

json_object *json_array(json_object *object, const char *key) {
        return member(object, key, json_type_array);
}

int json_put(json_object *object, const char *key, json_object *value) {
        if (value && json_object_object_add(object, key, value) == 0)
                return 0;
        json_object_put(value);
        return -ENOMEM;
}

int json_append(json_object *array, json_object *value) {
        if (value && json_object_array_add(array, value) == 0)
                return 0;
        json_object_put(value);
        return -ENOMEM;
}

char *json_words(json_object *array) {
        _cleanup_free_ char *words = NULL;
        size_t size;
        FILE *f = open_memstream(&words, &size);
        if (!f)
                return NULL;
        for (size_t i = 0; array && i < json_object_array_length(array); i++) {
                const char *word = json_object_get_string(json_object_array_get_idx(array, i));
                if (i > 0)
                        fputc(' ', f);
                for (; word && *word; word++)
                        if (strchr(" \t\n\r\\", *word))
                                fprintf(f, "\\x%02x", (unsigned char) *word);
                        else
                                fputc(*word, f);
        }
        if (fclose(f) != 0)
                return NULL;
        return TAKE(words);
}
