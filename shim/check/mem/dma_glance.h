/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/mem/dma_glance.h - the look at each task that is posted, in line, as it is on every task's way.
 *
 * Few memcpy tasks have more than one source and one destination, in maps of the context's device, apart from each other, and
 * those are seen to be well by a few comparisons.
 */
#ifndef SHIM_CHECK_DMA_GLANCE_H
#define SHIM_CHECK_DMA_GLANCE_H

#include "shim/check/history/tasks_in_flight.h"
#include "shim/dma/dma_priv.h"

/* task_access.c: the rules for any task with buffers. */
void check_task_access(const struct shim_buf_task *task);

/* dma_submit.c: the rules. */
void check_dma_look(const struct shim_buf_task *memcpy);

/* rules_accel.c: the rules for a task of another engine. */
void check_accel_look(const struct shim_accel_task *task);

/* rules_gcm_tag.c: the number of failed decryptions whose plaintext is known, and a look at whether @task uses it. */
extern _Atomic uint32_t check_num_unverified;
void check_unverified_look(const struct doca_task *task);

/* dma_submit.c: a rule needs to look at every task. */
extern bool check_dma_looks_at_all;

static inline bool check_has_first_dev(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	return doca_likely(mmap->num_devs > 0) && mmap->devs[0] == dev;
}

/* Returns whether the task breaks no rule; false means that a closer look is needed. */
static inline bool check_dma_is_plainly_well(const struct shim_buf_task *memcpy)
{
	const struct shim_snapshot *snapshot = &memcpy->snapshot;
	const struct doca_mmap *src = memcpy->src->mmap, *dst = memcpy->dst->mmap;
	const struct doca_dev *dev = memcpy->task.ctx->dev;

	return shim_snapshot_is_pair(snapshot) &&
	       dst->access & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE) &&
	       check_has_first_dev(dst, dev) && check_has_first_dev(src, dev) &&
	       (snapshot->src_addr + snapshot->bytes <= snapshot->dst_addr ||
		snapshot->dst_addr + snapshot->bytes <= snapshot->src_addr) &&
	       !check_dma_looks_at_all;
}

static inline void check_task_glance(const struct doca_task *task)
{
	if (doca_likely(check_is_memcpy(task))) {
		if (doca_unlikely(!check_dma_is_plainly_well(shim_to_buf_task(task))))
			check_dma_look(shim_to_buf_task(task));
	} else if (check_is_accel(task)) {
		check_accel_look((const struct shim_accel_task *)task);
	} else if (check_is_buf_task(task)) {
		check_task_access(shim_to_buf_task(task));
	}
	if (doca_unlikely(atomic_load_explicit(&check_num_unverified, memory_order_relaxed) > 0))
		check_unverified_look(task);
}

#endif
