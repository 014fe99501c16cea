/* SPDX-License-Identifier: BSD-3-Clause */
/* Erasure coding: capabilities, limits, life, and what is refused. */
#include <string.h>

#include "api_util.h"
#include "ec_util.h"

#define BLOCK 64

/* ---- what a submission refuses ---- */

static const enum ec_kind kinds[] = { EC_MUL, EC_CREATE, EC_UPDATE, EC_RECOVER };

static void test_submission_refuses_what_cannot_work(void **state)
{
	static const uint8_t data[129 * 128];
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 2);
	struct doca_buf *src = accel_src(rig.accel, data, (size_t)2 * BLOCK);
	struct doca_buf *dst = accel_dst(rig.accel, (size_t)2 * BLOCK);

	for (size_t i = 0; i < API_COUNT(kinds); i++) {
		assert_invalid(ec_run(&rig, kinds[i], NULL, src, dst));
		assert_invalid(ec_run(&rig, kinds[i], matrix, NULL, dst));
		assert_invalid(ec_run(&rig, kinds[i], matrix, src, NULL));
		assert_invalid(ec_run(&rig, kinds[i], matrix, accel_src(rig.accel, data, 0), dst));
		/* no two blocks; blocks of 65 and of 32 bytes */
		assert_invalid(ec_run(&rig, kinds[i], matrix, accel_src(rig.accel, data, 129), dst));
		assert_invalid(ec_run(&rig, kinds[i], matrix, accel_src(rig.accel, data, 130), dst));
		assert_invalid(ec_run(&rig, kinds[i], matrix, accel_src(rig.accel, data, 64), dst));
		/* the output does not fit */
		assert_invalid(ec_run(&rig, kinds[i], matrix, src, accel_dst(rig.accel, (size_t)2 * BLOCK - 1)));
		/* more elements than the card's lists have */
		assert_invalid(ec_run(&rig, kinds[i], matrix, accel_src_list(rig.accel, data, sizeof(data), 129),
				      accel_dst(rig.accel, sizeof(data))));
	}
	assert_ok(doca_ec_matrix_destroy(matrix));
	assert_ok(ec_run(&rig, EC_CREATE, matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 2), src, dst));
	assert_ok(doca_ec_matrix_destroy(matrix));
	assert_invalid(ec_run(&rig, EC_CREATE, matrix, src, dst)); /* destroyed */
	ec_close(&rig);
}

static void test_destination_that_may_not_be_written_is_not_permitted(void **state)
{
	static uint8_t memory[4096];
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1);
	struct doca_mmap *mmap = api_map(rig.accel->dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *dst;

	MUST(doca_buf_inventory_buf_get_by_addr(rig.accel->inventory, mmap, memory, sizeof(memory), &dst));
	assert_doca(ec_run(&rig, EC_CREATE, matrix, accel_src(rig.accel, memory, BLOCK), dst),
		    DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_buf_dec_refcount(dst, NULL));
	MUST(doca_mmap_destroy(mmap));
	assert_ok(doca_ec_matrix_destroy(matrix));
	ec_close(&rig);
}

static void test_task_in_flight_is_not_changed(void **state)
{
	static const uint8_t data[BLOCK];
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1);
	struct doca_buf *src = accel_src(rig.accel, data, BLOCK), *dst = accel_dst(rig.accel, (size_t)2 * BLOCK);
	struct doca_ec_task_create *task;

	MUST(doca_ec_task_create_allocate_init(rig.ec, matrix, src, dst, (union doca_data){ 0 }, &task));
	assert_ok(doca_task_submit(doca_ec_task_create_as_task(task)));
	doca_ec_task_create_set_coding_matrix(task, NULL);
	doca_ec_task_create_set_original_data_blocks(task, NULL);
	doca_ec_task_create_set_rdnc_blocks(task, NULL);
	assert_ptr_equal(doca_ec_task_create_get_coding_matrix(task), matrix);
	assert_ptr_equal(doca_ec_task_create_get_original_data_blocks(task), src);
	assert_ptr_equal(doca_ec_task_create_get_rdnc_blocks(task), dst);
	accel_drain(rig.accel);
	doca_ec_task_create_set_coding_matrix(task, NULL);
	assert_null(doca_ec_task_create_get_coding_matrix(task));
	doca_task_free(doca_ec_task_create_as_task(task));
	assert_ok(doca_ec_matrix_destroy(matrix));
	ec_close(&rig);
}

/* ---- setters and getters of the types ---- */

static void test_tasks_have_what_was_set(void **state)
{
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1);
	struct doca_buf *src = accel_src(rig.accel, "x", 1), *dst = accel_dst(rig.accel, 1);
	struct doca_ec_task_galois_mul *mul;
	struct doca_ec_task_update *update;
	struct doca_ec_task_recover *recover;

	MUST(doca_ec_task_galois_mul_allocate_init(rig.ec, NULL, NULL, NULL, (union doca_data){ 0 }, &mul));
	doca_ec_task_galois_mul_set_coding_matrix(mul, matrix);
	doca_ec_task_galois_mul_set_src_buf(mul, src);
	doca_ec_task_galois_mul_set_dst_buf(mul, dst);
	assert_ptr_equal(doca_ec_task_galois_mul_get_coding_matrix(mul), matrix);
	assert_ptr_equal(doca_ec_task_galois_mul_get_src_buf(mul), src);
	assert_ptr_equal(doca_ec_task_galois_mul_get_dst_buf(mul), dst);
	MUST(doca_ec_task_update_allocate_init(rig.ec, NULL, NULL, NULL, (union doca_data){ 0 }, &update));
	doca_ec_task_update_set_update_matrix(update, matrix);
	doca_ec_task_update_set_original_updated_and_rdnc_blocks(update, src);
	doca_ec_task_update_set_updated_rdnc_blocks(update, dst);
	assert_ptr_equal(doca_ec_task_update_get_update_matrix(update), matrix);
	assert_ptr_equal(doca_ec_task_update_get_original_updated_and_rdnc_blocks(update), src);
	assert_ptr_equal(doca_ec_task_update_get_updated_rdnc_blocks(update), dst);
	MUST(doca_ec_task_recover_allocate_init(rig.ec, NULL, NULL, NULL, (union doca_data){ 0 }, &recover));
	doca_ec_task_recover_set_recover_matrix(recover, matrix);
	doca_ec_task_recover_set_available_blocks(recover, src);
	doca_ec_task_recover_set_recovered_data_blocks(recover, dst);
	assert_ptr_equal(doca_ec_task_recover_get_recover_matrix(recover), matrix);
	assert_ptr_equal(doca_ec_task_recover_get_available_blocks(recover), src);
	assert_ptr_equal(doca_ec_task_recover_get_recovered_data(recover), dst);
	/* a task of one type is none of another, and NULL is none */
	assert_null(doca_ec_task_create_as_task((struct doca_ec_task_create *)recover));
	assert_null(doca_ec_task_create_get_coding_matrix((struct doca_ec_task_create *)recover));
	assert_null(doca_ec_task_create_get_rdnc_blocks(NULL));
	assert_null(doca_ec_task_update_as_task(NULL));
	doca_task_free(doca_ec_task_galois_mul_as_task(mul));
	doca_task_free(doca_ec_task_update_as_task(update));
	doca_task_free(doca_ec_task_recover_as_task(recover));
	assert_ok(doca_ec_matrix_destroy(matrix));
	ec_close(&rig);
}

/* ---- matrices ---- */

static void test_matrices_need_valid_arguments(void **state)
{
	uint32_t twice[] = { 1, 1 }, large[] = { 5 }, three[] = { 0, 1, 2 }, one[] = { 0 };
	struct ec_rig rig = ec_open_idle(); /* matrices need no running context */
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2), *other, *recover;
	uint8_t raw[4] = { 0 };

	/* provokes: doca_ec_matrix_create DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_matrix_create(NULL, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1, &other));
	assert_invalid(doca_ec_matrix_create(rig.ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1, NULL));
	assert_invalid(doca_ec_matrix_create(rig.ec, (enum doca_ec_matrix_type)3, 1, 1, &other));
	assert_invalid(doca_ec_matrix_create(rig.ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 0, 1, &other));
	assert_invalid(doca_ec_matrix_create(rig.ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 0, &other));
	assert_invalid(doca_ec_matrix_create(rig.ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 129, 1, &other));
	assert_invalid(doca_ec_matrix_create(rig.ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 33, &other));
	/* provokes: doca_ec_matrix_create_from_raw DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_matrix_create_from_raw(rig.ec, NULL, 1, 1, &other));
	assert_invalid(doca_ec_matrix_create_from_raw(rig.ec, raw, 0, 1, &other));
	assert_invalid(doca_ec_matrix_create_from_raw(NULL, raw, 1, 1, &other));
	/* provokes: doca_ec_matrix_create_recover DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_matrix_create_recover(rig.ec, NULL, one, 1, &other));
	assert_invalid(doca_ec_matrix_create_recover(rig.ec, matrix, NULL, 1, &other));
	assert_invalid(doca_ec_matrix_create_recover(rig.ec, matrix, one, 0, &other));
	assert_invalid(doca_ec_matrix_create_recover(rig.ec, matrix, three, 3, &other)); /* of two redundancy blocks */
	assert_invalid(doca_ec_matrix_create_recover(rig.ec, matrix, twice, 2, &other));
	assert_invalid(doca_ec_matrix_create_recover(rig.ec, matrix, large, 1, &other));
	/* provokes: doca_ec_matrix_create_update DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_matrix_create_update(rig.ec, matrix, twice, 2, &other));
	assert_invalid(doca_ec_matrix_create_update(rig.ec, matrix, (uint32_t[]){ 3 }, 1, &other));
	assert_invalid(doca_ec_matrix_create_update(rig.ec, NULL, one, 1, &other));
	assert_ok(doca_ec_matrix_create_update(rig.ec, matrix, three, 3, &other));
	/* a matrix of a matrix that was made of another one */
	assert_ok(doca_ec_matrix_create_recover(rig.ec, matrix, one, 1, &recover));
	assert_invalid(doca_ec_matrix_create_recover(rig.ec, recover, one, 1, &other));
	assert_invalid(doca_ec_matrix_create_update(rig.ec, other, one, 1, &recover));
	assert_ok(doca_ec_matrix_destroy(recover));
	assert_ok(doca_ec_matrix_destroy(other));
	assert_ok(doca_ec_matrix_destroy(matrix));
	/* provokes: doca_ec_matrix_destroy DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_matrix_destroy(matrix));
	assert_invalid(doca_ec_matrix_destroy(NULL));
	ec_close(&rig);
}

/* A zero matrix recovers nothing: what is left does not determine the missing block. */
static void test_matrix_that_cannot_recover_is_invalid(void **state)
{
	struct ec_rig rig = ec_open_idle();
	struct doca_ec_matrix *matrix, *recover;
	uint32_t missing = 1;
	uint8_t raw[2] = { 1, 0 };

	assert_ok(doca_ec_matrix_create_from_raw(rig.ec, raw, 2, 1, &matrix));
	assert_invalid(doca_ec_matrix_create_recover(rig.ec, matrix, &missing, 1, &recover));
	missing = 0;
	assert_ok(doca_ec_matrix_create_recover(rig.ec, matrix, &missing, 1, &recover));
	assert_ok(doca_ec_matrix_destroy(recover));
	assert_ok(doca_ec_matrix_destroy(matrix));
	ec_close(&rig);
}

/* ---- configuration and life ---- */

static void on_mul(struct doca_ec_task_galois_mul *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void on_create(struct doca_ec_task_create *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void on_update(struct doca_ec_task_update *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void on_recover(struct doca_ec_task_recover *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void test_configuration_has_its_limits(void **state)
{
	struct ec_rig rig = ec_open_idle();

	assert_doca(doca_ctx_start(rig.ctx), DOCA_ERROR_NOT_CONNECTED);
	/* provokes: doca_ec_task_galois_mul_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_task_galois_mul_set_conf(rig.ec, NULL, on_mul, 1));
	/* provokes: doca_ec_task_create_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_task_create_set_conf(rig.ec, on_create, NULL, 1));
	/* provokes: doca_ec_task_update_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_task_update_set_conf(NULL, on_update, on_update, 1));
	/* provokes: doca_ec_task_recover_set_conf DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_task_recover_set_conf(rig.ec, on_recover, on_recover, 0));
	assert_invalid(ec_set_conf(rig.ec, EC_CREATE, 8193));
	assert_ok(ec_set_conf(rig.ec, EC_CREATE, 8000));
	assert_invalid(ec_set_conf(rig.ec, EC_RECOVER, 193)); /* the sum */
	assert_ok(ec_set_conf(rig.ec, EC_RECOVER, 192));
	ec_close(&rig);
}

static void test_nothing_configured_does_not_start(void **state)
{
	struct ec_rig rig = ec_open_idle();

	MUST(doca_pe_connect_ctx(rig.accel->pe, rig.ctx));
	assert_invalid(doca_ctx_start(rig.ctx));
	ec_close(&rig);
}

static void assert_no_alloc(struct ec_rig *rig, doca_error_t expected)
{
	struct doca_ec_task_galois_mul *mul;
	struct doca_ec_task_create *create;
	struct doca_ec_task_update *update;
	struct doca_ec_task_recover *recover;
	const union doca_data no_data = { 0 };

	/* provokes: doca_ec_task_galois_mul_allocate_init DOCA_ERROR_NO_MEMORY */
	assert_doca(doca_ec_task_galois_mul_allocate_init(rig->ec, NULL, NULL, NULL, no_data, &mul), expected);
	/* provokes: doca_ec_task_create_allocate_init DOCA_ERROR_NO_MEMORY */
	assert_doca(doca_ec_task_create_allocate_init(rig->ec, NULL, NULL, NULL, no_data, &create), expected);
	/* provokes: doca_ec_task_update_allocate_init DOCA_ERROR_NO_MEMORY */
	assert_doca(doca_ec_task_update_allocate_init(rig->ec, NULL, NULL, NULL, no_data, &update), expected);
	/* provokes: doca_ec_task_recover_allocate_init DOCA_ERROR_NO_MEMORY */
	assert_doca(doca_ec_task_recover_allocate_init(rig->ec, NULL, NULL, NULL, no_data, &recover), expected);
}

static void test_tasks_are_as_many_as_configured(void **state)
{
	struct ec_rig rig = ec_open();
	struct doca_task *tasks[EC_NUM_KINDS][EC_TASKS];

	for (size_t i = 0; i < API_COUNT(kinds); i++)
		for (int j = 0; j < EC_TASKS; j++)
			MUST(ec_alloc(&rig, kinds[i], NULL, NULL, NULL, &tasks[i][j]));
	assert_no_alloc(&rig, DOCA_ERROR_NO_MEMORY);
	assert_doca(ec_set_conf(rig.ec, EC_CREATE, 1), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_ec_destroy DOCA_ERROR_BAD_STATE */
	assert_doca(doca_ec_destroy(rig.ec), DOCA_ERROR_BAD_STATE);
	for (size_t i = 0; i < API_COUNT(kinds); i++)
		for (int j = 0; j < EC_TASKS; j++)
			doca_task_free(tasks[i][j]);
	accel_stop(rig.accel);
	assert_no_alloc(&rig, DOCA_ERROR_BAD_STATE);
	ec_close(&rig);
}

/* ---- capabilities ---- */

static void test_capabilities_are_the_cards(void **state)
{
	struct ec_rig rig = ec_open_idle();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig.accel->dev);
	uint64_t size;
	uint32_t num;

	assert_ok(doca_ec_cap_get_max_block_size(devinfo, &size));
	assert_int_equal(size, 1 << 20);
	assert_ok(doca_ec_cap_get_max_buf_list_len(devinfo, &num));
	assert_int_equal(num, 128);
	assert_ok(doca_ec_cap_task_galois_mul_is_supported(devinfo));
	assert_ok(doca_ec_cap_task_create_is_supported(devinfo));
	assert_ok(doca_ec_cap_task_update_is_supported(devinfo));
	assert_ok(doca_ec_cap_task_recover_is_supported(devinfo));
	ec_close(&rig);
}

static void test_bad_arguments_are_invalid(void **state)
{
	struct ec_rig rig = ec_open();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig.accel->dev);
	const union doca_data no_data = { 0 };
	struct doca_ec_task_create *create;
	struct doca_ec *ec;
	uint64_t size;

	/* provokes: doca_ec_create DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_create(NULL, &ec));
	assert_invalid(doca_ec_create(rig.accel->dev, NULL));
	assert_invalid(doca_ec_destroy(NULL));
	assert_null(doca_ec_as_ctx(NULL));
	/* provokes: doca_ec_cap_get_max_block_size DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_cap_get_max_block_size(devinfo, NULL));
	assert_invalid(doca_ec_cap_get_max_block_size(NULL, &size));
	/* provokes: doca_ec_cap_get_max_buf_list_len DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_cap_get_max_buf_list_len(devinfo, NULL));
	/* provokes: doca_ec_cap_task_galois_mul_is_supported DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_cap_task_galois_mul_is_supported(NULL));
	/* provokes: doca_ec_cap_task_create_is_supported DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_cap_task_create_is_supported(NULL));
	/* provokes: doca_ec_cap_task_update_is_supported DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_cap_task_update_is_supported(NULL));
	/* provokes: doca_ec_cap_task_recover_is_supported DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_cap_task_recover_is_supported(NULL));
	/* provokes: doca_ec_task_galois_mul_allocate_init DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_task_galois_mul_allocate_init(rig.ec, NULL, NULL, NULL, no_data, NULL));
	/* provokes: doca_ec_task_create_allocate_init DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_task_create_allocate_init(NULL, NULL, NULL, NULL, no_data, &create));
	/* provokes: doca_ec_task_update_allocate_init DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_task_update_allocate_init(rig.ec, NULL, NULL, NULL, no_data, NULL));
	/* provokes: doca_ec_task_recover_allocate_init DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ec_task_recover_allocate_init(rig.ec, NULL, NULL, NULL, no_data, NULL));
	ec_close(&rig);
}

/* ---- cards ---- */

static void test_card_without_the_engine_says_so_and_does_not_start(void **state)
{
	struct ec_rig rig = ec_open_idle();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig.accel->dev);
	uint64_t size;
	uint32_t num;

	/* provokes: doca_ec_cap_get_max_block_size DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_ec_cap_get_max_block_size(devinfo, &size), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_ec_cap_get_max_buf_list_len(devinfo, &num), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_ec_cap_task_galois_mul_is_supported DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_ec_cap_task_galois_mul_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_ec_cap_task_create_is_supported DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_ec_cap_task_create_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_ec_cap_task_update_is_supported DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_ec_cap_task_update_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_ec_cap_task_recover_is_supported DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_ec_cap_task_recover_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(ec_set_conf(rig.ec, EC_CREATE, 1)); /* of no task */
	ec_close(&rig);
}

static const char small_card[] =
	ACCEL_CARD_WITH("bluefield-2", "erasure-coding: true, erasure-coding-max-buf-bytes: 128, "
				       "erasure-coding-max-list-len: 2, erasure-coding-max-tasks: 8");

/* The limit is of a block. One that is too large is accepted, as on a card, and fails; the context stops. */
static void test_overrides_of_a_topology_hold(void **state)
{
	static const uint8_t data[2 * 192];
	uint8_t out[384];
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	struct doca_buf *dst = accel_dst(rig.accel, 384);
	enum doca_ctx_states ctx_state;

	assert_invalid(ec_run(&rig, EC_CREATE, matrix, accel_src_list(rig.accel, data, 256, 3), dst));
	assert_ok(ec_run(&rig, EC_CREATE, matrix, accel_src_list(rig.accel, data, 256, 2), dst));
	assert_int_equal(accel_data(dst, out, sizeof(out)), 128);
	assert_doca(ec_run(&rig, EC_CREATE, matrix, accel_src(rig.accel, data, 384), dst), DOCA_ERROR_IO_FAILED);
	assert_ok(doca_ctx_get_state(rig.ctx, &ctx_state));
	assert_int_not_equal(ctx_state, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(accel_data(dst, out, sizeof(out)), 128);
	assert_ok(doca_ec_matrix_destroy(matrix));
	ec_close(&rig);
}

/* ---- memory that runs out ---- */

static struct doca_dev *dev;
static struct doca_ec *created;
static struct doca_ec_matrix *created_matrix;

static doca_error_t create(void)
{
	return doca_ec_create(dev, &created);
}

static doca_error_t create_matrix(void)
{
	return doca_ec_matrix_create(created, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1, &created_matrix);
}

static void test_create_without_memory(void **state)
{
	dev = api_open("03:00.0");
	/* provokes: doca_ec_create DOCA_ERROR_NO_MEMORY */
	api_fail_each_allocation(create, NULL);
	assert_ok(doca_ec_matrix_create(created, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1, &created_matrix)); /* loads ISA-L */
	assert_ok(doca_ec_matrix_destroy(created_matrix));
	api_fail_each_allocation(create_matrix, NULL);
	assert_ok(doca_ec_matrix_destroy(created_matrix));
	assert_ok(doca_ec_destroy(created));
	assert_ok(doca_dev_close(dev));
}

static const struct CMUnitTest on_bluefield_3[] = {
	cmocka_unit_test(test_create_without_memory),
	cmocka_unit_test(test_submission_refuses_what_cannot_work),
	cmocka_unit_test(test_destination_that_may_not_be_written_is_not_permitted),
	cmocka_unit_test(test_task_in_flight_is_not_changed),
	cmocka_unit_test(test_tasks_have_what_was_set),
	cmocka_unit_test(test_matrices_need_valid_arguments),
	cmocka_unit_test(test_matrix_that_cannot_recover_is_invalid),
	cmocka_unit_test(test_configuration_has_its_limits),
	cmocka_unit_test(test_nothing_configured_does_not_start),
	cmocka_unit_test(test_tasks_are_as_many_as_configured),
	cmocka_unit_test(test_capabilities_are_the_cards),
	cmocka_unit_test(test_bad_arguments_are_invalid),
};

static const struct CMUnitTest on_host[] = {
	cmocka_unit_test(test_capabilities_are_the_cards),
};

static const struct CMUnitTest on_bluefield_2[] = {
	cmocka_unit_test(test_card_without_the_engine_says_so_and_does_not_start),
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
