/* SPDX-License-Identifier: BSD-3-Clause */
/* The memcpy task: the source list's data, appended behind the data that the
 * destination list's buffers hold. */
#include <errno.h>

#include "dma_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/mem/buf_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"
#include "shim/common/process/fault.h"
#include "sim/fabric/remote.h"

static inline struct doca_dma_task_memcpy *to_memcpy(const struct doca_task *task)
{
	return (struct doca_dma_task_memcpy *)(uintptr_t)task;
}

/* ---- what a task asks for ---- */

static inline size_t buf_tailroom(const struct doca_buf *buf)
{
	return (size_t)(buf->head + buf->len - (buf->data + buf->data_len));
}

struct list_size {
	uint64_t bytes;
	uint32_t segments;
};

static inline struct list_size sum_data(const struct doca_buf *buf)
{
	struct list_size total = { 0 };

	for (; buf; buf = buf->next, total.segments++)
		total.bytes += buf->data_len;
	return total;
}

static inline struct list_size sum_tailroom(const struct doca_buf *buf)
{
	struct list_size total = { 0 };

	for (; buf; buf = buf->next, total.segments++)
		total.bytes += buf_tailroom(buf);
	return total;
}

/* Whether the device may use the map's memory, and write to it if it must. */
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

static inline const char *find_list_problem(const struct doca_buf *buf, const struct doca_dev *dev, bool write)
{
	const struct doca_mmap *seen = NULL;
	const char *problem = NULL;

	for (; buf && !problem; buf = buf->next) {
		/* Maps with thread safety do not wait for their buffers. */
		if (doca_unlikely(!shim_buf_has_usable_mmap(buf)))
			return "a buffer's memory map was stopped or destroyed";
		if (buf->mmap != seen)
			problem = find_mmap_problem(buf->mmap, dev, write);
		seen = buf->mmap;
	}
	return problem;
}

/* For shim/workq, where destinations may be written anew: whether that makes room for so many bytes. */
static bool reset_full_dst(const struct doca_dma_task_memcpy *memcpy, uint64_t missing_bytes)
{
	if (!((const struct doca_dma *)memcpy->task.ctx)->overwrites_full ||
	    sum_data(memcpy->dst).bytes < missing_bytes)
		return false;
	for (struct doca_buf *dst = memcpy->dst; dst; dst = dst->next)
		dst->data_len = 0;
	return true;
}

/* Why the task can't succeed, or NULL. */
static inline const char *find_task_problem(const struct doca_dma_task_memcpy *memcpy)
{
	const struct doca_dev *dev = memcpy->task.ctx->dev;
	const struct pcie_caps *caps = &shim_dev_function(dev)->caps;
	struct list_size data = sum_data(memcpy->src), room = sum_tailroom(memcpy->dst);
	const char *problem;

	if (doca_unlikely(data.bytes == 0))
		return "the source has no data (doca_buf_set_data)";
	if (doca_unlikely(data.bytes > caps->dma_max_buf_bytes))
		return "it is larger than doca_dma_cap_task_memcpy_get_max_buf_size()";
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

static doca_error_t memcpy_check(const struct doca_task *task)
{
	if (doca_likely(has_lists(to_memcpy(task))))
		return DOCA_SUCCESS;
	sim_err("memcpy task: its source and destination must be live buffers, heads of their lists");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t memcpy_validate(const struct doca_task *task)
{
	doca_error_t result = memcpy_check(task);
	const char *problem = result == DOCA_SUCCESS ? find_task_problem(to_memcpy(task)) : NULL;

	if (!problem)
		return result;
	sim_err("memcpy task: %s", problem);
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- the copy ---- */

/* A place in a list: behind @done bytes of a source's data, or of a destination's room. */
struct list_cursor {
	const struct doca_buf *buf;
	size_t done;
};

/* Copy as much as goes from one source buffer to one destination buffer, at most *len; then that is how much it was. */
static inline int copy_segment(const struct list_cursor *to, const struct list_cursor *from, size_t *len)
{
	const struct doca_buf *dst = to->buf, *src = from->buf;

	*len = min_size(*len, min_size(buf_tailroom(dst) - to->done, src->data_len - from->done));
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

/* The destination's data grows by what was written. */
static inline void append_data_len(struct doca_buf *dst, uint64_t written)
{
	for (; written > 0; dst = dst->next) {
		size_t len = min_size(buf_tailroom(dst), written);

		dst->data_len += len;
		written -= len;
	}
}

/* Copy at most @limit bytes. The room is large enough, and no data length changes: one list may be both. */
static int copy_list(const struct doca_buf *dst, const struct doca_buf *src, uint64_t limit, uint64_t *ret_written)
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
		advance_cursor(&to, len, buf_tailroom(to.buf));
		advance_cursor(&from, len, from.buf->data_len);
	}
	return rc;
}

static int copy_lists(struct doca_dma_task_memcpy *memcpy)
{
	int rc = copy_list(memcpy->dst, memcpy->src, UINT64_MAX, &memcpy->task.bytes);

	append_data_len(memcpy->dst, memcpy->task.bytes);
	return rc;
}

/* A copy of up to so many bytes within this process is over before anyone could look at it. */
#define SHORT_COPY_BYTES 1024

/* The usual case: one buffer to another. */
static inline int copy_buf(struct doca_dma_task_memcpy *memcpy)
{
	const struct doca_buf *src = memcpy->src;
	struct doca_buf *dst = memcpy->dst;
	int rc = sim_copy(dst->mmap->remote, shim_buf_cpu_addr(dst, dst->data + dst->data_len), src->mmap->remote,
			  shim_buf_cpu_addr(src, src->data), src->data_len);

	if (doca_unlikely(rc < 0))
		return rc;
	memcpy->task.job.brief = src->data_len <= SHORT_COPY_BYTES && !dst->mmap->remote && !src->mmap->remote;
	memcpy->task.bytes = src->data_len;
	dst->data_len += src->data_len;
	return 0;
}

static inline int check_before_run(const struct doca_dma_task_memcpy *memcpy)
{
	const char *problem =
		doca_likely(has_lists(memcpy)) ?
			find_task_problem(memcpy) :
			"a buffer was returned to its inventory, or chained, while the task was in flight";

	if (doca_likely(!problem))
		return 0;
	sim_err("a DMA memcpy task fails as it does on a card: %s", problem);
	return -EIO;
}

static int memcpy_run(struct sim_job *job)
{
	struct doca_dma_task_memcpy *memcpy = to_memcpy(shim_task_from_job(job));
	int rc = check_before_run(memcpy);

	if (doca_unlikely(rc < 0))
		return rc;
	return doca_likely(!memcpy->src->next && !memcpy->dst->next) ? copy_buf(memcpy) : copy_lists(memcpy);
}

/* ---- faults ---- */

static void memcpy_fault_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	const struct doca_dma_task_memcpy *memcpy = to_memcpy(task);

	ret_site->size = sum_data(memcpy->src).bytes;
	ret_site->addr = (uintptr_t)memcpy->dst->data + memcpy->dst->data_len;
}

static bool memcpy_has_no_fault(const struct doca_task *task)
{
	const struct doca_dma_task_memcpy *memcpy = to_memcpy(task);
	struct sim_no_fault_copy *no_fault_cache = &((struct doca_dma *)task->ctx)->no_fault_cache;

	return doca_likely(sim_no_fault_copy_has(no_fault_cache, task->ctx->faults, sum_data(memcpy->src).bytes,
						 (uintptr_t)memcpy->dst->data + memcpy->dst->data_len)) ||
	       shim_task_no_fault_cached(task, no_fault_cache);
}

/* Flip @bit of what was written behind the data of the list @dst. */
static int flip_bit(const struct doca_buf *dst, uint64_t bit)
{
	uint64_t at = bit / 8, addr;
	uint8_t byte;
	int rc;

	for (; at >= buf_tailroom(dst); dst = dst->next)
		at -= buf_tailroom(dst);
	addr = shim_buf_cpu_addr(dst, dst->data + dst->data_len + at);
	rc = sim_copy(NULL, (uintptr_t)&byte, dst->mmap->remote, addr, 1);
	byte ^= (uint8_t)(1u << bit % 8);
	return rc < 0 ? rc : sim_copy(dst->mmap->remote, addr, NULL, (uintptr_t)&byte, 1);
}

static __attribute__((noinline)) int memcpy_run_faulted(struct sim_job *job, const struct sim_fault_hit *hit)
{
	struct doca_dma_task_memcpy *memcpy = to_memcpy(shim_task_from_job(job));
	uint64_t bytes, limit, written;
	int rc = check_before_run(memcpy);

	if (rc < 0)
		return rc;
	limit = bytes = sum_data(memcpy->src).bytes;
	if (hit->actions & SIM_ACT_BIT(SIM_ACT_FAIL))
		limit = hit->moved_bytes;
	else if (hit->actions & SIM_ACT_BIT(SIM_ACT_TEAR))
		limit = bytes / 2;
	rc = copy_list(memcpy->dst, memcpy->src, limit, &written);
	if (hit->actions & SIM_ACT_BIT(SIM_ACT_FLIP))
		for (uint32_t i = 0; i < hit->flip_bits && i < written * 8 && rc == 0; i++)
			rc = flip_bit(memcpy->dst, sim_fault_hit_bit(hit, i, written * 8));
	if (hit->actions & SIM_ACT_BIT(SIM_ACT_TEAR) && rc == 0)
		written = bytes;
	memcpy->task.bytes = written;
	append_data_len(memcpy->dst, written);
	return rc == 0 && hit->actions & SIM_ACT_BIT(SIM_ACT_FAIL) ? -EIO : rc;
}

static const struct shim_task_fault_ops memcpy_fault_ops = {
	.op = SIM_OP_DMA_MEMCPY,
	.site = memcpy_fault_site,
	.no_fault_cached = memcpy_has_no_fault,
	.run = memcpy_run_faulted,
};

/* ---- what it asks of the card ---- */

/* Where a map's memory is: its exporter's side, or this process's. */
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

/* Lists lie where their first buffers do: a card's time for mixed ones was never published. */
static bool memcpy_get_pcie_job(const struct doca_task *task, struct pcie_job *ret_job)
{
	const struct doca_dma_task_memcpy *memcpy = to_memcpy(task);
	const struct pcie_function *function = shim_dev_function(task->ctx->dev);
	struct list_size data;
	bool from_dpu, to_dpu;

	if (!has_lists(memcpy) || find_task_problem(memcpy))
		return false; /* it will fail when it runs */
	data = sum_data(memcpy->src);
	from_dpu = memory_is_on_dpu(memcpy->src->mmap, function);
	to_dpu = memory_is_on_dpu(memcpy->dst->mmap, function);
	ret_job->direction = copy_direction(from_dpu, to_dpu);
	ret_job->issuer = PCIE_ISSUER_CPU;
	ret_job->bytes = data.bytes;
	ret_job->offset = (uintptr_t)(from_dpu ? memcpy->dst->data + memcpy->dst->data_len : memcpy->src->data);
	ret_job->segments = data.segments + sum_tailroom(memcpy->dst).segments - 1;
	return true;
}

static void memcpy_complete(struct doca_task *task)
{
	struct doca_dma *dma = (struct doca_dma *)task->ctx;
	doca_dma_task_memcpy_completion_cb_t cb =
		doca_likely(task->status == DOCA_SUCCESS) ? dma->memcpy_done : dma->memcpy_failed;

	cb(to_memcpy(task), task->user_data, dma->ctx.user_data);
}

const struct shim_task_type shim_dma_memcpy_type = {
	.name = SIM_TASK_DMA_MEMCPY,
	.size = sizeof(struct doca_dma_task_memcpy),
	.check = memcpy_check,
	.validate = memcpy_validate,
	.post = shim_task_post_job,
	.run = memcpy_run,
	.get_pcie_job = memcpy_get_pcie_job,
	.complete = memcpy_complete,
	.fault_ops = &memcpy_fault_ops,
};

/* ---- the public face ---- */

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
	*task = to_memcpy(base);
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
