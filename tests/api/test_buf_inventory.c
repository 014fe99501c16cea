/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories: taking buffers and giving them back. Duplicates, and pointing a buffer
 * elsewhere, are in test_buf_reuse.c.
 *
 * What can't be provoked here:
 * unreachable: doca_buf_inventory_set_user_data DOCA_ERROR_BAD_STATE: the reference forbids it before the start and,
 *	in its order of calls, after it; bfsim allows both, as a test below says
 */
#include "inventory_util.h"

static void assert_elements(struct doca_buf_inventory *inventory, uint32_t all, uint32_t are_free)
{
	uint32_t count;

	assert_ok(doca_buf_inventory_get_num_elements(inventory, &count));
	assert_int_equal(count, all);
	assert_ok(doca_buf_inventory_get_num_free_elements(inventory, &count));
	assert_int_equal(count, are_free);
}

/* ---- life ---- */

static void test_elements_are_counted_from_creation_on(void **state)
{
	struct doca_buf_inventory *inventory;

	assert_ok(doca_buf_inventory_create(3, &inventory));
	assert_elements(inventory, 3, 3);
	assert_ok(doca_buf_inventory_destroy(inventory)); /* without a start */
}

/* provokes: doca_buf_inventory_create DOCA_ERROR_INVALID_VALUE */
static void test_inventory_has_between_one_and_2_to_the_32_elements(void **state)
{
	struct doca_buf_inventory *inventory = NULL;

	assert_invalid(doca_buf_inventory_create(0, &inventory));
	assert_invalid(doca_buf_inventory_create((size_t)UINT32_MAX + 1, &inventory));
	assert_invalid(doca_buf_inventory_create(SIZE_MAX, &inventory));
	assert_null(inventory);
	assert_invalid(doca_buf_inventory_create(1, NULL));
}

/* provokes: doca_buf_inventory_buf_get_by_args DOCA_ERROR_INVALID_VALUE */
static void test_buffers_are_taken_between_start_and_stop(void **state)
{
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf = NULL;

	assert_ok(doca_buf_inventory_create(1, &inventory));
	assert_invalid(doca_buf_inventory_buf_get_by_addr(inventory, map, memory, 1, &buf));
	assert_ok(doca_buf_inventory_start(inventory));
	assert_ok(doca_buf_inventory_start(inventory)); /* again is fine */
	buf = take(inventory);
	assert_ok(doca_buf_inventory_stop(inventory));
	assert_ok(doca_buf_inventory_stop(inventory));
	give_back(buf); /* it survived the stop */
	assert_invalid(doca_buf_inventory_buf_get_by_addr(inventory, map, memory, 1, &buf));
	assert_ok(doca_buf_inventory_start(inventory));
	give_back(take(inventory));
	assert_ok(doca_buf_inventory_destroy(inventory)); /* without a stop */
}

/* provokes: doca_buf_inventory_destroy DOCA_ERROR_IN_USE */
static void test_inventory_with_buffers_out_is_not_destroyed(void **state)
{
	struct doca_buf_inventory *inventory = api_inventory(2);
	struct doca_buf *buf = take(inventory);

	assert_doca(doca_buf_inventory_destroy(inventory), DOCA_ERROR_IN_USE);
	assert_elements(inventory, 2, 1); /* nothing happened */
	give_back(take(inventory));
	give_back(buf);
	assert_ok(doca_buf_inventory_destroy(inventory));
}

static void test_buffer_of_a_destroyed_inventory_is_refused(void **state)
{
	struct doca_buf_inventory *inventory = api_inventory(1000);
	struct doca_buf *buf = take(inventory);
	size_t len;

	give_back(buf);
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_invalid(doca_buf_get_len(buf, &len));
	assert_doca(doca_buf_dec_refcount(buf, NULL), DOCA_ERROR_BAD_STATE);
}

static void test_user_data_is_zero_until_it_is_set_in_any_state(void **state)
{
	union doca_data user_data = { .u64 = 7 };
	struct doca_buf_inventory *inventory;

	assert_ok(doca_buf_inventory_create(1, &inventory));
	assert_ok(doca_buf_inventory_get_user_data(inventory, &user_data));
	assert_int_equal(user_data.u64, 0);
	for (uint64_t i = 1; i <= 3; i++) {
		user_data.u64 = i;
		assert_ok(doca_buf_inventory_set_user_data(inventory, user_data));
		user_data.u64 = 0;
		assert_ok(doca_buf_inventory_get_user_data(inventory, &user_data));
		assert_int_equal(user_data.u64, i);
		assert_ok(i == 1 ? doca_buf_inventory_start(inventory) : doca_buf_inventory_stop(inventory));
	}
	assert_ok(doca_buf_inventory_destroy(inventory));
}

/* ---- taking buffers ---- */

static void test_new_buffer_is_single_and_has_one_reference(void **state)
{
	struct doca_buf *buf = take(*state), *next = buf;
	uint16_t refcount;
	uint8_t flag;

	assert_ok(doca_buf_get_refcount(buf, &refcount));
	assert_int_equal(refcount, 1);
	assert_ok(doca_buf_is_in_list(buf, &flag));
	assert_int_equal(flag, 0);
	assert_ok(doca_buf_get_next_in_list(buf, &next));
	assert_null(next);
	give_back(buf);
}

static void test_ways_to_take_differ_in_the_data_segment(void **state)
{
	struct doca_buf *by_addr, *by_data, *by_args;

	assert_ok(doca_buf_inventory_buf_get_by_addr(*state, map, memory + 10, 100, &by_addr));
	api_assert_place(by_addr, memory + 10, 100, memory + 10, 0);
	assert_ok(doca_buf_inventory_buf_get_by_data(*state, map, memory + 10, 100, &by_data));
	api_assert_place(by_data, memory + 10, 100, memory + 10, 100);
	assert_ok(doca_buf_inventory_buf_get_by_args(*state, map, memory + 10, 100, memory + 20, 30, &by_args));
	api_assert_place(by_args, memory + 10, 100, memory + 20, 30);
	give_back(by_addr);
	give_back(by_data);
	give_back(by_args);
}

/* A place given as offsets into the map's memory. */
struct place {
	ptrdiff_t addr;
	size_t len;
	ptrdiff_t data;
	size_t data_len;
};

static const struct place good_places[] = {
	{ 0, sizeof(memory), 0, sizeof(memory) },
	{ 0, sizeof(memory), sizeof(memory), 0 }, /* data that is empty, at the end */
	{ sizeof(memory) - 1, 1, sizeof(memory) - 1, 1 },
	{ sizeof(memory), 0, sizeof(memory), 0 }, /* a buffer that is empty, at the end */
	{ 10, 100, 109, 1 },
};

static const struct place bad_places[] = {
	/* not inside the map: */
	{ -1, 10, 0, 1 },
	{ 0, sizeof(memory) + 1, 0, 1 },
	{ 1, sizeof(memory), 1, 1 },
	{ sizeof(memory), 1, sizeof(memory), 1 },
	{ sizeof(memory) + 1, 0, sizeof(memory) + 1, 0 },
	{ 0, SIZE_MAX, 0, 1 },
	{ 10, SIZE_MAX - 5, 10, 1 },
	/* data not inside the buffer: */
	{ 10, 100, 9, 1 },
	{ 10, 100, 10, 101 },
	{ 10, 100, 110, 1 },
	{ 10, 100, 111, 0 },
	{ 10, 100, 11, 100 },
	{ 10, 100, 20, SIZE_MAX },
	{ 10, 100, 0, 0 },
};

/* C's own arithmetic cannot form an address outside the memory. */
static void *outside(intptr_t offset)
{
	return (void *)((uintptr_t)memory + (uintptr_t)offset);
}

static void test_place_must_be_inside_the_map_and_the_data_inside_the_buffer(void **state)
{
	struct doca_buf *buf;

	for (size_t i = 0; i < API_COUNT(good_places); i++) {
		const struct place *p = &good_places[i];

		assert_ok(doca_buf_inventory_buf_get_by_args(*state, map, memory + p->addr, p->len, memory + p->data,
							     p->data_len, &buf));
		api_assert_place(buf, memory + p->addr, p->len, memory + p->data, p->data_len);
		give_back(buf);
	}
	buf = NULL;
	for (size_t i = 0; i < API_COUNT(bad_places); i++) {
		const struct place *p = &bad_places[i];

		assert_invalid(doca_buf_inventory_buf_get_by_args(*state, map, outside(p->addr), p->len,
								  outside(p->data), p->data_len, &buf));
	}
	assert_null(buf);
	assert_elements(*state, NUM_ELEMENTS, NUM_ELEMENTS); /* none was lost */
}

static void test_map_must_be_started(void **state)
{
	struct doca_mmap *other = api_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *buf;

	assert_ok(doca_mmap_stop(other));
	assert_invalid(doca_buf_inventory_buf_get_by_addr(*state, other, memory, 1, &buf));
	assert_ok(doca_mmap_destroy(other));
	assert_invalid(doca_buf_inventory_buf_get_by_addr(*state, other, memory, 1, &buf));
}

/* provokes: doca_buf_inventory_buf_get_by_addr DOCA_ERROR_NO_MEMORY
 * provokes: doca_buf_inventory_buf_get_by_data DOCA_ERROR_NO_MEMORY
 * provokes: doca_buf_inventory_buf_get_by_args DOCA_ERROR_NO_MEMORY */
static void test_empty_inventory_gives_no_buffer_until_one_comes_back(void **state)
{
	struct doca_buf *bufs[NUM_ELEMENTS], *buf = NULL;

	for (int i = 0; i < NUM_ELEMENTS; i++)
		bufs[i] = take(*state);
	assert_elements(*state, NUM_ELEMENTS, 0);
	assert_doca(doca_buf_inventory_buf_get_by_addr(*state, map, memory, 1, &buf), DOCA_ERROR_NO_MEMORY);
	assert_doca(doca_buf_inventory_buf_get_by_data(*state, map, memory, 1, &buf), DOCA_ERROR_NO_MEMORY);
	assert_doca(doca_buf_inventory_buf_get_by_args(*state, map, memory, 1, memory, 1, &buf), DOCA_ERROR_NO_MEMORY);
	assert_null(buf);
	for (int i = 0; i < NUM_ELEMENTS; i++)
		for (int j = 0; j < i; j++)
			assert_ptr_not_equal(bufs[i], bufs[j]);
	give_back(bufs[1]);
	assert_elements(*state, NUM_ELEMENTS, 1);
	bufs[1] = take(*state);
	for (int i = 0; i < NUM_ELEMENTS; i++)
		give_back(bufs[i]);
	assert_elements(*state, NUM_ELEMENTS, NUM_ELEMENTS);
}

/* ---- more elements ---- */

/* provokes: doca_buf_inventory_expand DOCA_ERROR_BAD_STATE
 * provokes: doca_buf_inventory_expand DOCA_ERROR_INVALID_VALUE */
static void test_started_inventory_is_expanded_while_buffers_are_out(void **state)
{
	struct doca_buf *bufs[NUM_ELEMENTS + 5], *buf;

	for (int i = 0; i < 2; i++)
		bufs[i] = take(*state);
	assert_ok(doca_buf_inventory_expand(*state, 2));
	assert_elements(*state, NUM_ELEMENTS + 2, NUM_ELEMENTS);
	assert_ok(doca_buf_inventory_expand(*state, 3));
	assert_elements(*state, NUM_ELEMENTS + 5, NUM_ELEMENTS + 3);
	api_assert_place(bufs[0], memory, sizeof(memory), memory, 0); /* those out stay as they are */
	for (int i = 2; i < NUM_ELEMENTS + 5; i++)
		bufs[i] = take(*state);
	assert_doca(doca_buf_inventory_buf_get_by_addr(*state, map, memory, 1, &buf), DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < NUM_ELEMENTS + 5; i++)
		give_back(bufs[i]);
	assert_invalid(doca_buf_inventory_expand(*state, 0));
	assert_invalid(doca_buf_inventory_expand(*state, UINT32_MAX - NUM_ELEMENTS)); /* 2^32 - 1 is the most */
	assert_ok(doca_buf_inventory_stop(*state));
	assert_doca(doca_buf_inventory_expand(*state, 1), DOCA_ERROR_BAD_STATE);
	assert_elements(*state, NUM_ELEMENTS + 5, NUM_ELEMENTS + 5);
}

/* ---- arguments ---- */

/* provokes: doca_buf_inventory_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_inventory_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_inventory_stop DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_inventory_get_num_elements DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_inventory_get_num_free_elements DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_inventory_set_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_inventory_get_user_data DOCA_ERROR_INVALID_VALUE */
static void refuses_every_call(struct doca_buf_inventory *no_inventory, struct doca_buf *buf)
{
	union doca_data user_data = { 0 };
	struct doca_buf *got = NULL;
	uint32_t count;

	assert_invalid(doca_buf_inventory_destroy(no_inventory));
	assert_invalid(doca_buf_inventory_start(no_inventory));
	assert_invalid(doca_buf_inventory_stop(no_inventory));
	assert_invalid(doca_buf_inventory_expand(no_inventory, 1));
	assert_invalid(doca_buf_inventory_get_num_elements(no_inventory, &count));
	assert_invalid(doca_buf_inventory_get_num_free_elements(no_inventory, &count));
	assert_invalid(doca_buf_inventory_set_user_data(no_inventory, user_data));
	assert_invalid(doca_buf_inventory_get_user_data(no_inventory, &user_data));
	assert_invalid(doca_buf_inventory_buf_get_by_args(no_inventory, map, memory, 1, memory, 1, &got));
	assert_invalid(doca_buf_inventory_buf_get_by_addr(no_inventory, map, memory, 1, &got));
	assert_invalid(doca_buf_inventory_buf_get_by_data(no_inventory, map, memory, 1, &got));
	assert_invalid(doca_buf_inventory_buf_dup(no_inventory, buf, &got));
	assert_null(got);
}

static void test_call_on_no_inventory_or_another_handle_is_refused(void **state)
{
	struct doca_buf_inventory *destroyed = api_inventory(1);
	struct doca_buf *buf = take(*state);

	refuses_every_call(NULL, buf);
	refuses_every_call((struct doca_buf_inventory *)dev, buf);
	refuses_every_call((struct doca_buf_inventory *)buf, buf);
	assert_ok(doca_buf_inventory_destroy(destroyed));
	refuses_every_call(destroyed, buf);
	give_back(buf);
}

static void test_missing_or_foreign_argument_is_refused(void **state)
{
	struct doca_buf *got;

	assert_invalid(doca_buf_inventory_get_num_elements(*state, NULL));
	assert_invalid(doca_buf_inventory_get_num_free_elements(*state, NULL));
	assert_invalid(doca_buf_inventory_get_user_data(*state, NULL));
	assert_invalid(doca_buf_inventory_buf_get_by_args(*state, NULL, memory, 1, memory, 1, &got));
	assert_invalid(doca_buf_inventory_buf_get_by_args(*state, (struct doca_mmap *)dev, memory, 1, memory, 1, &got));
	assert_invalid(doca_buf_inventory_buf_get_by_args(*state, map, NULL, 1, memory, 1, &got));
	assert_invalid(doca_buf_inventory_buf_get_by_args(*state, map, memory, 1, NULL, 1, &got));
	assert_invalid(doca_buf_inventory_buf_get_by_args(*state, map, memory, 1, memory, 1, NULL));
	assert_elements(*state, NUM_ELEMENTS, NUM_ELEMENTS);
}

/* ---- memory runs out ---- */

static struct doca_buf_inventory *oom_inventory;

static doca_error_t step_create(void)
{
	return doca_buf_inventory_create(4, &oom_inventory);
}

static doca_error_t step_expand(void)
{
	return doca_buf_inventory_expand(oom_inventory, 4);
}

/* provokes: doca_buf_inventory_create DOCA_ERROR_NO_MEMORY */
static void test_inventory_without_memory_for_it_fails_and_the_call_can_be_repeated(void **state)
{
	api_fail_each_allocation(step_create, NULL);
	assert_ok(doca_buf_inventory_start(oom_inventory));
	api_fail_each_allocation(step_expand, NULL);
	assert_elements(oom_inventory, 8, 8);
	assert_ok(doca_buf_inventory_destroy(oom_inventory));
}

#define WITH_INVENTORY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_elements_are_counted_from_creation_on),
	cmocka_unit_test(test_inventory_has_between_one_and_2_to_the_32_elements),
	cmocka_unit_test(test_buffers_are_taken_between_start_and_stop),
	cmocka_unit_test(test_inventory_with_buffers_out_is_not_destroyed),
	cmocka_unit_test(test_buffer_of_a_destroyed_inventory_is_refused),
	cmocka_unit_test(test_user_data_is_zero_until_it_is_set_in_any_state),
	WITH_INVENTORY(test_new_buffer_is_single_and_has_one_reference),
	WITH_INVENTORY(test_ways_to_take_differ_in_the_data_segment),
	WITH_INVENTORY(test_place_must_be_inside_the_map_and_the_data_inside_the_buffer),
	WITH_INVENTORY(test_map_must_be_started),
	WITH_INVENTORY(test_empty_inventory_gives_no_buffer_until_one_comes_back),
	WITH_INVENTORY(test_started_inventory_is_expanded_while_buffers_are_out),
	WITH_INVENTORY(test_call_on_no_inventory_or_another_handle_is_refused),
	WITH_INVENTORY(test_missing_or_foreign_argument_is_refused),
};
static const struct CMUnitTest oom_tests[] = {
	cmocka_unit_test(test_inventory_without_memory_for_it_fails_and_the_call_can_be_repeated),
};

int main(void)
{
	return API_RUN(BUF_WORLD("inventories", tests), { .name = "no memory", .side = "dpu", API_WITH(oom_tests) });
}
