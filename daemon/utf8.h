/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* PURE. UTF-8, whatever the locale is. */
#include <stdbool.h>
#include <stddef.h>

/* The bytes of the well-formed character that s begins with (1 to 4); 0 when there is none, or s is at its end. */
size_t utf8_character(const char *s);

/* Is the character that s begins with a control character (C0, DEL, C1)? */
bool utf8_control(const char *s);

/* Is the character that s begins with one of Unicode's noncharacters (U+FDD0 to U+FDEF, and the last two of each
 * plane)? They are well-formed, but sd-bus refuses a whole message for one of them. */
bool utf8_noncharacter(const char *s);

/* Is all of s well-formed, without control characters? */
bool utf8_printable(const char *s);
