/* SPDX-License-Identifier: BSD-3-Clause */
/* A memory map's range, and the memory that must be behind it. Ranges of a
 * dmabuf are in test_mmap_dmabuf.c. */
#include "api_util.h"
#include "far.h"

#include <dirent.h>
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

/* A new map with a device for each test. */
static int setup(void **state)
{
	struct doca_mmap *map;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_add_dev(map, dev));
	*state = map;
	return 0;
}

static int teardown(void **state)
{
	assert_ok(doca_mmap_destroy(*state));
	return 0;
}

/* Pages of memory with the given protection, at an address that no later mapping gets when the test unmaps some. */
static uint8_t *pages(size_t count, int protection)
{
	uint8_t *memory = mmap(FAR_AWAY, count * page, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

/* Ordinary memory at that address, whichever mapping was there. */
static void put_anonymous(uint8_t *at, size_t count)
{
	assert_ptr_equal(mmap(at, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 at);
}

/* ---- the range ---- */

/* provokes: doca_mmap_get_memrange DOCA_ERROR_BAD_STATE */
static void test_range_is_what_was_set(void **state)
{
	uint8_t memory[100];
	void *addr = memory;
	size_t len = 7;

	assert_doca(doca_mmap_get_memrange(*state, &addr, &len), DOCA_ERROR_BAD_STATE);
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, 7);
	assert_ok(doca_mmap_set_memrange(*state, memory + 1, 42));
	assert_ok(doca_mmap_get_memrange(*state, &addr, &len));
	assert_ptr_equal(addr, memory + 1);
	assert_int_equal(len, 42);
	assert_ok(doca_mmap_start(*state));
	assert_ok(doca_mmap_get_memrange(*state, &addr, &len)); /* in any state */
}

/* provokes: doca_mmap_set_memrange DOCA_ERROR_INVALID_VALUE */
static void test_empty_range_or_one_beyond_the_address_space_is_refused(void **state)
{
	uint8_t memory[100];
	void *addr;
	size_t len;

	assert_invalid(doca_mmap_set_memrange(*state, NULL, sizeof(memory)));
	assert_invalid(doca_mmap_set_memrange(*state, memory, 0));
	assert_invalid(doca_mmap_set_memrange(*state, memory, SIZE_MAX));
	assert_invalid(doca_mmap_set_memrange(*state, memory, SIZE_MAX - (uintptr_t)memory + 1)); /* ends at 2^64 */
	assert_doca(doca_mmap_get_memrange(*state, &addr, &len), DOCA_ERROR_BAD_STATE);           /* nothing was set */
	assert_ok(doca_mmap_set_memrange(*state, memory, sizeof(memory)));
}

/* provokes: doca_mmap_set_memrange DOCA_ERROR_NOT_PERMITTED */
static void test_range_is_set_once(void **state)
{
	uint8_t memory[100], other[100];
	size_t len;
	void *addr;

	assert_ok(doca_mmap_set_memrange(*state, memory, sizeof(memory)));
	assert_doca(doca_mmap_set_memrange(*state, other, sizeof(other)), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_start(*state));
	assert_ok(doca_mmap_stop(*state));
	assert_doca(doca_mmap_set_memrange(*state, other, sizeof(other)), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_get_memrange(*state, &addr, &len));
	assert_ptr_equal(addr, memory);
}

/* provokes: doca_mmap_set_memrange DOCA_ERROR_BAD_STATE */
static void test_range_of_a_started_map_stays(void **state)
{
	uint8_t memory[100];

	assert_ok(doca_mmap_set_memrange(*state, memory, sizeof(memory)));
	assert_ok(doca_mmap_start(*state));
	assert_doca(doca_mmap_set_memrange(*state, memory, 10), DOCA_ERROR_BAD_STATE);
}

/* ---- the mapped memory ---- */

static void test_memory_of_several_mappings_is_one_range(void **state)
{
	uint8_t *memory = pages(3, PROT_READ | PROT_WRITE);

	assert_int_equal(mprotect(memory + page, page, PROT_READ | PROT_WRITE | PROT_EXEC),
			 0); /* a mapping of its own */
	assert_ok(doca_mmap_set_memrange(*state, memory + 1, 3 * page - 2));
	assert_ok(doca_mmap_start(*state));
	assert_ok(doca_mmap_stop(*state));
	assert_int_equal(munmap(memory, 3 * page), 0);
}

static void test_start_with_memory_that_is_not_mapped_is_refused(void **state)
{
	uint8_t *memory = pages(1, PROT_READ | PROT_WRITE);

	assert_int_equal(munmap(memory, page), 0);
	assert_ok(doca_mmap_set_memrange(*state, memory, page));
	assert_invalid(doca_mmap_start(*state));
}

static void test_start_with_a_hole_in_the_memory_is_refused_until_it_is_filled(void **state)
{
	uint8_t *memory = pages(3, PROT_READ | PROT_WRITE);

	assert_ok(doca_mmap_set_memrange(*state, memory, 3 * page));
	assert_int_equal(munmap(memory + page, page), 0);
	assert_invalid(doca_mmap_start(*state));
	put_anonymous(memory + page, 1);
	assert_ok(doca_mmap_start(*state));
	assert_ok(doca_mmap_stop(*state));
	assert_int_equal(munmap(memory, 3 * page), 0);
}

static void test_start_with_the_end_of_the_range_not_mapped_is_refused(void **state)
{
	uint8_t *memory = pages(2, PROT_READ | PROT_WRITE);

	assert_int_equal(munmap(memory + page, page), 0);
	assert_ok(doca_mmap_set_memrange(*state, memory, page + 1));
	assert_invalid(doca_mmap_start(*state));
	assert_int_equal(munmap(memory, page), 0);
}

static void test_start_with_unreadable_memory_is_refused(void **state)
{
	uint8_t *memory = pages(1, PROT_NONE);

	assert_ok(doca_mmap_set_permissions(*state, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	assert_ok(doca_mmap_set_memrange(*state, memory, page));
	assert_invalid(doca_mmap_start(*state));
	assert_int_equal(munmap(memory, page), 0);
}

/* A device writes only where a permission lets it: local, PCI or RDMA. */
static void test_read_only_memory_needs_read_only_permissions(void **state)
{
	static const struct {
		uint32_t access;
		doca_error_t expected;
	} cases[] = {
		{ DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, DOCA_ERROR_INVALID_VALUE },
		{ DOCA_ACCESS_FLAG_PCI_READ_WRITE, DOCA_ERROR_INVALID_VALUE },
		{ DOCA_ACCESS_FLAG_RDMA_WRITE, DOCA_ERROR_INVALID_VALUE },
		{ DOCA_ACCESS_FLAG_RDMA_ATOMIC, DOCA_ERROR_INVALID_VALUE },
		{ DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_ONLY, DOCA_ERROR_INVALID_VALUE },
		{ DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, DOCA_SUCCESS },
		{ DOCA_ACCESS_FLAG_PCI_READ_ONLY, DOCA_SUCCESS },
		{ DOCA_ACCESS_FLAG_RDMA_READ, DOCA_SUCCESS },
	};
	uint8_t *memory = pages(2, PROT_READ | PROT_WRITE);

	assert_int_equal(mprotect(memory + page, page, PROT_READ), 0);
	assert_ok(doca_mmap_set_memrange(*state, memory, 2 * page));
	for (size_t i = 0; i < API_COUNT(cases); i++) {
		assert_ok(doca_mmap_set_permissions(*state, cases[i].access));
		assert_doca(doca_mmap_start(*state), cases[i].expected);
		assert_ok(doca_mmap_stop(*state));
	}
	assert_int_equal(munmap(memory, 2 * page), 0);
}

/* Without permissions set, a device may write. */
static void test_default_permission_is_local_read_and_write(void **state)
{
	uint8_t *memory = pages(1, PROT_READ);

	assert_ok(doca_mmap_set_memrange(*state, memory, page));
	assert_invalid(doca_mmap_start(*state));
	assert_int_equal(munmap(memory, page), 0);
}

static void test_memory_is_looked_at_with_each_start(void **state)
{
	uint8_t *memory = pages(1, PROT_READ | PROT_WRITE);

	assert_ok(doca_mmap_set_memrange(*state, memory, page));
	assert_ok(doca_mmap_start(*state));
	assert_ok(doca_mmap_stop(*state));
	assert_int_equal(munmap(memory, page), 0);
	assert_invalid(doca_mmap_start(*state));
}

static unsigned int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	assert_int_equal(closedir(dir), 0);
	return count;
}

/* A map may keep a descriptor of the shared memory, for the other side to map, but not longer than needed. */
static void test_shared_memory_that_is_gone_is_let_go_with_the_next_start(void **state)
{
	unsigned int before = open_descriptors();
	int fd = memfd_create("shared", MFD_CLOEXEC);
	uint8_t *memory;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(2 * page)), 0);
	memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_ok(doca_mmap_set_memrange(*state, memory, 2 * page));
	assert_ok(doca_mmap_start(*state));
	assert_ok(doca_mmap_stop(*state));
	assert_int_equal(close(fd), 0);

	/* Other memory, of two mappings, in its place. */
	put_anonymous(memory, 2);
	assert_int_equal(mprotect(memory, page, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	assert_ok(doca_mmap_start(*state));
	assert_int_equal(open_descriptors(), before);
	assert_ok(doca_mmap_stop(*state));
	assert_int_equal(munmap(memory, 2 * page), 0);
}

/* ---- ranges on the DPA: test_dpa_map.c has those that there are ---- */

/* provokes: doca_mmap_set_dpa_memrange DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_set_dpa_memrange DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_set_dpa_memrange DOCA_ERROR_BAD_STATE */
static void test_dpa_range_needs_a_dpa_and_a_map_without_range(void **state)
{
	struct doca_dpa *dpa = (struct doca_dpa *)*state; /* it is none */
	uint8_t memory[100];

	assert_invalid(doca_mmap_set_dpa_memrange(NULL, dpa, 4096, 4096));
	assert_invalid(doca_mmap_set_dpa_memrange(*state, NULL, 4096, 4096));
	assert_invalid(doca_mmap_set_dpa_memrange(*state, dpa, 4096, 4096));
	assert_ok(doca_mmap_set_memrange(*state, memory, sizeof(memory)));
	assert_doca(doca_mmap_set_dpa_memrange(*state, dpa, 4096, 4096), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_start(*state));
	assert_doca(doca_mmap_set_dpa_memrange(*state, dpa, 4096, 4096), DOCA_ERROR_BAD_STATE);
}

/* provokes: doca_mmap_dev_get_dpa_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_dev_get_dpa_handle DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_dev_get_dpa_handle DOCA_ERROR_NOT_FOUND */
static void test_dpa_handle_is_of_a_started_map_and_its_device(void **state)
{
	struct doca_dev *stranger = api_open("03:00.1");
	doca_dpa_dev_mmap_t handle;
	uint8_t memory[100];

	assert_ok(doca_mmap_set_memrange(*state, memory, sizeof(memory)));
	assert_doca(doca_mmap_dev_get_dpa_handle(*state, dev, &handle), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_start(*state));
	assert_doca(doca_mmap_dev_get_dpa_handle(*state, stranger, &handle), DOCA_ERROR_NOT_FOUND);
	assert_invalid(doca_mmap_dev_get_dpa_handle(NULL, dev, &handle));
	assert_invalid(doca_mmap_dev_get_dpa_handle(*state, NULL, &handle));
	assert_invalid(doca_mmap_dev_get_dpa_handle(*state, dev, NULL));
	assert_ok(doca_mmap_dev_get_dpa_handle(*state, dev, &handle));
	assert_int_not_equal(handle, 0);
	assert_ok(doca_dev_close(stranger));
}

/* ---- arguments ---- */

/* provokes: doca_mmap_get_memrange DOCA_ERROR_INVALID_VALUE */
static void test_missing_or_foreign_argument_is_refused(void **state)
{
	uint8_t memory[100];
	void *addr;
	size_t len;

	assert_invalid(doca_mmap_set_memrange(NULL, memory, sizeof(memory)));
	assert_invalid(doca_mmap_set_memrange((struct doca_mmap *)dev, memory, sizeof(memory)));
	assert_ok(doca_mmap_set_memrange(*state, memory, sizeof(memory)));
	assert_invalid(doca_mmap_get_memrange(NULL, &addr, &len));
	assert_invalid(doca_mmap_get_memrange((struct doca_mmap *)dev, &addr, &len));
	assert_invalid(doca_mmap_get_memrange(*state, NULL, &len));
	assert_invalid(doca_mmap_get_memrange(*state, &addr, NULL));
}

#define WITH_MAP(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	WITH_MAP(test_range_is_what_was_set),
	WITH_MAP(test_empty_range_or_one_beyond_the_address_space_is_refused),
	WITH_MAP(test_range_is_set_once),
	WITH_MAP(test_range_of_a_started_map_stays),
	WITH_MAP(test_memory_of_several_mappings_is_one_range),
	WITH_MAP(test_start_with_memory_that_is_not_mapped_is_refused),
	WITH_MAP(test_start_with_a_hole_in_the_memory_is_refused_until_it_is_filled),
	WITH_MAP(test_start_with_the_end_of_the_range_not_mapped_is_refused),
	WITH_MAP(test_start_with_unreadable_memory_is_refused),
	WITH_MAP(test_read_only_memory_needs_read_only_permissions),
	WITH_MAP(test_default_permission_is_local_read_and_write),
	WITH_MAP(test_memory_is_looked_at_with_each_start),
	WITH_MAP(test_shared_memory_that_is_gone_is_let_go_with_the_next_start),
	WITH_MAP(test_dpa_range_needs_a_dpa_and_a_map_without_range),
	WITH_MAP(test_dpa_handle_is_of_a_started_map_and_its_device),
	WITH_MAP(test_missing_or_foreign_argument_is_refused),
};

int main(void)
{
	return API_RUN(API_ON_DPU("ranges", "memory.yaml", tests, open_device, close_device));
}
