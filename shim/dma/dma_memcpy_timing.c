/* SPDX-License-Identifier: BSD-3-Clause */
/* Model time of a memcpy task: the transfer that the task asks of the PCIe link and the card. */
#include "dma_priv.h"
#include "sim/fabric/remote.h"

/* Return whether the memory of @mmap is on a DPU: an imported map's memory is on its exporter's side,
 * any other map's on the side of @function. */
static bool memory_is_on_dpu(const struct doca_mmap *mmap, const struct pcie_function *function)
{
	const struct pcie_topology *topology = sim_session_topology(shim_session());

	if (mmap->remote && mmap->remote->region.function < topology->num_functions)
		function = &topology->functions[mmap->remote->region.function];
	return pcie_side_is_dpu(function->side);
}

static enum pcie_direction copy_direction(bool from_dpu, bool to_dpu)
{
	if (from_dpu)
		return to_dpu ? PCIE_LOCAL : PCIE_WRITE;
	return to_dpu ? PCIE_READ : PCIE_HOST;
}

/* A list counts as memory of its first buffer's side: no time of a list over both sides was ever published. */
bool shim_dma_memcpy_get_pcie_job(const struct doca_task *task, struct pcie_job *ret_job)
{
	const struct doca_dma_task_memcpy *memcpy = shim_to_dma_memcpy(task);
	const struct pcie_function *function = shim_dev_function(task->ctx->dev);
	const struct shim_dma_segment *src, *dst;
	struct shim_dma_segments segments;
	bool from_dpu, to_dpu;

	if (shim_dma_memcpy_find_problem(memcpy))
		return false; /* the run will fail */
	segments = shim_dma_memcpy_segments(memcpy);
	src = shim_dma_src(&segments);
	dst = shim_dma_dst(&segments);
	from_dpu = memory_is_on_dpu(src->buf->mmap, function);
	to_dpu = memory_is_on_dpu(dst->buf->mmap, function);
	ret_job->direction = copy_direction(from_dpu, to_dpu);
	ret_job->issuer = PCIE_ISSUER_CPU;
	ret_job->bytes = memcpy->snapshot.bytes;
	ret_job->offset = (uintptr_t)(from_dpu ? dst : src)->addr;
	ret_job->segments = shim_dma_num_src(&segments) + shim_dma_num_dst(&segments) - 1;
	return true;
}
