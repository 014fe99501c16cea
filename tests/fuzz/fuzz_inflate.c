/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a raw deflate stream: nothing is written outside of the destination, and zlib agrees about what succeeds. The
 * first two bytes are the room. Seeds are in corpus/inflate. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "shim/compress/deflate.h"

/* Unlike assert(), not compiled out. */
static void promise(bool kept)
{
	if (!kept)
		abort();
}

/* What zlib says of the stream. */
static int inflate_by_zlib(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_written)
{
	uint8_t none;
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)src,
			    .avail_in = (uInt)len,
			    .next_out = room ? dst : &none,
			    .avail_out = (uInt)room };
	int rc;

	promise(inflateInit2(&stream, -15) == Z_OK);
	rc = inflate(&stream, Z_FINISH);
	*ret_written = stream.total_out;
	inflateEnd(&stream);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct compress_codecs codecs = { 0 };
	size_t room, written = 0, expected = 0;
	uint8_t *src, *dst, *other;
	int rc, other_rc;

	if (size < 3 || compress_deflate_find_lack())
		return 0;
	room = data[0] | (size_t)data[1] << 8;
	src = malloc(size - 2); /* of the exact sizes, so that an access beyond them shows */
	dst = malloc(room);
	other = malloc(room);
	memcpy(src, data + 2, size - 2);
	rc = compress_inflate(&codecs, src, size - 2, dst, room, &written);
	other_rc = inflate_by_zlib(src, size - 2, other, room, &expected);
	promise(rc == 0 || rc == -EBADMSG || rc == -ENOSPC);
	if (rc == 0)
		promise(other_rc == Z_STREAM_END && written == expected && memcmp(dst, other, written) == 0);
	else
		promise(other_rc != Z_STREAM_END);
	compress_codecs_free(&codecs);
	free(src);
	free(dst);
	free(other);
	return 0;
}
