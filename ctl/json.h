/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the daemon answers, as json-c objects: the one form in which every verb keeps its results, so that tables, text
 * and --json= show the same thing, and a property that this client does not know is shown all the same. */
#include "util.h"
#include <json-c/json.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

static inline void json_putp(json_object **object) {
        json_object_put(*object);
}
#define _cleanup_json_ _cleanup_(json_putp)

/* The next value of the message: arrays and structures as arrays, dictionaries with words for keys as objects. 0,
 * -ENXIO (there is none), -EBADMSG (no such form in JSON), -ENOMEM or what sd-bus says. The caller owns *ret. */
int json_read(sd_bus_message *message, json_object **ret);

/* Members of an object; what is not there is "", 0, false or NULL. What is given back is the object's. */
const char *json_text(json_object *object, const char *key);
uint64_t json_number(json_object *object, const char *key);
bool json_truth(json_object *object, const char *key);
json_object *json_array(json_object *object, const char *key);

/* Put a value, which is taken over in any case (NULL: memory was short). 0 or -ENOMEM. */
int json_put(json_object *object, const char *key, json_object *value);
int json_append(json_object *array, json_object *value);

/* An array of strings in one word list: elements with what a list in the configuration escapes as \xNN. NULL when
 * memory is short. */
char *json_words(json_object *array);
