/* SPDX-License-Identifier: BSD-3-Clause */
/* The rest of the hooks. */
#include "rest.h"

_Atomic int32_t check_rest_calls_left = CHECK_MAX_CALLS;

static const struct shim_call_hooks *_Atomic resting; /* the hooks; NULL = they must not rest */

void check_rest_allow(const struct shim_call_hooks *hooks)
{
	resting = hooks;
}

void check_rest_forbid(void)
{
	check_rest_end();
	resting = NULL;
}

void check_rest_end(void)
{
	const struct shim_call_hooks *hooks = resting;

	atomic_store_explicit(&check_rest_calls_left, CHECK_MAX_CALLS, memory_order_relaxed);
	if (hooks)
		atomic_store_explicit(&shim_frequent_hooks, hooks, memory_order_relaxed);
}

bool check_rest_begin(void)
{
	if (resting)
		atomic_store_explicit(&shim_frequent_hooks, NULL, memory_order_relaxed);
	else
		atomic_store_explicit(&check_rest_calls_left, INT32_MAX, memory_order_relaxed);
	return resting;
}
