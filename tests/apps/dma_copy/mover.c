/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves pieces between two windows by DMA, on the DPU. */
#include "mover.h"

#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_log.h>

#include "failure.h"
#include "dma.h"

DOCA_LOG_REGISTER(DMA_COPY::MOVER);

#define MAX_COPIES      16
#define MAX_CHUNK_BYTES (256u << 10) /* smaller than a piece: so several copies share it */

/* A chunk under way. */
struct chunk {
	struct doca_buf *from, *to; /* NULL = there is none */
	uint64_t index;             /* of its piece */
};

/* The contents of a slot: a piece, a part of which is being copied. */
struct load {
	uint32_t len, begun, moved; /* bytes */
};

struct mover {
	struct mover_cfg cfg;
	struct doca_buf_inventory *inventory;
	struct dma *dma;
	uint32_t chunk_bytes;
	uint64_t num_queued; /* pieces, of which */
	uint64_t num_begun;  /* this many have all chunks in flight */
	uint64_t num_moved;  /* and this many are done, those before them too */
	struct load loads[WINDOW_MAX_SLOTS];
	struct chunk chunks[MAX_COPIES];
	doca_error_t result; /* the first error */
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

static struct chunk *free_chunk(struct mover *mover)
{
	for (size_t i = 0; i < MAX_COPIES; i++) {
		if (!mover->chunks[i].from)
			return &mover->chunks[i];
	}
	return NULL;
}

static doca_error_t take_bufs(struct mover *mover, struct chunk *chunk, size_t offset, size_t len)
{
	doca_error_t result = take_buf(mover, !mover->cfg.to_remote, offset, len, true, &chunk->from);

	if (result != DOCA_SUCCESS)
		return result;
	result = take_buf(mover, mover->cfg.to_remote, offset, len, false, &chunk->to);
	if (result != DOCA_SUCCESS) {
		doca_buf_dec_refcount(chunk->from, NULL);
		chunk->from = NULL;
	}
	return result;
}

static void give_bufs_back(struct chunk *chunk)
{
	doca_buf_dec_refcount(chunk->from, NULL);
	doca_buf_dec_refcount(chunk->to, NULL);
	chunk->from = chunk->to = NULL;
}

static doca_error_t move(struct mover *mover, struct chunk *chunk, size_t offset, size_t len)
{
	doca_error_t result = take_bufs(mover, chunk, offset, len);

	if (result != DOCA_SUCCESS)
		return result;
	result = dma_copy(mover->dma, chunk->from, chunk->to, chunk);
	if (result != DOCA_SUCCESS)
		give_bufs_back(chunk);
	return result;
}

/* --- The queue --- */

/* Begin with the next chunk of the first piece that has one. */
static doca_error_t begin_next(struct mover *mover, struct chunk *chunk)
{
	uint64_t index = mover->num_begun;
	struct load *load = load_of(mover, index);
	uint32_t left = load->len - load->begun;
	uint32_t len = left < mover->chunk_bytes ? left : mover->chunk_bytes;
	size_t offset = window_offset(&mover->cfg.local->shape, index) + load->begun;

	load->begun += len;
	if (load->begun == load->len)
		mover->num_begun++;
	chunk->index = index;
	return move(mover, chunk, offset, len);
}

static void keep_busy(struct mover *mover)
{
	struct chunk *chunk;

	while (mover->result == DOCA_SUCCESS && mover->num_begun < mover->num_queued && (chunk = free_chunk(mover)))
		mover->result = begin_next(mover, chunk);
}

static bool is_moved(struct mover *mover, uint64_t index)
{
	const struct load *load = load_of(mover, index);

	return index < mover->num_queued && load->moved == load->len;
}

void mover_begin(void *arg, uint64_t index, uint32_t len)
{
	struct mover *mover = arg;

	*load_of(mover, index) = (struct load){ .len = len };
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

/* --- Chunks that are done --- */

static void on_copied(void *arg, void *copy, doca_error_t status)
{
	struct mover *mover = arg;
	struct chunk *chunk = copy;
	size_t len = 0;

	if (status == DOCA_SUCCESS)
		doca_buf_get_data_len(chunk->to, &len);
	else if (mover->result == DOCA_SUCCESS) /* failures after the first are flushed */
		mover->result = status;
	load_of(mover, chunk->index)->moved += (uint32_t)len;
	give_bufs_back(chunk);
	keep_busy(mover);
}

/* --- Life --- */

static doca_error_t choose_chunk(struct mover *mover)
{
	uint64_t max_bytes;
	doca_error_t result = dma_get_max_bytes(mover->cfg.dev, &max_bytes);

	if (result != DOCA_SUCCESS)
		return result;
	mover->chunk_bytes = max_bytes < MAX_CHUNK_BYTES ? (uint32_t)max_bytes : MAX_CHUNK_BYTES;
	DOCA_LOG_DBG("Chunks of %u bytes, %u at once", mover->chunk_bytes, MAX_COPIES);
	return DOCA_SUCCESS;
}

static doca_error_t prepare_buffers(struct mover *mover)
{
	doca_error_t result = doca_buf_inventory_create(2 * MAX_COPIES, &mover->inventory);

	return result == DOCA_SUCCESS ? doca_buf_inventory_start(mover->inventory) : result;
}

static doca_error_t prepare_dma(struct mover *mover)
{
	struct dma_cfg cfg = {
		.loop = mover->cfg.loop,
		.dev = mover->cfg.dev,
		.max_copies = MAX_COPIES,
		.on_copied = on_copied,
		.arg = mover,
	};

	return dma_create(&cfg, &mover->dma);
}

doca_error_t mover_create(const struct mover_cfg *cfg, struct mover **ret_mover)
{
	struct mover *mover = calloc(1, sizeof(*mover));
	doca_error_t result;

	if (!mover)
		return failure_report(DOCA_ERROR_NO_MEMORY, "No memory for the DMA's state");
	mover->cfg = *cfg;
	result = choose_chunk(mover);
	if (result == DOCA_SUCCESS)
		result = prepare_buffers(mover);
	if (result == DOCA_SUCCESS)
		result = prepare_dma(mover);
	if (result == DOCA_SUCCESS)
		*ret_mover = mover;
	else
		mover_destroy(mover);
	return check(result, "prepare the DMA context");
}

void mover_destroy(struct mover *mover)
{
	if (!mover)
		return;
	if (mover->result == DOCA_SUCCESS)
		mover->result = DOCA_ERROR_SHUTDOWN; /* begin nothing more */
	dma_destroy(mover->dma);
	if (mover->inventory)
		check(doca_buf_inventory_destroy(mover->inventory), "destroy the buffers");
	free(mover);
}
