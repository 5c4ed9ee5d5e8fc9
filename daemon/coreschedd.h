/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The daemon's life: arguments, preconditions, run. */
#include "kernel/kernel.h"

struct failure;

/* Opens the kernel that the daemon is to work on; gives it up. */
typedef int (*kernel_open_t)(struct kernel *ret, struct failure *f);
typedef void (*kernel_close_t)(struct kernel *kernel);

/* Runs until told to stop. Returns an exit status. */
int coreschedd_main(int argc, char **argv, kernel_open_t kernel_open_function, kernel_close_t kernel_close_function);
