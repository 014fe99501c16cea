/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of SHA, compression and erasure coding, on a BlueField-2 and on a BlueField-3. */
#include <doca_compress.h>
#include <doca_erasure_coding.h>
#include <doca_sha.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define HALF ((size_t)4 << 20)

static uint8_t arena[2 * HALF]; /* sources, destinations */

/* A context of one of the libraries on the rig's queue. */
struct engine {
	struct rig *rig;
	struct doca_ctx *ctx;
	struct doca_mmap *map;
	struct doca_buf *src, *dst;
};

static struct engine open_engine(struct rig *rig, struct doca_ctx *ctx)
{
	struct engine engine = { .rig = rig, .ctx = ctx };

	memset(arena, 0, sizeof(arena));
	assert_int_equal(doca_ctx_dev_add(ctx, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_add(ctx, rig->workq), DOCA_SUCCESS);
	engine.map = rig_map(rig, arena, sizeof(arena), DOCA_ACCESS_LOCAL_READ_WRITE);
	engine.src = rig_data(rig, engine.map, arena, HALF);
	engine.dst = rig_room(rig, engine.map, arena + HALF, HALF);
	return engine;
}

static void close_engine(struct engine *engine)
{
	rig_return(engine->src);
	rig_return(engine->dst);
	assert_int_equal(doca_mmap_destroy(engine->map), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_workq_rm(engine->ctx, engine->rig->workq), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(engine->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_dev_rm(engine->ctx, engine->rig->dev), DOCA_SUCCESS);
}

/* The next job's source is a copy of @data, its destination empty. */
static void set_source(struct engine *engine, const void *data, size_t len)
{
	memcpy(arena, data, len);
	assert_int_equal(doca_buf_set_data(engine->src, arena, len), DOCA_SUCCESS);
	assert_int_equal(doca_buf_reset_data_len(engine->dst), DOCA_SUCCESS);
}

static size_t output_len(const struct engine *engine)
{
	size_t len;

	assert_int_equal(doca_buf_get_data_len(engine->dst, &len), DOCA_SUCCESS);
	return len;
}

/* Run the job, and expect that it is retrieved. Returns its result. */
static doca_error_t run(struct engine *engine, const struct doca_job *job)
{
	struct doca_event event = { 0 };
	doca_error_t result = doca_workq_submit(engine->rig->workq, job);

	if (result != DOCA_SUCCESS)
		return result;
	do {
		result = doca_workq_progress_retrieve(engine->rig->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	} while (result == DOCA_ERROR_AGAIN);
	assert_int_equal(event.type, job->type);
	assert_int_equal(event.user_data.u64, job->user_data.u64);
	assert_int_equal(event.result.u64, result);
	return result;
}

/* ---- SHA ---- */

/* Of "abc" (FIPS 180-4). */
static const uint8_t sha1_of_abc[] = { 0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
				       0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d };
static const uint8_t sha256_of_abc[] = { 0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
					 0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
					 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad };

static doca_error_t hash(struct engine *engine, int type, const void *message, size_t len)
{
	struct doca_sha_job job = { .base = { .type = type, .ctx = engine->ctx, .user_data.u64 = len },
				    .req_buf = engine->src,
				    .resp_buf = engine->dst };

	set_source(engine, message, len);
	return run(engine, &job.base);
}

static doca_error_t add_piece(struct engine *engine, int type, struct doca_sha_partial_session *session,
			      const void *piece, size_t len, bool is_final)
{
	struct doca_sha_partial_job job = {
		.sha_job = { .base = { .type = type, .ctx = engine->ctx, .user_data.u64 = 7 },
			     .req_buf = engine->src,
			     .resp_buf = engine->dst,
			     .flags = is_final ? DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL : DOCA_SHA_JOB_FLAGS_NONE },
		.session = session,
	};

	set_source(engine, piece, len);
	return run(engine, &job.sha_job.base);
}

static struct engine open_sha(struct rig *rig, struct doca_sha **ret_sha)
{
	assert_int_equal(doca_sha_create(ret_sha), DOCA_SUCCESS);
	return open_engine(rig, doca_sha_as_ctx(*ret_sha));
}

static void test_sha_jobs_have_the_digests_on_any_card(void **state)
{
	struct doca_sha *sha;
	struct engine engine = open_sha(*state, &sha);

	assert_int_equal(hash(&engine, DOCA_SHA_JOB_SHA1, "abc", 3), DOCA_SUCCESS);
	assert_int_equal(output_len(&engine), DOCA_SHA1_BYTE_COUNT);
	assert_memory_equal(arena + HALF, sha1_of_abc, sizeof(sha1_of_abc));
	assert_int_equal(hash(&engine, DOCA_SHA_JOB_SHA256, "abc", 3), DOCA_SUCCESS);
	assert_memory_equal(arena + HALF, sha256_of_abc, sizeof(sha256_of_abc));
	assert_int_equal(hash(&engine, DOCA_SHA_JOB_SHA512, "abc", 3), DOCA_SUCCESS);
	assert_int_equal(output_len(&engine), DOCA_SHA512_BYTE_COUNT);
	/* refused: an empty request, a job of another library */
	assert_int_equal(hash(&engine, DOCA_SHA_JOB_SHA1, "", 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(hash(&engine, DOCA_DMA_JOB_MEMCPY, "abc", 3), DOCA_ERROR_INVALID_VALUE);
	close_engine(&engine);
	assert_int_equal(doca_sha_destroy(sha), DOCA_SUCCESS);
}

/* Programs of 1.5 use a response again and again as it is: where no room is left, the digest replaces the data. */
static void test_digest_replaces_data_without_room_behind_it(void **state)
{
	struct doca_sha *sha;
	struct engine engine = open_sha(*state, &sha);
	struct doca_buf *short_dst = rig_room(engine.rig, engine.map, arena + HALF, 31);
	struct doca_sha_job job = { .base = { .type = DOCA_SHA_JOB_SHA256, .ctx = engine.ctx },
				    .req_buf = engine.src,
				    .resp_buf = engine.dst };

	set_source(&engine, "abc", 3);
	assert_int_equal(doca_buf_set_data(engine.dst, arena + 2 * HALF - 64, 0), DOCA_SUCCESS);
	for (size_t i = 0; i < 5; i++) { /* behind the data: 0, 32; then over it: 0; and so on */
		memset(arena + 2 * HALF - 64, 0, 64);
		assert_int_equal(run(&engine, &job.base), DOCA_SUCCESS);
		assert_int_equal(output_len(&engine), i % 2 * 32 + 32);
		assert_memory_equal(arena + 2 * HALF - 64 + i % 2 * 32, sha256_of_abc, 32);
	}
	job.resp_buf = short_dst;
	assert_int_equal(doca_buf_set_data(short_dst, arena + HALF, 20), DOCA_SUCCESS);
	assert_int_equal(run(&engine, &job.base), DOCA_ERROR_INVALID_VALUE);
	rig_return(short_dst);
	close_engine(&engine);
	assert_int_equal(doca_sha_destroy(sha), DOCA_SUCCESS);
}

static void test_sessions_hash_a_message_in_pieces(void **state)
{
	struct rig *rig = *state;
	struct doca_sha *sha;
	struct engine engine = open_sha(rig, &sha);
	struct doca_sha_partial_session *session, *copy;
	uint8_t expected[64], message[200];

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 5);
	assert_int_equal(hash(&engine, DOCA_SHA_JOB_SHA256, message, 200), DOCA_SUCCESS);
	memcpy(expected, arena + HALF, 32);
	assert_int_equal(doca_sha_partial_session_create(sha, rig->workq, &session), DOCA_SUCCESS);
	assert_int_equal(doca_sha_partial_session_create(sha, rig->workq, &copy), DOCA_SUCCESS);
	for (int round = 0; round < 2; round++) { /* a session takes one message after the other */
		assert_int_equal(add_piece(&engine, DOCA_SHA_JOB_SHA256_PARTIAL, session, message, 128, false),
				 DOCA_SUCCESS);
		assert_int_equal(output_len(&engine), 0);
		assert_int_equal(add_piece(&engine, DOCA_SHA_JOB_SHA256_PARTIAL, session, message, 63, false),
				 DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(add_piece(&engine, DOCA_SHA_JOB_SHA1_PARTIAL, session, message, 64, false),
				 DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_sha_partial_session_copy(sha, rig->workq, session, copy), DOCA_SUCCESS);
		assert_int_equal(add_piece(&engine, DOCA_SHA_JOB_SHA256_PARTIAL, session, message + 128, 72, true),
				 DOCA_SUCCESS);
		assert_memory_equal(arena + HALF, expected, 32);
		assert_int_equal(add_piece(&engine, DOCA_SHA_JOB_SHA256_PARTIAL, copy, message + 128, 72, true),
				 DOCA_SUCCESS);
		assert_memory_equal(arena + HALF, expected, 32);
	}
	assert_int_equal(add_piece(&engine, DOCA_SHA_JOB_SHA256_PARTIAL, NULL, message, 64, true),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_partial_session_destroy(sha, rig->workq, copy), DOCA_SUCCESS);
	assert_int_equal(doca_sha_partial_session_destroy(sha, rig->workq, copy), DOCA_ERROR_INVALID_VALUE);
	close_engine(&engine);
	/* the queue is gone, and the session with it */
	assert_int_equal(doca_sha_partial_session_create(sha, rig->workq, &copy), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_partial_session_destroy(sha, rig->workq, session), DOCA_SUCCESS);
	assert_int_equal(doca_sha_destroy(sha), DOCA_SUCCESS);
}

/* A queue has as many sessions as jobs. */
static void test_sessions_are_scarce(void **state)
{
	struct rig *rig = *state;
	struct doca_sha *sha;
	struct engine engine = open_sha(rig, &sha);
	struct doca_sha_partial_session *sessions[RIG_DEPTH + 1];

	for (int i = 0; i < RIG_DEPTH; i++)
		assert_int_equal(doca_sha_partial_session_create(sha, rig->workq, &sessions[i]), DOCA_SUCCESS);
	assert_int_equal(doca_sha_partial_session_create(sha, rig->workq, &sessions[RIG_DEPTH]), DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < RIG_DEPTH; i++)
		assert_int_equal(doca_sha_partial_session_destroy(sha, rig->workq, sessions[i]), DOCA_SUCCESS);
	close_engine(&engine);
	assert_int_equal(doca_sha_destroy(sha), DOCA_SUCCESS);
}

/* A job that fails, as its response's map was destroyed, ends the message of each session; plain jobs go on. */
static void test_failed_job_loses_sessions(void **state)
{
	struct rig *rig = *state;
	struct doca_sha *sha;
	struct engine engine = open_sha(rig, &sha);
	struct doca_sha_partial_session *session, *other;
	uint8_t piece[64] = { 0 };
	struct doca_sha_job job = { .base = { .type = DOCA_SHA_JOB_SHA1, .ctx = engine.ctx }, .req_buf = engine.src };
	struct doca_mmap *map = rig_map(rig, piece, sizeof(piece), DOCA_ACCESS_LOCAL_READ_WRITE);
	struct doca_event event;

	job.resp_buf = rig_room(rig, map, piece, sizeof(piece));
	assert_int_equal(doca_sha_partial_session_create(sha, rig->workq, &session), DOCA_SUCCESS);
	assert_int_equal(add_piece(&engine, DOCA_SHA_JOB_SHA1_PARTIAL, session, piece, 64, false), DOCA_SUCCESS);
	assert_int_equal(doca_workq_submit(rig->workq, &job.base), DOCA_SUCCESS);
	rig_return(job.resp_buf);
	while (doca_workq_progress_retrieve(rig->workq, &event, 0) == DOCA_ERROR_AGAIN)
		;
	assert_int_equal(event.result.u64, DOCA_ERROR_IO_FAILED);
	assert_int_equal(add_piece(&engine, DOCA_SHA_JOB_SHA1_PARTIAL, session, piece, 64, true), DOCA_ERROR_BAD_STATE);
	assert_int_equal(hash(&engine, DOCA_SHA_JOB_SHA1, "abc", 3), DOCA_SUCCESS);
	assert_memory_equal(arena + HALF, sha1_of_abc, sizeof(sha1_of_abc));
	assert_int_equal(doca_sha_partial_session_create(sha, rig->workq, &other), DOCA_SUCCESS);
	assert_int_equal(doca_sha_partial_session_copy(sha, rig->workq, session, other), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sha_partial_session_destroy(sha, rig->workq, session), DOCA_SUCCESS);
	assert_int_equal(doca_sha_partial_session_destroy(sha, rig->workq, other), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(map), DOCA_SUCCESS);
	close_engine(&engine);
	assert_int_equal(doca_sha_destroy(sha), DOCA_SUCCESS);
}

static bool is_bluefield_2(struct rig *rig)
{
	return doca_sha_get_hardware_supported(doca_dev_as_devinfo(rig->dev)) == DOCA_SUCCESS;
}

static void test_sha_capabilities(void **state)
{
	static const uint32_t bytes[] = { 20, 32, 64 };
	struct rig *rig = *state;
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig->dev);
	uint32_t num;
	uint64_t size;

	for (int type = DOCA_SHA_JOB_SHA1; type <= DOCA_SHA_JOB_SHA512_PARTIAL; type++) {
		assert_int_equal(doca_sha_job_get_supported(devinfo, type), DOCA_SUCCESS);
		assert_int_equal(doca_sha_get_min_dst_buffer_size(devinfo, type, &num), DOCA_SUCCESS);
		assert_int_equal(num, bytes[(type - DOCA_SHA_JOB_SHA1) % 3]);
	}
	assert_int_equal(doca_sha_job_get_supported(devinfo, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_job_get_supported(NULL, DOCA_SHA_JOB_SHA1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_sha_get_max_list_buf_num_elem(devinfo, &num), DOCA_SUCCESS);
	assert_int_equal(num, 128);
	assert_int_equal(doca_sha_get_max_src_buffer_size(devinfo, &size), DOCA_SUCCESS);
	assert_int_equal(size, INT32_MAX);
	assert_null(doca_sha_as_ctx(NULL));
	assert_int_equal(doca_sha_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

/* ---- compression ---- */

static doca_error_t code(struct engine *engine, int type, const void *data, size_t len, uint64_t *checksums)
{
	struct doca_compress_job job = { .base = { .type = type, .ctx = engine->ctx, .user_data.u64 = 3 },
					 .src_buff = engine->src,
					 .dst_buff = engine->dst,
					 .output_chksum = checksums };

	set_source(engine, data, len);
	assert_false(doca_buf_set_data(engine->dst, arena + HALF, HALF - 4)); /* the output replaces the data */
	return run(engine, &job.base);
}

static struct engine open_compress(struct rig *rig, struct doca_compress **ret_compress)
{
	assert_int_equal(doca_compress_create(ret_compress), DOCA_SUCCESS);
	return open_engine(rig, doca_compress_as_ctx(*ret_compress));
}

/* "hello" in a stored block; its CRC-32 and Adler-32. */
static const char stored[] = "\x01\x05\x00\xfa\xffhello";
#define HELLO_CHECKSUMS 0x062c02153610a686u

static void test_decompress_jobs_give_bytes_and_checksums(void **state)
{
	struct doca_compress *compress;
	struct engine engine = open_compress(*state, &compress);
	uint64_t checksums = 1;

	assert_int_equal(code(&engine, DOCA_DECOMPRESS_DEFLATE_JOB, stored, 10, &checksums), DOCA_SUCCESS);
	assert_int_equal(output_len(&engine), 5);
	assert_memory_equal(arena + HALF, "hello", 5);
	assert_int_equal(checksums, HELLO_CHECKSUMS);
	checksums = 1;
	for (int round = 0; round < 3; round++) { /* a stream that ends too early, and one that is well */
		assert_true(code(&engine, DOCA_DECOMPRESS_DEFLATE_JOB, stored, 9, &checksums) == DOCA_ERROR_IO_FAILED);
		assert_int_equal(checksums, 1);
		assert_int_equal(output_len(&engine), HALF - 4);
		assert_int_equal(code(&engine, DOCA_DECOMPRESS_DEFLATE_JOB, stored, 10, NULL), DOCA_SUCCESS);
	}
	assert_int_equal(code(&engine, DOCA_DMA_JOB_MEMCPY, stored, 10, NULL), DOCA_ERROR_INVALID_VALUE);
	close_engine(&engine);
	assert_int_equal(doca_compress_destroy(compress), DOCA_SUCCESS);
}

/* 4 MiB, of which later releases would take a half. */
static void test_compress_job_of_bluefield_2(void **state)
{
	struct doca_compress *compress;
	struct engine engine = open_compress(*state, &compress);
	struct doca_devinfo *devinfo = doca_dev_as_devinfo(engine.rig->dev);
	uint64_t packed_checksums, checksums, max;
	uint32_t max_of_1_5;
	static uint8_t text[HALF], packed[HALF];
	size_t len;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i >> 7 ^ i % 31);
	if (!is_bluefield_2(engine.rig)) {
		assert_int_equal(doca_compress_job_get_supported(devinfo, DOCA_COMPRESS_DEFLATE_JOB),
				 DOCA_ERROR_NOT_SUPPORTED);
		assert_int_equal(code(&engine, DOCA_COMPRESS_DEFLATE_JOB, text, 100, NULL), DOCA_ERROR_NOT_SUPPORTED);
		assert_int_equal(doca_compress_get_max_buf_size(devinfo, DOCA_DECOMPRESS_DEFLATE_JOB, &max),
				 DOCA_SUCCESS);
		assert_int_equal(max, 2 << 20);
		assert_false(doca_compress_get_max_buffer_size(devinfo, DOCA_DECOMPRESS_DEFLATE_JOB, &max_of_1_5));
		assert_int_equal(max_of_1_5, 2 << 20);
	} else {
		assert_int_equal(doca_compress_job_get_supported(devinfo, DOCA_COMPRESS_DEFLATE_JOB), DOCA_SUCCESS);
		assert_int_equal(doca_compress_get_max_buf_size(devinfo, DOCA_COMPRESS_DEFLATE_JOB, &max),
				 DOCA_SUCCESS);
		assert_int_equal(max, 128 << 20);
		assert_int_equal(code(&engine, DOCA_COMPRESS_DEFLATE_JOB, text, sizeof(text), &packed_checksums),
				 DOCA_SUCCESS);
		len = output_len(&engine);
		assert_true(len < sizeof(text) / 2);
		memcpy(packed, arena + HALF, len);
		assert_int_equal(code(&engine, DOCA_DECOMPRESS_DEFLATE_JOB, packed, len, &checksums), DOCA_SUCCESS);
		assert_int_equal(output_len(&engine), sizeof(text));
		assert_memory_equal(arena + HALF, text, sizeof(text));
		assert_int_equal(checksums, packed_checksums);
		/* Noise has no stored blocks, of 5 bytes each: a byte costs a code. */
		for (size_t i = 0; i < 65536; i++)
			text[i] = (uint8_t)random();
		assert_int_equal(code(&engine, DOCA_COMPRESS_DEFLATE_JOB, text, 65536, NULL), DOCA_SUCCESS);
		assert_in_range(output_len(&engine), 65536 + 30, 65536 + 200);
	}
	close_engine(&engine);
	assert_int_equal(doca_compress_destroy(compress), DOCA_SUCCESS);
}

/* One stored block of a frame. */
static void test_lz4_job_of_bluefield_3(void **state)
{
	static const char block[] = "\x05\x00\x00\x80hello";
	struct doca_compress *compress;
	struct engine engine = open_compress(*state, &compress);
	struct doca_devinfo *devinfo = doca_dev_as_devinfo(engine.rig->dev);
	uint64_t checksums;
	uint32_t num;

	assert_int_equal(doca_compress_get_max_list_buf_num_elem(devinfo, &num), DOCA_SUCCESS);
	assert_int_equal(num, 128);
	if (is_bluefield_2(engine.rig)) {
		assert_int_equal(doca_compress_job_get_supported(devinfo, DOCA_DECOMPRESS_LZ4_JOB),
				 DOCA_ERROR_NOT_SUPPORTED);
		assert_int_equal(code(&engine, DOCA_DECOMPRESS_LZ4_JOB, block, 9, NULL), DOCA_ERROR_NOT_SUPPORTED);
	} else {
		assert_int_equal(doca_compress_job_get_supported(devinfo, DOCA_DECOMPRESS_LZ4_JOB), DOCA_SUCCESS);
		assert_int_equal(code(&engine, DOCA_DECOMPRESS_LZ4_JOB, block, 9, &checksums), DOCA_SUCCESS);
		assert_int_equal(output_len(&engine), 5);
		assert_memory_equal(arena + HALF, "hello", 5);
		assert_int_equal(checksums, HELLO_CHECKSUMS);
		assert_int_equal(code(&engine, DOCA_DECOMPRESS_LZ4_JOB, block, 3, NULL), DOCA_ERROR_INVALID_VALUE);
	}
	close_engine(&engine);
	assert_int_equal(doca_compress_destroy(compress), DOCA_SUCCESS);
}

/* ---- erasure coding ---- */

#define BLOCK 64

static doca_error_t multiply(struct engine *engine, int type, struct doca_matrix *matrix, const void *blocks,
			     size_t num)
{
	struct doca_ec_job job = { .base = { .type = type, .ctx = engine->ctx, .user_data.u64 = 9 },
				   .coding_matrix = matrix,
				   .src_buff = engine->src,
				   .dst_buff = engine->dst };

	set_source(engine, blocks, num * BLOCK);
	assert_false(doca_buf_set_data(engine->dst, arena + HALF, HALF)); /* full: the output replaces the data */
	return run(engine, &job.base);
}

/* Blocks of a code with 3 data and 2 redundancy blocks: lost blocks come back, an update gives what a creation gives. */
static void use_code(struct engine *engine, struct doca_ec *ec, struct doca_matrix *coding)
{
	uint8_t blocks[5 * BLOCK], old[BLOCK], source[4 * BLOCK];
	uint32_t missing[] = { 0, 2 }, changed = 1;
	struct doca_matrix *recover, *update;

	for (size_t i = 0; i < (size_t)3 * BLOCK; i++)
		blocks[i] = (uint8_t)(i * 11 + i / 64);
	assert_int_equal(multiply(engine, DOCA_EC_JOB_CREATE, coding, blocks, 3), DOCA_SUCCESS);
	assert_int_equal(output_len(engine), 2 * BLOCK);
	memcpy(blocks + (size_t)3 * BLOCK, arena + HALF, (size_t)2 * BLOCK);
	assert_int_equal(doca_ec_recover_matrix_create(coding, ec, missing, 2, &recover), DOCA_SUCCESS);
	memcpy(source, blocks + BLOCK, BLOCK);
	memcpy(source + BLOCK, blocks + (size_t)3 * BLOCK, (size_t)2 * BLOCK);
	assert_int_equal(multiply(engine, DOCA_EC_JOB_RECOVER, recover, source, 3), DOCA_SUCCESS);
	assert_memory_equal(arena + HALF, blocks, BLOCK);
	assert_memory_equal(arena + HALF + BLOCK, blocks + (size_t)2 * BLOCK, BLOCK);
	assert_int_equal(doca_ec_update_matrix_create(coding, ec, &changed, 1, &update), DOCA_SUCCESS);
	memcpy(old, blocks + BLOCK, BLOCK);
	memset(blocks + BLOCK, 0x55, BLOCK);
	memcpy(source, old, BLOCK);
	memcpy(source + BLOCK, blocks + BLOCK, BLOCK);
	memcpy(source + (size_t)2 * BLOCK, blocks + (size_t)3 * BLOCK, (size_t)2 * BLOCK);
	assert_int_equal(multiply(engine, DOCA_EC_JOB_UPDATE, update, source, 4), DOCA_SUCCESS);
	memcpy(source, arena + HALF, (size_t)2 * BLOCK);
	assert_int_equal(multiply(engine, DOCA_EC_JOB_GALOIS_MUL, coding, blocks, 3), DOCA_SUCCESS);
	assert_memory_equal(arena + HALF, source, (size_t)2 * BLOCK);
	assert_int_equal(multiply(engine, DOCA_EC_JOB_CREATE, coding, blocks, 2), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(multiply(engine, DOCA_EC_JOB_CREATE, NULL, blocks, 3), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_matrix_destroy(recover), DOCA_SUCCESS);
	assert_int_equal(doca_ec_matrix_destroy(update), DOCA_SUCCESS);
}

static void test_erasure_coding_jobs_of_bluefield_3(void **state)
{
	struct rig *rig = *state;
	struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig->dev);
	uint8_t raw[] = { 1, 1, 1, 2, 1, 3 };
	struct doca_matrix *cauchy, *from_raw;
	struct engine engine;
	struct doca_ec *ec;
	uint32_t num;

	assert_int_equal(doca_ec_create(&ec), DOCA_SUCCESS);
	if (is_bluefield_2(rig)) {
		assert_int_equal(doca_ec_job_get_supported(devinfo, DOCA_EC_JOB_CREATE), DOCA_ERROR_NOT_SUPPORTED);
		assert_int_equal(doca_ctx_dev_add(doca_ec_as_ctx(ec), rig->dev), DOCA_ERROR_NOT_SUPPORTED);
		assert_int_equal(doca_ec_destroy(ec), DOCA_SUCCESS);
		return;
	}
	assert_int_equal(doca_ec_job_get_supported(devinfo, DOCA_EC_JOB_UPDATE), DOCA_SUCCESS);
	assert_int_equal(doca_ec_get_max_buffer_size(devinfo, DOCA_EC_JOB_CREATE, &num), DOCA_SUCCESS);
	assert_int_equal(num, 1 << 20);
	assert_int_equal(doca_ec_get_max_list_buf_num_elem(devinfo, &num), DOCA_SUCCESS);
	assert_int_equal(num, 128);
	assert_int_equal(doca_ec_matrix_create(ec, DOCA_CODING_MATRIX_CAUCHY, 3, 2, &cauchy), DOCA_SUCCESS);
	assert_int_equal(doca_ec_matrix_from_raw(ec, raw, 3, 2, &from_raw), DOCA_SUCCESS);
	assert_int_equal(doca_ec_matrix_create(ec, 3, 3, 2, &cauchy), DOCA_ERROR_INVALID_VALUE);
	engine = open_engine(rig, doca_ec_as_ctx(ec));
	use_code(&engine, ec, cauchy);
	use_code(&engine, ec, from_raw);
	close_engine(&engine);
	assert_int_equal(doca_ec_matrix_destroy(cauchy), DOCA_SUCCESS);
	assert_int_equal(doca_ec_matrix_destroy(from_raw), DOCA_SUCCESS);
	assert_int_equal(doca_ec_matrix_destroy(from_raw), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ec_destroy(ec), DOCA_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha_jobs_have_the_digests_on_any_card),
		cmocka_unit_test(test_digest_replaces_data_without_room_behind_it),
		cmocka_unit_test(test_sessions_hash_a_message_in_pieces),
		cmocka_unit_test(test_sessions_are_scarce),
		cmocka_unit_test(test_failed_job_loses_sessions),
		cmocka_unit_test(test_sha_capabilities),
		cmocka_unit_test(test_decompress_jobs_give_bytes_and_checksums),
		cmocka_unit_test(test_compress_job_of_bluefield_2),
		cmocka_unit_test(test_lz4_job_of_bluefield_3),
		cmocka_unit_test(test_erasure_coding_jobs_of_bluefield_3),
	};

	return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
