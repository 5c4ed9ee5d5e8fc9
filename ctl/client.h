/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The client's side of the bus: the connection, the reads that several verbs share, and (errors.c) every error put into
 * words. Functions that give a status have said on standard error what went wrong when it is not STATUS_GOOD. */
#include "ctl.h"
#include "json.h"

static inline void bus_freep(sd_bus **bus) {
        sd_bus_flush_close_unref(*bus);
}
static inline void message_freep(sd_bus_message **message) {
        sd_bus_message_unref(*message);
}
#define _cleanup_bus_     _cleanup_(bus_freep)
#define _cleanup_message_ _cleanup_(message_freep)
#define _cleanup_error_   _cleanup_(sd_bus_error_free)

/* Opens the bus and makes sure that the daemon answers, starting it if the bus can. patient: later calls may take as
 * long as they take, and may ask for a password unless the options say otherwise. STATUS_NOT_ENFORCED: no daemon is
 * there. */
int client_open(const struct options *options, bool patient, sd_bus **ret);

/* All properties of one interface. 0 or negative errno with error set. */
int client_properties(sd_bus *bus, const char *path, const char *interface, sd_bus_error *error, json_object **ret);

/* An array of the properties of all tenants, in the order of their names. 0 or negative errno, maybe with error set. */
int client_get_tenants(sd_bus *bus, sd_bus_error *error, json_object **ret);

/* The properties of one tenant, and client_get_tenants, with the error told: doing as below. */
int client_tenant(sd_bus *bus, const char *doing, const char *name, json_object **ret);
int client_tenants(sd_bus *bus, const char *doing, json_object **ret);

/* Makes a tenant, or tags it again, as the options say (policy, cgroups, persistent, force, transient, join), and gives
 * its properties once it is no longer pending. A status. */
int client_tag(sd_bus *bus, const struct options *options, const char *name, json_object **ret);

/* Says why one "cannot DOING 'NAME'" (NULL: without a name), from what was answered (error; r where that is not set),
 * and what to do. Gives the status to end with. */
int client_failed(sd_bus *bus, const sd_bus_error *error, int r, const char *doing, const char *name);
