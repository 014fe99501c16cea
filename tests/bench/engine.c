/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of the engines besides DMA's, for comparisons. */
#include "engine.h"

#include <doca_error.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"
#include "dma.h"
#include "measure.h"
#include "memory.h"

#define SEED 9

static int fail(const struct bench_engine *engine, const char *what, doca_error_t result)
{
	return bench_fail("%s: %s: %s", engine->kind->name, what, doca_error_get_descr(result));
}

void bench_engine_done(union doca_data ctx_data)
{
	((struct bench_engine *)ctx_data.ptr)->done++;
}

void bench_engine_failed(union doca_data ctx_data)
{
	struct bench_engine *engine = ctx_data.ptr;

	engine->done++;
	engine->failed++;
}

/* ---- life ---- */

/* Text of 16 letters, which compresses to about half. */
static void make_text(uint8_t *text, size_t len)
{
	bench_memory_fill(text, len, SEED);
	for (size_t i = 0; i < len; i++)
		text[i] = "0123456789abcdef"[text[i] % 16];
}

static int open_memory(struct bench_engine *engine)
{
	size_t len = engine->num_blocks * engine->room_bytes;
	uint8_t *text = bench_memory_new((size_t)engine->num_blocks * engine->text_bytes);

	engine->source = bench_memory_new(len);
	engine->target = bench_memory_new(len);
	engine->bare_target = bench_memory_new(len);
	engine->src_bytes = calloc(engine->num_blocks, sizeof(*engine->src_bytes));
	if (!text || !engine->source || !engine->target || !engine->bare_target || !engine->src_bytes)
		return -1;
	make_text(text, (size_t)engine->num_blocks * engine->text_bytes);
	for (uint32_t i = 0; i < engine->num_blocks; i++) {
		engine->src_bytes[i] = engine->kind->fill(text + (size_t)i * engine->text_bytes, engine->text_bytes,
							  engine->source + i * engine->room_bytes, engine->room_bytes);
		if (engine->src_bytes[i] == 0)
			return bench_fail("%s: no source", engine->kind->name);
	}
	if (bench_map(engine->dev, engine->source, len, false, &engine->source_map) < 0)
		return -1;
	return bench_map(engine->dev, engine->target, len, false, &engine->target_map);
}

static int start_context(struct bench_engine *engine)
{
	doca_error_t result = doca_pe_create(&engine->pe);

	if (result == DOCA_SUCCESS)
		result = engine->kind->create(engine);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(engine->ctx, (union doca_data){ .ptr = engine });
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(engine->pe, engine->ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(engine->ctx);
	return result == DOCA_SUCCESS ? 0 : fail(engine, "a context", result);
}

static int make_task(struct bench_engine *engine, uint32_t i)
{
	size_t offset = i * engine->room_bytes;
	doca_error_t result = doca_buf_inventory_buf_get_by_data(
		engine->inventory, engine->source_map, engine->source + offset, engine->src_bytes[i], &engine->src[i]);

	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_buf_get_by_addr(engine->inventory, engine->target_map,
							    engine->target + offset, engine->room_bytes,
							    &engine->dst[i]);
	if (result == DOCA_SUCCESS)
		result = engine->kind->alloc(engine, engine->src[i], engine->dst[i], &engine->tasks[i]);
	return result == DOCA_SUCCESS ? 0 : fail(engine, "a task", result);
}

static int make_tasks(struct bench_engine *engine)
{
	doca_error_t result = doca_buf_inventory_create(2 * engine->num_blocks, &engine->inventory);

	engine->src = calloc(engine->num_blocks, sizeof(*engine->src));
	engine->dst = calloc(engine->num_blocks, sizeof(*engine->dst));
	engine->tasks = calloc(engine->num_blocks, sizeof(*engine->tasks));
	if (!engine->src || !engine->dst || !engine->tasks)
		return bench_fail("out of memory");
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(engine->inventory);
	if (result != DOCA_SUCCESS)
		return fail(engine, "an inventory", result);
	for (uint32_t i = 0; i < engine->num_blocks; i++)
		if (make_task(engine, i) < 0)
			return -1;
	return 0;
}

int bench_engine_open(struct bench_engine *engine)
{
	engine->room_bytes = 2 * (size_t)engine->text_bytes + 64;
	if (engine->kind->prepare(engine) < 0 || bench_dev_open(BENCH_DPU_PCI, &engine->dev) < 0 ||
	    open_memory(engine) < 0 || start_context(engine) < 0)
		return -1;
	return make_tasks(engine);
}

void bench_engine_close(struct bench_engine *engine)
{
	for (uint32_t i = 0; i < engine->num_blocks && engine->tasks && engine->tasks[i]; i++) {
		doca_task_free(engine->tasks[i]);
		doca_buf_dec_refcount(engine->src[i], NULL);
		doca_buf_dec_refcount(engine->dst[i], NULL);
	}
	free(engine->tasks);
	free(engine->src);
	free(engine->dst);
	free(engine->src_bytes);
	if (engine->ctx)
		doca_ctx_stop(engine->ctx);
	if (engine->instance)
		engine->kind->destroy(engine);
	engine->kind->finish(engine);
	if (engine->inventory)
		doca_buf_inventory_destroy(engine->inventory);
	if (engine->pe)
		doca_pe_destroy(engine->pe);
	if (engine->source_map)
		doca_mmap_destroy(engine->source_map);
	if (engine->target_map)
		doca_mmap_destroy(engine->target_map);
	if (engine->dev)
		doca_dev_close(engine->dev);
}

/* ---- work ---- */

static uint32_t next_block(const struct bench_engine *engine, uint32_t block)
{
	return block + 1 == engine->num_blocks ? 0 : block + 1;
}

int bench_engine_run(struct bench_engine *engine, uint32_t count)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t sent = 0;

	engine->done = 0;
	while (engine->done < count && result == DOCA_SUCCESS && engine->failed == 0) {
		while (sent < count && sent - engine->done < engine->depth && result == DOCA_SUCCESS) {
			doca_buf_reset_data_len(engine->dst[engine->block]);
			result = doca_task_submit(engine->tasks[engine->block]);
			engine->block = next_block(engine, engine->block);
			sent++;
		}
		doca_pe_progress(engine->pe);
	}
	if (result != DOCA_SUCCESS)
		return fail(engine, "doca_task_submit", result);
	return engine->failed == 0 ? 0 : bench_fail("%s: %u tasks failed", engine->kind->name, engine->failed);
}

int bench_engine_run_bare(struct bench_engine *engine, uint32_t count)
{
	int rc = 0;

	for (; count > 0 && rc == 0; count--) {
		uint32_t block = engine->bare_block;
		size_t offset = block * engine->room_bytes;

		rc = engine->kind->work(engine, engine->source + offset, engine->src_bytes[block],
					engine->bare_target + offset, engine->room_bytes);
		engine->bare_block = next_block(engine, block);
	}
	return rc == 0 ? 0 : bench_fail("%s: the library fails", engine->kind->name);
}

bool bench_engine_agrees(const struct bench_engine *engine)
{
	for (uint32_t i = 0; i < engine->num_blocks; i++) {
		size_t offset = i * engine->room_bytes, len;

		if (doca_buf_get_data_len(engine->dst[i], &len) != DOCA_SUCCESS || len == 0 ||
		    memcmp(engine->target + offset, engine->bare_target + offset, len) != 0)
			return false;
	}
	return true;
}
