/* SPDX-License-Identifier: BSD-3-Clause */
/* The move of bytes to the memory that a device writes: memmove(), unless the checker sets another. */
#include "move.h"

#include <string.h>

void *(*sim_move)(void *to, const void *from, size_t len) = memmove;
