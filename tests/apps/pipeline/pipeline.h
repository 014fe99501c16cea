/* SPDX-License-Identifier: BSD-3-Clause */
/* pipeline.h - what both halves of the pipeline share: messages and helpers.
 *
 *   host: file in exported memory --request (descriptor)--> DPU
 *   DPU:  DMA of a chunk --> deflate --> pieces of the stream as messages --> host
 *   host: inflate --> file
 */
#ifndef PIPELINE_H
#define PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#define SERVER_NAME  "pipeline"
#define CHUNK_BYTES  65536 /* of the file, in one deflate stream */
#define PIECE_BYTES  4000  /* of a stream, in one message */
#define STREAM_BYTES (CHUNK_BYTES + 4096)
#define END          UINT32_MAX

/* The host's only message: memory of the host. The descriptor follows. */
struct request {
	uint64_t addr, len;
};

/* A message of the DPU; bytes of the chunk's stream follow. The chunk END has none. */
struct piece {
	uint32_t chunk, stream_bytes;
};

/* Exit with a line on standard error unless @result is DOCA_SUCCESS. */
void must(doca_error_t result, const char *what);

/* As must(), also for DOCA_ERROR_IN_PROGRESS. */
void must_begin(doca_error_t result, const char *what);

struct doca_dev *open_device(const char *pci_addr);

/* Handle an event, or wait a moment. */
void progress(struct doca_pe *pe);

/* Submit a task, whose callbacks set *@is_over, and progress until it ended; then free it. It must succeed. */
void run_task(struct doca_pe *pe, struct doca_task *task, const bool *is_over, const char *what);

/* Connect and start a context of an engine; stop it again. */
void start_ctx(struct doca_pe *pe, struct doca_ctx *ctx, const char *what);
void stop_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/* A started map, and a buffer of it: with @data_len bytes of data. */
struct doca_mmap *map_memory(struct doca_dev *dev, void *addr, size_t len, uint32_t access);
struct doca_buf_inventory *make_inventory(void);
struct doca_buf *get_buf(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr, size_t len,
			 size_t data_len);

#endif
