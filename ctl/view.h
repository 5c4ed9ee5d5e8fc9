/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* How tenants look, for the verbs that show them. A tenant is its properties, as client_tenant gives them. */
#include "json.h"
#include "table.h"

/* Of a state's word, which may be one that this client does not know. */
enum colour view_state_colour(const char *state);
int view_state_status(const char *state); /* STATUS_GOOD or STATUS_NOT_ENFORCED */

/* StateReason, or what is to be said of the state where the daemon says nothing; "" for nothing. */
const char *view_reason(json_object *tenant);

/* "0x1234abcd", or "" for none. */
#define COOKIE_TEXT_MAX 19
const char *view_cookie(uint64_t cookie, char buffer[static COOKIE_TEXT_MAX]);

/* "LABEL: TEXT", with the labels of a block right-aligned; text is made printable. */
void view_field(const char *label, const char *text);
