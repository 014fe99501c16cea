/* SPDX-License-Identifier: BSD-3-Clause */
/* dpu.c - the DPU's half of the pipeline: it copies a host's memory by DMA, compresses it and sends the streams back. It serves
 * one client.
 *   dpu DEVICE REPRESENTOR
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_comch.h>
#include <doca_compress.h>
#include <doca_dma.h>

#include "pipeline.h"

struct dpu {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_comch_server *server;
	struct doca_comch_connection *client; /* NULL = it asked for nothing yet */
	bool client_gone;
	struct request request;
	uint8_t desc[2048];
	size_t desc_len;
	struct doca_dma *dma;
	struct doca_compress *compress;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *remote, *local;
	uint8_t *chunk, *stream; /* of one piece of memory */
};

static struct dpu dpu; /* callbacks of connections have no data of the program's */

static struct doca_dev_rep *open_representor(struct doca_dev *dev, const char *pci_addr)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t count;

	must(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count), "list the representors");
	for (uint32_t i = 0; i < count && !rep; i++) {
		uint8_t is_equal = 0;

		must(doca_devinfo_rep_is_equal_pci_addr(list[i], pci_addr, &is_equal), "compare a PCI address");
		if (is_equal)
			must(doca_dev_rep_open(list[i], &rep), "open the representor");
	}
	must(rep ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find the representor");
	doca_devinfo_rep_destroy_list(list);
	return rep;
}

/* ---- callbacks ---- */

#define DEFINE_CALLBACK(name, struct_)                                                            \
	static void name(struct struct_ *task, union doca_data is_over, union doca_data ctx_data) \
	{                                                                                         \
		(void)task, (void)ctx_data;                                                       \
		*(bool *)is_over.ptr = true;                                                      \
	}

DEFINE_CALLBACK(on_sent, doca_comch_task_send)
DEFINE_CALLBACK(on_copied, doca_dma_task_memcpy)
DEFINE_CALLBACK(on_deflated, doca_compress_task_compress_deflate)

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	(void)event;
	must(len > sizeof(dpu.request) && len - sizeof(dpu.request) <= sizeof(dpu.desc) ? DOCA_SUCCESS :
											  DOCA_ERROR_UNEXPECTED,
	     "read the request");
	memcpy(&dpu.request, bytes, sizeof(dpu.request));
	dpu.desc_len = len - sizeof(dpu.request);
	memcpy(dpu.desc, bytes + sizeof(dpu.request), dpu.desc_len);
	dpu.client = connection;
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t successful)
{
	(void)event, (void)connection, (void)successful;
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t successful)
{
	(void)event, (void)connection, (void)successful;
	dpu.client_gone = true;
}

/* ---- the stages ---- */

static void copy_chunk(uint64_t at, size_t len)
{
	struct doca_buf *src = get_buf(dpu.inventory, dpu.remote, (void *)(uintptr_t)(dpu.request.addr + at), len, len);
	struct doca_buf *dst = get_buf(dpu.inventory, dpu.local, dpu.chunk, CHUNK_BYTES, 0);
	struct doca_dma_task_memcpy *task;
	bool is_over = false;

	must(doca_dma_task_memcpy_alloc_init(dpu.dma, src, dst, (union doca_data){ .ptr = &is_over }, &task),
	     "make a copy task");
	run_task(dpu.pe, doca_dma_task_memcpy_as_task(task), &is_over, "copy a chunk");
	doca_buf_dec_refcount(src, NULL);
	doca_buf_dec_refcount(dst, NULL);
}

/* Returns the length of the stream. */
static size_t deflate_chunk(size_t len)
{
	struct doca_buf *src = get_buf(dpu.inventory, dpu.local, dpu.chunk, CHUNK_BYTES, len);
	struct doca_buf *dst = get_buf(dpu.inventory, dpu.local, dpu.stream, STREAM_BYTES, 0);
	struct doca_compress_task_compress_deflate *task;
	bool is_over = false;
	size_t stream_bytes;

	must(doca_compress_task_compress_deflate_alloc_init(dpu.compress, src, dst,
							    (union doca_data){ .ptr = &is_over }, &task),
	     "make a compress task");
	run_task(dpu.pe, doca_compress_task_compress_deflate_as_task(task), &is_over, "compress a chunk");
	must(doca_buf_get_data_len(dst, &stream_bytes), "get the length");
	doca_buf_dec_refcount(src, NULL);
	doca_buf_dec_refcount(dst, NULL);
	return stream_bytes;
}

static void send_piece(struct piece piece, const uint8_t *bytes, size_t len)
{
	uint8_t message[sizeof(piece) + PIECE_BYTES];
	struct doca_comch_task_send *task;
	bool is_over = false;

	memcpy(message, &piece, sizeof(piece));
	memcpy(message + sizeof(piece), bytes, len);
	must(doca_comch_server_task_send_alloc_init(dpu.server, dpu.client, message, (uint32_t)(sizeof(piece) + len),
						    &task),
	     "make a message");
	doca_task_set_user_data(doca_comch_task_send_as_task(task), (union doca_data){ .ptr = &is_over });
	run_task(dpu.pe, doca_comch_task_send_as_task(task), &is_over, "send a piece");
}

static void send_stream(uint32_t chunk, size_t stream_bytes)
{
	const struct piece piece = { chunk, (uint32_t)stream_bytes };

	for (size_t at = 0; at < stream_bytes; at += PIECE_BYTES)
		send_piece(piece, dpu.stream + at, stream_bytes - at < PIECE_BYTES ? stream_bytes - at : PIECE_BYTES);
}

static void serve(void)
{
	uint64_t len = dpu.request.len;

	must(doca_mmap_create_from_export(NULL, dpu.desc, dpu.desc_len, dpu.dev, &dpu.remote), "import the memory");
	for (uint64_t at = 0; at < len; at += CHUNK_BYTES) {
		size_t part = len - at < CHUNK_BYTES ? (size_t)(len - at) : CHUNK_BYTES;

		copy_chunk(at, part);
		send_stream((uint32_t)(at / CHUNK_BYTES), deflate_chunk(part));
	}
	send_piece((struct piece){ END, 0 }, dpu.stream, 0);
	must(doca_mmap_destroy(dpu.remote), "destroy the import");
	printf("%llu bytes were sent\n", (unsigned long long)len);
}

/* ---- life ---- */

static void open_engines(void)
{
	dpu.chunk = malloc(CHUNK_BYTES + STREAM_BYTES);
	must(dpu.chunk ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "get memory");
	dpu.stream = dpu.chunk + CHUNK_BYTES;
	dpu.local = map_memory(dpu.dev, dpu.chunk, CHUNK_BYTES + STREAM_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	dpu.inventory = make_inventory();
	must(doca_dma_create(dpu.dev, &dpu.dma), "create a DMA context");
	must(doca_dma_task_memcpy_set_conf(dpu.dma, on_copied, on_copied, 1), "configure it");
	start_ctx(dpu.pe, doca_dma_as_ctx(dpu.dma), "start it");
	must(doca_compress_create(dpu.dev, &dpu.compress), "create a compress context");
	must(doca_compress_task_compress_deflate_set_conf(dpu.compress, on_deflated, on_deflated, 1), "configure it");
	start_ctx(dpu.pe, doca_compress_as_ctx(dpu.compress), "start it (is the card a BlueField-2?)");
}

static void close_engines(void)
{
	stop_ctx(dpu.pe, doca_dma_as_ctx(dpu.dma));
	stop_ctx(dpu.pe, doca_compress_as_ctx(dpu.compress));
	must(doca_dma_destroy(dpu.dma), "destroy the DMA context");
	must(doca_compress_destroy(dpu.compress), "destroy the compress context");
	must(doca_buf_inventory_destroy(dpu.inventory), "destroy the inventory");
	must(doca_mmap_destroy(dpu.local), "destroy the map");
	free(dpu.chunk);
}

static void open_server(void)
{
	must(doca_comch_server_create(dpu.dev, dpu.rep, SERVER_NAME, &dpu.server), "create a server");
	must(doca_comch_server_task_send_set_conf(dpu.server, on_sent, on_sent, 1), "configure sending");
	must(doca_comch_server_event_msg_recv_register(dpu.server, on_message), "configure receiving");
	must(doca_comch_server_event_connection_status_changed_register(dpu.server, on_connect, on_disconnect),
	     "configure connections");
	start_ctx(dpu.pe, doca_comch_server_as_ctx(dpu.server), "start the server");
}

int main(int argc, char **argv)
{
	must(argc == 3 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE, "run; usage: dpu DEVICE REPRESENTOR");
	dpu.dev = open_device(argv[1]);
	dpu.rep = open_representor(dpu.dev, argv[2]);
	must(doca_pe_create(&dpu.pe), "create a progress engine");
	open_engines();
	open_server();
	while (!dpu.client && !dpu.client_gone)
		progress(dpu.pe);
	if (dpu.client)
		serve();
	while (!dpu.client_gone)
		progress(dpu.pe);
	stop_ctx(dpu.pe, doca_comch_server_as_ctx(dpu.server));
	must(doca_comch_server_destroy(dpu.server), "destroy the server");
	close_engines();
	must(doca_dev_rep_close(dpu.rep), "close the representor");
	must(doca_pe_destroy(dpu.pe), "destroy the engine");
	must(doca_dev_close(dpu.dev), "close the device");
	return EXIT_SUCCESS;
}
