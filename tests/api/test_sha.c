/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA: known answers, lists, messages in pieces, limits and errors. */
#include <stdio.h>
#include <string.h>

#include "api_util.h"
#include "accel_util.h"
#include "log_child.h"

#include <doca_log.h>
#include <doca_sha.h>

static const enum doca_sha_algorithm algorithms[] = { DOCA_SHA_ALGORITHM_SHA1, DOCA_SHA_ALGORITHM_SHA256,
						      DOCA_SHA_ALGORITHM_SHA512 };
static const size_t digest_bytes[] = { 20, 32, 64 }, block_bytes[] = { 64, 64, 128 };

struct rig {
	struct accel *accel;
	struct doca_sha *sha;
	struct doca_ctx *ctx;
};

static void on_hash(struct doca_sha_task_hash *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void on_partial(struct doca_sha_task_partial_hash *task, union doca_data user_data, union doca_data ctx_data)
{
}

static struct rig open_idle(void)
{
	struct rig rig = { .accel = accel_open() };

	MUST(doca_sha_create(rig.accel->dev, &rig.sha));
	rig.ctx = doca_sha_as_ctx(rig.sha);
	return rig;
}

static struct rig open_rig(void)
{
	struct rig rig = open_idle();

	MUST(doca_sha_task_hash_set_conf(rig.sha, on_hash, on_hash, 1));
	MUST(doca_sha_task_partial_hash_set_conf(rig.sha, on_partial, on_partial, 0));
	accel_start(rig.accel, rig.ctx);
	return rig;
}

static void close_rig(struct rig *rig)
{
	if (rig->accel->ctx)
		accel_stop(rig->accel);
	MUST(doca_sha_destroy(rig->sha));
	accel_close(rig->accel);
}

static struct doca_sha_task_hash *make_hash(struct rig *rig, enum doca_sha_algorithm algorithm,
					    const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_hash *task;

	MUST(doca_sha_task_hash_alloc_init(rig->sha, algorithm, src, dst, (union doca_data){ 0 }, &task));
	return task;
}

static struct doca_sha_task_partial_hash *make_partial(struct rig *rig, enum doca_sha_algorithm algorithm,
						       const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_partial_hash *task;

	MUST(doca_sha_task_partial_hash_alloc_init(rig->sha, algorithm, src, dst, (union doca_data){ 0 }, &task));
	return task;
}

/* Run a hash task once, and free it. */
static doca_error_t hash(struct rig *rig, enum doca_sha_algorithm algorithm, const struct doca_buf *src,
			 struct doca_buf *dst)
{
	struct doca_task *task = doca_sha_task_hash_as_task(make_hash(rig, algorithm, src, dst));
	doca_error_t result = accel_run(rig->accel, task);

	doca_task_free(task);
	return result;
}

static void to_hex(const uint8_t *bytes, size_t len, char *ret_text)
{
	for (size_t i = 0; i < len; i++)
		snprintf(ret_text + 2 * i, 3, "%02x", bytes[i]);
}

static void assert_digest(struct doca_buf *dst, const char *expected)
{
	uint8_t digest[128];
	char text[257] = "";

	to_hex(digest, accel_data(dst, digest, sizeof(digest)), text);
	assert_string_equal(text, expected);
}

/* ---- known answers: the examples of FIPS 180-4, and a million times "a" ---- */

static const struct {
	const char *message; /* NULL = a million times "a" */
	const char *digests[3];
} vectors[] = {
	{ "abc",
	  { "a9993e364706816aba3e25717850c26c9cd0d89d",
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
	    "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f" } },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	  { "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
	    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
	    "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
	    "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445" } },
	{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
	  { "a49b2446a02c645bf419f995b67091253a04a259",
	    "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
	    "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
	    "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909" } },
	{ NULL,
	  { "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
	    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
	    "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
	    "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b" } },
};

static const char *message_of(size_t vector, size_t *ret_len)
{
	static char many[1000000];

	memset(many, 'a', sizeof(many));
	*ret_len = vectors[vector].message ? strlen(vectors[vector].message) : sizeof(many);
	return vectors[vector].message ? vectors[vector].message : many;
}

static void test_known_messages_have_their_digests(void **state)
{
	struct rig rig = open_rig();

	for (size_t i = 0; i < API_COUNT(vectors); i++) {
		for (size_t a = 0; a < 3; a++) {
			size_t len;
			const char *message = message_of(i, &len);
			struct doca_buf *dst = accel_dst(rig.accel, digest_bytes[a]);

			assert_ok(hash(&rig, algorithms[a], accel_src(rig.accel, message, len), dst));
			assert_digest(dst, vectors[i].digests[a]);
			assert_true(accel_rest_is_untouched(rig.accel));
			accel_reset(rig.accel);
		}
	}
	close_rig(&rig);
}

/* Hash a message in pieces of @piece bytes, of lists. */
static void hash_in_pieces(struct rig *rig, struct doca_sha_task_partial_hash *task, const char *message, size_t len,
			   size_t piece)
{
	for (size_t at = 0; at < len; at += piece) {
		size_t part = len - at < piece ? len - at : piece;

		assert_ok(doca_sha_task_partial_hash_set_src(
			task, accel_src_list(rig->accel, message + at, part, 1 + accel_random(rig->accel, 4))));
		assert_int_equal(doca_sha_task_partial_hash_get_has_result(task), 0);
		assert_int_equal(doca_sha_task_partial_hash_get_is_final(task), 0);
		if (at + part == len)
			assert_ok(doca_sha_task_partial_hash_set_is_final_buf(task));
		assert_ok(accel_run(rig->accel, doca_sha_task_partial_hash_as_task(task)));
	}
	assert_int_equal(doca_sha_task_partial_hash_get_is_final(task), 1);
	assert_int_equal(doca_sha_task_partial_hash_get_has_result(task), 1);
}

static void test_messages_in_pieces_have_the_same_digests(void **state)
{
	struct rig rig = open_rig();

	for (size_t i = 0; i < API_COUNT(vectors); i++) {
		for (size_t a = 0; a < 3; a++) {
			size_t len;
			const char *message = message_of(i, &len);
			struct doca_buf *dst = accel_dst_list(rig.accel, digest_bytes[a], 3);
			struct doca_sha_task_partial_hash *task = make_partial(&rig, algorithms[a], NULL, dst);

			hash_in_pieces(&rig, task, message, len, vectors[i].message ? block_bytes[a] : 128 * 777);
			assert_digest(dst, vectors[i].digests[a]);
			assert_true(accel_rest_is_untouched(rig.accel));
			doca_task_free(doca_sha_task_partial_hash_as_task(task));
			accel_reset(rig.accel);
		}
	}
	close_rig(&rig);
}

/* ---- lists ---- */

static void test_lists_of_chance_have_the_digest_of_the_whole(void **state)
{
	static uint8_t message[100000];
	struct rig rig = open_rig();

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 31 + i / 251);
	for (int round = 0; round < 100; round++) {
		size_t a = accel_random(rig.accel, 3), len = 1 + accel_random(rig.accel, sizeof(message));
		struct doca_buf *one = accel_dst(rig.accel, 64);
		struct doca_buf *many = accel_dst_list(rig.accel, 64, 1 + accel_random(rig.accel, 8));
		uint8_t expected[64], digest[64];

		assert_ok(hash(&rig, algorithms[a], accel_src(rig.accel, message, len), one));
		assert_ok(hash(&rig, algorithms[a],
			       accel_src_list(rig.accel, message, len, 1 + accel_random(rig.accel, 20)), many));
		assert_int_equal(accel_data(one, expected, sizeof(expected)), digest_bytes[a]);
		assert_int_equal(accel_data(many, digest, sizeof(digest)), digest_bytes[a]);
		assert_memory_equal(digest, expected, digest_bytes[a]);
		accel_reset(rig.accel);
	}
	close_rig(&rig);
}

static void test_digest_is_appended_and_the_source_stays(void **state)
{
	struct rig rig = open_rig();
	struct doca_buf *src = accel_src(rig.accel, "abc", 3), *dst = accel_dst(rig.accel, 20 + 20);
	uint8_t data[40];
	void *addr;
	size_t len;

	assert_ok(hash(&rig, DOCA_SHA_ALGORITHM_SHA1, src, dst));
	assert_ok(hash(&rig, DOCA_SHA_ALGORITHM_SHA1, src, dst));
	assert_int_equal(accel_data(dst, data, sizeof(data)), 40);
	assert_memory_equal(data, data + 20, 20);
	assert_ok(doca_buf_get_data(src, &addr));
	assert_ok(doca_buf_get_data_len(src, &len));
	assert_int_equal(len, 3);
	assert_memory_equal(addr, "abc", 3);
	close_rig(&rig);
}

/* ---- partial hash tasks ---- */

static void test_partial_hash_keeps_algorithm_and_destination_of_a_message(void **state)
{
	struct rig rig = open_rig();
	struct doca_buf *dst = accel_dst(rig.accel, 64), *other = accel_dst(rig.accel, 64);
	char block[128];
	struct doca_sha_task_partial_hash *task;

	memset(block, 'x', sizeof(block));
	task = make_partial(&rig, DOCA_SHA_ALGORITHM_SHA1, accel_src(rig.accel, block, 64), dst);
	assert_ok(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA256));
	assert_ok(doca_sha_task_partial_hash_set_dst(task, other));
	assert_ok(accel_run(rig.accel, doca_sha_task_partial_hash_as_task(task)));
	/* provokes: doca_sha_task_partial_hash_set_algorithm DOCA_ERROR_BAD_STATE */
	assert_doca(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_sha_task_partial_hash_set_dst DOCA_ERROR_BAD_STATE */
	assert_doca(doca_sha_task_partial_hash_set_dst(task, dst), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_sha_task_partial_hash_get_algorithm(task), DOCA_SHA_ALGORITHM_SHA256);
	assert_ptr_equal(doca_sha_task_partial_hash_get_dst(task), other);
	assert_ok(doca_sha_task_partial_hash_reset(task));
	assert_ok(doca_sha_task_partial_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA1));
	assert_ok(doca_sha_task_partial_hash_set_dst(task, dst));
	hash_in_pieces(&rig, task, "abc", 3, 64);
	assert_digest(dst, vectors[0].digests[0]);
	assert_digest(other, "");
	/* the result is there: another message needs a reset */
	assert_doca(accel_run(rig.accel, doca_sha_task_partial_hash_as_task(task)), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sha_task_partial_hash_reset(task));
	assert_int_equal(doca_sha_task_partial_hash_get_has_result(task), 0);
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	close_rig(&rig);
}

static void test_pieces_but_the_last_are_whole_blocks(void **state)
{
	struct rig rig = open_rig();
	struct doca_sha_task_partial_hash *task =
		make_partial(&rig, DOCA_SHA_ALGORITHM_SHA512, accel_src(rig.accel, vectors[2].message, 64),
			     accel_dst(rig.accel, 64));

	assert_invalid(accel_run(rig.accel, doca_sha_task_partial_hash_as_task(task)));
	assert_ok(doca_sha_task_partial_hash_set_is_final_buf(task));
	assert_ok(accel_run(rig.accel, doca_sha_task_partial_hash_as_task(task)));
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	close_rig(&rig);
}

static void test_task_in_flight_is_not_changed(void **state)
{
	struct rig rig = open_rig();
	struct doca_buf *src = accel_src(rig.accel, "abc", 3), *dst = accel_dst(rig.accel, 64);
	struct doca_sha_task_hash *task = make_hash(&rig, DOCA_SHA_ALGORITHM_SHA1, src, dst);
	struct doca_sha_task_partial_hash *partial =
		make_partial(&rig, DOCA_SHA_ALGORITHM_SHA1, src, accel_dst(rig.accel, 64));

	assert_ok(doca_sha_task_partial_hash_set_is_final_buf(partial));
	assert_ok(doca_task_submit(doca_sha_task_hash_as_task(task)));
	assert_ok(doca_task_submit(doca_sha_task_partial_hash_as_task(partial)));
	/* provokes: doca_sha_task_hash_set_algorithm DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_task_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA512));
	/* provokes: doca_sha_task_hash_set_src DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_task_hash_set_src(task, dst));
	/* provokes: doca_sha_task_hash_set_dst DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_task_hash_set_dst(task, NULL));
	/* provokes: doca_sha_task_partial_hash_set_src DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_task_partial_hash_set_src(partial, dst));
	/* provokes: doca_sha_task_partial_hash_reset DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_task_partial_hash_reset(partial));
	/* provokes: doca_sha_task_partial_hash_set_is_final_buf DOCA_ERROR_BAD_STATE */
	assert_doca(doca_sha_task_partial_hash_set_is_final_buf(partial), DOCA_ERROR_BAD_STATE);
	accel_drain(rig.accel);
	assert_digest(dst, vectors[0].digests[0]);
	assert_ptr_equal(doca_sha_task_hash_get_src(task), src);
	assert_ptr_equal(doca_sha_task_hash_get_dst(task), dst);
	assert_int_equal(doca_sha_task_hash_get_algorithm(task), DOCA_SHA_ALGORITHM_SHA1);
	assert_ok(doca_sha_task_hash_set_algorithm(task, DOCA_SHA_ALGORITHM_SHA256));
	assert_ok(doca_sha_task_hash_set_src(task, dst));
	assert_ok(doca_sha_task_hash_set_dst(task, dst));
	doca_task_free(doca_sha_task_hash_as_task(task));
	doca_task_free(doca_sha_task_partial_hash_as_task(partial));
	close_rig(&rig);
}

/* ---- what a submission refuses ---- */

static void test_submission_refuses_what_cannot_work(void **state)
{
	struct rig rig = open_rig();
	struct doca_buf *src = accel_src(rig.accel, "abc", 3), *dst = accel_dst(rig.accel, 32);
	struct doca_buf *empty = accel_src(rig.accel, "", 0), *list;

	assert_invalid(hash(&rig, DOCA_SHA_ALGORITHM_SHA256, NULL, dst));
	assert_invalid(hash(&rig, DOCA_SHA_ALGORITHM_SHA256, src, NULL));
	assert_invalid(hash(&rig, DOCA_SHA_ALGORITHM_SHA256, empty, dst));
	assert_invalid(hash(&rig, DOCA_SHA_ALGORITHM_SHA512, src, dst));
	list = accel_src_list(rig.accel, vectors[2].message, 112, 129);
	assert_invalid(hash(&rig, DOCA_SHA_ALGORITHM_SHA256, list, dst));
	assert_ok(hash(&rig, DOCA_SHA_ALGORITHM_SHA256, src, dst));
	close_rig(&rig);
}

static void test_destination_that_may_not_be_written_is_not_permitted(void **state)
{
	static uint8_t memory[4096];
	struct rig rig = open_rig();
	struct doca_mmap *mmap;
	struct doca_buf *dst;

	MUST(doca_mmap_create(&mmap));
	MUST(doca_mmap_add_dev(mmap, rig.accel->dev));
	MUST(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	MUST(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	MUST(doca_mmap_start(mmap));
	MUST(doca_buf_inventory_buf_get_by_addr(rig.accel->inventory, mmap, memory, sizeof(memory), &dst));
	assert_doca(hash(&rig, DOCA_SHA_ALGORITHM_SHA1, accel_src(rig.accel, "abc", 3), dst), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_buf_dec_refcount(dst, NULL));
	MUST(doca_mmap_destroy(mmap));
	close_rig(&rig);
}

/* ---- configuration and life ---- */

static void test_configuration_has_its_limits(void **state)
{
	struct rig rig = open_idle();
	uint32_t max_tasks;

	assert_doca(doca_ctx_start(rig.ctx), DOCA_ERROR_NOT_CONNECTED);
	assert_ok(doca_sha_cap_get_max_num_tasks(rig.sha, &max_tasks));
	assert_int_equal(max_tasks, 8192);
	assert_ok(doca_sha_task_hash_set_conf(rig.sha, on_hash, on_hash, 12));
	assert_ok(doca_sha_task_partial_hash_set_conf(rig.sha, on_partial, on_partial, 12));
	/* provokes: doca_sha_task_hash_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_task_hash_set_conf(rig.sha, on_hash, on_hash, 13));
	assert_invalid(doca_sha_task_hash_set_conf(rig.sha, on_hash, on_hash, 32));
	assert_invalid(doca_sha_task_hash_set_conf(rig.sha, NULL, on_hash, 0));
	assert_invalid(doca_sha_task_hash_set_conf(rig.sha, on_hash, NULL, 0));
	/* provokes: doca_sha_task_partial_hash_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_task_partial_hash_set_conf(rig.sha, on_partial, on_partial, 13));
	close_rig(&rig);
}

static void ask_for_unconfigured(void)
{
	struct rig rig = open_idle();
	struct doca_sha_task_partial_hash *task;
	struct doca_log_backend *backend;

	MUST(doca_log_backend_create_with_file_sdk(stderr, &backend));
	MUST(doca_sha_task_hash_set_conf(rig.sha, on_hash, on_hash, 1));
	accel_start(rig.accel, rig.ctx);
	assert_doca(doca_sha_task_partial_hash_alloc_init(rig.sha, DOCA_SHA_ALGORITHM_SHA1, NULL, NULL,
							  (union doca_data){ 0 }, &task),
		    DOCA_ERROR_NO_MEMORY);
	close_rig(&rig);
}

static void test_tasks_that_were_not_configured_are_named_so(void **state)
{
	assert_non_null(strstr(in_child(ask_for_unconfigured)->err,
			       "doca_sha_task_partial_hash_alloc_init: no such tasks are configured; call set_conf()"));
}

static void test_running_context_is_not_configured_or_destroyed(void **state)
{
	struct rig rig = open_rig();
	struct doca_sha_task_hash *tasks[3];
	struct doca_sha_task_partial_hash *partials[2];

	/* provokes: doca_sha_task_hash_set_conf DOCA_ERROR_BAD_STATE */
	assert_doca(doca_sha_task_hash_set_conf(rig.sha, on_hash, on_hash, 0), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_sha_task_partial_hash_set_conf DOCA_ERROR_BAD_STATE */
	assert_doca(doca_sha_task_partial_hash_set_conf(rig.sha, on_partial, on_partial, 0), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_sha_destroy DOCA_ERROR_IN_USE */
	assert_doca(doca_sha_destroy(rig.sha), DOCA_ERROR_IN_USE);
	for (int i = 0; i < 2; i++)
		tasks[i] = make_hash(&rig, DOCA_SHA_ALGORITHM_SHA1, NULL, NULL);
	/* provokes: doca_sha_task_hash_alloc_init DOCA_ERROR_NO_MEMORY */
	assert_doca(doca_sha_task_hash_alloc_init(rig.sha, DOCA_SHA_ALGORITHM_SHA1, NULL, NULL, (union doca_data){ 0 },
						  &tasks[2]),
		    DOCA_ERROR_NO_MEMORY);
	partials[0] = make_partial(&rig, DOCA_SHA_ALGORITHM_SHA1, NULL, NULL);
	/* provokes: doca_sha_task_partial_hash_alloc_init DOCA_ERROR_NO_MEMORY */
	assert_doca(doca_sha_task_partial_hash_alloc_init(rig.sha, DOCA_SHA_ALGORITHM_SHA1, NULL, NULL,
							  (union doca_data){ 0 }, &partials[1]),
		    DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < 2; i++)
		doca_task_free(doca_sha_task_hash_as_task(tasks[i]));
	doca_task_free(doca_sha_task_partial_hash_as_task(partials[0]));
	accel_stop(rig.accel);
	assert_ok(doca_ctx_stop(rig.ctx)); /* samples stop twice */
	/* provokes: doca_sha_task_hash_alloc_init DOCA_ERROR_BAD_STATE */
	assert_doca(doca_sha_task_hash_alloc_init(rig.sha, DOCA_SHA_ALGORITHM_SHA1, NULL, NULL, (union doca_data){ 0 },
						  &tasks[0]),
		    DOCA_ERROR_BAD_STATE);
	/* provokes: doca_sha_task_partial_hash_alloc_init DOCA_ERROR_BAD_STATE */
	assert_doca(doca_sha_task_partial_hash_alloc_init(rig.sha, DOCA_SHA_ALGORITHM_SHA1, NULL, NULL,
							  (union doca_data){ 0 }, &partials[0]),
		    DOCA_ERROR_BAD_STATE);
	close_rig(&rig);
}

/* A context that was started twice has its tasks and states anew. */
static void test_context_starts_again(void **state)
{
	struct rig rig = open_rig();
	struct doca_sha_task_partial_hash *task;
	struct doca_buf *dst = accel_dst(rig.accel, 20);

	task = make_partial(&rig, DOCA_SHA_ALGORITHM_SHA1, NULL, accel_dst(rig.accel, 20));
	hash_in_pieces(&rig, task, "abc", 3, 64);
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	accel_stop(rig.accel);
	assert_ok(doca_ctx_start(rig.ctx));
	task = make_partial(&rig, DOCA_SHA_ALGORITHM_SHA1, NULL, dst);
	hash_in_pieces(&rig, task, "abc", 3, 64);
	assert_digest(dst, vectors[0].digests[0]);
	doca_task_free(doca_sha_task_partial_hash_as_task(task));
	close_rig(&rig);
}

static void test_nothing_configured_does_not_start(void **state)
{
	struct rig rig = open_idle();

	MUST(doca_pe_connect_ctx(rig.accel->pe, rig.ctx));
	assert_invalid(doca_ctx_start(rig.ctx));
	close_rig(&rig);
}

/* ---- capabilities ---- */

static void test_capabilities_are_the_cards(void **state)
{
	struct rig rig = open_idle();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig.accel->dev);
	uint32_t num, min;
	uint64_t max;

	assert_ok(doca_sha_cap_get_max_list_buf_num_elem(devinfo, &num));
	assert_int_equal(num, 128);
	assert_ok(doca_sha_cap_get_max_src_buf_size(devinfo, &max));
	assert_int_equal(max, INT32_MAX);
	assert_ok(doca_sha_cap_get_max_src_buffer_size(devinfo, &max));
	for (size_t a = 0; a < 3; a++) {
		assert_ok(doca_sha_cap_task_hash_get_supported(devinfo, algorithms[a]));
		assert_ok(doca_sha_cap_task_partial_hash_get_supported(devinfo, algorithms[a]));
		assert_ok(doca_sha_cap_get_min_dst_buf_size(devinfo, algorithms[a], &min));
		assert_int_equal(min, digest_bytes[a]);
		assert_ok(doca_sha_cap_get_min_dst_buffer_size(devinfo, algorithms[a], &min));
		assert_ok(doca_sha_cap_get_partial_hash_block_size(devinfo, algorithms[a], &min));
		assert_int_equal(min, block_bytes[a]);
	}
	close_rig(&rig);
}

static void test_bad_arguments_are_invalid(void **state)
{
	struct rig rig = open_rig();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig.accel->dev);
	const enum doca_sha_algorithm none = (enum doca_sha_algorithm)3;
	struct doca_sha *sha;
	struct doca_sha_task_hash *task;
	struct doca_sha_task_partial_hash *partial;
	uint64_t size;
	uint32_t num;

	/* provokes: doca_sha_create DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_create(NULL, &sha));
	assert_invalid(doca_sha_create(rig.accel->dev, NULL));
	/* provokes: doca_sha_destroy DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_destroy(NULL));
	assert_null(doca_sha_as_ctx(NULL));
	/* provokes: doca_sha_cap_task_hash_get_supported DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_cap_task_hash_get_supported(devinfo, none));
	assert_invalid(doca_sha_cap_task_hash_get_supported(NULL, DOCA_SHA_ALGORITHM_SHA1));
	/* provokes: doca_sha_cap_task_partial_hash_get_supported DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_cap_task_partial_hash_get_supported(devinfo, none));
	/* provokes: doca_sha_cap_get_max_list_buf_num_elem DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_cap_get_max_list_buf_num_elem(devinfo, NULL));
	assert_invalid(doca_sha_cap_get_max_list_buf_num_elem(NULL, &num));
	/* provokes: doca_sha_cap_get_max_src_buf_size DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_cap_get_max_src_buf_size(devinfo, NULL));
	assert_invalid(doca_sha_cap_get_max_src_buf_size(NULL, &size));
	/* provokes: doca_sha_cap_get_min_dst_buf_size DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_cap_get_min_dst_buf_size(devinfo, none, &num));
	/* provokes: doca_sha_cap_get_partial_hash_block_size DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_cap_get_partial_hash_block_size(devinfo, DOCA_SHA_ALGORITHM_SHA1, NULL));
	/* provokes: doca_sha_cap_get_max_num_tasks DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_cap_get_max_num_tasks(rig.sha, NULL));
	/* provokes: doca_sha_task_hash_alloc_init DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_task_hash_alloc_init(rig.sha, none, NULL, NULL, (union doca_data){ 0 }, &task));
	/* provokes: doca_sha_task_partial_hash_alloc_init DOCA_ERROR_INVALID_VALUE */
	assert_invalid(
		doca_sha_task_partial_hash_alloc_init(rig.sha, none, NULL, NULL, (union doca_data){ 0 }, &partial));
	assert_null(doca_sha_task_hash_as_task(NULL));
	assert_null(doca_sha_task_hash_get_src(NULL));
	assert_null(doca_sha_task_hash_get_dst(NULL));
	assert_null(doca_sha_task_partial_hash_as_task(NULL));
	assert_null(doca_sha_task_partial_hash_get_src(NULL));
	assert_null(doca_sha_task_partial_hash_get_dst(NULL));
	assert_int_equal(doca_sha_task_partial_hash_get_has_result(NULL), 0);
	assert_int_equal(doca_sha_task_partial_hash_get_is_final(NULL), 0);
	close_rig(&rig);
}

/* A task of one type is none of the other. */
static void test_tasks_of_the_types_are_not_exchanged(void **state)
{
	struct rig rig = open_rig();
	struct doca_sha_task_hash *task = make_hash(&rig, DOCA_SHA_ALGORITHM_SHA1, NULL, NULL);
	struct doca_sha_task_partial_hash *partial = (struct doca_sha_task_partial_hash *)task;

	assert_null(doca_sha_task_partial_hash_as_task(partial));
	/* provokes: doca_sha_task_partial_hash_set_is_final_buf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_task_partial_hash_set_is_final_buf(partial));
	assert_invalid(doca_sha_task_partial_hash_set_is_final_buffer(partial));
	/* provokes: doca_sha_task_partial_hash_set_algorithm DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_task_partial_hash_set_algorithm(partial, DOCA_SHA_ALGORITHM_SHA1));
	/* provokes: doca_sha_task_partial_hash_set_dst DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_sha_task_partial_hash_set_dst(partial, NULL));
	doca_task_free(doca_sha_task_hash_as_task(task));
	close_rig(&rig);
}

/* ---- cards ---- */

static void test_card_without_the_engine_says_so_and_does_not_start(void **state)
{
	struct rig rig = open_idle();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig.accel->dev);
	uint32_t num;
	uint64_t size;

	/* provokes: doca_sha_cap_task_hash_get_supported DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_sha_cap_task_hash_get_supported(devinfo, DOCA_SHA_ALGORITHM_SHA256), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_sha_cap_task_partial_hash_get_supported DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_sha_cap_task_partial_hash_get_supported(devinfo, DOCA_SHA_ALGORITHM_SHA256),
		    DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_sha_cap_get_max_list_buf_num_elem DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_sha_cap_get_max_list_buf_num_elem(devinfo, &num), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_sha_cap_get_max_src_buf_size DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_sha_cap_get_max_src_buf_size(devinfo, &size), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_sha_cap_get_min_dst_buf_size DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_sha_cap_get_min_dst_buf_size(devinfo, DOCA_SHA_ALGORITHM_SHA1, &num),
		    DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_sha_cap_get_partial_hash_block_size DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_sha_cap_get_partial_hash_block_size(devinfo, DOCA_SHA_ALGORITHM_SHA1, &num),
		    DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_sha_task_hash_set_conf(rig.sha, on_hash, on_hash, 0)); /* of no task */
	close_rig(&rig);
}

static const char small_card[] =
	ACCEL_CARD_WITH("bluefield-3", "sha: true, sha-max-buf-bytes: 128, sha-max-list-len: 2, sha-max-tasks: 4");

/* A source that is too large is accepted, as on a card, and fails; the context stops. */
static void test_overrides_of_a_topology_hold(void **state)
{
	struct rig rig = open_rig();
	struct doca_buf *dst = accel_dst(rig.accel, 64);
	enum doca_ctx_states ctx_state;
	uint32_t max_tasks;

	assert_ok(doca_sha_cap_get_max_num_tasks(rig.sha, &max_tasks));
	assert_int_equal(max_tasks, 4);
	assert_invalid(
		hash(&rig, DOCA_SHA_ALGORITHM_SHA256, accel_src_list(rig.accel, vectors[2].message, 112, 3), dst));
	assert_ok(hash(&rig, DOCA_SHA_ALGORITHM_SHA256, accel_src_list(rig.accel, vectors[2].message, 112, 2), dst));
	assert_digest(dst, vectors[2].digests[1]);
	assert_doca(hash(&rig, DOCA_SHA_ALGORITHM_SHA256,
			 accel_src(rig.accel,
				   "0123456789012345678901234567890123456789012345678901234567890123456789"
				   "012345678901234567890123456789012345678901234567890123456789",
				   129),
			 dst),
		    DOCA_ERROR_IO_FAILED);
	assert_ok(doca_ctx_get_state(rig.ctx, &ctx_state));
	assert_int_not_equal(ctx_state, DOCA_CTX_STATE_RUNNING);
	assert_digest(dst, vectors[2].digests[1]);
	close_rig(&rig);
}

/* ---- memory that runs out ---- */

static struct doca_dev *dev;
static struct doca_sha *created;

static doca_error_t create(void)
{
	return doca_sha_create(dev, &created);
}

static void test_create_without_memory(void **state)
{
	dev = api_open("03:00.0");
	/* provokes: doca_sha_create DOCA_ERROR_NO_MEMORY */
	api_fail_each_allocation(create, NULL);
	assert_ok(doca_sha_destroy(created));
	assert_ok(doca_dev_close(dev));
}

static const struct CMUnitTest on_bluefield_2[] = {
	cmocka_unit_test(test_create_without_memory),
	cmocka_unit_test(test_known_messages_have_their_digests),
	cmocka_unit_test(test_messages_in_pieces_have_the_same_digests),
	cmocka_unit_test(test_lists_of_chance_have_the_digest_of_the_whole),
	cmocka_unit_test(test_digest_is_appended_and_the_source_stays),
	cmocka_unit_test(test_partial_hash_keeps_algorithm_and_destination_of_a_message),
	cmocka_unit_test(test_pieces_but_the_last_are_whole_blocks),
	cmocka_unit_test(test_task_in_flight_is_not_changed),
	cmocka_unit_test(test_submission_refuses_what_cannot_work),
	cmocka_unit_test(test_destination_that_may_not_be_written_is_not_permitted),
	cmocka_unit_test(test_configuration_has_its_limits),
	cmocka_unit_test(test_tasks_that_were_not_configured_are_named_so),
	cmocka_unit_test(test_running_context_is_not_configured_or_destroyed),
	cmocka_unit_test(test_context_starts_again),
	cmocka_unit_test(test_nothing_configured_does_not_start),
	cmocka_unit_test(test_capabilities_are_the_cards),
	cmocka_unit_test(test_bad_arguments_are_invalid),
	cmocka_unit_test(test_tasks_of_the_types_are_not_exchanged),
};

static const struct CMUnitTest on_bluefield_3[] = {
	cmocka_unit_test(test_card_without_the_engine_says_so_and_does_not_start),
};

static const struct CMUnitTest on_small_card[] = {
	cmocka_unit_test(test_overrides_of_a_topology_hold),
};

int main(void)
{
	return API_RUN(
		{ .name = "BlueField-2", .topology = ACCEL_BLUEFIELD_2, .side = "dpu", API_WITH(on_bluefield_2) },
		{ .name = "BlueField-3", .side = "dpu", API_WITH(on_bluefield_3) },
		{ .name = "BlueField-3, host", .side = "host", API_WITH(on_bluefield_3) },
		{ .name = "small card", .topology = small_card, .side = "dpu", API_WITH(on_small_card) });
}
