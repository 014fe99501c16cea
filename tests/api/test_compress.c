/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression: round trips by way of zlib and of an LZ4 encoder of the tests' own, known streams, hostile streams, limits and
 * errors. */
#include <byteswap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "api_util.h"
#include "accel_util.h"
#include "log_child.h"
#include "lz4_make.h"

#include <doca_compress.h>
#include <doca_log.h>

#define TASKS 4
#define MAX   ((size_t)1 << 20) /* of a text */

enum kind { DEFLATE, INFLATE, LZ4_STREAM, LZ4_BLOCK, NUM_KINDS };

struct rig {
	struct accel *accel;
	struct doca_compress *compress;
	struct doca_ctx *ctx;
	bool has_checksums, are_independent; /* of LZ4 streams */
	uint32_t crc, second;                /* of the last task: Adler-32 or XXH32 */
};

/* What differs between the types of tasks. */
#define DEFINE_KIND(name, second_)                                                                        \
	static void on_##name(struct doca_compress_task_##name *task, union doca_data user_data,          \
			      union doca_data ctx_data)                                                   \
	{                                                                                                 \
	}                                                                                                 \
                                                                                                          \
	static doca_error_t set_conf_##name(struct doca_compress *compress, uint32_t num)                 \
	{                                                                                                 \
		return doca_compress_task_##name##_set_conf(compress, on_##name, on_##name, num);         \
	}                                                                                                 \
                                                                                                          \
	static doca_error_t run_##name(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst) \
	{                                                                                                 \
		struct doca_compress_task_##name *task;                                                   \
		doca_error_t result;                                                                      \
                                                                                                          \
		MUST(alloc_##name(rig, src, dst, &task));                                                 \
		assert_ptr_equal(doca_compress_task_##name##_get_src(task), src);                         \
		assert_ptr_equal(doca_compress_task_##name##_get_dst(task), dst);                         \
		result = accel_run(rig->accel, doca_compress_task_##name##_as_task(task));                \
		rig->crc = doca_compress_task_##name##_get_crc_cs(task);                                  \
		rig->second = doca_compress_task_##name##_get_##second_##_cs(task);                       \
		doca_task_free(doca_compress_task_##name##_as_task(task));                                \
		return result;                                                                            \
	}

static doca_error_t alloc_compress_deflate(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst,
					   struct doca_compress_task_compress_deflate **task)
{
	return doca_compress_task_compress_deflate_alloc_init(rig->compress, src, dst, (union doca_data){ 0 }, task);
}

static doca_error_t alloc_decompress_deflate(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst,
					     struct doca_compress_task_decompress_deflate **task)
{
	return doca_compress_task_decompress_deflate_alloc_init(rig->compress, src, dst, (union doca_data){ 0 }, task);
}

static doca_error_t alloc_decompress_lz4_block(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst,
					       struct doca_compress_task_decompress_lz4_block **task)
{
	return doca_compress_task_decompress_lz4_block_alloc_init(rig->compress, src, dst, (union doca_data){ 0 },
								  task);
}

static doca_error_t alloc_decompress_lz4_stream(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst,
						struct doca_compress_task_decompress_lz4_stream **task)
{
	return doca_compress_task_decompress_lz4_stream_alloc_init(
		rig->compress, rig->has_checksums, rig->are_independent, src, dst, (union doca_data){ 0 }, task);
}

DEFINE_KIND(compress_deflate, adler)
DEFINE_KIND(decompress_deflate, adler)
DEFINE_KIND(decompress_lz4_stream, xxh)
DEFINE_KIND(decompress_lz4_block, xxh)

static doca_error_t set_conf(struct doca_compress *compress, enum kind kind, uint32_t num)
{
	static doca_error_t (*const functions[])(
		struct doca_compress *, uint32_t) = { set_conf_compress_deflate, set_conf_decompress_deflate,
						      set_conf_decompress_lz4_stream, set_conf_decompress_lz4_block };

	return functions[kind](compress, num);
}

static doca_error_t run(struct rig *rig, enum kind kind, const struct doca_buf *src, struct doca_buf *dst)
{
	static doca_error_t (*const functions[])(struct rig *, const struct doca_buf *, struct doca_buf *) = {
		run_compress_deflate, run_decompress_deflate, run_decompress_lz4_stream, run_decompress_lz4_block
	};

	return functions[kind](rig, src, dst);
}

static struct rig open_idle(void)
{
	struct rig rig = { .accel = accel_open(), .are_independent = true };

	MUST(doca_compress_create(rig.accel->dev, &rig.compress));
	rig.ctx = doca_compress_as_ctx(rig.compress);
	return rig;
}

/* On a card with all engines. */
static struct rig open_rig(void)
{
	struct rig rig = open_idle();

	for (enum kind kind = 0; kind < NUM_KINDS; kind++)
		MUST(set_conf(rig.compress, kind, TASKS));
	accel_start(rig.accel, rig.ctx);
	return rig;
}

static void close_rig(struct rig *rig)
{
	if (rig->accel->ctx)
		accel_stop(rig->accel);
	MUST(doca_compress_destroy(rig->compress));
	accel_close(rig->accel);
}

/* A task failed and stopped the context: start it again. */
static void restart(struct rig *rig)
{
	accel_stop(rig->accel);
	MUST(doca_ctx_start(rig->ctx));
}

/* ---- texts ---- */

static uint8_t text[MAX], packed[2 * MAX], unpacked[2 * MAX];

/* Words and numbers: compressible, with matches at all distances. @spread of 256 is noise. */
static void make_text(struct rig *rig, size_t len, uint32_t spread)
{
	for (size_t i = 0; i < len; i++) {
		if (i > 64 && accel_random(rig->accel, 8) == 0) {
			size_t from = accel_random(rig->accel, (uint32_t)i), part = accel_random(rig->accel, 40);

			for (; part > 0 && i < len; part--, i++)
				text[i] = text[from++];
			i--;
		} else {
			text[i] = (uint8_t)accel_random(rig->accel, spread);
		}
	}
}

static size_t zlib_deflate(size_t len, int level)
{
	z_stream stream = { .next_in = text, .avail_in = (uInt)len, .next_out = packed, .avail_out = sizeof(packed) };

	assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

static size_t zlib_inflate(size_t len)
{
	z_stream stream = { .next_in = packed, .avail_in = (uInt)len, .next_out = unpacked, .avail_out = MAX };

	assert_int_equal(inflateInit2(&stream, -15), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	inflateEnd(&stream);
	return stream.total_out;
}

static void assert_zlib_checksums(const struct rig *rig, size_t len)
{
	assert_int_equal(rig->crc, crc32(0, text, (uInt)len));
	assert_int_equal(rig->second, adler32(1, text, (uInt)len));
}

static void assert_lz4_checksums(const struct rig *rig, size_t len)
{
	assert_int_equal(rig->crc, crc32(0, text, (uInt)len));
	assert_int_equal(rig->second, bswap_32(lz4_make_xxh32(text, len)));
}

static uint32_t some_pieces(struct rig *rig)
{
	return 1 + (accel_random(rig->accel, 2) ? accel_random(rig->accel, 16) : 0);
}

/* Decompress @len bytes of @packed, of chance's lists, and compare with the text. */
static void expect_text(struct rig *rig, enum kind kind, size_t len, size_t text_len)
{
	size_t room = text_len + accel_random(rig->accel, 2) * 100;
	struct doca_buf *src = accel_src_list(rig->accel, packed, len, some_pieces(rig));
	struct doca_buf *dst = accel_dst_list(rig->accel, room, some_pieces(rig));

	assert_ok(run(rig, kind, src, dst));
	assert_int_equal(accel_data(dst, unpacked, sizeof(unpacked)), text_len);
	assert_memory_equal(unpacked, text, text_len);
	assert_int_equal(accel_data(src, unpacked, sizeof(unpacked)), len); /* the source stays */
	assert_memory_equal(unpacked, packed, len);
}

static size_t some_length(struct rig *rig)
{
	return 1 + accel_random(rig->accel, accel_random(rig->accel, 4) ? 5000 : 200000);
}

static uint32_t some_spread(struct rig *rig)
{
	static const uint32_t spreads[] = { 1, 4, 30, 256 };

	return spreads[accel_random(rig->accel, 4)];
}

/* ---- round trips ---- */

static void test_what_is_compressed_zlib_decompresses(void **state)
{
	struct rig rig = open_rig();

	for (int round = 0; round < 150; round++) {
		size_t len = some_length(&rig), packed_len;
		struct doca_buf *dst = accel_dst_list(rig.accel, len + len / 8 + 64, some_pieces(&rig));

		make_text(&rig, len, some_spread(&rig));
		assert_ok(run(&rig, DEFLATE, accel_src_list(rig.accel, text, len, some_pieces(&rig)), dst));
		assert_zlib_checksums(&rig, len);
		packed_len = accel_data(dst, packed, sizeof(packed));
		assert_int_equal(zlib_inflate(packed_len), len);
		assert_memory_equal(unpacked, text, len);
		if (round % 16 == 0)
			assert_true(accel_rest_is_untouched(rig.accel));
		accel_reset(rig.accel);
	}
	close_rig(&rig);
}

static void test_what_zlib_compresses_is_decompressed(void **state)
{
	struct rig rig = open_rig();

	for (int round = 0; round < 150; round++) {
		size_t len = some_length(&rig);

		make_text(&rig, len, some_spread(&rig));
		expect_text(&rig, INFLATE, zlib_deflate(len, (int)accel_random(rig.accel, 10)), len);
		assert_zlib_checksums(&rig, len);
		if (round % 16 == 0)
			assert_true(accel_rest_is_untouched(rig.accel));
		accel_reset(rig.accel);
	}
	close_rig(&rig);
}

static void test_lz4_streams_are_decompressed(void **state)
{
	struct rig rig = open_rig();

	for (int round = 0; round < 150; round++) {
		size_t len = some_length(&rig);
		const struct lz4_make make = { .block_bytes = 1 + accel_random(rig.accel, 70000),
					       .has_checksums = accel_random(rig.accel, 2),
					       .are_independent = accel_random(rig.accel, 2),
					       .stores_every_other = accel_random(rig.accel, 2),
					       .has_end_mark = accel_random(rig.accel, 2) };

		make_text(&rig, len, some_spread(&rig));
		rig.has_checksums = make.has_checksums;
		rig.are_independent = make.are_independent;
		if (make.block_bytes < 16)
			len = len < 3000 ? len : 3000;
		expect_text(&rig, LZ4_STREAM, lz4_make_stream(&make, text, len, packed), len);
		assert_lz4_checksums(&rig, len);
		accel_reset(rig.accel);
	}
	close_rig(&rig);
}

static void test_lz4_blocks_are_decompressed(void **state)
{
	struct rig rig = open_rig();

	for (int round = 0; round < 100; round++) {
		size_t len = some_length(&rig);

		make_text(&rig, len, some_spread(&rig));
		expect_text(&rig, LZ4_BLOCK, lz4_make_block(text, 0, 0, len, packed), len);
		assert_lz4_checksums(&rig, len);
		accel_reset(rig.accel);
	}
	close_rig(&rig);
}

/* ---- known streams ---- */

static const struct {
	enum kind kind;
	const char *bytes;
	size_t len;
	const char *text;
	uint32_t crc, second;
} known[] = {
	/* stored: length 5, its complement */
	{ INFLATE, "\x01\x05\x00\xfa\xffhello", 10, "hello", 0x3610a686, 0x062c0215 },
	/* fixed codes, with a match */
	{ INFLATE,
	  "\x4b\x54\xc8\x48\xcc\x4b\xd1\xcd\x4d\x4c\x49\x55\x28\x2e\x29\x4a\x4d\xcc\xd5\x51\x48\xc4\x10\x03\x00", 25,
	  "a hand-made stream, a hand-made stream", 1827419982, 4291956069u },
	/* an empty stored block, then "hello" again; bytes behind the final block */
	{ INFLATE, "\x00\x00\x00\xff\xff\x01\x05\x00\xfa\xffhello\x06\x2c\x02\x15", 19, "hello", 0x3610a686,
	  0x062c0215 },
	/* LZ4: three literals; one literal and a match of 10 at distance 1, five literals */
	{ LZ4_BLOCK,
	  "\x30"
	  "abc",
	  4, "abc", 0x352441c2, 0xff53d132 },
	{ LZ4_BLOCK,
	  "\x16"
	  "a\x01\x00\x50"
	  "bcdef",
	  10, "aaaaaaaaaaabcdef", 0, 0 },
	/* a stored block, a compressed one, the end mark, the content's checksum */
	{ LZ4_STREAM,
	  "\x01\x00\x00\x80"
	  "a\x03\x00\x00\x00\x20"
	  "bc\x00\x00\x00\x00\xff\x53\xd1\x32",
	  20, "abc", 0x352441c2, 0xff53d132 },
};

static void test_known_streams(void **state)
{
	struct rig rig = open_rig();

	for (size_t i = 0; i < API_COUNT(known); i++) {
		size_t len = strlen(known[i].text);
		struct doca_buf *dst = accel_dst(rig.accel, len);

		assert_ok(run(&rig, known[i].kind, accel_src(rig.accel, known[i].bytes, known[i].len), dst));
		assert_int_equal(accel_data(dst, unpacked, sizeof(unpacked)), len);
		assert_memory_equal(unpacked, known[i].text, len);
		if (known[i].crc) {
			assert_int_equal(rig.crc, known[i].crc);
			assert_int_equal(rig.second, known[i].second);
		}
	}
	close_rig(&rig);
}

/* As the vendor's sample leaves room for the header of zlib. */
static void test_output_is_appended(void **state)
{
	struct rig rig = open_rig();
	struct doca_buf *dst = accel_dst(rig.accel, 12);
	void *head;

	MUST(doca_buf_get_head(dst, &head));
	MUST(doca_buf_set_data(dst, (uint8_t *)head + 2, 0));
	assert_ok(run(&rig, INFLATE, accel_src(rig.accel, known[0].bytes, known[0].len), dst));
	assert_ok(run(&rig, INFLATE, accel_src(rig.accel, known[0].bytes, known[0].len), dst));
	assert_memory_equal(head, "\xa5\xa5hellohello", 12);
	assert_int_equal(accel_data(dst, unpacked, sizeof(unpacked)), 10);
	close_rig(&rig);
}

/* ---- what fails ---- */

/* The task fails, adds no data, has no checksums, and writes nothing outside of its destination. */
static void expect_failure(struct rig *rig, enum kind kind, const void *bytes, size_t len, size_t room)
{
	struct doca_buf *dst = accel_dst_list(rig->accel, room, some_pieces(rig));

	assert_doca(run(rig, kind, accel_src(rig->accel, bytes, len), dst), DOCA_ERROR_IO_FAILED);
	assert_int_equal(accel_data(dst, unpacked, sizeof(unpacked)), 0);
	assert_int_equal(rig->crc, 0);
	assert_int_equal(rig->second, 0);
	restart(rig);
}

static void test_too_little_room_fails(void **state)
{
	struct rig rig = open_rig();

	for (size_t i = 0; i < 1000; i++) /* noise */
		text[i] = (uint8_t)accel_random(rig.accel, 256);
	expect_failure(&rig, DEFLATE, text, 1000, 900);
	expect_failure(&rig, INFLATE, known[1].bytes, known[1].len, strlen(known[1].text) - 1);
	expect_failure(&rig, LZ4_BLOCK, known[4].bytes, known[4].len, strlen(known[4].text) - 1);
	expect_failure(&rig, LZ4_STREAM, known[5].bytes, known[5].len, 2);
	expect_failure(&rig, INFLATE, known[0].bytes, known[0].len, 0);
	close_rig(&rig);
}

static void test_truncated_streams_fail(void **state)
{
	struct rig rig = open_rig();

	for (size_t len = 1; len < 25; len++)
		expect_failure(&rig, INFLATE, known[1].bytes, len, 100);
	for (size_t len = 1; len < 12; len++)
		if (len != 5) /* the end of a block, hence of a shorter stream */
			expect_failure(&rig, LZ4_STREAM, known[5].bytes, len, 100);
	expect_failure(&rig, LZ4_BLOCK, known[4].bytes, 4, 100);
	close_rig(&rig);
}

static void test_hostile_streams_fail(void **state)
{
	static const struct {
		enum kind kind;
		const char *bytes;
		size_t len;
	} hostile[] = {
		{ INFLATE, "\x07", 1 },                             /* a block of type 3 */
		{ INFLATE, "\x01\x05\x00\xfa\xfehello", 10 },       /* the complement of the length is wrong */
		{ INFLATE, "\x03\x02\x00", 3 },                     /* a match before the beginning */
		{ INFLATE, "\x04\x80\x49\x92\x24\x49\x92\x24", 8 }, /* codes that leave no room for each other */
		{ LZ4_BLOCK,
		  "\x16"
		  "a\x02\x00\x50"
		  "bcdef",
		  10 },                                   /* a match before the beginning */
		{ LZ4_BLOCK, "\xf0\xff\xff\xff\xff", 5 }, /* more literals than bytes */
		{ LZ4_STREAM,
		  "\xff\xff\xff\x7f"
		  "a",
		  5 }, /* a block larger than the source */
		{ LZ4_STREAM,
		  "\xff\xff\xff\xff"
		  "a",
		  5 }, /* the same, stored */
		{ LZ4_STREAM,
		  "\x01\x00\x00\x80"
		  "a\x06\x00\x00\x00\x10"
		  "b\x02\x00\x10"
		  "c",
		  15 }, /* leaves its block */
	};
	struct rig rig = open_rig();

	for (size_t i = 0; i < API_COUNT(hostile); i++)
		expect_failure(&rig, hostile[i].kind, hostile[i].bytes, hostile[i].len, 1000);
	close_rig(&rig);
}

static void test_wrong_checksum_of_a_block_fails(void **state)
{
	const struct lz4_make make = { .block_bytes = 100, .has_checksums = true, .are_independent = true };
	struct rig rig = open_rig();
	size_t len;

	make_text(&rig, 300, 30);
	len = lz4_make_stream(&make, text, 300, packed);
	rig.has_checksums = true;
	expect_text(&rig, LZ4_STREAM, len, 300);
	packed[len - 1] ^= 1;
	expect_failure(&rig, LZ4_STREAM, packed, len, 300);
	close_rig(&rig);
}

/* Streams with changed bytes end in any way, and leave the bytes around their destination alone. */
static void test_changed_streams_stay_in_their_destination(void **state)
{
	struct rig rig = open_rig();

	for (int round = 0; round < 400; round++) {
		size_t text_len = 1 + accel_random(rig.accel, 3000), len;
		enum kind kind = INFLATE + accel_random(rig.accel, 3);
		const struct lz4_make make = { .block_bytes = 500 };
		struct doca_buf *src, *dst;

		make_text(&rig, text_len, some_spread(&rig));
		rig.has_checksums = rig.are_independent = false;
		len = kind == INFLATE    ? zlib_deflate(text_len, 6) :
		      kind == LZ4_STREAM ? lz4_make_stream(&make, text, text_len, packed) :
					   lz4_make_block(text, 0, 0, text_len, packed);
		for (uint32_t i = accel_random(rig.accel, 4) + 1; i > 0; i--)
			packed[accel_random(rig.accel, (uint32_t)len)] ^= (uint8_t)(1u << accel_random(rig.accel, 8));
		src = accel_src(rig.accel, packed, len);
		dst = accel_dst(rig.accel, text_len);
		if (run(&rig, kind, src, dst) == DOCA_SUCCESS)
			assert_true(accel_data(dst, unpacked, sizeof(unpacked)) <= text_len);
		else
			restart(&rig);
		for (size_t i = text_len; i < text_len + 4096; i++)
			assert_int_equal(rig.accel->arena[ACCEL_HALF_BYTES + i], ACCEL_FILL);
		accel_reset(rig.accel);
	}
	close_rig(&rig);
}

/* ---- configuration, tasks ---- */

static void test_configuration_and_tasks_have_their_errors(void **state)
{
	struct rig rig = open_idle();
	struct doca_compress_task_compress_deflate *tasks[2];
	uint32_t max_tasks;

	assert_ok(doca_compress_cap_get_max_num_tasks(rig.compress, &max_tasks));
	assert_int_equal(max_tasks, 65536);
	assert_ok(doca_compress_get_max_num_tasks(rig.compress, &max_tasks));
	/* provokes: doca_compress_cap_get_max_num_tasks DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_compress_cap_get_max_num_tasks(NULL, &max_tasks));
	for (enum kind kind = 0; kind < NUM_KINDS; kind++) {
		assert_invalid(set_conf(rig.compress, kind, 0));
		assert_invalid(set_conf(rig.compress, kind, 65537));
	}
	/* provokes: doca_compress_task_compress_deflate_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_compress_task_compress_deflate_set_conf(NULL, on_compress_deflate, on_compress_deflate, 1));
	/* provokes: doca_compress_task_decompress_deflate_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_compress_task_decompress_deflate_set_conf(rig.compress, NULL, on_decompress_deflate, 1));
	/* provokes: doca_compress_task_decompress_lz4_stream_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(
		doca_compress_task_decompress_lz4_stream_set_conf(rig.compress, on_decompress_lz4_stream, NULL, 1));
	/* provokes: doca_compress_task_decompress_lz4_block_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_compress_task_decompress_lz4_block_set_conf(rig.compress, on_decompress_lz4_block,
									on_decompress_lz4_block, UINT32_MAX));
	assert_ok(set_conf(rig.compress, DEFLATE, 1));
	assert_ok(set_conf(rig.compress, INFLATE, 65535));
	assert_invalid(set_conf(rig.compress, LZ4_BLOCK, 1)); /* the sum */
	accel_start(rig.accel, rig.ctx);
	assert_doca(set_conf(rig.compress, DEFLATE, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_compress_destroy DOCA_ERROR_IN_USE */
	assert_doca(doca_compress_destroy(rig.compress), DOCA_ERROR_IN_USE);
	assert_ok(alloc_compress_deflate(&rig, NULL, NULL, &tasks[0]));
	/* provokes: doca_compress_task_compress_deflate_alloc_init DOCA_ERROR_NO_MEMORY */
	assert_doca(doca_compress_task_compress_deflate_alloc_init(rig.compress, NULL, NULL, (union doca_data){ 0 },
								   &tasks[1]),
		    DOCA_ERROR_NO_MEMORY);
	assert_invalid(accel_run(rig.accel, doca_compress_task_compress_deflate_as_task(tasks[0])));
	doca_task_free(doca_compress_task_compress_deflate_as_task(tasks[0]));
	accel_stop(rig.accel);
	assert_ok(doca_ctx_stop(rig.ctx)); /* samples stop twice, and return the second result */
	assert_doca(alloc_compress_deflate(&rig, NULL, NULL, &tasks[0]), DOCA_ERROR_BAD_STATE);
	close_rig(&rig);
}

static void test_all_tasks_of_a_type_are_allocated(void **state)
{
	struct rig rig = open_idle();
	struct doca_compress_task_decompress_deflate *inflates[2];
	struct doca_compress_task_decompress_lz4_stream *streams[2];
	struct doca_compress_task_decompress_lz4_block *blocks[2];

	for (enum kind kind = 0; kind < NUM_KINDS; kind++)
		MUST(set_conf(rig.compress, kind, 1));
	accel_start(rig.accel, rig.ctx);
	assert_ok(alloc_decompress_deflate(&rig, NULL, NULL, &inflates[0]));
	assert_ok(alloc_decompress_lz4_stream(&rig, NULL, NULL, &streams[0]));
	assert_ok(alloc_decompress_lz4_block(&rig, NULL, NULL, &blocks[0]));
	/* provokes: doca_compress_task_decompress_deflate_alloc_init DOCA_ERROR_NO_MEMORY */
	assert_doca(alloc_decompress_deflate(&rig, NULL, NULL, &inflates[1]), DOCA_ERROR_NO_MEMORY);
	/* provokes: doca_compress_task_decompress_lz4_stream_alloc_init DOCA_ERROR_NO_MEMORY */
	assert_doca(alloc_decompress_lz4_stream(&rig, NULL, NULL, &streams[1]), DOCA_ERROR_NO_MEMORY);
	/* provokes: doca_compress_task_decompress_lz4_block_alloc_init DOCA_ERROR_NO_MEMORY */
	assert_doca(alloc_decompress_lz4_block(&rig, NULL, NULL, &blocks[1]), DOCA_ERROR_NO_MEMORY);
	/* provokes: doca_compress_task_compress_deflate_alloc_init DOCA_ERROR_INVALID_VALUE */
	assert_invalid(
		doca_compress_task_compress_deflate_alloc_init(rig.compress, NULL, NULL, (union doca_data){ 0 }, NULL));
	assert_invalid(doca_compress_task_decompress_deflate_alloc_init(NULL, NULL, NULL, (union doca_data){ 0 },
									&inflates[1]));
	/* provokes: doca_compress_task_decompress_lz4_stream_alloc_init DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_compress_task_decompress_lz4_stream_alloc_init(rig.compress, 0, 1, NULL, NULL,
									   (union doca_data){ 0 }, NULL));
	/* provokes: doca_compress_task_decompress_lz4_block_alloc_init DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_compress_task_decompress_lz4_block_alloc_init(NULL, NULL, NULL, (union doca_data){ 0 },
									  &blocks[1]));
	doca_task_free(doca_compress_task_decompress_deflate_as_task(inflates[0]));
	doca_task_free(doca_compress_task_decompress_lz4_stream_as_task(streams[0]));
	doca_task_free(doca_compress_task_decompress_lz4_block_as_task(blocks[0]));
	close_rig(&rig);
}

static void test_tasks_are_changed_while_they_are_the_programs(void **state)
{
	struct rig rig = open_rig();
	struct doca_buf *src = accel_src(rig.accel, known[5].bytes, known[5].len), *dst = accel_dst(rig.accel, 3);
	struct doca_compress_task_decompress_lz4_stream *task;

	rig.has_checksums = true;
	assert_ok(alloc_decompress_lz4_stream(&rig, NULL, NULL, &task));
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_has_block_checksum(task), 1);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(task), 1);
	doca_compress_task_decompress_lz4_stream_set_has_block_checksum(task, 0);
	doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(task, 0);
	doca_compress_task_decompress_lz4_stream_set_src(task, src);
	doca_compress_task_decompress_lz4_stream_set_dst(task, dst);
	assert_ok(doca_task_submit(doca_compress_task_decompress_lz4_stream_as_task(task)));
	doca_compress_task_decompress_lz4_stream_set_src(task, NULL);
	doca_compress_task_decompress_lz4_stream_set_dst(task, NULL);
	doca_compress_task_decompress_lz4_stream_set_has_block_checksum(task, 1);
	doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(task, 1);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_crc_cs(task), 0); /* in flight */
	accel_drain(rig.accel);
	assert_ok(doca_task_get_status(doca_compress_task_decompress_lz4_stream_as_task(task)));
	assert_ptr_equal(doca_compress_task_decompress_lz4_stream_get_src(task), src);
	assert_ptr_equal(doca_compress_task_decompress_lz4_stream_get_dst(task), dst);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_has_block_checksum(task), 0);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(task), 0);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_xxh_cs(task), known[5].second);
	/* of another type */
	assert_null(doca_compress_task_decompress_lz4_block_as_task(
		(struct doca_compress_task_decompress_lz4_block *)task));
	assert_null(doca_compress_task_compress_deflate_as_task(NULL));
	doca_task_free(doca_compress_task_decompress_lz4_stream_as_task(task));
	close_rig(&rig);
}

/* The task of releases 2.5 and 2.6: independent blocks without checksums. */
static void on_lz4(struct doca_compress_task_decompress_lz4 *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void test_lz4_task_of_2_5(void **state)
{
	struct rig rig = open_idle();
	struct doca_compress_task_decompress_lz4 *task;
	struct doca_buf *src = accel_src(rig.accel, known[5].bytes, known[5].len), *dst = accel_dst(rig.accel, 3);
	uint64_t size;
	uint32_t len;

	assert_ok(doca_compress_cap_task_decompress_lz4_is_supported(doca_dev_as_devinfo(rig.accel->dev)));
	assert_ok(doca_compress_cap_task_decompress_lz4_get_max_buf_size(doca_dev_as_devinfo(rig.accel->dev), &size));
	assert_ok(
		doca_compress_cap_task_decompress_lz4_get_max_buf_list_len(doca_dev_as_devinfo(rig.accel->dev), &len));
	MUST(doca_compress_task_decompress_lz4_set_conf(rig.compress, on_lz4, on_lz4, 1));
	accel_start(rig.accel, rig.ctx);
	MUST(doca_compress_task_decompress_lz4_alloc_init(rig.compress, src, dst, (union doca_data){ 0 }, &task));
	assert_ok(accel_run(rig.accel, doca_compress_task_decompress_lz4_as_task(task)));
	assert_int_equal(accel_data(dst, unpacked, sizeof(unpacked)), 3);
	assert_memory_equal(unpacked, "abc", 3);
	assert_int_equal(doca_compress_task_decompress_lz4_get_crc_cs(task), known[5].crc);
	assert_int_equal(doca_compress_task_decompress_lz4_get_adler_cs(task), adler32(1, (const Bytef *)"abc", 3));
	doca_compress_task_decompress_lz4_set_src(task, dst);
	doca_compress_task_decompress_lz4_set_dst(task, src);
	assert_ptr_equal(doca_compress_task_decompress_lz4_get_src(task), dst);
	assert_ptr_equal(doca_compress_task_decompress_lz4_get_dst(task), src);
	doca_task_free(doca_compress_task_decompress_lz4_as_task(task));
	close_rig(&rig);
}

/* ---- capabilities ---- */

struct cap {
	doca_error_t (*is_supported)(const struct doca_devinfo *devinfo);
	doca_error_t (*get_size)(const struct doca_devinfo *devinfo, uint64_t *size);
	doca_error_t (*get_len)(const struct doca_devinfo *devinfo, uint32_t *len);
};

/* The functions whose codes the loops below provoke:
 * provokes: doca_compress_cap_task_compress_deflate_is_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_compress_cap_task_compress_deflate_is_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_cap_task_compress_deflate_get_max_buf_size DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_compress_cap_task_compress_deflate_get_max_buf_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_cap_task_compress_deflate_get_max_buf_list_len DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_cap_task_decompress_deflate_is_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_compress_cap_task_decompress_deflate_is_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_cap_task_decompress_deflate_get_max_buf_size DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_compress_cap_task_decompress_deflate_get_max_buf_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_cap_task_decompress_deflate_get_max_buf_list_len DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_cap_task_decompress_lz4_stream_is_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_compress_cap_task_decompress_lz4_stream_is_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_cap_task_decompress_lz4_block_is_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_compress_cap_task_decompress_lz4_block_is_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_cap_task_decompress_lz4_block_get_max_buf_size DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_compress_cap_task_decompress_lz4_block_get_max_buf_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len DOCA_ERROR_INVALID_VALUE
 * unreachable: doca_compress_cap_task_compress_deflate_is_supported DOCA_ERROR_DRIVER: a simulated function always answers
 * unreachable: doca_compress_cap_task_decompress_deflate_is_supported DOCA_ERROR_DRIVER: a simulated function always answers
 * unreachable: doca_compress_cap_task_decompress_lz4_stream_is_supported DOCA_ERROR_DRIVER: a simulated function always answers
 * unreachable: doca_compress_cap_task_decompress_lz4_block_is_supported DOCA_ERROR_DRIVER: a simulated function always answers
 */
static const struct cap caps[NUM_KINDS] = {
	{ doca_compress_cap_task_compress_deflate_is_supported,
	  doca_compress_cap_task_compress_deflate_get_max_buf_size,
	  doca_compress_cap_task_compress_deflate_get_max_buf_list_len },
	{ doca_compress_cap_task_decompress_deflate_is_supported,
	  doca_compress_cap_task_decompress_deflate_get_max_buf_size,
	  doca_compress_cap_task_decompress_deflate_get_max_buf_list_len },
	{ doca_compress_cap_task_decompress_lz4_stream_is_supported,
	  doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size,
	  doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len },
	{ doca_compress_cap_task_decompress_lz4_block_is_supported,
	  doca_compress_cap_task_decompress_lz4_block_get_max_buf_size,
	  doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len },
};

/* The kinds that the card has; the others are not started. */
static void expect_kinds(const bool has[NUM_KINDS])
{
	struct rig rig = open_idle();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig.accel->dev);

	for (enum kind kind = 0; kind < NUM_KINDS; kind++) {
		doca_error_t expected = has[kind] ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
		uint64_t size = 0;
		uint32_t len = 0;

		assert_doca(caps[kind].is_supported(devinfo), expected);
		assert_doca(caps[kind].get_size(devinfo, &size), expected);
		assert_doca(caps[kind].get_len(devinfo, &len), expected);
		assert_int_equal(size, has[kind] ? 2 << 20 : 0);
		assert_int_equal(len, has[kind] ? 128 : 0);
		assert_invalid(caps[kind].is_supported(NULL));
		assert_invalid(caps[kind].get_size(devinfo, NULL));
		assert_invalid(caps[kind].get_size(NULL, &size));
		assert_invalid(caps[kind].get_len(devinfo, NULL));
		assert_invalid(caps[kind].get_len(NULL, &len));
	}
	close_rig(&rig);
}

static void test_bluefield_2_compresses_and_decompresses_deflate(void **state)
{
	static const bool has[NUM_KINDS] = { [DEFLATE] = true, [INFLATE] = true };

	expect_kinds(has);
}

static void test_bluefield_3_decompresses_deflate_and_lz4(void **state)
{
	static const bool has[NUM_KINDS] = { [INFLATE] = true, [LZ4_STREAM] = true, [LZ4_BLOCK] = true };

	expect_kinds(has);
}

static void test_type_that_the_card_lacks_does_not_start(void **state)
{
	struct rig rig = open_idle();

	MUST(set_conf(rig.compress, INFLATE, 1));
	MUST(set_conf(rig.compress, DEFLATE, 1));
	MUST(doca_pe_connect_ctx(rig.accel->pe, rig.ctx));
	assert_doca(doca_ctx_start(rig.ctx), DOCA_ERROR_NOT_SUPPORTED);
	close_rig(&rig);
}

/* The messages say what takes the engine, and not that another profile has it. */
static void ask_for_inflate(void)
{
	struct doca_log_backend *backend;

	MUST(doca_log_backend_create_with_file_sdk(stderr, &backend));
	assert_doca(doca_compress_cap_task_decompress_deflate_is_supported(api_devinfo_nth(0)),
		    DOCA_ERROR_NOT_SUPPORTED);
}

static void test_nic_mode_has_no_compression(void **state)
{
	assert_non_null(
		strstr(in_child(ask_for_inflate)->err, "its card (profile bluefield-3) is in NIC mode; 'mode: dpu'"));
}

static void test_capabilities_of_a_topology_take_the_engine(void **state)
{
	assert_non_null(strstr(in_child(ask_for_inflate)->err, "'caps' of the function in the topology take it"));
}

static void test_bad_handles_are_invalid(void **state)
{
	struct doca_compress *compress;
	struct rig rig = open_idle();

	/* provokes: doca_compress_create DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_compress_create(NULL, &compress));
	assert_invalid(doca_compress_create(rig.accel->dev, NULL));
	/* unreachable: doca_compress_create DOCA_ERROR_INITIALIZATION: nothing of a simulated engine fails there */
	assert_invalid(doca_compress_destroy(NULL));
	assert_null(doca_compress_as_ctx(NULL));
	close_rig(&rig);
}

static const char small_card[] = ACCEL_CARD_WITH("bluefield-3", "decompress-deflate-max-buf-bytes: 25");

static void test_limits_of_a_topology_hold(void **state)
{
	struct rig rig = open_idle();

	MUST(set_conf(rig.compress, INFLATE, 1));
	accel_start(rig.accel, rig.ctx);
	assert_ok(run(&rig, INFLATE, accel_src(rig.accel, known[0].bytes, known[0].len), accel_dst(rig.accel, 100)));
	/* an output that is too large, and a source */
	expect_failure(&rig, INFLATE, known[1].bytes, known[1].len, 100);
	expect_failure(&rig, INFLATE, "\x01\x05\x00\xfa\xffhello, and more bytes behind it", 37, 100);
	close_rig(&rig);
}

/* ---- memory that runs out ---- */

static struct doca_dev *dev;
static struct doca_compress *created;

static doca_error_t create(void)
{
	return doca_compress_create(dev, &created);
}

static void test_create_without_memory(void **state)
{
	dev = api_open("03:00.0");
	/* provokes: doca_compress_create DOCA_ERROR_NO_MEMORY */
	api_fail_each_allocation(create, NULL);
	assert_ok(doca_compress_destroy(created));
	assert_ok(doca_dev_close(dev));
}

static const struct CMUnitTest on_all_engines[] = {
	cmocka_unit_test(test_create_without_memory),
	cmocka_unit_test(test_what_is_compressed_zlib_decompresses),
	cmocka_unit_test(test_what_zlib_compresses_is_decompressed),
	cmocka_unit_test(test_lz4_streams_are_decompressed),
	cmocka_unit_test(test_lz4_blocks_are_decompressed),
	cmocka_unit_test(test_known_streams),
	cmocka_unit_test(test_output_is_appended),
	cmocka_unit_test(test_too_little_room_fails),
	cmocka_unit_test(test_truncated_streams_fail),
	cmocka_unit_test(test_hostile_streams_fail),
	cmocka_unit_test(test_wrong_checksum_of_a_block_fails),
	cmocka_unit_test(test_changed_streams_stay_in_their_destination),
	cmocka_unit_test(test_configuration_and_tasks_have_their_errors),
	cmocka_unit_test(test_all_tasks_of_a_type_are_allocated),
	cmocka_unit_test(test_tasks_are_changed_while_they_are_the_programs),
	cmocka_unit_test(test_lz4_task_of_2_5),
	cmocka_unit_test(test_bad_handles_are_invalid),
};

static const struct CMUnitTest on_bluefield_2[] = {
	cmocka_unit_test(test_bluefield_2_compresses_and_decompresses_deflate),
};

static const struct CMUnitTest on_bluefield_3[] = {
	cmocka_unit_test(test_bluefield_3_decompresses_deflate_and_lz4),
	cmocka_unit_test(test_type_that_the_card_lacks_does_not_start),
};

static const struct CMUnitTest on_small_card[] = {
	cmocka_unit_test(test_limits_of_a_topology_hold),
};

static const struct CMUnitTest in_nic_mode[] = { cmocka_unit_test(test_nic_mode_has_no_compression) };
static const struct CMUnitTest on_reduced_card[] = { cmocka_unit_test(
	test_capabilities_of_a_topology_take_the_engine) };

static const char reduced_card[] = ACCEL_CARD_WITH("bluefield-3", "decompress-deflate: false");
static const char all_engines[] =
	ACCEL_CARD_WITH("bluefield-3", "compress-deflate: true, compress-deflate-max-buf-bytes: 2 MiB, "
				       "compress-deflate-max-list-len: 128, compress-deflate-max-tasks: 65536");

int main(void)
{
	return API_RUN(
		{ .name = "all engines", .topology = all_engines, .side = "dpu", API_WITH(on_all_engines) },
		{ .name = "BlueField-2", .topology = ACCEL_BLUEFIELD_2, .side = "dpu", API_WITH(on_bluefield_2) },
		{ .name = "BlueField-3", .side = "dpu", API_WITH(on_bluefield_3) },
		{ .name = "BlueField-3, host", .side = "host", API_WITH(on_bluefield_3) },
		{ .name = "NIC mode", .topology = ACCEL_NIC, .side = "host", API_WITH(in_nic_mode) },
		{ .name = "reduced card", .topology = reduced_card, .side = "dpu", API_WITH(on_reduced_card) },
		{ .name = "small card", .topology = small_card, .side = "dpu", API_WITH(on_small_card) });
}
