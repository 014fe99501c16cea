/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps over a dmabuf: a descriptor of a memory object, here a memfd. The
 * addresses that buffers use are the application's choice; the bytes are the object's. */
#include "api_util.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct doca_dev *dev;
static size_t page;

static int open_device(void **state)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	dev = api_open("03:00.0");
	return 0;
}

static int close_device(void **state)
{
	assert_ok(doca_dev_close(dev));
	return 0;
}

/* For each test an object of four pages, mapped here too, so that we see its bytes; and a new map. */
struct object {
	int fd;
	uint8_t *bytes;
	size_t len;
	struct doca_mmap *map;
};

static int setup(void **state)
{
	static struct object object;

	object.len = 4 * page;
	object.fd = memfd_create("object", MFD_CLOEXEC);
	assert_true(object.fd >= 0);
	assert_int_equal(ftruncate(object.fd, (off_t)object.len), 0);
	object.bytes = mmap(NULL, object.len, PROT_READ | PROT_WRITE, MAP_SHARED, object.fd, 0);
	assert_ptr_not_equal(object.bytes, MAP_FAILED);
	assert_ok(doca_mmap_create(&object.map));
	assert_ok(doca_mmap_add_dev(object.map, dev));
	*state = &object;
	return 0;
}

static int teardown(void **state)
{
	struct object *object = *state;

	assert_ok(doca_mmap_destroy(object->map));
	assert_int_equal(munmap(object->bytes, object->len), 0);
	if (object->fd >= 0)
		assert_int_equal(close(object->fd), 0);
	return 0;
}

/* Addresses at which nothing is mapped: an access to them crashes. */
static void *const elsewhere = (void *)0x10000;

/* Have the device copy @len bytes at @from of map @src to @to of map @dst. */
static doca_error_t copy(struct doca_mmap *dst, void *to, struct doca_mmap *src, void *from, size_t len)
{
	struct doca_buf_inventory *inventory = api_inventory(2);
	struct doca_buf *src_buf, *dst_buf;
	doca_error_t status;

	assert_ok(doca_buf_inventory_buf_get_by_data(inventory, src, from, len, &src_buf));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, dst, to, len, &dst_buf));
	status = api_copy(dev, dst_buf, src_buf);
	assert_ok(doca_buf_dec_refcount(src_buf, NULL));
	assert_ok(doca_buf_dec_refcount(dst_buf, NULL));
	assert_ok(doca_buf_inventory_destroy(inventory));
	return status;
}

/* The map covers @len bytes of the object from @offset on. Copies read and write there and nowhere else. */
static void assert_covers(struct object *object, struct doca_mmap *map, size_t offset, size_t len)
{
	static uint8_t ours[64];
	struct doca_mmap *mine = api_map(dev, ours, sizeof(ours), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	uint8_t *last = (uint8_t *)elsewhere + len - sizeof(ours);

	memset(object->bytes, 0, object->len);
	memset(ours, 0xaa, sizeof(ours));
	assert_ok(copy(map, elsewhere, mine, ours, sizeof(ours)));
	assert_memory_equal(object->bytes + offset, ours, sizeof(ours));
	memset(object->bytes + offset, 0, sizeof(ours));
	for (size_t i = 0; i < object->len; i++)
		assert_int_equal(object->bytes[i], 0);
	memset(object->bytes + offset + len - sizeof(ours), 0xbb, sizeof(ours));
	assert_ok(copy(mine, ours, map, last, sizeof(ours)));
	assert_memory_equal(ours, object->bytes + offset + len - sizeof(ours), sizeof(ours));
	assert_ok(doca_mmap_destroy(mine));
}

static void test_addresses_differ_from_where_the_object_is(void **state)
{
	struct object *object = *state;
	void *addr;
	size_t len;

	assert_ok(doca_mmap_set_dmabuf_memrange(object->map, object->fd, elsewhere, 0, object->len));
	assert_ok(doca_mmap_get_memrange(object->map, &addr, &len));
	assert_ptr_equal(addr, elsewhere);
	assert_int_equal(len, object->len);
	assert_ok(doca_mmap_start(object->map));
	assert_covers(object, object->map, 0, object->len);
}

static void test_range_starts_at_an_offset_of_whole_pages_or_not(void **state)
{
	size_t offsets[] = { page, page + 1, 2 * page - 1, 100 };
	struct object *object = *state;

	for (size_t i = 0; i < API_COUNT(offsets); i++) {
		struct doca_mmap *map;

		assert_ok(doca_mmap_create(&map));
		assert_ok(doca_mmap_add_dev(map, dev));
		assert_ok(doca_mmap_set_dmabuf_memrange(map, object->fd, elsewhere, offsets[i], page));
		assert_ok(doca_mmap_start(map));
		assert_covers(object, map, offsets[i], page);
		assert_ok(doca_mmap_destroy(map));
	}
}

static void test_descriptor_stays_the_callers_and_may_be_closed(void **state)
{
	struct object *object = *state;

	assert_ok(doca_mmap_set_dmabuf_memrange(object->map, object->fd, elsewhere, 0, object->len));
	assert_int_equal(close(object->fd), 0);
	object->fd = -1;
	assert_ok(doca_mmap_start(object->map));
	assert_covers(object, object->map, 0, object->len);
	assert_ok(doca_mmap_stop(object->map));
	assert_ok(doca_mmap_start(object->map));
	assert_covers(object, object->map, 0, object->len);
}

static void test_exported_object_is_imported_at_its_addresses(void **state)
{
	struct object *object = *state;
	struct doca_mmap *imported;
	const void *bytes;
	size_t len;

	assert_ok(doca_mmap_set_dmabuf_memrange(object->map, object->fd, elsewhere, page, 2 * page));
	assert_ok(doca_mmap_set_permissions(object->map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	assert_ok(doca_mmap_start(object->map));
	assert_ok(doca_mmap_export_pci(object->map, dev, &bytes, &len));
	assert_ok(doca_mmap_create_from_export(NULL, bytes, len, dev, &imported));
	assert_covers(object, imported, page, 2 * page);
	assert_ok(doca_mmap_destroy(imported));
}

static void note_range(void *addr, size_t len, void *cookie)
{
	*(void **)cookie = addr;
}

static void test_free_callback_gets_the_applications_address(void **state)
{
	struct object *object = *state;
	void *freed = NULL;

	assert_ok(doca_mmap_set_dmabuf_memrange(object->map, object->fd, elsewhere, 0, object->len));
	assert_ok(doca_mmap_set_free_cb(object->map, note_range, &freed));
	assert_ok(doca_mmap_start(object->map));
	assert_ok(doca_mmap_destroy(object->map));
	assert_ptr_equal(freed, elsewhere);
	assert_ok(doca_mmap_create(&object->map)); /* for the teardown */
}

/* provokes: doca_mmap_set_dmabuf_memrange DOCA_ERROR_INVALID_VALUE */
static void test_range_beyond_the_object_is_refused(void **state)
{
	struct object *object = *state;
	struct doca_mmap *map = object->map;

	assert_invalid(doca_mmap_set_dmabuf_memrange(map, object->fd, elsewhere, 0, object->len + 1));
	assert_invalid(doca_mmap_set_dmabuf_memrange(map, object->fd, elsewhere, 1, object->len));
	assert_invalid(doca_mmap_set_dmabuf_memrange(map, object->fd, elsewhere, object->len, 1));
	assert_invalid(doca_mmap_set_dmabuf_memrange(map, object->fd, elsewhere, object->len + page, 1));
	assert_invalid(doca_mmap_set_dmabuf_memrange(map, object->fd, elsewhere, SIZE_MAX, 1));
	assert_invalid(doca_mmap_set_dmabuf_memrange(map, object->fd, elsewhere, SIZE_MAX - page + 1, page));
	assert_int_equal(ftruncate(object->fd, 0), 0);
	assert_invalid(doca_mmap_set_dmabuf_memrange(map, object->fd, elsewhere, 0, 1)); /* an empty object */
	assert_int_equal(ftruncate(object->fd, (off_t)object->len), 0);
	assert_ok(doca_mmap_set_dmabuf_memrange(map, object->fd, elsewhere, object->len - 1, 1)); /* its last byte */
}

static void test_empty_range_or_one_beyond_the_address_space_is_refused(void **state)
{
	struct object *object = *state;
	struct doca_mmap *map = object->map;

	assert_invalid(doca_mmap_set_dmabuf_memrange(map, object->fd, NULL, 0, page));
	assert_invalid(doca_mmap_set_dmabuf_memrange(map, object->fd, elsewhere, 0, 0));
	assert_invalid(doca_mmap_set_dmabuf_memrange(map, object->fd, (void *)UINTPTR_MAX, 0, page));
}

static void test_what_is_no_descriptor_is_refused(void **state)
{
	struct object *object = *state;

	assert_invalid(doca_mmap_set_dmabuf_memrange(object->map, -1, elsewhere, 0, page));
	assert_int_equal(close(object->fd), 0);
	assert_invalid(doca_mmap_set_dmabuf_memrange(object->map, object->fd, elsewhere, 0, page)); /* no longer one */
	object->fd = -1;
}

/* provokes: doca_mmap_set_dmabuf_memrange DOCA_ERROR_NOT_SUPPORTED */
static void test_descriptor_of_something_that_is_no_memory_is_refused(void **state)
{
	struct object *object = *state;
	int ends[2], directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	void *addr;
	size_t len;

	assert_int_equal(pipe(ends), 0);
	assert_doca(doca_mmap_set_dmabuf_memrange(object->map, ends[1], elsewhere, 0, page), DOCA_ERROR_NOT_SUPPORTED);
	assert_true(directory >= 0);
	assert_doca(doca_mmap_set_dmabuf_memrange(object->map, directory, elsewhere, 0, 1), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_mmap_get_memrange(object->map, &addr, &len), DOCA_ERROR_BAD_STATE); /* nothing was set */
	close(ends[0]);
	close(ends[1]);
	close(directory);
	assert_ok(doca_mmap_set_dmabuf_memrange(object->map, object->fd, elsewhere, 0, page));
}

/* provokes: doca_mmap_set_dmabuf_memrange DOCA_ERROR_BAD_STATE
 * provokes: doca_mmap_set_dmabuf_memrange DOCA_ERROR_NOT_PERMITTED */
static void test_range_is_set_once(void **state)
{
	struct object *object = *state;

	assert_ok(doca_mmap_set_dmabuf_memrange(object->map, object->fd, elsewhere, 0, page));
	assert_doca(doca_mmap_set_dmabuf_memrange(object->map, object->fd, elsewhere, 0, page),
		    DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_set_memrange(object->map, object->bytes, page), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_start(object->map));
	assert_doca(doca_mmap_set_dmabuf_memrange(object->map, object->fd, elsewhere, 0, page), DOCA_ERROR_BAD_STATE);
}

static void test_object_that_shrank_is_refused_at_the_start(void **state)
{
	struct object *object = *state;

	assert_ok(doca_mmap_set_dmabuf_memrange(object->map, object->fd, elsewhere, page, 2 * page));
	assert_int_equal(ftruncate(object->fd, (off_t)page), 0);
	assert_invalid(doca_mmap_start(object->map));
	assert_int_equal(ftruncate(object->fd, (off_t)(3 * page)), 0);
	assert_ok(doca_mmap_start(object->map));
}

/* A read-only descriptor serves a map that no device writes to. */
static void test_read_only_object_needs_read_only_permissions(void **state)
{
	static uint8_t ours[64];
	struct doca_mmap *mine = api_map(dev, ours, sizeof(ours), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct object *object = *state;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", object->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_ok(doca_mmap_set_dmabuf_memrange(object->map, fd, elsewhere, 0, page));
	assert_invalid(doca_mmap_start(object->map));
	assert_ok(doca_mmap_set_permissions(object->map, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	assert_ok(doca_mmap_start(object->map));
	memset(object->bytes, 0xcc, page);
	assert_ok(copy(mine, ours, object->map, elsewhere, sizeof(ours)));
	assert_memory_equal(ours, object->bytes, sizeof(ours));
	assert_int_not_equal(copy(object->map, elsewhere, mine, ours, sizeof(ours)), DOCA_SUCCESS);
	assert_int_equal(close(fd), 0);
	assert_ok(doca_mmap_destroy(mine));
}

static void test_call_on_no_map_or_another_handle_is_refused(void **state)
{
	struct object *object = *state;

	assert_invalid(doca_mmap_set_dmabuf_memrange(NULL, object->fd, elsewhere, 0, page));
	assert_invalid(doca_mmap_set_dmabuf_memrange((struct doca_mmap *)dev, object->fd, elsewhere, 0, page));
}

#define WITH_OBJECT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	WITH_OBJECT(test_addresses_differ_from_where_the_object_is),
	WITH_OBJECT(test_range_starts_at_an_offset_of_whole_pages_or_not),
	WITH_OBJECT(test_descriptor_stays_the_callers_and_may_be_closed),
	WITH_OBJECT(test_exported_object_is_imported_at_its_addresses),
	WITH_OBJECT(test_free_callback_gets_the_applications_address),
	WITH_OBJECT(test_range_beyond_the_object_is_refused),
	WITH_OBJECT(test_empty_range_or_one_beyond_the_address_space_is_refused),
	WITH_OBJECT(test_what_is_no_descriptor_is_refused),
	WITH_OBJECT(test_descriptor_of_something_that_is_no_memory_is_refused),
	WITH_OBJECT(test_range_is_set_once),
	WITH_OBJECT(test_object_that_shrank_is_refused_at_the_start),
	WITH_OBJECT(test_read_only_object_needs_read_only_permissions),
	WITH_OBJECT(test_call_on_no_map_or_another_handle_is_refused),
};

int main(void)
{
	return API_RUN(API_ON_DPU("dmabufs", "memory.yaml", tests, open_device, close_device));
}
