/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffer pools at work: over their memory maps, as ends of DMA tasks, and without memory. */
#include <string.h>

#include "pool_util.h"

/* ---- the map has room for the elements, or not ---- */

struct fit {
	size_t num, bytes, alignment;
	bool fits;
};

/* In 4096 bytes at an address that is a multiple of 4096. */
static const struct fit fits[] = {
	{ 4, 1024, 1, true },
	{ 4, 1025, 1, false },
	{ 5, 1024, 1, false },
	{ 1, 4096, 4096, true },
	{ 2, 2048, 2048, true },
	{ 2, 2049, 2048, false }, /* the second is at 4096 */
	{ 4, 1000, 1024, true },  /* nothing but the last element's bytes need room behind it */
	{ 4, 1024, 2048, false },
	/* sums and products beyond what a size_t holds: */
	{ 2, SIZE_MAX, 1, false },
	{ 1, SIZE_MAX, 2, false },
	{ 3, SIZE_MAX / 2 + 1, 1, false },
	{ 2, 1, (size_t)1 << 63, false },
};

/* provokes: doca_buf_pool_start DOCA_ERROR_INITIALIZATION */
static void test_pool_starts_if_its_elements_fit_into_the_map(void **state)
{
	static _Alignas(4096) uint8_t page[4096];
	struct doca_mmap *over = api_map(dev, page, sizeof(page), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf_pool *pool;

	for (size_t i = 0; i < API_COUNT(fits); i++) {
		struct doca_buf *buf;

		assert_ok(doca_buf_pool_create(fits[i].num, fits[i].bytes, over, &pool));
		assert_ok(doca_buf_pool_set_element_alignment(pool, fits[i].alignment));
		assert_doca(doca_buf_pool_start(pool), fits[i].fits ? DOCA_SUCCESS : DOCA_ERROR_INITIALIZATION);
		assert_doca(doca_buf_pool_buf_alloc(pool, &buf), fits[i].fits ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE);
		if (fits[i].fits)
			give_back(buf);
		assert_ok(doca_buf_pool_destroy(pool));
	}
	assert_ok(doca_mmap_destroy(over));
}

static void test_alignment_may_make_elements_fit_no_more(void **state)
{
	static _Alignas(64) uint8_t odd[129];
	struct doca_mmap *over = api_map(dev, odd + 1, sizeof(odd) - 1, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf_pool *pool;

	assert_ok(doca_buf_pool_create(2, 64, over, &pool));
	assert_ok(doca_buf_pool_start(pool));
	assert_ok(doca_buf_pool_stop(pool));
	assert_ok(doca_buf_pool_set_element_alignment(pool, 64));
	assert_doca(doca_buf_pool_start(pool), DOCA_ERROR_INITIALIZATION);
	assert_ok(doca_buf_pool_set_element_alignment(pool, 1)); /* it is not started */
	assert_ok(doca_buf_pool_start(pool));
	assert_ok(doca_buf_pool_destroy(pool));
	assert_ok(doca_mmap_destroy(over));
}

/* ---- the map's life ---- */

static struct doca_mmap *map_with_range(bool thread_safe)
{
	struct doca_mmap *made;

	assert_ok(doca_mmap_create(&made));
	assert_ok(doca_mmap_add_dev(made, dev));
	assert_ok(doca_mmap_set_memrange(made, memory, sizeof(memory)));
	if (thread_safe)
		assert_ok(doca_mmap_enable_thread_safety(made));
	return made;
}

static void assert_num_bufs(struct doca_mmap *of, uint32_t expected)
{
	uint32_t count;

	assert_ok(doca_mmap_get_num_bufs(of, &count));
	assert_int_equal(count, expected);
}

/* provokes: doca_buf_pool_start DOCA_ERROR_BAD_STATE */
static void test_map_starts_before_the_pool(void **state)
{
	struct doca_mmap *later = map_with_range(false);
	struct doca_buf_pool *pool;

	assert_ok(doca_buf_pool_create(4, 8, later, &pool));
	assert_doca(doca_buf_pool_start(pool), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_start(later));
	assert_ok(doca_buf_pool_start(pool));
	give_back(pool_take(pool));
	assert_ok(doca_buf_pool_destroy(pool));
	assert_ok(doca_mmap_destroy(later));
}

static void test_map_with_a_pool_neither_stops_nor_ends(void **state)
{
	struct doca_mmap *held = map_with_range(false);
	struct doca_buf_pool *pool, *second;

	assert_ok(doca_buf_pool_create(4, 8, held, &pool));
	assert_doca(doca_mmap_destroy(held), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_start(held));
	assert_ok(doca_buf_pool_start(pool));
	assert_doca(doca_mmap_stop(held), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_destroy(held), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_buf_pool_create(4, 8, held, &second));
	assert_ok(doca_buf_pool_destroy(pool));
	assert_doca(doca_mmap_stop(held), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_buf_pool_destroy(second));
	assert_ok(doca_mmap_stop(held));
	assert_ok(doca_mmap_destroy(held));
}

static void test_map_counts_the_buffers_that_are_out(void **state)
{
	struct doca_buf_pool *pool = pool_of(4, 8);
	struct doca_buf *buf;

	assert_num_bufs(map, 0);
	buf = pool_take(pool);
	assert_num_bufs(map, 1);
	give_back(buf);
	assert_num_bufs(map, 0);
	assert_ok(doca_buf_pool_destroy(pool));
}

static void test_pool_of_a_thread_safe_map_that_is_gone_gives_no_buffers(void **state)
{
	struct doca_mmap *gone = map_with_range(true), *in_its_place;
	struct doca_buf_pool *pool;
	struct doca_buf *out, *buf = NULL;

	assert_ok(doca_mmap_start(gone));
	assert_ok(doca_buf_pool_create(4, 8, gone, &pool));
	assert_ok(doca_buf_pool_start(pool));
	out = pool_take(pool);
	assert_ok(doca_mmap_stop(gone));
	assert_doca(doca_buf_pool_buf_alloc(pool, &buf), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_start(gone));
	give_back(pool_take(pool));
	assert_ok(doca_mmap_destroy(gone));
	in_its_place = map_with_range(false); /* it has the same address, perhaps */
	assert_ok(doca_mmap_start(in_its_place));
	assert_doca(doca_buf_pool_buf_alloc(pool, &buf), DOCA_ERROR_BAD_STATE);
	assert_null(buf);
	give_back(out);
	assert_ok(doca_buf_pool_stop(pool));
	assert_doca(doca_buf_pool_start(pool), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_pool_destroy(pool));
	assert_ok(doca_mmap_destroy(in_its_place));
}

/* ---- tasks ---- */

static void fill(struct doca_buf *buf, uint8_t value)
{
	void *head;
	size_t len;

	assert_ok(doca_buf_get_head(buf, &head));
	assert_ok(doca_buf_get_len(buf, &len));
	memset(head, value, len);
	assert_ok(doca_buf_set_data_len(buf, len));
}

static void assert_holds(struct doca_buf *buf, uint8_t value, size_t expected_len)
{
	void *data;
	size_t len;

	assert_ok(doca_buf_get_data(buf, &data));
	assert_ok(doca_buf_get_data_len(buf, &len));
	assert_int_equal(len, expected_len);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(((uint8_t *)data)[i], value);
}

static void test_task_copies_between_buffers_of_a_pool(void **state)
{
	struct doca_buf_pool *pool = pool_of(3, 100);
	struct doca_buf *src = pool_take(pool), *dst = pool_take(pool), *beside = pool_take(pool);

	fill(beside, 0x11);
	fill(dst, 0x22);
	fill(src, 0x33);
	assert_ok(doca_buf_reset_data_len(dst));
	assert_ok(api_copy(dev, dst, src));
	assert_holds(dst, 0x33, 100);
	assert_holds(beside, 0x11, 100);
	give_back(src);
	give_back(dst);
	give_back(beside);
	assert_ok(doca_buf_pool_destroy(pool));
}

static void test_task_gathers_a_list_of_a_pool_into_an_inventorys_buffer(void **state)
{
	static uint8_t target[96];
	struct doca_mmap *target_map = api_map(dev, target, sizeof(target), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf_inventory *inventory = api_inventory(1);
	struct doca_buf_pool *pool = pool_of(3, 32);
	struct doca_buf *list = pool_take(pool), *dst;

	fill(list, 0);
	for (uint8_t i = 1; i < 3; i++) {
		struct doca_buf *next = pool_take(pool);

		fill(next, i);
		assert_ok(doca_buf_chain_list(list, next));
	}
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, target_map, target, sizeof(target), &dst));
	assert_ok(api_copy(dev, dst, list));
	for (size_t i = 0; i < sizeof(target); i++)
		assert_int_equal(target[i], i / 32);
	give_back(dst);
	give_back(list);
	assert_ok(doca_buf_pool_destroy(pool));
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_ok(doca_mmap_destroy(target_map));
}

/* ---- memory runs out ---- */

static struct doca_mmap *oom_map;
static struct doca_buf_pool *oom_pool;

static doca_error_t step_create(void)
{
	return doca_buf_pool_create(4, 8, oom_map, &oom_pool);
}

/* provokes: doca_buf_pool_create DOCA_ERROR_NO_MEMORY */
static void test_pool_without_memory_for_it_fails_and_the_call_can_be_repeated(void **state)
{
	uint32_t count;

	assert_ok(doca_mmap_create(&oom_map));
	assert_ok(doca_mmap_set_memrange(oom_map, memory, sizeof(memory)));
	api_fail_each_allocation(step_create, NULL);
	assert_ok(doca_buf_pool_get_num_free_elements(oom_pool, &count));
	assert_int_equal(count, 4);
	assert_ok(doca_buf_pool_destroy(oom_pool));
	assert_ok(doca_mmap_destroy(oom_map)); /* no failed pool holds it */
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_pool_starts_if_its_elements_fit_into_the_map),
	cmocka_unit_test(test_alignment_may_make_elements_fit_no_more),
	cmocka_unit_test(test_map_starts_before_the_pool),
	cmocka_unit_test(test_map_with_a_pool_neither_stops_nor_ends),
	cmocka_unit_test(test_map_counts_the_buffers_that_are_out),
	cmocka_unit_test(test_pool_of_a_thread_safe_map_that_is_gone_gives_no_buffers),
	cmocka_unit_test(test_task_copies_between_buffers_of_a_pool),
	cmocka_unit_test(test_task_gathers_a_list_of_a_pool_into_an_inventorys_buffer),
};
static const struct CMUnitTest oom_tests[] = {
	cmocka_unit_test(test_pool_without_memory_for_it_fails_and_the_call_can_be_repeated),
};

int main(void)
{
	return API_RUN(BUF_WORLD("pools at work", tests), { .name = "no memory", .side = "dpu", API_WITH(oom_tests) });
}
