/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/compress/compress_priv.h - the compress context and its types of tasks, for the files of libdoca_compress.
 *
 *   compress.c              the context; the table of types
 *   compress_task.[ch]      the types, which differ in little, and their public functions
 *   compress_work.[ch]      the work
 *   deflate.[ch], lz4.[ch]  the codecs
 *   stored.[ch]             deflate streams without stored blocks; literals.[ch], huffman.[ch], bit_writer.h write theirs
 */
#ifndef SHIM_COMPRESS_PRIV_H
#define SHIM_COMPRESS_PRIV_H

#include <doca_compress.h>

#include "deflate.h"
#include "shim/common/accel/accel.h"

enum { COMPRESS_DEFLATE, DECOMPRESS_DEFLATE, DECOMPRESS_LZ4_STREAM, DECOMPRESS_LZ4_BLOCK, DECOMPRESS_LZ4 };

struct doca_compress {
	struct shim_accel accel; /* first: a doca_compress is a doca_ctx */
	struct compress_codecs codecs;
};

/* A task of any type. */
struct compress_task {
	struct shim_accel_task base; /* first */
	uint32_t crc, adler, xxh;    /* of the uncompressed bytes, after a success; as the getters return them */
	uint8_t has_block_checksum, are_blocks_independent;
};

extern const struct shim_accel_type compress_deflate_type, decompress_deflate_type, decompress_lz4_stream_type,
	decompress_lz4_block_type, decompress_lz4_type;

static inline struct compress_task *to_compress_task(const void *task)
{
	return (struct compress_task *)(uintptr_t)task;
}

#endif
