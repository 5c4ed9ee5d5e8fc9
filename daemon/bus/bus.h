/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The daemon's face on D-Bus: org.coresched1. Nothing but translation into manager calls, and who may make them. */
#include "manager.h"
#include <systemd/sd-bus.h>

struct bus;

/* Shows the manager on an opened bus that is attached to the event loop, makes itself the manager's listener, and takes
 * the bus name. 0, or negative errno (-EEXIST: the name is taken, -EACCES: the bus's policy forbids it). */
int bus_new(sd_bus *bus, struct manager *manager, struct bus **ret);

/* To be called before the manager is freed. Calls that wait for polkit or for a name to be resolved end unanswered;
 * those that the manager works on live until it has called back, and are then not answered. */
void bus_free(struct bus *bus);
static inline void bus_freep(struct bus **bus) {
        bus_free(*bus);
}
