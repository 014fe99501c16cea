/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch's fast path: a producer on the host sends buffers to a consumer on the DPU. Both have DEPTH buffers. */
#include <stdlib.h>

#include <bfsim.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>

#include "probe_comch.h"

#define UNUSED UINT64_MAX /* a time that no task began at */

struct slot {
	struct doca_task *task;
	struct doca_buf *buf;
	uint64_t began_ns;
};

struct fast {
	struct probe_end *end;
	struct doca_pe *pe;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct slot *slots;
	struct slot **idle; /* of the producer */
	unsigned int num_idle;
	uint8_t *memory;
	uint64_t num_sent;
	unsigned int num_posted; /* of the consumer */
	struct probe_times times;
};

static void open_memory(struct fast *fast, bool is_full)
{
	const struct probe_comch_cfg *cfg = fast->end->cfg;
	size_t bytes = cfg->size * cfg->depth;

	fast->memory = probe_allocate(bytes);
	fast->mmap = probe_map(fast->end->dev, fast->memory, bytes, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	fast->slots = probe_calloc(cfg->depth, sizeof(*fast->slots));
	probe_must(doca_buf_inventory_create(cfg->depth, &fast->inventory), "create an inventory");
	probe_must(doca_buf_inventory_start(fast->inventory), "start it");
	for (unsigned int i = 0; i < cfg->depth; i++)
		probe_must((is_full ? doca_buf_inventory_buf_get_by_data : doca_buf_inventory_buf_get_by_addr)(
				   fast->inventory, fast->mmap, fast->memory + i * cfg->size, cfg->size,
				   &fast->slots[i].buf),
			   "get a buffer");
	probe_must(doca_pe_create(&fast->pe), "create a progress engine");
}

static void close_memory(struct fast *fast)
{
	for (unsigned int i = 0; i < fast->end->cfg->depth; i++)
		doca_buf_dec_refcount(fast->slots[i].buf, NULL);
	probe_must(doca_pe_destroy(fast->pe), "destroy a progress engine");
	probe_must(doca_buf_inventory_destroy(fast->inventory), "destroy the inventory");
	probe_must(doca_mmap_destroy(fast->mmap), "destroy the map");
	free(fast->slots);
}

/* ---- the consumer ---- */

static void post(struct fast *fast, struct slot *slot)
{
	probe_must(doca_buf_reset_data_len(slot->buf), "reset a buffer");
	probe_must(doca_task_submit(slot->task), "post a receive");
	fast->num_posted++;
}

static void on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
			union doca_data ctx_data)
{
	struct fast *fast = ctx_data.ptr;

	(void)task;
	fast->num_posted--;
	if (!fast->end->is_over)
		post(fast, task_data.ptr);
}

/* They come back when the connection ends. */
static void on_not_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
			    union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	((struct fast *)ctx_data.ptr)->num_posted--;
}

static void make_receives(struct fast *fast, struct doca_comch_consumer *consumer)
{
	for (unsigned int i = 0; i < fast->end->cfg->depth; i++) {
		struct slot *slot = &fast->slots[i];
		struct doca_comch_consumer_task_post_recv *task;

		probe_must(doca_comch_consumer_task_post_recv_alloc_init(consumer, slot->buf, &task), "make a task");
		slot->task = doca_comch_consumer_task_post_recv_as_task(task);
		doca_task_set_user_data(slot->task, (union doca_data){ .ptr = slot });
		post(fast, slot);
	}
}

void probe_consume(struct probe_end *end)
{
	struct fast fast = { .end = end };
	struct doca_comch_consumer *consumer;

	open_memory(&fast, false);
	probe_must(doca_comch_consumer_create(end->connection, fast.mmap, &consumer), "create a consumer");
	probe_must(doca_comch_consumer_task_post_recv_set_conf(consumer, on_received, on_not_received, end->cfg->depth),
		   "configure it");
	probe_ctx_start(doca_comch_consumer_as_ctx(consumer), fast.pe, &fast, end->pe);
	make_receives(&fast, consumer);
	while (!end->is_over) {
		doca_pe_progress(fast.pe);
		doca_pe_progress(end->pe);
	}
	doca_ctx_stop(doca_comch_consumer_as_ctx(consumer));
	while (fast.num_posted > 0)
		doca_pe_progress(fast.pe);
	for (unsigned int i = 0; i < end->cfg->depth; i++)
		doca_task_free(fast.slots[i].task);
	probe_ctx_stop(doca_comch_consumer_as_ctx(consumer), fast.pe);
	probe_must(doca_comch_consumer_destroy(consumer), "destroy the consumer");
	close_memory(&fast);
}

/* ---- the producer ---- */

static void on_sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct fast *fast = ctx_data.ptr;
	struct slot *slot = task_data.ptr;

	(void)task;
	fast->times.latencies[fast->times.count++] = bfsim_now_ns() - slot->began_ns;
	slot->began_ns = UNUSED;
	fast->idle[fast->num_idle++] = slot;
}

static void on_not_sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	probe_must(doca_task_get_status(doca_comch_producer_task_send_as_task(task)), "send a buffer");
}

static void make_sends(struct fast *fast, struct doca_comch_producer *producer)
{
	for (unsigned int i = 0; i < fast->end->cfg->depth; i++) {
		struct slot *slot = &fast->slots[i];
		struct doca_comch_producer_task_send *task;

		probe_must(doca_comch_producer_task_send_alloc_init(producer, slot->buf, NULL, 0, fast->end->consumer,
								    &task),
			   "make a task");
		slot->task = doca_comch_producer_task_send_as_task(task);
		doca_task_set_user_data(slot->task, (union doca_data){ .ptr = slot });
		slot->began_ns = UNUSED;
		fast->idle[fast->num_idle++] = slot;
	}
}

/* Latency counts from the first try; the consumer may have no receive posted. */
static void send_more(struct fast *fast)
{
	while (fast->num_idle > 0 && fast->num_sent < fast->end->cfg->count) {
		struct slot *slot = fast->idle[fast->num_idle - 1];
		doca_error_t result;

		if (slot->began_ns == UNUSED)
			slot->began_ns = bfsim_now_ns();
		result = doca_task_submit(slot->task);
		if (result == DOCA_ERROR_AGAIN)
			return;
		probe_must(result, "send a buffer");
		fast->num_idle--;
		fast->num_sent++;
	}
}

static void send_all(struct fast *fast)
{
	fast->times.began_ns = bfsim_now_ns();
	while (fast->times.count < fast->end->cfg->count) {
		send_more(fast);
		doca_pe_progress(fast->pe);
	}
	fast->times.ended_ns = bfsim_now_ns();
}

void probe_produce(struct probe_end *end)
{
	struct fast fast = { .end = end };
	struct doca_comch_producer *producer;

	open_memory(&fast, true);
	fast.idle = probe_calloc(end->cfg->depth, sizeof(struct slot *));
	fast.times.latencies = probe_calloc(end->cfg->count, sizeof(*fast.times.latencies));
	probe_must(doca_comch_producer_create(end->connection, &producer), "create a producer");
	probe_must(doca_comch_producer_task_send_set_conf(producer, on_sent, on_not_sent, end->cfg->depth),
		   "configure it");
	probe_ctx_start(doca_comch_producer_as_ctx(producer), fast.pe, &fast, end->pe);
	while (end->consumer == 0)
		doca_pe_progress(end->pe);
	make_sends(&fast, producer);
	send_all(&fast);
	probe_print_result(&fast.times, 1, end->cfg->size, NULL);
	for (unsigned int i = 0; i < end->cfg->depth; i++)
		doca_task_free(fast.slots[i].task);
	probe_ctx_stop(doca_comch_producer_as_ctx(producer), fast.pe);
	probe_must(doca_comch_producer_destroy(producer), "destroy the producer");
	close_memory(&fast);
	free(fast.idle);
	free(fast.times.latencies);
}
