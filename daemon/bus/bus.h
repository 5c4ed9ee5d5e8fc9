/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The daemon's face on D-Bus: org.coresched1. Nothing but translation into manager calls, and who may make them. */
#include "manager.h"
#include <systemd/sd-bus.h>

struct bus;

/* Shows the manager on an opened bus that is attached to the event loop, makes itself the manager's listener, and takes
 * the bus name. 0, or negative errno (-EEXIST: the name is taken, -EACCES: the bus's policy forbids it). */
int bus_new(sd_bus *bus, struct manager *manager, struct bus **ret);

/* To be called before the manager is freed. Calls that are under way are answered: the daemon is being stopped. */
void bus_free(struct bus *bus);
static inline void bus_freep(struct bus **bus) {
        bus_free(*bus);
}
