// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scratch.h"
#include "util.h"
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
// cmocka.h needs some of the above
#include <cmocka.h>

char *scratch_new(void) {
        const char *tmp = getenv("TMPDIR");
        char *scratch = NULL;
        assert_true(asprintf(&scratch, "%s/coresched-XXXXXX", tmp ? tmp : "/tmp") > 0);
        assert_non_null(mkdtemp(scratch));
        return scratch;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
        return remove(path);
}

void scratch_done(char *scratch) {
        assert_int_equal(nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
        free(scratch);
}

const char *scratch_path(const char *scratch, const char *file) {
        static char paths[4][4096];
        static unsigned next;
        char *path = paths[next++ % ELEMENTS(paths)];
        assert_in_range(snprintf(path, sizeof(paths[0]), "%s/%s", scratch, file), 1, sizeof(paths[0]) - 1);
        return path;
}

void scratch_write_bytes(const char *scratch, const char *file, const void *bytes, size_t size) {
        char path[4096];
        snprintf(path, sizeof(path), "%s", scratch_path(scratch, file));
        for (char *slash = strchr(path + strlen(scratch) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
                *slash = '/';
        }
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, size, f), size);
        assert_int_equal(fclose(f), 0);
}

void scratch_write(const char *scratch, const char *file, const char *text) {
        scratch_write_bytes(scratch, file, text, strlen(text));
}

char *scratch_read(const char *scratch, const char *file) {
        FILE *f = fopen(scratch_path(scratch, file), "re");
        assert_non_null(f);
        char *text = NULL;
        size_t size = 0;
        ssize_t n = getdelim(&text, &size, '\0', f);
        assert_true(n >= 0 || feof(f));
        if (n < 0) {
                free(text);
                text = strdup("");
        }
        fclose(f);
        return text;
}
