/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/compress/bit_writer.h - writing a deflate stream, whose fields begin at any bit, the lowest of a byte first.
 *
 * The writer has room for all that is written: its user computes the room before.
 */
#ifndef SHIM_COMPRESS_BIT_WRITER_H
#define SHIM_COMPRESS_BIT_WRITER_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What bit_writer_end() and bit_writer_put() may write behind the stream. */
#define BIT_WRITER_SLACK_BYTES 8

struct bit_writer {
	uint8_t *at;
	uint64_t pending;     /* bits that are not written yet */
	uint32_t num_pending; /* below 32 between two calls */
};

/* Write the lowest @num bits (32 at most) of @bits; the others are 0. */
static inline void bit_writer_put(struct bit_writer *writer, uint64_t bits, uint32_t num)
{
	uint32_t word;

	writer->pending |= bits << writer->num_pending;
	writer->num_pending += num;
	if (writer->num_pending < 32)
		return;
	word = htole32((uint32_t)writer->pending);
	memcpy(writer->at, &word, sizeof(word));
	writer->at += sizeof(word);
	writer->pending >>= 32;
	writer->num_pending -= 32;
}

/* Write what is pending, up to a whole byte. Returns the end of the stream. */
static inline uint8_t *bit_writer_end(struct bit_writer *writer)
{
	uint64_t word = htole64(writer->pending);

	memcpy(writer->at, &word, sizeof(word));
	return writer->at + (writer->num_pending + 7) / 8;
}

#endif
