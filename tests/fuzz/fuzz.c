// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fuzz.h"
#include "utf8.h"
#include "util.h"
#include <string.h>
#include <sys/mman.h>

const char *fuzz_file(const uint8_t *data, size_t size) {
        static int fd = -1;
        static char path[32];
        if (fd < 0) {
                fd = memfd_create("fuzz", MFD_CLOEXEC);
                MUST(fd >= 0);
                snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        }
        MUST(ftruncate(fd, 0) == 0);
        MUST(pwrite(fd, data, size, 0) == (ssize_t) size);
        return path;
}

char *fuzz_string(const uint8_t *data, size_t size) {
        char *string = strndup((const char *) data, size);
        MUST(string);
        return string;
}

void fuzz_check_failure(int r, const struct failure *f, const char *file) {
        MUST((r < 0) == (f->kind != FAILURE_NONE));
        MUST((r < 0) == (strncmp(f->text, file, strlen(file)) == 0));
        MUST(utf8_printable(f->text));
}
