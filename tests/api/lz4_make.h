/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/lz4_make.h - LZ4 blocks and frames' blocks, made by a simple encoder of the tests' own. */
#ifndef TESTS_API_LZ4_MAKE_H
#define TESTS_API_LZ4_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Encode data[begin, end) as the data of a block, with matches that begin at @window (<= @begin) at the earliest. Writes to
 * @to, which has room for twice the input and 16 bytes. Returns the length. */
size_t lz4_make_block(const uint8_t *data, size_t window, size_t begin, size_t end, uint8_t *to);

struct lz4_make {
	size_t block_bytes;      /* of input in one block */
	bool has_checksums;      /* XXH32 of each block's data */
	bool are_independent;    /* no match leaves its block */
	bool stores_every_other; /* every second block is stored */
	bool has_end_mark;
};

/* Encode @data as the blocks of a frame. Returns the length. */
size_t lz4_make_stream(const struct lz4_make *make, const uint8_t *data, size_t len, uint8_t *to);

/* XXH32 with seed 0, by its definition. */
uint32_t lz4_make_xxh32(const uint8_t *data, size_t len);

#endif
