/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of this room share: the bus itself, and the calls that cannot be answered at once. A call is ended
 * exactly once, by call_answer(), call_fail() or, when there is nobody to answer any more, call_free(); it is not to be
 * touched afterwards. */
#include "bus/bus.h"
#include "bus/options.h"
#include <sys/queue.h>

struct resolution;

struct call {
        LIST_ENTRY(call) entry;
        struct bus *bus; /* NULL: the bus is gone, and nobody waits for the answer */
        sd_bus_message *message;
        void (*go)(struct call *call); /* what follows the step that the call waits for */
        bool at_manager;               /* the manager will call back */

        /* Waiting for polkit. */
        const char *action;
        sd_bus_slot *question;
        sd_bus_track *caller;

        /* Waiting for systemd and machined. */
        struct resolution *resolution;

        /* The arguments. */
        char *name;
        struct options options;
};

struct bus {
        sd_bus *bus;
        struct manager *manager;
        sd_bus_slot *slots[4];
        size_t n_slots;
        sd_event_source *exit;  /* runs when the loop ends */
        char *root;             /* the unique name of the caller that was last found to be root */
        struct tenant *leaving; /* while its removal is announced: maybe no longer in the manager's table */
        LIST_HEAD(, call) calls;
};

/* The vtables. Userdata of the manager's is the struct bus, of the tenant's the struct tenant (the slot's userdata is
 * the struct bus). */
extern const sd_bus_vtable manager_vtable[];
extern const sd_bus_vtable tenant_vtable[];

/* Keeps the message; name is copied. */
int call_new(struct bus *bus, sd_bus_message *message, const char *name, struct call **ret);
void call_free(struct call *call);
static inline void call_freep(struct call **call) {
        call_free(*call);
}
/* Answers with nothing, or an object path. */
void call_answer(struct call *call, const char *path);
void call_fail(struct call *call, const struct failure *f);
/* Answers, but does not end the call. */
void call_refuse(struct call *call, const struct failure *f);

/* ---- polkit.c ---- */

/* Goes on with go once the caller is known to be root, or polkit allows the action; else ends the call. */
void call_authorize(struct call *call, const char *action, void (*go)(struct call *call));

#define ACTION_MANAGE    "org.coresched1.manage"
#define ACTION_CONFIGURE "org.coresched1.configure"
#define ACTION_VERIFY    "org.coresched1.verify"
#define ACTION_RELOAD    "org.coresched1.reload"

/* ---- resolve.c ---- */

/* Finds out which cgroup the call's name means, puts it into the options and goes on with go; else ends the call. A
 * name that is a path is replaced by its last component. */
void call_resolve(struct call *call, void (*go)(struct call *call));
void resolution_free(struct resolution *resolution);

/* ---- verify.c ---- */

/* Hands the call on to the manager, and answers with an array, or with the one tenant's dictionary. */
void call_verify_all(struct call *call);
void call_verify_one(struct call *call);

/* ---- tenant-interface.c ---- */

/* The manager's ends: answer with nothing, or with the tenant's path. */
void call_done(int error, const struct failure *f, struct tenant *tenant, void *userdata);
void call_tagged(int error, const struct failure *f, struct tenant *tenant, void *userdata);
