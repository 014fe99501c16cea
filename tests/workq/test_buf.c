/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories, buffers and pools under their old names. */
#include <doca_bufpool.h>
#include <string.h>

#include "rig.h"

static char memory[8192];

static void test_an_inventory_is_configured_at_its_creation(void **state)
{
	const union doca_data mine = { .u64 = 99 };
	struct doca_buf_inventory *inventory;
	union doca_data data;
	uint32_t count;

	assert_int_equal(doca_buf_inventory_create(&mine, 5, DOCA_BUF_EXTENSION_NONE, &inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_get_user_data(inventory, &data), DOCA_SUCCESS);
	assert_int_equal(data.u64, 99);
	assert_int_equal(doca_buf_inventory_get_num_elements(inventory, &count), DOCA_SUCCESS);
	assert_int_equal(count, 5);
	assert_int_equal(doca_buf_inventory_get_num_free_elements(inventory, &count), DOCA_SUCCESS);
	assert_int_equal(count, 5);
	assert_int_equal(doca_buf_inventory_destroy(inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_create(NULL, 5, 1, &inventory), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_create(NULL, 0, 0, &inventory), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_buf_inventory_create(NULL, 5, 0, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void test_a_buffer_has_an_address_and_a_length(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = rig_map(rig, memory, sizeof(memory), DOCA_ACCESS_LOCAL_READ_WRITE);
	struct doca_buf *buf, *twin;
	uint16_t count;
	size_t len;
	void *addr;

	assert_int_equal(doca_buf_inventory_buf_by_args(rig->inventory, mmap, memory, 100, memory + 10, 20, &buf),
			 DOCA_SUCCESS);
	assert_int_equal(doca_buf_get_head(buf, &addr), DOCA_SUCCESS);
	assert_ptr_equal(addr, memory);
	assert_int_equal(doca_buf_get_len(buf, &len), DOCA_SUCCESS);
	assert_int_equal(len, 100);
	assert_int_equal(doca_buf_get_data(buf, &addr), DOCA_SUCCESS);
	assert_ptr_equal(addr, memory + 10);
	assert_int_equal(doca_buf_get_data_len(buf, &len), DOCA_SUCCESS);
	assert_int_equal(len, 20);
	assert_int_equal(doca_buf_inventory_buf_dup(rig->inventory, buf, &twin), DOCA_SUCCESS);
	assert_int_equal(doca_buf_refcount_add(buf, &count), DOCA_SUCCESS);
	assert_int_equal(doca_buf_get_refcount(buf, &count), DOCA_SUCCESS);
	assert_int_equal(count, 2);
	rig_return(buf);
	rig_return(buf);
	assert_int_equal(doca_buf_refcount_rm(buf, NULL), DOCA_ERROR_BAD_STATE);
	rig_return(twin);
	assert_int_equal(doca_buf_inventory_buf_by_addr(rig->inventory, mmap, memory + 1, sizeof(memory), &buf),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void test_lists_are_chained_and_cut(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = rig_map(rig, memory, sizeof(memory), DOCA_ACCESS_LOCAL_READ_WRITE);
	struct doca_buf *head = rig_data(rig, mmap, memory, 10), *rest = rig_data(rig, mmap, memory + 10, 10), *found;
	uint32_t count;
	uint8_t inside;
	bool yes;

	assert_int_equal(doca_buf_list_chain(head, rest), DOCA_SUCCESS);
	assert_int_equal(doca_buf_list_num_elements(head, &count), DOCA_SUCCESS);
	assert_int_equal(count, 2);
	assert_int_equal(doca_buf_list_next(head, &found), DOCA_SUCCESS);
	assert_ptr_equal(found, rest);
	assert_int_equal(doca_buf_list_last(head, &found), DOCA_SUCCESS);
	assert_ptr_equal(found, rest);
	assert_int_equal(doca_buf_list_is_first(head, &yes), DOCA_SUCCESS);
	assert_true(yes);
	assert_int_equal(doca_buf_list_is_last(head, &yes), DOCA_SUCCESS);
	assert_false(yes);
	assert_int_equal(doca_buf_is_in_list(rest, &inside), DOCA_SUCCESS);
	assert_int_equal(inside, 1);
	assert_int_equal(doca_buf_list_unchain(head, rest), DOCA_SUCCESS);
	assert_int_equal(doca_buf_is_in_list(rest, &inside), DOCA_SUCCESS);
	assert_int_equal(inside, 0);
	rig_return(head);
	rig_return(rest);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void test_a_pool_cuts_a_map_into_elements(void **state)
{
	struct rig *rig = *state;
	const union doca_data mine = { .u64 = 4 };
	struct doca_mmap *mmap = rig_map(rig, memory, sizeof(memory), DOCA_ACCESS_LOCAL_READ_WRITE);
	struct doca_bufpool *pool;
	struct doca_buf *bufs[2], *none;
	union doca_data data;
	uint32_t count;
	void *head;

	assert_int_equal(doca_bufpool_create(&mine, 2, DOCA_BUF_EXTENSION_NONE, 100, 64, mmap, &pool), DOCA_SUCCESS);
	assert_int_equal(doca_bufpool_get_user_data(pool, &data), DOCA_SUCCESS);
	assert_int_equal(data.u64, 4);
	assert_int_equal(doca_bufpool_start(pool), DOCA_SUCCESS);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(doca_bufpool_buf_alloc(pool, &bufs[i]), DOCA_SUCCESS);
		assert_int_equal(doca_buf_get_head(bufs[i], &head), DOCA_SUCCESS);
		assert_int_equal((uintptr_t)head % 64, 0);
	}
	assert_int_equal(doca_bufpool_buf_alloc(pool, &none), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_bufpool_get_num_elements(pool, &count), DOCA_SUCCESS);
	assert_int_equal(count, 2);
	assert_int_equal(doca_bufpool_get_num_free_elements(pool, &count), DOCA_SUCCESS);
	assert_int_equal(count, 0);
	assert_int_equal(doca_bufpool_destroy(pool), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_bufpool_stop(pool), DOCA_SUCCESS); /* while the program holds its buffers */
	rig_return(bufs[0]);
	assert_int_equal(doca_bufpool_buf_alloc(pool, &bufs[0]), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_bufpool_start(pool), DOCA_SUCCESS);
	assert_int_equal(doca_bufpool_buf_alloc(pool, &bufs[0]), DOCA_SUCCESS);
	rig_return(bufs[0]);
	rig_return(bufs[1]);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_bufpool_destroy(pool), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void test_a_pool_needs_one_range(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap;
	struct doca_bufpool *pool;

	assert_int_equal(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	assert_int_equal(doca_bufpool_create(NULL, 1, 0, 100, 1, mmap, &pool), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_dev_add(mmap, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_populate(mmap, memory, 100, 4096, NULL, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_bufpool_create(NULL, 1, 0, 100, 1, mmap, &pool), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_dev_rm(mmap, rig->dev), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_bufpool_destroy(pool), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_populate(mmap, memory + 100, 100, 4096, NULL, NULL), DOCA_SUCCESS);
	assert_int_equal(doca_bufpool_create(NULL, 1, 0, 100, 1, mmap, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	mmap = rig_map(rig, memory, sizeof(memory), DOCA_ACCESS_LOCAL_READ_WRITE);
	assert_int_equal(doca_bufpool_create(NULL, 1, 1, 100, 1, mmap, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_bufpool_create(NULL, 0, 0, 100, 1, mmap, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_bufpool_create(NULL, 1, 0, 0, 1, mmap, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_bufpool_create(NULL, 1, 0, 100, 3, mmap, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_bufpool_create(NULL, 1, 0, 100, 1, mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_bufpool_create(NULL, 1, 0, 100, 1, NULL, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_an_inventory_is_configured_at_its_creation),
		TEST(test_a_buffer_has_an_address_and_a_length),
		TEST(test_lists_are_chained_and_cut),
		TEST(test_a_pool_cuts_a_map_into_elements),
		TEST(test_a_pool_needs_one_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
