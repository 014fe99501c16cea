/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the memcpy tasks that dma_glance.h did not clear, and at submissions that were refused. */
#include "dma_glance.h"
#include "task_rules.h"
#include "shim/common/base/check.h"
#include "shim/check/history/tasks_in_flight.h"

bool check_dma_looks_at_all;

void check_dma_look(const struct shim_buf_task *memcpy)
{
	check_dma_sizes(memcpy);
	check_task_access(memcpy);
	check_task_overlap(memcpy, memcpy->snapshot.bytes);
	check_dma_defined(memcpy);
}

/* A submission that was refused before the task was posted. */
static void leave_submit(struct shim_call *call)
{
	struct doca_task *task = check_refused_task(call, DOCA_ERROR_INVALID_VALUE);

	if (doca_unlikely(task != NULL) && check_is_memcpy(task) &&
	    !check_task_lacks_buffer(call, shim_to_buf_task(task)) && call->function == SHIM_FN_doca_task_try_submit)
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
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.start = start,
};
