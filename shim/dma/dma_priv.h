/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/dma/dma_priv.h - the DMA context and its one kind of task, for the files of libdoca_dma.
 *
 *   dma.c                the context, and the task type, which joins the other files
 *   dma_task_memcpy.c    the memcpy task: check, run, complete, public functions
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

#include "shim/common/mem/buf_priv.h"
#include "shim/common/pe/ctx_priv.h"
#include "shim/common/pe/task_priv.h"

struct doca_dma {
	struct doca_ctx ctx;       /* first: a doca_dma is a doca_ctx */
	uint32_t num_memcpy_tasks; /* 0 = not configured */
	doca_dma_task_memcpy_completion_cb_t memcpy_done, memcpy_failed;
	struct shim_task_pool *memcpy_pool; /* NULL while the context is idle */
	bool overwrites_full; /* for shim/workq: a destination without room is emptied and written again */
};

struct doca_dma_task_memcpy {
	struct doca_task task; /* first: a memcpy task is a doca_task */
	const struct doca_buf *src;
	struct doca_buf *dst;
};

static inline struct doca_dma_task_memcpy *shim_to_dma_memcpy(const struct doca_task *task)
{
	return (struct doca_dma_task_memcpy *)(uintptr_t)task;
}

/* Size of a list of buffers: its data, or its room behind the data. */
struct shim_dma_list_size {
	uint64_t bytes;
	uint32_t segments;
};

static inline size_t shim_dma_buf_tailroom(const struct doca_buf *buf)
{
	return (size_t)(buf->head + buf->len - (buf->data + buf->data_len));
}

static inline struct shim_dma_list_size shim_dma_sum_data(const struct doca_buf *buf)
{
	struct shim_dma_list_size total = { 0 };

	for (; buf; buf = buf->next, total.segments++)
		total.bytes += buf->data_len;
	return total;
}

static inline struct shim_dma_list_size shim_dma_sum_tailroom(const struct doca_buf *buf)
{
	struct shim_dma_list_size total = { 0 };

	for (; buf; buf = buf->next, total.segments++)
		total.bytes += shim_dma_buf_tailroom(buf);
	return total;
}

/* dma_task_memcpy.c: the operations of the task type (task_priv.h). */
doca_error_t shim_dma_memcpy_check(const struct doca_task *task);
doca_error_t shim_dma_memcpy_validate(const struct doca_task *task);
int shim_dma_memcpy_run(struct sim_job *job);
void shim_dma_memcpy_complete(struct doca_task *task);

/* dma_task_memcpy.c: return why the task could not run now, or NULL. Nothing is logged. */
const char *shim_dma_memcpy_find_problem(const struct doca_dma_task_memcpy *memcpy);

/* dma_task_memcpy.c: check the task as shim_dma_memcpy_run() does. Return 0, or -EIO after a log line. */
int shim_dma_memcpy_check_before_run(const struct doca_dma_task_memcpy *memcpy);

/* dma_task_memcpy.c: copy at most @limit bytes from the data of list @src to the room of list @dst,
 * which is large enough. No data length changes, so @src and @dst may be one list. *ret_written is
 * set on failure, too. Return 0 or what sim_copy() returned. */
int shim_dma_copy_list(const struct doca_buf *dst, const struct doca_buf *src, uint64_t limit, uint64_t *ret_written);

/* dma_task_memcpy.c: add @written bytes, which a copy wrote, to the data of list @dst. */
void shim_dma_append_data_len(struct doca_buf *dst, uint64_t written);

/* dma_memcpy_fault.c */
extern const struct shim_task_fault_ops shim_dma_memcpy_fault_ops;

/* dma_memcpy_timing.c: shim_task_type.get_pcie_job. */
bool shim_dma_memcpy_get_pcie_job(const struct doca_task *task, struct pcie_job *ret_job);

#endif
