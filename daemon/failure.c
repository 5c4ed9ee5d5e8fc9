// SPDX-License-Identifier: LGPL-2.1-or-later
#include "failure.h"
#include <stdarg.h>

int fail(struct failure *f, enum failure_kind kind, int error, const char *format, ...) {
        if (f) {
                va_list ap;
                f->kind = kind;
                va_start(ap, format);
                vsnprintf(f->text, sizeof(f->text), format, ap);
                va_end(ap);
        }
        return error;
}
