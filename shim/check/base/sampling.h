/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/base/sampling.h - pauses of the hooks (shim/common/base/call_hooks.h), so that a fast program stays fast.
 *
 *   [watching] --many calls since the last tick--> [paused] --the watchdog's tick--> [watching]
 *
 * The calls of all threads count. A program that makes fewer calls is watched at all times. The mode api pauses, without
 * a detector of races: those must see every task.
 */
#ifndef SHIM_CHECK_SAMPLING_H
#define SHIM_CHECK_SAMPLING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/common/base/call_hooks.h"

/* Watched calls between two ticks; at about 100 ns each, half a percent of the time. */
#define CHECK_MAX_CALLS 500

/* The hooks may pause from now on. */
void check_sampling_allow(const struct shim_call_hooks *hooks);

/* A watchdog that can't tick: never pause. */
void check_sampling_forbid(void);

/* Watch the next CHECK_MAX_CALLS calls: at the watchdog's tick, or because a part wants to see each call for now. */
void check_sampling_resume(void);

/* For check_sampling_count_call(). */
extern _Atomic int32_t check_sampling_calls_left;
bool check_sampling_pause(void);

/* A watched call ends. Threads that count at once may lose some. Returns whether the hooks pause now: the watchdog must
 * be awake. */
static inline bool check_sampling_count_call(void)
{
	int32_t left = atomic_load_explicit(&check_sampling_calls_left, memory_order_relaxed);

	atomic_store_explicit(&check_sampling_calls_left, left - 1, memory_order_relaxed);
	return __builtin_expect(left <= 0, 0) && check_sampling_pause();
}

#endif
