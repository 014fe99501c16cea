/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps in 1.5's order: started first, then devices and chunks. */
#include <stdlib.h>
#include <string.h>

#include "rig.h"

static char first[4096], second[4096], third[4096];

static struct doca_mmap *chunked_map(struct rig *rig)
{
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_max_num_chunks(mmap, 2), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_dev_add(mmap, rig->dev), DOCA_SUCCESS);
	return mmap;
}

static doca_error_t populate(struct doca_mmap *mmap, void *addr, size_t len)
{
	return doca_mmap_populate(mmap, addr, len, 4096, NULL, NULL);
}

static void test_buffers_lie_in_any_chunk(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = chunked_map(rig);
	struct doca_dma_job_memcpy job;
	struct doca_event event;
	struct doca_buf *from, *to;

	assert_int_equal(populate(mmap, first, sizeof(first)), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, second, sizeof(second)), DOCA_SUCCESS);
	strcpy(second + 100, "from the second chunk");
	from = rig_data(rig, mmap, second + 100, 22);
	to = rig_room(rig, mmap, first + 50, 22);
	job = rig_job(rig, to, from, 1);
	assert_int_equal(rig_do(rig, &job, &event), DOCA_SUCCESS);
	assert_string_equal(first + 50, "from the second chunk");
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED); /* buffers are out */
	rig_return(from);
	rig_return(to);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void test_chunks_have_their_rules(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = chunked_map(rig);
	uint32_t max;

	assert_int_equal(doca_mmap_populate(mmap, first, sizeof(first), 1000, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_populate(mmap, first, sizeof(first), 2048, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(populate(mmap, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(populate(mmap, first, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(populate(mmap, first, 2048), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, first + 2047, 100), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(populate(mmap, first + 2048, 100), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, third, 100), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_mmap_get_max_num_chunks(mmap, &max), DOCA_SUCCESS);
	assert_int_equal(max, 2);
	assert_int_equal(doca_mmap_set_max_num_chunks(mmap, 3), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_rm(mmap, rig->dev), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void test_a_map_that_is_not_started_takes_no_chunk(void **state)
{
	struct doca_mmap *mmap;

	(void)state;
	assert_int_equal(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, first, sizeof(first)), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static int num_freed;

static void on_free(void *addr, size_t len, void *opaque)
{
	assert_true(addr == first || addr == second);
	assert_int_equal(len, 4096);
	assert_string_equal(opaque, "cookie");
	num_freed++;
}

static void test_each_chunk_is_freed_when_the_map_goes(void **state)
{
	struct doca_mmap *mmap = chunked_map(*state);

	num_freed = 0;
	assert_int_equal(doca_mmap_populate(mmap, first, 4096, 4096, on_free, "cookie"), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_populate(mmap, second, 4096, 4096, on_free, "cookie"), DOCA_SUCCESS);
	assert_int_equal(num_freed, 0);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	assert_int_equal(num_freed, 2);
}

static void test_a_single_chunk_is_exported_once_and_the_descriptor_is_the_callers(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = chunked_map(rig);
	void *descriptor = NULL;
	size_t len = 0;

	assert_int_equal(populate(mmap, first, 2048), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export(mmap, rig->dev, &descriptor, &len), DOCA_SUCCESS);
	assert_true(len > 0);
	free(descriptor);
	assert_int_equal(doca_mmap_export(mmap, rig->dev, &descriptor, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(populate(mmap, second, 100), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	mmap = chunked_map(rig);
	assert_int_equal(populate(mmap, first, 100), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, second, 100), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export(mmap, rig->dev, &descriptor, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

/* A device that was added before the start counts as well. */
static void test_devices_may_come_first(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_dev_add(mmap, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, first, 100), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, second, 100), DOCA_SUCCESS);
	rig_return(rig_room(rig, mmap, second, 100));
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_buffers_lie_in_any_chunk, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_chunks_have_their_rules, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_a_map_that_is_not_started_takes_no_chunk, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_each_chunk_is_freed_when_the_map_goes, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_a_single_chunk_is_exported_once_and_the_descriptor_is_the_callers, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_devices_may_come_first, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
