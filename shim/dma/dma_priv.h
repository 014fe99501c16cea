/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/dma/dma_priv.h - the DMA context and its one kind of task, for the files of libdoca_dma.
 *
 *   dma.c                the context, and the task type, which joins the other files
 *   dma_task_memcpy.c    the memcpy task: check, run, complete, public functions
 *   dma_memcpy_fault.c   injected faults of a memcpy task
 *
 * What DMA shares with other engines is in shim/common/accel: configuration, start and stop, lists of buffers, model
 * time. A memcpy task between two local buffers, without faults and model time, runs through five .c files from
 * doca_task_submit() to its callback:
 *
 *   pe/task_submit.c  -->  dma_task_memcpy.c (check)  -->  engine/queue.c (submit, doorbell)
 *   pe/pe_progress.c  -->  engine/queue.c (poll)  -->  dma_task_memcpy.c (run)  -->  fabric/copy.c
 *                     -->  pe/task_submit.c  -->  dma_task_memcpy.c (complete)  -->  the user's callback
 */
#ifndef SHIM_DMA_PRIV_H
#define SHIM_DMA_PRIV_H

#include <doca_dma.h>

#include "shim/common/accel/accel.h"

enum { DMA_MEMCPY }; /* types of tasks */

struct doca_dma {
	struct shim_accel accel; /* first: a doca_dma is a doca_ctx */
	bool completes_in_order; /* set by the user */
	uint64_t shuffle_seed;   /* 0 = jobs keep their order */
};

struct doca_dma_task_memcpy {
	struct shim_buf_task base;
};

static inline struct doca_dma *shim_to_dma(const struct doca_ctx *ctx)
{
	return (struct doca_dma *)(uintptr_t)ctx;
}

/* dma_task_memcpy.c: the operations of the task type (task_priv.h). */
doca_error_t shim_dma_memcpy_check(struct doca_task *task);
doca_error_t shim_dma_memcpy_validate(struct doca_task *task);
int shim_dma_memcpy_run(struct sim_job *job);
bool shim_dma_memcpy_get_pcie_job(const struct doca_task *task, struct pcie_job *ret_job);
void shim_dma_memcpy_complete(struct doca_task *task);

static inline void shim_dma_memcpy_apply(struct doca_task *task)
{
	const struct shim_buf_task *memcpy = shim_to_buf_task(task);

	shim_snapshot_extend_data(&memcpy->snapshot, memcpy->dst, task->bytes);
}

/* dma_task_memcpy.c: as shim_dma_memcpy_take(), of any buffers. */
doca_error_t shim_dma_memcpy_take_any(struct shim_buf_task *memcpy, const char *func);

/* Take the snapshot of a copy from one buffer to one buffer that has no problem. Returns false, with nothing taken, of any
 * other, and of handles that are no live buffers. */
static inline bool shim_dma_memcpy_take_pair(struct shim_buf_task *memcpy, const struct doca_dma *dma,
					     const struct doca_buf *src, const struct doca_buf *dst)
{
	return doca_likely(
		shim_buf_is_list(src) && shim_buf_is_list(dst) &&
		shim_snapshot_take_pair(&memcpy->snapshot, dma->accel.conf[DMA_MEMCPY].caps.max_buf_bytes, src, dst));
}

/* Take the snapshot of a task for the public function @func. SUCCESS, also if the task will fail; INVALID_VALUE unless
 * source and destination are live lists; NO_MEMORY. */
static inline doca_error_t shim_dma_memcpy_take(const char *func, struct shim_buf_task *memcpy)
{
	if (shim_dma_memcpy_take_pair(memcpy, shim_to_dma(memcpy->task.ctx), memcpy->src, memcpy->dst))
		return DOCA_SUCCESS;
	return shim_dma_memcpy_take_any(memcpy, func);
}

/* dma_task_memcpy.c: check the task as shim_dma_memcpy_run() does. Return 0, or -EIO after a log line. */
int shim_dma_memcpy_check_before_run(const struct shim_buf_task *memcpy);

/* dma_task_memcpy.c: copy at most @limit bytes from the source's segments to the destination's. *ret_written
 * is set on failure, too. Return 0 or what sim_copy() returned. */
int shim_dma_copy_segments(const struct shim_segments *segments, uint64_t limit, uint64_t *ret_written);

/* dma_memcpy_fault.c */
extern const struct shim_task_fault_ops shim_dma_memcpy_fault_ops;

#endif
