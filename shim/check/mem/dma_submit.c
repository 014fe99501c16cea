/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the memcpy tasks that dma_glance.h did not clear, and at submissions that were refused. */
#include "dma_glance.h"
#include "dma_rules.h"
#include "shim/common/base/check.h"
#include "shim/check/history/tasks_in_flight.h"

bool check_dma_looks_at_all;

void check_dma_look(const struct shim_buf_task *memcpy)
{
	check_dma_sizes(memcpy);
	check_dma_access(memcpy);
	check_dma_overlap(memcpy);
	check_dma_defined(memcpy);
}

static bool is_list(const struct doca_buf *buf)
{
	return shim_object_is(buf, SHIM_BUF) && !buf->is_inner;
}

static const char *describe(const struct doca_buf *buf)
{
	if (!buf)
		return "NULL";
	return shim_object_is(buf, SHIM_BUF) ? "inside a list, not its head" : "no live buffer";
}

static void report_buffers(const struct shim_call *call, const struct shim_buf_task *memcpy)
{
	bool is_src = !is_list(memcpy->src);
	struct check_hit *hit =
		check_hit_begin(BFC_TASK_WITHOUT_BUFFER, call, "%s: the %s of the task is %s", check_call_name(call),
				is_src ? "source" : "destination", describe(is_src ? memcpy->src : memcpy->dst));

	check_hit_add_object(hit, "context", memcpy->task.ctx, memcpy->task.ctx->ops->name);
	check_hit_end(hit);
}

/* A submission that was refused before the task was posted. */
static void leave_submit(struct shim_call *call)
{
	struct doca_task *task = check_arg(call, 0);

	if (doca_likely(check_result(call) != DOCA_ERROR_INVALID_VALUE) || !shim_object_is(task, SHIM_TASK) ||
	    task->in_flight || task->ctx->state != DOCA_CTX_STATE_RUNNING || !check_is_memcpy(task))
		return;
	if (!is_list(shim_to_buf_task(task)->src) || !is_list(shim_to_buf_task(task)->dst))
		report_buffers(call, shim_to_buf_task(task));
	else if (call->function == SHIM_FN_doca_task_try_submit)
		check_dma_look(shim_to_buf_task(task));
}

static void start(void)
{
	check_dma_looks_at_all = check_dma_knows_defined();
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_task_submit, NULL, leave_submit },
	{ SHIM_FN_doca_task_submit_ex, NULL, leave_submit },
	{ SHIM_FN_doca_task_try_submit, NULL, leave_submit },
};

const struct check_part check_dma_submit = {
	.watches = watches,
	.num_watches = sizeof(watches) / sizeof(watches[0]),
	.mode = SIM_CHECK_API,
	.start = start,
};
