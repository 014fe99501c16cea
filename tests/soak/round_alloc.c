/* SPDX-License-Identifier: BSD-3-Clause */
/* One of the library's allocations fails: the call returns an error, existing objects can be destroyed, and the
 * same calls succeed afterwards. */
#include "side.h"

#include <stdio.h>
#include <unistd.h>

#include <bfsim.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dma.h>

#define BYTES   4096
#define MAX_NTH 40 /* more allocations than the calls may make, so some rules never hit */

/* Objects in order of creation; NULL = not created yet. */
struct work {
	struct side *side;
	uint8_t *memory;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *src, *dst;
	struct doca_dma *dma;
	struct doca_dma_task_memcpy *task;
	bool is_short; /* the allocation failed: end here */
};

static bool is_done(struct work *work, doca_error_t result, doca_error_t is_short, const char *call)
{
	if (result != DOCA_SUCCESS && result != is_short)
		side_fail(__FILE__, __LINE__, call, doca_error_get_name(result));
	work->is_short = result != DOCA_SUCCESS;
	return !work->is_short;
}

/* Go on if the call succeeds; for want of memory it may fail, with @is_short. */
#define TRY_OR(work, is_short, call)                         \
	do {                                                 \
		if (!is_done(work, (call), is_short, #call)) \
			return;                              \
	} while (0)
#define TRY(work, call) TRY_OR(work, DOCA_ERROR_NO_MEMORY, call)

static void on_done(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
}

static void make(struct work *work)
{
	struct side *side = work->side;

	TRY(work, doca_mmap_create(&work->mmap));
	TRY(work, doca_mmap_set_memrange(work->mmap, work->memory, 2 * BYTES));
	TRY(work, doca_mmap_set_permissions(work->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	TRY(work, doca_mmap_add_dev(work->mmap, side->dev));
	TRY(work, doca_mmap_start(work->mmap));
	TRY(work, doca_buf_inventory_create(2, &work->inventory));
	TRY(work, doca_buf_inventory_start(work->inventory));
	TRY(work, doca_buf_inventory_buf_get_by_data(work->inventory, work->mmap, work->memory, BYTES, &work->src));
	TRY(work,
	    doca_buf_inventory_buf_get_by_addr(work->inventory, work->mmap, work->memory + BYTES, BYTES, &work->dst));
	TRY(work, doca_dma_create(side->dev, &work->dma));
	TRY(work, doca_dma_task_memcpy_set_conf(work->dma, on_done, on_done, 4));
	TRY(work, doca_pe_connect_ctx(side->pe, doca_dma_as_ctx(work->dma)));
	TRY_OR(work, DOCA_ERROR_INITIALIZATION, doca_ctx_start(doca_dma_as_ctx(work->dma)));
	TRY(work,
	    doca_dma_task_memcpy_alloc_init(work->dma, work->src, work->dst, (union doca_data){ 0 }, &work->task));
}

static void end(struct work *work)
{
	if (work->task)
		doca_task_free(doca_dma_task_memcpy_as_task(work->task));
	if (work->dma) {
		side_stop(work->side, doca_dma_as_ctx(work->dma));
		MUST(doca_dma_destroy(work->dma));
	}
	if (work->dst)
		MUST(doca_buf_dec_refcount(work->dst, NULL));
	if (work->src)
		MUST(doca_buf_dec_refcount(work->src, NULL));
	if (work->inventory)
		MUST(doca_buf_inventory_destroy(work->inventory));
	if (work->mmap)
		MUST(doca_mmap_destroy(work->mmap));
}

/* Whether there was memory for all of it. */
static bool make_and_end(struct side *side)
{
	static uint8_t memory[2 * BYTES];
	struct work work = { .side = side, .memory = memory };

	make(&work);
	end(&work);
	return !work.is_short;
}

static void run_short(struct side *side, uint32_t nth)
{
	struct bfsim_fault fault;
	char rule[128];
	uint32_t id;
	bool whole;

	snprintf(rule, sizeof(rule), "alloc pid=%d nth=%u fail=NO_MEMORY", (int)getpid(), nth);
	NEED(bfsim_fault_add(rule, &id) == 0);
	side->seen->rule = id;
	whole = make_and_end(side);
	NEED(bfsim_fault_get(id, &fault) == 0);
	NEED(whole || fault.fired == 1);
	NEED(bfsim_fault_remove(id) == 0);
	side->seen->rule = 0;
	side->seen->shortages += fault.fired;
}

void round_alloc(struct side *side)
{
	struct random random = side_random(side, 'a');
	uint32_t count = (uint32_t)random_in(&random, 1, 8);

	for (uint32_t i = 0; i < count; i++) {
		if (!side->shared->calm)
			run_short(side, (uint32_t)random_in(&random, 1, MAX_NTH));
		NEED(make_and_end(side));
	}
}
