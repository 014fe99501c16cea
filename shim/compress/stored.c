/* SPDX-License-Identifier: BSD-3-Clause */
/* Stored blocks of a stream: zlib walks from block to block; what is no stored block is copied bit by bit. */
#include "stored.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "literals.h"
#include "pcie_model/arith.h"

enum { HEADER_BITS = 3, LENGTH_BYTES = 4, LANES = 16 };

/* z_stream.data_type, after inflate(Z_BLOCK). */
enum { UNUSED_BITS = 7, IN_FINAL_BLOCK = 64, AT_END_OF_BLOCK = 128 };

/* ---- a quick look ---- */

typedef uint8_t lanes_t __attribute__((vector_size(LANES)));

static lanes_t load(const uint8_t *at)
{
	lanes_t lanes;

	memcpy(&lanes, at, sizeof(lanes));
	return lanes;
}

/* A length and its complement, and before them the header's type, or the bits that fill its byte: 0. */
static bool is_candidate(const uint8_t *stream, size_t len, size_t at)
{
	size_t bytes = stream[at] | (size_t)stream[at + 1] << 8;

	return (stream[at] ^ stream[at + 2]) == 0xff && (stream[at + 1] ^ stream[at + 3]) == 0xff &&
	       (at == 0 || stream[at - 1] >> 6 == 0) && bytes <= len - at - LENGTH_BYTES;
}

static bool has_candidate(const uint8_t *stream, size_t len, size_t from, size_t end)
{
	for (; from < end && from + LENGTH_BYTES <= len; from++)
		if (is_candidate(stream, len, from))
			return true;
	return false;
}

bool stored_may_occur(const uint8_t *stream, size_t len)
{
	size_t at = 0;

	for (; at + LANES + LENGTH_BYTES <= len; at += LANES) {
		const uint8_t *here = stream + at;
		lanes_t complements = (load(here) ^ load(here + 2)) & (load(here + 1) ^ load(here + 3));
		lanes_t found = (lanes_t)(complements == 0xff);
		uint64_t halves[2];

		memcpy(halves, &found, sizeof(halves));
		if ((halves[0] | halves[1]) != 0 && has_candidate(stream, len, at, at + LANES))
			return true;
	}
	return has_candidate(stream, len, at, len);
}

/* ---- recoding ---- */

struct recoder {
	const uint8_t *stream;
	size_t len;
	uint64_t copied; /* bits of the stream that the output has */
	struct bit_writer out;
};

size_t stored_max_recoded(size_t len)
{
	return (size_t)(LITERALS_MAX_BITS(len) / 8) + 1;
}

/* Returns @num bits (32 at most) of the stream from the bit @from on. */
static uint64_t get_bits(const struct recoder *recoder, uint64_t from, uint32_t num)
{
	size_t at = (size_t)(from / 8);
	uint64_t word = 0;

	memcpy(&word, recoder->stream + at, min_size(sizeof(word), recoder->len - at));
	return le64toh(word) >> (from % 8) & ((UINT64_C(1) << num) - 1);
}

static void copy_until(struct recoder *recoder, uint64_t end)
{
	while (recoder->copied < end) {
		uint32_t num = (uint32_t)min_u64(32, end - recoder->copied);

		bit_writer_put(&recoder->out, get_bits(recoder, recoder->copied, num), num);
		recoder->copied += num;
	}
}

/* Recode the block at the bit @from, if it is a stored one. zlib has read it: it is whole. */
static void recode_block(struct recoder *recoder, uint64_t from)
{
	uint64_t header = get_bits(recoder, from, HEADER_BITS);
	size_t at = (size_t)((from + HEADER_BITS + 7) / 8), bytes;

	if (header >> 1 != 0)
		return;
	bytes = recoder->stream[at] | (size_t)recoder->stream[at + 1] << 8;
	copy_until(recoder, from);
	literals_write(&recoder->out, recoder->stream + at + LENGTH_BYTES, bytes, header & 1);
	recoder->copied = (at + LENGTH_BYTES + bytes) * 8;
}

/* Read the next block. Returns whether there was one; *ret_end is the bit behind it. */
static bool read_block(z_stream *walk, uint64_t *ret_end)
{
	uint8_t unused[16384];
	int rc;

	do {
		walk->next_out = unused;
		walk->avail_out = sizeof(unused);
		rc = inflate(walk, Z_BLOCK);
	} while (rc == Z_OK && !(walk->data_type & AT_END_OF_BLOCK));
	*ret_end = (uint64_t)walk->total_in * 8 - (walk->data_type & UNUSED_BITS);
	return rc == Z_OK;
}

/* Recode all blocks. Returns false if the stream ends before its final one. */
static bool recode_blocks(struct recoder *recoder, z_stream *walk)
{
	for (uint64_t from = 0, end; read_block(walk, &end); from = end) {
		recode_block(recoder, from);
		if (walk->data_type & IN_FINAL_BLOCK) {
			copy_until(recoder, end);
			return true;
		}
	}
	return false;
}

int stored_recode(const uint8_t *stream, size_t len, uint8_t *to, size_t *ret_written)
{
	struct recoder recoder = { .stream = stream, .len = len, .out = { .at = to } };
	z_stream walk = { .next_in = (Bytef *)(uintptr_t)stream, .avail_in = (uInt)len };
	bool is_whole;

	if (inflateInit2(&walk, -MAX_WBITS) != Z_OK)
		return -ENOMEM;
	is_whole = recode_blocks(&recoder, &walk);
	inflateEnd(&walk);
	if (!is_whole)
		return -EIO;
	*ret_written = (size_t)(bit_writer_end(&recoder.out) - to);
	return 0;
}
