/* SPDX-License-Identifier: BSD-3-Clause */
/* Export descriptors: cut, altered, stale, of another session, on another card; and a parent's exports and imports
 * in a forked child. */
#include "api_util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DESCRIPTOR 1024 /* bytes; more than any has */

static uint8_t memory[4096], other_memory[4096];
static struct doca_dev *dev;

static int open_dpu(void **state)
{
	dev = api_open("03:00.0");
	return 0;
}

static int close_dpu(void **state)
{
	assert_ok(doca_dev_close(dev));
	return 0;
}

/* Memory of the test: a map's memory is released at its stop. */
struct descriptor {
	uint8_t bytes[MAX_DESCRIPTOR];
	size_t len;
};

static struct descriptor export(struct doca_mmap *map, struct doca_dev *through)
{
	struct descriptor descriptor;
	const void *bytes;

	assert_ok(doca_mmap_export_pci(map, through, &bytes, &descriptor.len));
	assert_in_range(descriptor.len, 1, sizeof(descriptor.bytes));
	memcpy(descriptor.bytes, bytes, descriptor.len);
	return descriptor;
}

static void assert_refused(const void *bytes, size_t len, struct doca_dev *through, doca_error_t expected)
{
	struct doca_mmap *map = NULL;

	assert_doca(doca_mmap_create_from_export(NULL, bytes, len, through, &map), expected);
	assert_null(map);
}

static struct doca_mmap *import(const struct descriptor *descriptor, struct doca_dev *through)
{
	struct doca_mmap *map;

	assert_ok(doca_mmap_create_from_export(NULL, descriptor->bytes, descriptor->len, through, &map));
	return map;
}

static struct doca_mmap *exportable(struct doca_dev *through)
{
	return api_map(through, memory, sizeof(memory), DOCA_ACCESS_FLAG_PCI_READ_WRITE);
}

/* ---- descriptors ---- */

/* provokes: doca_mmap_create_from_export DOCA_ERROR_INVALID_VALUE */
static void test_descriptor_of_another_length_is_refused(void **state)
{
	struct doca_mmap *map = exportable(dev);
	struct descriptor descriptor = export(map, dev);

	for (size_t len = 0; len < descriptor.len; len++) {
		uint8_t *cut = malloc(len); /* of its length, for the address sanitizer and valgrind */

		assert_non_null(cut);
		memcpy(cut, descriptor.bytes, len);
		assert_refused(cut, len, dev, DOCA_ERROR_INVALID_VALUE);
		free(cut);
	}
	assert_refused(descriptor.bytes, descriptor.len + 1, dev, DOCA_ERROR_INVALID_VALUE);
	assert_refused(descriptor.bytes, SIZE_MAX, dev, DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_destroy(map));
}

static void test_descriptor_with_any_bit_flipped_is_refused(void **state)
{
	struct doca_mmap *map = exportable(dev);
	struct descriptor descriptor = export(map, dev);

	for (size_t bit = 0; bit < descriptor.len * 8; bit++) {
		descriptor.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_refused(descriptor.bytes, descriptor.len, dev, DOCA_ERROR_INVALID_VALUE);
		descriptor.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_ok(doca_mmap_destroy(import(&descriptor, dev))); /* now unaltered */
	assert_ok(doca_mmap_destroy(map));
}

/* provokes: doca_mmap_create_from_export DOCA_ERROR_DRIVER */
static void test_descriptor_of_a_stopped_or_destroyed_map_is_stale(void **state)
{
	struct doca_mmap *map = exportable(dev), *next;
	struct descriptor descriptor = export(map, dev);

	assert_ok(doca_mmap_stop(map));
	assert_refused(descriptor.bytes, descriptor.len, dev, DOCA_ERROR_DRIVER);
	assert_ok(doca_mmap_destroy(map));
	next = exportable(dev); /* the same memory, exported anew */
	(void)export(next, dev);
	assert_refused(descriptor.bytes, descriptor.len, dev, DOCA_ERROR_DRIVER);
	assert_ok(doca_mmap_destroy(next));
}

/* ---- forked children: each has a card of its own. They answer with their exit status, 0 if all went well ---- */

struct own_export {
	struct doca_dev *dev;
	struct doca_mmap *map;
	const void *bytes;
	size_t len;
};

static bool export_of_ones_own(struct own_export *own)
{
	struct doca_devinfo **list;
	uint32_t count;

	return doca_devinfo_create_list(&list, &count) == DOCA_SUCCESS &&
	       doca_dev_open(list[0], &own->dev) == DOCA_SUCCESS && doca_devinfo_destroy_list(list) == DOCA_SUCCESS &&
	       doca_mmap_create(&own->map) == DOCA_SUCCESS &&
	       doca_mmap_set_memrange(own->map, other_memory, sizeof(other_memory)) == DOCA_SUCCESS &&
	       doca_mmap_set_permissions(own->map, DOCA_ACCESS_FLAG_PCI_READ_WRITE) == DOCA_SUCCESS &&
	       doca_mmap_add_dev(own->map, own->dev) == DOCA_SUCCESS && doca_mmap_start(own->map) == DOCA_SUCCESS &&
	       doca_mmap_export_pci(own->map, own->dev, &own->bytes, &own->len) == DOCA_SUCCESS;
}

static bool end_own_export(struct own_export *own)
{
	return doca_mmap_destroy(own->map) == DOCA_SUCCESS && doca_dev_close(own->dev) == DOCA_SUCCESS;
}

static int send_own_descriptor(int pipe_fd)
{
	struct own_export own;

	if (!export_of_ones_own(&own))
		return 1;
	if (write(pipe_fd, own.bytes, own.len) != (ssize_t)own.len)
		return 2;
	return end_own_export(&own) ? 0 : 3;
}

static void test_descriptor_of_another_session_is_refused(void **state)
{
	static struct doca_mmap *map; /* where a leak checker in the child finds it */
	struct descriptor foreign;
	int ends[2];
	pid_t pid;

	map = exportable(dev);
	foreign = export(map, dev);
	assert_int_equal(pipe(ends), 0);
	pid = api_fork();
	if (pid == 0)
		_exit(send_own_descriptor(ends[1]));
	api_join(pid);
	assert_int_equal(read(ends[0], foreign.bytes, foreign.len), foreign.len);
	close(ends[0]);
	close(ends[1]);
	assert_refused(foreign.bytes, foreign.len, dev, DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_destroy(map));
}

/* The card attributes inherited maps to the parent: the child can only destroy them. */
static int drop_inherited(struct doca_mmap *map, struct doca_mmap *imported, bool before_it_attaches)
{
	struct own_export own;

	if (before_it_attaches && doca_mmap_destroy(map) != DOCA_SUCCESS)
		return 1;
	if (!export_of_ones_own(&own))
		return 2;
	if (!before_it_attaches && doca_mmap_destroy(map) != DOCA_SUCCESS)
		return 3;
	if (doca_mmap_destroy(imported) != DOCA_SUCCESS)
		return 4;
	if (doca_mmap_create_from_export(NULL, own.bytes, own.len, own.dev, &imported) != DOCA_SUCCESS)
		return 5; /* the child's own export lives */
	if (doca_mmap_destroy(imported) != DOCA_SUCCESS)
		return 6;
	return end_own_export(&own) ? 0 : 7;
}

static void assert_child_can_drop(bool before_it_attaches)
{
	struct doca_mmap *map = exportable(dev), *imported;
	struct descriptor descriptor = export(map, dev);
	pid_t pid;

	imported = import(&descriptor, dev);
	pid = api_fork();
	if (pid == 0)
		_exit(drop_inherited(map, imported, before_it_attaches));
	api_join(pid);
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(import(&descriptor, dev))); /* the parent's goes on */
	assert_ok(doca_mmap_destroy(map));
}

/* The first test of its process: the child's export is the first on its card, as the parent's was. */
static void test_forked_child_drops_inherited_maps_without_harm_to_its_own(void **state)
{
	assert_child_can_drop(false);
}

static void test_forked_child_without_a_card_drops_inherited_maps(void **state)
{
	assert_child_can_drop(true);
}

/* ---- on the host ---- */

/* provokes: doca_mmap_create_from_export DOCA_ERROR_NOT_SUPPORTED */
static void test_host_device_exports_and_does_not_import(void **state)
{
	struct doca_dev *host_dev = api_open("b1:00.0");
	struct doca_mmap *map = api_map(host_dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	struct descriptor descriptor = export(map, host_dev);

	assert_refused(descriptor.bytes, descriptor.len, host_dev, DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_dev_close(host_dev));
}

/* provokes: doca_mmap_create_from_export DOCA_ERROR_NOT_PERMITTED */
static void test_import_through_another_card_is_refused(void **state)
{
	struct doca_dev *left = api_open("b1:00.0"), *left_too = api_open("b1:00.1"), *right = api_open("ca:00.0");
	struct doca_mmap *map = api_map(left, memory, sizeof(memory), DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	struct descriptor descriptor = export(map, left);

	assert_refused(descriptor.bytes, descriptor.len, right, DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(import(&descriptor, left_too)));
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_dev_close(left));
	assert_ok(doca_dev_close(left_too));
	assert_ok(doca_dev_close(right));
}

static const struct CMUnitTest dpu_tests[] = {
	cmocka_unit_test(test_descriptor_of_another_length_is_refused),
	cmocka_unit_test(test_descriptor_with_any_bit_flipped_is_refused),
	cmocka_unit_test(test_descriptor_of_a_stopped_or_destroyed_map_is_stale),
	cmocka_unit_test(test_descriptor_of_another_session_is_refused),
};
static const struct CMUnitTest fork_tests[] = {
	cmocka_unit_test(test_forked_child_drops_inherited_maps_without_harm_to_its_own),
	cmocka_unit_test(test_forked_child_without_a_card_drops_inherited_maps),
};
static const struct CMUnitTest host_tests[] = {
	cmocka_unit_test(test_host_device_exports_and_does_not_import),
	cmocka_unit_test(test_import_through_another_card_is_refused),
};

int main(void)
{
	return API_RUN(API_ON_DPU("DPU", "memory.yaml", dpu_tests, open_dpu, close_dpu),
		       API_ON_DPU("forks", "memory.yaml", fork_tests, open_dpu, close_dpu),
		       { .name = "host", .topology = "memory.yaml", .side = "host", API_WITH(host_tests) });
}
