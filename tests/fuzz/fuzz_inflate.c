/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a raw deflate stream: nothing is written outside of the destination, zlib agrees about what succeeds, and the
 * stream without its stored blocks has the same text. The first two bytes are the room. Seeds are in corpus/inflate. */
#include <errno.h>
#include <zlib.h>

#include "fuzz_input.h"
#include "shim/compress/bit_writer.h"
#include "shim/compress/deflate.h"
#include "shim/compress/stored.h"

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

/* The stream @src of @len bytes has the text @text of @text_len bytes. */
static void expect_recoded(const uint8_t *src, size_t len, const uint8_t *text, size_t text_len)
{
	uint8_t *recoded = malloc(stored_max_recoded(len) + BIT_WRITER_SLACK_BYTES), *again = malloc(text_len + 1);
	size_t recoded_len, again_len;

	promise(stored_recode(src, len, recoded, &recoded_len) == 0 && recoded_len <= stored_max_recoded(len));
	promise(inflate_by_zlib(recoded, recoded_len, again, text_len + 1, &again_len) == Z_STREAM_END);
	promise(again_len == text_len && memcmp(again, text, text_len) == 0);
	free(recoded);
	free(again);
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
	/* libdeflate takes the reserved codes of lengths, 286 and 287, which zlib refuses. */
	if (rc == 0 && other_rc != Z_DATA_ERROR) {
		promise(other_rc == Z_STREAM_END && written == expected && memcmp(dst, other, written) == 0);
		expect_recoded(src, size - 2, dst, written);
	} else if (rc < 0) {
		promise(other_rc != Z_STREAM_END);
	}
	compress_codecs_free(&codecs);
	free(src);
	free(dst);
	free(other);
	return 0;
}
