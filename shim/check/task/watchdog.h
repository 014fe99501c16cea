/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/task/watchdog.h - a thread that inspects the program's progress engines while something waits for the program.
 *
 *   [none] --kick--> [awake] --nothing waited for some ticks--> [asleep] --kick--> [awake]
 *
 * Asleep it waits without a timeout. The exit of the program does not wait for it, except for the end of a report. */
#ifndef SHIM_CHECK_WATCHDOG_H
#define SHIM_CHECK_WATCHDOG_H

#include <doca_common_defines.h>
#include <stdatomic.h>
#include <stdbool.h>

extern _Atomic bool check_watchdog_is_awake;
void check_watchdog_wake(void);

/* Something waits for the program. */
static inline void check_watchdog_kick(void)
{
	if (doca_unlikely(!atomic_load_explicit(&check_watchdog_is_awake, memory_order_relaxed)))
		check_watchdog_wake();
}

#endif
