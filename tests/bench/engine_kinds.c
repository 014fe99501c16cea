/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines besides DMA's, and their libraries. */
#include <dlfcn.h>
#include <doca_aes_gcm.h>
#include <doca_compress.h>
#include <doca_erasure_coding.h>
#include <doca_sha.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "shim/aes_gcm/cipher.h"
#include "shim/compress/deflate.h"
#include "shim/compress/lz4.h"
#include "shim/erasure_coding/galois.h"
#include "shim/sha/digest.h"

#define TAG_BYTES 16

static const union doca_data no_data;

/* Callbacks of the tasks @struct_: @name and @name_failed. */
#define CALLBACKS(name, struct_)                                                                             \
	static void name(struct struct_ *task, union doca_data task_data, union doca_data ctx_data)          \
	{                                                                                                    \
		bench_engine_done(ctx_data);                                                                 \
	}                                                                                                    \
                                                                                                             \
	static void name##_failed(struct struct_ *task, union doca_data task_data, union doca_data ctx_data) \
	{                                                                                                    \
		bench_engine_failed(ctx_data);                                                               \
	}

static size_t copy_text(const uint8_t *text, size_t len, uint8_t *source, size_t room)
{
	memcpy(source, text, len);
	return len;
}

static uint8_t log2_of(uint32_t number)
{
	uint8_t log = 0;

	while (UINT32_C(1) << log < number)
		log++;
	return log;
}

/* ---- SHA-256 ---- */

CALLBACKS(on_hash, doca_sha_task_hash)

static doca_error_t sha_create(struct bench_engine *engine)
{
	struct doca_sha *sha;
	doca_error_t result = doca_sha_create(engine->dev, &sha);

	if (result != DOCA_SUCCESS)
		return result;
	engine->instance = sha;
	engine->ctx = doca_sha_as_ctx(sha);
	return doca_sha_task_hash_set_conf(sha, on_hash, on_hash_failed, log2_of(engine->num_blocks));
}

static doca_error_t sha_alloc(struct bench_engine *engine, const struct doca_buf *src, struct doca_buf *dst,
			      struct doca_task **ret_task)
{
	struct doca_sha_task_hash *task;
	doca_error_t result =
		doca_sha_task_hash_alloc_init(engine->instance, DOCA_SHA_ALGORITHM_SHA256, src, dst, no_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = doca_sha_task_hash_as_task(task);
	return result;
}

static void sha_destroy(struct bench_engine *engine)
{
	doca_sha_destroy(engine->instance);
}

static int sha_prepare(struct bench_engine *engine)
{
	engine->bare = sha_digest_find_lack() ? NULL : sha_digest_new();
	return engine->bare ? 0 : -1;
}

static int sha_work(struct bench_engine *engine, const uint8_t *src, size_t len, uint8_t *dst, size_t room)
{
	if (sha_digest_begin(engine->bare, DOCA_SHA_ALGORITHM_SHA256) < 0 ||
	    sha_digest_update(engine->bare, src, len) < 0)
		return -1;
	return sha_digest_end(engine->bare, dst);
}

static void sha_finish(struct bench_engine *engine)
{
	sha_digest_free(engine->bare);
}

/* ---- deflate ---- */

CALLBACKS(on_deflate, doca_compress_task_compress_deflate)
CALLBACKS(on_inflate, doca_compress_task_decompress_deflate)
CALLBACKS(on_lz4, doca_compress_task_decompress_lz4_block)

static doca_error_t compress_create(struct bench_engine *engine)
{
	struct doca_compress *compress;
	doca_error_t result = doca_compress_create(engine->dev, &compress);

	if (result != DOCA_SUCCESS)
		return result;
	engine->instance = compress;
	engine->ctx = doca_compress_as_ctx(compress);
	return DOCA_SUCCESS;
}

static void compress_destroy(struct bench_engine *engine)
{
	doca_compress_destroy(engine->instance);
}

static doca_error_t deflate_create(struct bench_engine *engine)
{
	doca_error_t result = compress_create(engine);

	return result != DOCA_SUCCESS ? result :
					doca_compress_task_compress_deflate_set_conf(
						engine->instance, on_deflate, on_deflate_failed, engine->num_blocks);
}

static doca_error_t deflate_alloc(struct bench_engine *engine, const struct doca_buf *src, struct doca_buf *dst,
				  struct doca_task **ret_task)
{
	struct doca_compress_task_compress_deflate *task;
	doca_error_t result =
		doca_compress_task_compress_deflate_alloc_init(engine->instance, src, dst, no_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = doca_compress_task_compress_deflate_as_task(task);
	return result;
}

static int codecs_prepare(struct bench_engine *engine)
{
	engine->bare = calloc(1, sizeof(struct compress_codecs));
	return engine->bare && !compress_deflate_find_lack() && !compress_lz4_find_lack() ? 0 : -1;
}

static void codecs_finish(struct bench_engine *engine)
{
	if (engine->bare)
		compress_codecs_free(engine->bare);
	free(engine->bare);
}

/* The results of checksums, so that compilers compute them. */
static volatile uint32_t checksum;

/* Compress to @dst, as a task does. Returns the length, or 0. */
static size_t deflate(struct compress_codecs *codecs, const uint8_t *src, size_t len, uint8_t *dst, size_t room)
{
	const struct compress_stream *stream;

	if (compress_deflate(codecs, src, len, &stream) < 0 || stream->len > room)
		return 0;
	memcpy(dst, stream->bytes, stream->len);
	return stream->len;
}

static int deflate_work(struct bench_engine *engine, const uint8_t *src, size_t len, uint8_t *dst, size_t room)
{
	checksum = compress_crc32(src, len) ^ compress_adler32(src, len);
	return deflate(engine->bare, src, len, dst, room) > 0 ? 0 : -1;
}

static doca_error_t inflate_create(struct bench_engine *engine)
{
	doca_error_t result = compress_create(engine);

	return result != DOCA_SUCCESS ? result :
					doca_compress_task_decompress_deflate_set_conf(
						engine->instance, on_inflate, on_inflate_failed, engine->num_blocks);
}

static doca_error_t inflate_alloc(struct bench_engine *engine, const struct doca_buf *src, struct doca_buf *dst,
				  struct doca_task **ret_task)
{
	struct doca_compress_task_decompress_deflate *task;
	doca_error_t result =
		doca_compress_task_decompress_deflate_alloc_init(engine->instance, src, dst, no_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = doca_compress_task_decompress_deflate_as_task(task);
	return result;
}

static size_t inflate_fill(const uint8_t *text, size_t len, uint8_t *source, size_t room)
{
	struct compress_codecs codecs = { 0 };
	size_t written = deflate(&codecs, text, len, source, room);

	compress_codecs_free(&codecs);
	return written;
}

static int inflate_work(struct bench_engine *engine, const uint8_t *src, size_t len, uint8_t *dst, size_t room)
{
	size_t written = 0;
	int rc = compress_inflate(engine->bare, src, len, dst, room, &written);

	checksum = compress_crc32(dst, written) ^ compress_adler32(dst, written);
	return rc;
}

/* ---- LZ4 ---- */

static doca_error_t lz4_create(struct bench_engine *engine)
{
	doca_error_t result = compress_create(engine);

	return result != DOCA_SUCCESS ? result :
					doca_compress_task_decompress_lz4_block_set_conf(
						engine->instance, on_lz4, on_lz4_failed, engine->num_blocks);
}

static doca_error_t lz4_alloc(struct bench_engine *engine, const struct doca_buf *src, struct doca_buf *dst,
			      struct doca_task **ret_task)
{
	struct doca_compress_task_decompress_lz4_block *task;
	doca_error_t result =
		doca_compress_task_decompress_lz4_block_alloc_init(engine->instance, src, dst, no_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = doca_compress_task_decompress_lz4_block_as_task(task);
	return result;
}

static size_t lz4_fill(const uint8_t *text, size_t len, uint8_t *source, size_t room)
{
	void *lib = dlopen("liblz4.so.1", RTLD_NOW);
	int (*compress)(const uint8_t *src, uint8_t *dst, int len, int room);

	if (!lib)
		return 0;
	*(void **)&compress = dlsym(lib, "LZ4_compress_default");
	return compress ? (size_t)compress(text, source, (int)len, (int)room) : 0;
}

static int lz4_work(struct bench_engine *engine, const uint8_t *src, size_t len, uint8_t *dst, size_t room)
{
	size_t written = 0;
	int rc = compress_lz4_block(src, len, dst, room, &written);

	checksum = compress_crc32(dst, written) ^ compress_xxh32(dst, written);
	return rc;
}

/* ---- erasure coding: two redundancy blocks of two halves, as the vendor's sample has by default ---- */

CALLBACKS(on_create, doca_ec_task_create)

static doca_error_t ec_create(struct bench_engine *engine)
{
	struct doca_ec_matrix *matrix;
	struct doca_ec *ec;
	doca_error_t result = doca_ec_create(engine->dev, &ec);

	if (result != DOCA_SUCCESS)
		return result;
	engine->instance = ec;
	engine->ctx = doca_ec_as_ctx(ec);
	result = doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 2, &matrix);
	if (result != DOCA_SUCCESS)
		return result;
	engine->with = matrix;
	return doca_ec_task_create_set_conf(ec, on_create, on_create_failed, engine->num_blocks);
}

static doca_error_t ec_alloc(struct bench_engine *engine, const struct doca_buf *src, struct doca_buf *dst,
			     struct doca_task **ret_task)
{
	struct doca_ec_task_create *task;
	doca_error_t result =
		doca_ec_task_create_allocate_init(engine->instance, engine->with, src, dst, no_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = doca_ec_task_create_as_task(task);
	return result;
}

static void ec_destroy(struct bench_engine *engine)
{
	doca_ec_matrix_destroy(engine->with);
	doca_ec_destroy(engine->instance);
}

/* The coefficients of DOCA's Cauchy matrix, by its formula: 1 / (data block ^ (redundancy block + 2)). */
static int ec_prepare(struct bench_engine *engine)
{
	uint8_t coefficients[4];

	engine->bare = galois_find_lack() ? NULL : calloc(4, GALOIS_TABLE_BYTES);
	if (!engine->bare)
		return -1;
	for (uint8_t i = 0; i < 4; i++)
		coefficients[i] = galois_inverse((uint8_t)(i % 2 ^ (i / 2 + 2)));
	galois_init_tables(coefficients, 2, 2, engine->bare);
	return 0;
}

static int ec_work(struct bench_engine *engine, const uint8_t *src, size_t len, uint8_t *dst, size_t room)
{
	const uint8_t *in[] = { src, src + len / 2 };
	uint8_t *out[] = { dst, dst + len / 2 };

	galois_multiply(engine->bare, len / 2, 2, 2, in, out);
	return 0;
}

static void ec_finish(struct bench_engine *engine)
{
	free(engine->bare);
}

/* ---- AES-GCM ---- */

CALLBACKS(on_encrypt, doca_aes_gcm_task_encrypt)

static const uint8_t raw_key[32] = { 1 }, iv[12] = { 2 };

static doca_error_t gcm_create(struct bench_engine *engine)
{
	struct doca_aes_gcm_key *key;
	struct doca_aes_gcm *gcm;
	doca_error_t result = doca_aes_gcm_create(engine->dev, &gcm);

	if (result != DOCA_SUCCESS)
		return result;
	engine->instance = gcm;
	engine->ctx = doca_aes_gcm_as_ctx(gcm);
	result = doca_aes_gcm_key_create(gcm, raw_key, DOCA_AES_GCM_KEY_256, &key);
	if (result != DOCA_SUCCESS)
		return result;
	engine->with = key;
	return doca_aes_gcm_task_encrypt_set_conf(gcm, on_encrypt, on_encrypt_failed, engine->num_blocks);
}

static doca_error_t gcm_alloc(struct bench_engine *engine, const struct doca_buf *src, struct doca_buf *dst,
			      struct doca_task **ret_task)
{
	struct doca_aes_gcm_task_encrypt *task;
	doca_error_t result = doca_aes_gcm_task_encrypt_alloc_init(engine->instance, src, dst, engine->with, iv,
								   sizeof(iv), TAG_BYTES, 0, no_data, &task);

	if (result == DOCA_SUCCESS)
		*ret_task = doca_aes_gcm_task_encrypt_as_task(task);
	return result;
}

static void gcm_destroy(struct bench_engine *engine)
{
	doca_aes_gcm_key_destroy(engine->with);
	doca_aes_gcm_destroy(engine->instance);
}

static int gcm_prepare(struct bench_engine *engine)
{
	engine->bare = gcm_cipher_find_lack() ? NULL : gcm_cipher_new(raw_key, sizeof(raw_key));
	return engine->bare ? 0 : -1;
}

static int gcm_work(struct bench_engine *engine, const uint8_t *src, size_t len, uint8_t *dst, size_t room)
{
	if (gcm_begin(engine->bare, true, iv, sizeof(iv)) < 0 || gcm_crypt(engine->bare, dst, src, len) < 0)
		return -1;
	return gcm_end_encrypt(engine->bare, dst + len, TAG_BYTES);
}

static void gcm_finish(struct bench_engine *engine)
{
	gcm_cipher_unref(engine->bare);
}

/* ---- all ---- */

const struct bench_engine_kind bench_engine_kinds[] = {
	{ "SHA-256", "libcrypto", 64, sha_create, sha_alloc, sha_destroy, copy_text, sha_prepare, sha_work,
	  sha_finish },
	{ "deflate", "libdeflate", 64, deflate_create, deflate_alloc, compress_destroy, copy_text, codecs_prepare,
	  deflate_work, codecs_finish },
	{ "inflate", "libdeflate", 64, inflate_create, inflate_alloc, compress_destroy, inflate_fill, codecs_prepare,
	  inflate_work, codecs_finish },
	{ "LZ4 block", "liblz4, libxxhash", 64, lz4_create, lz4_alloc, compress_destroy, lz4_fill, codecs_prepare,
	  lz4_work, codecs_finish },
	{ "erasure coding", "ISA-L", 128, ec_create, ec_alloc, ec_destroy, copy_text, ec_prepare, ec_work, ec_finish },
	{ "AES-256-GCM", "libcrypto", 64, gcm_create, gcm_alloc, gcm_destroy, copy_text, gcm_prepare, gcm_work,
	  gcm_finish },
};

const size_t bench_num_engine_kinds = sizeof(bench_engine_kinds) / sizeof(bench_engine_kinds[0]);
