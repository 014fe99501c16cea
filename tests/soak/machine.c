/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines besides DMA's, each behind the same functions. */
#include "machine.h"

#include <doca_aes_gcm.h>
#include <doca_compress.h>
#include <doca_erasure_coding.h>
#include <doca_sha.h>
#include <string.h>

#include "tests/api/lz4_make.h"

#define LOG_MAX_TASKS 3 /* of MACHINE_MAX_TASKS */
#define DIGEST_BYTES  32
#define TAG_BYTES     16

/* A library's callback for both ends of its tasks. */
#define CALLBACK(name, struct_)                                                               \
	static void name(struct struct_ *task, union doca_data job, union doca_data machine_) \
	{                                                                                     \
		const struct machine *machine = machine_.ptr;                                 \
                                                                                              \
		machine->on_end(job.ptr, struct_##_as_task(task));                            \
	}

static bool is_same(const uint8_t *output, size_t output_bytes, const uint8_t *text, size_t text_bytes)
{
	return output_bytes == text_bytes && memcmp(output, text, text_bytes) == 0;
}

/* ---- SHA ---- */

CALLBACK(on_hash, doca_sha_task_hash)

static void sha_create(struct machine *machine, struct doca_dev *dev)
{
	MUST(doca_sha_create(dev, &machine->sha));
	MUST(doca_sha_task_hash_set_conf(machine->sha, on_hash, on_hash, LOG_MAX_TASKS));
	machine->ctx = doca_sha_as_ctx(machine->sha);
}

static void sha_destroy(struct machine *machine)
{
	MUST(doca_sha_destroy(machine->sha));
}

static struct doca_task *sha_alloc(struct machine *machine, uint32_t step, const struct doca_buf *src,
				   struct doca_buf *dst, union doca_data job)
{
	struct doca_sha_task_hash *task;

	MUST(doca_sha_task_hash_alloc_init(machine->sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, job, &task));
	return doca_sha_task_hash_as_task(task);
}

/* Compared with the digest of the same bytes that came before. */
static bool sha_is_right(const uint8_t *output, size_t output_bytes, const uint8_t *text, size_t text_bytes)
{
	static uint8_t last[131072], digest[DIGEST_BYTES];
	static size_t last_bytes;

	if (output_bytes != DIGEST_BYTES)
		return false;
	if (is_same(text, text_bytes, last, last_bytes))
		return memcmp(output, digest, DIGEST_BYTES) == 0;
	memcpy(last, text, text_bytes);
	memcpy(digest, output, DIGEST_BYTES);
	last_bytes = text_bytes;
	return true;
}

/* ---- SHA in pieces ---- */

CALLBACK(on_piece, doca_sha_task_partial_hash)

static void pieces_create(struct machine *machine, struct doca_dev *dev)
{
	MUST(doca_sha_create(dev, &machine->sha));
	MUST(doca_sha_task_partial_hash_set_conf(machine->sha, on_piece, on_piece, LOG_MAX_TASKS));
	machine->ctx = doca_sha_as_ctx(machine->sha);
}

static struct doca_task *pieces_alloc(struct machine *machine, uint32_t step, const struct doca_buf *src,
				      struct doca_buf *dst, union doca_data job)
{
	struct doca_sha_task_partial_hash *task;

	MUST(doca_sha_task_partial_hash_alloc_init(machine->sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, job, &task));
	return doca_sha_task_partial_hash_as_task(task);
}

static void pieces_set_last(struct doca_task *task)
{
	MUST(doca_sha_task_partial_hash_set_is_final_buf((struct doca_sha_task_partial_hash *)task));
}

/* ---- erasure coding ---- */

CALLBACK(on_create, doca_ec_task_create)

static void code_create(struct machine *machine, struct doca_dev *dev)
{
	MUST(doca_ec_create(dev, &machine->ec));
	MUST(doca_ec_task_create_set_conf(machine->ec, on_create, on_create, MACHINE_MAX_TASKS));
	MUST(doca_ec_matrix_create(machine->ec, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 2, 1, &machine->matrix));
	machine->ctx = doca_ec_as_ctx(machine->ec);
}

static void code_destroy(struct machine *machine)
{
	MUST(doca_ec_matrix_destroy(machine->matrix));
	MUST(doca_ec_destroy(machine->ec));
}

static struct doca_task *code_alloc(struct machine *machine, uint32_t step, const struct doca_buf *src,
				    struct doca_buf *dst, union doca_data job)
{
	struct doca_ec_task_create *task;

	MUST(doca_ec_task_create_allocate_init(machine->ec, machine->matrix, src, dst, job, &task));
	return doca_ec_task_create_as_task(task);
}

static bool code_is_right(const uint8_t *output, size_t output_bytes, const uint8_t *text, size_t text_bytes)
{
	size_t half = text_bytes / 2;

	if (output_bytes != half)
		return false;
	for (size_t i = 0; i < half; i++)
		if (output[i] != (text[i] ^ text[half + i]))
			return false;
	return true;
}

/* ---- erasure coding: an update of the first data block ----
 *
 * The source is a text of four blocks: the old data, the new data, and two redundancy blocks, in which the first data
 * block has the factor 1. So the change of the data is added to both.
 */

CALLBACK(on_update, doca_ec_task_update)

static void update_create(struct machine *machine, struct doca_dev *dev)
{
	uint32_t changed = 0;

	MUST(doca_ec_create(dev, &machine->ec));
	MUST(doca_ec_task_update_set_conf(machine->ec, on_update, on_update, MACHINE_MAX_TASKS));
	MUST(doca_ec_matrix_create(machine->ec, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 2, 2, &machine->matrix));
	MUST(doca_ec_matrix_create_update(machine->ec, machine->matrix, &changed, 1, &machine->update_matrix));
	machine->ctx = doca_ec_as_ctx(machine->ec);
}

static void update_destroy(struct machine *machine)
{
	MUST(doca_ec_matrix_destroy(machine->update_matrix));
	code_destroy(machine);
}

static struct doca_task *update_alloc(struct machine *machine, uint32_t step, const struct doca_buf *src,
				      struct doca_buf *dst, union doca_data job)
{
	struct doca_ec_task_update *task;

	MUST(doca_ec_task_update_allocate_init(machine->ec, machine->update_matrix, src, dst, job, &task));
	return doca_ec_task_update_as_task(task);
}

static bool update_is_right(const uint8_t *output, size_t output_bytes, const uint8_t *text, size_t text_bytes)
{
	size_t block = text_bytes / 4;

	if (output_bytes != 2 * block)
		return false;
	for (size_t i = 0; i < output_bytes; i++)
		if (output[i] != (text[2 * block + i] ^ text[i % block] ^ text[block + i % block]))
			return false;
	return true;
}

/* ---- deflate ---- */

CALLBACK(on_deflate, doca_compress_task_compress_deflate)
CALLBACK(on_inflate, doca_compress_task_decompress_deflate)

static void deflate_create(struct machine *machine, struct doca_dev *dev)
{
	MUST(doca_compress_create(dev, &machine->compress));
	MUST(doca_compress_task_compress_deflate_set_conf(machine->compress, on_deflate, on_deflate,
							  MACHINE_MAX_TASKS));
	MUST(doca_compress_task_decompress_deflate_set_conf(machine->compress, on_inflate, on_inflate,
							    MACHINE_MAX_TASKS));
	machine->ctx = doca_compress_as_ctx(machine->compress);
}

static void deflate_destroy(struct machine *machine)
{
	MUST(doca_compress_destroy(machine->compress));
}

static struct doca_task *deflate_alloc(struct machine *machine, uint32_t step, const struct doca_buf *src,
				       struct doca_buf *dst, union doca_data job)
{
	struct doca_compress_task_compress_deflate *deflate;
	struct doca_compress_task_decompress_deflate *inflate;

	if (step == 0) {
		MUST(doca_compress_task_compress_deflate_alloc_init(machine->compress, src, dst, job, &deflate));
		return doca_compress_task_compress_deflate_as_task(deflate);
	}
	MUST(doca_compress_task_decompress_deflate_alloc_init(machine->compress, src, dst, job, &inflate));
	return doca_compress_task_decompress_deflate_as_task(inflate);
}

/* ---- LZ4 ---- */

CALLBACK(on_stream, doca_compress_task_decompress_lz4_stream)
CALLBACK(on_block, doca_compress_task_decompress_lz4_block)

static size_t stream_encode(const uint8_t *text, size_t text_bytes, uint8_t *source)
{
	static const struct lz4_make make = { .block_bytes = 1000, .has_checksums = true };

	return lz4_make_stream(&make, text, text_bytes, source);
}

static size_t block_encode(const uint8_t *text, size_t text_bytes, uint8_t *source)
{
	return lz4_make_block(text, 0, 0, text_bytes, source);
}

static void lz4_create(struct machine *machine, struct doca_dev *dev)
{
	MUST(doca_compress_create(dev, &machine->compress));
	MUST(doca_compress_task_decompress_lz4_stream_set_conf(machine->compress, on_stream, on_stream,
							       MACHINE_MAX_TASKS));
	MUST(doca_compress_task_decompress_lz4_block_set_conf(machine->compress, on_block, on_block,
							      MACHINE_MAX_TASKS));
	machine->ctx = doca_compress_as_ctx(machine->compress);
}

static struct doca_task *stream_alloc(struct machine *machine, uint32_t step, const struct doca_buf *src,
				      struct doca_buf *dst, union doca_data job)
{
	struct doca_compress_task_decompress_lz4_stream *task;

	MUST(doca_compress_task_decompress_lz4_stream_alloc_init(machine->compress, true, false, src, dst, job, &task));
	return doca_compress_task_decompress_lz4_stream_as_task(task);
}

static struct doca_task *block_alloc(struct machine *machine, uint32_t step, const struct doca_buf *src,
				     struct doca_buf *dst, union doca_data job)
{
	struct doca_compress_task_decompress_lz4_block *task;

	MUST(doca_compress_task_decompress_lz4_block_alloc_init(machine->compress, src, dst, job, &task));
	return doca_compress_task_decompress_lz4_block_as_task(task);
}

/* ---- AES-GCM ---- */

CALLBACK(on_encrypt, doca_aes_gcm_task_encrypt)
CALLBACK(on_decrypt, doca_aes_gcm_task_decrypt)

static void gcm_create(struct machine *machine, struct doca_dev *dev)
{
	static const uint8_t raw[32] = "what the soak encrypts with";

	MUST(doca_aes_gcm_create(dev, &machine->gcm));
	MUST(doca_aes_gcm_task_encrypt_set_conf(machine->gcm, on_encrypt, on_encrypt, MACHINE_MAX_TASKS));
	MUST(doca_aes_gcm_task_decrypt_set_conf(machine->gcm, on_decrypt, on_decrypt, MACHINE_MAX_TASKS));
	MUST(doca_aes_gcm_key_create(machine->gcm, raw, DOCA_AES_GCM_KEY_256, &machine->key));
	machine->ctx = doca_aes_gcm_as_ctx(machine->gcm);
}

static void gcm_destroy(struct machine *machine)
{
	MUST(doca_aes_gcm_key_destroy(machine->key));
	MUST(doca_aes_gcm_destroy(machine->gcm));
}

/* One IV for all messages: nobody else reads them. */
static struct doca_task *gcm_alloc(struct machine *machine, uint32_t step, const struct doca_buf *src,
				   struct doca_buf *dst, union doca_data job)
{
	static const uint8_t iv[12] = { 1 };
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;

	if (step == 0) {
		MUST(doca_aes_gcm_task_encrypt_alloc_init(machine->gcm, src, dst, machine->key, iv, sizeof(iv),
							  TAG_BYTES, 16, job, &encrypt));
		return doca_aes_gcm_task_encrypt_as_task(encrypt);
	}
	MUST(doca_aes_gcm_task_decrypt_alloc_init(machine->gcm, src, dst, machine->key, iv, sizeof(iv), TAG_BYTES, 16,
						  job, &decrypt));
	return doca_aes_gcm_task_decrypt_as_task(decrypt);
}

/* ---- all ---- */

const struct machine_ops machines[NUM_MACHINES] = {
	[MACHINE_SHA] = { 1, NULL, sha_create, sha_destroy, sha_alloc, NULL, sha_is_right },
	[MACHINE_PIECES] = { 1, NULL, pieces_create, sha_destroy, pieces_alloc, pieces_set_last, sha_is_right },
	[MACHINE_CODE] = { 1, NULL, code_create, code_destroy, code_alloc, NULL, code_is_right },
	[MACHINE_UPDATE] = { 1, NULL, update_create, update_destroy, update_alloc, NULL, update_is_right },
	[MACHINE_DEFLATE] = { 2, NULL, deflate_create, deflate_destroy, deflate_alloc, NULL, is_same },
	[MACHINE_LZ4_STREAM] = { 1, stream_encode, lz4_create, deflate_destroy, stream_alloc, NULL, is_same },
	[MACHINE_LZ4_BLOCK] = { 1, block_encode, lz4_create, deflate_destroy, block_alloc, NULL, is_same },
	[MACHINE_GCM] = { 2, NULL, gcm_create, gcm_destroy, gcm_alloc, NULL, is_same },
};

void machine_open(struct machine *machine, struct side *side, int which, void (*on_end)(void *, struct doca_task *))
{
	*machine = (struct machine){ .ops = &machines[which], .on_end = on_end };
	machine->ops->create(machine, side->dev);
	MUST(doca_ctx_set_user_data(machine->ctx, (union doca_data){ .ptr = machine }));
	MUST(doca_pe_connect_ctx(side->pe, machine->ctx));
	MUST(doca_ctx_start(machine->ctx));
}

void machine_close(struct machine *machine, struct side *side)
{
	side_stop(side, machine->ctx);
	machine->ops->destroy(machine);
}
