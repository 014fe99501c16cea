/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/dma/dma_priv.h - the DMA context and its one kind of task, for the files of libdoca_dma.
 *
 *   dma.c                the context, and the task type, which joins the other files
 *   dma_task_memcpy.c    the memcpy task: check, run, complete, public functions
 *   dma_snapshot.[ch]    what a memcpy task takes from its buffers when it is submitted
 *   dma_memcpy_fault.c   injected faults of a memcpy task
 *   dma_memcpy_timing.c  model time of a memcpy task
 *
 * A memcpy task between two local buffers, without faults and model time, runs through five .c
 * files from doca_task_submit() to its callback:
 *
 *   pe/task.c  -->  dma_task_memcpy.c (check)  -->  engine/queue.c (submit, doorbell)
 *   pe/pe.c    -->  engine/queue.c (poll)  -->  dma_task_memcpy.c (run)  -->  fabric/copy.c
 *              -->  pe/task.c  -->  dma_task_memcpy.c (complete)  -->  the user's callback
 */
#ifndef SHIM_DMA_PRIV_H
#define SHIM_DMA_PRIV_H

#include <doca_dma.h>
#include <sys/queue.h>

#include "dma_snapshot.h"
#include "shim/common/mem/buf_priv.h"
#include "shim/common/pe/ctx_priv.h"
#include "shim/common/pe/task_priv.h"

struct doca_dma {
	struct doca_ctx ctx;       /* first: a doca_dma is a doca_ctx */
	uint32_t num_memcpy_tasks; /* 0 = not configured */
	doca_dma_task_memcpy_completion_cb_t memcpy_done, memcpy_failed;
	struct shim_task_pool *memcpy_pool; /* NULL while the context is idle */
	bool completes_in_order;            /* set by the user */
	bool overwrites_full;               /* for shim/workq: the data of a destination without room is replaced */
	struct shim_dma_lists_head lists;   /* of tasks between lists, until the context is idle */
};

/* Two cache lines of a slab: programs that copy small blocks touch all their tasks in turn. */
struct doca_dma_task_memcpy {
	struct doca_task task; /* first: a memcpy task is a doca_task */
	const struct doca_buf *src;
	struct doca_buf *dst;
	struct shim_dma_snapshot snapshot; /* while in flight */
};

_Static_assert(sizeof(struct doca_dma_task_memcpy) == 128, "a memcpy task is two cache lines");

/* dma.c: for shim/workq: have @num_tasks tasks in all, more than before, while the context runs. SUCCESS or NO_MEMORY. */
doca_error_t shim_dma_grow(struct doca_dma *dma, uint32_t num_tasks);

static inline struct doca_dma_task_memcpy *shim_to_dma_memcpy(const struct doca_task *task)
{
	return (struct doca_dma_task_memcpy *)(uintptr_t)task;
}

/* dma_task_memcpy.c: the operations of the task type (task_priv.h). */
doca_error_t shim_dma_memcpy_check(struct doca_task *task);
doca_error_t shim_dma_memcpy_validate(struct doca_task *task);
int shim_dma_memcpy_run(struct sim_job *job);
void shim_dma_memcpy_apply(struct doca_task *task);
void shim_dma_memcpy_complete(struct doca_task *task);

/* dma_task_memcpy.c: take the snapshot of a task for the public function @func. SUCCESS, also if the task will
 * fail; INVALID_VALUE unless source and destination are live lists; NO_MEMORY. */
doca_error_t shim_dma_memcpy_take(const char *func, struct doca_dma_task_memcpy *memcpy);

/* dma_task_memcpy.c: return why the submitted task could not run now, or NULL. Nothing is logged. */
const char *shim_dma_memcpy_find_problem(const struct doca_dma_task_memcpy *memcpy);

/* dma_task_memcpy.c: check the task as shim_dma_memcpy_run() does. Return 0, or -EIO after a log line. */
int shim_dma_memcpy_check_before_run(const struct doca_dma_task_memcpy *memcpy);

/* dma_task_memcpy.c: copy at most @limit bytes from the source's segments to the destination's. *ret_written
 * is set on failure, too. Return 0 or what sim_copy() returned. */
int shim_dma_copy_segments(const struct shim_dma_segments *segments, uint64_t limit, uint64_t *ret_written);

/* The segments of a submitted task that has no problem. */
static inline struct shim_dma_segments shim_dma_memcpy_segments(const struct doca_dma_task_memcpy *memcpy)
{
	return shim_dma_snapshot_segments(&memcpy->snapshot, memcpy->src, memcpy->dst);
}

/* dma_memcpy_fault.c */
extern const struct shim_task_fault_ops shim_dma_memcpy_fault_ops;

/* dma_memcpy_timing.c: shim_task_type.get_pcie_job. */
bool shim_dma_memcpy_get_pcie_job(const struct doca_task *task, struct pcie_job *ret_job);

#endif
