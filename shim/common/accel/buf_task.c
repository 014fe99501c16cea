/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks with lists of buffers: what may be wrong with them, and what they ask of the card in model time. */
#include "buf_task.h"

#include "shim/common/pe/task_memory.h"
#include "sim/fabric/remote.h"

static inline const char *find_list_problem(const struct shim_segment *segments, uint32_t count,
					    const struct doca_dev *dev, bool write)
{
	const char *problem = NULL;

	for (uint32_t i = 0; i < count && !problem; i++)
		problem = shim_segment_find_problem(segments[i].buf, segments[i].addr, segments[i].bytes, dev, write);
	return problem;
}

const char *shim_buf_task_find_lists_problem(const struct shim_buf_task *task)
{
	const struct shim_lists *lists = task->snapshot.lists;
	const struct doca_dev *dev = task->task.ctx->dev;
	const char *problem = task->snapshot.problem;

	if (!problem)
		problem = find_list_problem(lists->segments, lists->num_src, dev, false);
	return problem ? problem : find_list_problem(lists->segments + lists->num_src, lists->num_dst, dev, true);
}

static bool find_in_segments(const struct shim_segment *segments, uint32_t count, const char *role, uintptr_t addr,
			     struct shim_memory *ret_memory)
{
	for (uint32_t i = 0; i < count; i++)
		if (shim_memory_find(segments[i].buf, segments[i].addr, segments[i].bytes, role, addr, ret_memory))
			return true;
	return false;
}

bool shim_buf_task_find_memory(const struct doca_task *task, uintptr_t addr, struct shim_memory *ret_memory)
{
	const struct shim_buf_task *buf_task = shim_to_buf_task(task);
	const struct shim_snapshot *snapshot = &buf_task->snapshot;
	const struct shim_segments segments = shim_buf_task_segments(buf_task);

	if (!shim_snapshot_is_pair(snapshot) && snapshot->problem)
		return false;
	return find_in_segments(shim_segments_src(&segments), shim_segments_num_src(&segments), "source", addr,
				ret_memory) ||
	       find_in_segments(shim_segments_dst(&segments), shim_segments_num_dst(&segments), "destination", addr,
				ret_memory);
}

/* Return whether the memory of @mmap is on a DPU: an imported map's memory is on its exporter's side,
 * any other map's on the side of @function. */
static bool memory_is_on_dpu(const struct doca_mmap *mmap, const struct pcie_function *function)
{
	const struct pcie_topology *topology = sim_session_topology(shim_session());

	if (mmap->remote && mmap->remote->region.function < topology->num_functions)
		function = &topology->functions[mmap->remote->region.function];
	return pcie_side_is_dpu(function->side);
}

static enum pcie_direction direction_of(bool from_dpu, bool to_dpu)
{
	if (from_dpu)
		return to_dpu ? PCIE_LOCAL : PCIE_WRITE;
	return to_dpu ? PCIE_READ : PCIE_HOST;
}

void shim_buf_task_get_pcie_job(const struct shim_buf_task *task, struct pcie_job *ret_job)
{
	const struct pcie_function *function = shim_dev_function(task->task.ctx->dev);
	const struct shim_segments segments = shim_buf_task_segments(task);
	const struct shim_segment *src = shim_segments_src(&segments), *dst = shim_segments_dst(&segments);
	bool from_dpu = memory_is_on_dpu(src->buf->mmap, function);
	bool to_dpu = memory_is_on_dpu(dst->buf->mmap, function);

	ret_job->direction = direction_of(from_dpu, to_dpu);
	ret_job->issuer = PCIE_ISSUER_CPU;
	ret_job->offset = (uintptr_t)(from_dpu ? dst : src)->addr;
	ret_job->segments = shim_segments_num_src(&segments) + shim_segments_num_dst(&segments) - 1;
}
