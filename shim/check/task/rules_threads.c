/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that one thread at a time uses an engine, its contexts and their tasks. Only calls that overlap in time are
 * reported: a program that locks, or that hands its engine to another thread, has none. */
#include "pe_rules.h"
#include "shim/check/report/hit.h"

void check_pe_shared(const struct shim_call *call, struct check_pe *engine, struct check_thread *other)
{
	struct check_stack stack = check_stack_of(other->caller);
	uint32_t function = check_last_function(other);
	struct check_hit *hit;

	if (function >= SHIM_NUM_FUNCTIONS)
		return;
	hit = check_hit_begin(BFC_THREADS_SHARE_ENGINE, call, "%s: another thread is in %s of the same engine",
			      check_call_name(call), shim_function_names[function].name);
	check_hit_add_party(hit, other->tid, &stack, "at the same time, a thread was in %s",
			    shim_function_names[function].name);
	check_hit_add_object(hit, "engine", engine->pe, NULL);
	check_hit_end(hit);
}
