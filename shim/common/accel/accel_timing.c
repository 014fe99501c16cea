/* SPDX-License-Identifier: BSD-3-Clause */
/* Model time of tasks that an engine of the card runs: fixed for each task, and by the larger of source and output. An engine
 * whose rate was not measured takes none. */
#include "accel.h"
#include "pcie_model/arith.h"

#define PS_PER_NS 1000
#define PS_PER_S  UINT64_C(1000000000000)

static uint64_t work_ps(const struct pcie_accel_caps *caps, uint64_t bytes)
{
	unsigned __int128 transfer_ps = (unsigned __int128)bytes * 8 * PS_PER_S / caps->rate_bps;

	return add_saturating_u64(transfer_ps > UINT64_MAX ? UINT64_MAX : (uint64_t)transfer_ps,
				  (uint64_t)caps->task_ns * PS_PER_NS);
}

/* Before the job has run, the bytes are those of the task's submission before. */
bool shim_accel_get_pcie_job(const struct doca_task *task, struct pcie_job *ret_job)
{
	const struct shim_buf_task *buf_task = shim_to_buf_task(task);
	const struct pcie_accel_caps *caps = &shim_accel_task_conf(task)->caps;

	if (shim_buf_task_find_problem(buf_task))
		return false;
	shim_buf_task_get_pcie_job(buf_task, ret_job);
	ret_job->bytes = task->bytes;
	ret_job->station = PCIE_STATION_ACCEL;
	ret_job->is_sized_by_run = true;
	ret_job->unit = shim_accel_task_type(task)->accel;
	ret_job->busy_ps = caps->rate_bps ? work_ps(caps, task->bytes) : 0;
	return true;
}
