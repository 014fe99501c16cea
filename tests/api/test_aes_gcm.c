/* SPDX-License-Identifier: BSD-3-Clause */
/* AES-GCM: known answers, a model of the cipher, messages there and back, tags that do not match. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api_util.h"
#include "gcm_util.h"
#include "proc.h"

#define MAX_BYTES 8192

static uint8_t text[MAX_BYTES], sealed[MAX_BYTES + 16], opened[MAX_BYTES];

static void fill(struct accel *accel, uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)accel_random(accel, 256);
}

/* ---- known answers ---- */

#define NIST_KEY "feffe9928665731c6d6a8f9467308308"
#define NIST_AAD "feedfacedeadbeeffeedfacedeadbeefabaddad2"
#define NIST_TEXT                                                                                          \
	"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525" \
	"b16aedf5aa0de657ba637b39"
#define ZEROS_8  "0000000000000000"
#define ZEROS_12 ZEROS_8 "00000000"
#define ZEROS_16 ZEROS_8 ZEROS_8

/* Test cases 1 to 5 and 13 to 17 of the specification of GCM that NIST SP 800-38D refers to. Those with longer IVs are not
 * for cards. */
static const struct {
	const char *key, *iv, *aad, *text, *cipher, *tag;
} vectors[] = {
	{ ZEROS_16, ZEROS_12, "", "", "", "58e2fccefa7e3061367f1d57a4e7455a" },
	{ ZEROS_16, ZEROS_12, "", ZEROS_16, "0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf" },
	{ NIST_KEY, "cafebabefacedbaddecaf888", "", NIST_TEXT "1aafd255",
	  "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05"
	  "1ba30b396a0aac973d58e091473f5985",
	  "4d5c2af327cd64a62cf35abd2ba6fab4" },
	{ NIST_KEY, "cafebabefacedbaddecaf888", NIST_AAD, NIST_TEXT,
	  "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05"
	  "1ba30b396a0aac973d58e091",
	  "5bc94fbc3221a5db94fae95ae7121a47" },
	{ NIST_KEY, "cafebabefacedbad", NIST_AAD, NIST_TEXT,
	  "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b42"
	  "4989b5e1ebac0f07c23f4598",
	  "3612d2e79e3b0785561be14aaca2fccb" },
	{ ZEROS_16 ZEROS_16, ZEROS_12, "", "", "", "530f8afbc74536b9a963b4f1c4cb738b" },
	{ ZEROS_16 ZEROS_16, ZEROS_12, "", ZEROS_16, "cea7403d4d606b6e074ec5d3baf39d18",
	  "d0d1c8a799996bf0265b98b5d48ab919" },
	{ NIST_KEY NIST_KEY, "cafebabefacedbaddecaf888", "", NIST_TEXT "1aafd255",
	  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
	  "c5f61e6393ba7a0abcc9f662898015ad",
	  "b094dac5d93471bdec1a502270e3cc6c" },
	{ NIST_KEY NIST_KEY, "cafebabefacedbaddecaf888", NIST_AAD, NIST_TEXT,
	  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
	  "c5f61e6393ba7a0abcc9f662",
	  "76fc6ece0f4e1768cddf8853bb2d551b" },
	{ NIST_KEY NIST_KEY, "cafebabefacedbad", NIST_AAD, NIST_TEXT,
	  "c3762df1ca787d32ae47c13bf19844cbaf1ae14d0b976afac52ff7d79bba9de0feb582d33934a4f0954cc2363bc73f78"
	  "62ac430e64abe499f47c9b1f",
	  "3a337dbf46a792c45e454913fe2ea8f2" },
};

/* Append the bytes of a hexadecimal number. Returns their number. */
static size_t put(uint8_t *to, const char *hex)
{
	size_t len = strlen(hex) / 2;

	for (size_t i = 0; i < len; i++) {
		const char digits[] = { hex[2 * i], hex[2 * i + 1], '\0' };

		to[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return len;
}

static void expect(struct gcm_rig *rig, enum gcm_kind kind, const struct gcm_params *params, const uint8_t *src,
		   size_t src_len, const uint8_t *expected, size_t len)
{
	struct doca_buf *dst = accel_dst(rig->accel, len);
	uint8_t out[MAX_BYTES];

	assert_ok(gcm_run(rig, kind, params, accel_src(rig->accel, src, src_len), dst));
	assert_int_equal(accel_data(dst, out, sizeof(out)), len);
	assert_memory_equal(out, expected, len);
	assert_true(accel_rest_is_untouched(rig->accel));
}

static void test_known_answers(void **state)
{
	struct gcm_rig rig = gcm_open();
	uint8_t key[32], modelled[MAX_BYTES];

	for (size_t i = 0; i < API_COUNT(vectors); i++) {
		size_t key_bytes = put(key, vectors[i].key);
		struct gcm_params params = { .key = gcm_key(&rig, key, key_bytes) };
		size_t len;

		params.iv_bytes = (uint32_t)put(params.iv, vectors[i].iv);
		params.aad_bytes = (uint32_t)put(text, vectors[i].aad);
		put(sealed, vectors[i].aad);
		len = params.aad_bytes + put(text + params.aad_bytes, vectors[i].text);
		put(sealed + params.aad_bytes, vectors[i].cipher);
		put(sealed + len, vectors[i].tag);
		gcm_model(key, key_bytes, params.iv, params.iv_bytes, text, params.aad_bytes, len, modelled);
		assert_memory_equal(modelled, sealed, len + 16); /* the model is right */
		for (params.tag_bytes = 12; params.tag_bytes <= 16; params.tag_bytes += 4) {
			if (len > 0) /* a source without data is refused */
				expect(&rig, GCM_ENCRYPT, &params, text, len, sealed, len + params.tag_bytes);
			expect(&rig, GCM_DECRYPT, &params, sealed, len + params.tag_bytes, text, len);
		}
		assert_ok(doca_aes_gcm_key_destroy(params.key));
		accel_reset(rig.accel);
	}
	gcm_close(&rig);
}

/* ---- messages of chance ---- */

/* A key and parameters of chance; @raw gets the key. Returns its length. */
static size_t choose(struct gcm_rig *rig, uint8_t raw[32], struct gcm_params *params, size_t src_len)
{
	size_t key_bytes = accel_random(rig->accel, 2) ? 16 : 32;

	fill(rig->accel, raw, key_bytes);
	fill(rig->accel, params->iv, sizeof(params->iv));
	params->key = gcm_key(rig, raw, key_bytes);
	params->iv_bytes = 1 + accel_random(rig->accel, 12);
	params->tag_bytes = accel_random(rig->accel, 2) ? 12 : 16;
	params->aad_bytes = accel_random(rig->accel, (uint32_t)src_len + 1);
	return key_bytes;
}

static void test_every_length_of_iv_is_the_models(void **state)
{
	struct gcm_rig rig = gcm_open();
	uint8_t raw[32];

	for (int round = 0; round < 60; round++) {
		size_t len = 1 + accel_random(rig.accel, 80), key_bytes;
		struct gcm_params params;

		fill(rig.accel, text, len);
		key_bytes = choose(&rig, raw, &params, len);
		params.iv_bytes = 1 + (uint32_t)round % 12;
		gcm_model(raw, key_bytes, params.iv, params.iv_bytes, text, params.aad_bytes, len, sealed);
		expect(&rig, GCM_ENCRYPT, &params, text, len, sealed, len + params.tag_bytes);
		expect(&rig, GCM_DECRYPT, &params, sealed, len + params.tag_bytes, text, len);
		assert_ok(doca_aes_gcm_key_destroy(params.key));
		accel_reset(rig.accel);
	}
	gcm_close(&rig);
}

/* Encrypt with lists of chance and decrypt with others; one buffer gives the same. */
static void test_lists_of_chance_go_there_and_back(void **state)
{
	struct gcm_rig rig = gcm_open();
	uint8_t raw[32], in[MAX_BYTES], one_sealed[MAX_BYTES + 16];

	for (int round = 0; round < 60; round++) {
		size_t len = 1 + accel_random(rig.accel, MAX_BYTES - 20), out_len;
		struct doca_buf *src, *one, *many, *back;
		struct gcm_params params;

		fill(rig.accel, text, len);
		choose(&rig, raw, &params, len);
		out_len = len + params.tag_bytes;
		one = accel_dst(rig.accel, out_len);
		many = accel_dst_list(rig.accel, out_len + 5, 1 + accel_random(rig.accel, 30));
		back = accel_dst_list(rig.accel, len, 1 + accel_random(rig.accel, 30));
		src = accel_src_list(rig.accel, text, len, 1 + accel_random(rig.accel, 30));
		assert_ok(gcm_run(&rig, GCM_ENCRYPT, &params, accel_src(rig.accel, text, len), one));
		assert_ok(gcm_run(&rig, GCM_ENCRYPT, &params, src, many));
		assert_int_equal(accel_data(one, one_sealed, sizeof(one_sealed)), out_len);
		assert_int_equal(accel_data(many, sealed, sizeof(sealed)), out_len);
		assert_memory_equal(sealed, one_sealed, out_len);
		assert_memory_equal(sealed, text, params.aad_bytes);
		assert_ok(gcm_run(&rig, GCM_DECRYPT, &params,
				  accel_src_list(rig.accel, sealed, out_len, 1 + accel_random(rig.accel, 30)), back));
		assert_int_equal(accel_data(back, opened, sizeof(opened)), len);
		assert_memory_equal(opened, text, len);
		assert_int_equal(accel_data(src, in, sizeof(in)), len);
		assert_memory_equal(in, text, len); /* the source stays */
		assert_true(accel_rest_is_untouched(rig.accel));
		assert_ok(doca_aes_gcm_key_destroy(params.key));
		accel_reset(rig.accel);
	}
	gcm_close(&rig);
}

/* ---- tags that do not match ---- */

static struct gcm_params some_params(struct gcm_rig *rig, uint32_t tag_bytes, uint32_t aad_bytes)
{
	static const uint8_t raw[32] = { 1, 2, 3 };

	return (struct gcm_params){ .key = gcm_key(rig, raw, 16),
				    .iv = { 7 },
				    .iv_bytes = 12,
				    .tag_bytes = tag_bytes,
				    .aad_bytes = aad_bytes };
}

/* Decrypt what must not succeed: the task fails, adds no data and writes to its destination's room at most. */
static void expect_mismatch(struct gcm_rig *rig, const struct gcm_params *params, const uint8_t *src, size_t len)
{
	struct doca_buf *dst = accel_dst(rig->accel, 100);
	const uint8_t *half = rig->accel->arena + ACCEL_HALF_BYTES;

	assert_doca(gcm_run(rig, GCM_DECRYPT, params, accel_src(rig->accel, src, len), dst), DOCA_ERROR_IO_FAILED);
	assert_int_equal(accel_data(dst, opened, sizeof(opened)), 0);
	for (size_t i = 100; i < 200; i++)
		assert_int_equal(half[i], ACCEL_FILL);
	accel_reset(rig->accel);
	gcm_restart(rig);
}

static void test_changed_message_fails(void **state)
{
	struct gcm_rig rig = gcm_open();
	struct gcm_params params = some_params(&rig, 16, 5), other;
	static const uint8_t other_raw[32] = { 1, 2, 4 };
	struct doca_buf *dst = accel_dst(rig.accel, 56);

	fill(rig.accel, text, 40);
	assert_ok(gcm_run(&rig, GCM_ENCRYPT, &params, accel_src(rig.accel, text, 40), dst));
	assert_int_equal(accel_data(dst, sealed, sizeof(sealed)), 56);
	accel_reset(rig.accel);
	for (size_t i = 0; i < 56; i++) { /* of AAD, ciphertext and tag */
		sealed[i] ^= 0x10;
		expect_mismatch(&rig, &params, sealed, 56);
		sealed[i] ^= 0x10;
	}
	expect_mismatch(&rig, &params, sealed, 55);
	expect_mismatch(&rig, &params, sealed + 1, 55);
	other = params;
	other.aad_bytes = 4;
	expect_mismatch(&rig, &other, sealed, 56);
	other = params;
	other.iv[11] = 1;
	expect_mismatch(&rig, &other, sealed, 56);
	other = params;
	other.iv_bytes = 11;
	expect_mismatch(&rig, &other, sealed, 56);
	other = params;
	other.tag_bytes = 12;
	expect_mismatch(&rig, &other, sealed, 56);
	other = params;
	other.key = gcm_key(&rig, other_raw, 16);
	expect_mismatch(&rig, &other, sealed, 56);
	expect(&rig, GCM_DECRYPT, &params, sealed, 56, text, 40);
	assert_ok(doca_aes_gcm_key_destroy(other.key));
	assert_ok(doca_aes_gcm_key_destroy(params.key));
	gcm_close(&rig);
}

/* A message of AAD alone is authenticated (GMAC); so is a tag alone. */
static void test_aad_alone(void **state)
{
	struct gcm_rig rig = gcm_open();
	struct gcm_params params = some_params(&rig, 12, 20);
	uint8_t raw[32] = { 1, 2, 3 };

	fill(rig.accel, text, 20);
	gcm_model(raw, 16, params.iv, 12, text, 20, 20, sealed);
	expect(&rig, GCM_ENCRYPT, &params, text, 20, sealed, 32);
	expect(&rig, GCM_DECRYPT, &params, sealed, 32, text, 20);
	sealed[3] ^= 1;
	accel_reset(rig.accel);
	expect_mismatch(&rig, &params, sealed, 32);
	assert_ok(doca_aes_gcm_key_destroy(params.key));
	gcm_close(&rig);
}

/* ---- tasks ---- */

static void test_output_is_appended(void **state)
{
	struct gcm_rig rig = gcm_open();
	struct gcm_params params = some_params(&rig, 16, 0);
	struct doca_buf *src = accel_src(rig.accel, "message", 7), *dst = accel_dst(rig.accel, 46);

	assert_ok(gcm_run(&rig, GCM_ENCRYPT, &params, src, dst));
	assert_ok(gcm_run(&rig, GCM_ENCRYPT, &params, src, dst));
	assert_int_equal(accel_data(dst, sealed, sizeof(sealed)), 46);
	assert_memory_equal(sealed, sealed + 23, 23);
	assert_ok(doca_aes_gcm_key_destroy(params.key));
	gcm_close(&rig);
}

/* Source and destination are the same memory. */
static void test_in_place(void **state)
{
	struct gcm_rig rig = gcm_open();
	struct gcm_params params = some_params(&rig, 16, 10);
	static const uint8_t raw[16] = { 1, 2, 3 };
	struct doca_buf *src, *dst;
	uint8_t *at;

	fill(rig.accel, text, 1000);
	gcm_model(raw, 16, params.iv, 12, text, 10, 1000, sealed);
	src = accel_src(rig.accel, text, 1016); /* with room for the tag */
	MUST(doca_buf_get_head(src, (void **)&at));
	MUST(doca_buf_set_data(src, at, 1000));
	MUST(doca_buf_inventory_buf_get_by_addr(rig.accel->inventory, rig.accel->mmap, at, 1016, &dst));
	assert_ok(gcm_run(&rig, GCM_ENCRYPT, &params, src, dst));
	assert_memory_equal(at, sealed, 1016);
	MUST(doca_buf_set_data(src, at, 1016));
	MUST(doca_buf_reset_data_len(dst));
	assert_ok(gcm_run(&rig, GCM_DECRYPT, &params, src, dst));
	assert_memory_equal(at, text, 1000);
	MUST(doca_buf_dec_refcount(dst, NULL));
	assert_ok(doca_aes_gcm_key_destroy(params.key));
	gcm_close(&rig);
}

/* The IV and the key belong to the program again once a task has them. */
static void test_iv_and_key_are_copied(void **state)
{
	struct gcm_rig rig = gcm_open();
	uint8_t raw[16] = { 9 }, used[16];
	struct gcm_params params = { .iv = { 1, 2, 3 }, .iv_bytes = 12, .tag_bytes = 16 };
	struct doca_buf *dst = accel_dst(rig.accel, 26);
	struct doca_task *task;

	memcpy(used, raw, sizeof(used));
	params.key = gcm_key(&rig, used, 16);
	memset(used, 0xff, sizeof(used));
	fill(rig.accel, text, 10);
	gcm_model(raw, 16, params.iv, 12, text, 0, 10, sealed);
	MUST(gcm_alloc(&rig, GCM_ENCRYPT, &params, accel_src(rig.accel, text, 10), dst, &task));
	memset(params.iv, 0xff, sizeof(params.iv));
	assert_ok(accel_run(rig.accel, task));
	assert_int_equal(accel_data(dst, opened, sizeof(opened)), 26);
	assert_memory_equal(opened, sealed, 26);
	doca_task_free(task);
	assert_ok(doca_aes_gcm_key_destroy(params.key));
	gcm_close(&rig);
}

/* A task has what it needs of its key once it is submitted. */
static void test_key_is_destroyed_while_its_task_is_in_flight(void **state)
{
	struct gcm_rig rig = gcm_open();
	struct gcm_params params = some_params(&rig, 16, 0);
	static const uint8_t raw[16] = { 1, 2, 3 }, other_raw[16] = { 4 };
	struct doca_buf *dst = accel_dst(rig.accel, 26);
	struct doca_aes_gcm_key *other;
	struct doca_task *task;

	fill(rig.accel, text, 10);
	gcm_model(raw, 16, params.iv, 12, text, 0, 10, sealed);
	MUST(gcm_alloc(&rig, GCM_ENCRYPT, &params, accel_src(rig.accel, text, 10), dst, &task));
	assert_ok(doca_task_submit(task));
	assert_ok(doca_aes_gcm_key_destroy(params.key));
	other = gcm_key(&rig, other_raw, 16); /* perhaps in the same place */
	accel_drain(rig.accel);
	assert_int_equal(accel_data(dst, opened, sizeof(opened)), 26);
	assert_memory_equal(opened, sealed, 26);
	doca_task_free(task);
	assert_ok(doca_aes_gcm_key_destroy(other));
	gcm_close(&rig);
}

/* The context's tasks are forgotten when it stops, and start anew; a key lives on. */
static void test_context_starts_again(void **state)
{
	struct gcm_rig rig = gcm_open();
	struct gcm_params params = some_params(&rig, 12, 3);
	static const uint8_t raw[16] = { 1, 2, 3 };

	for (int round = 0; round < 3; round++) {
		fill(rig.accel, text, 50);
		gcm_model(raw, 16, params.iv, 12, text, 3, 50, sealed);
		expect(&rig, GCM_ENCRYPT, &params, text, 50, sealed, 62);
		accel_reset(rig.accel);
		accel_stop(rig.accel);
		assert_ok(doca_ctx_stop(rig.ctx)); /* samples stop twice */
		assert_ok(doca_ctx_start(rig.ctx));
	}
	assert_ok(doca_aes_gcm_key_destroy(params.key));
	gcm_close(&rig);
}

/* ---- many tasks ---- */

static size_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t pages;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*u %zu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

#define MANY 65536

/* As many as programs for BlueField-3 configure, all in flight at once, in less than 1 KiB each. */
static void test_context_has_65536_tasks(void **state)
{
	struct gcm_rig rig = gcm_open_idle();
	static struct doca_task *tasks[MANY];
	struct doca_buf *src, *dst;
	struct gcm_params params;
	size_t before;

	MUST(gcm_set_conf(rig.gcm, GCM_ENCRYPT, MANY));
	before = resident_bytes();
	accel_start(rig.accel, rig.ctx);
	params = some_params(&rig, 16, 0);
	src = accel_src(rig.accel, text, 16);
	dst = accel_dst(rig.accel, 32);
	for (size_t i = 0; i < MANY; i++) {
		MUST(gcm_alloc(&rig, GCM_ENCRYPT, &params, src, dst, &tasks[i]));
		MUST(doca_task_submit(tasks[i]));
	}
	if (!PROC_IS_SLOW) /* sanitizers have memory of their own */
		assert_true(resident_bytes() - before < (size_t)MANY << 10);
	accel_drain(rig.accel);
	for (size_t i = 0; i < MANY; i++) {
		assert_ok(doca_task_get_status(tasks[i]));
		doca_task_free(tasks[i]);
	}
	assert_ok(doca_aes_gcm_key_destroy(params.key));
	gcm_close(&rig);
}

static const struct CMUnitTest on_bluefield_3[] = {
	cmocka_unit_test(test_known_answers),
	cmocka_unit_test(test_every_length_of_iv_is_the_models),
	cmocka_unit_test(test_lists_of_chance_go_there_and_back),
	cmocka_unit_test(test_changed_message_fails),
	cmocka_unit_test(test_aad_alone),
	cmocka_unit_test(test_output_is_appended),
	cmocka_unit_test(test_in_place),
	cmocka_unit_test(test_iv_and_key_are_copied),
	cmocka_unit_test(test_key_is_destroyed_while_its_task_is_in_flight),
	cmocka_unit_test(test_context_starts_again),
	cmocka_unit_test(test_context_has_65536_tasks),
};

int main(void)
{
	return API_RUN({ .name = "BlueField-3", .side = "dpu", API_WITH(on_bluefield_3) });
}
