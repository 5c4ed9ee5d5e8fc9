/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* PURE. How much real-time scheduling the daemon may still use. A real-time task outranks every tenant of its core and
 * idles the sibling, so it has a budget of each window; what is over runs as an ordinary task. */
#include "util.h"
#include <stdbool.h>

#define REALTIME_WINDOW (100 * USEC_PER_MSEC)

struct realtime {
        usec_t budget; /* of each window, 0: never */
        usec_t window_begin, used_at_begin;
};

/* May the daemon be real-time at `now`, having used `used` microseconds of it in all so far? If not, *ret_again is when
 * the next window begins (USEC_INFINITY: never). */
bool realtime_allowed(struct realtime *realtime, usec_t now, usec_t used, usec_t *ret_again);
