/* SPDX-License-Identifier: BSD-3-Clause */
/* One side's function is reset while it copies; the other's copies continue. The owner of the device closes
 * everything, opens the device again and copies as before. */
#include "side.h"

#include <stdio.h>

#include <bfsim.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dma.h>

#define DEPTH      8
#define BYTES      512
#define MAX_COPIES 64

/* Copies from one map to another, slot by slot. */
struct worker {
	struct side *side;
	struct side_memory source, target;
	struct doca_buf_inventory *inventory;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct slot {
		struct ticket ticket;
		struct doca_buf *src, *dst;
		struct worker *worker;
		uint32_t number;
	} slots[DEPTH];
	uint32_t next, in_flight;
	int64_t news_ms;
};

static uint64_t id_of(const struct worker *worker, uint32_t slot)
{
	return random_mix(worker->side->shared->seed ^ worker->side->round << 20 ^ UINT64_C(0xf1) << 40 ^ slot);
}

static void on_done(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
	struct slot *slot = task_data.ptr;
	struct worker *worker = slot->worker;
	const uint8_t *bytes = worker->target.addr + (size_t)slot->number * BYTES;
	doca_error_t status = side_done(worker->side, doca_dma_task_memcpy_as_task(task), &slot->ticket);

	if (status == DOCA_SUCCESS) {
		worker->side->seen->wrong_copies += !pattern_is(bytes, BYTES, id_of(worker, slot->number));
		worker->side->seen->bytes += BYTES;
	}
	MUST(doca_buf_dec_refcount(slot->src, NULL));
	MUST(doca_buf_dec_refcount(slot->dst, NULL));
	worker->in_flight--;
	worker->news_ms = side_now_ms();
}

static void worker_open(struct worker *worker, struct side *side)
{
	*worker = (struct worker){ .side = side, .news_ms = side_now_ms() };
	side_memory_open(side, DEPTH * BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, false, &worker->source);
	side_memory_open(side, DEPTH * BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, false, &worker->target);
	for (uint32_t i = 0; i < DEPTH; i++)
		pattern_fill(worker->source.addr + (size_t)i * BYTES, BYTES, id_of(worker, i));
	MUST(doca_buf_inventory_create(2 * DEPTH, &worker->inventory));
	MUST(doca_buf_inventory_start(worker->inventory));
	MUST(doca_dma_create(side->dev, &worker->dma));
	worker->ctx = doca_dma_as_ctx(worker->dma);
	MUST(doca_dma_task_memcpy_set_conf(worker->dma, on_done, on_done, DEPTH));
	MUST(doca_pe_connect_ctx(side->pe, worker->ctx));
	MUST(doca_ctx_start(worker->ctx));
}

static void worker_close(struct worker *worker)
{
	side_stop(worker->side, worker->ctx);
	NEED(worker->in_flight == 0);
	MUST(doca_dma_destroy(worker->dma));
	MUST(doca_buf_inventory_destroy(worker->inventory));
	side_memory_close(&worker->source);
	side_memory_close(&worker->target);
}

/* Begin a copy, if there is room. Returns true if it was submitted. */
static bool feed(struct worker *worker)
{
	uint32_t number = worker->next % DEPTH;
	struct slot *slot = &worker->slots[number];
	size_t at = (size_t)number * BYTES;
	struct doca_dma_task_memcpy *task;

	if (slot->ticket.in_flight || side_state(worker->ctx) != DOCA_CTX_STATE_RUNNING)
		return false;
	slot->worker = worker;
	slot->number = number;
	memset(worker->target.addr + at, 0, BYTES);
	MUST(doca_buf_inventory_buf_get_by_data(worker->inventory, worker->source.mmap, worker->source.addr + at, BYTES,
						&slot->src));
	MUST(doca_buf_inventory_buf_get_by_addr(worker->inventory, worker->target.mmap, worker->target.addr + at, BYTES,
						&slot->dst));
	MUST(doca_dma_task_memcpy_alloc_init(worker->dma, slot->src, slot->dst, (union doca_data){ .ptr = slot },
					     &task));
	if (side_submit(worker->side, doca_dma_task_memcpy_as_task(task), &slot->ticket)) {
		worker->in_flight++;
		worker->next++;
		return true;
	}
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	MUST(doca_buf_dec_refcount(slot->src, NULL));
	MUST(doca_buf_dec_refcount(slot->dst, NULL));
	return false;
}

/* Submit the copies with any result; give up hanging ones. */
static void work(struct worker *worker, uint32_t count)
{
	struct side *side = worker->side;

	for (uint32_t end = worker->next + count; worker->next < end || worker->in_flight;) {
		if (side_state(worker->ctx) == DOCA_CTX_STATE_IDLE)
			MUST(doca_ctx_start(worker->ctx));
		if (worker->next < end)
			feed(worker);
		if (side_step(side) || !worker->in_flight || side_now_ms() - worker->news_ms < SIDE_GIVE_UP_MS)
			continue;
		side->seen->hung += worker->in_flight;
		side_stop(side, worker->ctx);
	}
}

static uint32_t reset(const struct side *side)
{
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE], rule[128];
	uint32_t id;

	MUST(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(side->dev), addr));
	snprintf(rule, sizeof(rule), "function device=%s reset", addr);
	NEED(bfsim_fault_add(rule, &id) == 0);
	side->seen->rule = id;
	return id;
}

/* Whether the context can't be started any more: its device has to be opened again. Another fault may have stopped it. */
static bool has_lost_its_function(struct worker *worker)
{
	doca_error_t result;

	if (side_state(worker->ctx) != DOCA_CTX_STATE_IDLE)
		return false;
	NEED(worker->in_flight == 0);
	result = doca_ctx_start(worker->ctx);
	NEED(result == DOCA_SUCCESS || result == DOCA_ERROR_INITIALIZATION);
	return result == DOCA_ERROR_INITIALIZATION;
}

/* Copies are in flight, and others are submitted, when the reset happens. */
static void live_through_reset(struct worker *worker)
{
	struct side *side = worker->side;
	int64_t start_ms = side_now_ms();
	uint32_t id;

	for (int i = 0; i < DEPTH; i++)
		feed(worker);
	id = reset(side);
	while (!has_lost_its_function(worker)) {
		feed(worker);
		side_step(side);
		NEED(side_now_ms() - start_ms < SIDE_DEADLINE_MS);
	}
	NEED(bfsim_fault_remove(id) == 0);
	side->seen->rule = 0;
	side->seen->resets++;
}

void round_function(struct side *side)
{
	struct random random = side_random(side, 'u');
	bool ours = random_bool(&random) == (side->which == HOST);
	uint32_t count = (uint32_t)random_in(&random, 1, MAX_COPIES);
	static struct worker worker;

	worker_open(&worker, side);
	work(&worker, count);
	if (ours && !side->shared->calm)
		live_through_reset(&worker);
	else
		work(&worker, count);
	worker_close(&worker);
	side_meet(side); /* no process accesses the other's function while it is closed */
	side_dev_close(side);
	side_dev_open(side);
	worker_open(&worker, side);
	work(&worker, count);
	worker_close(&worker);
}
