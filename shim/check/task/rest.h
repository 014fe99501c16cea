/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/task/rest.h - the rest of the hooks (shim/common/base/call_hooks.h), so that a fast program stays fast.
 *
 *   [watching] --many calls since the last tick--> [resting] --the watchdog's tick--> [watching]
 *
 * The calls of all threads count. A program that makes fewer calls is watched at all times. The mode api rests, without
 * a detector of races: those must see every task.
 */
#ifndef SHIM_CHECK_REST_H
#define SHIM_CHECK_REST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/common/base/call_hooks.h"

/* Watched calls between two ticks; at about 100 ns each, half a percent of the time. */
#define CHECK_MAX_CALLS 500

/* The hooks may rest from now on. */
void check_rest_allow(const struct shim_call_hooks *hooks);

/* A watchdog that can't tick: never rest. */
void check_rest_forbid(void);

/* Watch the next CHECK_MAX_CALLS calls: at the watchdog's tick, or because a part wants to see each call for now. */
void check_rest_end(void);

/* For check_rest_count(). */
extern _Atomic int32_t check_rest_calls_left;
bool check_rest_begin(void);

/* A watched call ends. Threads that count at once may lose some. Returns whether the hooks rest now: the watchdog must
 * be awake. */
static inline bool check_rest_count(void)
{
	int32_t left = atomic_load_explicit(&check_rest_calls_left, memory_order_relaxed);

	atomic_store_explicit(&check_rest_calls_left, left - 1, memory_order_relaxed);
	return __builtin_expect(left <= 0, 0) && check_rest_begin();
}

#endif
