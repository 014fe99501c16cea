/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that a handle is not used after the program has destroyed its object: of objects with a pool, tasks and buffers. */
#include "shim/check/history/buf_records.h"
#include "shim/check/history/task_sites.h"
#include "shim/check/report/hit.h"
#include "shim/check/report/object_sites.h"
#include "shim/common/mem/buf_priv.h"

/* How an object ended. */
struct end {
	const char *kind, *verb, *function;
	const char *begun; /* how it began, if @begun_at is known */
	const void *begun_at;
	pid_t tid; /* 0 = not known */
	struct check_stack stack;
};

static bool find_object_end(const void *handle, struct end *ret_end)
{
	struct check_object_sites sites;

	if (((const struct shim_object *)handle)->magic != 0 || !check_object_sites_find(handle, &sites) ||
	    sites.destroyed.stack.num_frames == 0)
		return false;
	*ret_end = (struct end){ .kind = sites.kind,
				 .verb = "destroyed",
				 .function = shim_function_names[sites.destroyed.function].name,
				 .tid = sites.destroyed.tid,
				 .stack = sites.destroyed.stack };
	return true;
}

static bool find_task_end(const void *handle, struct end *ret_end)
{
	const void *freed_at = check_task_freed_at(handle);

	*ret_end = (struct end){ .kind = "task",
				 .verb = "freed",
				 .function = "doca_task_free",
				 .begun = "it had been allocated",
				 .begun_at = check_task_site(handle),
				 .stack = check_stack_of(freed_at) };
	return freed_at != NULL;
}

/* Memory of buffers is used for slabs alone (shim/common/base/slab.h). */
static bool find_buf_end(const void *handle, struct end *ret_end)
{
	struct check_buf_record record;

	if (!check_buf_record_find(handle, &record) || !record.returned_at || shim_object_is_still(handle, SHIM_BUF))
		return false;
	*ret_end = (struct end){ .kind = "buffer",
				 .verb = "returned",
				 .function = "doca_buf_dec_refcount",
				 .begun = "it had been taken",
				 .begun_at = record.taken_at,
				 .stack = check_stack_of(record.returned_at) };
	return true;
}

/* @handle is any value. */
static bool find_end(const void *handle, struct end *ret_end)
{
	if (shim_object_has_pool(handle))
		return find_object_end(handle, ret_end);
	return find_task_end(handle, ret_end) || find_buf_end(handle, ret_end);
}

static void report(const struct shim_call *call, const void *handle, const struct end *end)
{
	struct check_stack begun_at = check_stack_of(end->begun_at);
	struct check_hit *hit = check_hit_begin(BFC_USED_AFTER_DESTROY, call, "%s: the %s %p was %s before",
						check_call_name(call), end->kind, handle, end->verb);

	check_hit_add_party(hit, end->tid, &end->stack, "%s had %s it", end->function, end->verb);
	if (end->begun_at)
		check_hit_add_party(hit, 0, &begun_at, "%s", end->begun);
	else
		check_hit_add_object(hit, end->kind, handle, NULL);
	check_hit_end(hit);
}

static void call_failed(const struct shim_call *call)
{
	uint32_t handles = shim_function_names[call->function].handles;
	struct end end;

	for (int i = 0; handles >> i; i++)
		if (handles >> i & 1 && check_arg(call, i) && find_end(check_arg(call, i), &end))
			report(call, check_arg(call, i), &end);
}

/* Programs poll: doca_pe_progress() itself reads the tag of any handle. */
static void enter_infallible(struct shim_call *call)
{
	const void *handle = check_arg(call, 0);
	struct end end;

	if (doca_likely(call->function == SHIM_FN_doca_pe_progress && shim_object_is(handle, SHIM_PE)))
		return;
	if (doca_unlikely(find_end(handle, &end)))
		report(call, handle, &end);
}

const struct check_part check_stale = {
	.mode = SIM_CHECK_API,
	.call_failed = call_failed,
	.enter_infallible = enter_infallible,
};
