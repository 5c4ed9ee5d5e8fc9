// SPDX-License-Identifier: LGPL-2.1-or-later
#include "realtime.h"

bool realtime_allowed(struct realtime *realtime, usec_t now, usec_t used, usec_t *ret_again) {
        if (realtime->budget == 0) {
                *ret_again = USEC_INFINITY;
                return false;
        }
        if (realtime->window_begin == 0 || now >= realtime->window_begin + REALTIME_WINDOW) {
                realtime->window_begin = now;
                realtime->used_at_begin = used;
        }
        *ret_again = realtime->window_begin + REALTIME_WINDOW;
        return used - realtime->used_at_begin < realtime->budget;
}
