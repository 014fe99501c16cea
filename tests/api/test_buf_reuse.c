/* SPDX-License-Identifier: BSD-3-Clause */
/* Duplicates of buffers and lists, and buffers that are pointed elsewhere. */
#include "inventory_util.h"

static void assert_free(struct doca_buf_inventory *inventory, uint32_t expected)
{
	uint32_t count;

	assert_ok(doca_buf_inventory_get_num_free_elements(inventory, &count));
	assert_int_equal(count, expected);
}

/* ---- duplicates ---- */

static void test_duplicate_names_the_same_place_and_lives_on_its_own(void **state)
{
	struct doca_buf_inventory *other = api_inventory(1);
	struct doca_buf *buf, *copy;
	uint16_t refcount;

	assert_ok(doca_buf_inventory_buf_get_by_args(*state, map, memory + 10, 100, memory + 20, 30, &buf));
	assert_ok(doca_buf_inc_refcount(buf, NULL));
	assert_ok(doca_buf_inventory_buf_dup(other, buf, &copy)); /* from any inventory */
	assert_free(other, 0);
	assert_free(*state, NUM_ELEMENTS - 1);
	api_assert_place(copy, memory + 10, 100, memory + 20, 30);
	assert_ok(doca_buf_get_refcount(copy, &refcount));
	assert_int_equal(refcount, 1);
	assert_ok(doca_buf_set_data(copy, memory + 50, 5));
	api_assert_place(buf, memory + 10, 100, memory + 20, 30);
	give_back(buf);
	give_back(buf);
	give_back(copy);
	assert_ok(doca_buf_inventory_destroy(other));
}

static void test_duplicate_of_a_list_is_a_list_of_duplicates(void **state)
{
	struct doca_buf *bufs[2], *copy, *second, *last;
	uint32_t length;
	uint8_t is_first;

	for (int i = 0; i < 2; i++)
		assert_ok(doca_buf_inventory_buf_get_by_data(*state, map, memory + 100 * i, 10, &bufs[i]));
	assert_ok(doca_buf_chain_list(bufs[0], bufs[1]));
	assert_ok(doca_buf_inventory_buf_dup(*state, bufs[0], &copy));
	assert_free(*state, 0);
	assert_ok(doca_buf_get_list_len(copy, &length));
	assert_int_equal(length, 2);
	assert_ok(doca_buf_get_next_in_list(copy, &second));
	assert_ok(doca_buf_get_last_in_list(copy, &last));
	assert_ptr_equal(second, last);
	api_assert_place(copy, memory, 10, memory, 10);
	api_assert_place(second, memory + 100, 10, memory + 100, 10);
	assert_ok(doca_buf_is_first_in_list(second, &is_first));
	assert_int_equal(is_first, 0);
	give_back(bufs[0]);
	assert_free(*state, 2); /* the copy is out still */
	give_back(copy);
}

/* provokes: doca_buf_inventory_buf_dup DOCA_ERROR_NO_MEMORY
 * provokes: doca_buf_inventory_buf_dup DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_buf_inventory_buf_dup DOCA_ERROR_BAD_STATE */
static void test_duplicate_is_made_whole_or_not_at_all(void **state)
{
	struct doca_buf *bufs[3], *copy = NULL;

	for (int i = 0; i < 3; i++)
		bufs[i] = take(*state);
	assert_ok(doca_buf_chain_list(bufs[0], bufs[1]));
	assert_doca(doca_buf_inventory_buf_dup(*state, bufs[0], &copy),
		    DOCA_ERROR_NO_MEMORY); /* two, but one is free */
	assert_free(*state, 1);
	assert_doca(doca_buf_inventory_buf_dup(*state, bufs[1], &copy), DOCA_ERROR_NOT_PERMITTED); /* not the head */
	assert_ok(doca_buf_inventory_stop(*state));
	assert_doca(doca_buf_inventory_buf_dup(*state, bufs[2], &copy), DOCA_ERROR_BAD_STATE);
	assert_null(copy);
	give_back(bufs[0]);
	give_back(bufs[2]);
}

/* ---- pointing a buffer elsewhere ---- */

static void test_ways_to_reuse_differ_in_the_data_segment(void **state)
{
	struct doca_buf *buf = take(*state);
	uint32_t num_bufs;
	uint16_t refcount;

	assert_ok(doca_buf_inc_refcount(buf, NULL));
	assert_ok(doca_buf_inventory_buf_reuse_by_addr(buf, memory + 10, 100));
	api_assert_place(buf, memory + 10, 100, memory + 10, 0);
	assert_ok(doca_buf_inventory_buf_reuse_by_data(buf, memory + 30, 50));
	api_assert_place(buf, memory + 30, 50, memory + 30, 50);
	assert_ok(doca_buf_inventory_buf_reuse_by_args(buf, memory + 10, 100, memory + 20, 30));
	api_assert_place(buf, memory + 10, 100, memory + 20, 30);
	assert_ok(doca_buf_get_refcount(buf, &refcount)); /* it is the same buffer */
	assert_int_equal(refcount, 2);
	assert_ok(doca_mmap_get_num_bufs(map, &num_bufs));
	assert_int_equal(num_bufs, 1);
	give_back(buf);
	give_back(buf);
}

/* Headers of 2.5 to 2.10: each call succeeds; a task with what lies outside of the map fails, and the rest is copied. */
static void test_reuse_succeeds_with_any_range(void **state)
{
	static const struct {
		ptrdiff_t at;
		size_t len;
		ptrdiff_t data_at;
		size_t data_len;
		doca_error_t of_copy;
	} cases[] = {
		{ 10, 100, 9, 1, DOCA_SUCCESS },
		{ 10, 100, 11, 100, DOCA_SUCCESS },
		{ 10, 100, 3000, 50, DOCA_SUCCESS },
		{ -1, 10, 0, 1, DOCA_SUCCESS },
		{ 0, sizeof(memory) + 1, 0, 1, DOCA_SUCCESS },
		{ 0, sizeof(memory) + 1, 0, 2000, DOCA_SUCCESS },
		{ 10, SIZE_MAX - 5, 10, 1, DOCA_SUCCESS },
		{ 10, 100, 20, SIZE_MAX, DOCA_ERROR_IO_FAILED },
		{ 0, sizeof(memory) + 1, sizeof(memory), 1, DOCA_ERROR_IO_FAILED },
		{ -5, 100, -1, 1, DOCA_ERROR_IO_FAILED },
	};
	struct doca_buf *buf = take(*state), *dst = take(*state);

	for (size_t i = 0; i < API_COUNT(cases); i++) {
		uint8_t *addr = (uint8_t *)((uintptr_t)memory + (uintptr_t)cases[i].at);
		uint8_t *data = (uint8_t *)((uintptr_t)memory + (uintptr_t)cases[i].data_at);

		assert_ok(doca_buf_inventory_buf_reuse_by_args(buf, addr, cases[i].len, data, cases[i].data_len));
		api_assert_place(buf, addr, cases[i].len, data, cases[i].data_len);
		assert_ok(doca_buf_set_data(dst, memory + 2096, 0));
		assert_doca(api_copy(dev, dst, buf), cases[i].of_copy);
	}
	assert_ok(doca_buf_inventory_buf_reuse_by_addr(buf, memory, sizeof(memory) + 1));
	assert_ok(doca_buf_inventory_buf_reuse_by_data(buf, memory + sizeof(memory), 1));
	assert_ok(doca_buf_inventory_buf_reuse_by_args(buf, memory + 10, 100, memory + 20, 30));
	api_assert_place(buf, memory + 10, 100, memory + 20, 30);
	give_back(buf);
	give_back(dst);
	assert_invalid(doca_buf_inventory_buf_reuse_by_addr(buf, memory, 1)); /* it is not out any more */
}

/* ---- arguments ---- */

/* provokes: doca_buf_inventory_buf_dup DOCA_ERROR_INVALID_VALUE */
static void test_missing_or_foreign_argument_is_refused(void **state)
{
	struct doca_buf *buf = take(*state), *got;

	assert_invalid(doca_buf_inventory_buf_dup(*state, NULL, &got));
	assert_invalid(doca_buf_inventory_buf_dup(*state, (struct doca_buf *)map, &got));
	assert_invalid(doca_buf_inventory_buf_dup(*state, buf, NULL));
	assert_invalid(doca_buf_inventory_buf_reuse_by_args(NULL, memory, 1, memory, 1));
	assert_invalid(doca_buf_inventory_buf_reuse_by_args((struct doca_buf *)map, memory, 1, memory, 1));
	assert_invalid(doca_buf_inventory_buf_reuse_by_addr(NULL, memory, 1));
	assert_invalid(doca_buf_inventory_buf_reuse_by_data(NULL, memory, 1));
	assert_invalid(doca_buf_inventory_buf_dup(NULL, buf, &got));
	assert_invalid(doca_buf_inventory_buf_dup((struct doca_buf_inventory *)map, buf, &got));
	give_back(buf);
	assert_free(*state, NUM_ELEMENTS);
}

#define WITH_INVENTORY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	WITH_INVENTORY(test_duplicate_names_the_same_place_and_lives_on_its_own),
	WITH_INVENTORY(test_duplicate_of_a_list_is_a_list_of_duplicates),
	WITH_INVENTORY(test_duplicate_is_made_whole_or_not_at_all),
	WITH_INVENTORY(test_ways_to_reuse_differ_in_the_data_segment),
	WITH_INVENTORY(test_reuse_succeeds_with_any_range),
	WITH_INVENTORY(test_missing_or_foreign_argument_is_refused),
};

int main(void)
{
	return API_RUN(BUF_WORLD("duplicates and reuse", tests));
}
