/* SPDX-License-Identifier: BSD-3-Clause */
/* The memcpy task: appends the data of the source list to the data of the destination list. A submission
 * takes the lists as they are then (dma_snapshot.h). */
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

/* Return why the bytes can't be copied now, or NULL. A thread-safe map may end before its buffers. A buffer that was
 * returned may be in use again, also of another map. */
static inline const char *find_segment_problem(const struct doca_buf *buf, const uint8_t *addr, size_t bytes,
					       const struct doca_dev *dev, bool write)
{
	if (doca_unlikely(!shim_object_is_still(buf, SHIM_BUF)))
		return "a buffer was returned to its inventory while the task was in flight";
	if (doca_unlikely(!shim_buf_has_usable_mmap(buf)))
		return "a buffer's memory map was stopped or destroyed";
	if (doca_unlikely(!shim_mmap_has_range(buf->mmap, addr, bytes)))
		return "a buffer was given other memory, of another map, while the task was in flight";
	return find_mmap_problem(buf->mmap, dev, write);
}

static const char *find_list_problem(const struct shim_dma_segment *segments, uint32_t count,
				     const struct doca_dev *dev, bool write)
{
	const char *problem = NULL;

	for (uint32_t i = 0; i < count && !problem; i++)
		problem = find_segment_problem(segments[i].buf, segments[i].addr, segments[i].bytes, dev, write);
	return problem;
}

static __attribute__((noinline)) const char *find_lists_problem(const struct shim_dma_snapshot *snapshot,
								const struct doca_dev *dev)
{
	const struct shim_dma_lists *lists = snapshot->lists;
	const char *problem = snapshot->problem;

	if (!problem)
		problem = find_list_problem(lists->segments, lists->num_src, dev, false);
	return problem ? problem : find_list_problem(lists->segments + lists->num_src, lists->num_dst, dev, true);
}

inline const char *shim_dma_memcpy_find_problem(const struct doca_dma_task_memcpy *memcpy)
{
	const struct shim_dma_snapshot *snapshot = &memcpy->snapshot;
	const struct doca_dev *dev = memcpy->task.ctx->dev;
	const char *problem;

	if (doca_unlikely(!shim_dma_snapshot_is_pair(snapshot)))
		return find_lists_problem(snapshot, dev);
	problem = find_segment_problem(memcpy->src, snapshot->src_addr, snapshot->bytes, dev, false);
	return doca_likely(!problem) ?
		       find_segment_problem(memcpy->dst, snapshot->dst_addr, snapshot->bytes, dev, true) :
		       problem;
}

static inline bool is_list(const struct doca_buf *buf)
{
	return shim_object_is(buf, SHIM_BUF) && !buf->is_inner;
}

static doca_error_t refuse_buffers(const char *func)
{
	sim_err("%s: source and destination of a memcpy must be live buffers, heads of their lists", func);
	return DOCA_ERROR_INVALID_VALUE;
}

static __attribute__((noinline)) doca_error_t take_lists(struct doca_dma_task_memcpy *memcpy)
{
	struct doca_dma *dma = (struct doca_dma *)memcpy->task.ctx;
	const struct shim_dma_snapshot_cfg cfg = { .caps = &shim_dev_function(dma->ctx.dev)->caps,
						   .overwrites_full = dma->overwrites_full,
						   .lists = &dma->lists };

	return shim_dma_snapshot_take_lists(&memcpy->snapshot, &cfg, memcpy->src, memcpy->dst);
}

inline doca_error_t shim_dma_memcpy_take(const char *func, struct doca_dma_task_memcpy *memcpy)
{
	uint64_t max_bytes = shim_dev_function(memcpy->task.ctx->dev)->caps.dma_max_buf_bytes;

	if (doca_unlikely(!is_list(memcpy->src) || !is_list(memcpy->dst)))
		return refuse_buffers(func);
	if (doca_likely(shim_dma_snapshot_take_pair(&memcpy->snapshot, max_bytes, memcpy->src, memcpy->dst)))
		return DOCA_SUCCESS;
	return take_lists(memcpy);
}

doca_error_t shim_dma_memcpy_check(struct doca_task *task)
{
	return shim_dma_memcpy_take("doca_task_submit", shim_to_dma_memcpy(task));
}

doca_error_t shim_dma_memcpy_validate(struct doca_task *task)
{
	doca_error_t result = shim_dma_memcpy_check(task);
	const char *problem = result == DOCA_SUCCESS ? shim_dma_memcpy_find_problem(shim_to_dma_memcpy(task)) : NULL;

	if (!problem)
		return result;
	sim_err("doca_task_try_submit: a memcpy task can't succeed: %s", problem);
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- the copy ---- */

/* A position in a list: @done bytes of the segment @at are copied. */
struct list_cursor {
	const struct shim_dma_segment *at, *end;
	size_t done;
};

/* Copy from one segment to another, at most *len bytes; set *len to the number copied. */
static inline int copy_segment(const struct list_cursor *to, const struct list_cursor *from, size_t *len)
{
	const struct shim_dma_segment *dst = to->at, *src = from->at;
	const struct doca_mmap *dst_mmap = dst->buf->mmap, *src_mmap = src->buf->mmap;

	*len = min_size(*len, min_size(dst->bytes - to->done, src->bytes - from->done));
	if (*len == 0)
		return 0;
	return sim_copy(dst_mmap->remote, shim_mmap_cpu_addr(dst_mmap, dst->addr + to->done), src_mmap->remote,
			shim_mmap_cpu_addr(src_mmap, src->addr + from->done), *len);
}

static inline void advance_cursor(struct list_cursor *cursor, size_t len)
{
	cursor->done += len;
	if (cursor->done < cursor->at->bytes)
		return;
	cursor->at++;
	cursor->done = 0;
}

int shim_dma_copy_segments(const struct shim_dma_segments *segments, uint64_t limit, uint64_t *ret_written)
{
	const struct shim_dma_segment *src = shim_dma_src(segments), *dst = shim_dma_dst(segments);
	struct list_cursor from = { .at = src, .end = src + shim_dma_num_src(segments) };
	struct list_cursor to = { .at = dst, .end = dst + shim_dma_num_dst(segments) };
	int rc = 0;

	*ret_written = 0;
	while (from.at < from.end && to.at < to.end && *ret_written < limit) {
		size_t len = limit - *ret_written;

		rc = copy_segment(&to, &from, &len);
		if (rc < 0)
			break;
		*ret_written += len;
		advance_cursor(&to, len);
		advance_cursor(&from, len);
	}
	return rc;
}

/* A local copy of at most this size is a short job (sim_job.is_short): it completes before another thread could see it run. */
#define SHORT_COPY_BYTES 1024

/* The common case: one buffer to one buffer. */
static inline int copy_pair(struct doca_dma_task_memcpy *memcpy)
{
	const struct shim_dma_snapshot *snapshot = &memcpy->snapshot;
	const struct doca_mmap *src = memcpy->src->mmap, *dst = memcpy->dst->mmap;
	int rc = sim_copy(dst->remote, shim_mmap_cpu_addr(dst, snapshot->dst_addr), src->remote,
			  shim_mmap_cpu_addr(src, snapshot->src_addr), snapshot->bytes);

	if (doca_unlikely(rc < 0))
		return rc;
	memcpy->task.job.is_short = snapshot->bytes <= SHORT_COPY_BYTES && !dst->remote && !src->remote;
	memcpy->task.bytes = snapshot->bytes;
	return 0;
}

static __attribute__((noinline)) int copy_lists(struct doca_dma_task_memcpy *memcpy)
{
	const struct shim_dma_segments segments = shim_dma_memcpy_segments(memcpy);

	return shim_dma_copy_segments(&segments, UINT64_MAX, &memcpy->task.bytes);
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
	return doca_likely(shim_dma_snapshot_is_pair(&memcpy->snapshot)) ? copy_pair(memcpy) : copy_lists(memcpy);
}

inline void shim_dma_memcpy_apply(struct doca_task *task)
{
	const struct doca_dma_task_memcpy *memcpy = shim_to_dma_memcpy(task);

	shim_dma_snapshot_extend_data(&memcpy->snapshot, memcpy->dst, task->bytes);
}

void shim_dma_memcpy_complete(struct doca_task *task)
{
	struct doca_dma *dma = (struct doca_dma *)task->ctx;
	doca_dma_task_memcpy_completion_cb_t cb = dma->memcpy_failed;

	if (doca_likely(task->status == DOCA_SUCCESS)) {
		shim_dma_memcpy_apply(task);
		cb = dma->memcpy_done;
	}
	cb(shim_to_dma_memcpy(task), task->user_data, dma->ctx.user_data);
}

/* ---- public functions ---- */

doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src, struct doca_buf *dst,
					     union doca_data user_data, struct doca_dma_task_memcpy **task)
{
	struct doca_task *base;
	doca_error_t result;

	SHIM_NEED_FAST(dma, SHIM_DMA);
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
