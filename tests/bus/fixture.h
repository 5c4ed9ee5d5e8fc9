/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A private bus with the daemon on the simulated kernel, and what the tests of it share. Everything lies below one
 * folder of /tmp, and ends with the fixture. What cannot be set up fails the test. */
#include "api/names.h"
#include "util.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
/* after those four */
#include <cmocka.h>
#include <systemd/sd-bus.h>

struct fixture {
        char folder[64];
        pid_t bus_daemon, daemon, polkit, systemd, machined;
        sd_bus *root; /* connections of callers */
        sd_bus *nobody;
};

/* For cmocka's group setup and teardown: the state is the fixture. The end checks that the daemon did nothing that it
 * may not, and left no memory behind. */
int fixture_start(void **state);
int fixture_stop(void **state);

/* Ends the daemon and waits for it: it must end well. Starts it again. */
void daemon_stop(struct fixture *f);
void daemon_start(struct fixture *f);

/* Starts or ends a stand-in; what it is to answer is written by write_file(). */
void stand_in_start(struct fixture *f, const char *role, pid_t *ret_pid);
void stand_in_stop(pid_t *pid);

/* Writes a file below the fixture's folder; the folders on its way are made. read_file: newly allocated, "" for none.
 */
void write_file(const struct fixture *f, const char *name, const char *text);
void remove_file(const struct fixture *f, const char *name);
char *read_file(const struct fixture *f, const char *name);

/* Another connection, as root or as the user nobody. */
sd_bus *connect_as(uid_t uid);
#define UID_NOBODY 65534

/* A command to the simulation (daemon.c). Its answer, as a number. */
uint64_t world(const struct fixture *f, const char *command, ...) _printf_(2, 3);

/* Calls a method, and expects success or this error of org.coresched1.Error (a name with a dot: another error). reply
 * may be NULL. flags: ALLOW_PASSWORD. expect_error gives back the message of the error. */
#define TENANT(name)   CORESCHED_TENANT_PREFIX "/" name
#define ALLOW_PASSWORD 1
void expect(sd_bus *bus, const char *path, const char *interface, const char *member, sd_bus_message **reply,
            const char *types, ...);
char *expect_error(sd_bus *bus, unsigned flags, const char *error, const char *path, const char *interface,
                   const char *member, const char *types, ...);

/* org.coresched1.Manager.Tag with the one option CGroups. */
void tag(const struct fixture *f, const char *name, const char *cgroup);
void untag(const struct fixture *f, const char *name);

/* Properties of a tenant or, with the path CORESCHED_PATH, of the manager. get_string's is newly allocated. */
char *get_string(sd_bus *bus, const char *path, const char *property);
uint64_t get_number(sd_bus *bus, const char *path, const char *property);
bool get_bool(sd_bus *bus, const char *path, const char *property);
void assert_property(const struct fixture *f, const char *path, const char *property, const char *value);

#define _cleanup_reply_ _cleanup_(sd_bus_message_unrefp)
