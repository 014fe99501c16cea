/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/engine.h - tasks of the engines besides DMA's, and the same work by the bare library.
 *
 *   source  [block 0][block 1] ... [block n-1]     what bench_engine_kind.fill() wrote: text, or compressed text
 *                |       |             |           a task each, made once; or the library, called directly
 *   target  [room 0][room 1]  ...  [room n-1]
 *
 * The library is called as the engine's own code calls it, through the functions of shim/sha/digest.h and their like.
 */
#ifndef TESTS_BENCH_ENGINE_H
#define TESTS_BENCH_ENGINE_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_engine;

struct bench_engine_kind {
	const char *name, *library;
	uint32_t small_bytes; /* of text, of the smallest work */
	/* Create the instance, which runs @engine->num_blocks tasks, and set @engine->ctx. SUCCESS or what failed. */
	doca_error_t (*create)(struct bench_engine *engine);
	doca_error_t (*alloc)(struct bench_engine *engine, const struct doca_buf *src, struct doca_buf *dst,
			      struct doca_task **ret_task);
	void (*destroy)(struct bench_engine *engine);
	/* Make the source of the @len bytes of @text, in @room bytes. Returns its length; 0 = failed. */
	size_t (*fill)(const uint8_t *text, size_t len, uint8_t *source, size_t room);
	/* Prepare the library, and work on one source. Return 0 or -1. */
	int (*prepare)(struct bench_engine *engine);
	int (*work)(struct bench_engine *engine, const uint8_t *src, size_t len, uint8_t *dst, size_t room);
	void (*finish)(struct bench_engine *engine);
};

extern const struct bench_engine_kind bench_engine_kinds[];
extern const size_t bench_num_engine_kinds;

struct bench_engine {
	const struct bench_engine_kind *kind;
	uint32_t text_bytes, num_blocks, depth;
	size_t room_bytes;        /* of a block, in both memories */
	uint8_t *source, *target; /* of bench_memory_new() */
	uint8_t *bare_target;     /* of the library */
	size_t *src_bytes;        /* of each block */
	struct doca_dev *dev;
	struct doca_mmap *source_map, *target_map;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	void *instance;
	void *with; /* key or matrix */
	void *bare; /* of the library */
	struct doca_buf **src, **dst;
	struct doca_task **tasks;
	uint32_t done, failed;      /* counted by callbacks */
	uint32_t block, bare_block; /* the next */
};

/* Open the device, fill the source, make the tasks. Returns 0 or -1; close it in both cases. */
int bench_engine_open(struct bench_engine *engine);
void bench_engine_close(struct bench_engine *engine);

/* Run @count tasks, round and round, @depth at a time; or let the library do their work. Return 0, or -1 when one failed. */
int bench_engine_run(struct bench_engine *engine, uint32_t count);
int bench_engine_run_bare(struct bench_engine *engine, uint32_t count);

/* Whether both have the same output. */
bool bench_engine_agrees(const struct bench_engine *engine);

/* For the callbacks of kinds. */
void bench_engine_done(union doca_data ctx_data);
void bench_engine_failed(union doca_data ctx_data);

#endif
