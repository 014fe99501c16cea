/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that is moved over its memory map, out of its buffer, as public programs do with one buffer for many places: each call
 * succeeds (headers of 2.5 to 2.10), tasks use what lies in the map, and fail beyond it. */
#include "inventory_util.h"

#include <doca_mmap_advise.h>
#include <doca_sync_event.h>
#include <stdlib.h>
#include <string.h>

/* 100 bytes at offset 800 of the map. */
static struct doca_buf *take_piece(struct doca_buf_inventory *inventory)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, map, memory + 800, 100, &buf));
	return buf;
}

static void fill_memory(void)
{
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)(i * 7 + i / 256);
}

/* ---- what the buffer says ---- */

static void test_head_and_length_stay_wherever_the_data_goes(void **state)
{
	struct doca_buf *buf = take_piece(*state);

	assert_ok(doca_buf_set_data(buf, memory + 2000, 300));
	api_assert_place(buf, memory + 800, 100, memory + 2000, 300);
	assert_ok(doca_buf_set_data_len(buf, 5));
	api_assert_place(buf, memory + 800, 100, memory + 2000, 5);
	assert_ok(doca_buf_reset_data_len(buf));
	api_assert_place(buf, memory + 800, 100, memory + 2000, 0);
	assert_ok(doca_buf_set_data(buf, memory, 900)); /* around the buffer */
	api_assert_place(buf, memory + 800, 100, memory, 900);
	assert_ok(doca_buf_set_data(buf, memory + 820, 30)); /* and back */
	api_assert_place(buf, memory + 800, 100, memory + 820, 30);
	assert_ok(doca_buf_set_data_len(buf, SIZE_MAX)); /* nowhere */
	api_assert_place(buf, memory + 800, 100, memory + 820, SIZE_MAX);
	assert_ok(doca_buf_set_data(buf, NULL, 10));
	api_assert_place(buf, memory + 800, 100, NULL, 10);
	assert_ok(doca_buf_set_data(buf, memory + 800, 100));
	api_assert_place(buf, memory + 800, 100, memory + 800, 100);
	give_back(buf);
}

static void test_duplicate_of_moved_data_is_as_moved(void **state)
{
	struct doca_buf *buf = take_piece(*state), *copy;

	assert_ok(doca_buf_set_data(buf, memory + 2000, 300));
	assert_ok(doca_buf_inventory_buf_dup(*state, buf, &copy));
	api_assert_place(copy, memory + 800, 100, memory + 2000, 300);
	give_back(buf);
	buf = take_piece(*state); /* perhaps the same element: it is not moved */
	api_assert_place(buf, memory + 800, 100, memory + 800, 0);
	give_back(buf);
	give_back(copy);
}

/* ---- what tasks do ---- */

static void expect_copy(struct doca_buf *dst, size_t dst_at, const struct doca_buf *src, size_t src_at, size_t len)
{
	uint8_t before[sizeof(memory)];
	size_t src_len;

	fill_memory();
	memcpy(before, memory, sizeof(before));
	assert_ok(doca_buf_get_data_len(src, &src_len));
	assert_int_equal(src_len, len);
	assert_ok(api_copy(dev, dst, src));
	memcpy(before + dst_at, before + src_at, len);
	assert_memory_equal(memory, before, sizeof(before));
}

static void expect_failed_copy(struct doca_buf *dst, const struct doca_buf *src)
{
	uint8_t before[sizeof(memory)];

	fill_memory();
	memcpy(before, memory, sizeof(before));
	assert_doca(api_copy(dev, dst, src), DOCA_ERROR_IO_FAILED);
	assert_memory_equal(memory, before, sizeof(before));
}

static void test_one_buffer_is_the_source_of_all_places(void **state)
{
	struct doca_buf *src = take_piece(*state), *dst = take_piece(*state);

	for (size_t at = 0; at < 700; at += 100) {
		assert_ok(doca_buf_set_data(src, memory + at, 100));
		assert_ok(doca_buf_reset_data_len(dst));
		expect_copy(dst, 800, src, at, 100);
	}
	assert_ok(doca_buf_set_data(src, memory + sizeof(memory) - 100, 100)); /* the last bytes */
	assert_ok(doca_buf_reset_data_len(dst));
	expect_copy(dst, 800, src, sizeof(memory) - 100, 100);
	give_back(src);
	give_back(dst);
}

static void test_one_buffer_is_the_destination_of_all_places(void **state)
{
	struct doca_buf *src = take_piece(*state), *dst = take_piece(*state);
	size_t len;

	assert_ok(doca_buf_set_data(src, memory + 820, 50));
	for (size_t at = 1000; at + 50 <= sizeof(memory); at += 500) {
		assert_ok(doca_buf_set_data(dst, memory + at, 0));
		expect_copy(dst, at, src, 820, 50);
		assert_ok(doca_buf_get_data_len(dst, &len)); /* the data grew there */
		assert_int_equal(len, 50);
	}
	assert_ok(doca_buf_set_data(dst, memory + 100, 20)); /* before the buffer, behind 20 bytes of data */
	expect_copy(dst, 120, src, 820, 50);
	give_back(src);
	give_back(dst);
}

/* Back in its buffer, the destination has the buffer's room again. */
static void test_room_ends_with_the_buffer_or_with_the_map(void **state)
{
	struct doca_buf *src = take_piece(*state), *dst = take_piece(*state);

	assert_ok(doca_buf_set_data(src, memory, 100));
	assert_ok(doca_buf_set_data(dst, memory + 850, 100)); /* over the end: room to the end of the map */
	expect_copy(dst, 950, src, 0, 100);
	assert_ok(doca_buf_set_data(dst, memory + 850, 0));
	expect_failed_copy(dst, src);
	assert_ok(doca_buf_set_data(dst, memory + 750, 100)); /* before it: room to the end of the buffer */
	expect_failed_copy(dst, src);
	assert_ok(doca_buf_set_data_len(src, 50));
	expect_copy(dst, 850, src, 0, 50);
	assert_ok(doca_buf_set_data(dst, memory + sizeof(memory) - 49, 0));
	expect_failed_copy(dst, src);
	give_back(src);
	give_back(dst);
}

static void test_data_outside_of_the_map_fails_the_task(void **state)
{
	static const struct {
		ptrdiff_t at;
		size_t len;
	} outside[] = {
		{ -1, 10 }, { sizeof(memory) - 9, 10 }, { sizeof(memory), 1 }, { 1 << 20, 10 }, { 800, SIZE_MAX }
	};
	struct doca_buf *moved = take_piece(*state), *good = take_piece(*state);

	for (size_t i = 0; i < API_COUNT(outside); i++) {
		uint8_t *data = (uint8_t *)((uintptr_t)memory + (uintptr_t)outside[i].at);

		assert_ok(doca_buf_set_data(moved, data, outside[i].len));
		assert_ok(doca_buf_set_data(good, memory + 800, 0));
		expect_failed_copy(good, moved);
		assert_ok(doca_buf_set_data(good, memory + 800, 10));
		expect_failed_copy(moved, good);
	}
	assert_ok(doca_buf_set_data(moved, memory + 900, 0)); /* the end of its buffer */
	expect_failed_copy(moved, good);
	give_back(moved);
	give_back(good);
}

static void test_list_with_moved_data_is_copied(void **state)
{
	struct doca_buf *src[2] = { take_piece(*state), take_piece(*state) }, *dst = take_piece(*state);

	fill_memory();
	assert_ok(doca_buf_set_data(src[0], memory + 3000, 30));
	assert_ok(doca_buf_set_data(src[1], memory + 10, 40));
	assert_ok(doca_buf_chain_list(src[0], src[1]));
	assert_ok(doca_buf_set_data(dst, memory + 2000, 0));
	assert_ok(api_copy(dev, dst, src[0]));
	assert_memory_equal(memory + 2000, memory + 3000, 30);
	assert_memory_equal(memory + 2030, memory + 10, 40);
	assert_ok(doca_buf_unchain_list(src[0], src[1]));
	give_back(src[0]);
	give_back(src[1]);
	give_back(dst);
}

/* ---- other users of buffers ---- */

static void on_invalidated(struct doca_mmap_advise_task_invalidate_cache *task, union doca_data user_data,
			   union doca_data ctx_data)
{
}

static doca_error_t invalidate(struct doca_buf *buf)
{
	struct doca_mmap_advise_task_invalidate_cache *task;
	struct doca_mmap_advise *advise;
	struct doca_task *submitted;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	doca_error_t result;

	assert_ok(doca_pe_create(&pe));
	assert_ok(doca_mmap_advise_create(dev, &advise));
	ctx = doca_mmap_advise_as_ctx(advise);
	assert_ok(doca_mmap_advise_task_invalidate_cache_set_conf(advise, on_invalidated, on_invalidated, 1));
	assert_ok(doca_pe_connect_ctx(pe, ctx));
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_mmap_advise_task_invalidate_cache_alloc_init(advise, buf, (union doca_data){ 0 }, &task));
	submitted = doca_mmap_advise_task_invalidate_cache_as_doca_task(task);
	assert_ok(doca_task_submit(submitted));
	while (doca_pe_progress(pe) == 0)
		;
	result = doca_task_get_status(submitted);
	doca_task_free(submitted);
	(void)doca_ctx_stop(ctx);
	while (doca_pe_progress(pe) > 0)
		;
	assert_ok(doca_mmap_advise_destroy(advise));
	assert_ok(doca_pe_destroy(pe));
	return result;
}

static void test_cache_is_invalidated_in_the_map_only(void **state)
{
	struct doca_buf *buf = take_piece(*state);

	assert_ok(doca_buf_set_data(buf, memory + 2000, 100));
	assert_ok(invalidate(buf));
	assert_ok(doca_buf_set_data(buf, memory + sizeof(memory), 100));
	assert_doca(invalidate(buf), DOCA_ERROR_IO_FAILED);
	give_back(buf);
}

static void test_sync_event_has_its_value_in_the_map_only(void **state)
{
	static uint8_t words[64] __attribute__((aligned(8)));
	struct doca_mmap *word_map = api_map(dev, words, sizeof(words),
					     DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
						     DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC);
	struct doca_sync_event *event;
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_addr(*state, word_map, words, 8, &buf));
	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_buf_set_data(buf, words + sizeof(words), 8));
	assert_invalid(doca_sync_event_set_doca_buf(event, buf));
	assert_ok(doca_buf_set_data(buf, words + 16, 8));
	assert_ok(doca_sync_event_set_doca_buf(event, buf));
	assert_ok(doca_sync_event_destroy(event));
	give_back(buf);
	assert_ok(doca_mmap_destroy(word_map));
}

#define WITH_INVENTORY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_INVENTORY(test_head_and_length_stay_wherever_the_data_goes),
		WITH_INVENTORY(test_duplicate_of_moved_data_is_as_moved),
		WITH_INVENTORY(test_one_buffer_is_the_source_of_all_places),
		WITH_INVENTORY(test_one_buffer_is_the_destination_of_all_places),
		WITH_INVENTORY(test_room_ends_with_the_buffer_or_with_the_map),
		WITH_INVENTORY(test_data_outside_of_the_map_fails_the_task),
		WITH_INVENTORY(test_list_with_moved_data_is_copied),
		WITH_INVENTORY(test_cache_is_invalidated_in_the_map_only),
		WITH_INVENTORY(test_sync_event_has_its_value_in_the_map_only),
	};

	return API_RUN({ .name = "dpu", .side = "dpu", API_WITH(tests), .setup = open_all, .teardown = close_all });
}
