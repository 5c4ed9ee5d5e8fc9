/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Lets polkit ask for a password on a text terminal, by pkttyagent, where the desktop has no agent of its own. */
#include "ctl.h"

/* Starts the agent if the options, the terminal and the user call for one; a host without pkttyagent goes without. */
void agent_start(const struct options *options);
void agent_stop(void);
