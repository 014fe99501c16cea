/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes with inventories, buffers and pools: the code and the log line of each call. Card: data/poor.yaml.
 *
 * Errors that can't be provoked here:
 * unreachable: doca_buf_refcount_add DOCA_ERROR_NOT_SUPPORTED: early releases lacked it, no simulated one does
 */
#include <doca_bufpool.h>
#include <string.h>

#include "refuse.h"
#include "doca_check.h"
#include "rig.h"

static char memory[8192];

static struct doca_mmap *map_of_memory(struct rig *rig)
{
	return rig_map(rig, memory, sizeof(memory), DOCA_ACCESS_LOCAL_READ_WRITE);
}

/* ---- inventories ---- */

static void test_a_handle_of_no_live_inventory_is_refused_everywhere(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = map_of_memory(rig);
	struct doca_buf *buf = rig_room(rig, mmap, memory, 1), *none = NULL;
	struct doca_buf_inventory *stale, *wrong[] = { NULL, NULL, (struct doca_buf_inventory *)rig->workq };
	union doca_data data;
	uint32_t count = 7;

	assert_ok(doca_buf_inventory_create(NULL, 1, 0, &stale));
	assert_ok(doca_buf_inventory_destroy(stale));
	wrong[1] = stale;
	for (int i = 0; i < 3; i++) {
		assert_refused_invalid(doca_buf_inventory_destroy(wrong[i]));
		assert_refused_invalid(doca_buf_inventory_start(wrong[i]));
		assert_refused_invalid(doca_buf_inventory_stop(wrong[i]));
		assert_refused_invalid(doca_buf_inventory_buf_by_args(wrong[i], mmap, memory, 1, memory, 1, &none));
		assert_refused_invalid(doca_buf_inventory_buf_dup(wrong[i], buf, &none));
		assert_refused_invalid(doca_buf_inventory_get_num_elements(wrong[i], &count));
		assert_refused_invalid(doca_buf_inventory_get_num_free_elements(wrong[i], &count));
		assert_refused_invalid(doca_buf_inventory_get_user_data(wrong[i], &data));
	}
	assert_null(none);
	assert_int_equal(count, 7);
	rig_return(buf);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_an_inventory_has_a_size_and_its_questions_a_place_for_the_answer(void **state)
{
	struct rig *rig = *state;
	struct doca_buf_inventory *none = NULL;

	assert_refused_invalid(doca_buf_inventory_create(NULL, 0, 0, &none));
	assert_refused_invalid(doca_buf_inventory_create(NULL, SIZE_MAX, 0, &none));
	assert_refused_invalid(doca_buf_inventory_create(NULL, 1, 4, &none)); /* no such extension */
	assert_refused_invalid(doca_buf_inventory_create(NULL, 1, 0, NULL));
	assert_null(none);
	assert_refused_invalid(doca_buf_inventory_get_num_elements(rig->inventory, NULL));
	assert_refused_invalid(doca_buf_inventory_get_num_free_elements(rig->inventory, NULL));
	assert_refused_invalid(doca_buf_inventory_get_user_data(rig->inventory, NULL));
}

static void test_a_buffer_lies_in_a_started_map_and_its_data_in_the_buffer(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = map_of_memory(rig), *fresh;
	struct doca_buf *none = NULL;
	char *end = memory + sizeof(memory), *before = (char *)((uintptr_t)memory - 1);

	assert_ok(doca_mmap_create(NULL, &fresh));
	assert_refused_invalid(doca_buf_inventory_buf_by_args(rig->inventory, NULL, memory, 1, memory, 1, &none));
	assert_refused_invalid(doca_buf_inventory_buf_by_args(rig->inventory, fresh, memory, 1, memory, 1, &none));
	assert_refused_invalid(doca_buf_inventory_buf_by_args(rig->inventory, mmap, memory, 1, memory, 1, NULL));
	assert_refused_invalid(doca_buf_inventory_buf_by_args(rig->inventory, mmap, before, 1, before, 1, &none));
	assert_refused_invalid(
		doca_buf_inventory_buf_by_args(rig->inventory, mmap, memory, sizeof(memory) + 1, memory, 1, &none));
	assert_refused_invalid(doca_buf_inventory_buf_by_args(rig->inventory, mmap, end - 1, 2, end - 1, 0, &none));
	assert_refused_invalid(
		doca_buf_inventory_buf_by_args(rig->inventory, mmap, memory + 1, SIZE_MAX, memory + 1, 0, &none));
	assert_refused_invalid(doca_buf_inventory_buf_by_args(rig->inventory, mmap, memory, 8, memory + 8, 1, &none));
	assert_refused_invalid(doca_buf_inventory_buf_by_args(rig->inventory, mmap, memory, 8, memory, 9, &none));
	assert_refused_invalid(
		doca_buf_inventory_buf_by_args(rig->inventory, mmap, memory + 8, 8, memory + 7, 1, &none));
	assert_ok(doca_mmap_stop(mmap));
	assert_refused_invalid(doca_buf_inventory_buf_by_args(rig->inventory, mmap, memory, 1, memory, 1, &none));
	assert_null(none);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(fresh));
}

static void test_a_started_inventory_gives_all_its_buffers(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = map_of_memory(rig);
	struct doca_buf_inventory *single;
	struct doca_buf *buf, *member, *none = NULL;

	assert_ok(doca_buf_inventory_create(NULL, 1, 0, &single));
	assert_refused_invalid(doca_buf_inventory_buf_by_args(single, mmap, memory, 1, memory, 1, &none));
	buf = rig_room(rig, mmap, memory, 1);
	member = rig_room(rig, mmap, memory, 1);
	assert_refused(doca_buf_inventory_buf_dup(single, buf, &none), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_inventory_start(single));
	assert_ok(doca_buf_list_chain(buf, member));
	assert_refused(doca_buf_inventory_buf_dup(single, buf, &none), DOCA_ERROR_NO_MEMORY); /* a list of two */
	assert_refused(doca_buf_inventory_buf_dup(single, member, &none), DOCA_ERROR_NOT_PERMITTED);
	assert_refused_invalid(doca_buf_inventory_buf_dup(single, NULL, &none));
	assert_refused_invalid(doca_buf_inventory_buf_dup(single, buf, NULL));
	assert_null(none);
	rig_return(buf);
	assert_ok(doca_buf_inventory_buf_by_addr(single, mmap, memory, 1, &buf));
	assert_refused(doca_buf_inventory_buf_by_args(single, mmap, memory, 1, memory, 1, &none), DOCA_ERROR_NO_MEMORY);
	assert_refused(doca_buf_inventory_destroy(single), DOCA_ERROR_IN_USE);
	rig_return(buf);
	assert_ok(doca_buf_inventory_stop(single));
	assert_refused_invalid(doca_buf_inventory_buf_by_args(single, mmap, memory, 1, memory, 1, &none));
	assert_ok(doca_buf_inventory_destroy(single));
	assert_ok(doca_mmap_destroy(mmap));
}

/* ---- buffers ---- */

/* provokes: doca_buf_list_last DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_list_num_elements DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_list_unchain DOCA_ERROR_INVALID_VALUE */
static void test_a_handle_of_no_live_buffer_is_refused_everywhere(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = map_of_memory(rig);
	struct doca_buf *stale = rig_room(rig, mmap, memory, 1), *good = rig_room(rig, mmap, memory, 1), *found = NULL;
	struct doca_buf *wrong[] = { NULL, stale, (struct doca_buf *)rig->workq };
	uint32_t count;
	uint16_t refs;
	uint8_t inside;
	size_t len;
	void *addr;
	bool yes;

	rig_return(stale);
	for (int i = 0; i < 3; i++) {
		assert_refused_invalid(doca_buf_get_refcount(wrong[i], &refs));
		assert_refused_invalid(doca_buf_get_head(wrong[i], &addr));
		assert_refused_invalid(doca_buf_get_len(wrong[i], &len));
		assert_refused_invalid(doca_buf_get_data(wrong[i], &addr));
		assert_refused_invalid(doca_buf_get_data_len(wrong[i], &len));
		assert_refused_invalid(doca_buf_set_data(wrong[i], memory, 1));
		assert_refused_invalid(doca_buf_reset_data_len(wrong[i]));
		assert_refused_invalid(doca_buf_list_chain(wrong[i], good));
		assert_refused_invalid(doca_buf_list_chain(good, wrong[i]));
		assert_refused_invalid(doca_buf_list_unchain(wrong[i], good));
		assert_refused_invalid(doca_buf_list_unchain(good, wrong[i]));
		assert_refused_invalid(doca_buf_list_next(wrong[i], &found));
		assert_refused_invalid(doca_buf_list_last(wrong[i], &found));
		assert_refused_invalid(doca_buf_list_num_elements(wrong[i], &count));
		assert_refused_invalid(doca_buf_list_is_first(wrong[i], &yes));
		assert_refused_invalid(doca_buf_list_is_last(wrong[i], &yes));
		assert_refused_invalid(doca_buf_is_in_list(wrong[i], &inside));
	}
	assert_null(found);
	rig_return(good);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_a_buffers_answers_need_a_place(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = map_of_memory(rig);
	struct doca_buf *buf = rig_room(rig, mmap, memory, 1);

	assert_refused_invalid(doca_buf_get_refcount(buf, NULL));
	assert_refused_invalid(doca_buf_get_head(buf, NULL));
	assert_refused_invalid(doca_buf_get_len(buf, NULL));
	assert_refused_invalid(doca_buf_get_data(buf, NULL));
	assert_refused_invalid(doca_buf_get_data_len(buf, NULL));
	assert_refused_invalid(doca_buf_list_next(buf, NULL));
	assert_refused_invalid(doca_buf_list_last(buf, NULL));
	assert_refused_invalid(doca_buf_list_num_elements(buf, NULL));
	assert_refused_invalid(doca_buf_list_is_first(buf, NULL));
	assert_refused_invalid(doca_buf_list_is_last(buf, NULL));
	assert_refused_invalid(doca_buf_is_in_list(buf, NULL));
	rig_return(buf);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_a_data_segment_outside_its_buffer_is_refused_and_changes_nothing(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = map_of_memory(rig);
	struct doca_buf *buf = rig_data(rig, mmap, memory + 100, 100);
	size_t len;
	void *data;

	assert_refused_invalid(doca_buf_set_data(buf, memory + 99, 1));
	assert_refused_invalid(doca_buf_set_data(buf, memory + 100, 101));
	assert_refused_invalid(doca_buf_set_data(buf, memory + 200, 1));
	assert_refused_invalid(doca_buf_set_data(buf, memory + 101, SIZE_MAX));
	assert_ok(doca_buf_get_data(buf, &data));
	assert_ptr_equal(data, memory + 100);
	assert_ok(doca_buf_get_data_len(buf, &len));
	assert_int_equal(len, 100);
	rig_return(buf);
	assert_ok(doca_mmap_destroy(mmap));
}

/* provokes: doca_buf_refcount_rm DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_buf_list_num_elements DOCA_ERROR_NOT_PERMITTED */
static void test_a_member_of_a_list_is_no_head(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = map_of_memory(rig);
	struct doca_buf *head = rig_room(rig, mmap, memory, 1), *member = rig_room(rig, mmap, memory, 1);
	struct doca_buf *other = rig_room(rig, mmap, memory, 1);
	uint32_t count = 7;

	assert_refused(doca_buf_list_chain(head, head), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_buf_list_chain(head, member));
	assert_refused(doca_buf_refcount_rm(member, NULL), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_buf_refcount_add(member, NULL), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_buf_list_num_elements(member, &count), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_buf_list_chain(member, other), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_buf_list_chain(other, member), DOCA_ERROR_NOT_PERMITTED);
	assert_refused_invalid(doca_buf_list_unchain(head, head));
	assert_refused_invalid(doca_buf_list_unchain(head, other));
	assert_refused_invalid(doca_buf_list_unchain(member, head));
	assert_int_equal(count, 7);
	assert_ok(doca_buf_refcount_add(other, NULL));
	assert_refused(doca_buf_list_chain(head, other), DOCA_ERROR_NOT_PERMITTED); /* two references */
	rig_return(other);
	rig_return(other);
	rig_return(head);
	assert_refused(doca_buf_refcount_rm(head, NULL), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(mmap));
}

/* ---- pools ---- */

/* provokes: doca_bufpool_buf_alloc DOCA_ERROR_INVALID_VALUE
 * provokes: doca_bufpool_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_bufpool_get_num_elements DOCA_ERROR_INVALID_VALUE
 * provokes: doca_bufpool_get_num_free_elements DOCA_ERROR_INVALID_VALUE
 * provokes: doca_bufpool_get_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_bufpool_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_bufpool_stop DOCA_ERROR_INVALID_VALUE */
static void test_a_handle_of_no_live_pool_is_refused_everywhere(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = map_of_memory(rig);
	struct doca_bufpool *stale, *wrong[] = { NULL, NULL, (struct doca_bufpool *)rig->inventory };
	struct doca_buf *none = NULL;
	union doca_data data;
	uint32_t count = 7;

	assert_ok(doca_bufpool_create(NULL, 1, 0, 1, 1, mmap, &stale));
	assert_ok(doca_bufpool_destroy(stale));
	wrong[1] = stale;
	for (int i = 0; i < 3; i++) {
		assert_refused_invalid(doca_bufpool_destroy(wrong[i]));
		assert_refused_invalid(doca_bufpool_start(wrong[i]));
		assert_refused_invalid(doca_bufpool_stop(wrong[i]));
		assert_refused_invalid(doca_bufpool_buf_alloc(wrong[i], &none));
		assert_refused_invalid(doca_bufpool_get_num_elements(wrong[i], &count));
		assert_refused_invalid(doca_bufpool_get_num_free_elements(wrong[i], &count));
		assert_refused_invalid(doca_bufpool_get_user_data(wrong[i], &data));
	}
	assert_null(none);
	assert_int_equal(count, 7);
	assert_ok(doca_mmap_destroy(mmap));
}

/* provokes: doca_bufpool_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_bufpool_create DOCA_ERROR_BAD_STATE */
static void test_a_pool_has_elements_of_a_size_over_one_range(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = map_of_memory(rig), *fresh;
	struct doca_bufpool *none = NULL;

	assert_ok(doca_mmap_create(NULL, &fresh));
	assert_refused_invalid(doca_bufpool_create(NULL, 0, 0, 1, 1, mmap, &none));
	assert_refused_invalid(doca_bufpool_create(NULL, SIZE_MAX, 0, 1, 1, mmap, &none));
	assert_refused_invalid(doca_bufpool_create(NULL, 1, 4, 1, 1, mmap, &none));
	assert_refused_invalid(doca_bufpool_create(NULL, 1, 0, 0, 1, mmap, &none));
	assert_refused_invalid(doca_bufpool_create(NULL, 1, 0, 1, 3, mmap, &none));
	assert_refused_invalid(doca_bufpool_create(NULL, 1, 0, 1, 1, NULL, &none));
	assert_refused_invalid(doca_bufpool_create(NULL, 1, 0, 1, 1, mmap, NULL));
	assert_refused(doca_bufpool_create(NULL, 1, 0, 1, 1, fresh, &none), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_start(fresh));
	assert_refused(doca_bufpool_create(NULL, 1, 0, 1, 1, fresh, &none), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_populate(fresh, memory, 100, 4096, NULL, NULL));
	assert_ok(doca_mmap_populate(fresh, memory + 100, 100, 4096, NULL, NULL));
	assert_refused_invalid(doca_bufpool_create(NULL, 1, 0, 1, 1, fresh, &none));
	assert_null(none);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(fresh));
}

/* provokes: doca_bufpool_buf_alloc DOCA_ERROR_BAD_STATE
 * provokes: doca_bufpool_buf_alloc DOCA_ERROR_NO_MEMORY
 * provokes: doca_bufpool_destroy DOCA_ERROR_IN_USE
 * provokes: doca_bufpool_start DOCA_ERROR_BAD_STATE */
static void test_a_started_pool_over_a_started_map_gives_all_its_buffers(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap;
	struct doca_bufpool *pool, *large;
	struct doca_buf *bufs[2], *none = NULL;

	assert_ok(doca_mmap_create(NULL, &mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	assert_ok(doca_mmap_dev_add(mmap, rig->dev));
	assert_ok(doca_bufpool_create(NULL, 2, 0, 100, 0, mmap, &pool)); /* aligned to nothing */
	assert_ok(doca_bufpool_create(NULL, 2, 0, sizeof(memory), 1, mmap, &large));
	assert_refused(doca_bufpool_start(pool), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_start(mmap));
	assert_refused_invalid(doca_bufpool_start(large)); /* than the map */
	assert_refused(doca_bufpool_buf_alloc(pool, &none), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_bufpool_start(pool));
	assert_refused_invalid(doca_bufpool_buf_alloc(pool, NULL));
	assert_refused_invalid(doca_bufpool_get_num_elements(pool, NULL));
	assert_refused_invalid(doca_bufpool_get_num_free_elements(pool, NULL));
	assert_refused_invalid(doca_bufpool_get_user_data(pool, NULL));
	for (int i = 0; i < 2; i++)
		assert_ok(doca_bufpool_buf_alloc(pool, &bufs[i]));
	assert_refused(doca_bufpool_buf_alloc(pool, &none), DOCA_ERROR_NO_MEMORY);
	assert_refused(doca_bufpool_destroy(pool), DOCA_ERROR_IN_USE);
	assert_refused(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_bufpool_stop(pool));
	assert_refused(doca_bufpool_buf_alloc(pool, &none), DOCA_ERROR_BAD_STATE);
	for (int i = 0; i < 2; i++)
		rig_return(bufs[i]);
	assert_refused(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED); /* two pools use it */
	assert_null(none);
	assert_ok(doca_bufpool_destroy(pool));
	assert_ok(doca_bufpool_destroy(large));
	assert_ok(doca_mmap_destroy(mmap));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_handle_of_no_live_inventory_is_refused_everywhere),
		TEST(test_an_inventory_has_a_size_and_its_questions_a_place_for_the_answer),
		TEST(test_a_buffer_lies_in_a_started_map_and_its_data_in_the_buffer),
		TEST(test_a_started_inventory_gives_all_its_buffers),
		TEST(test_a_handle_of_no_live_buffer_is_refused_everywhere),
		TEST(test_a_buffers_answers_need_a_place),
		TEST(test_a_data_segment_outside_its_buffer_is_refused_and_changes_nothing),
		TEST(test_a_member_of_a_list_is_no_head),
		TEST(test_a_handle_of_no_live_pool_is_refused_everywhere),
		TEST(test_a_pool_has_elements_of_a_size_over_one_range),
		TEST(test_a_started_pool_over_a_started_map_gives_all_its_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
