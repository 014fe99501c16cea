/* SPDX-License-Identifier: BSD-3-Clause */
/* Deflate and checksums by libdeflate. */
#include "deflate.h"

#include <errno.h>
#include <stdlib.h>

#include "bit_writer.h"
#include "shim/common/accel/load.h"
#include "shim/common/base/alloc.h"
#include "sim/base/log.h"
#include "stored.h"

/* Its ratio is that of zlib's level 3, which is near to BlueField-2's. */
#define LEVEL 1

/* What is used of <libdeflate.h>, so that the build does not need the header. */
enum {
	LIBDEFLATE_SUCCESS = 0,
	LIBDEFLATE_BAD_DATA = 1,
	LIBDEFLATE_SHORT_OUTPUT = 2,
	LIBDEFLATE_INSUFFICIENT_SPACE = 3
};

static struct {
	void *(*alloc_compressor)(int level);
	void *(*alloc_decompressor)(void);
	void (*free_compressor)(void *compressor);
	void (*free_decompressor)(void *decompressor);
	size_t (*compress_bound)(void *compressor, size_t in_len);
	size_t (*compress)(void *compressor, const void *in, size_t in_len, void *out, size_t room);
	int (*decompress)(void *decompressor, const void *in, size_t in_len, void *out, size_t room, size_t *ret_read,
			  size_t *ret_written);
	uint32_t (*crc32)(uint32_t crc, const void *data, size_t len);
	uint32_t (*adler32)(uint32_t adler, const void *data, size_t len);
} lib;

static const struct shim_import imports[] = {
	{ "libdeflate_alloc_compressor", &lib.alloc_compressor },
	{ "libdeflate_alloc_decompressor", &lib.alloc_decompressor },
	{ "libdeflate_free_compressor", &lib.free_compressor },
	{ "libdeflate_free_decompressor", &lib.free_decompressor },
	{ "libdeflate_deflate_compress_bound", &lib.compress_bound },
	{ "libdeflate_deflate_compress", &lib.compress },
	{ "libdeflate_deflate_decompress_ex", &lib.decompress },
	{ "libdeflate_crc32", &lib.crc32 },
	{ "libdeflate_adler32", &lib.adler32 },
};

static struct shim_loaded_library libdeflate = {
	.file = "libdeflate.so.0",
	.package = "libdeflate0",
	.imports = imports,
	.num_imports = sizeof(imports) / sizeof(imports[0]),
};

const char *compress_deflate_find_lack(void)
{
	return shim_load(&libdeflate);
}

static int ensure_room(struct compress_stream *stream, size_t room)
{
	uint8_t *grown;

	if (stream->capacity >= room)
		return 0;
	grown = shim_realloc(stream->bytes, room);
	if (!grown) {
		sim_err("a task fails: no memory for %zu bytes of compressed data", room);
		return -ENOMEM;
	}
	stream->bytes = grown;
	stream->capacity = room;
	return 0;
}

static int recode(struct compress_codecs *codecs)
{
	const struct compress_stream *from = &codecs->deflated;
	struct compress_stream *to = &codecs->recoded;
	int rc = ensure_room(to, stored_max_recoded(from->len) + BIT_WRITER_SLACK_BYTES);

	if (rc == 0)
		rc = stored_recode(from->bytes, from->len, to->bytes, &to->len);
	if (rc == -EIO)
		sim_err("a task fails: zlib does not read the stream that %s wrote", libdeflate.file);
	return rc;
}

int compress_deflate(struct compress_codecs *codecs, const uint8_t *src, size_t len,
		     const struct compress_stream **ret_stream)
{
	struct compress_stream *deflated = &codecs->deflated;
	int rc;

	if (!codecs->compressor)
		codecs->compressor = lib.alloc_compressor(LEVEL);
	if (!codecs->compressor)
		return -ENOMEM;
	rc = ensure_room(deflated, lib.compress_bound(codecs->compressor, len));
	if (rc < 0)
		return rc;
	deflated->len = lib.compress(codecs->compressor, src, len, deflated->bytes, deflated->capacity);
	*ret_stream = deflated;
	if (!stored_may_occur(deflated->bytes, deflated->len))
		return 0;
	*ret_stream = &codecs->recoded;
	return recode(codecs);
}

int compress_inflate(struct compress_codecs *codecs, const uint8_t *src, size_t len, uint8_t *dst, size_t room,
		     size_t *ret_written)
{
	size_t read;
	int rc;

	if (!codecs->decompressor)
		codecs->decompressor = lib.alloc_decompressor();
	if (!codecs->decompressor)
		return -ENOMEM;
	rc = lib.decompress(codecs->decompressor, src, len, dst, room, &read, ret_written);
	if (rc == LIBDEFLATE_SUCCESS)
		return 0;
	return rc == LIBDEFLATE_INSUFFICIENT_SPACE ? -ENOSPC : -EBADMSG;
}

uint32_t compress_crc32(const uint8_t *data, size_t len)
{
	return lib.crc32(0, data, len);
}

uint32_t compress_adler32(const uint8_t *data, size_t len)
{
	return lib.adler32(1, data, len);
}

void compress_codecs_free(struct compress_codecs *codecs)
{
	if (codecs->compressor)
		lib.free_compressor(codecs->compressor);
	if (codecs->decompressor)
		lib.free_decompressor(codecs->decompressor);
	free(codecs->deflated.bytes);
	free(codecs->recoded.bytes);
	*codecs = (struct compress_codecs){ 0 };
}
