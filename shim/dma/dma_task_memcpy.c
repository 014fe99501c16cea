/* SPDX-License-Identifier: BSD-3-Clause */
/* The memcpy task: appends the data of the source list to the data of the destination list. */
#include <errno.h>

#include "dma_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/base/check.h"
#include "sim/fabric/remote.h"

/* Return why @dev can't read the map's memory (or write it, if @write), or NULL. */
static inline const char *find_mmap_problem(const struct doca_mmap *mmap, const struct doca_dev *dev, bool write)
{
	if (doca_unlikely(!shim_mmap_has_dev(mmap, dev)))
		return "the device is not in a buffer's memory map (doca_mmap_add_dev)";
	if (doca_unlikely(write &&
			  !(mmap->access & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE))))
		return shim_mmap_is_imported(mmap) ?
			       "the destination was exported read-only (the exporter's doca_mmap_set_permissions)" :
			       "the destination's memory map is read-only (doca_mmap_set_permissions)";
	return NULL;
}

/* The same for all buffers of a list. A thread-safe map may end before its buffers. */
static inline const char *find_list_problem(const struct doca_buf *buf, const struct doca_dev *dev, bool write)
{
	const struct doca_mmap *seen = NULL;
	const char *problem = NULL;

	for (; buf && !problem; buf = buf->next) {
		if (doca_unlikely(!shim_buf_has_usable_mmap(buf)))
			return "a buffer's memory map was stopped or destroyed";
		if (buf->mmap != seen)
			problem = find_mmap_problem(buf->mmap, dev, write);
		seen = buf->mmap;
	}
	return problem;
}

/* For shim/workq: empty a destination without room, if the emptied one has room for @missing_bytes more.
 * Return whether it was emptied. */
static bool reset_full_dst(const struct doca_dma_task_memcpy *memcpy, uint64_t missing_bytes)
{
	if (!((const struct doca_dma *)memcpy->task.ctx)->overwrites_full ||
	    shim_dma_sum_data(memcpy->dst).bytes < missing_bytes)
		return false;
	for (struct doca_buf *dst = memcpy->dst; dst; dst = dst->next)
		dst->data_len = 0;
	return true;
}

/* Return why a task between two lists can't succeed, or NULL. */
static inline const char *find_lists_problem(const struct doca_dma_task_memcpy *memcpy)
{
	const struct doca_dev *dev = memcpy->task.ctx->dev;
	const struct pcie_caps *caps = &shim_dev_function(dev)->caps;
	struct shim_dma_list_size data = shim_dma_sum_data(memcpy->src), room = shim_dma_sum_tailroom(memcpy->dst);
	const char *problem;

	if (doca_unlikely(data.bytes == 0))
		return "the source has no data (doca_buf_set_data)";
	if (doca_unlikely(data.bytes > caps->dma_max_buf_bytes))
		return "the source is larger than doca_dma_cap_task_memcpy_get_max_buf_size()";
	if (doca_unlikely(data.segments > caps->dma_max_list_len || room.segments > caps->dma_max_list_len))
		return "a list is longer than doca_dma_cap_task_memcpy_get_max_buf_list_len()";
	if (doca_unlikely(room.bytes < data.bytes) && !reset_full_dst(memcpy, data.bytes - room.bytes))
		return "the destination has too little room behind its data";
	problem = find_list_problem(memcpy->src, dev, false);
	return problem ? problem : find_list_problem(memcpy->dst, dev, true);
}

static inline bool is_list(const struct doca_buf *buf)
{
	return shim_object_is(buf, SHIM_BUF) && !buf->is_inner;
}

static inline bool has_lists(const struct doca_dma_task_memcpy *memcpy)
{
	return is_list(memcpy->src) && is_list(memcpy->dst);
}

inline const char *shim_dma_memcpy_find_problem(const struct doca_dma_task_memcpy *memcpy)
{
	return doca_likely(has_lists(memcpy)) ?
		       find_lists_problem(memcpy) :
		       "a buffer was returned to its inventory, or chained, while the task was in flight";
}

doca_error_t shim_dma_memcpy_check(const struct doca_task *task)
{
	if (doca_likely(has_lists(shim_to_dma_memcpy(task))))
		return DOCA_SUCCESS;
	sim_err("memcpy task: its source and destination must be live buffers, heads of their lists");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t shim_dma_memcpy_validate(const struct doca_task *task)
{
	doca_error_t result = shim_dma_memcpy_check(task);
	const char *problem = result == DOCA_SUCCESS ? shim_dma_memcpy_find_problem(shim_to_dma_memcpy(task)) : NULL;

	if (!problem)
		return result;
	sim_err("memcpy task: %s", problem);
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- the copy ---- */

/* A position in a list: @done bytes of the buffer's data (source) or room (destination) are copied. */
struct list_cursor {
	const struct doca_buf *buf;
	size_t done;
};

/* Copy from one source buffer to one destination buffer, at most *len bytes; set *len to the number copied. */
static inline int copy_segment(const struct list_cursor *to, const struct list_cursor *from, size_t *len)
{
	const struct doca_buf *dst = to->buf, *src = from->buf;

	*len = min_size(*len, min_size(shim_dma_buf_tailroom(dst) - to->done, src->data_len - from->done));
	if (*len == 0)
		return 0;
	return sim_copy(dst->mmap->remote, shim_buf_cpu_addr(dst, dst->data + dst->data_len + to->done),
			src->mmap->remote, shim_buf_cpu_addr(src, src->data + from->done), *len);
}

static inline void advance_cursor(struct list_cursor *cursor, size_t len, size_t whole)
{
	cursor->done += len;
	if (cursor->done == whole)
		*cursor = (struct list_cursor){ .buf = cursor->buf->next };
}

void shim_dma_append_data_len(struct doca_buf *dst, uint64_t written)
{
	for (; written > 0; dst = dst->next) {
		size_t len = min_size(shim_dma_buf_tailroom(dst), written);

		dst->data_len += len;
		written -= len;
	}
}

int shim_dma_copy_list(const struct doca_buf *dst, const struct doca_buf *src, uint64_t limit, uint64_t *ret_written)
{
	struct list_cursor to = { .buf = dst }, from = { .buf = src };
	int rc = 0;

	*ret_written = 0;
	while (from.buf && to.buf && *ret_written < limit) {
		size_t len = limit - *ret_written;

		rc = copy_segment(&to, &from, &len);
		if (rc < 0)
			break;
		*ret_written += len;
		advance_cursor(&to, len, shim_dma_buf_tailroom(to.buf));
		advance_cursor(&from, len, from.buf->data_len);
	}
	return rc;
}

static int copy_lists(struct doca_dma_task_memcpy *memcpy)
{
	int rc = shim_dma_copy_list(memcpy->dst, memcpy->src, UINT64_MAX, &memcpy->task.bytes);

	shim_dma_append_data_len(memcpy->dst, memcpy->task.bytes);
	return rc;
}

/* A local copy of at most this size is a short job (sim_job.is_short): it completes before another thread could see it run. */
#define SHORT_COPY_BYTES 1024

/* The common case: one buffer to one buffer. */
static inline int copy_buf(struct doca_dma_task_memcpy *memcpy)
{
	const struct doca_buf *src = memcpy->src;
	struct doca_buf *dst = memcpy->dst;
	int rc = sim_copy(dst->mmap->remote, shim_buf_cpu_addr(dst, dst->data + dst->data_len), src->mmap->remote,
			  shim_buf_cpu_addr(src, src->data), src->data_len);

	if (doca_unlikely(rc < 0))
		return rc;
	memcpy->task.job.is_short = src->data_len <= SHORT_COPY_BYTES && !dst->mmap->remote && !src->mmap->remote;
	memcpy->task.bytes = src->data_len;
	dst->data_len += src->data_len;
	return 0;
}

inline int shim_dma_memcpy_check_before_run(const struct doca_dma_task_memcpy *memcpy)
{
	const char *problem = shim_dma_memcpy_find_problem(memcpy);

	if (doca_likely(!problem))
		return 0;
	sim_err("a DMA memcpy task fails as it does on a card: %s", problem);
	return -EIO;
}

int shim_dma_memcpy_run(struct sim_job *job)
{
	struct doca_dma_task_memcpy *memcpy = shim_to_dma_memcpy(shim_task_from_job(job));
	int rc = shim_dma_memcpy_check_before_run(memcpy);

	if (doca_unlikely(rc < 0))
		return rc;
	return doca_likely(!memcpy->src->next && !memcpy->dst->next) ? copy_buf(memcpy) : copy_lists(memcpy);
}

void shim_dma_memcpy_complete(struct doca_task *task)
{
	struct doca_dma *dma = (struct doca_dma *)task->ctx;
	doca_dma_task_memcpy_completion_cb_t cb =
		doca_likely(task->status == DOCA_SUCCESS) ? dma->memcpy_done : dma->memcpy_failed;

	cb(shim_to_dma_memcpy(task), task->user_data, dma->ctx.user_data);
}

/* ---- public functions ---- */

doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src, struct doca_buf *dst,
					     union doca_data user_data, struct doca_dma_task_memcpy **task)
{
	struct doca_task *base;
	doca_error_t result;

	SHIM_NEED(dma, SHIM_DMA);
	SHIM_NEED_OUT(task);
	result = shim_task_alloc(dma->memcpy_pool, &dma->ctx, user_data, &base);
	if (doca_unlikely(result == DOCA_ERROR_BAD_STATE))
		return SHIM_REFUSE(result, "the context is not running; start it first");
	if (doca_unlikely(result != DOCA_SUCCESS))
		return SHIM_REFUSE(result, "all %u configured tasks are allocated; free some", dma->num_memcpy_tasks);
	*task = shim_to_dma_memcpy(base);
	(*task)->src = src;
	(*task)->dst = dst;
	return DOCA_SUCCESS;
}

static bool is_memcpy(const struct doca_dma_task_memcpy *task)
{
	return shim_object_is(task, SHIM_TASK);
}

struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task)
{
	return is_memcpy(task) ? &task->task : NULL;
}

void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src)
{
	if (is_memcpy(task) && !task->task.in_flight)
		task->src = src;
	else
		sim_err("%s: the task is NULL, freed, or in flight; nothing was changed", __func__);
}

const struct doca_buf *doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task)
{
	return is_memcpy(task) ? task->src : NULL;
}

void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst)
{
	if (is_memcpy(task) && !task->task.in_flight)
		task->dst = dst;
	else
		sim_err("%s: the task is NULL, freed, or in flight; nothing was changed", __func__);
}

struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task)
{
	return is_memcpy(task) ? task->dst : NULL;
}
