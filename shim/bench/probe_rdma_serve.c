/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA: the responder. Its memory is written and read without its help; of messages it has twice as many receives as are sent at
 * once, so that each message finds one. */
#include "probe_rdma.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>

struct responder {
	const struct probe_rdma_cfg *cfg;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	uint8_t *memory;
	struct doca_mmap *mmap;
	uint64_t num_blocks; /* of the memory */
	unsigned int num_gone;
	/* Of messages. */
	struct doca_buf_inventory *inventory;
	struct doca_buf **rooms;
	struct doca_task **receives;
	uint64_t num_posted, num_received;
};

/* ---- connections ---- */

static void on_request(struct doca_rdma_connection *connection, union doca_data ctx_data)
{
	(void)ctx_data;
	probe_must(doca_rdma_connection_accept(connection, NULL, 0), "accept a connection");
}

static void on_established(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	(void)connection;
	(void)data;
	(void)ctx_data;
}

static void on_failure(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	(void)connection;
	(void)data;
	(void)ctx_data;
	probe_must(DOCA_ERROR_CONNECTION_ABORTED, "accept a connection");
}

static void on_end(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	(void)connection;
	(void)data;
	((struct responder *)ctx_data.ptr)->num_gone++;
}

/* ---- messages ---- */

static void post(struct responder *responder, uint64_t i)
{
	probe_must(doca_buf_reset_data_len(responder->rooms[i]), "reset a buffer");
	probe_must(doca_task_submit(responder->receives[i]), "post a receive");
	responder->num_posted++;
}

static void on_received(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	struct responder *responder = ctx_data.ptr;

	if (doca_rdma_task_receive_get_result_len(task) != responder->cfg->size)
		probe_rdma_fail_wrong(PROBE_RDMA_SEND);
	responder->num_posted--;
	responder->num_received++;
	post(responder, task_data.u64);
}

/* They come back when the context stops. */
static void on_not_received(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	((struct responder *)ctx_data.ptr)->num_posted--;
}

static void make_receive(struct responder *responder, uint64_t i)
{
	struct doca_rdma_task_receive *receive;
	size_t size = responder->cfg->size;

	probe_must(doca_buf_inventory_buf_get_by_addr(responder->inventory, responder->mmap,
						      responder->memory + i * size, size, &responder->rooms[i]),
		   "get a buffer");
	probe_must(doca_rdma_task_receive_allocate_init(responder->rdma, responder->rooms[i],
							(union doca_data){ .u64 = i }, &receive),
		   "make a task");
	responder->receives[i] = doca_rdma_task_receive_as_task(receive);
	post(responder, i);
}

static void make_receives(struct responder *responder)
{
	responder->rooms = probe_calloc(responder->num_blocks, sizeof(struct doca_buf *));
	responder->receives = probe_calloc(responder->num_blocks, sizeof(struct doca_task *));
	probe_must(doca_buf_inventory_create(responder->num_blocks, &responder->inventory), "create an inventory");
	probe_must(doca_buf_inventory_start(responder->inventory), "start it");
	for (uint64_t i = 0; i < responder->num_blocks; i++)
		make_receive(responder, i);
}

/* ---- what has arrived ---- */

/* Each thread of the requester has written its first blocks, or all of them. */
static void check_written(const struct responder *responder)
{
	const struct probe_rdma_cfg *cfg = responder->cfg;
	uint64_t num_used = cfg->count < cfg->depth ? cfg->count : cfg->depth;

	for (uint64_t i = 0; i < responder->num_blocks; i++)
		if (i % cfg->depth < num_used && !probe_rdma_is_block(responder->memory + i * cfg->size, cfg->size, i))
			probe_rdma_fail_wrong(PROBE_RDMA_WRITE);
}

/* All messages came, and each receive that took one has a block of the requester. */
static void check_sent(const struct responder *responder)
{
	const struct probe_rdma_cfg *cfg = responder->cfg;

	if (responder->num_received != cfg->count * cfg->threads) {
		fprintf(stderr, "bfsim-bench-probe: rdma: %" PRIu64 " of %" PRIu64 " messages have come\n",
			responder->num_received, cfg->count * cfg->threads);
		exit(EXIT_FAILURE);
	}
	for (uint64_t i = 0; i < responder->num_blocks && i < responder->num_received; i++) {
		const uint8_t *memory = responder->memory + i * cfg->size;
		uint64_t number = probe_rdma_number_of(memory, cfg->size);

		if (number >= (uint64_t)cfg->depth * cfg->threads || !probe_rdma_is_block(memory, cfg->size, number))
			probe_rdma_fail_wrong(PROBE_RDMA_SEND);
	}
}

/* ---- life ---- */

static void create(struct responder *responder)
{
	const struct probe_rdma_cfg *cfg = responder->cfg;
	uint32_t permissions =
		DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE;

	responder->num_blocks = (uint64_t)cfg->depth * cfg->threads * (cfg->op == PROBE_RDMA_SEND ? 2 : 1);
	responder->memory = probe_allocate(cfg->size * responder->num_blocks);
	if (cfg->op == PROBE_RDMA_READ)
		for (uint64_t i = 0; i < responder->num_blocks; i++)
			probe_rdma_fill(responder->memory + i * cfg->size, cfg->size, i);
	responder->mmap = probe_map(responder->dev, responder->memory, cfg->size * responder->num_blocks, permissions);
	probe_must(doca_pe_create(&responder->pe), "create a progress engine");
	probe_must(doca_rdma_create(responder->dev, &responder->rdma), "create a context");
	probe_must(doca_rdma_set_permissions(responder->rdma, permissions), "set its permissions");
	probe_must(doca_rdma_set_max_num_connections(responder->rdma, (uint16_t)cfg->threads), "set its connections");
	probe_must(doca_rdma_set_connection_state_callbacks(responder->rdma, on_request, on_established, on_failure,
							    on_end),
		   "set its callbacks");
	if (cfg->op == PROBE_RDMA_SEND)
		probe_must(doca_rdma_task_receive_set_conf(responder->rdma, on_received, on_not_received,
							   (uint32_t)responder->num_blocks),
			   "configure it");
	probe_ctx_start(doca_rdma_as_ctx(responder->rdma), responder->pe, responder, NULL);
}

static void write_place(const struct responder *responder, const char *address)
{
	struct probe_rdma_place place = { 0 };
	const void *descriptor;

	strcpy(place.address, address);
	probe_must(doca_mmap_export_rdma(responder->mmap, responder->dev, &descriptor, &place.descriptor_len),
		   "export memory");
	probe_must(place.descriptor_len <= sizeof(place.descriptor) ? DOCA_SUCCESS : DOCA_ERROR_TOO_BIG,
		   "export memory");
	memcpy(place.descriptor, descriptor, place.descriptor_len);
	probe_write_file(responder->cfg->path, &place, sizeof(place));
}

static void release(struct responder *responder)
{
	bool has_receives = responder->receives;

	doca_ctx_stop(doca_rdma_as_ctx(responder->rdma));
	while (responder->num_posted > 0)
		doca_pe_progress(responder->pe);
	for (uint64_t i = 0; has_receives && i < responder->num_blocks; i++) {
		doca_task_free(responder->receives[i]);
		doca_buf_dec_refcount(responder->rooms[i], NULL);
	}
	probe_ctx_stop(doca_rdma_as_ctx(responder->rdma), responder->pe);
	probe_must(doca_rdma_destroy(responder->rdma), "destroy the context");
	probe_must(doca_pe_destroy(responder->pe), "destroy the progress engine");
	if (has_receives)
		probe_must(doca_buf_inventory_destroy(responder->inventory), "destroy the inventory");
	probe_must(doca_mmap_destroy(responder->mmap), "destroy the map");
	probe_must(doca_dev_close(responder->dev), "close the device");
	free(responder->rooms);
	free(responder->receives);
}

int probe_rdma_serve(const struct probe_rdma_cfg *cfg)
{
	struct responder responder = { .cfg = cfg };
	char address[16];

	responder.dev = probe_rdma_open(cfg->is_last, address);
	create(&responder);
	if (cfg->op == PROBE_RDMA_SEND)
		make_receives(&responder);
	probe_must(doca_rdma_start_listen_to_port(responder.rdma, PROBE_RDMA_PORT), "listen");
	write_place(&responder, address);
	while (responder.num_gone < cfg->threads)
		doca_pe_progress(responder.pe);
	if (cfg->op == PROBE_RDMA_WRITE)
		check_written(&responder);
	if (cfg->op == PROBE_RDMA_SEND)
		check_sent(&responder);
	release(&responder);
	return EXIT_SUCCESS;
}
