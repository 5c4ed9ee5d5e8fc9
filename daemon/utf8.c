// SPDX-License-Identifier: LGPL-2.1-or-later
#include "utf8.h"

size_t utf8_character(const char *s) {
        const unsigned char *u = (const unsigned char *) s;
        /* The second byte's range keeps out overlong forms, surrogates and what is beyond U+10FFFF. */
        unsigned char low = 0x80, high = 0xbf;
        size_t length;
        if (u[0] == 0)
                return 0;
        if (u[0] < 0x80)
                return 1;
        if (u[0] >= 0xc2 && u[0] <= 0xdf) {
                length = 2;
        } else if (u[0] >= 0xe0 && u[0] <= 0xef) {
                length = 3;
                low = u[0] == 0xe0 ? 0xa0 : low;
                high = u[0] == 0xed ? 0x9f : high;
        } else if (u[0] >= 0xf0 && u[0] <= 0xf4) {
                length = 4;
                low = u[0] == 0xf0 ? 0x90 : low;
                high = u[0] == 0xf4 ? 0x8f : high;
        } else {
                return 0;
        }
        if (u[1] < low || u[1] > high)
                return 0;
        for (size_t i = 2; i < length; i++)
                if (u[i] < 0x80 || u[i] > 0xbf)
                        return 0;
        return length;
}

bool utf8_control(const char *s) {
        const unsigned char *u = (const unsigned char *) s;
        return (u[0] > 0 && u[0] < 0x20) || u[0] == 0x7f || (u[0] == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0);
}

bool utf8_noncharacter(const char *s) {
        const unsigned char *u = (const unsigned char *) s;
        size_t length = utf8_character(s);
        bool last = length >= 3 && u[length - 1] >= 0xbe && u[length - 2] == 0xbf;
        if (last && (length == 3 ? u[0] == 0xef : (u[1] & 0x0f) == 0x0f))
                return true;
        return length == 3 && u[0] == 0xef && u[1] == 0xb7 && u[2] >= 0x90 && u[2] <= 0xaf;
}

bool utf8_printable(const char *s) {
        for (; *s; s += utf8_character(s))
                if (utf8_character(s) == 0 || utf8_control(s))
                        return false;
        return true;
}
