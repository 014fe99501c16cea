/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression and decompression of deflate, and decompression of LZ4 blocks. */
#include <doca_compress.h>

#include "probe_engine.h"

PROBE_CALLBACKS(compress_task_compress_deflate)
PROBE_CALLBACKS(compress_task_decompress_deflate)
PROBE_CALLBACKS(compress_task_decompress_lz4_block)

static void destroy(struct probe_worker *worker)
{
	probe_must(doca_compress_destroy(worker->instance), "destroy the context");
}

/* The functions of struct probe_kind for a type of tasks. */
#define KIND(type)                                                                                                     \
	static struct doca_ctx *create_##type(struct probe_worker *worker)                                             \
	{                                                                                                              \
		struct doca_compress *compress;                                                                        \
                                                                                                                       \
		probe_must(doca_compress_create(worker->run->dev, &compress), "create a context");                     \
		probe_must(doca_compress_task_##type##_set_conf(compress, on_compress_task_##type,                     \
								on_compress_task_##type##_failed, worker->run->depth), \
			   "configure it");                                                                            \
		worker->instance = compress;                                                                           \
		return doca_compress_as_ctx(compress);                                                                 \
	}                                                                                                              \
                                                                                                                       \
	static struct doca_task *alloc_##type(struct probe_worker *worker, struct doca_buf *from, struct doca_buf *to, \
					      union doca_data task_data)                                               \
	{                                                                                                              \
		struct doca_compress_task_##type *task;                                                                \
                                                                                                                       \
		probe_must(doca_compress_task_##type##_alloc_init(worker->instance, from, to, task_data, &task),       \
			   "make a task");                                                                             \
		return doca_compress_task_##type##_as_task(task);                                                      \
	}

KIND(compress_deflate)
KIND(decompress_deflate)
KIND(decompress_lz4_block)

const struct probe_engine probe_deflate = {
	.name = "deflate",
	.kind = { create_compress_deflate, alloc_compress_deflate, destroy },
	.is_supported = doca_compress_cap_task_compress_deflate_is_supported,
};

const struct probe_engine probe_inflate = {
	.name = "inflate",
	.kind = { create_decompress_deflate, alloc_decompress_deflate, destroy },
	.is_supported = doca_compress_cap_task_decompress_deflate_is_supported,
	.pack = probe_pack_deflate,
};

const struct probe_engine probe_lz4 = {
	.name = "lz4",
	.kind = { create_decompress_lz4_block, alloc_decompress_lz4_block, destroy },
	.is_supported = doca_compress_cap_task_decompress_lz4_block_is_supported,
	.pack = probe_pack_lz4,
};
