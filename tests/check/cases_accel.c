/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about tasks of SHA, compression, erasure coding and AES-GCM. */
#include <bfsim.h>
#include <doca_compress.h>
#include <doca_sha.h>

#include "cases.h"

#include "tests/api/ec_util.h"
#include "tests/api/gcm_util.h"

/* A buffer over a part of the arena, without data. */
static struct doca_buf *take(struct accel *accel, size_t offset, size_t len)
{
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_args(accel->inventory, accel->mmap, accel->arena + offset, len,
						accel->arena + offset, 0, &buf));
	accel->bufs[accel->num_bufs++] = buf;
	return buf;
}

/* ---- AES-GCM: the tag ---- */

#define TEXT_BYTES 48
#define TAG_BYTES  16

static const uint8_t key_bytes[16] = { 1, 2, 3 }, text[TEXT_BYTES] = "the words that nobody may change";

/* What a decrypt task needs; the ciphertext has no AAD, and a tag that is right, or not. */
struct letter {
	struct gcm_rig rig;
	struct gcm_params params;
	struct doca_buf *src, *dst;
};

static struct letter open_letter(bool is_changed)
{
	struct letter letter = { .rig = gcm_open() };
	uint8_t sealed[TEXT_BYTES + TAG_BYTES];

	letter.params = (struct gcm_params){ .key = gcm_key(&letter.rig, key_bytes, sizeof(key_bytes)),
					     .iv_bytes = 12,
					     .tag_bytes = TAG_BYTES };
	gcm_model(key_bytes, sizeof(key_bytes), letter.params.iv, 12, text, 0, TEXT_BYTES, sealed);
	sealed[5] ^= is_changed;
	letter.src = accel_src(letter.rig.accel, sealed, sizeof(sealed));
	letter.dst = accel_dst(letter.rig.accel, TEXT_BYTES);
	return letter;
}

static void close_letter(struct letter *letter)
{
	MUST(doca_aes_gcm_key_destroy(letter->params.key));
	gcm_close(&letter->rig);
}

static void *memory_of(const struct doca_buf *buf)
{
	void *head;

	MUST(doca_buf_get_head(buf, &head));
	return head;
}

/* The rig has one callback for both ends of a task. */
static void decrypt_without_look(void)
{
	struct letter letter = open_letter(true);
	struct doca_task *task;

	MUST(gcm_alloc(&letter.rig, GCM_DECRYPT, &letter.params, letter.src, letter.dst, &task));
	MUST(doca_task_submit(task));
	accel_drain(letter.rig.accel);
	doca_task_free(task);
	close_letter(&letter);
}

static void decrypt_with_look(void)
{
	struct letter letter = open_letter(true);

	CHECK(gcm_run(&letter.rig, GCM_DECRYPT, &letter.params, letter.src, letter.dst) == DOCA_ERROR_IO_FAILED);
	close_letter(&letter);
}

static void set_data_of_failed(void)
{
	struct letter letter = open_letter(true);

	CHECK(gcm_run(&letter.rig, GCM_DECRYPT, &letter.params, letter.src, letter.dst) == DOCA_ERROR_IO_FAILED);
	MUST(doca_buf_set_data(letter.dst, memory_of(letter.dst), TEXT_BYTES));
	close_letter(&letter);
}

static void set_other_data(void)
{
	struct letter letter = open_letter(true);

	CHECK(gcm_run(&letter.rig, GCM_DECRYPT, &letter.params, letter.src, letter.dst) == DOCA_ERROR_IO_FAILED);
	memset(memory_of(letter.dst), 0, TEXT_BYTES);
	MUST(doca_buf_set_data(letter.dst, memory_of(letter.dst), TEXT_BYTES));
	close_letter(&letter);
}

/* Encrypt what lies at the destination of the letter. */
static void encrypt_again(struct letter *letter)
{
	struct accel *accel = letter->rig.accel;
	struct doca_buf *src;

	letter->params.iv[0]++;
	MUST(doca_buf_inventory_buf_get_by_data(accel->inventory, accel->mmap, memory_of(letter->dst), TEXT_BYTES,
						&src));
	accel->bufs[accel->num_bufs++] = src;
	MUST(gcm_run(&letter->rig, GCM_ENCRYPT, &letter->params, src, accel_dst(accel, TEXT_BYTES + TAG_BYTES)));
}

static void send_failed(void)
{
	struct letter letter = open_letter(true);

	CHECK(gcm_run(&letter.rig, GCM_DECRYPT, &letter.params, letter.src, letter.dst) == DOCA_ERROR_IO_FAILED);
	gcm_restart(&letter.rig);
	encrypt_again(&letter);
	close_letter(&letter);
}

/* The second attempt overwrites what the first one left. */
static void send_second(void)
{
	struct letter letter = open_letter(false);
	uint32_t id;

	CHECK(bfsim_fault_add("aes_gcm.decrypt nth=1 bad_tag", &id) == 0);
	CHECK(gcm_run(&letter.rig, GCM_DECRYPT, &letter.params, letter.src, letter.dst) == DOCA_ERROR_IO_FAILED);
	gcm_restart(&letter.rig);
	MUST(gcm_run(&letter.rig, GCM_DECRYPT, &letter.params, letter.src, letter.dst));
	encrypt_again(&letter);
	close_letter(&letter);
}

/* ---- AES-GCM: the IV ---- */

static doca_error_t encrypt_with(struct gcm_rig *rig, struct doca_aes_gcm_key *key, uint8_t first_byte_of_iv)
{
	struct gcm_params params = { .key = key, .iv = { first_byte_of_iv }, .iv_bytes = 12, .tag_bytes = TAG_BYTES };

	return gcm_run(rig, GCM_ENCRYPT, &params, accel_src(rig->accel, text, TEXT_BYTES),
		       accel_dst(rig->accel, TEXT_BYTES + TAG_BYTES));
}

/* Two handles of one key. */
static void reuse_iv(void)
{
	struct gcm_rig rig = gcm_open();
	struct doca_aes_gcm_key *key = gcm_key(&rig, key_bytes, sizeof(key_bytes));

	MUST(encrypt_with(&rig, key, 7));
	MUST(doca_aes_gcm_key_destroy(key));
	key = gcm_key(&rig, key_bytes, sizeof(key_bytes));
	MUST(encrypt_with(&rig, key, 7));
	MUST(doca_aes_gcm_key_destroy(key));
	gcm_close(&rig);
}

/* IVs that count, another key, and a task that failed. */
static void use_ivs_once(void)
{
	struct gcm_rig rig = gcm_open();
	struct doca_aes_gcm_key *key = gcm_key(&rig, key_bytes, sizeof(key_bytes)), *other = gcm_key(&rig, text, 16);
	uint32_t id;

	for (uint8_t i = 0; i < 100; i++)
		MUST(encrypt_with(&rig, key, i));
	MUST(encrypt_with(&rig, other, 0));
	CHECK(bfsim_fault_add("aes_gcm.encrypt nth=1 fail=IO_FAILED", &id) == 0);
	CHECK(encrypt_with(&rig, key, 200) == DOCA_ERROR_IO_FAILED);
	gcm_restart(&rig);
	MUST(encrypt_with(&rig, key, 200));
	MUST(doca_aes_gcm_key_destroy(key));
	MUST(doca_aes_gcm_key_destroy(other));
	gcm_close(&rig);
}

/* ---- SHA ---- */

static void on_partial(struct doca_sha_task_partial_hash *task, union doca_data user_data, union doca_data ctx_data)
{
}

/* Hash @first bytes, unless that is 0, then @second; @announces the second piece as the last. */
static void hash_pieces(size_t first, size_t second, bool announces)
{
	const union doca_data no_data = { 0 };
	struct doca_sha_task_partial_hash *task;
	struct accel *accel;
	struct doca_sha *sha;
	struct doca_buf *src;

	setenv("BFSIM_TOPOLOGY", BLUEFIELD_2, 1);
	accel = accel_open();
	MUST(doca_sha_create(accel->dev, &sha));
	MUST(doca_sha_task_partial_hash_set_conf(sha, on_partial, on_partial, 0));
	accel_start(accel, doca_sha_as_ctx(sha));
	src = take(accel, 0, 4096);
	MUST(doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, accel_dst(accel, 32), no_data,
						   &task));
	if (first) {
		MUST(doca_buf_set_data(src, accel->arena, first));
		MUST(accel_run(accel, doca_sha_task_partial_hash_as_task(task)));
	}
	MUST(doca_buf_set_data(src, accel->arena + first, second));
	if (announces)
		MUST(doca_sha_task_partial_hash_set_is_final_buf(task));
	(void)accel_run(accel, doca_sha_task_partial_hash_as_task(task));
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	accel_stop(accel);
	MUST(doca_sha_destroy(sha));
	accel_close(accel);
}

static void hash_odd_piece(void)
{
	hash_pieces(64, 100, false);
}

static void hash_odd_end(void)
{
	hash_pieces(64, 100, true);
}

static void hash_single_piece(void)
{
	hash_pieces(0, 100, true);
}

/* ---- erasure coding ---- */

/* Make the redundancy block of two blocks. Returns what the task ended with. */
static doca_error_t code(struct ec_rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_ec_matrix *matrix = ec_matrix(rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	doca_error_t result = ec_run(rig, EC_CREATE, matrix, src, dst);

	MUST(doca_ec_matrix_destroy(matrix));
	return result;
}

static void code_bytes(size_t bytes)
{
	const uint8_t data[1024] = { 0 };
	struct ec_rig rig = ec_open();

	(void)code(&rig, accel_src(rig.accel, data, bytes), accel_dst(rig.accel, 1024));
	ec_close(&rig);
}

static void code_unpadded(void)
{
	code_bytes(250);
}

static void code_padded(void)
{
	code_bytes(256);
}

static void code_into(size_t room)
{
	const uint8_t data[128] = { 0 };
	struct ec_rig rig = ec_open();

	(void)code(&rig, accel_src(rig.accel, data, sizeof(data)), accel_dst(rig.accel, room));
	ec_close(&rig);
}

static void code_without_room(void)
{
	code_into(63);
}

static void code_with_room(void)
{
	code_into(64);
}

/* The source has the bytes from @offset on, the destination is a buffer of 256 bytes at the begin. */
static void code_at(size_t offset)
{
	struct ec_rig rig = ec_open();
	struct doca_buf *src = take(rig.accel, offset, 128);

	MUST(doca_buf_set_data(src, rig.accel->arena + offset, 128));
	MUST(code(&rig, src, take(rig.accel, 0, 256)));
	ec_close(&rig);
}

static void code_over_itself(void)
{
	code_at(63);
}

static void code_beside_itself(void)
{
	code_at(64);
}

static void return_at(bool is_early)
{
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	struct doca_buf *src = take(rig.accel, 0, 128), *dst = accel_dst(rig.accel, 64);
	struct doca_task *task;

	MUST(doca_buf_set_data(src, rig.accel->arena, 128));
	MUST(ec_alloc(&rig, EC_CREATE, matrix, src, dst, &task));
	MUST(doca_task_submit(task));
	rig.accel->bufs[0] = rig.accel->bufs[--rig.accel->num_bufs];
	if (!is_early)
		accel_drain(rig.accel);
	MUST(doca_buf_dec_refcount(src, NULL));
	accel_drain(rig.accel);
	(void)doca_task_get_status(task);
	doca_task_free(task);
	MUST(doca_ec_matrix_destroy(matrix));
	ec_close(&rig);
}

static void return_in_flight(void)
{
	return_at(true);
}

static void return_after_end(void)
{
	return_at(false);
}

/* ---- compression ---- */

static void on_inflate(struct doca_compress_task_decompress_deflate *task, union doca_data user_data,
		       union doca_data ctx_data)
{
}

/* Ask for the checksum behind the submission, or behind the end. */
static void get_checksum(bool is_early)
{
	const uint8_t stored[] = { 1, 1, 0, 0xfe, 0xff, 'a' };
	const union doca_data no_data = { 0 };
	struct doca_compress_task_decompress_deflate *task;
	struct accel *accel = accel_open();
	struct doca_compress *compress;

	MUST(doca_compress_create(accel->dev, &compress));
	MUST(doca_compress_task_decompress_deflate_set_conf(compress, on_inflate, on_inflate, 1));
	accel_start(accel, doca_compress_as_ctx(compress));
	MUST(doca_compress_task_decompress_deflate_alloc_init(compress, accel_src(accel, stored, sizeof(stored)),
							      accel_dst(accel, 1), no_data, &task));
	MUST(doca_task_submit(doca_compress_task_decompress_deflate_as_task(task)));
	if (!is_early)
		accel_drain(accel);
	(void)doca_compress_task_decompress_deflate_get_crc_cs(task);
	accel_drain(accel);
	doca_task_free(doca_compress_task_decompress_deflate_as_task(task));
	accel_stop(accel);
	MUST(doca_compress_destroy(compress));
	accel_close(accel);
}

static void get_checksum_in_flight(void)
{
	get_checksum(true);
}

static void get_checksum_after_end(void)
{
	get_checksum(false);
}

const struct check_case accel_cases[] = {
	{ "tag-not-checked", decrypt_without_look, decrypt_with_look },
	{ "tag-not-checked@data", set_data_of_failed, set_other_data },
	{ "tag-not-checked@source", send_failed, send_second },
	{ "iv-reused", reuse_iv, use_ivs_once },
	{ "partial-hash-length", hash_odd_piece, hash_odd_end },
	{ "partial-hash-single-piece", hash_single_piece, hash_odd_end },
	{ "ec-block-size", code_unpadded, code_padded },
	{ "task-without-room@engine", code_without_room, code_with_room },
	{ "task-overlaps-itself@engine", code_over_itself, code_beside_itself },
	{ "buffer-returned-in-flight@engine", return_in_flight, return_after_end },
	{ "result-not-ready@checksum", get_checksum_in_flight, get_checksum_after_end },
	{ 0 },
};
