/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The kernel's events, turned into what is dirty and into hints. Knows no tenant's cookie and changes nothing. */
#include "kernel/kernel.h"
#include "tenant.h"
