/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory keys of a memory map, which release 3.2 hands out. */
#include "api_util.h"

static uint8_t memory[4096];
static struct doca_dev *dev, *second;

static int open_devices(void **state)
{
	dev = api_open("03:00.0");
	second = api_open("03:00.1");
	return 0;
}

static int close_devices(void **state)
{
	assert_ok(doca_dev_close(dev));
	assert_ok(doca_dev_close(second));
	return 0;
}

/* A started map of both devices for each test. */
static int setup(void **state)
{
	struct doca_mmap *map;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_add_dev(map, dev));
	assert_ok(doca_mmap_set_max_num_devices(map, 2));
	assert_ok(doca_mmap_add_dev(map, second));
	assert_ok(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	assert_ok(doca_mmap_set_memrange(map, memory, sizeof(memory)));
	assert_ok(doca_mmap_start(map));
	*state = map;
	return 0;
}

static int teardown(void **state)
{
	assert_ok(doca_mmap_destroy(*state));
	return 0;
}

static uint32_t key_of(const struct doca_mmap *map, const struct doca_dev *device)
{
	uint32_t key = 0;

	assert_ok(doca_mmap_get_mkey(map, device, &key));
	assert_int_not_equal(key, 0);
	return key;
}

static void test_each_device_has_a_key_that_stays(void **state)
{
	uint32_t first = key_of(*state, dev);

	assert_int_not_equal(key_of(*state, second), first);
	assert_int_equal(key_of(*state, dev), first);
}

static void test_maps_of_the_same_memory_have_keys_of_their_own(void **state)
{
	struct doca_mmap *other = api_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

	assert_int_not_equal(key_of(other, dev), key_of(*state, dev));
	assert_int_not_equal(key_of(other, dev), key_of(*state, second));
	assert_ok(doca_mmap_destroy(other));
}

static void test_keys_end_with_a_stop_and_a_start_makes_new_ones(void **state)
{
	uint32_t before = key_of(*state, dev), key = 77;

	assert_ok(doca_mmap_stop(*state));
	assert_doca(doca_mmap_get_mkey(*state, dev, &key), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(key, 77);
	assert_ok(doca_mmap_start(*state));
	assert_int_not_equal(key_of(*state, dev), before);
	assert_int_not_equal(key_of(*state, second), before);
}

static void test_export_and_import_have_different_keys(void **state)
{
	const void *descriptor;
	struct doca_mmap *import;
	size_t len;

	assert_ok(doca_mmap_export_pci(*state, dev, &descriptor, &len));
	assert_ok(doca_mmap_create_from_export(NULL, descriptor, len, dev, &import));
	assert_int_not_equal(key_of(import, dev), key_of(*state, dev));
	assert_ok(doca_mmap_destroy(import));
}

static void test_key_for_a_device_that_is_not_in_the_map_is_refused(void **state)
{
	struct doca_mmap *other = api_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	uint32_t key = 77;

	assert_doca(doca_mmap_get_mkey(other, second, &key), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(key, 77);
	assert_ok(doca_mmap_destroy(other));
}

static void test_missing_or_foreign_argument_is_refused(void **state)
{
	uint32_t key;

	assert_invalid(doca_mmap_get_mkey(NULL, dev, &key));
	assert_invalid(doca_mmap_get_mkey((struct doca_mmap *)dev, dev, &key));
	assert_invalid(doca_mmap_get_mkey(*state, NULL, &key));
	assert_invalid(doca_mmap_get_mkey(*state, (struct doca_dev *)*state, &key));
	assert_invalid(doca_mmap_get_mkey(*state, dev, NULL));
}

#define WITH_MAP(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	WITH_MAP(test_each_device_has_a_key_that_stays),
	WITH_MAP(test_maps_of_the_same_memory_have_keys_of_their_own),
	WITH_MAP(test_keys_end_with_a_stop_and_a_start_makes_new_ones),
	WITH_MAP(test_export_and_import_have_different_keys),
	WITH_MAP(test_key_for_a_device_that_is_not_in_the_map_is_refused),
	WITH_MAP(test_missing_or_foreign_argument_is_refused),
};

int main(void)
{
	return API_RUN(API_ON_DPU("keys", "memory.yaml", tests, open_devices, close_devices));
}
