/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events whose value lies in memory of the program: at an address, or in a buffer. */
#include "sync_event_util.h"
#include "under_valgrind.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUF_ACCESS                                                                                      \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

static struct doca_dev *dev;
static uint64_t words[512];

static uint64_t plain(const uint64_t *word)
{
	return atomic_load((const _Atomic uint64_t *)word);
}

/* ---- an address ---- */

static void test_value_at_an_address_begins_with_what_is_there(void **state)
{
	struct doca_sync_event *event = se_new(dev);
	uint64_t fetched;

	words[3] = 12;
	assert_ok(doca_sync_event_set_addr(event, &words[3]));
	assert_ok(doca_sync_event_start(event));
	assert_int_equal(se_value(event), 12);
	assert_ok(doca_sync_event_update_add(event, 3, &fetched));
	assert_int_equal(plain(&words[3]), 15);
	words[3] = 99; /* a plain store */
	assert_int_equal(se_value(event), 99);
	assert_ok(doca_sync_event_wait_gt(event, 98, UINT64_MAX));
	assert_ok(doca_sync_event_stop(event));
	assert_ok(doca_sync_event_start(event));
	assert_int_equal(se_value(event), 99);
	se_end(event);
	assert_int_equal(words[2], 0);
	assert_int_equal(words[4], 0);
}

static void test_two_events_at_one_address_have_one_value(void **state)
{
	struct doca_sync_event *one = se_new(dev), *other = se_new(dev);

	assert_ok(doca_sync_event_set_addr(one, &words[0]));
	assert_ok(doca_sync_event_set_addr(other, &words[0]));
	assert_ok(doca_sync_event_start(one));
	assert_ok(doca_sync_event_start(other));
	assert_ok(doca_sync_event_update_set(one, 31));
	assert_int_equal(se_value(other), 31);
	se_end(one);
	assert_ok(doca_sync_event_update_set(other, 32));
	se_end(other);
	assert_int_equal(words[0], 32);
}

/* provokes: doca_sync_event_set_addr DOCA_ERROR_INVALID_VALUE */
static void test_address_that_is_missing_or_uneven_is_refused(void **state)
{
	struct doca_sync_event *event = se_new(dev);

	assert_invalid(doca_sync_event_set_addr(NULL, &words[0]));
	assert_invalid(doca_sync_event_set_addr(event, NULL));
	assert_invalid(doca_sync_event_set_addr(event, (uint64_t *)((char *)&words[0] + 4)));
	assert_ok(doca_sync_event_destroy(event));
}

/* provokes: doca_sync_event_set_addr DOCA_ERROR_NOT_SUPPORTED */
static void test_address_without_memory_to_write_to_is_refused(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t *constant = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct doca_sync_event *event = se_new(dev);

	assert_ptr_not_equal(constant, MAP_FAILED);
	assert_doca(doca_sync_event_set_addr(event, constant), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(munmap(constant, page), 0);
	assert_doca(doca_sync_event_set_addr(event, constant), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_sync_event_start(event)); /* with memory of the library's */
	assert_int_equal(se_value(event), 0);
	se_end(event);
}

/* Each operation fails and says so; the event can be stopped. */
static void test_value_in_memory_that_was_unmapped(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t *word;
	struct doca_sync_event *event;
	uint64_t value = 77;

	if (RUNNING_ON_VALGRIND) /* it reports the accesses */
		skip();
	word = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(word, MAP_FAILED);
	event = se_new(dev);
	assert_ok(doca_sync_event_set_addr(event, word));
	assert_ok(doca_sync_event_start(event));
	assert_ok(doca_sync_event_update_set(event, 5));
	assert_int_equal(munmap(word, page), 0);
	assert_doca(doca_sync_event_get(event, &value), DOCA_ERROR_IO_FAILED);
	assert_int_equal(value, 77);
	assert_doca(doca_sync_event_update_set(event, 1), DOCA_ERROR_IO_FAILED);
	assert_doca(doca_sync_event_update_add(event, 1, &value), DOCA_ERROR_IO_FAILED);
	assert_doca(doca_sync_event_wait_gt(event, 1, UINT64_MAX), DOCA_ERROR_IO_FAILED);
	assert_int_equal(msync(word, page, MS_ASYNC), -1); /* nothing was left there */
	se_end(event);
}

/* A card does not see the protection. */
static void test_value_in_memory_that_is_protected(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t *word;
	struct doca_sync_event *event;
	uint64_t fetched;

	if (RUNNING_ON_VALGRIND) /* it reports the accesses */
		skip();
	word = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(word, MAP_FAILED);
	event = se_new(dev);
	assert_ok(doca_sync_event_set_addr(event, word));
	assert_ok(doca_sync_event_start(event));
	assert_int_equal(mprotect(word, page, PROT_READ), 0);
	assert_ok(doca_sync_event_update_set(event, 5));
	assert_int_equal(*word, 5);
	assert_int_equal(mprotect(word, page, PROT_NONE), 0);
	assert_ok(doca_sync_event_update_add(event, 2, &fetched));
	assert_int_equal(fetched, 5);
	assert_int_equal(se_value(event), 7);
	se_end(event);
	assert_int_equal(munmap(word, page), 0);
}

/* ---- a buffer ---- */

struct place {
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;
};

/* A buffer with @data_len bytes of data at @at. */
static struct place place_at(void *at, size_t data_len, uint32_t access)
{
	struct place place = { .map = api_map(dev, words, sizeof(words), access), .inventory = api_inventory(4) };

	assert_ok(doca_buf_inventory_buf_get_by_data(place.inventory, place.map, at, data_len, &place.buf));
	return place;
}

static void free_place(struct place *place)
{
	assert_ok(doca_buf_dec_refcount(place->buf, NULL));
	assert_ok(doca_buf_inventory_destroy(place->inventory));
	assert_ok(doca_mmap_destroy(place->map));
}

static void test_value_lies_in_a_buffers_data(void **state)
{
	struct place place = place_at(&words[8], 8, BUF_ACCESS);
	struct doca_sync_event *event = se_new(dev);

	words[8] = 4;
	assert_ok(doca_sync_event_set_doca_buf(event, place.buf));
	assert_ok(doca_sync_event_start(event));
	assert_int_equal(se_value(event), 4);
	assert_ok(doca_sync_event_update_set(event, 5));
	assert_int_equal(plain(&words[8]), 5);
	se_end(event);
	free_place(&place);
}

static void test_event_holds_a_reference_to_its_buffer(void **state)
{
	struct place place = place_at(&words[8], 8, BUF_ACCESS), other = place_at(&words[9], 8, BUF_ACCESS);
	struct doca_sync_event *event = se_new(dev);
	uint16_t count;

	assert_ok(doca_sync_event_set_doca_buf(event, place.buf));
	assert_ok(doca_buf_get_refcount(place.buf, &count));
	assert_int_equal(count, 2);
	assert_ok(doca_sync_event_set_doca_buf(event, other.buf)); /* instead */
	assert_ok(doca_buf_get_refcount(place.buf, &count));
	assert_int_equal(count, 1);
	assert_ok(doca_sync_event_set_addr(event, &words[0])); /* instead */
	assert_ok(doca_buf_get_refcount(other.buf, &count));
	assert_int_equal(count, 1);
	assert_ok(doca_sync_event_set_doca_buf(event, place.buf));
	assert_ok(doca_sync_event_destroy(event));
	free_place(&place);
	free_place(&other);
}

/* provokes: doca_sync_event_set_doca_buf DOCA_ERROR_NOT_PERMITTED */
static void test_buffer_without_a_permission_is_refused(void **state)
{
	static const uint32_t flags[] = { DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, DOCA_ACCESS_FLAG_RDMA_READ,
					  DOCA_ACCESS_FLAG_RDMA_WRITE, DOCA_ACCESS_FLAG_RDMA_ATOMIC };
	struct doca_sync_event *event = se_new(dev);

	for (size_t i = 0; i < API_COUNT(flags); i++) {
		struct place place = place_at(words, 8, BUF_ACCESS & ~flags[i]);

		assert_doca(doca_sync_event_set_doca_buf(event, place.buf), DOCA_ERROR_NOT_PERMITTED);
		free_place(&place);
	}
	assert_ok(doca_sync_event_destroy(event));
}

static void test_buffer_of_another_length_is_refused(void **state)
{
	static const size_t lens[] = { 0, 4, 7, 9, 16 };
	struct doca_sync_event *event = se_new(dev);
	struct place place = place_at(words, 8, BUF_ACCESS);

	for (size_t i = 0; i < API_COUNT(lens); i++) {
		struct place wrong = place_at(words, 16, BUF_ACCESS);

		assert_ok(doca_buf_set_data_len(wrong.buf, lens[i]));
		assert_doca(doca_sync_event_set_doca_buf(event, wrong.buf), DOCA_ERROR_NOT_PERMITTED);
		free_place(&wrong);
	}
	assert_ok(doca_sync_event_set_doca_buf(event, place.buf));
	assert_ok(doca_buf_set_data_len(place.buf, 0)); /* afterwards */
	assert_doca(doca_sync_event_start(event), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_sync_event_destroy(event));
	free_place(&place);
}

static void test_list_of_buffers_is_refused(void **state)
{
	struct place place = place_at(words, 8, BUF_ACCESS);
	struct doca_sync_event *event = se_new(dev);
	struct doca_buf *second;

	assert_ok(doca_buf_inventory_buf_get_by_data(place.inventory, place.map, &words[4], 8, &second));
	assert_ok(doca_buf_chain_list(place.buf, second));
	assert_doca(doca_sync_event_set_doca_buf(event, place.buf), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_sync_event_set_doca_buf(event, second), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_sync_event_destroy(event));
	free_place(&place); /* the list as a whole */
}

/* provokes: doca_sync_event_set_doca_buf DOCA_ERROR_INVALID_VALUE */
static void test_buffer_that_is_missing_or_uneven_is_refused(void **state)
{
	struct place place = place_at((char *)words + 2, 8, BUF_ACCESS);
	struct doca_sync_event *event = se_new(dev);

	assert_invalid(doca_sync_event_set_doca_buf(NULL, place.buf));
	assert_invalid(doca_sync_event_set_doca_buf(event, NULL));
	assert_invalid(doca_sync_event_set_doca_buf(event, (struct doca_buf *)dev));
	assert_invalid(doca_sync_event_set_doca_buf(event, place.buf));
	assert_ok(doca_sync_event_destroy(event));
	free_place(&place);
}

/* provokes: doca_sync_event_set_doca_buf DOCA_ERROR_BAD_STATE */
static void test_buffer_is_given_before_the_start(void **state)
{
	struct place place = place_at(words, 8, BUF_ACCESS);
	struct doca_sync_event *event = se_started(dev);

	assert_doca(doca_sync_event_set_doca_buf(event, place.buf), DOCA_ERROR_BAD_STATE);
	se_end(event);
	free_place(&place);
}

/* ---- as contexts ---- */

static void test_context_works_on_given_memory_too(void **state)
{
	struct doca_sync_event *event = se_new(dev);
	struct se_ctx *se;

	words[1] = 10;
	assert_ok(doca_sync_event_set_addr(event, &words[1]));
	se = se_run(event);
	assert_ok(doca_task_submit(se_wait_eq(se, 1, 20, UINT64_MAX)));
	se_progress(se);
	assert_se_trace(se, "");
	words[1] = 20;
	se_progress(se);
	assert_se_trace(se, "wait_eq 1 done\n");
	se_close(se);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_value_at_an_address_begins_with_what_is_there),
	cmocka_unit_test(test_two_events_at_one_address_have_one_value),
	cmocka_unit_test(test_address_that_is_missing_or_uneven_is_refused),
	cmocka_unit_test(test_address_without_memory_to_write_to_is_refused),
	cmocka_unit_test(test_value_in_memory_that_was_unmapped),
	cmocka_unit_test(test_value_in_memory_that_is_protected),
	cmocka_unit_test(test_value_lies_in_a_buffers_data),
	cmocka_unit_test(test_event_holds_a_reference_to_its_buffer),
	cmocka_unit_test(test_buffer_without_a_permission_is_refused),
	cmocka_unit_test(test_buffer_of_another_length_is_refused),
	cmocka_unit_test(test_list_of_buffers_is_refused),
	cmocka_unit_test(test_buffer_that_is_missing_or_uneven_is_refused),
	cmocka_unit_test(test_buffer_is_given_before_the_start),
	cmocka_unit_test(test_context_works_on_given_memory_too),
};

int main(void)
{
	return API_RUN({ .name = "DPU", .topology = "sync_events.yaml", .side = "dpu", API_WITH(tests), .dev = &dev });
}
