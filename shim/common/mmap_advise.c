/* SPDX-License-Identifier: BSD-3-Clause */
/* The context for hints about memory, and its one kind of task: cache invalidation. */
#include <doca_mmap_advise.h>

#include <errno.h>

#include "shim/common/mem/buf_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/ctx_life.h"
#include "shim/common/pe/ctx_priv.h"
#include "shim/common/pe/task_priv.h"
#include "shim/common/pe/task_submit.h"

enum { MAX_TASKS = 65536 }; /* chosen as for DMA tasks: the interface has no query for the maximum */

struct doca_mmap_advise {
	struct doca_ctx ctx; /* first: a doca_mmap_advise is a doca_ctx */
	struct shim_task_conf conf;
};

struct doca_mmap_advise_task_invalidate_cache {
	struct doca_task task; /* first: an invalidate task is a doca_task */
	struct doca_buf *buf;
};

static struct doca_mmap_advise_task_invalidate_cache *to_invalidate(const struct doca_task *task)
{
	return (struct doca_mmap_advise_task_invalidate_cache *)(uintptr_t)task;
}

/* ---- the task ---- */

static bool is_single_buf(const struct doca_buf *buf)
{
	return shim_object_is(buf, SHIM_BUF) && !buf->is_inner && !buf->next;
}

/* Return why the task can't succeed, or NULL. */
static const char *find_task_problem(const struct doca_mmap_advise_task_invalidate_cache *invalidate)
{
	const struct doca_dev *dev = invalidate->task.ctx->dev;
	const struct doca_buf *buf = invalidate->buf;

	if (buf->data_len == 0)
		return "the buffer has no data (doca_buf_set_data)";
	if (buf->data_len > shim_dev_function(dev)->caps.cache_invalidate_max_buf_bytes)
		return "the buffer is larger than doca_mmap_advise_task_cache_invalidate_get_max_buf_size()";
	if (!shim_buf_has_usable_mmap(buf))
		return "the buffer's memory map was stopped or destroyed";
	if (!shim_buf_has_data_in_map(buf))
		return "the buffer's data is outside of its memory map's range (doca_buf_set_data)";
	if (!shim_mmap_has_dev(buf->mmap, dev))
		return "the device is not in the buffer's memory map (doca_mmap_add_dev)";
	return NULL;
}

static doca_error_t invalidate_check(struct doca_task *task)
{
	if (is_single_buf(to_invalidate(task)->buf))
		return DOCA_SUCCESS;
	sim_err("cache-invalidate task: it must have a live buffer that is not in a list");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t invalidate_validate(struct doca_task *task)
{
	doca_error_t result = invalidate_check(task);
	const char *problem = result == DOCA_SUCCESS ? find_task_problem(to_invalidate(task)) : NULL;

	if (!problem)
		return result;
	sim_err("cache-invalidate task: %s", problem);
	return DOCA_ERROR_INVALID_VALUE;
}

/* The memory is coherent, so no line has to be dropped. The fence keeps the order of accesses. */
static int invalidate_run(struct sim_job *job)
{
	struct doca_mmap_advise_task_invalidate_cache *invalidate = to_invalidate(shim_task_from_job(job));
	const char *problem =
		is_single_buf(invalidate->buf) ?
			find_task_problem(invalidate) :
			"the buffer was returned to its inventory, or chained, while the task was in flight";

	if (problem) {
		sim_err("a cache-invalidate task fails as it does on a card: %s", problem);
		return -EIO;
	}
	atomic_thread_fence(memory_order_seq_cst);
	return 0;
}

static void invalidate_complete(struct doca_task *task)
{
	SHIM_TASK_CALL(task, &((struct doca_mmap_advise *)task->ctx)->conf,
		       struct doca_mmap_advise_task_invalidate_cache,
		       doca_mmap_advise_task_invalidate_cache_completion_cb_t);
}

static const struct shim_task_type invalidate_type = {
	.name = SIM_TASK_CACHE_INVALIDATE,
	.size = sizeof(struct doca_mmap_advise_task_invalidate_cache),
	.check = invalidate_check,
	.validate = invalidate_validate,
	.post = shim_task_post_job,
	.run = invalidate_run,
	.complete = invalidate_complete,
};

/* ---- the context ---- */

static doca_error_t advise_start(struct doca_ctx *ctx)
{
	struct doca_mmap_advise *advise = (struct doca_mmap_advise *)ctx;
	doca_error_t result;

	if (!shim_dev_function(ctx->dev)->caps.cache_invalidate) {
		sim_err("doca_ctx_start: device %s can't invalidate caches; those of a BlueField's own side can",
			shim_dev_function(ctx->dev)->ibdev);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (advise->conf.num_tasks == 0) {
		sim_err("doca_ctx_start: no task type is configured; call doca_mmap_advise_task_invalidate_cache_set_conf() first");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = shim_ctx_open_queue(ctx, advise->conf.num_tasks);
	if (result == DOCA_SUCCESS)
		result = shim_task_pool_add(ctx, &invalidate_type, advise->conf.num_tasks, &advise->conf.pool);
	return result;
}

static void advise_stopped(struct doca_ctx *ctx)
{
	((struct doca_mmap_advise *)ctx)->conf.pool = NULL;
}

static const struct shim_ctx_ops advise_ops = {
	.name = "mmap_advise",
	.start = advise_start,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = shim_ctx_nop,
	.progress = shim_ctx_progress_none,
	.arm = shim_ctx_arm_none,
	.is_drained = shim_ctx_is_drained_always,
	.stopped = advise_stopped,
};

/* ---- public functions ---- */

doca_error_t doca_mmap_advise_create(struct doca_dev *dev, struct doca_mmap_advise **mmap_advise)
{
	struct doca_mmap_advise *created;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(mmap_advise);
	created = shim_object_new(SHIM_MMAP_ADVISE, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	shim_ctx_init(&created->ctx, &advise_ops, dev);
	*mmap_advise = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *mmap_advise)
{
	doca_error_t result;

	SHIM_NEED(mmap_advise, SHIM_MMAP_ADVISE);
	result = shim_ctx_fini(&mmap_advise->ctx);
	if (result == DOCA_SUCCESS)
		shim_object_free(mmap_advise, SHIM_MMAP_ADVISE);
	return result;
}

struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *mmap_advise)
{
	return shim_handle_is(mmap_advise, SHIM_MMAP_ADVISE) ? &mmap_advise->ctx : NULL;
}

SHIM_DEFINE_IS_SUPPORTED(doca_mmap_advise_cap_task_cache_invalidate_is_supported,
			 devinfo->function->caps.cache_invalidate)
SHIM_DEFINE_DEVINFO_GETTER(doca_mmap_advise_task_cache_invalidate_get_max_buf_size, uint64_t, buf_size,
			   devinfo->function->caps.cache_invalidate_max_buf_bytes)

doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(
	struct doca_mmap_advise *mmap_advise, doca_mmap_advise_task_invalidate_cache_completion_cb_t completion_cb,
	doca_mmap_advise_task_invalidate_cache_completion_cb_t error_cb, uint32_t num_tasks)
{
	doca_error_t result;

	SHIM_NEED(mmap_advise, SHIM_MMAP_ADVISE);
	result = shim_task_set_conf(__func__, &mmap_advise->ctx, &mmap_advise->conf, (void (*)(void))completion_cb,
				    (void (*)(void))error_cb, num_tasks, MAX_TASKS, "bfsim's limit");
	return result == DOCA_ERROR_BAD_STATE ? DOCA_ERROR_NOT_PERMITTED : result;
}

doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(struct doca_mmap_advise *mmap_advise,
							       struct doca_buf *buf, union doca_data user_data,
							       struct doca_mmap_advise_task_invalidate_cache **task)
{
	struct doca_task *base;
	doca_error_t result;

	SHIM_NEED_FAST(mmap_advise, SHIM_MMAP_ADVISE);
	SHIM_NEED_OUT(task);
	result = shim_task_alloc_of(__func__, &mmap_advise->ctx, &mmap_advise->conf, user_data, &base);
	if (result != DOCA_SUCCESS)
		return result;
	*task = to_invalidate(base);
	(*task)->buf = buf;
	return DOCA_SUCCESS;
}

static bool is_invalidate(const struct doca_mmap_advise_task_invalidate_cache *task)
{
	return shim_object_is(task, SHIM_TASK) && shim_object_is(task->task.ctx, SHIM_MMAP_ADVISE);
}

struct doca_task *doca_mmap_advise_task_invalidate_cache_as_doca_task(
	struct doca_mmap_advise_task_invalidate_cache *task)
{
	return is_invalidate(task) ? &task->task : NULL;
}

void doca_mmap_advise_task_invalidate_cache_set_buf(struct doca_mmap_advise_task_invalidate_cache *task,
						    struct doca_buf *buf)
{
	if (is_invalidate(task) && !task->task.in_flight)
		task->buf = buf;
	else
		sim_err("%s: the task is NULL, freed, or in flight; nothing was changed", __func__);
}

struct doca_buf *doca_mmap_advise_task_invalidate_cache_get_buf(
	const struct doca_mmap_advise_task_invalidate_cache *task)
{
	return is_invalidate(task) ? task->buf : NULL;
}
