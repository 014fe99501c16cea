/* SPDX-License-Identifier: BSD-3-Clause */
/* Exporting memory over PCI and making a map of it again, both in this process:
 * data/memory.yaml has devices that can do both. What can be wrong with a
 * descriptor is in test_mmap_descriptor.c.
 *
 * What can't be provoked here:
 * unreachable: doca_mmap_export_pci DOCA_ERROR_DRIVER: only the card's daemon can fail; tests/multi has that
 * unreachable: doca_mmap_export_rdma DOCA_ERROR_NO_MEMORY: as doca_mmap_export_pci, whose test has it
 * unreachable: doca_mmap_export_rdma DOCA_ERROR_DRIVER: likewise
 */
#include "api_util.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND                      0
#define VALGRIND_CHECK_MEM_IS_DEFINED(addr, len) 0
#endif

static uint8_t memory[4096], local[4096];
static struct doca_dev *dev, *second, *no_export; /* on the DPU */

static int open_dpu(void **state)
{
	dev = api_open("03:00.0");
	second = api_open("03:00.1");
	no_export = api_open("03:00.2");
	return 0;
}

static int close_dpu(void **state)
{
	assert_ok(doca_dev_close(dev));
	assert_ok(doca_dev_close(second));
	assert_ok(doca_dev_close(no_export));
	return 0;
}

struct descriptor {
	const void *bytes;
	size_t len;
};

static struct descriptor export(struct doca_mmap *map, struct doca_dev *through)
{
	struct descriptor descriptor;

	assert_ok(doca_mmap_export_pci(map, through, &descriptor.bytes, &descriptor.len));
	return descriptor;
}

static struct doca_mmap *import(struct descriptor descriptor, struct doca_dev *through)
{
	struct doca_mmap *map;

	assert_ok(doca_mmap_create_from_export(NULL, descriptor.bytes, descriptor.len, through, &map));
	return map;
}

static void assert_import(const void *bytes, size_t len, struct doca_dev *through, doca_error_t expected)
{
	struct doca_mmap *map = NULL;

	assert_doca(doca_mmap_create_from_export(NULL, bytes, len, through, &map), expected);
	assert_null(map);
}

static struct doca_mmap *map_of_memory(uint32_t access)
{
	return api_map(dev, memory, sizeof(memory), access);
}

/* Copy all of @from to all of @to with a DMA task. */
static doca_error_t copy_between(struct doca_mmap *to, struct doca_mmap *from)
{
	struct doca_buf_inventory *inventory = api_inventory(2);
	struct doca_buf *src, *dst;
	void *src_addr, *dst_addr;
	doca_error_t status;
	size_t len;

	assert_ok(doca_mmap_get_memrange(from, &src_addr, &len));
	assert_ok(doca_mmap_get_memrange(to, &dst_addr, &len));
	assert_ok(doca_buf_inventory_buf_get_by_data(inventory, from, src_addr, len, &src));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, to, dst_addr, len, &dst));
	status = api_copy(dev, dst, src);
	assert_ok(doca_buf_dec_refcount(src, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
	assert_ok(doca_buf_inventory_destroy(inventory));
	return status;
}

/* ---- exporting ---- */

static void test_export_of_one_device_is_made_once(void **state)
{
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	struct descriptor first, again;
	uint8_t exported;

	assert_ok(doca_mmap_get_exported(map, &exported));
	assert_int_equal(exported, 0);
	first = export(map, dev);
	assert_true(first.len > 0);
	assert_ok(doca_mmap_get_exported(map, &exported));
	assert_int_equal(exported, 1);
	again = export(map, dev);
	assert_ptr_equal(first.bytes, again.bytes);
	assert_int_equal(first.len, again.len);
	assert_ok(doca_mmap_destroy(map));
}

static void test_each_device_of_a_map_has_an_export_of_its_own(void **state)
{
	struct doca_mmap *map, *imported;
	struct descriptor one, other;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, memory, sizeof(memory)));
	assert_ok(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	assert_ok(doca_mmap_add_dev(map, dev));
	assert_ok(doca_mmap_add_dev(map, second));
	assert_ok(doca_mmap_start(map));
	one = export(map, dev);
	other = export(map, second);
	assert_int_equal(one.len, other.len);
	assert_memory_not_equal(one.bytes, other.bytes, one.len);
	imported = import(other, dev);
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(map));
}

/* provokes: doca_mmap_export_pci DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_export_rdma DOCA_ERROR_NOT_PERMITTED */
static void test_export_needs_a_started_map_with_the_permission(void **state)
{
	struct doca_mmap *map;
	const void *bytes = NULL;
	size_t len;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, memory, sizeof(memory)));
	assert_ok(doca_mmap_add_dev(map, dev));
	assert_ok(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ));
	assert_doca(doca_mmap_export_pci(map, dev, &bytes, &len), DOCA_ERROR_NOT_PERMITTED); /* not started */
	assert_doca(doca_mmap_export_rdma(map, dev, &bytes, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE));
	assert_ok(doca_mmap_start(map));
	assert_doca(doca_mmap_export_pci(map, dev, &bytes, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_stop(map));
	assert_ok(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	assert_ok(doca_mmap_start(map));
	assert_doca(doca_mmap_export_rdma(map, dev, &bytes, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_null(bytes);
	assert_ok(doca_mmap_destroy(map));
}

/* So does a BlueField-3 (DOCA 3.2): the map starts, but has no PCI permission. */
static void test_relaxed_ordering_alone_is_no_permission_to_export(void **state)
{
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING);
	const void *bytes;
	size_t len;

	assert_doca(doca_mmap_export_pci(map, dev, &bytes, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(map));
}

/* provokes: doca_mmap_export_pci DOCA_ERROR_NOT_FOUND
 * provokes: doca_mmap_export_rdma DOCA_ERROR_NOT_FOUND */
static void test_export_through_a_device_that_is_not_in_the_map_is_refused(void **state)
{
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ);
	const void *bytes;
	size_t len;

	assert_doca(doca_mmap_export_pci(map, second, &bytes, &len), DOCA_ERROR_NOT_FOUND);
	assert_doca(doca_mmap_export_rdma(map, second, &bytes, &len), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_destroy(map));
}

/* provokes: doca_mmap_export_pci DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_mmap_export_rdma DOCA_ERROR_NOT_SUPPORTED */
static void test_export_through_a_device_that_cannot_is_refused(void **state)
{
	struct doca_mmap *map = api_map(no_export, memory, sizeof(memory),
					DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ);
	const void *bytes;
	uint8_t exported;
	size_t len;

	assert_doca(doca_mmap_export_pci(map, no_export, &bytes, &len), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_mmap_export_rdma(map, no_export, &bytes, &len), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_mmap_get_exported(map, &exported));
	assert_int_equal(exported, 0);
	assert_ok(doca_mmap_destroy(map));
}

/* A map that was exported stays exported, and its memory cannot be set again after its stop. */
static void test_map_that_was_exported_is_not_started_or_changed_again(void **state)
{
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	uint8_t exported = 0;

	(void)export(map, dev);
	assert_ok(doca_mmap_stop(map));
	assert_ok(doca_mmap_get_exported(map, &exported));
	assert_int_equal(exported, 1);
	assert_doca(doca_mmap_start(map), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_add_dev(map, second), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_rm_dev(map, dev), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_stop(map));
	assert_ok(doca_mmap_destroy(map));
}

/* ---- importing ---- */

static void test_imported_map_names_the_exporters_memory(void **state)
{
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	struct doca_mmap *mine = api_map(dev, local, sizeof(local), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_mmap *imported = import(export(map, dev), dev);
	void *addr;
	size_t len;

	assert_ok(doca_mmap_get_memrange(imported, &addr, &len));
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, sizeof(memory));

	memset(memory, 0x11, sizeof(memory));
	assert_ok(copy_between(mine, imported));
	assert_memory_equal(local, memory, sizeof(local));
	memset(local, 0x22, sizeof(local));
	assert_ok(copy_between(imported, mine));
	assert_memory_equal(memory, local, sizeof(memory));

	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_mmap_destroy(mine));
}

static void test_read_only_export_is_read_and_not_written(void **state)
{
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	struct doca_mmap *mine = api_map(dev, local, sizeof(local), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_mmap *imported = import(export(map, dev), dev);

	memset(memory, 0x33, sizeof(memory));
	assert_ok(copy_between(mine, imported));
	assert_memory_equal(local, memory, sizeof(local));
	memset(local, 0x44, sizeof(local));
	assert_int_not_equal(copy_between(imported, mine), DOCA_SUCCESS);
	assert_int_equal(memory[0], 0x33);
	assert_int_equal(memory[sizeof(memory) - 1], 0x33);
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_mmap_destroy(mine));
}

static void test_imported_map_carries_the_user_data_it_was_given(void **state)
{
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE), *imported;
	struct descriptor descriptor = export(map, dev);
	union doca_data user_data = { .u64 = 42 };

	assert_ok(doca_mmap_create_from_export(&user_data, descriptor.bytes, descriptor.len, dev, &imported));
	user_data.u64 = 0;
	assert_ok(doca_mmap_get_user_data(imported, &user_data));
	assert_int_equal(user_data.u64, 42);
	assert_ok(doca_mmap_destroy(imported));
	imported = import(descriptor, dev); /* a second one of the same descriptor, with none */
	assert_ok(doca_mmap_get_user_data(imported, &user_data));
	assert_int_equal(user_data.u64, 0);
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(map));
}

static void unused_free_cb(void *addr, size_t len, void *cookie)
{
}

static void test_imported_map_is_started_and_cannot_be_changed(void **state)
{
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE),
			 *imported = import(export(map, dev), dev);
	union doca_data user_data = { .u64 = 1 };
	const void *bytes;
	uint32_t number;
	uint8_t flag;
	size_t len;

	assert_ok(doca_mmap_get_from_export(imported, &flag));
	assert_int_equal(flag, 1);
	assert_ok(doca_mmap_get_exported(imported, &flag));
	assert_int_equal(flag, 0);
	assert_ok(doca_mmap_get_max_num_devices(imported, &number));
	assert_int_equal(number, 1);
	assert_ok(doca_mmap_start(imported)); /* it is started */
	assert_doca(doca_mmap_stop(imported), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_add_dev(imported, second), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_rm_dev(imported, dev), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_set_max_num_devices(imported, 2), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_set_memrange(imported, memory, sizeof(memory)), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_mmap_set_permissions(imported, DOCA_ACCESS_FLAG_PCI_READ_WRITE), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_mmap_set_user_data(imported, user_data), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_mmap_set_free_cb(imported, unused_free_cb, NULL), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_mmap_export_pci(imported, dev, &bytes, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(map));
}

/* As long as it has no buffer: the target of storage does that. Buffers are not counted then. */
static void test_imported_map_can_be_made_thread_safe(void **state)
{
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE), *first = import(export(map, dev), dev),
			 *second_map = import(export(map, dev), dev);
	struct doca_buf_inventory *inventory = api_inventory(2);
	struct doca_buf *of_first, *of_second;
	uint32_t count;

	assert_ok(doca_mmap_enable_thread_safety(first));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, first, memory, 1, &of_first));
	assert_ok(doca_mmap_get_num_bufs(first, &count));
	assert_int_equal(count, 0);
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, second_map, memory, 1, &of_second));
	assert_doca(doca_mmap_enable_thread_safety(second_map), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_buf_dec_refcount(of_first, NULL));
	assert_ok(doca_buf_dec_refcount(of_second, NULL));
	assert_ok(doca_mmap_destroy(first));
	assert_ok(doca_mmap_destroy(second_map));
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_buf_inventory_destroy(inventory));
}

static void test_imported_map_counts_its_buffers(void **state)
{
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE),
			 *imported = import(export(map, dev), dev);
	struct doca_buf_inventory *inventory = api_inventory(1);
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, imported, memory, 1, &buf));
	assert_doca(doca_mmap_destroy(imported), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_stop(map)); /* it is not the exporter's buffer */
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_buf_inventory_destroy(inventory));
}

static void test_import_stops_working_when_the_exporter_stops(void **state)
{
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE),
			 *imported = import(export(map, dev), dev);
	struct doca_mmap *mine = api_map(dev, local, sizeof(local), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	memset(memory, 0x55, sizeof(memory));
	memset(local, 0x66, sizeof(local));
	assert_ok(doca_mmap_stop(map));
	assert_doca(copy_between(mine, imported), DOCA_ERROR_IO_FAILED);
	assert_doca(copy_between(imported, mine), DOCA_ERROR_IO_FAILED);
	assert_int_equal(memory[0], 0x55);
	assert_int_equal(local[0], 0x66);
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_mmap_destroy(imported)); /* in either order */
	assert_ok(doca_mmap_destroy(mine));
}

/* ---- arguments ---- */

/* provokes: doca_mmap_export_pci DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_export_rdma DOCA_ERROR_INVALID_VALUE */
static void test_missing_or_foreign_argument_is_refused(void **state)
{
	static doca_error_t (*const exports[])(struct doca_mmap *, const struct doca_dev *, const void **,
					       size_t *) = { doca_mmap_export_pci, doca_mmap_export_rdma };
	struct doca_mmap *map = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ), *imported;
	struct descriptor descriptor = export(map, dev);
	const void *bytes;
	size_t len;

	for (size_t i = 0; i < API_COUNT(exports); i++) {
		assert_invalid(exports[i](NULL, dev, &bytes, &len));
		assert_invalid(exports[i]((struct doca_mmap *)dev, dev, &bytes, &len));
		assert_invalid(exports[i](map, NULL, &bytes, &len));
		assert_invalid(exports[i](map, (struct doca_dev *)map, &bytes, &len));
		assert_invalid(exports[i](map, dev, NULL, &len));
		assert_invalid(exports[i](map, dev, &bytes, NULL));
	}
	assert_import(NULL, descriptor.len, dev, DOCA_ERROR_INVALID_VALUE);
	assert_import(descriptor.bytes, descriptor.len, NULL, DOCA_ERROR_INVALID_VALUE);
	assert_import(descriptor.bytes, descriptor.len, (struct doca_dev *)map, DOCA_ERROR_INVALID_VALUE);
	assert_invalid(doca_mmap_create_from_export(NULL, descriptor.bytes, descriptor.len, dev, NULL));
	imported = import(descriptor, dev);
	assert_ok(doca_mmap_destroy(imported));
	assert_invalid(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(map));
}

/* ---- valgrind, which does not see the writes of another process ---- */

static void test_memory_that_others_may_write_is_defined_for_valgrind(void **state)
{
	uint8_t *bytes = malloc(sizeof(memory));
	struct doca_mmap *map = api_map(dev, bytes, sizeof(memory), DOCA_ACCESS_FLAG_PCI_READ_WRITE);

	export(map, dev);
	if (RUNNING_ON_VALGRIND)
		assert_int_equal(VALGRIND_CHECK_MEM_IS_DEFINED(bytes, sizeof(memory)), 0);
	assert_ok(doca_mmap_destroy(map));
	free(bytes);
}

/* ---- memory runs out ---- */

static struct doca_mmap *oom_map, *oom_imported;
static struct descriptor oom_descriptor;

static doca_error_t step_export(void)
{
	return doca_mmap_export_pci(oom_map, dev, &oom_descriptor.bytes, &oom_descriptor.len);
}

static doca_error_t step_import(void)
{
	return doca_mmap_create_from_export(NULL, oom_descriptor.bytes, oom_descriptor.len, dev, &oom_imported);
}

/* provokes: doca_mmap_export_pci DOCA_ERROR_NO_MEMORY */
/* provokes: doca_mmap_create_from_export DOCA_ERROR_NO_MEMORY */
static void test_export_and_import_without_memory_fail_and_can_be_repeated(void **state)
{
	oom_map = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	api_fail_each_allocation(step_export, NULL);
	api_fail_each_allocation(step_import, NULL);
	assert_ok(doca_mmap_destroy(oom_imported));
	assert_ok(doca_mmap_destroy(oom_map));
}

/* ---- states ---- */

#define REFUSED DOCA_ERROR_NOT_PERMITTED

enum map_state { NEW, STARTED, STOPPED, EXPORTED, SPENT, IMPORTED, NUM_STATES };

static struct doca_mmap *exporter; /* of imported maps */

static struct doca_mmap *map_in(enum map_state state)
{
	struct doca_mmap *map;

	if (state == IMPORTED)
		return import(export(exporter, dev), dev);
	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_add_dev(map, dev));
	assert_ok(doca_mmap_set_memrange(map, memory, sizeof(memory)));
	assert_ok(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	if (state != NEW)
		assert_ok(doca_mmap_start(map));
	if (state == EXPORTED || state == SPENT)
		(void)export(map, dev);
	if (state == STOPPED || state == SPENT)
		assert_ok(doca_mmap_stop(map));
	return map;
}

/* Three properties distinguish the states: whether the map has buffers, was exported, was ever started. */
static void assert_map_is(struct doca_mmap *map, enum map_state state)
{
	bool is_usable = state == STARTED || state == EXPORTED || state == IMPORTED;
	struct doca_buf_inventory *inventory = api_inventory(1);
	uint8_t exported, from_export;
	struct doca_buf *buf;

	assert_doca(doca_buf_inventory_buf_get_by_addr(inventory, map, memory, 1, &buf),
		    is_usable ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
	if (is_usable)
		assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_ok(doca_mmap_get_exported(map, &exported));
	assert_int_equal(exported, state == EXPORTED || state == SPENT);
	assert_ok(doca_mmap_get_from_export(map, &from_export));
	assert_int_equal(from_export, state == IMPORTED);
	assert_doca(doca_mmap_set_max_num_devices(map, 2), state == NEW ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(map));
}

/* Each call in each state: the result, and the state after the call. */
static void test_each_call_in_each_state_of_a_map(void **state)
{
	static const struct {
		doca_error_t start, stop, export;
		enum map_state started, stopped, exported;
	} expected[NUM_STATES] = {
		[NEW] = { DOCA_SUCCESS, DOCA_SUCCESS, REFUSED, STARTED, NEW, NEW },
		[STARTED] = { REFUSED, DOCA_SUCCESS, DOCA_SUCCESS, STARTED, STOPPED, EXPORTED },
		[STOPPED] = { DOCA_SUCCESS, DOCA_SUCCESS, REFUSED, STARTED, STOPPED, STOPPED },
		[EXPORTED] = { REFUSED, DOCA_SUCCESS, DOCA_SUCCESS, EXPORTED, SPENT, EXPORTED },
		[SPENT] = { REFUSED, DOCA_SUCCESS, REFUSED, SPENT, SPENT, SPENT },
		[IMPORTED] = { DOCA_SUCCESS, REFUSED, REFUSED, IMPORTED, IMPORTED, IMPORTED },
	};
	struct descriptor descriptor;
	struct doca_mmap *map;

	exporter = map_of_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (enum map_state from = NEW; from < NUM_STATES; from++) {
		map = map_in(from);
		assert_doca(doca_mmap_start(map), expected[from].start);
		assert_map_is(map, expected[from].started);
		map = map_in(from);
		assert_doca(doca_mmap_stop(map), expected[from].stop);
		assert_map_is(map, expected[from].stopped);
		map = map_in(from);
		assert_doca(doca_mmap_export_pci(map, dev, &descriptor.bytes, &descriptor.len), expected[from].export);
		assert_map_is(map, expected[from].exported);
	}
	assert_ok(doca_mmap_destroy(exporter));
}

static const struct CMUnitTest dpu_tests[] = {
	cmocka_unit_test(test_export_of_one_device_is_made_once),
	cmocka_unit_test(test_each_device_of_a_map_has_an_export_of_its_own),
	cmocka_unit_test(test_export_needs_a_started_map_with_the_permission),
	cmocka_unit_test(test_relaxed_ordering_alone_is_no_permission_to_export),
	cmocka_unit_test(test_export_through_a_device_that_is_not_in_the_map_is_refused),
	cmocka_unit_test(test_export_through_a_device_that_cannot_is_refused),
	cmocka_unit_test(test_map_that_was_exported_is_not_started_or_changed_again),
	cmocka_unit_test(test_each_call_in_each_state_of_a_map),
	cmocka_unit_test(test_imported_map_names_the_exporters_memory),
	cmocka_unit_test(test_read_only_export_is_read_and_not_written),
	cmocka_unit_test(test_imported_map_carries_the_user_data_it_was_given),
	cmocka_unit_test(test_imported_map_is_started_and_cannot_be_changed),
	cmocka_unit_test(test_imported_map_can_be_made_thread_safe),
	cmocka_unit_test(test_imported_map_counts_its_buffers),
	cmocka_unit_test(test_import_stops_working_when_the_exporter_stops),
	cmocka_unit_test(test_missing_or_foreign_argument_is_refused),
	cmocka_unit_test(test_memory_that_others_may_write_is_defined_for_valgrind),
};
static const struct CMUnitTest oom_tests[] = {
	cmocka_unit_test(test_export_and_import_without_memory_fail_and_can_be_repeated),
};

int main(void)
{
	return API_RUN(API_ON_DPU("DPU", "memory.yaml", dpu_tests, open_dpu, close_dpu),
		       API_ON_DPU("no memory", "memory.yaml", oom_tests, open_dpu, close_dpu));
}
