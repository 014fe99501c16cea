/* SPDX-License-Identifier: BSD-3-Clause */
/* Erasure coding: known matrices, each loss of small codes, updates, lists. */
#include <string.h>

#include "api_util.h"
#include "ec_util.h"

#define BLOCK 64

/* Blocks of a code: data, then redundancy. */
static uint8_t blocks[160 * BLOCK];

static void fill(struct accel *accel, uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)accel_random(accel, 256);
}

/* Create @rdnc redundancy blocks behind the @data data blocks of the array. */
static void create(struct ec_rig *rig, const struct doca_ec_matrix *matrix, size_t data, size_t rdnc, uint8_t *array)
{
	struct doca_buf *dst = accel_dst(rig->accel, rdnc * BLOCK);

	assert_ok(ec_run(rig, EC_CREATE, matrix, accel_src(rig->accel, array, data * BLOCK), dst));
	assert_int_equal(accel_data(dst, array + data * BLOCK, rdnc * BLOCK), rdnc * BLOCK);
	assert_true(accel_rest_is_untouched(rig->accel));
}

/* ---- matrices ---- */

/* Get the coefficients of data block @data: redundancy of data that is 1 there and 0 elsewhere. */
static void get_column(struct ec_rig *rig, const struct doca_ec_matrix *matrix, size_t num_data, size_t num_rdnc,
		       size_t data, uint8_t *ret_column)
{
	memset(blocks, 0, sizeof(blocks));
	memset(blocks + data * BLOCK, 1, BLOCK);
	create(rig, matrix, num_data, num_rdnc, blocks);
	for (size_t j = 0; j < num_rdnc; j++)
		ret_column[j] = blocks[(num_data + j) * BLOCK];
	accel_reset(rig->accel);
}

static const struct {
	enum doca_ec_matrix_type type;
	size_t data, rdnc;
	uint8_t rows[3][3]; /* of redundancy */
} vectors[] = {
	{ DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1, { { 142, 244 } } },
	{ DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2, { { 244, 142, 1 }, { 71, 167, 122 } } },
	{ DOCA_EC_MATRIX_TYPE_VANDERMONDE, 3, 3, { { 1, 1, 1 }, { 1, 2, 3 }, { 1, 4, 5 } } },
	{ DOCA_EC_MATRIX_TYPE_VANDERMONDE, 2, 1, { { 1, 1 } } },
};

static void test_matrices_are_the_references(void **state)
{
	struct ec_rig rig = ec_open();

	for (size_t v = 0; v < API_COUNT(vectors); v++) {
		struct doca_ec_matrix *matrix = ec_matrix(&rig, vectors[v].type, vectors[v].data, vectors[v].rdnc);

		for (size_t i = 0; i < vectors[v].data; i++) {
			uint8_t column[3];

			get_column(&rig, matrix, vectors[v].data, vectors[v].rdnc, i, column);
			for (size_t j = 0; j < vectors[v].rdnc; j++)
				assert_int_equal(column[j], vectors[v].rows[j][i]);
		}
		assert_ok(doca_ec_matrix_destroy(matrix));
	}
	ec_close(&rig);
}

/* Each coefficient by the formula of the reference, in a field that the test computes itself. */
static void test_large_matrices_follow_the_formula(void **state)
{
	static const struct {
		size_t data, rdnc;
	} sizes[] = { { 1, 1 }, { 10, 4 }, { 6, 3 }, { 128, 32 } };
	struct ec_rig rig = ec_open();

	for (enum doca_ec_matrix_type type = 1; type <= DOCA_EC_MATRIX_TYPE_VANDERMONDE; type++) {
		for (size_t s = 0; s < API_COUNT(sizes); s++) {
			struct doca_ec_matrix *matrix = ec_matrix(&rig, type, sizes[s].data, sizes[s].rdnc);

			for (size_t i = 0; i < sizes[s].data; i++) {
				uint8_t column[32];

				get_column(&rig, matrix, sizes[s].data, sizes[s].rdnc, i, column);
				for (size_t j = 0; j < sizes[s].rdnc; j++)
					assert_int_equal(column[j], ec_coefficient(type, sizes[s].data, i, j));
			}
			assert_ok(doca_ec_matrix_destroy(matrix));
		}
	}
	ec_close(&rig);
}

/* A matrix of the program: the numbers of a data block stand together. */
static void test_raw_matrix_has_a_row_for_each_data_block(void **state)
{
	uint8_t raw[] = { 1, 2, 3, 4, 5, 6 }, column[2];
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix;

	assert_ok(doca_ec_matrix_create_from_raw(rig.ec, raw, 3, 2, &matrix));
	memset(raw, 0, sizeof(raw)); /* it was copied */
	for (uint8_t i = 0; i < 3; i++) {
		get_column(&rig, matrix, 3, 2, i, column);
		assert_int_equal(column[0], 2 * i + 1);
		assert_int_equal(column[1], 2 * i + 2);
	}
	assert_ok(doca_ec_matrix_destroy(matrix));
	ec_close(&rig);
}

/* All products of the field, as 256 blocks whose bytes are all numbers. */
static void test_products_are_the_fields(void **state)
{
	struct ec_rig rig = ec_open();
	uint8_t numbers[256], products[256];

	for (size_t i = 0; i < sizeof(numbers); i++)
		numbers[i] = (uint8_t)i;
	for (unsigned int a = 0; a < 256; a++) {
		struct doca_buf *dst = accel_dst(rig.accel, sizeof(products));
		uint8_t raw = (uint8_t)a;
		struct doca_ec_matrix *matrix;

		assert_ok(doca_ec_matrix_create_from_raw(rig.ec, &raw, 1, 1, &matrix));
		assert_ok(ec_run(&rig, EC_MUL, matrix, accel_src(rig.accel, numbers, sizeof(numbers)), dst));
		assert_int_equal(accel_data(dst, products, sizeof(products)), sizeof(products));
		for (size_t b = 0; b < sizeof(numbers); b++)
			assert_int_equal(products[b], ec_mul(raw, numbers[b]));
		assert_ok(doca_ec_matrix_destroy(matrix));
		accel_reset(rig.accel);
	}
	ec_close(&rig);
}

/* ---- losses ---- */

/* The first blocks that are left, as one source. */
static struct doca_buf *left_blocks(struct ec_rig *rig, size_t data, uint32_t lost)
{
	static uint8_t left[8 * BLOCK];
	size_t num = 0;

	for (size_t i = 0; num < data; i++)
		if (!(lost >> i & 1))
			memcpy(left + num++ * BLOCK, blocks + i * BLOCK, BLOCK);
	return accel_src_list(rig->accel, left, data * BLOCK, 1 + accel_random(rig->accel, 4));
}

/* Recover the blocks of the bits of @lost. Returns whether the matrix can. */
static bool recover(struct ec_rig *rig, const struct doca_ec_matrix *matrix, size_t data, uint32_t lost)
{
	uint32_t missing[8];
	size_t num = 0;
	uint8_t recovered[8 * BLOCK];
	struct doca_ec_matrix *recover;
	struct doca_buf *dst;

	for (uint32_t i = 0; lost >> i; i++)
		if (lost >> i & 1)
			missing[num++] = i;
	if (doca_ec_matrix_create_recover(rig->ec, matrix, missing, num, &recover) != DOCA_SUCCESS)
		return false;
	dst = accel_dst_list(rig->accel, num * BLOCK, 1 + accel_random(rig->accel, 4));
	assert_ok(ec_run(rig, EC_RECOVER, recover, left_blocks(rig, data, lost), dst));
	assert_int_equal(accel_data(dst, recovered, sizeof(recovered)), num * BLOCK);
	for (size_t i = 0; i < num; i++)
		assert_memory_equal(recovered + i * BLOCK, blocks + missing[i] * BLOCK, BLOCK);
	assert_true(accel_rest_is_untouched(rig->accel));
	assert_ok(doca_ec_matrix_destroy(recover));
	accel_reset(rig->accel);
	return true;
}

/* Try each loss of 1 to @rdnc blocks. Returns how many the matrix can't recover. */
static size_t lose_everything(struct ec_rig *rig, enum doca_ec_matrix_type type, size_t data, size_t rdnc)
{
	struct doca_ec_matrix *matrix = ec_matrix(rig, type, data, rdnc);
	size_t num_lost_for_good = 0;

	fill(rig->accel, blocks, data * BLOCK);
	create(rig, matrix, data, rdnc, blocks);
	accel_reset(rig->accel);
	for (uint32_t lost = 1; lost < UINT32_C(1) << (data + rdnc); lost++)
		if ((size_t)__builtin_popcount(lost) <= rdnc)
			num_lost_for_good += !recover(rig, matrix, data, lost);
	assert_ok(doca_ec_matrix_destroy(matrix));
	return num_lost_for_good;
}

static void test_each_loss_of_small_codes_is_recovered(void **state)
{
	struct ec_rig rig = ec_open();

	for (size_t data = 1; data <= 5; data++)
		for (size_t rdnc = 1; rdnc <= 3; rdnc++) {
			assert_int_equal(lose_everything(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, data, rdnc), 0);
			if (rdnc < 3) /* with three, some losses of redundancy and data go together */
				assert_int_equal(lose_everything(&rig, DOCA_EC_MATRIX_TYPE_VANDERMONDE, data, rdnc), 0);
		}
	ec_close(&rig);
}

/* 3 data and 4 redundancy blocks are the smallest such code whose Vandermonde matrix fails; the Cauchy matrix does not. */
static void test_vandermonde_does_not_recover_everything(void **state)
{
	struct ec_rig rig = ec_open();

	assert_int_equal(lose_everything(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 4), 0);
	assert_true(lose_everything(&rig, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 3, 4) > 0);
	ec_close(&rig);
}

/* Output is in the order of the indices. */
static void test_missing_blocks_come_in_the_order_of_their_indices(void **state)
{
	uint32_t missing[] = { 4, 1 };
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2), *recover;
	struct doca_buf *dst = accel_dst(rig.accel, 2 * BLOCK);
	uint8_t recovered[2 * BLOCK];

	fill(rig.accel, blocks, 3 * BLOCK);
	create(&rig, matrix, 3, 2, blocks);
	assert_ok(doca_ec_matrix_create_recover(rig.ec, matrix, missing, 2, &recover));
	assert_ok(ec_run(&rig, EC_RECOVER, recover, left_blocks(&rig, 3, 1 << 4 | 1 << 1), dst));
	assert_int_equal(accel_data(dst, recovered, sizeof(recovered)), sizeof(recovered));
	assert_memory_equal(recovered, blocks + (size_t)4 * BLOCK, BLOCK);
	assert_memory_equal(recovered + BLOCK, blocks + BLOCK, BLOCK);
	assert_ok(doca_ec_matrix_destroy(recover));
	assert_ok(doca_ec_matrix_destroy(matrix));
	ec_close(&rig);
}

/* An application of the vendor hands the coding matrix to a recover task: of 2 + 1 blocks by Vandermonde it is XOR. */
static void test_recover_task_multiplies_any_matrix(void **state)
{
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 2, 1);
	struct doca_buf *dst = accel_dst(rig.accel, BLOCK);
	uint8_t recovered[BLOCK];

	fill(rig.accel, blocks, (size_t)2 * BLOCK);
	create(&rig, matrix, 2, 1, blocks);
	assert_ok(ec_run(&rig, EC_RECOVER, matrix, accel_src(rig.accel, blocks + BLOCK, (size_t)2 * BLOCK), dst));
	assert_int_equal(accel_data(dst, recovered, sizeof(recovered)), BLOCK);
	assert_memory_equal(recovered, blocks, BLOCK);
	assert_ok(doca_ec_matrix_destroy(matrix));
	ec_close(&rig);
}

/* ---- updates ---- */

/* Change the blocks of @changed (bits), update the redundancy, and compare it with that of all data. */
static void update(struct ec_rig *rig, const struct doca_ec_matrix *matrix, size_t data, size_t rdnc, uint32_t changed,
		   bool descending)
{
	uint8_t source[(2 * 5 + 3) * BLOCK], updated[3 * BLOCK];
	struct doca_buf *dst = accel_dst_list(rig->accel, rdnc * BLOCK, 1 + accel_random(rig->accel, 3));
	struct doca_ec_matrix *update;
	uint32_t indices[5];
	size_t num = 0, len = 0;

	for (uint32_t i = 0; i < data; i++)
		if (changed >> i & 1) {
			indices[num++] = i;
			memcpy(source + len, blocks + i * BLOCK, BLOCK);
			fill(rig->accel, blocks + i * BLOCK, BLOCK);
			memcpy(source + len + BLOCK, blocks + i * BLOCK, BLOCK);
			len += (size_t)2 * BLOCK;
		}
	memcpy(source + len, blocks + data * BLOCK, rdnc * BLOCK);
	len += rdnc * BLOCK;
	for (size_t i = 0; descending && i < num / 2; i++) {
		uint32_t index = indices[i];

		indices[i] = indices[num - 1 - i];
		indices[num - 1 - i] = index;
	}
	assert_ok(doca_ec_matrix_create_update(rig->ec, matrix, indices, num, &update));
	assert_ok(ec_run(rig, EC_UPDATE, update,
			 accel_src_list(rig->accel, source, len, 1 + accel_random(rig->accel, 6)), dst));
	assert_int_equal(accel_data(dst, updated, sizeof(updated)), rdnc * BLOCK);
	create(rig, matrix, data, rdnc, blocks);
	assert_memory_equal(updated, blocks + data * BLOCK, rdnc * BLOCK);
	assert_ok(doca_ec_matrix_destroy(update));
	accel_reset(rig->accel);
}

static void test_update_is_redundancy_of_the_new_data(void **state)
{
	struct ec_rig rig = ec_open();

	for (enum doca_ec_matrix_type type = 1; type <= DOCA_EC_MATRIX_TYPE_VANDERMONDE; type++) {
		struct doca_ec_matrix *matrix = ec_matrix(&rig, type, 5, 3);

		fill(rig.accel, blocks, (size_t)5 * BLOCK);
		create(&rig, matrix, 5, 3, blocks);
		accel_reset(rig.accel);
		for (uint32_t changed = 1; changed < 1 << 5; changed++)
			update(&rig, matrix, 5, 3, changed, changed & 1);
		assert_ok(doca_ec_matrix_destroy(matrix));
	}
	ec_close(&rig);
}

/* ---- lists ---- */

static void test_lists_of_chance_give_the_same_blocks(void **state)
{
	static uint8_t data[12 * 4096], expected[5 * 4096], got[5 * 4096];
	struct ec_rig rig = ec_open();

	for (int round = 0; round < 100; round++) {
		size_t n = 1 + accel_random(rig.accel, 12), k = 1 + accel_random(rig.accel, 5);
		size_t block = 64 * (1 + (size_t)accel_random(rig.accel, 64));
		struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, n, k);
		struct doca_buf *one = accel_dst(rig.accel, k * block);
		struct doca_buf *many = accel_dst_list(rig.accel, k * block + 7, 1 + accel_random(rig.accel, 20));

		fill(rig.accel, data, n * block);
		assert_ok(ec_run(&rig, EC_CREATE, matrix, accel_src(rig.accel, data, n * block), one));
		assert_ok(ec_run(&rig, EC_CREATE, matrix,
				 accel_src_list(rig.accel, data, n * block, 1 + accel_random(rig.accel, 30)), many));
		assert_int_equal(accel_data(one, expected, sizeof(expected)), k * block);
		assert_int_equal(accel_data(many, got, sizeof(got)), k * block);
		assert_memory_equal(got, expected, k * block);
		assert_true(accel_rest_is_untouched(rig.accel));
		assert_ok(doca_ec_matrix_destroy(matrix));
		accel_reset(rig.accel);
	}
	ec_close(&rig);
}

static void test_output_is_appended_and_the_source_stays(void **state)
{
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 2, 1);
	struct doca_buf *src, *dst = accel_dst(rig.accel, (size_t)2 * BLOCK);
	uint8_t out[2 * BLOCK], in[2 * BLOCK];

	fill(rig.accel, blocks, (size_t)2 * BLOCK);
	src = accel_src(rig.accel, blocks, (size_t)2 * BLOCK);
	assert_ok(ec_run(&rig, EC_CREATE, matrix, src, dst));
	assert_ok(ec_run(&rig, EC_CREATE, matrix, src, dst));
	assert_int_equal(accel_data(dst, out, sizeof(out)), sizeof(out));
	assert_memory_equal(out, out + BLOCK, BLOCK);
	for (size_t i = 0; i < BLOCK; i++)
		assert_int_equal(out[i], blocks[i] ^ blocks[BLOCK + i]);
	assert_int_equal(accel_data(src, in, sizeof(in)), sizeof(in));
	assert_memory_equal(in, blocks, sizeof(in));
	assert_ok(doca_ec_matrix_destroy(matrix));
	ec_close(&rig);
}

/* A task has what it needs of its matrix once it is submitted. */
static void test_matrix_is_destroyed_while_its_tasks_are_in_flight(void **state)
{
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2), *other;
	struct doca_buf *dst = accel_dst(rig.accel, (size_t)2 * BLOCK);
	uint8_t out[2 * BLOCK];
	struct doca_task *task;

	fill(rig.accel, blocks, (size_t)3 * BLOCK);
	create(&rig, matrix, 3, 2, blocks);
	MUST(ec_alloc(&rig, EC_CREATE, matrix, accel_src(rig.accel, blocks, (size_t)3 * BLOCK), dst, &task));
	assert_ok(doca_task_submit(task));
	assert_ok(doca_ec_matrix_destroy(matrix));
	other = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 3, 2); /* perhaps in the same place */
	accel_drain(rig.accel);
	assert_int_equal(accel_data(dst, out, sizeof(out)), sizeof(out));
	assert_memory_equal(out, blocks + (size_t)3 * BLOCK, sizeof(out));
	doca_task_free(task);
	assert_ok(doca_ec_matrix_destroy(other));
	ec_close(&rig);
}

/* The context's tasks are forgotten when it stops, and start anew. */
static void test_context_starts_again(void **state)
{
	struct ec_rig rig = ec_open();
	struct doca_ec_matrix *matrix = ec_matrix(&rig, DOCA_EC_MATRIX_TYPE_CAUCHY, 3, 2);

	for (int round = 0; round < 3; round++) {
		fill(rig.accel, blocks, (size_t)3 * BLOCK);
		create(&rig, matrix, 3, 2, blocks);
		accel_reset(rig.accel);
		assert_true(recover(&rig, matrix, 3, 5));
		accel_stop(rig.accel);
		assert_ok(doca_ctx_stop(rig.ctx)); /* samples stop twice */
		assert_ok(doca_ctx_start(rig.ctx));
		rig.accel->ctx = rig.ctx;
	}
	assert_ok(doca_ec_matrix_destroy(matrix));
	ec_close(&rig);
}

static const struct CMUnitTest on_bluefield_3[] = {
	cmocka_unit_test(test_matrices_are_the_references),
	cmocka_unit_test(test_large_matrices_follow_the_formula),
	cmocka_unit_test(test_raw_matrix_has_a_row_for_each_data_block),
	cmocka_unit_test(test_products_are_the_fields),
	cmocka_unit_test(test_each_loss_of_small_codes_is_recovered),
	cmocka_unit_test(test_vandermonde_does_not_recover_everything),
	cmocka_unit_test(test_missing_blocks_come_in_the_order_of_their_indices),
	cmocka_unit_test(test_recover_task_multiplies_any_matrix),
	cmocka_unit_test(test_update_is_redundancy_of_the_new_data),
	cmocka_unit_test(test_lists_of_chance_give_the_same_blocks),
	cmocka_unit_test(test_output_is_appended_and_the_source_stays),
	cmocka_unit_test(test_matrix_is_destroyed_while_its_tasks_are_in_flight),
	cmocka_unit_test(test_context_starts_again),
};

/* The guide from 2.10 on: "either NIC or DPU mode". */
static const struct CMUnitTest in_nic_mode[] = {
	cmocka_unit_test(test_products_are_the_fields),
	cmocka_unit_test(test_each_loss_of_small_codes_is_recovered),
};

int main(void)
{
	return API_RUN({ .name = "BlueField-3", .side = "dpu", API_WITH(on_bluefield_3) },
		       { .name = "NIC mode", .topology = ACCEL_NIC, .side = "host", API_WITH(in_nic_mode) });
}
