/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Failures as D-Bus errors, and texts as D-Bus strings. */
#include "failure.h"
#include <systemd/sd-bus.h>

/* Fills the error (org.coresched1.Error.*) and returns a negative errno, for handlers to return. */
int error_set(sd_bus_error *error, const struct failure *f);

/* D-Bus strings are valid UTF-8, names and paths of the kernel any bytes: a copy in which each byte that is not part of
 * a valid character is written \xNN. NULL when memory is short. */
char *text_for_bus(const char *text);
