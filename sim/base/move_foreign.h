/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/move_foreign.h - copies that a thread of ours makes for another process, from or to the program's memory.
 *
 * The program may take that memory away at any time, and its thread never orders its own accesses with these. So the copy
 * calls no function that a sanitizer of the program watches, and a fault ends it:
 *
 *   copy --fault--> handler (memory_signals.h) --jump--> -EFAULT
 *
 * Whoever copies calls sim_memory_signals_install() now and then. A program that installs a handler of its own, and takes the memory
 * away before the next such call, gets the fault.
 */
#ifndef SIM_MOVE_FOREIGN_H
#define SIM_MOVE_FOREIGN_H

#include <stddef.h>

/* Copy @len bytes. For a thread without a guard (memory_guard.h). Returns 0 or -EFAULT, when some of the bytes may have moved. */
int sim_move_foreign(void *to, const void *from, size_t len);

#endif
