/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as an LZ4 block or stream: nothing is written outside of the destination. The first byte selects what they are, the
 * next two are the room. Seeds are in corpus/lz4. */
#include <errno.h>

#include "fuzz_input.h"
#include "shim/compress/lz4.h"

static int decompress(uint8_t kind, const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_written)
{
	if (kind & 1)
		return compress_lz4_block(src, len, dst, room, ret_written);
	return compress_lz4_stream(src, len, kind & 2, kind & 4, dst, room, ret_written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room, written = 0;
	uint8_t *src, *dst;
	int rc;

	if (size < 4 || compress_lz4_find_lack())
		return 0;
	room = data[1] | (size_t)data[2] << 8;
	src = malloc(size - 3); /* of the exact sizes, so that an access beyond them shows */
	dst = malloc(room);
	memcpy(src, data + 3, size - 3);
	rc = decompress(data[0], src, size - 3, dst, room, &written);
	promise(rc == 0 || rc == -EBADMSG || rc == -ENOSPC);
	promise(rc < 0 || written <= room);
	free(src);
	free(dst);
	return 0;
}
