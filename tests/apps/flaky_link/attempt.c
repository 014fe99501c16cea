/* SPDX-License-Identifier: BSD-3-Clause */
/* One attempt at a copy: a context with one task. */
#include "attempt.h"

#include <stdbool.h>
#include <time.h>

#include <doca_ctx.h>
#include <doca_dma.h>

/* Results of the callbacks. */
struct outcome {
	bool is_known;
	doca_error_t status;
};

struct attempt {
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_buf *src, *dst;
	struct doca_task *task;
	struct outcome outcome;
};

/* Memory ---------------------------------------------------------------------------- */

static doca_error_t map(struct doca_dev *dev, void *addr, size_t len, uint32_t access, struct doca_mmap **ret_mmap)
{
	doca_error_t result = doca_mmap_create(ret_mmap);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(*ret_mmap, addr, len);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(*ret_mmap, access);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(*ret_mmap, dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(*ret_mmap);
	return result;
}

doca_error_t copy_map(struct doca_dev *dev, struct doca_pe *pe, void *dst, const void *src, size_t len,
		      struct copy *ret_copy)
{
	struct copy *copy = ret_copy;
	doca_error_t result;

	*copy = (struct copy){ .dev = dev, .pe = pe, .dst = dst, .src = src, .len = len };
	result = map(dev, (void *)(uintptr_t)src, len, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &copy->src_map);
	if (result == DOCA_SUCCESS)
		result = map(dev, dst, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &copy->dst_map);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_create(2, &copy->inventory);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(copy->inventory);
	return result;
}

void copy_unmap(struct copy *copy)
{
	if (copy->inventory)
		doca_buf_inventory_destroy(copy->inventory);
	if (copy->dst_map)
		doca_mmap_destroy(copy->dst_map);
	if (copy->src_map)
		doca_mmap_destroy(copy->src_map);
}

/* The task ------------------------------------------------------------------------- */

/* The one callback for both ways that a task ends. */
static void task_ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct outcome *outcome = task_user_data.ptr;

	(void)ctx_user_data;
	outcome->status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	outcome->is_known = true;
}

static doca_error_t open_context(struct attempt *attempt, const struct copy *copy)
{
	doca_error_t result = doca_dma_create(copy->dev, &attempt->dma);

	if (result != DOCA_SUCCESS)
		return result;
	attempt->ctx = doca_dma_as_ctx(attempt->dma);
	result = doca_dma_task_memcpy_set_conf(attempt->dma, task_ended, task_ended, 1);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(copy->pe, attempt->ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(attempt->ctx);
	return result;
}

/* New buffers each time: a destination keeps the data of an attempt. */
static doca_error_t submit(struct attempt *attempt, const struct copy *copy)
{
	union doca_data user_data = { .ptr = &attempt->outcome };
	struct doca_dma_task_memcpy *task;
	doca_error_t result;

	result = doca_buf_inventory_buf_get_by_data(copy->inventory, copy->src_map, (void *)(uintptr_t)copy->src,
						    copy->len, &attempt->src);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_buf_get_by_addr(copy->inventory, copy->dst_map, copy->dst, copy->len,
							    &attempt->dst);
	if (result == DOCA_SUCCESS)
		result = doca_dma_task_memcpy_alloc_init(attempt->dma, attempt->src, attempt->dst, user_data, &task);
	if (result != DOCA_SUCCESS)
		return result;
	attempt->task = doca_dma_task_memcpy_as_task(task);
	return doca_task_submit(attempt->task);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static doca_error_t wait_for_task(struct attempt *attempt, const struct copy *copy, uint32_t deadline_ms)
{
	uint64_t late_at_ms = now_ms() + deadline_ms;

	while (!attempt->outcome.is_known) {
		if (doca_pe_progress(copy->pe) == 0 && now_ms() >= late_at_ms)
			return DOCA_ERROR_TIME_OUT;
	}
	return attempt->outcome.status;
}

/* The context stops by itself after a failed task; else the program stops it, which ends the task in flight. The
 * context is idle once the task is freed. */
static void stop(struct attempt *attempt, const struct copy *copy)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	if (doca_ctx_get_state(attempt->ctx, &state) != DOCA_SUCCESS || state == DOCA_CTX_STATE_IDLE)
		return;
	if (state == DOCA_CTX_STATE_RUNNING)
		doca_ctx_stop(attempt->ctx);
	while (doca_ctx_get_state(attempt->ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(copy->pe);
		if (attempt->task && attempt->outcome.is_known) {
			doca_task_free(attempt->task);
			attempt->task = NULL;
		}
	}
}

static void close_attempt(struct attempt *attempt, const struct copy *copy)
{
	if (attempt->task && attempt->outcome.is_known) {
		doca_task_free(attempt->task);
		attempt->task = NULL;
	}
	if (attempt->ctx)
		stop(attempt, copy);
	if (attempt->dst)
		doca_buf_dec_refcount(attempt->dst, NULL);
	if (attempt->src)
		doca_buf_dec_refcount(attempt->src, NULL);
	if (attempt->dma)
		doca_dma_destroy(attempt->dma);
}

doca_error_t attempt(const struct copy *copy, uint32_t deadline_ms)
{
	struct attempt attempt = { 0 };
	doca_error_t result = open_context(&attempt, copy);

	if (result == DOCA_SUCCESS) {
		result = submit(&attempt, copy);
		if (result == DOCA_SUCCESS)
			result = wait_for_task(&attempt, copy, deadline_ms);
		else /* refused: no callback will come */
			attempt.outcome.is_known = true;
	}
	close_attempt(&attempt, copy);
	return result;
}
