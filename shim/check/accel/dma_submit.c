/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast check of each task that is posted, the rules for memcpy tasks that it does not clear, and submissions that were
 * refused. */
#include "shim/check/history/tasks_in_flight.h"
#include "shim/common/base/check.h"
#include "task_rules.h"

static bool must_check_all; /* a rule needs to see every task */

static void check_memcpy(const struct shim_buf_task *memcpy)
{
	check_dma_sizes(memcpy);
	check_task_access(memcpy);
	check_task_overlap(memcpy, memcpy->snapshot.bytes);
	check_dma_defined(memcpy);
}

/* Few tasks have more than one source and one destination, in maps of the context's device, apart from each other: a few
 * comparisons clear those. Returns whether the task breaks no rule. */
static inline bool is_cleared(const struct shim_buf_task *memcpy)
{
	const struct shim_snapshot *snapshot = &memcpy->snapshot;
	const struct doca_mmap *src = memcpy->src->mmap, *dst = memcpy->dst->mmap;
	const struct doca_dev *dev = memcpy->task.ctx->dev;

	return shim_snapshot_is_pair(snapshot) &&
	       dst->access & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE) &&
	       dst->first_dev == dev && src->first_dev == dev &&
	       (snapshot->src_addr + snapshot->bytes <= snapshot->dst_addr ||
		snapshot->dst_addr + snapshot->bytes <= snapshot->src_addr) &&
	       !must_check_all;
}

static void task_posting(const struct doca_task *task)
{
	if (doca_likely(check_is_memcpy(task))) {
		if (doca_unlikely(!is_cleared(shim_to_buf_task(task))))
			check_memcpy(shim_to_buf_task(task));
	} else if (check_is_accel(task)) {
		check_accel_task((const struct shim_accel_task *)task);
	} else if (check_is_buf_task(task)) {
		check_task_access(shim_to_buf_task(task));
	}
	if (doca_unlikely(atomic_load_explicit(&check_num_unverified, memory_order_relaxed) > 0))
		check_unverified_use(task);
}

/* A submission that was refused before the task was posted. */
static void leave_submit(struct shim_call *call)
{
	struct doca_task *task = check_refused_task(call, DOCA_ERROR_INVALID_VALUE);

	if (doca_unlikely(task != NULL) && check_is_memcpy(task) &&
	    !check_task_misses_buffer(call, shim_to_buf_task(task)) && call->function == SHIM_FN_doca_task_try_submit)
		check_memcpy(shim_to_buf_task(task));
}

static void start(void)
{
	must_check_all = check_dma_knows_defined();
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
	.task_posting = task_posting,
};
