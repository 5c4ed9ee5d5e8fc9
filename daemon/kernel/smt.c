// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the kernel says of SMT. */
#include "real.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

int read_word(const char *directory, const char *name, char *buf, size_t size) {
        _cleanup_free_ char *path = NULL;
        _cleanup_close_ int fd = -1;
        ssize_t n;

        if (asprintf(&path, "%s/%s", directory, name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        n = read(fd, buf, size - 1);
        if (n < 0)
                return -errno;
        buf[n] = '\0';
        buf[strcspn(buf, "\n")] = '\0';
        return 0;
}

int smt_read(const char *directory, char **ret_control, bool *ret_active) {
        char control[64] = "notsupported", active[16] = "0", *copy;
        int r;

        r = read_word(directory, "control", control, sizeof(control));
        if (r >= 0 || r == -ENOENT)
                r = read_word(directory, "active", active, sizeof(active));
        if (r < 0 && r != -ENOENT)
                return r;
        copy = strdup(control);
        if (!copy)
                return -ENOMEM;
        *ret_control = copy;
        *ret_active = strcmp(active, "1") == 0;
        return 0;
}

static int smt_status(void *data, char **ret_control, bool *ret_active) {
        return smt_read("/sys/devices/system/cpu/smt", ret_control, ret_active);
}

static int on_cpu(sd_device_monitor *monitor, sd_device *device, void *userdata) {
        const struct smt_watch *watch = userdata;
        watch->changed(watch->userdata);
        return 0;
}

/* Switching SMT brings siblings up or takes them down, and the kernel sends an event for each. */
static int smt_watch(void *data, sd_event *event, void (*changed)(void *userdata), void *userdata) {
        struct smt_watch *watch = &((struct real *) data)->smt_watch;
        int r;

        *watch = (struct smt_watch){.changed = changed, .userdata = userdata};
        r = sd_device_monitor_new(&watch->monitor);
        if (r >= 0)
                r = sd_device_monitor_filter_add_match_subsystem_devtype(watch->monitor, "cpu", NULL);
        if (r >= 0)
                r = sd_device_monitor_attach_event(watch->monitor, event);
        if (r >= 0)
                r = sd_device_monitor_start(watch->monitor, on_cpu, watch);
        if (r < 0)
                smt_close(data);
        return r < 0 ? r : 0;
}

void smt_close(struct real *real) {
        real->smt_watch.monitor = sd_device_monitor_unref(real->smt_watch.monitor);
}

const struct smt_ops real_smt_ops = {.status = smt_status, .watch = smt_watch};
