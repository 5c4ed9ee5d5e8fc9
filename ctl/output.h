/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Where results go: standard output, or a pager in front of it. */
#include "ctl.h"
#include "json.h"

/* Does standard output want colours? */
bool output_colour(void);

/* A pager between here and the terminal, from when it is opened until the end of the program: less, or what
 * SYSTEMD_PAGER or PAGER names, when standard output is a terminal and the options allow it. Without one everything
 * goes on as it is. */
void output_page(const struct options *options);

/* Prints the object as the options' --json= says. */
void output_json(const struct options *options, json_object *object);

/* Flushes, and waits for the pager. STATUS_FAILED, having said so, when something could not be written. */
int output_end(void);
