/* SPDX-License-Identifier: BSD-3-Clause */
#include "mover.h"

#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_pe.h>

#include "complaint.h"
#include "loop.h"

DOCA_LOG_REGISTER(DMA_COPY::MOVER);

#define MAX_TASKS 16
#define MAX_CHUNK_BYTES (256u << 10) /* smaller than a piece: so several tasks share it */
#define PATIENCE_S 5.0

/* What is in a slot: a piece, some of which was handed to tasks. */
struct load {
	uint32_t len, begun, moved; /* bytes */
};

struct mover {
	struct mover_cfg cfg;
	struct doca_buf_inventory *inventory;
	struct doca_dma *dma;
	uint32_t chunk_bytes;
	uint32_t num_in_flight;
	uint64_t num_queued;    /* pieces, of which */
	uint64_t num_begun;     /* this many were handed to tasks as a whole */
	uint64_t num_moved;     /* and this many are done, those before them too */
	struct load loads[WINDOW_MAX_SLOTS];
	doca_error_t result;    /* the first error */
};

static struct load *load_of(struct mover *mover, uint64_t index)
{
	return &mover->loads[index % mover->cfg.local->shape.num_slots];
}

/* --- One chunk --- */

static doca_error_t take_buf(struct mover *mover, bool remote, size_t offset, size_t len, bool full,
			     struct doca_buf **ret_buf)
{
	struct doca_mmap *mmap = remote ? mover->cfg.remote_mmap : mover->cfg.local->mmap;
	uint8_t *addr = (remote ? mover->cfg.remote_addr : mover->cfg.local->memory) + offset;

	if (full)
		return doca_buf_inventory_buf_get_by_data(mover->inventory, mmap, addr, len, ret_buf);
	return doca_buf_inventory_buf_get_by_addr(mover->inventory, mmap, addr, len, ret_buf);
}

static doca_error_t take_bufs(struct mover *mover, size_t offset, size_t len, struct doca_buf **ret_from,
			      struct doca_buf **ret_to)
{
	struct doca_buf *from;
	doca_error_t result = take_buf(mover, !mover->cfg.to_remote, offset, len, true, &from);

	if (result != DOCA_SUCCESS)
		return result;
	result = take_buf(mover, mover->cfg.to_remote, offset, len, false, ret_to);
	if (result == DOCA_SUCCESS)
		*ret_from = from;
	else
		doca_buf_dec_refcount(from, NULL);
	return result;
}

/* The task calls its source const; it is ours, and so is the reference. */
static void give_back(struct doca_dma_task_memcpy *task)
{
	doca_buf_dec_refcount((struct doca_buf *)doca_dma_task_memcpy_get_src(task), NULL);
	doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static doca_error_t submit(struct mover *mover, struct doca_dma_task_memcpy *task)
{
	doca_error_t result = doca_task_submit(doca_dma_task_memcpy_as_task(task));

	if (result == DOCA_SUCCESS)
		mover->num_in_flight++;
	else
		give_back(task);
	return result;
}

/* The task's data is the piece's index. */
static doca_error_t move(struct mover *mover, uint64_t index, size_t offset, size_t len)
{
	struct doca_buf *from, *to;
	struct doca_dma_task_memcpy *task;
	doca_error_t result = take_bufs(mover, offset, len, &from, &to);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_dma_task_memcpy_alloc_init(mover->dma, from, to, (union doca_data){.u64 = index}, &task);
	if (result == DOCA_SUCCESS)
		return submit(mover, task);
	doca_buf_dec_refcount(from, NULL);
	doca_buf_dec_refcount(to, NULL);
	return result;
}

/* --- The queue --- */

/* Hand the next chunk of the first piece that has one to a task. */
static doca_error_t begin_next(struct mover *mover)
{
	uint64_t index = mover->num_begun;
	struct load *load = load_of(mover, index);
	uint32_t left = load->len - load->begun;
	uint32_t len = left < mover->chunk_bytes ? left : mover->chunk_bytes;
	size_t offset = window_offset(&mover->cfg.local->shape, index) + load->begun;

	load->begun += len;
	if (load->begun == load->len)
		mover->num_begun++;
	return move(mover, index, offset, len);
}

static void keep_busy(struct mover *mover)
{
	while (mover->result == DOCA_SUCCESS && mover->num_in_flight < MAX_TASKS &&
	       mover->num_begun < mover->num_queued)
		mover->result = begin_next(mover);
}

static bool is_moved(struct mover *mover, uint64_t index)
{
	const struct load *load = load_of(mover, index);

	return index < mover->num_queued && load->moved == load->len;
}

void mover_begin(void *arg, uint64_t index, uint32_t len)
{
	struct mover *mover = arg;

	*load_of(mover, index) = (struct load){.len = len};
	mover->num_queued = index + 1;
	keep_busy(mover);
}

doca_error_t mover_count(void *arg, uint64_t *ret_num_moved)
{
	struct mover *mover = arg;

	while (is_moved(mover, mover->num_moved))
		mover->num_moved++;
	*ret_num_moved = mover->num_moved;
	return mover->result;
}

/* --- Tasks that are done --- */

static void on_moved(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct mover *mover = ctx_data.ptr;
	size_t len = 0;

	doca_buf_get_data_len(doca_dma_task_memcpy_get_dst(task), &len);
	load_of(mover, task_data.u64)->moved += (uint32_t)len;
	mover->num_in_flight--;
	give_back(task);
	keep_busy(mover);
}

static void on_failed(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct mover *mover = ctx_data.ptr;
	doca_error_t status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));

	(void)task_data;
	mover->num_in_flight--;
	if (mover->result == DOCA_SUCCESS) /* what fails after the first is flushed */
		mover->result = status;
	give_back(task);
}

/* --- Life --- */

static doca_error_t choose_chunk(struct mover *mover)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(mover->cfg.dev);
	uint64_t max_bytes;
	doca_error_t result = doca_dma_cap_task_memcpy_is_supported(info);

	if (result == DOCA_SUCCESS)
		result = doca_dma_cap_task_memcpy_get_max_buf_size(info, &max_bytes);
	if (result != DOCA_SUCCESS)
		return result;
	mover->chunk_bytes = max_bytes < MAX_CHUNK_BYTES ? (uint32_t)max_bytes : MAX_CHUNK_BYTES;
	DOCA_LOG_DBG("Tasks of %u bytes, %u at once", mover->chunk_bytes, MAX_TASKS);
	return DOCA_SUCCESS;
}

static doca_error_t prepare_buffers(struct mover *mover)
{
	doca_error_t result = doca_buf_inventory_create(2 * MAX_TASKS, &mover->inventory);

	return result == DOCA_SUCCESS ? doca_buf_inventory_start(mover->inventory) : result;
}

static doca_error_t start(struct mover *mover)
{
	doca_error_t result = doca_dma_create(mover->cfg.dev, &mover->dma);
	struct doca_ctx *ctx;

	if (result != DOCA_SUCCESS)
		return result;
	ctx = doca_dma_as_ctx(mover->dma);
	result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = mover});
	if (result == DOCA_SUCCESS)
		result = doca_dma_task_memcpy_set_conf(mover->dma, on_moved, on_failed, MAX_TASKS);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(mover->cfg.loop->pe, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result;
}

doca_error_t mover_create(const struct mover_cfg *cfg, struct mover **ret_mover)
{
	struct mover *mover = calloc(1, sizeof(*mover));
	doca_error_t result;

	if (!mover)
		return complain(DOCA_ERROR_NO_MEMORY, "No memory for the DMA's state");
	mover->cfg = *cfg;
	result = choose_chunk(mover);
	if (result == DOCA_SUCCESS)
		result = prepare_buffers(mover);
	if (result == DOCA_SUCCESS)
		result = start(mover);
	if (result == DOCA_SUCCESS)
		*ret_mover = mover;
	else
		mover_destroy(mover);
	return check(result, "prepare the DMA context");
}

static bool is_idle(void *arg)
{
	enum doca_ctx_states state;

	return doca_ctx_get_state(arg, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_IDLE;
}

/* A context with a failed task is on its way to idle already. */
static void stop(struct mover *mover)
{
	struct doca_ctx *ctx = doca_dma_as_ctx(mover->dma);

	if (mover->result == DOCA_SUCCESS)
		mover->result = DOCA_ERROR_SHUTDOWN; /* begin nothing more */
	if (!is_idle(ctx))
		doca_ctx_stop(ctx);
	if (!loop_settle(mover->cfg.loop, PATIENCE_S, is_idle, ctx))
		DOCA_LOG_WARN("The DMA context doesn't stop; it is left as it is");
}

void mover_destroy(struct mover *mover)
{
	if (!mover)
		return;
	if (mover->dma) {
		stop(mover);
		check(doca_dma_destroy(mover->dma), "destroy the DMA context");
	}
	if (mover->inventory)
		check(doca_buf_inventory_destroy(mover->inventory), "destroy the buffers");
	free(mover);
}
