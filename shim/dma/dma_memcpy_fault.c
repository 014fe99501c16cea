/* SPDX-License-Identifier: BSD-3-Clause */
/* Injected faults of a memcpy task: a failed copy moves a part of the bytes, a torn copy reports
 * bytes that it did not write, a flip changes bits behind a whole copy. */
#include <errno.h>

#include "dma_priv.h"
#include "shim/common/pe/task_fault.h"

/* Of a task that will fail there is no destination in the snapshot. */
static uint64_t lists_write_addr(const struct shim_buf_task *memcpy)
{
	const struct shim_lists *lists = memcpy->snapshot.lists;

	return memcpy->snapshot.problem ? (uintptr_t)shim_buf_room(memcpy->dst) :
					  (uintptr_t)lists->segments[lists->num_src].addr;
}

static uint64_t write_addr(const struct shim_buf_task *memcpy)
{
	return shim_snapshot_is_pair(&memcpy->snapshot) ? (uintptr_t)memcpy->snapshot.dst_addr :
							  lists_write_addr(memcpy);
}

static void memcpy_fault_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	const struct shim_buf_task *memcpy = shim_to_buf_task(task);

	ret_site->size = memcpy->snapshot.bytes;
	ret_site->addr = write_addr(memcpy);
}

static int memcpy_run_faulted(struct sim_job *job, const struct sim_fault_hit *hit)
{
	struct shim_buf_task *memcpy = shim_to_buf_task(shim_task_from_job(job));
	uint64_t bytes = memcpy->snapshot.bytes, limit = bytes, written;
	struct shim_segments segments;
	int rc = shim_dma_memcpy_check_before_run(memcpy);

	if (rc < 0)
		return rc;
	segments = shim_buf_task_segments(memcpy);
	if (SIM_FAULT_HAS_ACT(hit, FAIL))
		limit = hit->moved_bytes;
	else if (SIM_FAULT_HAS_ACT(hit, TEAR))
		limit = bytes / 2;
	rc = shim_dma_copy_segments(&segments, limit, &written);
	if (rc == 0 && SIM_FAULT_HAS_ACT(hit, FLIP))
		rc = shim_segments_flip(shim_segments_dst(&segments), hit, written);
	if (rc == 0 && SIM_FAULT_HAS_ACT(hit, TEAR))
		written = bytes;
	memcpy->task.bytes = written;
	return rc == 0 && SIM_FAULT_HAS_ACT(hit, FAIL) ? -EIO : rc;
}

const struct shim_task_fault_ops shim_dma_memcpy_fault_ops = {
	.op = SIM_OP_DMA_MEMCPY,
	.site = memcpy_fault_site,
	.snapshot_offset = offsetof(struct shim_buf_task, snapshot),
	.run = memcpy_run_faulted,
};
