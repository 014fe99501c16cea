/* SPDX-License-Identifier: BSD-3-Clause */
/* Injected faults of a memcpy task: a failed copy moves a part of the bytes, a torn copy reports
 * bytes that it did not write, a flip changes bits behind a whole copy. */
#include <errno.h>

#include "dma_priv.h"
#include "shim/common/pe/task_fault.h"
#include "sim/fabric/remote.h"

/* Of a task that will fail there is no destination in the snapshot. */
static __attribute__((noinline)) uint64_t lists_write_addr(const struct doca_dma_task_memcpy *memcpy)
{
	const struct shim_dma_lists *lists = memcpy->snapshot.lists;

	return memcpy->snapshot.problem ? (uintptr_t)memcpy->dst->data + memcpy->dst->data_len :
					  (uintptr_t)lists->segments[lists->num_src].addr;
}

static inline uint64_t write_addr(const struct doca_dma_task_memcpy *memcpy)
{
	return doca_likely(shim_dma_snapshot_is_pair(&memcpy->snapshot)) ? (uintptr_t)memcpy->snapshot.dst_addr :
									   lists_write_addr(memcpy);
}

static void memcpy_fault_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	const struct doca_dma_task_memcpy *memcpy = shim_to_dma_memcpy(task);

	ret_site->size = memcpy->snapshot.bytes;
	ret_site->addr = write_addr(memcpy);
}

static bool memcpy_no_fault_cached(const struct doca_task *task)
{
	const struct doca_dma_task_memcpy *memcpy = shim_to_dma_memcpy(task);

	return sim_no_fault_cache_has(&task->pool->no_fault_cache, task->ctx->faults, memcpy->snapshot.bytes,
				      write_addr(memcpy));
}

/* Flip bit number @bit of the bytes that a copy wrote to the segments @dst. */
static int flip_bit(const struct shim_dma_segment *dst, uint64_t bit)
{
	uint64_t at = bit / 8, addr;
	uint8_t byte;
	int rc;

	for (; at >= dst->bytes; dst++)
		at -= dst->bytes;
	addr = shim_buf_cpu_addr(dst->buf, dst->addr + at);
	rc = sim_copy(NULL, (uintptr_t)&byte, dst->buf->mmap->remote, addr, 1);
	byte ^= (uint8_t)(1u << bit % 8);
	return rc < 0 ? rc : sim_copy(dst->buf->mmap->remote, addr, NULL, (uintptr_t)&byte, 1);
}

static int flip_bits(const struct shim_dma_segment *dst, const struct sim_fault_hit *hit, uint64_t written)
{
	int rc = 0;

	for (uint32_t i = 0; i < hit->flip_bits && i < written * 8 && rc == 0; i++)
		rc = flip_bit(dst, sim_fault_hit_bit(hit, i, written * 8));
	return rc;
}

static int memcpy_run_faulted(struct sim_job *job, const struct sim_fault_hit *hit)
{
	struct doca_dma_task_memcpy *memcpy = shim_to_dma_memcpy(shim_task_from_job(job));
	uint64_t bytes = memcpy->snapshot.bytes, limit = bytes, written;
	struct shim_dma_segments segments;
	int rc = shim_dma_memcpy_check_before_run(memcpy);

	if (rc < 0)
		return rc;
	segments = shim_dma_memcpy_segments(memcpy);
	if (SHIM_HIT_HAS_ACT(hit, FAIL))
		limit = hit->moved_bytes;
	else if (SHIM_HIT_HAS_ACT(hit, TEAR))
		limit = bytes / 2;
	rc = shim_dma_copy_segments(&segments, limit, &written);
	if (rc == 0 && SHIM_HIT_HAS_ACT(hit, FLIP))
		rc = flip_bits(shim_dma_dst(&segments), hit, written);
	if (rc == 0 && SHIM_HIT_HAS_ACT(hit, TEAR))
		written = bytes;
	memcpy->task.bytes = written;
	return rc == 0 && SHIM_HIT_HAS_ACT(hit, FAIL) ? -EIO : rc;
}

const struct shim_task_fault_ops shim_dma_memcpy_fault_ops = {
	.op = SIM_OP_DMA_MEMCPY,
	.site = memcpy_fault_site,
	.no_fault_cached = memcpy_no_fault_cached,
	.run = memcpy_run_faulted,
};
