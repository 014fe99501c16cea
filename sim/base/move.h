/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/move.h - the move of bytes to the memory that a device writes.
 *
 * Sanitizers replace memmove() to watch accesses of the program. The device's are none: the checker then sets another
 * function, of the C library itself, before threads start.
 */
#ifndef SIM_MOVE_H
#define SIM_MOVE_H

#include <stddef.h>

/* For functions that access such memory by themselves, where this project is built with a sanitizer. */
#define SIM_DEVICE_ACCESS __attribute__((no_sanitize("address", "thread")))

extern void *(*sim_move)(void *to, const void *from, size_t len);

#endif
