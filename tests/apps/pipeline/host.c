/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c - the host's half of the pipeline: it has the DPU compress a file, and decompresses what comes back.
 *   host DEVICE IN OUT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_comch.h>
#include <doca_compress.h>

#include "pipeline.h"

struct chunk {
	uint8_t *stream;
	size_t have, len;
};

struct host {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_comch_client *client;
	struct doca_compress *compress;
	uint8_t *file;
	size_t file_bytes;
	struct chunk *chunks;
	uint32_t num_chunks;
	bool has_all;
};

static void read_file(struct host *host, const char *path)
{
	FILE *file = fopen(path, "rb");

	must(file ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "open the file");
	fseek(file, 0, SEEK_END);
	host->file_bytes = (size_t)ftell(file);
	rewind(file);
	host->num_chunks = (uint32_t)((host->file_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES);
	host->file = malloc(host->file_bytes);
	host->chunks = calloc(host->num_chunks, sizeof(*host->chunks));
	must(host->file && host->chunks && fread(host->file, 1, host->file_bytes, file) == host->file_bytes ?
		     DOCA_SUCCESS :
		     DOCA_ERROR_IO_FAILED,
	     "read the file");
	fclose(file);
}

/* ---- callbacks ---- */

static void on_sent(struct doca_comch_task_send *task, union doca_data is_over, union doca_data ctx_data)
{
	(void)task, (void)ctx_data;
	*(bool *)is_over.ptr = true;
}

static void on_inflated(struct doca_compress_task_decompress_deflate *task, union doca_data is_over,
			union doca_data ctx_data)
{
	(void)task, (void)ctx_data;
	*(bool *)is_over.ptr = true;
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct host *host = doca_comch_connection_get_user_data(connection).ptr;
	struct piece piece;
	struct chunk *chunk;

	(void)event;
	must(len >= sizeof(piece) ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED, "read a message");
	memcpy(&piece, bytes, sizeof(piece));
	len -= (uint32_t)sizeof(piece);
	if (piece.chunk == END) {
		host->has_all = true;
		return;
	}
	must(piece.chunk < host->num_chunks && piece.stream_bytes <= STREAM_BYTES ? DOCA_SUCCESS :
										    DOCA_ERROR_UNEXPECTED,
	     "read a message");
	chunk = &host->chunks[piece.chunk];
	if (!chunk->stream)
		chunk->stream = malloc(chunk->len = piece.stream_bytes);
	must(chunk->stream && len <= chunk->len - chunk->have ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED, "keep a piece");
	memcpy(chunk->stream + chunk->have, bytes + sizeof(piece), len);
	chunk->have += len;
}

/* ---- the steps ---- */

static void connect(struct host *host)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;
	struct doca_comch_connection *connection;
	struct doca_ctx *ctx;

	must(doca_comch_client_create(host->dev, SERVER_NAME, &host->client), "create a client");
	ctx = doca_comch_client_as_ctx(host->client);
	must(doca_comch_client_task_send_set_conf(host->client, on_sent, on_sent, 1), "configure sending");
	must(doca_comch_client_event_msg_recv_register(host->client, on_message), "configure receiving");
	start_ctx(host->pe, ctx, "start the client");
	while (state == DOCA_CTX_STATE_STARTING) {
		progress(host->pe);
		must(doca_ctx_get_state(ctx, &state), "watch the client");
	}
	must(state == DOCA_CTX_STATE_RUNNING ? DOCA_SUCCESS : DOCA_ERROR_NOT_CONNECTED, "connect to the DPU");
	must(doca_comch_client_get_connection(host->client, &connection), "get the connection");
	must(doca_comch_connection_set_user_data(connection, (union doca_data){ .ptr = host }), "mark it");
}

static void request_all(struct host *host, struct doca_mmap *mmap)
{
	struct request request = { (uintptr_t)host->file, host->file_bytes };
	struct doca_comch_connection *connection;
	struct doca_comch_task_send *task;
	uint8_t message[2048];
	const void *desc;
	bool is_over = false;
	size_t len;

	must(doca_mmap_export_pci(mmap, host->dev, &desc, &len), "export the file");
	must(len <= sizeof(message) - sizeof(request) ? DOCA_SUCCESS : DOCA_ERROR_TOO_BIG, "send the descriptor");
	memcpy(message, &request, sizeof(request));
	memcpy(message + sizeof(request), desc, len);
	must(doca_comch_client_get_connection(host->client, &connection), "get the connection");
	must(doca_comch_client_task_send_alloc_init(host->client, connection, message,
						    (uint32_t)(sizeof(request) + len), &task),
	     "make a message");
	doca_task_set_user_data(doca_comch_task_send_as_task(task), (union doca_data){ .ptr = &is_over });
	run_task(host->pe, doca_comch_task_send_as_task(task), &is_over, "send the request");
	while (!host->has_all)
		progress(host->pe);
}

static void inflate(struct host *host, struct doca_buf_inventory *inventory, const struct chunk *chunk, uint8_t *out,
		    size_t out_len)
{
	struct doca_mmap *from = map_memory(host->dev, chunk->stream, chunk->len, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_mmap *to = map_memory(host->dev, out, out_len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *src = get_buf(inventory, from, chunk->stream, chunk->len, chunk->len);
	struct doca_buf *dst = get_buf(inventory, to, out, out_len, 0);
	struct doca_compress_task_decompress_deflate *task;
	bool is_over = false;
	size_t len;

	must(doca_compress_task_decompress_deflate_alloc_init(host->compress, src, dst,
							      (union doca_data){ .ptr = &is_over }, &task),
	     "make a task");
	run_task(host->pe, doca_compress_task_decompress_deflate_as_task(task), &is_over, "decompress a chunk");
	must(doca_buf_get_data_len(dst, &len), "get the length");
	must(len == out_len ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED, "decompress a whole chunk");
	doca_buf_dec_refcount(src, NULL);
	doca_buf_dec_refcount(dst, NULL);
	doca_mmap_destroy(from);
	doca_mmap_destroy(to);
}

static void inflate_all(struct host *host, const char *path)
{
	struct doca_buf_inventory *inventory = make_inventory();
	uint8_t *out = malloc(CHUNK_BYTES);
	FILE *file = fopen(path, "wb");
	size_t sum = 0;

	must(out && file ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED, "open the output");
	must(doca_compress_create(host->dev, &host->compress), "create a compress context");
	must(doca_compress_task_decompress_deflate_set_conf(host->compress, on_inflated, on_inflated, 1),
	     "configure it");
	start_ctx(host->pe, doca_compress_as_ctx(host->compress), "start it");
	for (uint32_t i = 0; i < host->num_chunks; i++) {
		size_t left = host->file_bytes - (size_t)i * CHUNK_BYTES, len = left < CHUNK_BYTES ? left : CHUNK_BYTES;

		must(host->chunks[i].stream && host->chunks[i].have == host->chunks[i].len ? DOCA_SUCCESS :
											     DOCA_ERROR_UNEXPECTED,
		     "get all of a chunk");
		inflate(host, inventory, &host->chunks[i], out, len);
		must(fwrite(out, 1, len, file) == len ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED, "write the output");
		sum += host->chunks[i].len;
		free(host->chunks[i].stream);
	}
	printf("%zu bytes came as %zu\n", host->file_bytes, sum);
	stop_ctx(host->pe, doca_compress_as_ctx(host->compress));
	must(doca_compress_destroy(host->compress), "destroy the compress context");
	must(doca_buf_inventory_destroy(inventory), "destroy the inventory");
	must(fclose(file) == 0 ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED, "write the output");
	free(out);
}

int main(int argc, char **argv)
{
	struct host host = { 0 };
	struct doca_mmap *mmap;

	must(argc == 4 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE, "run; usage: host DEVICE IN OUT");
	read_file(&host, argv[2]);
	host.dev = open_device(argv[1]);
	must(doca_pe_create(&host.pe), "create a progress engine");
	mmap = map_memory(host.dev, host.file, host.file_bytes, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	connect(&host);
	request_all(&host, mmap);
	inflate_all(&host, argv[3]);
	stop_ctx(host.pe, doca_comch_client_as_ctx(host.client));
	must(doca_comch_client_destroy(host.client), "destroy the client");
	must(doca_mmap_destroy(mmap), "destroy the map");
	must(doca_pe_destroy(host.pe), "destroy the engine");
	must(doca_dev_close(host.dev), "close the device");
	free(host.chunks);
	free(host.file);
	return EXIT_SUCCESS;
}
