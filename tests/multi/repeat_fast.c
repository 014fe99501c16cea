/* SPDX-License-Identifier: BSD-3-Clause */
/* A producer of the client sends to a consumer of the server, which posts two receives for many messages. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_mmap.h>

#include "repeat_peer.h"

#define MESSAGES  40
#define DEPTH     2
#define BUF_BYTES 4096

static struct {
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint8_t *memory;
	enum doca_ctx_states state;
	uint32_t consumer_id;
	unsigned int received, sent, in_flight;
} fast;

static void on_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states from,
		     enum doca_ctx_states to)
{
	fast.state = to;
}

static void on_consumer(struct endpoint *endpoint, struct doca_comch_connection *connection, uint32_t id, bool is_new)
{
	note(is_new ? "consumer" : "consumer gone", 0);
	fast.consumer_id = is_new ? id : 0;
}

static void open_memory(void)
{
	fast.memory = mmap(NULL, DEPTH * BUF_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(fast.memory != MAP_FAILED);
	MUST(doca_mmap_create(&fast.mmap));
	MUST(doca_mmap_add_dev(fast.mmap, self.dev));
	MUST(doca_mmap_set_memrange(fast.mmap, fast.memory, DEPTH * BUF_BYTES));
	MUST(doca_mmap_set_permissions(fast.mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_start(fast.mmap));
	MUST(doca_buf_inventory_create(DEPTH, &fast.inventory));
	MUST(doca_buf_inventory_start(fast.inventory));
}

static void close_memory(void)
{
	MUST(doca_buf_inventory_destroy(fast.inventory));
	MUST(doca_mmap_destroy(fast.mmap));
	CHECK(munmap(fast.memory, DEPTH * BUF_BYTES) == 0);
}

static struct doca_buf *get_buf(unsigned int index)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_addr(fast.inventory, fast.mmap, fast.memory + index * BUF_BYTES, BUF_BYTES,
						&buf));
	return buf;
}

static void start_ctx(struct doca_ctx *ctx)
{
	MUST(doca_pe_connect_ctx(self.loop.pe, ctx));
	MUST(doca_ctx_set_state_changed_cb(ctx, on_state));
	CHECK(doca_ctx_start(ctx) == DOCA_ERROR_IN_PROGRESS);
	LOOP_UNTIL(&self.loop, fast.state == DOCA_CTX_STATE_RUNNING);
}

static void stop_ctx(struct doca_ctx *ctx)
{
	doca_ctx_stop(ctx);
	LOOP_UNTIL(&self.loop, fast.state == DOCA_CTX_STATE_IDLE);
}

/* ---- the consumer ---- */

static void return_receive(struct doca_comch_consumer_task_post_recv *task)
{
	MUST(doca_buf_dec_refcount(doca_comch_consumer_task_post_recv_get_buf(task), NULL));
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
			union doca_data data)
{
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf(task);
	size_t len;

	MUST(doca_buf_get_data_len(buf, &len));
	note("received", len);
	fast.received++;
	MUST(doca_buf_reset_data_len(buf));
	MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

static void on_flushed(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data data)
{
	return_receive(task);
}

static void be_consumer(void)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_ctx *ctx;

	LOOP_UNTIL(&self.loop, self.endpoint.num_connected == 1);
	MUST(doca_comch_consumer_create(self.endpoint.connection, fast.mmap, &fast.consumer));
	ctx = doca_comch_consumer_as_ctx(fast.consumer);
	MUST(doca_comch_consumer_task_post_recv_set_conf(fast.consumer, on_received, on_flushed, DEPTH));
	start_ctx(ctx);
	for (unsigned int i = 0; i < DEPTH; i++) {
		MUST(doca_comch_consumer_task_post_recv_alloc_init(fast.consumer, get_buf(i), &task));
		MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	}
	LOOP_UNTIL(&self.loop, fast.received == MESSAGES);
	stop_ctx(ctx);
	MUST(doca_comch_consumer_destroy(fast.consumer));
}

/* ---- the producer ---- */

static void on_sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data data)
{
	MUST(doca_task_get_status(doca_comch_producer_task_send_as_task(task)));
	MUST(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_comch_producer_task_send_get_buf(task), NULL));
	doca_task_free(doca_comch_producer_task_send_as_task(task));
	note("sent", ++fast.sent);
	fast.in_flight--;
}

/* Messages of two sizes: one that fits into a slot, one that does not. */
static void send_one(unsigned int number)
{
	struct doca_comch_producer_task_send *task;
	struct doca_buf *buf = get_buf(number % DEPTH);
	doca_error_t result;

	MUST(doca_buf_set_data_len(buf, number % 3 ? 64 : 2048));
	MUST(doca_comch_producer_task_send_alloc_init(fast.producer, buf, NULL, 0, fast.consumer_id, &task));
	while ((result = doca_task_submit(doca_comch_producer_task_send_as_task(task))) == DOCA_ERROR_AGAIN)
		doca_pe_progress(self.loop.pe);
	MUST(result);
	note("submitted", number);
	fast.in_flight++;
}

static void be_producer(void)
{
	struct doca_ctx *ctx;

	LOOP_UNTIL(&self.loop, fast.consumer_id != 0);
	MUST(doca_comch_producer_create(self.endpoint.connection, &fast.producer));
	ctx = doca_comch_producer_as_ctx(fast.producer);
	MUST(doca_comch_producer_task_send_set_conf(fast.producer, on_sent, on_sent, DEPTH));
	MUST(doca_pe_connect_ctx(self.loop.pe, ctx));
	MUST(doca_ctx_start(ctx));
	for (unsigned int i = 0; i < MESSAGES; i++) {
		LOOP_UNTIL(&self.loop, fast.in_flight < DEPTH);
		send_one(i);
	}
	LOOP_UNTIL(&self.loop, fast.in_flight == 0);
	MUST(doca_ctx_stop(ctx));
	MUST(doca_comch_producer_destroy(fast.producer));
	LOOP_UNTIL(&self.loop, fast.consumer_id == 0);
}

void repeat_run_fast(void)
{
	const struct endpoint_cfg cfg = { .name = self.name, .consumer = on_consumer };

	open_memory();
	run_endpoint(&cfg);
	if (self.is_server)
		be_consumer();
	else
		be_producer();
	end_endpoint();
	close_memory();
}
