/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps in 1.5's order: started first, then devices and chunks. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "far.h"
#include "rig.h"

static char first[4096], second[4096], third[4096];

static void *mmap_object(int fd, size_t len)
{
	void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

/* The address of a page that was unmapped. */
static void *gone_page(void)
{
	void *memory = mmap(FAR_AWAY, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	munmap(memory, 4096);
	return memory;
}

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
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED); /* the program holds buffers */
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
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

/* Programs of 1.5 remove the device from the map before they destroy the map. */
static void test_a_device_leaves_a_map_with_chunks_once_no_buffers_are_out(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = chunked_map(rig);
	struct doca_buf *buf;

	assert_int_equal(populate(mmap, first, 100), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, second, 100), DOCA_SUCCESS);
	buf = rig_room(rig, mmap, second, 100);
	assert_int_equal(doca_mmap_dev_rm(mmap, rig->dev), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_add(mmap, rig->dev), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	rig_return(buf);
	assert_int_equal(doca_mmap_dev_rm(mmap, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_dev_rm(mmap, rig->dev), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static struct doca_mmap *map_without_device(void)
{
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, first, 100), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, second, 100), DOCA_SUCCESS);
	return mmap;
}

/* A started map without devices gives buffers, but a job needs its device in the map. */
static void test_buffers_of_a_map_without_device_serve_no_jobs(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = map_without_device();
	struct doca_buf *from = rig_data(rig, mmap, first, 11), *to = rig_room(rig, mmap, second, 11);
	struct doca_dma_job_memcpy job = rig_job(rig, to, from, 1);
	struct doca_event event;

	assert_int_equal(doca_mmap_dev_add(mmap, rig->dev),
			 DOCA_ERROR_NOT_PERMITTED); /* while the program holds them */
	assert_int_equal(rig_do(rig, &job, &event), DOCA_ERROR_IO_FAILED);
	rig_return(from);
	rig_return(to);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

/* A device that is added later reaches all chunks, and can't be added twice. */
static void test_chunks_may_come_before_their_device(void **state)
{
	struct rig *rig = *state;
	struct doca_dma_job_memcpy job;
	struct doca_event event;
	struct doca_mmap *mmap = map_without_device();
	struct doca_buf *from, *to;

	assert_int_equal(doca_mmap_dev_add(mmap, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_dev_add(mmap, rig->dev), DOCA_ERROR_IN_USE);
	strcpy(first, "came early");
	from = rig_data(rig, mmap, first, 11);
	to = rig_room(rig, mmap, second, 11);
	job = rig_job(rig, to, from, 1);
	assert_int_equal(rig_do(rig, &job, &event), DOCA_SUCCESS);
	assert_string_equal(second, "came early");
	rig_return(from);
	rig_return(to);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void test_a_map_that_is_started_again_has_its_chunks(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = chunked_map(rig);
	struct doca_buf *buf;

	assert_int_equal(populate(mmap, first, 100), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, second, 100), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, third, 100), DOCA_ERROR_NOT_PERMITTED);
	assert_int_not_equal(doca_buf_inventory_buf_by_addr(rig->inventory, mmap, second, 100, &buf), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	rig_return(rig_room(rig, mmap, first, 100));
	rig_return(rig_room(rig, mmap, second, 100));
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void test_buffers_of_all_chunks_are_counted(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = chunked_map(rig);
	struct doca_buf *bufs[3];
	uint32_t count;

	assert_int_equal(doca_mmap_get_num_bufs(mmap, &count), DOCA_SUCCESS);
	assert_int_equal(count, 0);
	assert_int_equal(populate(mmap, first, 100), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, second, 100), DOCA_SUCCESS);
	bufs[0] = rig_room(rig, mmap, first, 100);
	bufs[1] = rig_room(rig, mmap, second, 100);
	bufs[2] = rig_room(rig, mmap, second + 10, 90);
	assert_int_equal(doca_mmap_get_num_bufs(mmap, &count), DOCA_SUCCESS);
	assert_int_equal(count, 3);
	for (int i = 0; i < 3; i++)
		rig_return(bufs[i]);
	assert_int_equal(doca_mmap_get_num_bufs(NULL, &count), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_num_bufs(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

/* A refused range leaves the chunks of the map unchanged, whether it is the first or a later one. */
static void test_unmapped_memory_is_refused_and_the_map_is_unchanged(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = chunked_map(rig);
	void *gone = gone_page();

	assert_int_equal(populate(mmap, gone, 4096), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(populate(mmap, first, 100), DOCA_SUCCESS);
	assert_int_equal(populate(mmap, gone, 4096), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(populate(mmap, second, 100), DOCA_SUCCESS);
	rig_return(rig_room(rig, mmap, first, 100));
	rig_return(rig_room(rig, mmap, second, 100));
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void test_handles_that_are_no_maps_are_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *stale = chunked_map(rig), *others[] = { NULL, (struct doca_mmap *)rig->workq, stale };
	struct doca_buf *buf;
	void *descriptor;
	uint32_t count;
	size_t len;

	assert_int_equal(doca_mmap_destroy(stale), DOCA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(doca_mmap_start(others[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_mmap_stop(others[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_mmap_destroy(others[i]), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_mmap_dev_add(others[i], rig->dev), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_mmap_dev_rm(others[i], rig->dev), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(populate(others[i], first, 100), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_mmap_set_max_num_chunks(others[i], 1), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_mmap_get_max_num_chunks(others[i], &count), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_mmap_set_dmabuf_memrange(others[i], 0, 0, 1), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_mmap_export(others[i], rig->dev, &descriptor, &len), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(doca_buf_inventory_buf_by_addr(rig->inventory, others[i], first, 1, &buf),
				 DOCA_ERROR_INVALID_VALUE);
	}
	assert_int_equal(doca_mmap_create(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void test_arguments_are_looked_at(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = chunked_map(rig);
	void *descriptor;
	size_t len;

	assert_int_equal(doca_mmap_dev_add(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_dev_rm(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_max_num_chunks(mmap, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_get_max_num_chunks(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export(mmap, rig->dev, &descriptor, &len), DOCA_ERROR_NOT_PERMITTED); /* no chunk */
	assert_int_equal(populate(mmap, (void *)UINTPTR_MAX, 2), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(populate(mmap, first, 100), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export(mmap, NULL, &descriptor, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export(mmap, rig->dev, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export(mmap, rig->dev, &descriptor, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

/* In the order of 2.2 the first start freezes the map, and calls of 1.5 are refused. */
static void test_a_map_with_a_range_takes_no_chunks(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = rig_map(rig, first, 100, DOCA_ACCESS_LOCAL_READ_WRITE);

	assert_int_equal(populate(mmap, second, 100), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_max_num_chunks(mmap, 3), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_rm(mmap, rig->dev), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_dev_rm(mmap, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void test_memory_is_named_by_a_descriptor_alone(void **state)
{
	struct rig *rig = *state;
	int fd = memfd_create("dmabuf", MFD_CLOEXEC);
	struct doca_dma_job_memcpy job;
	struct doca_event event;
	struct doca_buf *from, *to;
	struct doca_mmap *mmap, *local;
	char *addr;
	void *memory;
	size_t len;

	assert_int_equal(ftruncate(fd, 8192), 0);
	memory = mmap_object(fd, 8192);
	strcpy((char *)memory + 4100, "from the object");
	assert_int_equal(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, -1, 0, 4096), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, fd, 0, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, fd, 4096, 4096), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_dmabuf_memrange(mmap, fd, 4096, 4096), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_add(mmap, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_get_memrange(mmap, (void **)&addr, &len), DOCA_SUCCESS);
	assert_int_equal(len, 4096);
	local = rig_map(rig, first, sizeof(first), DOCA_ACCESS_LOCAL_READ_WRITE);
	from = rig_data(rig, mmap, addr + 4, 16);
	to = rig_room(rig, local, first, 16);
	job = rig_job(rig, to, from, 1);
	assert_int_equal(rig_do(rig, &job, &event), DOCA_SUCCESS);
	assert_string_equal(first, "from the object");
	rig_return(from);
	rig_return(to);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(local), DOCA_SUCCESS);
	munmap(memory, 8192);
	close(fd);
}

static void test_a_map_that_is_not_started_takes_no_chunk(void **state)
{
	struct doca_mmap *mmap;

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

/* The callback is not called earlier, when devices change, and is called for a map without devices too. */
static void test_each_chunk_is_freed_when_the_map_goes(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = chunked_map(rig);

	num_freed = 0;
	assert_int_equal(doca_mmap_populate(mmap, first, 4096, 4096, on_free, "cookie"), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_populate(mmap, second, 4096, 4096, on_free, "cookie"), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_dev_rm(mmap, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(num_freed, 0);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	assert_int_equal(num_freed, 2);
	assert_int_equal(doca_mmap_create(NULL, &mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_populate(mmap, first, 4096, 4096, on_free, "cookie"), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	assert_int_equal(num_freed, 3);
}

static void test_a_single_chunk_is_exported_once_and_the_descriptor_is_the_callers(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = chunked_map(rig);
	void *descriptor = NULL;
	uint8_t exported;
	size_t len = 0;

	assert_int_equal(populate(mmap, first, 2048), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export(mmap, rig->dev, &descriptor, &len), DOCA_SUCCESS);
	assert_true(len > 0);
	free(descriptor);
	assert_int_equal(doca_mmap_export(mmap, rig->dev, &descriptor, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(populate(mmap, second, 100), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_rm(mmap, rig->dev), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_get_exported(mmap, &exported), DOCA_SUCCESS);
	assert_int_equal(exported, 1);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_buffers_lie_in_any_chunk),
		TEST(test_chunks_have_their_rules),
		TEST(test_a_device_leaves_a_map_with_chunks_once_no_buffers_are_out),
		TEST(test_buffers_of_a_map_without_device_serve_no_jobs),
		TEST(test_chunks_may_come_before_their_device),
		TEST(test_a_map_that_is_started_again_has_its_chunks),
		TEST(test_buffers_of_all_chunks_are_counted),
		TEST(test_unmapped_memory_is_refused_and_the_map_is_unchanged),
		TEST(test_handles_that_are_no_maps_are_refused),
		TEST(test_arguments_are_looked_at),
		TEST(test_a_map_with_a_range_takes_no_chunks),
		TEST(test_memory_is_named_by_a_descriptor_alone),
		TEST(test_a_map_that_is_not_started_takes_no_chunk),
		TEST(test_each_chunk_is_freed_when_the_map_goes),
		TEST(test_a_single_chunk_is_exported_once_and_the_descriptor_is_the_callers),
		TEST(test_devices_may_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
