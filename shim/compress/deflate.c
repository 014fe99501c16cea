/* SPDX-License-Identifier: BSD-3-Clause */
/* Deflate and checksums by libdeflate. */
#include "deflate.h"

#include <errno.h>

#include "shim/common/accel/load.h"

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
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

const char *compress_deflate_find_lack(void)
{
	return shim_load(&libdeflate);
}

int compress_deflate(struct compress_codecs *codecs, const uint8_t *src, size_t len, uint8_t *dst, size_t room,
		     size_t *ret_written)
{
	if (!codecs->compressor)
		codecs->compressor = lib.alloc_compressor(LEVEL);
	if (!codecs->compressor)
		return -ENOMEM;
	*ret_written = lib.compress(codecs->compressor, src, len, dst, room);
	return *ret_written > 0 ? 0 : -ENOSPC;
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
	*codecs = (struct compress_codecs){ 0 };
}
