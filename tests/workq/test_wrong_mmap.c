/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes with memory maps: the code and the log line of each call. Card: data/poor.yaml.
 *
 * Errors that can't be provoked here:
 * unreachable: doca_mmap_export DOCA_ERROR_DRIVER: only the card's daemon can fail; tests/multi has that
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "far.h"
#include "doca_check.h"
#include "refuse.h"
#include "rig.h"

static char first[4096], second[4096];

static struct doca_mmap *empty_map(void)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(NULL, &mmap));
	return mmap;
}

/* In 1.5's order: started, without memory. */
static struct doca_mmap *started_map(struct doca_dev *dev)
{
	struct doca_mmap *mmap = empty_map();

	assert_ok(doca_mmap_start(mmap));
	if (dev)
		assert_ok(doca_mmap_dev_add(mmap, dev));
	return mmap;
}

static doca_error_t populate(struct doca_mmap *mmap, void *addr)
{
	return doca_mmap_populate(mmap, addr, 100, 4096, NULL, NULL);
}

static void map_end(struct doca_mmap *mmap)
{
	assert_ok(doca_mmap_destroy(mmap));
}

/* A descriptor of an exported map, and the map that was created from it, on the first device. */
struct import {
	struct doca_mmap *exporter, *mmap;
	void *descriptor;
	size_t len;
};

static struct import import_new(struct rig *rig)
{
	struct import import = { .exporter = started_map(rig->dev) };

	assert_ok(populate(import.exporter, first));
	assert_ok(doca_mmap_export(import.exporter, rig->dev, &import.descriptor, &import.len));
	assert_ok(doca_mmap_create_from_export(NULL, import.descriptor, import.len, rig->dev, &import.mmap));
	return import;
}

static void import_free(struct import *import)
{
	map_end(import->mmap);
	map_end(import->exporter);
	free(import->descriptor);
}

static void on_free(void *addr, size_t len, void *opaque)
{
}

/* ---- handles and places ---- */

/* provokes: doca_mmap_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_dev_add DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_dev_rm DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_export DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_get_exported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_get_from_export DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_get_max_num_chunks DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_get_max_num_devices DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_get_num_bufs DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_get_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_populate DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_set_max_num_chunks DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_set_max_num_devices DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_stop DOCA_ERROR_INVALID_VALUE */
static void test_a_handle_of_no_live_map_is_refused_everywhere(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *stale = started_map(rig->dev);
	struct doca_mmap *wrong[] = { NULL, stale, (struct doca_mmap *)rig->workq, (struct doca_mmap *)(first + 1) };
	void *addr, *descriptor = NULL;
	const void *borrowed;
	union doca_data data;
	uint32_t count = 7;
	uint8_t yes = 7;
	size_t len;

	map_end(stale);
	for (int i = 0; i < 4; i++) {
		assert_refused_invalid(doca_mmap_destroy(wrong[i]));
		assert_refused_invalid(doca_mmap_start(wrong[i]));
		assert_refused_invalid(doca_mmap_stop(wrong[i]));
		assert_refused_invalid(doca_mmap_set_memrange(wrong[i], first, 1));
		assert_refused_invalid(doca_mmap_set_dmabuf_memrange(wrong[i], 0, 0, 1));
		assert_refused_invalid(doca_mmap_set_free_cb(wrong[i], on_free, NULL));
		assert_refused_invalid(doca_mmap_set_permissions(wrong[i], DOCA_ACCESS_LOCAL_READ_ONLY));
		assert_refused_invalid(doca_mmap_set_max_num_devices(wrong[i], 1));
		assert_refused_invalid(doca_mmap_set_max_num_chunks(wrong[i], 1));
		assert_refused_invalid(doca_mmap_dev_add(wrong[i], rig->dev));
		assert_refused_invalid(doca_mmap_dev_rm(wrong[i], rig->dev));
		assert_refused_invalid(doca_mmap_populate(wrong[i], first, 1, 4096, NULL, NULL));
		assert_refused_invalid(doca_mmap_export(wrong[i], rig->dev, &descriptor, &len));
		assert_refused_invalid(doca_mmap_export_dpu(wrong[i], rig->dev, &borrowed, &len));
		assert_refused_invalid(doca_mmap_export_rdma(wrong[i], rig->dev, &borrowed, &len));
		assert_refused_invalid(doca_mmap_get_memrange(wrong[i], &addr, &len));
		assert_refused_invalid(doca_mmap_get_user_data(wrong[i], &data));
		assert_refused_invalid(doca_mmap_get_max_num_devices(wrong[i], &count));
		assert_refused_invalid(doca_mmap_get_max_num_chunks(wrong[i], &count));
		assert_refused_invalid(doca_mmap_get_num_bufs(wrong[i], &count));
		assert_refused_invalid(doca_mmap_get_exported(wrong[i], &yes));
		assert_refused_invalid(doca_mmap_get_from_export(wrong[i], &yes));
	}
	assert_null(descriptor);
	assert_int_equal(count, 7);
	assert_int_equal(yes, 7);
}

/* provokes: doca_mmap_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_create_from_export DOCA_ERROR_INVALID_VALUE */
static void test_null_is_no_place_for_an_answer(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = started_map(rig->dev), *none = NULL;
	const void *borrowed;
	void *any;
	size_t len;

	assert_ok(populate(mmap, first));
	assert_refused_invalid(doca_mmap_create(NULL, NULL));
	assert_refused_invalid(doca_mmap_get_memrange(mmap, NULL, &len));
	assert_refused_invalid(doca_mmap_get_memrange(mmap, &any, NULL));
	assert_refused_invalid(doca_mmap_get_user_data(mmap, NULL));
	assert_refused_invalid(doca_mmap_get_max_num_devices(mmap, NULL));
	assert_refused_invalid(doca_mmap_get_max_num_chunks(mmap, NULL));
	assert_refused_invalid(doca_mmap_get_num_bufs(mmap, NULL));
	assert_refused_invalid(doca_mmap_get_exported(mmap, NULL));
	assert_refused_invalid(doca_mmap_get_from_export(mmap, NULL));
	assert_refused_invalid(doca_mmap_export(mmap, rig->dev, NULL, &len));
	assert_refused_invalid(doca_mmap_export(mmap, rig->dev, &any, NULL));
	assert_refused_invalid(doca_mmap_export_dpu(mmap, rig->dev, NULL, &len));
	assert_refused_invalid(doca_mmap_export_dpu(mmap, rig->dev, &borrowed, NULL));
	assert_refused_invalid(doca_mmap_create_from_export(NULL, NULL, 1, rig->dev, &none));
	assert_refused_invalid(doca_mmap_create_from_export(NULL, first, 1, NULL, &none));
	assert_refused_invalid(doca_mmap_create_from_export(NULL, first, 1, rig->dev, NULL));
	assert_null(none);
	map_end(mmap);
}

static void test_a_handle_of_no_open_device_is_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *stale = rig_open(2), *wrong[] = { NULL, stale, (struct doca_dev *)rig->workq };
	struct doca_mmap *mmap = started_map(rig->dev), *none = NULL;
	const void *borrowed;
	void *descriptor;
	size_t len;

	assert_ok(doca_dev_close(stale));
	assert_ok(populate(mmap, first));
	for (int i = 0; i < 3; i++) {
		assert_refused_invalid(doca_mmap_dev_add(mmap, wrong[i]));
		assert_refused_invalid(doca_mmap_dev_rm(mmap, wrong[i]));
		assert_refused_invalid(doca_mmap_export(mmap, wrong[i], &descriptor, &len));
		assert_refused_invalid(doca_mmap_export_dpu(mmap, wrong[i], &borrowed, &len));
		assert_refused_invalid(doca_mmap_create_from_export(NULL, first, 1, wrong[i], &none));
	}
	rig_return(rig_room(rig, mmap, first, 100)); /* unchanged */
	map_end(mmap);
}

static void test_numbers_and_ranges_have_limits(void **state)
{
	struct doca_mmap *mmap = started_map(NULL), *fresh = empty_map();

	assert_refused_invalid(doca_mmap_populate(mmap, NULL, 1, 4096, NULL, NULL));
	assert_refused_invalid(doca_mmap_populate(mmap, first, 0, 4096, NULL, NULL));
	assert_refused_invalid(doca_mmap_populate(mmap, first, SIZE_MAX, 4096, NULL, NULL));
	assert_refused_invalid(doca_mmap_populate(mmap, first, 1, 0, NULL, NULL));
	assert_refused_invalid(doca_mmap_populate(mmap, first, 1, 4095, NULL, NULL));
	assert_refused_invalid(doca_mmap_populate(mmap, first, 1, 12288, NULL, NULL));
	assert_refused_invalid(doca_mmap_set_max_num_chunks(fresh, 0));
	assert_refused_invalid(doca_mmap_set_max_num_devices(fresh, 0));
	assert_refused_invalid(doca_mmap_set_memrange(fresh, NULL, 1));
	assert_refused_invalid(doca_mmap_set_memrange(fresh, first, 0));
	assert_refused_invalid(doca_mmap_set_memrange(fresh, first, SIZE_MAX));
	assert_refused_invalid(doca_mmap_set_dmabuf_memrange(fresh, -1, 0, 1));
	assert_refused_invalid(doca_mmap_set_permissions(fresh, 1u << 31));
	assert_refused_invalid(
		doca_mmap_set_permissions(fresh, DOCA_ACCESS_DPU_READ_ONLY | DOCA_ACCESS_DPU_READ_WRITE));
	assert_refused_invalid(doca_mmap_set_free_cb(fresh, NULL, NULL));
	map_end(mmap);
	map_end(fresh);
}

/* In 2.2 the program gives a descriptor and no address, so no message mentions an address. */
static void test_a_refused_descriptor_is_described_without_an_address(void **state)
{
	struct doca_mmap *fresh = empty_map();
	int fd = memfd_create("dmabuf", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_invalid(doca_mmap_set_dmabuf_memrange(fresh, fd, 0, 0));
	assert_false(refuse_logged("address"));
	assert_invalid(doca_mmap_set_dmabuf_memrange(fresh, fd, 0, SIZE_MAX));
	assert_false(refuse_logged("address"));
	close(fd);
	map_end(fresh);
}

/* ---- the order of 2.2 ---- */

static void test_a_map_of_2_2_is_configured_before_its_start_only(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = rig_map(rig, first, sizeof(first), DOCA_ACCESS_LOCAL_READ_WRITE), *fresh = empty_map();
	const void *borrowed;
	void *addr;
	size_t len;

	assert_refused(doca_mmap_set_memrange(mmap, second, 1), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_mmap_set_dmabuf_memrange(mmap, 0, 0, 1), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_mmap_set_free_cb(mmap, on_free, NULL), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_mmap_set_permissions(mmap, DOCA_ACCESS_LOCAL_READ_ONLY), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_mmap_set_max_num_devices(mmap, 2), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_set_max_num_chunks(mmap, 2), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_dev_rm(mmap, rig->dev), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_export_dpu(mmap, rig->dev, &borrowed, &len),
		       DOCA_ERROR_NOT_PERMITTED); /* no permission */
	assert_refused(doca_mmap_get_memrange(fresh, &addr, &len), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_mmap_export_dpu(fresh, rig->dev, &borrowed, &len),
		       DOCA_ERROR_NOT_PERMITTED); /* not started */
	assert_ok(doca_mmap_set_memrange(fresh, first, 1));
	assert_refused(doca_mmap_set_memrange(fresh, first, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_refused_invalid(doca_mmap_start(fresh)); /* no device */
	assert_refused(doca_mmap_dev_rm(fresh, rig->dev), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_dev_add(fresh, rig->dev));
	assert_refused(doca_mmap_dev_add(fresh, rig->dev), DOCA_ERROR_ALREADY_EXIST);
	map_end(mmap);
	map_end(fresh);
}

/* ---- the order of 1.5 ---- */

/* A start without memory freezes the configuration of 2.2 as well.
 * provokes: doca_mmap_set_max_num_chunks DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_set_max_num_devices DOCA_ERROR_NOT_PERMITTED */
static void test_a_map_that_was_started_empty_is_not_configured_any_more(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = started_map(rig->dev);

	assert_refused(doca_mmap_set_memrange(mmap, first, 100), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_mmap_set_dmabuf_memrange(mmap, 0, 0, 1), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_mmap_set_free_cb(mmap, on_free, NULL), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_mmap_set_permissions(mmap, DOCA_ACCESS_LOCAL_READ_ONLY), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_mmap_set_max_num_devices(mmap, 2), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_set_max_num_chunks(mmap, 2), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(populate(mmap, first));
	rig_return(rig_room(rig, mmap, first, 100));
	assert_ok(doca_mmap_stop(mmap));
	assert_refused(doca_mmap_set_max_num_devices(mmap, 2), DOCA_ERROR_NOT_PERMITTED);
	map_end(mmap);
}

/* provokes: doca_mmap_destroy DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_dev_add DOCA_ERROR_IN_USE
 * provokes: doca_mmap_dev_add DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_dev_add DOCA_ERROR_NO_MEMORY
 * provokes: doca_mmap_dev_rm DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_populate DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_populate DOCA_ERROR_NO_MEMORY */
static void test_chunks_and_devices_have_a_maximum_and_buffers_hold_them(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *poor = rig_open(1), *other = rig_open(2);
	struct doca_mmap *mmap = empty_map();
	struct doca_buf *buf;

	assert_refused(populate(mmap, first), DOCA_ERROR_NOT_PERMITTED); /* not started */
	assert_ok(doca_mmap_set_max_num_devices(mmap, 1));
	assert_ok(doca_mmap_set_max_num_chunks(mmap, 1));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_dev_add(mmap, rig->dev));
	assert_refused(doca_mmap_dev_add(mmap, rig->dev), DOCA_ERROR_IN_USE);
	assert_refused(doca_mmap_dev_add(mmap, other), DOCA_ERROR_NO_MEMORY);
	assert_refused(doca_mmap_dev_add(mmap, poor), DOCA_ERROR_NO_MEMORY); /* it must be the only device of a map */
	assert_refused_invalid(doca_mmap_dev_rm(mmap, other));
	assert_ok(populate(mmap, first));
	assert_refused(populate(mmap, second), DOCA_ERROR_NO_MEMORY);
	buf = rig_room(rig, mmap, first, 100);
	assert_refused(doca_mmap_dev_add(mmap, other), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_dev_rm(mmap, rig->dev), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	rig_return(buf);
	map_end(mmap);
	assert_ok(doca_dev_close(poor));
	assert_ok(doca_dev_close(other));
}

static void test_chunks_do_not_meet(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap *mmap = started_map(rig->dev);
	struct doca_buf *none;

	assert_ok(populate(mmap, first + 100));
	assert_refused(populate(mmap, first + 100), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(populate(mmap, first + 199), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(populate(mmap, first + 1), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_populate(mmap, first, 400, 4096, NULL, NULL),
		       DOCA_ERROR_NOT_PERMITTED); /* around it */
	assert_ok(populate(mmap, first + 200));
	assert_refused_invalid(doca_buf_inventory_buf_by_args(rig->inventory, mmap, first + 150, 100, first + 150, 0,
							      &none)); /* over two */
	map_end(mmap);
}

static char *new_page(size_t number)
{
	char *page = mmap((char *)FAR_AWAY + number * 65536, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	assert_ptr_not_equal(page, MAP_FAILED);
	return page;
}

/* Unmapped memory is refused as a chunk and for a later device. The map is unchanged, and its device can be removed. */
static void test_memory_that_is_gone_is_refused_and_the_rest_stays(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *other = rig_open(2);
	struct doca_mmap *map = started_map(rig->dev);
	char *page = new_page(0), *read_only = new_page(1);

	assert_int_equal(mprotect(read_only, 4096, PROT_READ), 0);
	assert_refused(populate(map, read_only), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(populate(map, first));
	assert_ok(populate(map, page));
	munmap(page, 4096);
	munmap(read_only, 4096);
	assert_refused(populate(map, read_only), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(populate(map, second));
	assert_refused(doca_mmap_dev_add(map, other), DOCA_ERROR_NOT_PERMITTED);
	rig_return(rig_room(rig, map, first, 100));
	rig_return(rig_room(rig, map, second, 100));
	assert_ok(doca_mmap_dev_rm(map, rig->dev)); /* programs may free the memory first */
	rig_return(rig_room(rig, map, second, 100));
	map_end(map);
	assert_ok(doca_dev_close(other));
}

/* ---- exports ---- */

/* provokes: doca_mmap_export DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_export DOCA_ERROR_NOT_SUPPORTED */
static void test_one_range_is_exported_by_a_device_that_can(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *poor = rig_open(1);
	struct doca_mmap *mmap = started_map(rig->dev), *alone = started_map(poor);
	const void *borrowed = NULL;
	void *descriptor = NULL;
	size_t len = 7;

	assert_refused(doca_mmap_export(mmap, rig->dev, &descriptor, &len), DOCA_ERROR_NOT_PERMITTED); /* no chunk */
	assert_refused(doca_mmap_export_dpu(mmap, rig->dev, &borrowed, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(populate(mmap, first));
	assert_refused_invalid(doca_mmap_export(mmap, poor, &descriptor, &len)); /* not in the map */
	assert_refused(doca_mmap_export_dpu(mmap, poor, &borrowed, &len), DOCA_ERROR_NOT_FOUND);
	assert_ok(populate(mmap, second));
	assert_refused(doca_mmap_export(mmap, rig->dev, &descriptor, &len), DOCA_ERROR_NOT_PERMITTED); /* two */
	assert_refused(doca_mmap_export_dpu(mmap, rig->dev, &borrowed, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(populate(alone, first));
	assert_refused(doca_mmap_export(alone, poor, &descriptor, &len), DOCA_ERROR_NOT_SUPPORTED);
	assert_refused(doca_mmap_export_dpu(alone, poor, &borrowed, &len), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(descriptor);
	assert_null(borrowed);
	assert_int_equal(len, 7);
	map_end(mmap);
	map_end(alone);
	assert_ok(doca_dev_close(poor));
}

static void test_an_exported_or_imported_map_is_not_changed(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *other = rig_open(2);
	struct import import = import_new(rig);
	struct doca_mmap *both[] = { import.exporter, import.mmap };
	const void *borrowed;
	void *descriptor;
	size_t len;

	for (int i = 0; i < 2; i++) {
		assert_refused(doca_mmap_dev_add(both[i], other), DOCA_ERROR_NOT_PERMITTED);
		assert_refused(doca_mmap_dev_rm(both[i], rig->dev), DOCA_ERROR_NOT_PERMITTED);
		assert_refused(populate(both[i], second), DOCA_ERROR_NOT_PERMITTED);
		assert_refused(doca_mmap_export(both[i], rig->dev, &descriptor, &len), DOCA_ERROR_NOT_PERMITTED);
		assert_refused(doca_mmap_set_max_num_chunks(both[i], 9), DOCA_ERROR_NOT_PERMITTED);
		assert_refused(doca_mmap_set_max_num_devices(both[i], 9), DOCA_ERROR_NOT_PERMITTED);
		assert_refused(doca_mmap_set_memrange(both[i], second, 9), DOCA_ERROR_BAD_STATE);
		assert_refused(doca_mmap_set_permissions(both[i], DOCA_ACCESS_LOCAL_READ_ONLY), DOCA_ERROR_BAD_STATE);
	}
	assert_refused(doca_mmap_export_dpu(import.mmap, rig->dev, &borrowed, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_start(both[0]), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_start(import.mmap)); /* its import has started it */
	assert_refused(doca_mmap_stop(import.mmap), DOCA_ERROR_NOT_PERMITTED);
	import_free(&import);
	assert_ok(doca_dev_close(other));
}

/* provokes: doca_mmap_create_from_export DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_create_from_export DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_mmap_create_from_export DOCA_ERROR_DRIVER */
static void test_a_descriptor_is_whole_unaltered_of_this_card_and_alive(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *poor = rig_open(1), *far = rig_open(2);
	struct import import = import_new(rig);
	uint8_t *bytes = import.descriptor;
	struct doca_mmap *none = NULL;

	assert_refused_invalid(doca_mmap_create_from_export(NULL, bytes, 0, rig->dev, &none));
	assert_refused_invalid(doca_mmap_create_from_export(NULL, bytes, import.len - 1, rig->dev, &none));
	assert_refused_invalid(doca_mmap_create_from_export(NULL, bytes, SIZE_MAX, rig->dev, &none));
	for (size_t at = 0; at < import.len; at += 16) {
		bytes[at] ^= 4;
		assert_refused_invalid(doca_mmap_create_from_export(NULL, bytes, import.len, rig->dev, &none));
		bytes[at] ^= 4;
	}
	assert_refused(doca_mmap_create_from_export(NULL, bytes, import.len, far, &none), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_mmap_create_from_export(NULL, bytes, import.len, poor, &none), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_mmap_stop(import.exporter));
	assert_refused(doca_mmap_create_from_export(NULL, bytes, import.len, rig->dev, &none), DOCA_ERROR_DRIVER);
	assert_null(none);
	import_free(&import);
	assert_ok(doca_dev_close(poor));
	assert_ok(doca_dev_close(far));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_handle_of_no_live_map_is_refused_everywhere),
		TEST(test_null_is_no_place_for_an_answer),
		TEST(test_a_handle_of_no_open_device_is_refused),
		TEST(test_numbers_and_ranges_have_limits),
		TEST(test_a_refused_descriptor_is_described_without_an_address),
		TEST(test_a_map_of_2_2_is_configured_before_its_start_only),
		TEST(test_a_map_that_was_started_empty_is_not_configured_any_more),
		TEST(test_chunks_and_devices_have_a_maximum_and_buffers_hold_them),
		TEST(test_chunks_do_not_meet),
		TEST(test_memory_that_is_gone_is_refused_and_the_rest_stays),
		TEST(test_one_range_is_exported_by_a_device_that_can),
		TEST(test_an_exported_or_imported_map_is_not_changed),
		TEST(test_a_descriptor_is_whole_unaltered_of_this_card_and_alive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
