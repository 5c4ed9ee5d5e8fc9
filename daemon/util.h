/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The few things that every room needs and libc lacks: cleanup attributes with the two macros that go with them, and
 * time in one unit. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t usec_t; /* microseconds, of CLOCK_MONOTONIC unless said otherwise */

#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC  UINT64_C(1000000)
#define USEC_INFINITY UINT64_MAX

#define ELEMENTS(array)     (sizeof(array) / sizeof((array)[0]))
#define _cleanup_(f)        __attribute__((cleanup(f)))
#define _printf_(fmt, args) __attribute__((format(printf, fmt, args)))
#define _unused_            __attribute__((unused))

/* What a clock reads; 0 when it cannot be read. */
static inline usec_t usec_now(clockid_t clock) {
        struct timespec t;
        return clock_gettime(clock, &t) < 0 ? 0 : (usec_t) t.tv_sec * USEC_PER_SEC + (usec_t) t.tv_nsec / 1000;
}

/* Hands over what a variable owns, and leaves NULL in it. */
#define TAKE(pointer)                                                                                                  \
        ({                                                                                                             \
                __typeof__(pointer) *_from = &(pointer);                                                               \
                __typeof__(pointer) _value = *_from;                                                                   \
                *_from = NULL;                                                                                         \
                _value;                                                                                                \
        })

static inline void freep(void *p) {
        free(*(void **) p);
}
static inline void closep(int *fd) {
        if (*fd >= 0)
                close(*fd);
}
static inline void fclosep(FILE **f) {
        if (*f)
                fclose(*f);
}

#define _cleanup_free_   _cleanup_(freep)
#define _cleanup_close_  _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
