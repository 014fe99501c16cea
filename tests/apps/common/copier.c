/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies a range of memory in chunks, one DMA task each. */
#include "copier.h"

#include <inttypes.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_pe.h>

#include "app.h"

DOCA_LOG_REGISTER(APP::COPIER);

struct copier {
	struct copier_cfg cfg;
	struct doca_buf_inventory *inventory;
	struct doca_dma *dma;
	size_t num_chunks; /* of the whole range */
	size_t next;       /* the chunk to begin next */
	size_t in_flight;  /* tasks */
	size_t chunks_copied;
	doca_error_t result; /* the first error */
};

static void note_error(struct copier *copier, doca_error_t result)
{
	if (copier->result == DOCA_SUCCESS)
		copier->result = result;
}

static bool has_next(const struct copier *copier)
{
	return copier->result == DOCA_SUCCESS && copier->next < copier->num_chunks;
}

/* --- Buffers --- */

/* One buffer over [@addr, @addr + @len): a full one to read from, or an empty one to fill. */
static doca_error_t take_buf(struct copier *copier, struct doca_mmap *mmap, uint8_t *addr, size_t len, bool full,
			     struct doca_buf **ret_buf)
{
	if (full)
		return doca_buf_inventory_buf_get_by_data(copier->inventory, mmap, addr, len, ret_buf);
	return doca_buf_inventory_buf_get_by_addr(copier->inventory, mmap, addr, len, ret_buf);
}

/* Append @buf to the chain, or begin it. On failure @buf is given back. */
static doca_error_t append(struct doca_buf **chain, struct doca_buf *buf)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!*chain)
		*chain = buf;
	else
		result = doca_buf_chain_list(*chain, buf);
	if (result != DOCA_SUCCESS)
		doca_buf_dec_refcount(buf, NULL);
	return result;
}

/* The chunk at @offset of @end, as a chain of @end->pieces about equal buffers. */
static doca_error_t take_chain(struct copier *copier, const struct copier_end *end, size_t offset, size_t len,
			       bool full, struct doca_buf **ret_chain)
{
	size_t pieces = len < end->pieces ? len : end->pieces;
	struct doca_buf *chain = NULL;

	for (size_t i = 0; i < pieces; i++) {
		size_t from = len * i / pieces, to = len * (i + 1) / pieces;
		struct doca_buf *buf;
		doca_error_t result = take_buf(copier, end->mmap, end->addr + offset + from, to - from, full, &buf);

		if (result == DOCA_SUCCESS)
			result = append(&chain, buf);
		if (result != DOCA_SUCCESS) {
			if (chain)
				doca_buf_dec_refcount(chain, NULL);
			return result;
		}
	}
	*ret_chain = chain;
	return DOCA_SUCCESS;
}

/* Both ends of the next chunk; the chunk is then begun. */
static doca_error_t take_next(struct copier *copier, struct doca_buf **ret_source, struct doca_buf **ret_target)
{
	const struct copier_cfg *cfg = &copier->cfg;
	size_t offset = copier->next * cfg->chunk_bytes;
	size_t left = cfg->len_bytes - offset;
	size_t len = left < cfg->chunk_bytes ? left : cfg->chunk_bytes;
	struct doca_buf *source;
	doca_error_t result = take_chain(copier, &cfg->source, offset, len, true, &source);

	if (result != DOCA_SUCCESS)
		return app_check(result, "take buffers of the source");
	result = take_chain(copier, &cfg->target, offset, len, false, ret_target);
	if (result != DOCA_SUCCESS) {
		doca_buf_dec_refcount(source, NULL);
		return app_check(result, "take buffers of the target");
	}
	*ret_source = source;
	copier->next += cfg->step;
	return DOCA_SUCCESS;
}

static void give_back(struct doca_dma_task_memcpy *task)
{
	/* The task's source is const in the API; the reference is ours. */
	doca_buf_dec_refcount((struct doca_buf *)doca_dma_task_memcpy_get_src(task), NULL);
	doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL);
}

/* --- Tasks --- */

/* The task has its buffers. On failure it gives them back and is freed. */
static doca_error_t submit(struct copier *copier, struct doca_dma_task_memcpy *task)
{
	doca_error_t result = app_check(doca_task_submit(doca_dma_task_memcpy_as_task(task)), "submit a DMA task");

	if (result == DOCA_SUCCESS) {
		copier->in_flight++;
		return DOCA_SUCCESS;
	}
	give_back(task);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	return result;
}

/* Begin a chunk with a new task. */
static doca_error_t begin(struct copier *copier)
{
	struct doca_buf *source, *target;
	struct doca_dma_task_memcpy *task;
	doca_error_t result = take_next(copier, &source, &target);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_dma_task_memcpy_alloc_init(copier->dma, source, target, (union doca_data){ .u64 = 0 }, &task);
	if (result == DOCA_SUCCESS)
		return submit(copier, task);
	doca_buf_dec_refcount(source, NULL);
	doca_buf_dec_refcount(target, NULL);
	return app_check(result, "take a DMA task");
}

/* Begin a chunk with a task that has completed another. */
static doca_error_t begin_again(struct copier *copier, struct doca_dma_task_memcpy *task)
{
	struct doca_buf *source, *target;
	doca_error_t result = take_next(copier, &source, &target);

	if (result != DOCA_SUCCESS) {
		doca_task_free(doca_dma_task_memcpy_as_task(task));
		return result;
	}
	doca_dma_task_memcpy_set_src(task, source);
	doca_dma_task_memcpy_set_dst(task, target);
	return submit(copier, task);
}

static void copied(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct copier *copier = ctx_data.ptr;

	(void)task_data;
	copier->in_flight--;
	copier->chunks_copied++;
	give_back(task);
	if (has_next(copier) && !copier->cfg.in_batches)
		note_error(copier, begin_again(copier, task));
	else
		doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void failed(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct copier *copier = ctx_data.ptr;
	doca_error_t status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));

	(void)task_data;
	copier->in_flight--;
	if (copier->result == DOCA_SUCCESS) /* failures after the first are flushed tasks */
		DOCA_LOG_ERR("A DMA task failed: %s", doca_error_get_descr(status));
	note_error(copier, status);
	give_back(task);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

/* --- Life --- */

static doca_error_t check_limits(const struct copier_cfg *cfg)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(cfg->dev);
	uint64_t max_bytes;
	uint32_t max_pieces;
	doca_error_t result = doca_dma_cap_task_memcpy_is_supported(info);

	if (result == DOCA_SUCCESS)
		result = doca_dma_cap_task_memcpy_get_max_buf_size(info, &max_bytes);
	if (result == DOCA_SUCCESS)
		result = doca_dma_cap_task_memcpy_get_max_buf_list_len(info, &max_pieces);
	if (result != DOCA_SUCCESS)
		return app_check(result, "copy with this device");
	if (cfg->chunk_bytes > max_bytes) {
		DOCA_LOG_ERR("Chunks of %u bytes: this device copies at most %" PRIu64 " with one task",
			     cfg->chunk_bytes, max_bytes);
		return DOCA_ERROR_TOO_BIG;
	}
	if (cfg->source.pieces > max_pieces || cfg->target.pieces > max_pieces) {
		DOCA_LOG_ERR("Chains of %u and %u buffers: this device takes at most %u", cfg->source.pieces,
			     cfg->target.pieces, max_pieces);
		return DOCA_ERROR_TOO_BIG;
	}
	return DOCA_SUCCESS;
}

static doca_error_t prepare_buffers(struct copier *copier)
{
	size_t pieces = (size_t)copier->cfg.source.pieces + copier->cfg.target.pieces;
	doca_error_t result = doca_buf_inventory_create(copier->cfg.depth * pieces, &copier->inventory);

	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(copier->inventory);
	return app_check(result, "prepare buffers");
}

static doca_error_t prepare_dma(struct copier *copier)
{
	doca_error_t result = doca_dma_create(copier->cfg.dev, &copier->dma);
	struct doca_ctx *ctx;

	if (result != DOCA_SUCCESS)
		return app_check(result, "create a DMA context");
	ctx = doca_dma_as_ctx(copier->dma);
	result = doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = copier });
	if (result == DOCA_SUCCESS)
		result = doca_dma_task_memcpy_set_conf(copier->dma, copied, failed, copier->cfg.depth);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(copier->cfg.pe, ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return app_check(result, "start the DMA context");
}

doca_error_t copier_create(const struct copier_cfg *cfg, struct copier **ret_copier)
{
	doca_error_t result = check_limits(cfg);
	struct copier *copier;

	if (result != DOCA_SUCCESS)
		return result;
	copier = calloc(1, sizeof(*copier));
	if (!copier)
		return app_check(DOCA_ERROR_NO_MEMORY, "create a copier");
	copier->cfg = *cfg;
	copier->num_chunks = (cfg->len_bytes + cfg->chunk_bytes - 1) / cfg->chunk_bytes;
	copier->next = cfg->first;
	result = prepare_buffers(copier);
	if (result == DOCA_SUCCESS)
		result = prepare_dma(copier);
	if (result == DOCA_SUCCESS)
		*ret_copier = copier;
	else
		copier_destroy(copier);
	return result;
}

static bool is_idle(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	return doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_IDLE;
}

/* A context that failed a task already stops. */
static void stop(struct copier *copier)
{
	struct doca_ctx *ctx = doca_dma_as_ctx(copier->dma);

	if (!is_idle(ctx))
		doca_ctx_stop(ctx);
	while (!is_idle(ctx))
		doca_pe_progress(copier->cfg.pe);
}

void copier_destroy(struct copier *copier)
{
	if (!copier)
		return;
	if (copier->dma) {
		stop(copier);
		app_check(doca_dma_destroy(copier->dma), "destroy the DMA context");
	}
	if (copier->inventory)
		app_check(doca_buf_inventory_destroy(copier->inventory), "destroy the buffers");
	free(copier);
}

doca_error_t copier_start(struct copier *copier)
{
	while (copier->in_flight < copier->cfg.depth && has_next(copier))
		note_error(copier, begin(copier));
	return copier->result;
}

size_t copier_in_flight(const struct copier *copier)
{
	return copier->in_flight;
}

bool copier_is_done(const struct copier *copier)
{
	return copier->in_flight == 0 && !has_next(copier);
}

doca_error_t copier_result(const struct copier *copier)
{
	return copier->result;
}

size_t copier_chunks_copied(const struct copier *copier)
{
	return copier->chunks_copied;
}

static doca_error_t run_on(const struct copier_cfg *cfg, double *ret_duration_s)
{
	struct copier *copier;
	doca_error_t result = copier_create(cfg, &copier);
	double begin_s = app_now_s();

	if (result != DOCA_SUCCESS)
		return result;
	copier_start(copier);
	while (!copier_is_done(copier))
		doca_pe_progress(cfg->pe);
	result = copier_result(copier);
	if (result == DOCA_SUCCESS)
		*ret_duration_s = app_now_s() - begin_s;
	copier_destroy(copier);
	return result;
}

doca_error_t copier_run(const struct copier_cfg *cfg, double *ret_duration_s)
{
	struct copier_cfg with_pe = *cfg;
	doca_error_t result = app_check(doca_pe_create(&with_pe.pe), "create a progress engine");

	if (result != DOCA_SUCCESS)
		return result;
	result = run_on(&with_pe, ret_duration_s);
	app_check(doca_pe_destroy(with_pe.pe), "destroy the progress engine");
	return result;
}
