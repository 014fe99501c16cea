/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/compress/lz4.h - blocks of LZ4 frames, by liblz4 and libxxhash, which are loaded on first use.
 *
 *   stream   | size | data | checksum? | size | data | checksum? | ... | 0 ?
 *
 * A size is four bytes, little-endian; its highest bit says that the data is stored, not compressed. A size of 0 is the
 * end mark, behind which nothing is read. A match at distance 0, which the format forbids, is not detected by liblz4: its bytes
 * are arbitrary.
 */
#ifndef SHIM_COMPRESS_LZ4_H
#define SHIM_COMPRESS_LZ4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return why there is no LZ4 on this machine, as a sentence, or NULL. The functions below need that. */
const char *compress_lz4_find_lack(void);

/* Decompress the data of one block. Returns 0, or -EBADMSG: invalid, or too little room. */
int compress_lz4_block(const uint8_t *src, size_t len, uint8_t *dst, size_t room, size_t *ret_written);

/* Decompress a stream. Without @are_independent, a block may refer to 64 KiB of the output before it. Returns 0, -ENOSPC
 * or -EBADMSG as above. */
int compress_lz4_stream(const uint8_t *src, size_t len, bool has_checksums, bool are_independent, uint8_t *dst,
			size_t room, size_t *ret_written);

uint32_t compress_xxh32(const uint8_t *data, size_t len);

#endif
