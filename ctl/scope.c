// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scope.h"
#include "client.h"
#include "text.h"
#include <errno.h>
#include <string.h>

#define SYSTEMD         "org.freedesktop.systemd1"
#define SYSTEMD_PATH    "/org/freedesktop/systemd1"
#define SYSTEMD_MANAGER "org.freedesktop.systemd1.Manager"

/* systemd itself gives a job that starts a scope less. */
#define JOB_PATIENCE (120 * USEC_PER_SEC)

struct job {
        const char *path; /* NULL: not known yet */
        char *result;     /* once it is done */
};

static int fail_scope(const struct scope *scope, const sd_bus_error *error, int r) {
        const char *text = error && error->message ? error->message : strerror(-r);
        const char *advice = "'systemctl status' of it may tell more";
        if (sd_bus_error_has_names(error, SYSTEMD ".UnitExists", SYSTEMD ".UnitMasked"))
                advice = "choose another name with --unit=";
        else if (sd_bus_error_has_names(error, SD_BUS_ERROR_ACCESS_DENIED,
                                        SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED))
                advice = "root may, and whom polkit allows org.freedesktop.systemd1.manage-units";
        else if (sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
                advice = "systemd has to run as PID 1";
        size_t length = strlen(text);
        if (length > 0 && text[length - 1] == '.')
                length--; /* the line goes on */
        complain("cannot start '%s': %.*s; %s", scope->unit, (int) length, text, advice);
        return STATUS_FAILED;
}

static int on_job_removed(sd_bus_message *message, void *userdata, sd_bus_error *error) {
        struct job *job = userdata;
        const char *path, *result;
        if (sd_bus_message_read(message, "uoss", NULL, &path, NULL, &result) < 0)
                return 0;
        if (job->path && !job->result && strcmp(path, job->path) == 0)
                job->result = strdup(result);
        return 0;
}

static int append_scope(sd_bus_message *call, const struct scope *scope) {
        int r = sd_bus_message_append(call, "ss", scope->unit, "fail");
        if (r >= 0)
                r = sd_bus_message_open_container(call, 'a', "(sv)");
        if (r >= 0)
                r = sd_bus_message_append(call, "(sv)", "Description", "s", scope->description);
        if (r >= 0 && scope->slice)
                r = sd_bus_message_append(call, "(sv)", "Slice", "s", scope->slice);
        if (r >= 0) /* nothing of it is left when it failed, either */
                r = sd_bus_message_append(call, "(sv)", "CollectMode", "s", "inactive-or-failed");
        if (r >= 0)
                r = sd_bus_message_append(call, "(sv)", "PIDs", "au", 1, (uint32_t) getpid());
        if (r >= 0)
                r = sd_bus_message_close_container(call);
        return r < 0 ? r : sd_bus_message_append(call, "a(sa(sv))", 0);
}

static int wait_for_job(sd_bus *bus, struct job *job) {
        usec_t end = usec_now(CLOCK_MONOTONIC) + JOB_PATIENCE;
        while (!job->result) {
                int r = sd_bus_process(bus, NULL);
                if (r < 0)
                        return r;
                if (r > 0)
                        continue;
                usec_t present = usec_now(CLOCK_MONOTONIC);
                if (present >= end)
                        return -ETIMEDOUT;
                r = sd_bus_wait(bus, end - present);
                if (r < 0 && r != -EINTR)
                        return r;
        }
        return 0;
}

int scope_start(sd_bus *bus, const struct scope *scope) {
        _cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
        _cleanup_error_ sd_bus_error error = SD_BUS_ERROR_NULL;
        sd_bus_slot *slot = NULL;
        struct job job = {0};

        /* Before the call: the job may be done before its answer is read. */
        int r = sd_bus_match_signal(bus, &slot, SYSTEMD, SYSTEMD_PATH, SYSTEMD_MANAGER, "JobRemoved", on_job_removed,
                                    &job);
        if (r >= 0)
                r = sd_bus_message_new_method_call(bus, &call, SYSTEMD, SYSTEMD_PATH, SYSTEMD_MANAGER,
                                                   "StartTransientUnit");
        if (r >= 0)
                r = append_scope(call, scope);
        if (r >= 0)
                r = sd_bus_call(bus, call, 0, &error, &reply);
        if (r >= 0)
                r = sd_bus_message_read(reply, "o", &job.path);
        if (r >= 0)
                r = wait_for_job(bus, &job);
        sd_bus_slot_unref(slot);
        _cleanup_free_ char *result = job.result;
        if (r < 0)
                return fail_scope(scope, &error, r);
        if (strcmp(result, "done") == 0)
                return STATUS_GOOD;
        complain("cannot start '%s': systemd's job ended as '%s'; 'journalctl -b' may tell more", scope->unit, result);
        return STATUS_FAILED;
}

int scope_cgroup_of(pid_t pid, char **ret) {
        _cleanup_free_ char *path = NULL, *line = NULL;
        size_t size = 0;
        if (asprintf(&path, "/proc/%d/cgroup", (int) pid) < 0)
                return -ENOMEM;
        _cleanup_fclose_ FILE *file = fopen(path, "re");
        if (!file)
                return -errno;
        while (getline(&line, &size, file) > 0) {
                if (strncmp(line, "0::/", 4) != 0)
                        continue;
                line[strcspn(line, "\n")] = '\0';
                char *cgroup = strdup(line + 3);
                if (!cgroup)
                        return -ENOMEM;
                *ret = cgroup;
                return 0;
        }
        return -ENODATA;
}
