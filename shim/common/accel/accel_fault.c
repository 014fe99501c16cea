/* SPDX-License-Identifier: BSD-3-Clause */
/* Injected faults of tasks that an engine of the card runs: a task that fails writes a part of its output, a flip
 * changes bits of the output of a task that succeeds, a bad checksum is what such a task reports, a bad tag is what its
 * work takes for the right one. */
#include <errno.h>

#include "accel.h"

/* Of a task that will fail there is no destination in the snapshot. */
void shim_accel_fault_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	const struct shim_buf_task *buf_task = shim_to_buf_task(task);
	const struct shim_lists *lists = buf_task->snapshot.lists;

	ret_site->size = buf_task->snapshot.bytes;
	ret_site->addr = (uintptr_t)lists->segments[lists->num_src].addr;
}

int shim_accel_run_faulted(struct sim_job *job, const struct sim_fault_hit *hit)
{
	struct shim_accel_task *task = (struct shim_accel_task *)shim_task_from_job(job);
	const struct shim_lists *lists = task->base.snapshot.lists;
	int rc;

	if (SIM_FAULT_HAS_ACT(hit, FAIL)) {
		shim_accel_do_work(task, hit->moved_bytes);
		return -EIO;
	}
	if (SIM_FAULT_HAS_ACT(hit, BAD_TAG))
		shim_accel_task_type(&task->base.task)->spoil_tag(task);
	rc = shim_accel_do_work(task, UINT64_MAX);
	if (rc == 0 && SIM_FAULT_HAS_ACT(hit, FLIP))
		rc = shim_segments_flip(lists->segments + lists->num_src, hit, task->written);
	if (rc == 0 && SIM_FAULT_HAS_ACT(hit, BAD_CHECKSUM))
		shim_accel_task_type(&task->base.task)->spoil(task);
	return rc;
}
