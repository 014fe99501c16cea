/* SPDX-License-Identifier: BSD-3-Clause */
/* Pauses of the hooks. */
#include "sampling.h"

_Atomic int32_t check_sampling_calls_left = CHECK_MAX_CALLS;

static const struct shim_call_hooks *_Atomic pausing; /* the hooks; NULL = they must not pause */

void check_sampling_allow(const struct shim_call_hooks *hooks)
{
	pausing = hooks;
}

void check_sampling_forbid(void)
{
	check_sampling_resume();
	pausing = NULL;
}

void check_sampling_resume(void)
{
	const struct shim_call_hooks *hooks = pausing;

	atomic_store_explicit(&check_sampling_calls_left, CHECK_MAX_CALLS, memory_order_relaxed);
	if (hooks)
		atomic_store_explicit(&shim_frequent_hooks, hooks, memory_order_relaxed);
}

bool check_sampling_pause(void)
{
	if (pausing)
		atomic_store_explicit(&shim_frequent_hooks, NULL, memory_order_relaxed);
	else
		atomic_store_explicit(&check_sampling_calls_left, INT32_MAX, memory_order_relaxed);
	return pausing;
}
