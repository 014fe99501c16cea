/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/compress/deflate.h - raw deflate streams, CRC-32 and Adler-32, by libdeflate, which is loaded on first use.
 *
 * libdeflate works on whole ranges of memory. With its copy of a list it is still faster than libraries that work on pieces
 * (doc/compatibility.md has the figures).
 */
#ifndef SHIM_COMPRESS_DEFLATE_H
#define SHIM_COMPRESS_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

/* A stream in memory that grows with the needs of the jobs of a context. */
struct compress_stream {
	uint8_t *bytes;
	size_t len, capacity;
};

/* The compressors of a context, made on first use; zeroed at first. */
struct compress_codecs {
	void *compressor, *decompressor;
	struct compress_stream deflated, recoded; /* the last output: of libdeflate, and without its stored blocks */
};

/* Return why there is no deflate on this machine, as a sentence, or NULL. The functions below need that. */
const char *compress_deflate_find_lack(void);

/* Compress, without stored blocks, which the cards do not write. *ret_stream is in memory of @codecs, until the next call.
 * Returns 0, -ENOMEM, or -EIO, with a log line: the library went wrong. */
int compress_deflate(struct compress_codecs *codecs, const uint8_t *src, size_t len,
		     const struct compress_stream **ret_stream);

/* Decompress, up to the end of the final block. Returns 0, -EBADMSG, -ENOSPC or -ENOMEM. */
int compress_inflate(struct compress_codecs *codecs, const uint8_t *src, size_t len, uint8_t *dst, size_t room,
		     size_t *ret_written);

uint32_t compress_crc32(const uint8_t *data, size_t len);
uint32_t compress_adler32(const uint8_t *data, size_t len);

void compress_codecs_free(struct compress_codecs *codecs);

#endif
