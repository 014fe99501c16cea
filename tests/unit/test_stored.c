/* SPDX-License-Identifier: BSD-3-Clause */
/* Deflate streams without stored blocks: streams of zlib, whose blocks begin at any bit, keep their text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "cmocka_test.h"
#include "shim/compress/bit_writer.h"
#include "shim/compress/literals.h"
#include "shim/compress/stored.h"

#define MAX 200000

static uint8_t text[MAX], stream[2 * MAX], recoded[3 * MAX], again[MAX + 1];

/* Decompress and compare; count the stored blocks. */
static void expect_text(const uint8_t *bytes, size_t len, size_t text_len, uint32_t *ret_stored)
{
	z_stream walk = {
		.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)len, .next_out = again, .avail_out = MAX + 1
	};
	uint64_t bit = 0;

	assert_int_equal(inflateInit2(&walk, -15), Z_OK);
	*ret_stored = 0;
	do {
		*ret_stored +=
			!(bytes[(bit + 1) / 8] >> (bit + 1) % 8 & 1) && !(bytes[(bit + 2) / 8] >> (bit + 2) % 8 & 1);
		assert_int_equal(inflate(&walk, Z_BLOCK), Z_OK);
		assert_true(walk.data_type & 128);
		bit = walk.total_in * 8 - (uint64_t)(walk.data_type & 7);
	} while (!(walk.data_type & 64));
	inflateEnd(&walk);
	assert_int_equal(walk.total_out, text_len);
	assert_memory_equal(again, text, text_len);
}

/* Compress @len bytes of the text in pieces of chance's length, level and flush. */
static size_t compress_in_pieces(size_t len)
{
	static const int flushes[] = { Z_NO_FLUSH, Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK };
	z_stream pack = { .next_in = text, .next_out = stream, .avail_out = sizeof(stream) };

	assert_int_equal(deflateInit2(&pack, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	while (pack.total_in < len) {
		size_t part = 1 + (size_t)random() % 20000;

		pack.avail_in = (uInt)(part < len - pack.total_in ? part : len - pack.total_in);
		deflateParams(&pack, (int)(random() % 10), Z_DEFAULT_STRATEGY);
		deflate(&pack, flushes[random() % 5]);
	}
	assert_int_equal(deflate(&pack, Z_FINISH), Z_STREAM_END);
	deflateEnd(&pack);
	return pack.total_out;
}

static void test_streams_keep_their_text_without_stored_blocks(void **state)
{
	uint32_t before, total = 0;

	srandom(1);
	for (int round = 0; round < 60; round++) {
		size_t text_len = 1 + (size_t)random() % MAX, len, recoded_len;
		long spread = 1 + random() % 256;

		for (size_t i = 0; i < text_len; i++)
			text[i] = (uint8_t)(random() % spread);
		len = compress_in_pieces(text_len);
		expect_text(stream, len, text_len, &before);
		assert_true(before == 0 || stored_may_occur(stream, len));
		total += before;
		assert_int_equal(stored_recode(stream, len, recoded, &recoded_len), 0);
		assert_in_range(recoded_len, 1, stored_max_recoded(len));
		expect_text(recoded, recoded_len, text_len, &before);
		assert_int_equal(before, 0);
	}
	assert_in_range(total, 50, 100000);
}

/* Counts as Fibonacci's numbers make codes of 21 bits; deflate has 15. */
static void test_codes_are_no_longer_than_deflate_allows(void **state)
{
	struct bit_writer writer = { .at = recoded };
	uint32_t stored, counts[22] = { 1, 1 };
	size_t len = 0;

	for (uint32_t symbol = 0; symbol < 22; symbol++) {
		if (symbol > 1)
			counts[symbol] = counts[symbol - 1] + counts[symbol - 2];
		memset(text + len, (int)(symbol * 11), counts[symbol]);
		len += counts[symbol];
	}
	literals_write(&writer, text, len, true);
	expect_text(recoded, (size_t)(bit_writer_end(&writer) - recoded), len, &stored);
	assert_int_equal(stored, 0);
}

static void test_empty_stored_block_is_two_bytes(void **state)
{
	static const uint8_t empty[] = { 1, 0, 0, 0xff, 0xff };
	size_t len;
	uint32_t stored;

	assert_true(stored_may_occur(empty, sizeof(empty)));
	assert_int_equal(stored_recode(empty, sizeof(empty), recoded, &len), 0);
	assert_int_equal(len, 2); /* a header of 3 bits, the end of 7 */
	expect_text(recoded, len, 0, &stored);
}

/* The quick look sees a stored block at each place, and does not take each complement for one. */
static void test_quick_look(void **state)
{
	static const uint8_t block[] = { 0, 2, 0, 0xfd, 0xff, 'a', 'b' }; /* the header's byte first */
	uint8_t bytes[64];

	for (size_t at = 0; at + sizeof(block) <= sizeof(bytes); at++) {
		memset(bytes, 0x55, sizeof(bytes));
		assert_false(stored_may_occur(bytes, sizeof(bytes)));
		memcpy(bytes + at, block, sizeof(block));
		assert_true(stored_may_occur(bytes, sizeof(bytes)));
		assert_true(stored_may_occur(bytes, at + sizeof(block)));
		assert_false(stored_may_occur(bytes, at + sizeof(block) - 1)); /* not whole */
		bytes[at] = 0x40;
		assert_false(stored_may_occur(bytes, sizeof(bytes))); /* no header, and no filling */
	}
}

static void test_invalid_streams_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} invalid[] = {
		{ "\x07", 1 }, { "\x01\x05\x00\xfa\xffhell", 9 }, { "\x01\x05\x00\xfa\xfehello", 10 }, { "", 0 }
	};
	size_t len;

	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		assert_int_equal(stored_recode((const uint8_t *)invalid[i].bytes, invalid[i].len, recoded, &len), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams_keep_their_text_without_stored_blocks),
		cmocka_unit_test(test_codes_are_no_longer_than_deflate_allows),
		cmocka_unit_test(test_empty_stored_block_is_two_bytes),
		cmocka_unit_test(test_quick_look),
		cmocka_unit_test(test_invalid_streams_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
