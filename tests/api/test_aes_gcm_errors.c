/* SPDX-License-Identifier: BSD-3-Clause */
/* AES-GCM: capabilities, limits, life, and what is refused.
 *
 * unreachable: doca_aes_gcm_key_create DOCA_ERROR_NOT_SUPPORTED: an engine takes keys of both types, and there is no instance
 *   without an engine
 * unreachable: doca_aes_gcm_key_destroy DOCA_ERROR_DRIVER: no driver has a copy of the key */
#include <string.h>

#include "api_util.h"
#include "gcm_util.h"

static const uint8_t raw_key[32] = { 1, 2, 3 };

static struct gcm_params some_params(struct gcm_rig *rig)
{
	return (struct gcm_params){ .key = gcm_key(rig, raw_key, 32), .iv_bytes = 12, .tag_bytes = 16 };
}

/* ---- what a submission refuses ---- */

static void test_submission_refuses_what_cannot_work(void **state)
{
	static const uint8_t data[256];
	struct gcm_rig rig = gcm_open(), *r = &rig;
	struct gcm_params good = some_params(&rig), bad;
	struct doca_buf *src = accel_src(rig.accel, data, 40), *dst = accel_dst(rig.accel, 200);

	for (enum gcm_kind kind = 0; kind < GCM_NUM_KINDS; kind++) {
		assert_invalid(gcm_run(r, kind, &good, NULL, dst));
		assert_invalid(gcm_run(r, kind, &good, src, NULL));
		assert_invalid(gcm_run(r, kind, &good, accel_src(rig.accel, data, 0), dst));
		assert_invalid(gcm_run(r, kind, &good, accel_src_list(rig.accel, data, 200, 129), dst));
		bad = good;
		bad.key = NULL;
		assert_invalid(gcm_run(r, kind, &bad, src, dst));
		bad = good;
		bad.iv_bytes = 0;
		assert_invalid(gcm_run(r, kind, &bad, src, dst));
		bad = good;
		bad.tag_bytes = 13;
		assert_invalid(gcm_run(r, kind, &bad, src, dst));
		bad = good;
		bad.aad_bytes = kind == GCM_ENCRYPT ? 41 : 25; /* of a source of 40 bytes, tag and all */
		assert_invalid(gcm_run(r, kind, &bad, src, dst));
		bad.aad_bytes = UINT32_MAX;
		assert_invalid(gcm_run(r, kind, &bad, src, dst));
	}
	/* no tag; output that does not fit */
	assert_invalid(gcm_run(r, GCM_DECRYPT, &good, accel_src(rig.accel, data, 15), dst));
	assert_invalid(gcm_run(r, GCM_ENCRYPT, &good, src, accel_dst(rig.accel, 55)));
	assert_invalid(gcm_run(r, GCM_DECRYPT, &good, src, accel_dst(rig.accel, 23)));
	assert_ok(gcm_run(r, GCM_ENCRYPT, &good, src, accel_dst(rig.accel, 56)));
	assert_ok(doca_aes_gcm_key_destroy(good.key));
	assert_invalid(gcm_run(r, GCM_ENCRYPT, &good, src, dst)); /* destroyed */
	gcm_close(&rig);
}

static void test_key_of_another_instance_is_refused(void **state)
{
	struct gcm_rig rig = gcm_open(), other = { .accel = rig.accel };
	struct gcm_params params;

	MUST(doca_aes_gcm_create(rig.accel->dev, &other.gcm));
	params = some_params(&other);
	assert_invalid(gcm_run(&rig, GCM_ENCRYPT, &params, accel_src(rig.accel, "x", 1), accel_dst(rig.accel, 17)));
	assert_ok(doca_aes_gcm_key_destroy(params.key));
	assert_ok(doca_aes_gcm_destroy(other.gcm));
	gcm_close(&rig);
}

static void test_destination_that_may_not_be_written_is_not_permitted(void **state)
{
	static uint8_t memory[4096];
	struct gcm_rig rig = gcm_open();
	struct gcm_params params = some_params(&rig);
	struct doca_mmap *mmap = api_map(rig.accel->dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *dst;

	MUST(doca_buf_inventory_buf_get_by_addr(rig.accel->inventory, mmap, memory, sizeof(memory), &dst));
	assert_doca(gcm_run(&rig, GCM_ENCRYPT, &params, accel_src(rig.accel, "x", 1), dst), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_buf_dec_refcount(dst, NULL));
	MUST(doca_mmap_destroy(mmap));
	assert_ok(doca_aes_gcm_key_destroy(params.key));
	gcm_close(&rig);
}

/* ---- setters and getters ---- */

#define DEFINE_PARAMS_TEST(name, other)                                                                          \
	static void test_##name##_task_has_what_was_set(void **state)                                            \
	{                                                                                                        \
		struct gcm_rig rig = gcm_open();                                                                 \
		struct gcm_params params = some_params(&rig);                                                    \
		struct doca_buf *src = accel_src(rig.accel, raw_key, 32), *dst = accel_dst(rig.accel, 100);      \
		static const uint8_t iv[13] = { 5, 6, 7 };                                                       \
		struct doca_aes_gcm_task_##name *task;                                                           \
		uint32_t len = 99;                                                                               \
                                                                                                                 \
		MUST(doca_aes_gcm_task_##name##_alloc_init(rig.gcm, NULL, NULL, NULL, NULL, 0, 0, 0,             \
							   (union doca_data){ 0 }, &task));                      \
		doca_aes_gcm_task_##name##_set_src(task, src);                                                   \
		doca_aes_gcm_task_##name##_set_dst(task, dst);                                                   \
		doca_aes_gcm_task_##name##_set_key(task, params.key);                                            \
		doca_aes_gcm_task_##name##_set_iv(task, iv, 3);                                                  \
		doca_aes_gcm_task_##name##_set_iv(task, iv, 13);   /* too long: nothing changes */               \
		doca_aes_gcm_task_##name##_set_iv(task, NULL, 12); /* likewise */                                \
		doca_aes_gcm_task_##name##_set_tag_size(task, 12);                                               \
		doca_aes_gcm_task_##name##_set_aad_size(task, 4);                                                \
		for (int round = 0; round < 2; round++) {                                                        \
			assert_ptr_equal(doca_aes_gcm_task_##name##_get_src(task), src);                         \
			assert_ptr_equal(doca_aes_gcm_task_##name##_get_dst(task), dst);                         \
			assert_ptr_equal(doca_aes_gcm_task_##name##_get_key(task), params.key);                  \
			assert_memory_equal(doca_aes_gcm_task_##name##_get_iv(task, &len), iv, 3);               \
			assert_int_equal(len, 3);                                                                \
			assert_int_equal(doca_aes_gcm_task_##name##_get_tag_size(task), 12);                     \
			assert_int_equal(doca_aes_gcm_task_##name##_get_aad_size(task), 4);                      \
			if (round > 0)                                                                           \
				break;                                                                           \
			/* a task in flight is not changed */                                                    \
			assert_ok(doca_task_submit(doca_aes_gcm_task_##name##_as_task(task)));                   \
			doca_aes_gcm_task_##name##_set_src(task, NULL);                                          \
			doca_aes_gcm_task_##name##_set_dst(task, NULL);                                          \
			doca_aes_gcm_task_##name##_set_key(task, NULL);                                          \
			doca_aes_gcm_task_##name##_set_iv(task, raw_key, 12);                                    \
			doca_aes_gcm_task_##name##_set_tag_size(task, 16);                                       \
			doca_aes_gcm_task_##name##_set_aad_size(task, 0);                                        \
		}                                                                                                \
		accel_drain(rig.accel);                                                                          \
		/* a task of one type is none of the other, and NULL is none */                                  \
		assert_null(doca_aes_gcm_task_##other##_as_task((struct doca_aes_gcm_task_##other *)task));      \
		assert_null(doca_aes_gcm_task_##other##_get_iv((struct doca_aes_gcm_task_##other *)task, &len)); \
		assert_int_equal(len, 0);                                                                        \
		assert_null(doca_aes_gcm_task_##name##_as_task(NULL));                                           \
		assert_null(doca_aes_gcm_task_##name##_get_src(NULL));                                           \
		assert_null(doca_aes_gcm_task_##name##_get_dst(NULL));                                           \
		assert_null(doca_aes_gcm_task_##name##_get_key(NULL));                                           \
		assert_int_equal(doca_aes_gcm_task_##name##_get_tag_size(NULL), 0);                              \
		assert_int_equal(doca_aes_gcm_task_##name##_get_aad_size(NULL), 0);                              \
		doca_task_free(doca_aes_gcm_task_##name##_as_task(task));                                        \
		assert_ok(doca_aes_gcm_key_destroy(params.key));                                                 \
		gcm_close(&rig);                                                                                 \
	}

DEFINE_PARAMS_TEST(encrypt, decrypt)
DEFINE_PARAMS_TEST(decrypt, encrypt)

/* ---- configuration and life ---- */

static void on_encrypt(struct doca_aes_gcm_task_encrypt *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void on_decrypt(struct doca_aes_gcm_task_decrypt *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void test_configuration_has_its_limits(void **state)
{
	struct gcm_rig rig = gcm_open_idle();
	uint32_t num;

	assert_doca(doca_ctx_start(rig.ctx), DOCA_ERROR_NOT_CONNECTED);
	/* provokes: doca_aes_gcm_task_encrypt_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_aes_gcm_task_encrypt_set_conf(rig.gcm, NULL, on_encrypt, 1));
	assert_invalid(doca_aes_gcm_task_encrypt_set_conf(NULL, on_encrypt, on_encrypt, 1));
	/* provokes: doca_aes_gcm_task_decrypt_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_aes_gcm_task_decrypt_set_conf(rig.gcm, on_decrypt, NULL, 1));
	assert_invalid(doca_aes_gcm_task_decrypt_set_conf(rig.gcm, on_decrypt, on_decrypt, 0));
	assert_ok(doca_aes_gcm_cap_get_max_num_tasks(rig.gcm, &num));
	assert_int_equal(num, 65536);
	assert_invalid(gcm_set_conf(rig.gcm, GCM_ENCRYPT, num + 1));
	assert_ok(gcm_set_conf(rig.gcm, GCM_ENCRYPT, num - 192));
	assert_invalid(gcm_set_conf(rig.gcm, GCM_DECRYPT, 193)); /* the sum */
	assert_ok(gcm_set_conf(rig.gcm, GCM_DECRYPT, 192));
	gcm_close(&rig);
}

static void test_nothing_configured_does_not_start(void **state)
{
	struct gcm_rig rig = gcm_open_idle();

	MUST(doca_pe_connect_ctx(rig.accel->pe, rig.ctx));
	assert_invalid(doca_ctx_start(rig.ctx));
	gcm_close(&rig);
}

static void assert_no_alloc(struct gcm_rig *rig, doca_error_t expected)
{
	struct gcm_params params = { 0 };
	struct doca_task *task;

	/* provokes: doca_aes_gcm_task_encrypt_alloc_init DOCA_ERROR_NO_MEMORY
	 * provokes: doca_aes_gcm_task_encrypt_alloc_init DOCA_ERROR_BAD_STATE */
	assert_doca(gcm_alloc(rig, GCM_ENCRYPT, &params, NULL, NULL, &task), expected);
	/* provokes: doca_aes_gcm_task_decrypt_alloc_init DOCA_ERROR_NO_MEMORY
	 * provokes: doca_aes_gcm_task_decrypt_alloc_init DOCA_ERROR_BAD_STATE */
	assert_doca(gcm_alloc(rig, GCM_DECRYPT, &params, NULL, NULL, &task), expected);
}

static void test_tasks_are_as_many_as_configured(void **state)
{
	struct gcm_rig rig = gcm_open();
	struct gcm_params params = { 0 };
	struct doca_task *tasks[GCM_NUM_KINDS][GCM_TASKS];

	for (enum gcm_kind kind = 0; kind < GCM_NUM_KINDS; kind++)
		for (int i = 0; i < GCM_TASKS; i++)
			MUST(gcm_alloc(&rig, kind, &params, NULL, NULL, &tasks[kind][i]));
	assert_no_alloc(&rig, DOCA_ERROR_NO_MEMORY);
	/* provokes: doca_aes_gcm_task_encrypt_set_conf DOCA_ERROR_BAD_STATE */
	assert_doca(gcm_set_conf(rig.gcm, GCM_ENCRYPT, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_aes_gcm_task_decrypt_set_conf DOCA_ERROR_BAD_STATE */
	assert_doca(gcm_set_conf(rig.gcm, GCM_DECRYPT, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_aes_gcm_destroy DOCA_ERROR_BAD_STATE */
	assert_doca(doca_aes_gcm_destroy(rig.gcm), DOCA_ERROR_BAD_STATE);
	for (enum gcm_kind kind = 0; kind < GCM_NUM_KINDS; kind++)
		for (int i = 0; i < GCM_TASKS; i++)
			doca_task_free(tasks[kind][i]);
	accel_stop(rig.accel);
	assert_no_alloc(&rig, DOCA_ERROR_BAD_STATE);
	gcm_close(&rig);
}

static void test_instance_with_keys_is_in_use(void **state)
{
	struct gcm_rig rig = gcm_open_idle();
	struct doca_aes_gcm_key *key = gcm_key(&rig, raw_key, 16); /* keys need no running context */

	/* provokes: doca_aes_gcm_destroy DOCA_ERROR_IN_USE */
	assert_doca(doca_aes_gcm_destroy(rig.gcm), DOCA_ERROR_IN_USE);
	assert_ok(doca_aes_gcm_key_destroy(key));
	assert_invalid(doca_aes_gcm_key_destroy(key));
	gcm_close(&rig);
}

/* ---- capabilities and arguments ---- */

static doca_error_t (*const flags[])(const struct doca_devinfo *devinfo) = {
	doca_aes_gcm_cap_task_encrypt_is_supported,         doca_aes_gcm_cap_task_decrypt_is_supported,
	doca_aes_gcm_cap_task_encrypt_is_tag_96_supported,  doca_aes_gcm_cap_task_decrypt_is_tag_96_supported,
	doca_aes_gcm_cap_task_encrypt_is_tag_128_supported, doca_aes_gcm_cap_task_decrypt_is_tag_128_supported,
};

static doca_error_t (*const key_types[])(const struct doca_devinfo *devinfo, enum doca_aes_gcm_key_type type) = {
	doca_aes_gcm_cap_task_encrypt_is_key_type_supported,
	doca_aes_gcm_cap_task_decrypt_is_key_type_supported,
};

static const struct {
	doca_error_t (*get)(const struct doca_devinfo *devinfo, uint32_t *ret);
	uint32_t value; /* of a BlueField-3 */
} numbers[] = {
	{ doca_aes_gcm_cap_task_encrypt_get_max_iv_len, 12 },
	{ doca_aes_gcm_cap_task_decrypt_get_max_iv_len, 12 },
	{ doca_aes_gcm_cap_task_encrypt_get_max_iv_length, 12 },
	{ doca_aes_gcm_cap_task_decrypt_get_max_iv_length, 12 },
	{ doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem, 128 },
	{ doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem, 128 },
};

static doca_error_t (*const sizes[])(const struct doca_devinfo *devinfo, uint64_t *ret) = {
	doca_aes_gcm_cap_task_encrypt_get_max_buf_size,
	doca_aes_gcm_cap_task_decrypt_get_max_buf_size,
};

/* Expect @expected of each capability, of a device. */
static void assert_caps(const struct doca_devinfo *devinfo, doca_error_t expected)
{
	uint64_t size;
	uint32_t num;

	for (size_t i = 0; i < API_COUNT(flags); i++)
		assert_doca(flags[i](devinfo), expected);
	for (size_t i = 0; i < API_COUNT(key_types); i++) {
		assert_doca(key_types[i](devinfo, DOCA_AES_GCM_KEY_128), expected);
		assert_doca(key_types[i](devinfo, DOCA_AES_GCM_KEY_256), expected);
	}
	for (size_t i = 0; i < API_COUNT(numbers); i++) {
		num = 0;
		assert_doca(numbers[i].get(devinfo, &num), expected);
		assert_int_equal(num, expected == DOCA_SUCCESS ? numbers[i].value : 0);
	}
	for (size_t i = 0; i < API_COUNT(sizes); i++) {
		size = 0;
		assert_doca(sizes[i](devinfo, &size), expected);
		assert_int_equal(size, expected == DOCA_SUCCESS ? 2 << 20 : 0);
	}
}

static void test_capabilities_are_the_cards(void **state)
{
	struct gcm_rig rig = gcm_open_idle();

	assert_caps(doca_dev_as_devinfo(rig.accel->dev), DOCA_SUCCESS);
	gcm_close(&rig);
}

static void test_bad_arguments_are_invalid(void **state)
{
	struct gcm_rig rig = gcm_open();
	const union doca_data no_data = { 0 };
	struct doca_aes_gcm_task_encrypt *encrypt;
	struct doca_aes_gcm_task_decrypt *decrypt;
	struct doca_aes_gcm_key *key;
	struct doca_aes_gcm *gcm;

	/* provokes: doca_aes_gcm_create DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_aes_gcm_create(NULL, &gcm));
	assert_invalid(doca_aes_gcm_create(rig.accel->dev, NULL));
	assert_invalid(doca_aes_gcm_destroy(NULL));
	assert_null(doca_aes_gcm_as_ctx(NULL));
	/* provokes: doca_aes_gcm_cap_get_max_num_tasks DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_aes_gcm_cap_get_max_num_tasks(rig.gcm, NULL));
	/* provokes: doca_aes_gcm_key_create DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_aes_gcm_key_create(NULL, raw_key, DOCA_AES_GCM_KEY_128, &key));
	assert_invalid(doca_aes_gcm_key_create(rig.gcm, NULL, DOCA_AES_GCM_KEY_128, &key));
	assert_invalid(doca_aes_gcm_key_create(rig.gcm, raw_key, DOCA_AES_GCM_KEY_128, NULL));
	assert_invalid(doca_aes_gcm_key_create(rig.gcm, raw_key, (enum doca_aes_gcm_key_type)0, &key));
	assert_invalid(doca_aes_gcm_key_create(rig.gcm, raw_key, (enum doca_aes_gcm_key_type)3, &key));
	assert_invalid(doca_aes_gcm_key_destroy(NULL));
	/* provokes: doca_aes_gcm_task_encrypt_alloc_init DOCA_ERROR_INVALID_VALUE */
	assert_invalid(
		doca_aes_gcm_task_encrypt_alloc_init(rig.gcm, NULL, NULL, NULL, NULL, 12, 12, 0, no_data, &encrypt));
	assert_invalid(
		doca_aes_gcm_task_encrypt_alloc_init(rig.gcm, NULL, NULL, NULL, raw_key, 13, 12, 0, no_data, &encrypt));
	assert_invalid(doca_aes_gcm_task_encrypt_alloc_init(rig.gcm, NULL, NULL, NULL, NULL, 0, 12, 0, no_data, NULL));
	/* provokes: doca_aes_gcm_task_decrypt_alloc_init DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_aes_gcm_task_decrypt_alloc_init(NULL, NULL, NULL, NULL, NULL, 0, 12, 0, no_data, &decrypt));
	gcm_close(&rig);
}

static void test_capabilities_need_valid_arguments(void **state)
{
	struct gcm_rig rig = gcm_open_idle();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig.accel->dev);

	/* provokes: doca_aes_gcm_cap_task_encrypt_is_supported DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_encrypt_is_tag_96_supported DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_encrypt_is_tag_128_supported DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_encrypt_is_key_type_supported DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_encrypt_get_max_iv_len DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_encrypt_get_max_buf_size DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_decrypt_is_supported DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_decrypt_is_tag_96_supported DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_decrypt_is_tag_128_supported DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_decrypt_is_key_type_supported DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_decrypt_get_max_iv_len DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem DOCA_ERROR_INVALID_VALUE
	 * provokes: doca_aes_gcm_cap_task_decrypt_get_max_buf_size DOCA_ERROR_INVALID_VALUE */
	assert_caps(NULL, DOCA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < API_COUNT(key_types); i++)
		assert_invalid(key_types[i](devinfo, (enum doca_aes_gcm_key_type)3));
	for (size_t i = 0; i < API_COUNT(numbers); i++)
		assert_invalid(numbers[i].get(devinfo, NULL));
	for (size_t i = 0; i < API_COUNT(sizes); i++)
		assert_invalid(sizes[i](devinfo, NULL));
	gcm_close(&rig);
}

/* ---- cards ---- */

static void test_card_without_the_engine_says_so(void **state)
{
	struct accel *accel = accel_open();
	struct doca_aes_gcm *gcm;

	/* provokes: doca_aes_gcm_create DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_aes_gcm_create(accel->dev, &gcm), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_aes_gcm_cap_task_encrypt_is_supported DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_encrypt_is_tag_96_supported DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_encrypt_is_tag_128_supported DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_encrypt_is_key_type_supported DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_encrypt_get_max_iv_len DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_encrypt_get_max_buf_size DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_decrypt_is_supported DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_decrypt_is_tag_96_supported DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_decrypt_is_tag_128_supported DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_decrypt_is_key_type_supported DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_decrypt_get_max_iv_len DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem DOCA_ERROR_NOT_SUPPORTED
	 * provokes: doca_aes_gcm_cap_task_decrypt_get_max_buf_size DOCA_ERROR_NOT_SUPPORTED */
	assert_caps(doca_dev_as_devinfo(accel->dev), DOCA_ERROR_NOT_SUPPORTED);
	accel_close(accel);
}

static const char small_card[] = ACCEL_CARD_WITH(
	"bluefield-2", "aes-gcm: true, aes-gcm-max-buf-bytes: 128, aes-gcm-max-list-len: 2, aes-gcm-max-tasks: 4");

/* A source that is too large is accepted, as on a card, and fails; the context stops. */
static void test_overrides_of_a_topology_hold(void **state)
{
	static const uint8_t data[200];
	struct gcm_rig rig = gcm_open();
	struct gcm_params params = some_params(&rig);
	struct doca_buf *dst = accel_dst(rig.accel, 300);
	enum doca_ctx_states ctx_state;
	uint8_t out[300];

	assert_invalid(gcm_run(&rig, GCM_ENCRYPT, &params, accel_src_list(rig.accel, data, 128, 3), dst));
	assert_ok(gcm_run(&rig, GCM_ENCRYPT, &params, accel_src_list(rig.accel, data, 128, 2), dst));
	assert_doca(gcm_run(&rig, GCM_ENCRYPT, &params, accel_src(rig.accel, data, 129), dst), DOCA_ERROR_IO_FAILED);
	assert_ok(doca_ctx_get_state(rig.ctx, &ctx_state));
	assert_int_not_equal(ctx_state, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(accel_data(dst, out, sizeof(out)), 144);
	assert_ok(doca_aes_gcm_key_destroy(params.key));
	gcm_close(&rig);
}

/* ---- memory that runs out ---- */

static struct doca_dev *dev;
static struct doca_aes_gcm *created;
static struct doca_aes_gcm_key *created_key;

static doca_error_t create(void)
{
	return doca_aes_gcm_create(dev, &created);
}

static doca_error_t create_key(void)
{
	return doca_aes_gcm_key_create(created, raw_key, DOCA_AES_GCM_KEY_256, &created_key);
}

static void test_create_without_memory(void **state)
{
	dev = api_open("03:00.0");
	assert_ok(doca_aes_gcm_cap_task_encrypt_is_supported(doca_dev_as_devinfo(dev))); /* loads libcrypto */
	/* provokes: doca_aes_gcm_create DOCA_ERROR_NO_MEMORY */
	api_fail_each_allocation(create, NULL);
	api_fail_each_allocation(create_key, NULL);
	assert_ok(doca_aes_gcm_key_destroy(created_key));
	assert_ok(doca_aes_gcm_destroy(created));
	assert_ok(doca_dev_close(dev));
}

static const struct CMUnitTest on_bluefield_3[] = {
	cmocka_unit_test(test_create_without_memory),
	cmocka_unit_test(test_submission_refuses_what_cannot_work),
	cmocka_unit_test(test_key_of_another_instance_is_refused),
	cmocka_unit_test(test_destination_that_may_not_be_written_is_not_permitted),
	cmocka_unit_test(test_encrypt_task_has_what_was_set),
	cmocka_unit_test(test_decrypt_task_has_what_was_set),
	cmocka_unit_test(test_configuration_has_its_limits),
	cmocka_unit_test(test_nothing_configured_does_not_start),
	cmocka_unit_test(test_tasks_are_as_many_as_configured),
	cmocka_unit_test(test_instance_with_keys_is_in_use),
	cmocka_unit_test(test_capabilities_are_the_cards),
	cmocka_unit_test(test_bad_arguments_are_invalid),
	cmocka_unit_test(test_capabilities_need_valid_arguments),
};

static const struct CMUnitTest on_host[] = {
	cmocka_unit_test(test_capabilities_are_the_cards),
};

static const struct CMUnitTest on_bluefield_2[] = {
	cmocka_unit_test(test_card_without_the_engine_says_so),
};

static const struct CMUnitTest on_small_card[] = {
	cmocka_unit_test(test_overrides_of_a_topology_hold),
};

int main(void)
{
	return API_RUN(
		{ .name = "BlueField-3", .side = "dpu", API_WITH(on_bluefield_3) },
		{ .name = "BlueField-3, host", .side = "host", API_WITH(on_host) },
		{ .name = "BlueField-2", .topology = ACCEL_BLUEFIELD_2, .side = "dpu", API_WITH(on_bluefield_2) },
		{ .name = "small card", .topology = small_card, .side = "dpu", API_WITH(on_small_card) });
}
