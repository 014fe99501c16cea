/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the program takes away while a task of an engine in flight uses it, also in the middle of another project's
 * library: the task fails, and the same context then does the same work well. */
#include <string.h>

#include <doca_compress.h>
#include <doca_sha.h>
#include <zlib.h>

#include "cmocka_test.h"
#include "doca_check.h"
#include "ec_util.h"
#include "gcm_util.h"
#include "lost_memory.h"
#include "lz4_make.h"

#define TEXT_BYTES ((size_t)100000)
#define TAG_BYTES  16
#define AAD_BYTES  99000 /* the model of the cipher is slow */
#define MAX_OUT    ((size_t)200000)

struct user {
	struct accel *accel;
	union {
		struct doca_sha *sha;
		struct doca_compress *compress;
		struct ec_rig ec;
		struct gcm_rig gcm;
	};
	struct doca_ec_matrix *matrix;
	struct doca_aes_gcm_key *key;
};

struct engine {
	const char *name;
	/* Create the instance, configure it, and return its context. */
	struct doca_ctx *(*create)(struct user *user);
	size_t (*make_source)(uint8_t *to); /* at most LOST_BYTES */
	struct doca_task *(*alloc)(struct user *user, const struct doca_buf *src, struct doca_buf *dst);
	void (*destroy)(struct user *user);
};

static const union doca_data no_data;

static size_t make_text(uint8_t *to)
{
	for (size_t i = 0; i < TEXT_BYTES; i++)
		to[i] = (uint8_t)("a text that repeats, "[i % 21] + i / 5000);
	return TEXT_BYTES;
}

/* ---- SHA ---- */

static void on_hash(struct doca_sha_task_hash *task, union doca_data user_data, union doca_data ctx_data)
{
}

static struct doca_ctx *sha_create(struct user *user)
{
	MUST(doca_sha_create(user->accel->dev, &user->sha));
	MUST(doca_sha_task_hash_set_conf(user->sha, on_hash, on_hash, 1));
	return doca_sha_as_ctx(user->sha);
}

static struct doca_task *sha_alloc(struct user *user, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_hash *task;

	MUST(doca_sha_task_hash_alloc_init(user->sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, no_data, &task));
	return doca_sha_task_hash_as_task(task);
}

static void sha_destroy(struct user *user)
{
	MUST(doca_sha_destroy(user->sha));
}

/* ---- compression ---- */

static void on_deflate(struct doca_compress_task_compress_deflate *task, union doca_data user_data,
		       union doca_data ctx_data)
{
}

static void on_inflate(struct doca_compress_task_decompress_deflate *task, union doca_data user_data,
		       union doca_data ctx_data)
{
}

static void on_lz4(struct doca_compress_task_decompress_lz4_block *task, union doca_data user_data,
		   union doca_data ctx_data)
{
}

static struct doca_ctx *compress_create(struct user *user)
{
	MUST(doca_compress_create(user->accel->dev, &user->compress));
	MUST(doca_compress_task_compress_deflate_set_conf(user->compress, on_deflate, on_deflate, 1));
	MUST(doca_compress_task_decompress_deflate_set_conf(user->compress, on_inflate, on_inflate, 1));
	MUST(doca_compress_task_decompress_lz4_block_set_conf(user->compress, on_lz4, on_lz4, 1));
	return doca_compress_as_ctx(user->compress);
}

static struct doca_task *deflate_alloc(struct user *user, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_compress_task_compress_deflate *task;

	MUST(doca_compress_task_compress_deflate_alloc_init(user->compress, src, dst, no_data, &task));
	return doca_compress_task_compress_deflate_as_task(task);
}

static size_t make_deflated(uint8_t *to)
{
	static uint8_t text[TEXT_BYTES];
	z_stream stream = {
		.next_in = text, .avail_in = (uInt)make_text(text), .next_out = to, .avail_out = (uInt)LOST_BYTES
	};

	CHECK(deflateInit2(&stream, 0, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) ==
	      Z_OK); /* stored: as long as the text */
	CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
	CHECK(deflateEnd(&stream) == Z_OK);
	return stream.total_out;
}

static struct doca_task *inflate_alloc(struct user *user, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_compress_task_decompress_deflate *task;

	MUST(doca_compress_task_decompress_deflate_alloc_init(user->compress, src, dst, no_data, &task));
	return doca_compress_task_decompress_deflate_as_task(task);
}

static size_t make_lz4(uint8_t *to)
{
	static uint8_t text[TEXT_BYTES], block[2 * TEXT_BYTES + 16];
	size_t len = lz4_make_block(text, 0, 0, make_text(text), block);

	CHECK(len <= LOST_BYTES);
	memcpy(to, block, len);
	return len;
}

static struct doca_task *lz4_alloc(struct user *user, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_compress_task_decompress_lz4_block *task;

	MUST(doca_compress_task_decompress_lz4_block_alloc_init(user->compress, src, dst, no_data, &task));
	return doca_compress_task_decompress_lz4_block_as_task(task);
}

static void compress_destroy(struct user *user)
{
	MUST(doca_compress_destroy(user->compress));
}

/* ---- erasure coding: a redundancy block of two blocks ---- */

static struct doca_ctx *code_create(struct user *user)
{
	user->ec = (struct ec_rig){ .accel = user->accel };
	MUST(doca_ec_create(user->accel->dev, &user->ec.ec));
	MUST(ec_set_conf(user->ec.ec, EC_CREATE, 1));
	user->matrix = ec_matrix(&user->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	return doca_ec_as_ctx(user->ec.ec);
}

static size_t make_blocks(uint8_t *to)
{
	make_text(to);
	return TEXT_BYTES / 128 * 128;
}

static struct doca_task *code_alloc(struct user *user, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task;

	MUST(ec_alloc(&user->ec, EC_CREATE, user->matrix, src, dst, &task));
	return task;
}

static void code_destroy(struct user *user)
{
	MUST(doca_ec_matrix_destroy(user->matrix));
	MUST(doca_ec_destroy(user->ec.ec));
}

/* ---- AES-GCM ---- */

static const uint8_t key_bytes[16] = { 1, 2, 3 };

static struct doca_ctx *gcm_create(struct user *user)
{
	user->gcm = (struct gcm_rig){ .accel = user->accel };
	MUST(doca_aes_gcm_create(user->accel->dev, &user->gcm.gcm));
	MUST(gcm_set_conf(user->gcm.gcm, GCM_ENCRYPT, 1));
	MUST(gcm_set_conf(user->gcm.gcm, GCM_DECRYPT, 1));
	user->key = gcm_key(&user->gcm, key_bytes, sizeof(key_bytes));
	return doca_aes_gcm_as_ctx(user->gcm.gcm);
}

static struct doca_task *cipher_alloc(struct user *user, enum gcm_kind kind, const struct doca_buf *src,
				      struct doca_buf *dst)
{
	const struct gcm_params params = {
		.key = user->key, .iv_bytes = 12, .tag_bytes = TAG_BYTES, .aad_bytes = AAD_BYTES
	};
	struct doca_task *task;

	MUST(gcm_alloc(&user->gcm, kind, &params, src, dst, &task));
	return task;
}

static struct doca_task *encrypt_alloc(struct user *user, const struct doca_buf *src, struct doca_buf *dst)
{
	return cipher_alloc(user, GCM_ENCRYPT, src, dst);
}

static size_t make_encrypted(uint8_t *to)
{
	static uint8_t text[TEXT_BYTES], sealed[TEXT_BYTES + TAG_BYTES];
	const uint8_t iv[12] = { 0 };

	make_text(text);
	gcm_model(key_bytes, sizeof(key_bytes), iv, sizeof(iv), text, AAD_BYTES, TEXT_BYTES, sealed);
	memcpy(to, sealed, sizeof(sealed));
	return sizeof(sealed);
}

static struct doca_task *decrypt_alloc(struct user *user, const struct doca_buf *src, struct doca_buf *dst)
{
	return cipher_alloc(user, GCM_DECRYPT, src, dst);
}

static void gcm_destroy(struct user *user)
{
	MUST(doca_aes_gcm_key_destroy(user->key));
	MUST(doca_aes_gcm_destroy(user->gcm.gcm));
}

/* ---- the way of every engine ---- */

static const struct engine engines[] = {
	{ "SHA", sha_create, make_text, sha_alloc, sha_destroy },
	{ "deflate", compress_create, make_text, deflate_alloc, compress_destroy },
	{ "inflate", compress_create, make_deflated, inflate_alloc, compress_destroy },
	{ "LZ4", compress_create, make_lz4, lz4_alloc, compress_destroy },
	{ "erasure coding", code_create, make_blocks, code_alloc, code_destroy },
	{ "encryption", gcm_create, make_text, encrypt_alloc, gcm_destroy },
	{ "decryption", gcm_create, make_encrypted, decrypt_alloc, gcm_destroy },
};

static void start(struct user *user)
{
	doca_ctx_start(user->accel->ctx);
}

/* Returns the status of the task. A failed one stops the context, which is idle once the task is freed. */
static doca_error_t run(struct user *user, struct doca_task *task, struct lost_block *block)
{
	enum doca_ctx_states state;
	doca_error_t status;

	MUST(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE));
	if (block)
		lost_take(block);
	doca_ctx_flush_tasks(user->accel->ctx);
	accel_drain(user->accel);
	status = doca_task_get_status(task);
	doca_task_free(task);
	do {
		doca_pe_progress(user->accel->pe);
		MUST(doca_ctx_get_state(user->accel->ctx, &state));
	} while (status != DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE);
	return status;
}

static struct doca_mmap *map_block(struct accel *accel, const struct lost_block *block)
{
	struct doca_mmap *map;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_add_dev(map, accel->dev));
	MUST(doca_mmap_set_memrange(map, block->bytes, LOST_BYTES));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_mmap_start(map));
	return map;
}

static struct doca_buf *get_buf(struct accel *accel, struct doca_mmap *map, void *at, size_t len, size_t data_len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_args(accel->inventory, map, at, len, at, data_len, &buf));
	accel->bufs[accel->num_bufs++] = buf;
	return buf;
}

/* The output of the task whose memory stays. */
static size_t run_well(struct user *user, const struct engine *engine, const uint8_t *source, size_t len, uint8_t *out)
{
	struct doca_buf *dst = accel_dst(user->accel, MAX_OUT);

	assert_ok(run(user, engine->alloc(user, accel_src(user->accel, source, len), dst), NULL));
	return accel_data(dst, out, MAX_OUT);
}

static void check_case(struct user *user, const struct engine *engine, enum lost_way way, bool is_source)
{
	static uint8_t source[LOST_BYTES], expected[MAX_OUT], out[MAX_OUT];
	struct lost_block block = lost_new(way);
	size_t len = engine->make_source(source), expected_len = run_well(user, engine, source, len, expected);
	bool fails = lost_fails(way, !is_source);
	struct doca_mmap *map = map_block(user->accel, &block);
	struct doca_buf *src, *dst;
	doca_error_t status;

	if (is_source)
		memcpy(block.bytes, source, len);
	src = is_source ? get_buf(user->accel, map, block.bytes, len, len) : accel_src(user->accel, source, len);
	dst = is_source ? accel_dst(user->accel, MAX_OUT) : get_buf(user->accel, map, block.bytes, LOST_BYTES, 0);
	status = run(user, engine->alloc(user, src, dst), &block);
	if (status != (fails ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS))
		fail_msg("%s, %s %s: %s", engine->name, is_source ? "source" : "destination", lost_name(way),
			 doca_error_get_name(status));
	if (fails)
		start(user);
	else if (is_source)
		assert_int_equal(accel_data(dst, out, MAX_OUT), expected_len);
	assert_int_equal(run_well(user, engine, source, len, out), expected_len);
	assert_memory_equal(out, expected, expected_len);
	lost_end(&block);
	accel_reset(user->accel);
	MUST(doca_mmap_destroy(map));
}

static void test_engines(void **state)
{
	const enum lost_way ways[] = { LOST_UNMAPPED, LOST_TRUNCATED, LOST_PROTECTED };

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		struct user user = { .accel = accel_open() };

		accel_start(user.accel, engines[i].create(&user));
		for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
			check_case(&user, &engines[i], ways[way], true);
			check_case(&user, &engines[i], ways[way], false);
		}
		accel_stop(user.accel);
		engines[i].destroy(&user);
		accel_close(user.accel);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_engines) };

	return cmocka_run_group_tests(tests, lost_group_setup, NULL);
}
