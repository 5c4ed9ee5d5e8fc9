// SPDX-License-Identifier: LGPL-2.1-or-later
#include "failure.h"
#include "utf8.h"
#include <stdarg.h>
#include <string.h>

/* The text may quote anything, and was cut anywhere. */
static void make_printable(char *text) {
        while (*text) {
                size_t length = utf8_character(text);
                if (length == 0 || utf8_control(text)) {
                        length = length > 0 ? length : 1;
                        memset(text, '?', length);
                }
                text += length;
        }
}

int fail(struct failure *f, enum failure_kind kind, int error, const char *format, ...) {
        if (f) {
                va_list ap;
                f->kind = kind;
                va_start(ap, format);
                vsnprintf(f->text, sizeof(f->text), format, ap);
                va_end(ap);
                make_printable(f->text);
        }
        return error;
}
