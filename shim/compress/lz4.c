/* SPDX-License-Identifier: BSD-3-Clause */
/* LZ4 by liblz4, XXH32 by libxxhash. */
#include "lz4.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "shim/common/accel/load.h"

#define SIZE_BYTES   4
#define SIZE_STORED  UINT32_C(0x80000000)
#define WINDOW_BYTES 65536

/* What is used of <lz4.h> and <xxhash.h>, so that the build does not need the headers. */
static struct {
	int (*decompress)(const char *src, char *dst, int len, int room, const char *window, int window_len);
	uint32_t (*xxh32)(const void *data, size_t len, uint32_t seed);
} lib;

static const struct shim_import lz4_imports[] = { { "LZ4_decompress_safe_usingDict", &lib.decompress } };

static struct shim_loaded_library liblz4 = {
	.file = "liblz4.so.1",
	.package = "liblz4-1",
	.imports = lz4_imports,
	.num_imports = 1,
};

static const struct shim_import xxhash_imports[] = { { "XXH32", &lib.xxh32 } };

static struct shim_loaded_library libxxhash = {
	.file = "libxxhash.so.0",
	.package = "libxxhash0",
	.imports = xxhash_imports,
	.num_imports = 1,
};

const char *compress_lz4_find_lack(void)
{
	const char *lack = shim_load(&liblz4);

	return lack ? lack : shim_load(&libxxhash);
}

uint32_t compress_xxh32(const uint8_t *data, size_t len)
{
	return lib.xxh32(data, len, 0);
}

/* Decompress a block behind @window bytes of output that it may refer to. */
static int decompress(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t window, size_t *ret_written)
{
	int written;

	if (len > INT_MAX)
		return -EBADMSG;
	written = lib.decompress((const char *)src, (char *)dst, (int)len, (int)min_size(room, INT_MAX),
				 (const char *)dst - window, (int)window);
	if (written < 0)
		return -EBADMSG;
	*ret_written = (size_t)written;
	return 0;
}

int compress_lz4_block(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_written)
{
	return decompress(src, len, dst, room, 0, ret_written);
}

static uint32_t read_le32(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Write the data of a block to @dst. */
static int write_block(const uint8_t *data, size_t len, bool is_stored, uint8_t *dst, size_t room, size_t window,
		       size_t *ret_written)
{
	if (!is_stored)
		return decompress(data, len, dst, room, window, ret_written);
	if (len > room)
		return -ENOSPC;
	memcpy(dst, data, len);
	*ret_written = len;
	return 0;
}

/* A block of a stream: its data, and the bytes up to the next one. */
struct block {
	const uint8_t *data;
	size_t len, whole;
	bool is_stored, is_end;
};

/* Read the block at the beginning of @len bytes (> 0). Returns 0 or -EBADMSG. */
static int read_block(const uint8_t *src, size_t len, bool has_checksum, struct block *ret_block)
{
	size_t tail = has_checksum ? SIZE_BYTES : 0;
	uint32_t size;

	if (len < SIZE_BYTES)
		return -EBADMSG;
	size = read_le32(src);
	*ret_block = (struct block){ .data = src + SIZE_BYTES,
				     .len = size & ~SIZE_STORED,
				     .is_stored = size & SIZE_STORED,
				     .is_end = size == 0 };
	ret_block->whole = SIZE_BYTES + ret_block->len + tail;
	if (ret_block->is_end)
		return 0;
	if (ret_block->whole > len)
		return -EBADMSG;
	if (has_checksum &&
	    compress_xxh32(ret_block->data, ret_block->len) != read_le32(ret_block->data + ret_block->len))
		return -EBADMSG;
	return 0;
}

int compress_lz4_stream(const uint8_t *src, size_t len, bool has_checksums, bool are_independent, uint8_t *dst,
			size_t room, size_t *ret_written)
{
	size_t done = 0;

	while (len > 0) {
		struct block block;
		size_t written;
		int rc = read_block(src, len, has_checksums, &block);

		if (rc == 0 && block.is_end)
			break;
		if (rc == 0)
			rc = write_block(block.data, block.len, block.is_stored, dst + done, room - done,
					 are_independent ? 0 : min_size(done, WINDOW_BYTES), &written);
		if (rc < 0)
			return rc;
		done += written;
		src += block.whole;
		len -= block.whole;
	}
	*ret_written = done;
	return 0;
}
