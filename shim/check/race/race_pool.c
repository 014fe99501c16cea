/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of free blocks, by size. */
#include "race_pool.h"

#include <stdint.h>
#include <stdlib.h>

#include "shim/check/base/lock.h"

#define STEP_BYTES  256
#define NUM_SIZES   10 /* up to 2.5 KiB; larger blocks are malloc()'s */
#define NOT_POOLED  NUM_SIZES
#define ALIGN_BYTES 16

struct block {
	size_t size; /* its list, or NOT_POOLED */
	struct block *next;
	uint8_t bytes[] __attribute__((aligned(ALIGN_BYTES)));
};

static struct {
	struct check_lock lock; /* protects the lists */
	struct block *free[NUM_SIZES];
	bool is_used;
} pool = { .lock = { ATOMIC_FLAG_INIT } };

static size_t size_of(size_t bytes)
{
	size_t size = bytes ? (bytes - 1) / STEP_BYTES : 0;

	return pool.is_used && size < NUM_SIZES ? size : NOT_POOLED;
}

static struct block *take(size_t size)
{
	struct block *block;

	check_lock(&pool.lock);
	block = pool.free[size];
	if (block)
		pool.free[size] = block->next;
	check_unlock(&pool.lock);
	return block;
}

void race_pool_start(bool is_used)
{
	pool.is_used = is_used;
}

void *race_pool_alloc(size_t bytes)
{
	size_t size = size_of(bytes);
	struct block *block = size == NOT_POOLED ? NULL : take(size);

	if (!block)
		block = malloc(sizeof(*block) + (size == NOT_POOLED ? bytes : (size + 1) * STEP_BYTES));
	if (!block)
		return NULL;
	block->size = size;
	return block->bytes;
}

void race_pool_free(void *memory)
{
	struct block *block = memory ? (struct block *)((uint8_t *)memory - offsetof(struct block, bytes)) : NULL;

	if (!block)
		return;
	if (block->size == NOT_POOLED) {
		free(block);
		return;
	}
	check_lock(&pool.lock);
	block->next = pool.free[block->size];
	pool.free[block->size] = block;
	check_unlock(&pool.lock);
}

void race_pool_forked(void)
{
	check_lock_init(&pool.lock);
}
