/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the life of buffers: the end of a task finds them alive, and an inventory has some left. */
#include <inttypes.h>

#include "shim/check/history/buf_records.h"
#include "shim/check/accel/task_rules.h"
#include "shim/common/base/check.h"
#include "shim/rdma/rdma_inspect.h"
#include "shim/check/history/task_ranges.h"
#include "shim/check/history/tasks_in_flight.h"

/* ---- a buffer was returned while a task used it ---- */

static void report_returned(const struct doca_ctx *ctx, const struct doca_buf *buf, const char *what)
{
	const struct check_stack nowhere = { 0 };
	struct check_buf_record record;
	bool is_known = check_buf_record_find(buf, &record) && record.returned_at;
	struct check_stack stack = is_known ? check_stack_of(record.returned_at) : nowhere;
	struct check_hit *hit = check_hit_begin_at(
		BFC_BUFFER_RETURNED_IN_FLIGHT, &stack,
		"doca_buf_dec_refcount: the last reference of the %s of a task in flight was returned", what);

	if (is_known && record.taken_at) {
		stack = check_stack_of(record.taken_at);
		check_hit_add_party(hit, 0, &stack, "the buffer had been taken");
	}
	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

/* Memory of buffers is used for slabs alone, also when their inventory is gone (shim/common/base/slab.h). */
static inline bool is_gone(const struct doca_buf *buf)
{
	return doca_unlikely(buf && !shim_object_is_still(buf, SHIM_BUF));
}

static void task_ended(struct doca_task *task, doca_error_t status)
{
	const struct shim_buf_task *buf_task = shim_to_buf_task(task);
	struct rdma_task_view rdma;
	const struct doca_buf *buf;

	(void)status;
	if (!check_is_buf_task(task)) {
		buf = check_comch_task_buf(task);
		if (buf && is_gone(buf))
			report_returned(task->ctx, buf, "buffer");
		if (!rdma_inspect_task(task, &rdma))
			return;
		if (is_gone(rdma.local))
			report_returned(task->ctx, rdma.local, "local buffer");
		if (is_gone(rdma.remote))
			report_returned(task->ctx, rdma.remote, "peer's buffer");
		return;
	}
	if (is_gone(buf_task->src))
		report_returned(task->ctx, buf_task->src, "source");
	if (is_gone(buf_task->dst))
		report_returned(task->ctx, buf_task->dst, "destination");
}

/* ---- an inventory or a pool is empty ---- */

struct census {
	const void *origin;
	uint32_t num_out, num_in_flight;
	uint64_t oldest; /* number of its take */
	const void *oldest_at;
};

struct search {
	const struct doca_buf *buf;
	bool is_found;
};

static bool see_task(const struct shim_buf_task *task, void *arg)
{
	struct search *search = arg;

	search->is_found = check_buf_task_uses_buf(task, search->buf);
	return !search->is_found;
}

static void see_record(const struct check_buf_record *record, void *arg)
{
	struct search search = { .buf = record->buf };
	struct census *census = arg;

	census->num_out++;
	check_tasks_in_flight(see_task, &search);
	if (search.is_found) {
		census->num_in_flight++;
		return;
	}
	if (!census->oldest_at || record->number < census->oldest) {
		census->oldest = record->number;
		census->oldest_at = record->taken_at;
	}
}

/* The buffers that are out and known are a sample of all. */
static bool is_likely_leak(const struct census *census)
{
	return census->num_in_flight < census->num_out - census->num_in_flight;
}

static void report_empty(const struct shim_call *call, const char *kind)
{
	struct census census = { .origin = check_arg(call, 0) };
	struct check_stack stack;
	struct check_hit *hit;

	check_buf_records_out(census.origin, see_record, &census);
	hit = check_hit_begin(BFC_INVENTORY_EMPTY, call,
			      "%s: all buffers are out: %" PRIu32 " of tasks in flight, %" PRIu32 " others; %s",
			      check_call_name(call), census.num_in_flight, census.num_out - census.num_in_flight,
			      is_likely_leak(&census) ? "the others look like a leak" :
							"progress the engine, and take the buffer again");
	if (is_likely_leak(&census)) {
		stack = check_stack_of(census.oldest_at);
		check_hit_add_party(hit, 0, &stack, "%" PRIu64 " buffers ago, the oldest of the others was taken",
				    check_buf_num_taken() - census.oldest);
	}
	check_hit_add_object(hit, kind, census.origin, NULL);
	check_hit_end(hit);
}

static void leave_get(struct shim_call *call)
{
	if (doca_unlikely(check_result(call) == DOCA_ERROR_NO_MEMORY) &&
	    shim_handle_is(check_arg(call, 0), SHIM_INVENTORY))
		report_empty(call, "inventory");
}

static void leave_pool_alloc(struct shim_call *call)
{
	if (doca_unlikely(check_result(call) == DOCA_ERROR_EMPTY))
		report_empty(call, "pool");
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_buf_inventory_buf_get_by_args, NULL, leave_get },
	{ SHIM_FN_doca_buf_inventory_buf_dup, NULL, leave_get },
	{ SHIM_FN_doca_buf_pool_buf_alloc, NULL, leave_pool_alloc },
};

const struct check_part check_buf_life = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.task_ended = task_ended,
};
