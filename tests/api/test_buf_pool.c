/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffer pools: where their elements lie, and how they are taken and come back. Their maps, tasks and memory
 * that runs out are in test_buf_pool_use.c. */
#include "pool_util.h"

static void assert_elements(struct doca_buf_pool *pool, uint32_t all, uint32_t are_free)
{
	uint32_t count;

	assert_ok(doca_buf_pool_get_num_elements(pool, &count));
	assert_int_equal(count, all);
	assert_ok(doca_buf_pool_get_num_free_elements(pool, &count));
	assert_int_equal(count, are_free);
}

static uint8_t *place_of(struct doca_buf *buf)
{
	void *head;

	assert_ok(doca_buf_get_head(buf, &head));
	return head;
}

/* ---- life ---- */

static void test_elements_are_counted_from_creation_on(void **state)
{
	struct doca_buf_pool *pool;

	assert_ok(doca_buf_pool_create(3, 8, map, &pool));
	assert_elements(pool, 3, 3);
	assert_ok(doca_buf_pool_destroy(pool)); /* without a start */
}

/* provokes: doca_buf_pool_create DOCA_ERROR_INVALID_VALUE */
static void test_pool_needs_elements_of_some_size_and_a_map_with_a_range(void **state)
{
	struct doca_buf_pool *pool = NULL;
	struct doca_mmap *without_range;

	assert_invalid(doca_buf_pool_create(0, 8, map, &pool));
	assert_invalid(doca_buf_pool_create((size_t)UINT32_MAX + 1, 8, map, &pool));
	assert_invalid(doca_buf_pool_create(SIZE_MAX, 8, map, &pool));
	assert_invalid(doca_buf_pool_create(4, 0, map, &pool));
	assert_invalid(doca_buf_pool_create(4, 8, NULL, &pool));
	assert_invalid(doca_buf_pool_create(4, 8, (struct doca_mmap *)dev, &pool));
	assert_ok(doca_mmap_create(&without_range));
	assert_invalid(doca_buf_pool_create(4, 8, without_range, &pool));
	assert_ok(doca_mmap_destroy(without_range));
	assert_invalid(doca_buf_pool_create(4, 8, without_range, &pool));
	assert_null(pool);
	assert_invalid(doca_buf_pool_create(4, 8, map, NULL));
}

/* provokes: doca_buf_pool_buf_alloc DOCA_ERROR_BAD_STATE */
static void test_buffers_are_taken_between_start_and_stop(void **state)
{
	struct doca_buf_pool *pool;
	struct doca_buf *buf = NULL;

	assert_ok(doca_buf_pool_create(1, 8, map, &pool));
	assert_doca(doca_buf_pool_buf_alloc(pool, &buf), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_pool_stop(pool)); /* it is */
	for (int round = 0; round < 2; round++) {
		assert_ok(doca_buf_pool_start(pool));
		assert_ok(doca_buf_pool_start(pool)); /* again is fine */
		give_back(pool_take(pool));
		assert_ok(doca_buf_pool_stop(pool));
		assert_doca(doca_buf_pool_buf_alloc(pool, &buf), DOCA_ERROR_BAD_STATE);
	}
	assert_null(buf);
	assert_ok(doca_buf_pool_start(pool));
	assert_ok(doca_buf_pool_destroy(pool)); /* without a stop */
}

/* provokes: doca_buf_pool_stop DOCA_ERROR_IN_USE
 * provokes: doca_buf_pool_destroy DOCA_ERROR_IN_USE */
static void test_pool_with_buffers_out_neither_stops_nor_ends(void **state)
{
	struct doca_buf_pool *pool = pool_of(2, 8);
	struct doca_buf *buf = pool_take(pool);

	assert_doca(doca_buf_pool_stop(pool), DOCA_ERROR_IN_USE);
	assert_doca(doca_buf_pool_destroy(pool), DOCA_ERROR_IN_USE);
	assert_elements(pool, 2, 1); /* nothing happened */
	give_back(pool_take(pool));
	give_back(buf);
	assert_ok(doca_buf_pool_stop(pool));
	assert_ok(doca_buf_pool_destroy(pool));
}

static void test_buffer_of_a_destroyed_pool_is_refused(void **state)
{
	struct doca_buf_pool *pool = pool_of(2, 8);
	struct doca_buf *buf = pool_take(pool);
	size_t len;

	give_back(buf);
	assert_ok(doca_buf_pool_destroy(pool));
	assert_invalid(doca_buf_get_len(buf, &len));
	assert_doca(doca_buf_dec_refcount(buf, NULL), DOCA_ERROR_BAD_STATE);
}

/* ---- properties ---- */

/* provokes: doca_buf_pool_set_user_data DOCA_ERROR_BAD_STATE */
static void test_user_data_is_zero_until_it_is_set_while_stopped(void **state)
{
	struct doca_buf_pool *pool;
	union doca_data user_data = { .u64 = 7 };

	assert_ok(doca_buf_pool_create(1, 8, map, &pool));
	assert_ok(doca_buf_pool_get_user_data(pool, &user_data));
	assert_int_equal(user_data.u64, 0);
	user_data.u64 = 1;
	assert_ok(doca_buf_pool_set_user_data(pool, user_data));
	assert_ok(doca_buf_pool_start(pool));
	user_data.u64 = 2;
	assert_doca(doca_buf_pool_set_user_data(pool, user_data), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_pool_get_user_data(pool, &user_data));
	assert_int_equal(user_data.u64, 1);
	assert_ok(doca_buf_pool_stop(pool));
	user_data.u64 = 3;
	assert_ok(doca_buf_pool_set_user_data(pool, user_data));
	assert_ok(doca_buf_pool_get_user_data(pool, &user_data));
	assert_int_equal(user_data.u64, 3);
	assert_ok(doca_buf_pool_destroy(pool));
}

static void assert_alignment(struct doca_buf_pool *pool, size_t expected)
{
	size_t alignment;

	assert_ok(doca_buf_pool_get_element_alignment(pool, &alignment));
	assert_int_equal(alignment, expected);
}

/* provokes: doca_buf_pool_set_element_alignment DOCA_ERROR_BAD_STATE
 * provokes: doca_buf_pool_set_element_alignment DOCA_ERROR_INVALID_VALUE */
static void test_alignment_is_a_power_of_two_set_while_stopped(void **state)
{
	static const size_t no_powers[] = { 0, 3, 6, 65, SIZE_MAX };
	struct doca_buf_pool *pool;

	assert_ok(doca_buf_pool_create(1, 8, map, &pool));
	assert_alignment(pool, 1);
	assert_ok(doca_buf_pool_set_element_alignment(pool, 64));
	for (size_t i = 0; i < API_COUNT(no_powers); i++)
		assert_invalid(doca_buf_pool_set_element_alignment(pool, no_powers[i]));
	assert_ok(doca_buf_pool_start(pool));
	assert_doca(doca_buf_pool_set_element_alignment(pool, 1), DOCA_ERROR_BAD_STATE);
	assert_alignment(pool, 64);
	assert_ok(doca_buf_pool_stop(pool));
	assert_ok(doca_buf_pool_set_element_alignment(pool, 1));
	assert_alignment(pool, 1);
	assert_ok(doca_buf_pool_destroy(pool));
}

/* ---- taking buffers ---- */

static void test_new_buffer_is_a_whole_element_without_data(void **state)
{
	struct doca_buf_pool *pool = pool_of(4, 100);
	struct doca_buf *buf = pool_take(pool);
	uint16_t refcount;
	uint8_t is_in_list;

	api_assert_place(buf, place_of(buf), 100, place_of(buf), 0);
	assert_ok(doca_buf_get_refcount(buf, &refcount));
	assert_int_equal(refcount, 1);
	assert_ok(doca_buf_is_in_list(buf, &is_in_list));
	assert_int_equal(is_in_list, 0);
	give_back(buf);
	assert_ok(doca_buf_pool_destroy(pool));
}

/* provokes: doca_buf_pool_buf_alloc DOCA_ERROR_EMPTY */
static void test_pool_is_empty_until_a_buffer_comes_back(void **state)
{
	enum { NUM = 5 };
	struct doca_buf_pool *pool = pool_of(NUM, 8);
	struct doca_buf *bufs[NUM], *buf = NULL;
	uint8_t *place;

	for (int i = 0; i < NUM; i++)
		bufs[i] = pool_take(pool);
	assert_elements(pool, NUM, 0);
	assert_doca(doca_buf_pool_buf_alloc(pool, &buf), DOCA_ERROR_EMPTY);
	assert_null(buf);
	place = place_of(bufs[1]);
	give_back(bufs[1]);
	assert_elements(pool, NUM, 1);
	bufs[1] = pool_take(pool);
	assert_ptr_equal(place_of(bufs[1]), place); /* the one element that was free */
	for (int i = 0; i < NUM; i++)
		give_back(bufs[i]);
	assert_elements(pool, NUM, NUM);
	assert_ok(doca_buf_pool_destroy(pool));
}

static void test_buffer_comes_back_with_its_last_reference(void **state)
{
	struct doca_buf_pool *pool = pool_of(2, 8);
	struct doca_buf *buf = pool_take(pool);
	uint16_t before;

	assert_ok(doca_buf_inc_refcount(buf, NULL));
	assert_ok(doca_buf_dec_refcount(buf, &before));
	assert_int_equal(before, 2);
	assert_elements(pool, 2, 1);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_elements(pool, 2, 2);
	assert_doca(doca_buf_dec_refcount(buf, NULL), DOCA_ERROR_BAD_STATE);
	assert_elements(pool, 2, 2);
	assert_ok(doca_buf_pool_destroy(pool));
}

static void test_buffer_that_was_used_comes_out_without_data_again(void **state)
{
	struct doca_buf_pool *pool = pool_of(1, 100);
	struct doca_buf *buf = pool_take(pool);

	assert_ok(doca_buf_set_data(buf, place_of(buf) + 10, 20));
	give_back(buf);
	buf = pool_take(pool);
	api_assert_place(buf, place_of(buf), 100, place_of(buf), 0);
	give_back(buf);
	assert_ok(doca_buf_pool_destroy(pool));
}

static void test_list_over_pools_and_inventories_returns_each_to_its_own(void **state)
{
	struct doca_buf_inventory *inventory = api_inventory(1);
	struct doca_buf_pool *pool = pool_of(2, 8), *other = pool_of(2, 8);
	struct doca_buf *head = pool_take(pool), *from_inventory;
	uint32_t count;

	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, map, memory, 8, &from_inventory));
	assert_ok(doca_buf_chain_list(head, from_inventory));
	assert_ok(doca_buf_chain_list(head, pool_take(other)));
	assert_ok(doca_buf_get_list_len(head, &count));
	assert_int_equal(count, 3);
	give_back(head);
	assert_elements(pool, 2, 2);
	assert_elements(other, 2, 2);
	assert_ok(doca_buf_inventory_get_num_free_elements(inventory, &count));
	assert_int_equal(count, 1);
	assert_ok(doca_buf_pool_destroy(pool));
	assert_ok(doca_buf_pool_destroy(other));
	assert_ok(doca_buf_inventory_destroy(inventory));
}

static void test_duplicate_in_an_inventory_names_the_pools_element(void **state)
{
	struct doca_buf_inventory *inventory = api_inventory(1);
	struct doca_buf_pool *pool = pool_of(1, 8);
	struct doca_buf *buf = pool_take(pool), *copy;

	assert_ok(doca_buf_set_data_len(buf, 5));
	assert_ok(doca_buf_inventory_buf_dup(inventory, buf, &copy));
	api_assert_place(copy, place_of(buf), 8, place_of(buf), 5);
	give_back(buf);
	assert_elements(pool, 1, 1);
	give_back(copy);
	assert_ok(doca_buf_pool_destroy(pool));
	assert_ok(doca_buf_inventory_destroy(inventory));
}

static void test_buffer_of_a_pool_is_not_pointed_elsewhere(void **state)
{
	struct doca_buf_pool *pool = pool_of(2, 8);
	struct doca_buf *buf = pool_take(pool);
	uint8_t *place = place_of(buf);

	assert_invalid(doca_buf_inventory_buf_reuse_by_args(buf, memory, 16, memory, 8));
	assert_invalid(doca_buf_inventory_buf_reuse_by_addr(buf, place, 8));
	assert_invalid(doca_buf_inventory_buf_reuse_by_data(buf, place, 8));
	api_assert_place(buf, place, 8, place, 0);
	give_back(buf);
	assert_ok(doca_buf_pool_destroy(pool));
}

/* ---- where the elements lie ---- */

struct layout {
	size_t num, bytes, alignment;
	size_t first, stride; /* as expected */
};

/* The map starts 1 byte behind an address that is a multiple of 4096. */
static const struct layout layouts[] = {
	{ 4, 100, 1, 0, 100 }, { 4, 64, 64, 63, 64 },         { 4, 100, 64, 63, 128 },
	{ 4, 1, 8, 7, 8 },     { 3, 4096, 4096, 4095, 4096 }, { 1, 8191, 1, 0, 8191 },
};

static int by_address(const void *a, const void *b)
{
	const uint8_t *left = *(uint8_t *const *)a, *right = *(uint8_t *const *)b;

	return left < right ? -1 : left > right;
}

static void check_layout(struct doca_mmap *wide, uint8_t *start, const struct layout *layout)
{
	struct doca_buf *bufs[4];
	struct doca_buf_pool *pool;
	uint8_t *places[4];

	assert_ok(doca_buf_pool_create(layout->num, layout->bytes, wide, &pool));
	assert_ok(doca_buf_pool_set_element_alignment(pool, layout->alignment));
	assert_ok(doca_buf_pool_start(pool));
	for (size_t i = 0; i < layout->num; i++) {
		bufs[i] = pool_take(pool);
		places[i] = place_of(bufs[i]);
		api_assert_place(bufs[i], places[i], layout->bytes, places[i], 0);
	}
	qsort(places, layout->num, sizeof(places[0]), by_address);
	for (size_t i = 0; i < layout->num; i++) {
		assert_ptr_equal(places[i], start + layout->first + i * layout->stride);
		give_back(bufs[i]);
	}
	assert_ok(doca_buf_pool_destroy(pool));
}

static void test_elements_lie_one_behind_the_other_each_aligned(void **state)
{
	static _Alignas(4096) uint8_t wide_memory[5 * 4096];
	struct doca_mmap *wide =
		api_map(dev, wide_memory + 1, sizeof(wide_memory) - 1, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	for (size_t i = 0; i < API_COUNT(layouts); i++)
		check_layout(wide, wide_memory + 1, &layouts[i]);
	assert_ok(doca_mmap_destroy(wide));
}

/* ---- arguments ---- */

/* provokes: doca_buf_pool_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_pool_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_pool_stop DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_pool_buf_alloc DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_pool_set_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_pool_get_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_pool_get_element_alignment DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_pool_get_num_elements DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_pool_get_num_free_elements DOCA_ERROR_INVALID_VALUE */
static void refuses_every_call(struct doca_buf_pool *no_pool)
{
	union doca_data user_data = { 0 };
	struct doca_buf *buf = NULL;
	size_t alignment;
	uint32_t count;

	assert_invalid(doca_buf_pool_destroy(no_pool));
	assert_invalid(doca_buf_pool_start(no_pool));
	assert_invalid(doca_buf_pool_stop(no_pool));
	assert_invalid(doca_buf_pool_buf_alloc(no_pool, &buf));
	assert_null(buf);
	assert_invalid(doca_buf_pool_set_user_data(no_pool, user_data));
	assert_invalid(doca_buf_pool_get_user_data(no_pool, &user_data));
	assert_invalid(doca_buf_pool_set_element_alignment(no_pool, 1));
	assert_invalid(doca_buf_pool_get_element_alignment(no_pool, &alignment));
	assert_invalid(doca_buf_pool_get_num_elements(no_pool, &count));
	assert_invalid(doca_buf_pool_get_num_free_elements(no_pool, &count));
}

static void test_call_on_no_pool_or_another_handle_is_refused(void **state)
{
	struct doca_buf_pool *destroyed = pool_of(1, 8), *pool = pool_of(1, 8);
	struct doca_buf_inventory *inventory = api_inventory(1);
	struct doca_buf *buf = pool_take(pool);

	assert_ok(doca_buf_pool_destroy(destroyed));
	refuses_every_call(NULL);
	refuses_every_call((struct doca_buf_pool *)dev);
	refuses_every_call((struct doca_buf_pool *)buf);
	refuses_every_call((struct doca_buf_pool *)inventory);
	refuses_every_call(destroyed);
	give_back(buf);
	assert_ok(doca_buf_pool_destroy(pool));
	assert_ok(doca_buf_inventory_destroy(inventory));
}

static void test_missing_output_is_refused(void **state)
{
	struct doca_buf_pool *pool = pool_of(1, 8);

	assert_invalid(doca_buf_pool_buf_alloc(pool, NULL));
	assert_invalid(doca_buf_pool_get_user_data(pool, NULL));
	assert_invalid(doca_buf_pool_get_element_alignment(pool, NULL));
	assert_invalid(doca_buf_pool_get_num_elements(pool, NULL));
	assert_invalid(doca_buf_pool_get_num_free_elements(pool, NULL));
	assert_elements(pool, 1, 1);
	assert_ok(doca_buf_pool_destroy(pool));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_elements_are_counted_from_creation_on),
	cmocka_unit_test(test_pool_needs_elements_of_some_size_and_a_map_with_a_range),
	cmocka_unit_test(test_buffers_are_taken_between_start_and_stop),
	cmocka_unit_test(test_pool_with_buffers_out_neither_stops_nor_ends),
	cmocka_unit_test(test_buffer_of_a_destroyed_pool_is_refused),
	cmocka_unit_test(test_user_data_is_zero_until_it_is_set_while_stopped),
	cmocka_unit_test(test_alignment_is_a_power_of_two_set_while_stopped),
	cmocka_unit_test(test_new_buffer_is_a_whole_element_without_data),
	cmocka_unit_test(test_pool_is_empty_until_a_buffer_comes_back),
	cmocka_unit_test(test_buffer_comes_back_with_its_last_reference),
	cmocka_unit_test(test_buffer_that_was_used_comes_out_without_data_again),
	cmocka_unit_test(test_list_over_pools_and_inventories_returns_each_to_its_own),
	cmocka_unit_test(test_duplicate_in_an_inventory_names_the_pools_element),
	cmocka_unit_test(test_buffer_of_a_pool_is_not_pointed_elsewhere),
	cmocka_unit_test(test_elements_lie_one_behind_the_other_each_aligned),
	cmocka_unit_test(test_call_on_no_pool_or_another_handle_is_refused),
	cmocka_unit_test(test_missing_output_is_refused),
};

int main(void)
{
	return API_RUN(BUF_WORLD("pools", tests));
}
