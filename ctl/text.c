// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text.h"
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <wchar.h>
#include <wctype.h>

/* The bytes of the next character, and its columns; 0 where there is none that can be shown. */
static size_t next_character(const char *text, int *ret_columns) {
        mbstate_t state = {0};
        wchar_t c;
        size_t n = mbrtowc(&c, text, strlen(text), &state);
        if (n == (size_t) -1 || n == (size_t) -2 || n == 0 || !iswprint((wint_t) c))
                return 0;
        int columns = wcwidth(c);
        *ret_columns = columns < 0 ? 0 : columns;
        return n;
}

char *text_printable(const char *text) {
        char *copy = malloc(4 * strlen(text) + 1), *end = copy;
        if (!copy)
                return NULL;
        while (*text) {
                int columns;
                size_t n = next_character(text, &columns);
                if (n > 0) {
                        end = mempcpy(end, text, n);
                        text += n;
                } else {
                        static const char digits[] = "0123456789abcdef";
                        unsigned char c = (unsigned char) *text++;
                        *end++ = '\\';
                        *end++ = 'x';
                        *end++ = digits[c >> 4];
                        *end++ = digits[c & 15];
                }
        }
        *end = '\0';
        return copy;
}

int text_width(const char *text) {
        int width = 0;
        while (*text) {
                int columns = 1;
                size_t n = next_character(text, &columns);
                width += columns;
                text += n > 0 ? n : 1;
        }
        return width;
}

static bool to_journal;

void complain_to_journal(void) {
        to_journal = true;
}

void complain(const char *format, ...) {
        _cleanup_free_ char *line = NULL;
        va_list ap;
        va_start(ap, format);
        int r = vasprintf(&line, format, ap);
        va_end(ap);
        if (r < 0)
                line = NULL;
        _cleanup_free_ char *shown = line ? text_printable(line) : NULL;
        fflush(stdout);
        fprintf(stderr, "coreschedctl: %s\n", shown ? shown : "out of memory");
        if (to_journal)
                (void) sd_journal_print(LOG_WARNING, "%s", shown ? shown : "out of memory");
}
