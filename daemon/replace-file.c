// SPDX-License-Identifier: LGPL-2.1-or-later
#include "replace-file.h"
#include "util.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int write_all(int fd, const char *text, size_t size) {
        while (size > 0) {
                ssize_t n = write(fd, text, size);
                if (n < 0)
                        return -errno;
                text += n;
                size -= (size_t) n;
        }
        return 0;
}

int replace_file(const char *path, const char *text, size_t size, mode_t mode, bool durable) {
        _cleanup_free_ char *temporary = NULL, *folder = strndup(path, (size_t) (strrchr(path, '/') + 1 - path));
        if (!folder || asprintf(&temporary, "%s.new-XXXXXX", folder) < 0)
                return -ENOMEM;
        _cleanup_close_ int fd = mkostemp(temporary, O_CLOEXEC), folder_fd = -EBADF;
        if (fd < 0)
                return -errno;
        int r = write_all(fd, text, size);
        bool right = mode == (S_IRUSR | S_IWUSR); /* it is made so */
        if (r >= 0 && ((!right && fchmod(fd, mode) < 0) || (durable && fsync(fd) < 0) || rename(temporary, path) < 0))
                r = -errno;
        if (r < 0) {
                unlink(temporary);
                return r;
        }
        if (!durable)
                return 0;
        folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return folder_fd < 0 || fsync(folder_fd) < 0 ? -errno : 0;
}
