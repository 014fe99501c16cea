/* SPDX-License-Identifier: BSD-3-Clause */
/* The memcpy task: appends the data of the source list to the data of the destination list. A submission
 * takes the lists as they are then (shim/common/accel/segments.h). */
#include <errno.h>

#include "dma_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/base/check.h"
#include "sim/fabric/remote.h"

static doca_error_t refuse_buffers(const char *func)
{
	sim_err("%s: source and destination of a memcpy must be live buffers, heads of their lists", func);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Return why lists of these sizes can't be copied, or NULL. */
static const char *find_size_problem(const struct pcie_caps *caps, const struct shim_list_size *src,
				     const struct shim_list_size *dst, bool replaces_data)
{
	if (src->data_bytes == 0)
		return "the source has no data (doca_buf_set_data)";
	if (src->data_bytes > caps->dma_max_buf_bytes)
		return "the source is larger than doca_dma_cap_task_memcpy_get_max_buf_size()";
	if (src->segments > caps->dma_max_list_len || dst->segments > caps->dma_max_list_len)
		return "a list is longer than doca_dma_cap_task_memcpy_get_max_buf_list_len()";
	if (dst->room_bytes < src->data_bytes && !replaces_data)
		return "the destination has too little room behind its data";
	return NULL;
}

/* Take lists, also with a problem. */
static doca_error_t take_lists(struct shim_buf_task *memcpy)
{
	struct doca_dma *dma = shim_to_dma(memcpy->task.ctx);
	struct shim_snapshot *snapshot = &memcpy->snapshot;
	struct shim_list_size src = shim_list_measure(memcpy->src), dst = shim_list_measure(memcpy->dst);
	bool replaces_data = shim_compat->replaces_full_data && dst.room_bytes < src.data_bytes &&
			     dst.data_bytes + dst.room_bytes >= src.data_bytes;

	snapshot->bytes = src.data_bytes;
	snapshot->src_addr = NULL;
	snapshot->problem = find_size_problem(&shim_dev_function(dma->accel.ctx.dev)->caps, &src, &dst, replaces_data);
	if (snapshot->problem)
		return DOCA_SUCCESS;
	return shim_snapshot_take_lists(snapshot, &dma->accel.lists, memcpy->src, src.segments, memcpy->dst,
					dst.segments, replaces_data);
}

__attribute__((noinline)) doca_error_t shim_dma_memcpy_take_any(struct shim_buf_task *memcpy, const char *func)
{
	if (!shim_buf_is_list(memcpy->src) || !shim_buf_is_list(memcpy->dst))
		return refuse_buffers(func);
	return take_lists(memcpy);
}

doca_error_t shim_dma_memcpy_check(struct doca_task *task)
{
	return shim_dma_memcpy_take("doca_task_submit", shim_to_buf_task(task));
}

doca_error_t shim_dma_memcpy_validate(struct doca_task *task)
{
	doca_error_t result = shim_dma_memcpy_check(task);
	const char *problem = result == DOCA_SUCCESS ? shim_buf_task_find_problem(shim_to_buf_task(task)) : NULL;

	if (!problem)
		return result;
	sim_err("doca_task_try_submit: a memcpy task can't succeed: %s", problem);
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- the copy ---- */

/* A position in a list: @done bytes of the segment @at are copied. */
struct list_cursor {
	const struct shim_segment *at, *end;
	size_t done;
};

/* Copy from one segment to another, at most *len bytes; set *len to the number copied. */
static inline int copy_segment(const struct list_cursor *to, const struct list_cursor *from, size_t *len)
{
	const struct shim_segment *dst = to->at, *src = from->at;
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

/* A run of pieces from the cursors on, all between this process and one remote. */
struct run {
	struct sim_remote *remote;
	bool is_read;
	size_t count;
	struct sim_piece pieces[SIM_MAX_PIECES];
};

static bool begins_run(const struct list_cursor *to, const struct list_cursor *from, struct run *run)
{
	struct sim_remote *dst = to->at->buf->mmap->remote, *src = from->at->buf->mmap->remote;

	run->is_read = src != NULL;
	run->remote = src ? src : dst;
	return (src != NULL) != (dst != NULL) && run->remote->moves_pieces;
}

static bool continues_run(const struct list_cursor *to, const struct list_cursor *from, const struct run *run)
{
	const struct sim_remote *dst = to->at->buf->mmap->remote, *src = from->at->buf->mmap->remote;

	return run->is_read ? !dst && src == run->remote : !src && dst == run->remote;
}

/* Leaves the cursors where they are. */
static void find_run(struct list_cursor to, struct list_cursor from, uint64_t limit, struct run *run)
{
	run->count = 0;
	if (!begins_run(&to, &from, run))
		return;
	while (from.at < from.end && to.at < to.end && limit > 0 && run->count < SIM_MAX_PIECES &&
	       continues_run(&to, &from, run)) {
		size_t len = min_size(limit, min_size(to.at->bytes - to.done, from.at->bytes - from.done));
		uint64_t dst = shim_mmap_cpu_addr(to.at->buf->mmap, to.at->addr + to.done);
		uint64_t src = shim_mmap_cpu_addr(from.at->buf->mmap, from.at->addr + from.done);

		run->pieces[run->count++] =
			(struct sim_piece){ .addr = run->is_read ? src : dst,
					    .local = (uint8_t *)(uintptr_t)(run->is_read ? dst : src),
					    .len = len };
		limit -= len;
		advance_cursor(&to, len);
		advance_cursor(&from, len);
	}
}

/* Move the pieces from here on by one system call for many, where the path has one. Returns whether any have moved; the next
 * piece by itself shows why not. */
static __attribute__((noinline)) bool copy_run(struct list_cursor *to, struct list_cursor *from, uint64_t limit,
					       uint64_t *written)
{
	struct run run;
	size_t moved = 0;

	find_run(*to, *from, limit, &run);
	if (run.count > 1)
		moved = sim_copy_pieces(run.remote, run.is_read, run.pieces, run.count);
	for (size_t i = 0; i < moved; i++) {
		*written += run.pieces[i].len;
		advance_cursor(to, run.pieces[i].len);
		advance_cursor(from, run.pieces[i].len);
	}
	return moved > 0;
}

static inline bool is_remote(const struct list_cursor *to, const struct list_cursor *from)
{
	return to->at->buf->mmap->remote != from->at->buf->mmap->remote;
}

int shim_dma_copy_segments(const struct shim_segments *segments, uint64_t limit, uint64_t *ret_written)
{
	const struct shim_segment *src = shim_segments_src(segments), *dst = shim_segments_dst(segments);
	struct list_cursor from = { .at = src, .end = src + shim_segments_num_src(segments) };
	struct list_cursor to = { .at = dst, .end = dst + shim_segments_num_dst(segments) };
	int rc = 0;

	*ret_written = 0;
	while (from.at < from.end && to.at < to.end && *ret_written < limit) {
		size_t len = limit - *ret_written;

		if (doca_unlikely(is_remote(&to, &from)) && copy_run(&to, &from, len, ret_written))
			continue;
		rc = copy_segment(&to, &from, &len);
		if (rc < 0)
			break;
		*ret_written += len;
		advance_cursor(&to, len);
		advance_cursor(&from, len);
	}
	return rc;
}

/* A copy of at most this size between memories that this process maps is a short job (sim_job.is_short): it completes before
 * another thread could see it run. */
#define SHORT_COPY_BYTES 1024

int shim_dma_memcpy_check_before_run(const struct shim_buf_task *memcpy)
{
	const char *problem = shim_buf_task_find_problem(memcpy);

	if (doca_likely(!problem))
		return 0;
	sim_err("a DMA memcpy task fails as it does on a card: %s", problem);
	return -EIO;
}

static inline bool is_mapped(const struct sim_remote *remote)
{
	return !remote || remote->base;
}

static __attribute__((noinline)) int copy_pair(struct shim_buf_task *memcpy)
{
	const struct shim_snapshot *snapshot = &memcpy->snapshot;
	const struct doca_mmap *src = memcpy->src->mmap, *dst = memcpy->dst->mmap;
	int rc = sim_copy(dst->remote, shim_mmap_cpu_addr(dst, snapshot->dst_addr), src->remote,
			  shim_mmap_cpu_addr(src, snapshot->src_addr), snapshot->bytes);

	if (doca_unlikely(rc < 0))
		return rc;
	memcpy->task.job.is_short =
		snapshot->bytes <= SHORT_COPY_BYTES && is_mapped(dst->remote) && is_mapped(src->remote);
	memcpy->task.bytes = snapshot->bytes;
	return 0;
}

static int copy_lists(struct shim_buf_task *memcpy)
{
	const struct shim_segments segments = shim_buf_task_segments(memcpy);

	return shim_dma_copy_segments(&segments, UINT64_MAX, &memcpy->task.bytes);
}

static __attribute__((noinline)) int run_any(struct shim_buf_task *memcpy)
{
	int rc = shim_dma_memcpy_check_before_run(memcpy);

	if (doca_unlikely(rc < 0))
		return rc;
	return doca_likely(shim_snapshot_is_pair(&memcpy->snapshot)) ? copy_pair(memcpy) : copy_lists(memcpy);
}

/* Return whether the bytes are in a map whose first device is @dev, and have no problem. */
static inline bool is_plain(const struct doca_buf *buf, const uint8_t *addr, size_t bytes, const struct doca_dev *dev,
			    bool write)
{
	const struct doca_mmap *mmap = buf->mmap;

	return shim_object_is_still(buf, SHIM_BUF) && shim_buf_has_usable_mmap(buf) &&
	       shim_mmap_has_range(mmap, addr, bytes) && mmap->first_dev == dev &&
	       (!write || mmap->access & SHIM_WRITE_ACCESS);
}

/* The common cases first: one buffer to one buffer, without a call if both are of this process. */
int shim_dma_memcpy_run(struct sim_job *job)
{
	struct shim_buf_task *memcpy = shim_to_buf_task(shim_task_from_job(job));
	const struct shim_snapshot *snapshot = &memcpy->snapshot;
	const struct doca_dev *dev = memcpy->task.ctx->dev;
	const struct doca_buf *src = memcpy->src, *dst = memcpy->dst;

	if (doca_unlikely(!shim_snapshot_is_pair(snapshot) ||
			  !is_plain(src, snapshot->src_addr, snapshot->bytes, dev, false) ||
			  !is_plain(dst, snapshot->dst_addr, snapshot->bytes, dev, true)))
		return run_any(memcpy);
	if (src->mmap->remote || dst->mmap->remote)
		return copy_pair(memcpy);
	sim_move((void *)(uintptr_t)shim_mmap_cpu_addr(dst->mmap, snapshot->dst_addr),
		 (const void *)(uintptr_t)shim_mmap_cpu_addr(src->mmap, snapshot->src_addr), snapshot->bytes);
	memcpy->task.job.is_short = snapshot->bytes <= SHORT_COPY_BYTES;
	memcpy->task.bytes = snapshot->bytes;
	return 0;
}

void shim_dma_memcpy_complete(struct doca_task *task)
{
	if (doca_likely(task->status == DOCA_SUCCESS))
		shim_dma_memcpy_apply(task);
	SHIM_TASK_CALL(task, &shim_to_dma(task->ctx)->accel.conf[DMA_MEMCPY].tasks, struct doca_dma_task_memcpy,
		       doca_dma_task_memcpy_completion_cb_t);
}

/* The transfer of the copy; none of a copy that will fail. */
bool shim_dma_memcpy_get_pcie_job(const struct doca_task *task, struct pcie_job *ret_job)
{
	const struct shim_buf_task *memcpy = shim_to_buf_task(task);

	if (shim_buf_task_find_problem(memcpy))
		return false;
	shim_buf_task_get_pcie_job(memcpy, ret_job);
	ret_job->bytes = memcpy->snapshot.bytes;
	return true;
}

/* ---- public functions ---- */

doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src, struct doca_buf *dst,
					     union doca_data user_data, struct doca_dma_task_memcpy **task)
{
	struct shim_buf_task *memcpy;
	doca_error_t result;

	SHIM_NEED_FAST(dma, SHIM_DMA);
	SHIM_NEED_OUT(task);
	result = shim_accel_alloc(__func__, &dma->accel, DMA_MEMCPY, src, dst, user_data, &memcpy);
	if (doca_likely(result == DOCA_SUCCESS))
		*task = (struct doca_dma_task_memcpy *)memcpy;
	return result;
}

static bool is_memcpy(const struct doca_dma_task_memcpy *task)
{
	return shim_accel_task_is_of(task, SHIM_DMA, DMA_MEMCPY);
}

struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task)
{
	return is_memcpy(task) ? &task->base.task : NULL;
}

void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src)
{
	if (is_memcpy(task) && !task->base.task.in_flight)
		task->base.src = src;
	else
		sim_err("%s: the task is NULL, freed, of another type, or in flight; nothing was changed", __func__);
}

const struct doca_buf *doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task)
{
	return is_memcpy(task) ? task->base.src : NULL;
}

void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst)
{
	if (is_memcpy(task) && !task->base.task.in_flight)
		task->base.dst = dst;
	else
		sim_err("%s: the task is NULL, freed, of another type, or in flight; nothing was changed", __func__);
}

struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task)
{
	return is_memcpy(task) ? task->base.dst : NULL;
}
