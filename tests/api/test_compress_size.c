/* SPDX-License-Identifier: BSD-3-Clause */
/* How large compressed data is when the source does not shrink: a card writes no stored blocks, so that each byte costs a Huffman
 * code. The streams have no stored block, zlib decompresses them, and a destination with room for stored blocks alone is too
 * small. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "api_util.h"
#include "accel_util.h"

#include <doca_compress.h>

#define MAX ((size_t)1 << 20)

struct rig {
	struct accel *accel;
	struct doca_compress *compress;
};

static uint8_t source[MAX], packed[2 * MAX], unpacked[MAX + 1];

static void on_end(struct doca_compress_task_compress_deflate *task, union doca_data user_data,
		   union doca_data ctx_data)
{
}

static struct rig open_rig(void)
{
	struct rig rig = { .accel = accel_open() };

	MUST(doca_compress_create(rig.accel->dev, &rig.compress));
	MUST(doca_compress_task_compress_deflate_set_conf(rig.compress, on_end, on_end, 1));
	accel_start(rig.accel, doca_compress_as_ctx(rig.compress));
	return rig;
}

static void close_rig(struct rig *rig)
{
	accel_stop(rig->accel);
	MUST(doca_compress_destroy(rig->compress));
	accel_close(rig->accel);
}

static doca_error_t deflate_to(struct rig *rig, size_t len, uint32_t pieces, struct doca_buf *dst)
{
	struct doca_compress_task_compress_deflate *task;
	doca_error_t result;

	MUST(doca_compress_task_compress_deflate_alloc_init(
		rig->compress, accel_src_list(rig->accel, source, len, pieces), dst, (union doca_data){ 0 }, &task));
	result = accel_run(rig->accel, doca_compress_task_compress_deflate_as_task(task));
	doca_task_free(doca_compress_task_compress_deflate_as_task(task));
	return result;
}

/* Compress @len bytes of the source to @packed. Returns the length. */
static size_t pack(struct rig *rig, size_t len, uint32_t pieces)
{
	struct doca_buf *dst = accel_dst_list(rig->accel, len + len / 8 + 64, pieces);
	size_t packed_len;

	assert_ok(deflate_to(rig, len, pieces, dst));
	packed_len = accel_data(dst, packed, sizeof(packed));
	assert_true(accel_rest_is_untouched(rig->accel));
	accel_reset(rig->accel);
	return packed_len;
}

static void make_noise(struct rig *rig, size_t len)
{
	for (size_t i = 0; i < len; i++)
		source[i] = (uint8_t)accel_random(rig->accel, 256);
}

/* Decompress @len bytes of @packed by zlib, block by block, and look at the type of each. */
static void expect_source_in_codes(size_t len, size_t source_len)
{
	z_stream stream = { .next_in = packed, .avail_in = (uInt)len, .next_out = unpacked, .avail_out = MAX + 1 };
	uint64_t bit = 0;

	assert_int_equal(inflateInit2(&stream, -15), Z_OK);
	do {
		/* after a bit that says whether the block is the last one: 0 = stored */
		uint32_t type =
			(packed[(bit + 1) / 8] >> (bit + 1) % 8 & 1) | (packed[(bit + 2) / 8] >> (bit + 2) % 8 & 1);

		assert_int_not_equal(type, 0);
		assert_int_equal(inflate(&stream, Z_BLOCK), Z_OK);
		assert_true(stream.data_type & 128); /* at the end of a block */
		bit = stream.total_in * 8 - (uint64_t)(stream.data_type & 7);
	} while (!(stream.data_type & 64)); /* of the last one */
	inflateEnd(&stream);
	assert_int_equal(stream.avail_in, 0);
	assert_int_equal(stream.total_out, source_len);
	assert_memory_equal(unpacked, source, source_len);
}

static size_t stored_len(size_t len)
{
	return len + (len / 65535 + 1) * 5;
}

/* 255 bytes of 8 bits; the rarest one and the end of 9; and a header for each block. */
static void test_noise_grows_as_with_huffman_codes(void **state)
{
	static const size_t sizes[] = { 4096, 10000, 65535, 65536, 70000, 200000, MAX };
	struct rig rig = open_rig();

	for (size_t i = 0; i < API_COUNT(sizes); i++) {
		size_t len = sizes[i], packed_len;

		make_noise(&rig, len);
		packed_len = pack(&rig, len, 1 + i % 3);
		expect_source_in_codes(packed_len, len);
		assert_in_range(packed_len, stored_len(len) + len / 1800 + 1, len + len / 1000 + 100);
	}
	close_rig(&rig);
}

static void test_short_sources_have_fixed_codes(void **state)
{
	static const size_t sizes[] = { 1, 2, 7, 51, 52, 53, 100, 400 };
	struct rig rig = open_rig();

	for (size_t i = 0; i < API_COUNT(sizes); i++) {
		size_t len = sizes[i], packed_len, bits = 3 + 7;

		make_noise(&rig, len);
		for (size_t at = 0; at < len; at++)
			bits += source[at] < 144 ? 8 : 9;
		packed_len = pack(&rig, len, 1);
		expect_source_in_codes(packed_len, len);
		assert_in_range(packed_len, 1, (bits + 7) / 8);
	}
	memset(source, 'a', 50); /* one symbol and the end: a bit each, and a header */
	assert_in_range(pack(&rig, 50, 1), 1, 30);
	close_rig(&rig);
}

/* Text and noise by turns, so that stored blocks would lie between others, at any bit. */
static void test_mixed_sources_have_codes_throughout(void **state)
{
	struct rig rig = open_rig();

	for (int round = 0; round < 12; round++) {
		size_t len = 300000 + accel_random(rig.accel, 500000), part;

		make_noise(&rig, len);
		for (size_t at = 0; at < len; at += part) {
			uint32_t spread = accel_random(rig.accel, 60) + 1;

			part = 20000 + accel_random(rig.accel, 120000);
			for (size_t i = at; i < at + part && i < len && round % 2 == (int)(at % 2); i++)
				source[i] = (uint8_t)(source[i] % spread);
		}
		expect_source_in_codes(pack(&rig, len, 1 + accel_random(rig.accel, 5)), len);
	}
	close_rig(&rig);
}

static void test_room_for_stored_blocks_is_too_little(void **state)
{
	static const size_t sizes[] = { 4096, 65536, 200000 };
	struct rig rig = open_rig();

	for (size_t i = 0; i < API_COUNT(sizes); i++) {
		size_t len = sizes[i], room = stored_len(len), needed;
		struct doca_buf *dst = accel_dst_list(rig.accel, room, 1 + i);

		make_noise(&rig, len);
		assert_doca(deflate_to(&rig, len, 2, dst), DOCA_ERROR_IO_FAILED);
		assert_int_equal(accel_data(dst, packed, sizeof(packed)), 0);
		accel_stop(rig.accel);
		MUST(doca_ctx_start(doca_compress_as_ctx(rig.compress)));
		accel_reset(rig.accel);

		needed = pack(&rig, len, 1);
		dst = accel_dst_list(rig.accel, needed, 3);
		assert_ok(deflate_to(&rig, len, 1, dst));
		assert_int_equal(accel_data(dst, packed, sizeof(packed)), needed);
		accel_reset(rig.accel);
	}
	close_rig(&rig);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_noise_grows_as_with_huffman_codes),
	cmocka_unit_test(test_short_sources_have_fixed_codes),
	cmocka_unit_test(test_mixed_sources_have_codes_throughout),
	cmocka_unit_test(test_room_for_stored_blocks_is_too_little),
};

int main(void)
{
	return API_RUN({ .name = "BlueField-2", .topology = ACCEL_BLUEFIELD_2, .side = "dpu", API_WITH(tests) });
}
