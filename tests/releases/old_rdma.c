/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of releases 2.5 and 2.6: memory that a peer writes and reads, and a message, by libdoca_rdma.
 *
 *   old_rdma answer TO FROM     lends its memory, and receives a message
 *   old_rdma ask TO FROM        writes into that memory, reads it back, and sends the message; TO and FROM as the peer's
 *
 * Descriptors go through the files TO and FROM, which may be FIFOs: one opens TO first, the other FROM. All happens in the
 * callback for states, as in the vendor's samples. With OLD_IS_3_0, the same by the interface of later releases.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "old_card.h"
#include "old_descriptors.h"

#ifdef OLD_IS_3_0
#define ON_CONNECTION    connection,
#define GIVES_CONNECTION , &connection
#define TAKES_CONNECTION , connection
#define START_IS         DOCA_SUCCESS
#define CONNECTS_IN      DOCA_CTX_STATE_RUNNING
static struct doca_rdma_connection *connection;
#else
#define ON_CONNECTION
#define GIVES_CONNECTION
#define TAKES_CONNECTION
#define START_IS    DOCA_ERROR_IN_PROGRESS
#define CONNECTS_IN DOCA_CTX_STATE_STARTING
#endif

#ifdef OLD_IS_2_5
#define RESULT_LEN(task) doca_rdma_task_receive_get_result_length(task)
#else
#define RESULT_LEN(task) doca_rdma_task_receive_get_result_len(task)
#endif

static bool asks, is_connected, is_over;
static const char *to, *from;
static char memory[ROOM];
static struct doca_dev *dev;
static struct doca_mmap *map, *lent;
static struct doca_buf_inventory *inventory;
static struct doca_rdma *rdma;
static struct doca_ctx *ctx;

/* ---- descriptors ---- */

static struct descriptor describe_connection(void)
{
	const void *bytes;
	size_t len;

	must(doca_rdma_export(rdma, &bytes, &len GIVES_CONNECTION), "export the connection");
	return descriptor_of(bytes, len);
}

static struct descriptor describe_memory(void)
{
	const void *bytes;
	size_t len;

	must(doca_mmap_export_rdma(map, dev, &bytes, &len), "export the memory");
	return descriptor_of(bytes, len);
}

static void connect_to(const struct descriptor *peer)
{
	must(doca_rdma_connect(rdma, peer->bytes, peer->len TAKES_CONNECTION), "connect");
}

static void exchange(void)
{
	struct descriptor own[] = { describe_connection(), describe_memory() }, peer[2];

	if (asks) {
		get_descriptors(from, peer, 2);
		put_descriptors(to, own, 1);
		must(doca_mmap_create_from_export(NULL, peer[1].bytes, peer[1].len, dev, &lent), "import the memory");
	} else {
		put_descriptors(to, own, 2);
		get_descriptors(from, peer, 1);
	}
	connect_to(&peer[0]);
	is_connected = true;
}

/* ---- tasks ---- */

static struct doca_buf *buf_of(size_t offset, size_t len, bool has_data)
{
	struct doca_buf *buf;

	must(doca_buf_inventory_buf_get_by_addr(inventory, map, memory + offset, len, &buf), "make a buffer");
	if (has_data)
		must(doca_buf_set_data(buf, memory + offset, len), "set its data");
	return buf;
}

static struct doca_buf *lent_buf(bool has_data)
{
	struct doca_buf *buf;
	void *start;
	size_t len;

	must(doca_mmap_get_memrange(lent, &start, &len), "find the peer's memory");
	must(doca_buf_inventory_buf_get_by_addr(inventory, lent, start, sizeof(LENT), &buf), "make a buffer of it");
	if (has_data)
		must(doca_buf_set_data(buf, start, sizeof(LENT)), "set its data");
	return buf;
}

static void submit(struct doca_task *task)
{
	must(doca_task_submit(task), "submit a task");
}

static void let_go(const struct doca_buf *buf)
{
	must(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)buf, NULL), "free a buffer");
}

/* Failures end the program: one callback serves for both ends of a task. */
static void end_task(struct doca_task *task, const char *what)
{
	must(doca_task_get_status(task), what);
	doca_task_free(task);
}

static void stop(void)
{
	doca_error_t result = doca_ctx_stop(ctx);

	must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "stop");
}

static void on_sent(struct doca_rdma_task_send_imm *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	let_go(doca_rdma_task_send_imm_get_src_buf(task));
	end_task(doca_rdma_task_send_imm_as_task(task), "send");
	stop();
}

static void send_message(void)
{
	struct doca_rdma_task_send_imm *task;

	memcpy(memory, MESSAGE, sizeof(MESSAGE));
	must(doca_rdma_task_send_imm_allocate_init(rdma, ON_CONNECTION buf_of(0, sizeof(MESSAGE), true), IMMEDIATE,
						   (union doca_data){ .u64 = 0 }, &task),
	     "make a message");
	submit(doca_rdma_task_send_imm_as_task(task));
}

static void on_read(struct doca_rdma_task_read *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	let_go(doca_rdma_task_read_get_src_buf(task));
	let_go(doca_rdma_task_read_get_dst_buf(task));
	end_task(doca_rdma_task_read_as_task(task), "read");
	printf("read: %s\n", memory + ROOM / 2);
	send_message();
}

static void on_written(struct doca_rdma_task_write *task, union doca_data task_data, union doca_data ctx_data)
{
	struct doca_rdma_task_read *next;

	(void)task_data;
	(void)ctx_data;
	let_go(doca_rdma_task_write_get_src_buf(task));
	let_go(doca_rdma_task_write_get_dst_buf(task));
	end_task(doca_rdma_task_write_as_task(task), "write");
	must(doca_rdma_task_read_allocate_init(rdma, ON_CONNECTION lent_buf(true),
					       buf_of(ROOM / 2, sizeof(LENT), false), (union doca_data){ .u64 = 0 },
					       &next),
	     "make a read");
	submit(doca_rdma_task_read_as_task(next));
}

static void ask(void)
{
	struct doca_rdma_task_write *task;

	memcpy(memory, LENT, sizeof(LENT));
	must(doca_rdma_task_write_allocate_init(rdma, ON_CONNECTION buf_of(0, sizeof(LENT), true), lent_buf(false),
						(union doca_data){ .u64 = 0 }, &task),
	     "make a write");
	submit(doca_rdma_task_write_as_task(task));
}

static void on_received(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	printf("memory: %s\n", memory);
	printf("heard: %s, %u bytes, %x\n", memory + ROOM / 2, RESULT_LEN(task),
	       doca_rdma_task_receive_get_result_immediate_data(task));
	let_go(doca_rdma_task_receive_get_dst_buf(task));
	end_task(doca_rdma_task_receive_as_task(task), "receive");
	stop();
}

static void receive(void)
{
	struct doca_rdma_task_receive *task;

	must(doca_rdma_task_receive_allocate_init(rdma, buf_of(ROOM / 2, ROOM / 2, false),
						  (union doca_data){ .u64 = 0 }, &task),
	     "make a receive");
	submit(doca_rdma_task_receive_as_task(task));
}

/* ---- the context ---- */

static void on_state(const union doca_data ctx_data, struct doca_ctx *of, enum doca_ctx_states before,
		     enum doca_ctx_states now)
{
	(void)ctx_data;
	(void)of;
	(void)before;
	if (now == CONNECTS_IN)
		exchange();
	if (now == DOCA_CTX_STATE_RUNNING) {
		must(is_connected ? DOCA_SUCCESS : DOCA_ERROR_NOT_CONNECTED, "run after the connect");
		asks ? ask() : receive();
	}
	is_over = now == DOCA_CTX_STATE_IDLE;
}

static void make_memory(void)
{
	must(doca_mmap_create(&map), "make a map");
	must(doca_mmap_add_dev(map, dev), "add the device");
	must(doca_mmap_set_memrange(map, memory, sizeof(memory)), "set its range");
	must(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
						    DOCA_ACCESS_FLAG_RDMA_WRITE),
	     "set its permissions");
	must(doca_mmap_start(map), "start it");
	must(doca_buf_inventory_create(4, &inventory), "make an inventory");
	must(doca_buf_inventory_start(inventory), "start it");
}

static void make_context(struct doca_pe *pe)
{
	must(doca_rdma_create(dev, &rdma), "make a context");
	must(doca_rdma_set_permissions(rdma, DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE),
	     "set its permissions");
	must(doca_rdma_task_receive_set_conf(rdma, on_received, on_received, 1), "configure receiving");
	must(doca_rdma_task_send_imm_set_conf(rdma, on_sent, on_sent, 1), "configure sending");
	must(doca_rdma_task_write_set_conf(rdma, on_written, on_written, 1), "configure writing");
	must(doca_rdma_task_read_set_conf(rdma, on_read, on_read, 1), "configure reading");
	ctx = doca_rdma_as_ctx(rdma);
	must(doca_ctx_set_state_changed_cb(ctx, on_state), "hear of states");
	must(doca_pe_connect_ctx(pe, ctx), "connect it to the engine");
}

static void free_all(void)
{
	must(doca_rdma_destroy(rdma), "destroy the context");
	must(doca_buf_inventory_destroy(inventory), "destroy the inventory");
	if (lent)
		must(doca_mmap_destroy(lent), "destroy the peer's map");
	must(doca_mmap_destroy(map), "destroy the map");
	must(doca_dev_close(dev), "close the device");
}

int main(int argc, char **argv)
{
	struct doca_pe *pe;

	must(argc == 4 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE, "take three arguments");
	asks = strcmp(argv[1], "ask") == 0;
	to = argv[2];
	from = argv[3];
	dev = open_first();
	make_memory();
	must(doca_pe_create(&pe), "make a progress engine");
	make_context(pe);
	must(doca_ctx_start(ctx) == START_IS ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE, "start as the release does");
	while (!is_over)
		if (!doca_pe_progress(pe))
			sched_yield();
	free_all();
	must(doca_pe_destroy(pe), "destroy the engine");
	return EXIT_SUCCESS;
}
