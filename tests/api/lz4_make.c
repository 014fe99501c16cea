/* SPDX-License-Identifier: BSD-3-Clause */
/* An encoder of LZ4 blocks. */
#include "lz4_make.h"

#include <string.h>

#define MIN_MATCH    4
#define LAST_BYTES   12 /* no match begins here */
#define LAST_LITERAL 5
#define MAX_OFFSET   65535
#define TABLE        4096

static uint32_t read32(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint8_t *write32(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		*to++ = (uint8_t)(value >> 8 * i);
	return to;
}

/* The rest of a length behind its four bits in the token. */
static uint8_t *write_length(uint8_t *to, size_t length)
{
	if (length < 15)
		return to;
	for (length -= 15; length >= 255; length -= 255)
		*to++ = 255;
	*to++ = (uint8_t)length;
	return to;
}

static uint8_t token_of(size_t literals, size_t match)
{
	return (uint8_t)((literals < 15 ? literals : 15) << 4 | (match < 15 ? match : 15));
}

/* A sequence: literals and a match; the last has no match (@offset 0). */
static uint8_t *write_sequence(uint8_t *to, const uint8_t *literals, size_t num, size_t offset, size_t match)
{
	*to++ = token_of(num, offset ? match - MIN_MATCH : 0);
	to = write_length(to, num);
	memcpy(to, literals, num);
	to += num;
	if (!offset)
		return to;
	*to++ = (uint8_t)offset;
	*to++ = (uint8_t)(offset >> 8);
	return write_length(to, match - MIN_MATCH);
}

static size_t hash(const uint8_t *at)
{
	return read32(at) * 2654435761u >> 20;
}

size_t lz4_make_block(const uint8_t *data, size_t window, size_t begin, size_t end, uint8_t *to)
{
	size_t seen[TABLE], literals = begin;
	uint8_t *start = to;

	memset(seen, 0xff, sizeof(seen));
	for (size_t i = window; i + MIN_MATCH <= begin; i++)
		seen[hash(data + i)] = i;
	for (size_t at = begin; at + LAST_BYTES <= end;) {
		size_t before = seen[hash(data + at)], match = 0;

		seen[hash(data + at)] = at;
		if (before != SIZE_MAX && at - before <= MAX_OFFSET)
			while (at + match + LAST_LITERAL < end && data[before + match] == data[at + match])
				match++;
		if (match < MIN_MATCH) {
			at++;
			continue;
		}
		to = write_sequence(to, data + literals, at - literals, at - before, match);
		at += match;
		literals = at;
	}
	return (size_t)(write_sequence(to, data + literals, end - literals, 0, 0) - start);
}

size_t lz4_make_stream(const struct lz4_make *make, const uint8_t *data, size_t len, uint8_t *to)
{
	uint8_t *start = to;
	bool is_stored = false;

	for (size_t begin = 0; begin < len; begin += make->block_bytes) {
		size_t end = begin + make->block_bytes < len ? begin + make->block_bytes : len, size;
		size_t window = make->are_independent ? begin : begin > MAX_OFFSET ? begin - MAX_OFFSET : 0;
		uint8_t *block = to + 4;

		if (is_stored)
			memcpy(block, data + begin, end - begin);
		size = is_stored ? end - begin : lz4_make_block(data, window, begin, end, block);
		write32(to, (uint32_t)size | (is_stored ? 0x80000000u : 0));
		to = block + size;
		if (make->has_checksums)
			to = write32(to, lz4_make_xxh32(block, size));
		is_stored = make->stores_every_other && !is_stored;
	}
	if (make->has_end_mark)
		to = write32(to, 0);
	return (size_t)(to - start);
}

/* ---- XXH32 ---- */

#define PRIME1 2654435761u
#define PRIME2 2246822519u
#define PRIME3 3266489917u
#define PRIME4 668265263u
#define PRIME5 374761393u

static uint32_t rotate(uint32_t value, int bits)
{
	return value << bits | value >> (32 - bits);
}

uint32_t lz4_make_xxh32(const uint8_t *data, size_t len)
{
	uint32_t lanes[4] = { PRIME1 + PRIME2, PRIME2, 0, 0u - PRIME1 }, sum = PRIME5;
	const uint8_t *end = data + len;

	if (len >= 16) {
		for (; end - data >= 16; data += 16)
			for (int i = 0; i < 4; i++)
				lanes[i] = rotate(lanes[i] + read32(data + 4 * i) * PRIME2, 13) * PRIME1;
		sum = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
	}
	sum += (uint32_t)len;
	for (; end - data >= 4; data += 4)
		sum = rotate(sum + read32(data) * PRIME3, 17) * PRIME4;
	for (; data < end; data++)
		sum = rotate(sum + *data * PRIME5, 11) * PRIME1;
	sum = (sum ^ sum >> 15) * PRIME2;
	sum = (sum ^ sum >> 13) * PRIME3;
	return sum ^ sum >> 16;
}
