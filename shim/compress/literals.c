/* SPDX-License-Identifier: BSD-3-Clause */
/* A block of literals. With codes of its own, its header has the lengths of all codes, which are coded themselves:
 *
 *   lengths    8 8 8 0 0 0 0 0 9 ...  1 1           literals, the end of a block; two distances, which do not occur
 *   symbols    8 8 8 18(5)     9 ...  1 1           runs of zeros and repetitions are one symbol (RFC 1951, 3.2.7)
 */
#include "literals.h"

#include <string.h>

#include "huffman.h"

enum {
	FIXED = 1,
	DYNAMIC = 2, /* types of blocks */
	END_OF_BLOCK = 256,
	NUM_LITERALS = 257,
	NUM_DISTANCES = 2, /* two codes of one bit: some decoders refuse less */
	NUM_LENGTHS = NUM_LITERALS + NUM_DISTANCES,
	MAX_LEN = 15,

	REPEAT = 16,     /* the length before, 3 to 6 times */
	ZEROS = 17,      /* 3 to 10 */
	MANY_ZEROS = 18, /* 11 to 138 */
	NUM_LENGTH_SYMBOLS = 19,
	MAX_LENGTH_LEN = 7,
};

/* In the header, the lengths of length symbols have this order; the last ones that are 0 are left out. */
static const uint8_t length_order[NUM_LENGTH_SYMBOLS] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
							  11, 4,  12, 3, 13, 2, 14, 1, 15 };
static const uint8_t extra_bits[NUM_LENGTH_SYMBOLS] = { [REPEAT] = 2, [ZEROS] = 3, [MANY_ZEROS] = 7 };

struct header {
	struct {
		uint8_t symbol, extra;
	} items[NUM_LENGTHS];
	uint32_t num_items, num_lengths; /* of @length_order */
	struct huffman lengths;
	uint64_t bits;
};

/* ---- codes ---- */

static void make_fixed(struct huffman *huffman)
{
	for (uint32_t i = 0; i < HUFFMAN_MAX_SYMBOLS; i++)
		huffman->len[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	huffman_assign(huffman, HUFFMAN_MAX_SYMBOLS);
}

static uint64_t bits_of(const uint32_t *counts, const struct huffman *huffman)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < NUM_LITERALS; i++)
		bits += (uint64_t)counts[i] * huffman->len[i];
	return bits;
}

/* ---- the header of a block with codes of its own ---- */

static void add_item(struct header *header, uint32_t *counts, uint32_t symbol, uint32_t extra)
{
	header->items[header->num_items].symbol = (uint8_t)symbol;
	header->items[header->num_items].extra = (uint8_t)extra;
	header->num_items++;
	counts[symbol]++;
	header->bits += extra_bits[symbol];
}

/* Add the run of @len lengths of @value. */
static void add_run(struct header *header, uint32_t *counts, uint8_t value, uint32_t len)
{
	if (value > 0) {
		add_item(header, counts, value, 0);
		len--;
	}
	while (len >= 3) {
		uint32_t max = value > 0 ? 6 : 138, part = len < max ? len : max;

		if (value > 0)
			add_item(header, counts, REPEAT, part - 3);
		else if (part <= 10)
			add_item(header, counts, ZEROS, part - 3);
		else
			add_item(header, counts, MANY_ZEROS, part - 11);
		len -= part;
	}
	for (; len > 0; len--)
		add_item(header, counts, value, 0);
}

static void make_header(struct header *header, const struct huffman *literals)
{
	uint32_t counts[NUM_LENGTH_SYMBOLS] = { 0 };
	uint8_t lengths[NUM_LENGTHS];

	memcpy(lengths, literals->len, NUM_LITERALS);
	memset(lengths + NUM_LITERALS, 1, NUM_DISTANCES);
	header->num_items = 0;
	header->bits = 5 + 5 + 4;
	for (uint32_t i = 0, end; i < NUM_LENGTHS; i = end) {
		for (end = i + 1; end < NUM_LENGTHS && lengths[end] == lengths[i];)
			end++;
		add_run(header, counts, lengths[i], end - i);
	}
	huffman_build(&header->lengths, counts, NUM_LENGTH_SYMBOLS, MAX_LENGTH_LEN);
	header->num_lengths = NUM_LENGTH_SYMBOLS;
	while (header->lengths.len[length_order[header->num_lengths - 1]] == 0)
		header->num_lengths--;
	header->bits += 3 * header->num_lengths;
	for (uint32_t i = 0; i < NUM_LENGTH_SYMBOLS; i++)
		header->bits += (uint64_t)counts[i] * header->lengths.len[i];
}

static void write_header(struct bit_writer *writer, const struct header *header)
{
	bit_writer_put(writer, NUM_LITERALS - 257, 5);
	bit_writer_put(writer, NUM_DISTANCES - 1, 5);
	bit_writer_put(writer, header->num_lengths - 4, 4);
	for (uint32_t i = 0; i < header->num_lengths; i++)
		bit_writer_put(writer, header->lengths.len[length_order[i]], 3);
	for (uint32_t i = 0; i < header->num_items; i++) {
		uint8_t symbol = header->items[i].symbol;

		bit_writer_put(writer, header->lengths.code[symbol], header->lengths.len[symbol]);
		bit_writer_put(writer, header->items[i].extra, extra_bits[symbol]);
	}
}

/* ---- the block ---- */

static void write_codes(struct bit_writer *writer, const struct huffman *huffman, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bit_writer_put(writer, huffman->code[bytes[i]], huffman->len[bytes[i]]);
	bit_writer_put(writer, huffman->code[END_OF_BLOCK], huffman->len[END_OF_BLOCK]);
}

void literals_write(struct bit_writer *writer, const uint8_t *bytes, size_t len, bool is_final)
{
	uint32_t counts[NUM_LITERALS] = { [END_OF_BLOCK] = 1 };
	struct huffman fixed, own;
	struct header header;
	bool is_dynamic = false;

	for (size_t i = 0; i < len; i++)
		counts[bytes[i]]++;
	make_fixed(&fixed);
	if (len > 0) { /* a code of its own needs two symbols */
		huffman_build(&own, counts, NUM_LITERALS, MAX_LEN);
		make_header(&header, &own);
		is_dynamic = header.bits + bits_of(counts, &own) < bits_of(counts, &fixed);
	}
	bit_writer_put(writer, is_final, 1);
	bit_writer_put(writer, is_dynamic ? DYNAMIC : FIXED, 2);
	if (is_dynamic)
		write_header(writer, &header);
	write_codes(writer, is_dynamic ? &own : &fixed, bytes, len);
}
