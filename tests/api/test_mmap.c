/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps: their life, configuration and devices. Ranges are in test_mmap_range.c,
 * buffers and threads in test_mmap_bufs.c, exports in test_mmap_export.c.
 *
 * What can't be provoked here:
 * unreachable: doca_mmap_add_dev DOCA_ERROR_NOT_SUPPORTED: there is no doca_rdma_bridge_open_dev_from_pd()
 * unreachable: doca_mmap_cap_is_export_pci_supported DOCA_ERROR_NOT_SUPPORTED: the answer is 0 then
 * unreachable: doca_mmap_cap_is_export_pci_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_mmap_cap_is_create_from_export_pci_supported DOCA_ERROR_NOT_SUPPORTED: the answer is 0 then
 * unreachable: doca_mmap_cap_is_create_from_export_pci_supported DOCA_ERROR_DRIVER: it is in the topology
 */
#include "api_util.h"

#include <string.h>

/* The devices of data/memory.yaml on the DPU. */
enum { FIRST, AMONG_TWO, THIRD, NUM_DEVICES };

static uint8_t memory[4096];

static struct doca_dev *devs[NUM_DEVICES];

static int open_devices(void **state)
{
	for (uint32_t i = 0; i < NUM_DEVICES; i++)
		devs[i] = api_open_nth(i);
	return 0;
}

/* A last close is refused while a map holds the device: here that checks that each map released it. */
static int close_devices(void **state)
{
	for (uint32_t i = 0; i < NUM_DEVICES; i++)
		assert_ok(doca_dev_close(devs[i]));
	return 0;
}

/* A new map for each test. */
static int setup(void **state)
{
	struct doca_mmap *map;

	assert_ok(doca_mmap_create(&map));
	*state = map;
	return 0;
}

static int teardown(void **state)
{
	assert_ok(doca_mmap_destroy(*state));
	return 0;
}

static void configure(struct doca_mmap *map)
{
	assert_ok(doca_mmap_set_memrange(map, memory, sizeof(memory)));
	assert_ok(doca_mmap_add_dev(map, devs[FIRST]));
}

static void configure_and_start(struct doca_mmap *map)
{
	configure(map);
	assert_ok(doca_mmap_start(map));
}

/* ---- life ---- */

static void test_map_is_started_stopped_and_started_again(void **state)
{
	configure(*state);
	assert_ok(doca_mmap_start(*state));
	assert_ok(doca_mmap_stop(*state));
	assert_ok(doca_mmap_start(*state));
	assert_ok(doca_mmap_stop(*state));
	assert_ok(doca_mmap_stop(*state)); /* nothing to stop is fine */
}

/* The teardown destroys it. */
static void test_destroy_stops_a_started_map(void **state)
{
	configure_and_start(*state);
}

static void test_map_that_was_never_configured_is_destroyed(void **state)
{
	uint8_t flag = 7;

	assert_ok(doca_mmap_get_exported(*state, &flag));
	assert_int_equal(flag, 0);
	assert_ok(doca_mmap_get_from_export(*state, &flag));
	assert_int_equal(flag, 0);
}

/* provokes: doca_mmap_start DOCA_ERROR_NOT_PERMITTED */
static void test_start_of_a_started_map_is_refused(void **state)
{
	configure_and_start(*state);
	assert_doca(doca_mmap_start(*state), DOCA_ERROR_NOT_PERMITTED);
}

/* provokes: doca_mmap_start DOCA_ERROR_INVALID_VALUE */
static void test_start_needs_a_range_and_a_device(void **state)
{
	assert_invalid(doca_mmap_start(*state));
	assert_ok(doca_mmap_add_dev(*state, devs[FIRST]));
	assert_invalid(doca_mmap_start(*state));
	assert_ok(doca_mmap_rm_dev(*state, devs[FIRST]));
	assert_ok(doca_mmap_set_memrange(*state, memory, sizeof(memory)));
	assert_invalid(doca_mmap_start(*state));
	assert_ok(doca_mmap_add_dev(*state, devs[FIRST]));
	assert_ok(doca_mmap_start(*state));
}

static void nothing_to_free(void *addr, size_t len, void *cookie)
{
}

/* provokes: doca_mmap_set_permissions DOCA_ERROR_BAD_STATE
 * provokes: doca_mmap_set_user_data DOCA_ERROR_BAD_STATE
 * provokes: doca_mmap_set_free_cb DOCA_ERROR_BAD_STATE
 * provokes: doca_mmap_set_max_num_devices DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_add_dev DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_rm_dev DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_mmap_enable_thread_safety DOCA_ERROR_NOT_PERMITTED */
static void test_started_map_cannot_be_configured(void **state)
{
	union doca_data user_data = { .u64 = 1 };

	configure_and_start(*state);
	assert_doca(doca_mmap_set_permissions(*state, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_mmap_set_user_data(*state, user_data), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_mmap_set_free_cb(*state, nothing_to_free, NULL), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_mmap_set_max_num_devices(*state, 5), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_add_dev(*state, devs[AMONG_TWO]), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_rm_dev(*state, devs[FIRST]), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_mmap_enable_thread_safety(*state), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_get_user_data(*state, &user_data));
	assert_int_equal(user_data.u64, 0);
}

static void test_stopped_map_can_be_configured_again(void **state)
{
	union doca_data user_data = { .u64 = 1 };

	configure_and_start(*state);
	assert_ok(doca_mmap_stop(*state));
	assert_ok(doca_mmap_set_permissions(*state, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	assert_ok(doca_mmap_set_user_data(*state, user_data));
	assert_ok(doca_mmap_add_dev(*state, devs[AMONG_TWO]));
	assert_ok(doca_mmap_rm_dev(*state, devs[FIRST]));
	assert_ok(doca_mmap_enable_thread_safety(*state));
	assert_ok(doca_mmap_start(*state));
}

/* ---- configuration ---- */

/* The flags by letter: w local write; r R A RDMA read, write, atomic; p P PCI read-only, read-write; x relaxed. */
static uint32_t flags_of(const char *letters)
{
	static const char order[] = "wrRApPx"; /* bit 0 first */
	uint32_t flags = 0;

	for (; *letters; letters++)
		flags |= 1u << (strchr(order, *letters) - order);
	return flags;
}

/* The two PCI permissions exclude each other. Relaxed ordering is refused with either of them, and accepted alone,
 * as on a BlueField-3 (DOCA 3.2). */
static void test_valid_permissions_are_taken(void **state)
{
	static const char *const valid[] = { "",  "w", "p", "P",   "wp",    "wP",    "x",    "wx",
					     "r", "R", "A", "rRA", "wrRAp", "wrRAP", "wrRAx" };

	configure(*state);
	for (size_t i = 0; i < API_COUNT(valid); i++) {
		assert_ok(doca_mmap_set_permissions(*state, flags_of(valid[i])));
		assert_ok(doca_mmap_start(*state));
		assert_ok(doca_mmap_stop(*state));
	}
}

/* provokes: doca_mmap_set_permissions DOCA_ERROR_INVALID_VALUE */
static void test_permissions_that_exclude_each_other_are_refused(void **state)
{
	static const char *const excluding[] = { "pP", "wpP", "px", "Px", "wpx", "wPx", "pPx", "wrRApPx" };

	for (size_t i = 0; i < API_COUNT(excluding); i++)
		assert_invalid(doca_mmap_set_permissions(*state, flags_of(excluding[i])));
	for (int bit = 7; bit < 32; bit++) /* and flags that don't exist */
		assert_invalid(doca_mmap_set_permissions(*state, DOCA_ACCESS_FLAG_PCI_READ_WRITE | 1u << bit));
}

static void test_user_data_is_zero_until_it_is_set(void **state)
{
	union doca_data user_data = { .u64 = 7 };

	assert_ok(doca_mmap_get_user_data(*state, &user_data));
	assert_int_equal(user_data.u64, 0);
	user_data.ptr = memory;
	assert_ok(doca_mmap_set_user_data(*state, user_data));
	configure_and_start(*state);
	user_data.u64 = 0;
	assert_ok(doca_mmap_get_user_data(*state, &user_data));
	assert_ptr_equal(user_data.ptr, memory);
}

/* ---- devices ---- */

/* provokes: doca_mmap_add_dev DOCA_ERROR_ALREADY_EXIST */
/* provokes: doca_mmap_rm_dev DOCA_ERROR_NOT_FOUND */
static void test_devices_are_added_once_and_removed_once(void **state)
{
	assert_ok(doca_mmap_add_dev(*state, devs[FIRST]));
	assert_ok(doca_mmap_add_dev(*state, devs[THIRD]));
	assert_doca(doca_mmap_add_dev(*state, devs[FIRST]), DOCA_ERROR_ALREADY_EXIST);
	assert_ok(doca_mmap_rm_dev(*state, devs[FIRST]));
	assert_doca(doca_mmap_rm_dev(*state, devs[FIRST]), DOCA_ERROR_NOT_FOUND);
	assert_doca(doca_mmap_rm_dev(*state, devs[AMONG_TWO]), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_add_dev(*state, devs[FIRST]));
}

static void test_device_in_a_map_stays_open(void **state)
{
	struct doca_dev *dev = devs[THIRD];

	assert_ok(doca_mmap_add_dev(*state, dev));
	assert_doca(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_ok(doca_mmap_rm_dev(*state, dev));
	assert_ok(doca_dev_close(dev));
	devs[THIRD] = api_open_nth(THIRD);
}

/* provokes: doca_mmap_add_dev DOCA_ERROR_NO_MEMORY */
static void test_no_more_devices_than_the_maximum_are_added(void **state)
{
	uint32_t max;

	assert_ok(doca_mmap_get_max_num_devices(*state, &max));
	assert_true(max >= NUM_DEVICES); /* unless it is set */
	assert_ok(doca_mmap_set_max_num_devices(*state, 1));
	assert_ok(doca_mmap_get_max_num_devices(*state, &max));
	assert_int_equal(max, 1);
	assert_ok(doca_mmap_add_dev(*state, devs[FIRST]));
	assert_doca(doca_mmap_add_dev(*state, devs[THIRD]), DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_mmap_set_max_num_devices(*state, 2));
	assert_ok(doca_mmap_add_dev(*state, devs[THIRD]));
}

/* The topology says max-mmap-devices: 2 of it. */
static void test_device_joins_no_map_with_as_many_devices_as_it_allows(void **state)
{
	assert_ok(doca_mmap_add_dev(*state, devs[FIRST]));
	assert_ok(doca_mmap_add_dev(*state, devs[THIRD]));
	assert_doca(doca_mmap_add_dev(*state, devs[AMONG_TWO]), DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_mmap_rm_dev(*state, devs[FIRST]));
	assert_ok(doca_mmap_add_dev(*state, devs[AMONG_TWO]));
}

/* provokes: doca_mmap_set_max_num_devices DOCA_ERROR_INVALID_VALUE */
static void test_maximum_below_what_is_there_is_refused(void **state)
{
	assert_ok(doca_mmap_add_dev(*state, devs[FIRST]));
	assert_ok(doca_mmap_add_dev(*state, devs[THIRD]));
	assert_invalid(doca_mmap_set_max_num_devices(*state, 1));
	assert_invalid(doca_mmap_set_max_num_devices(*state, 0));
	assert_ok(doca_mmap_set_max_num_devices(*state, 2));
}

static void test_maximum_is_settled_with_the_first_start(void **state)
{
	configure_and_start(*state);
	assert_ok(doca_mmap_stop(*state));
	assert_doca(doca_mmap_set_max_num_devices(*state, 5), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_set_free_cb(*state, nothing_to_free,
					NULL)); /* a second start does not make it configurable */
	assert_doca(doca_mmap_set_max_num_devices(*state, 5), DOCA_ERROR_NOT_PERMITTED);
}

/* ---- the free callback ---- */

struct freed {
	unsigned int count;
	void *addr;
	size_t len;
};

static void note_freed(void *addr, size_t len, void *cookie)
{
	struct freed *freed = cookie;

	freed->count++;
	freed->addr = addr;
	freed->len = len;
}

static struct doca_mmap *map_with_free_cb(struct freed *freed)
{
	struct doca_mmap *map;

	*freed = (struct freed){ 0 };
	assert_ok(doca_mmap_create(&map));
	configure(map);
	assert_ok(doca_mmap_set_free_cb(map, note_freed, freed));
	return map;
}

static void test_destroy_calls_the_free_callback_of_a_map_that_was_started(void **state)
{
	struct freed freed;
	struct doca_mmap *map = map_with_free_cb(&freed);

	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_stop(map));
	assert_int_equal(freed.count, 0);
	assert_ok(doca_mmap_destroy(map));
	assert_int_equal(freed.count, 1);
	assert_ptr_equal(freed.addr, memory);
	assert_int_equal(freed.len, sizeof(memory));
}

static void test_free_callback_of_a_map_that_was_never_started_is_not_called(void **state)
{
	struct freed freed;
	struct doca_mmap *map = map_with_free_cb(&freed);

	assert_ok(doca_mmap_destroy(map));
	assert_int_equal(freed.count, 0);
}

/* Set after the start it is not called, unless the map is started again. */
static void test_free_callback_counts_from_its_next_start(void **state)
{
	struct freed first, second = { 0 };
	struct doca_mmap *map = map_with_free_cb(&first);

	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_stop(map));
	assert_ok(doca_mmap_set_free_cb(map, note_freed, &second));
	assert_ok(doca_mmap_destroy(map));
	assert_int_equal(first.count, 0);
	assert_int_equal(second.count, 0);

	map = map_with_free_cb(&first);
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_stop(map));
	assert_ok(doca_mmap_set_free_cb(map, note_freed, &second));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_destroy(map));
	assert_int_equal(first.count, 0);
	assert_int_equal(second.count, 1);
}

static doca_error_t destroyed_again;

static void destroy_again(void *addr, size_t len, void *cookie)
{
	destroyed_again = doca_mmap_destroy(cookie);
}

static void test_free_callback_that_destroys_its_map_is_refused(void **state)
{
	struct doca_mmap *map;

	assert_ok(doca_mmap_create(&map));
	configure(map);
	assert_ok(doca_mmap_set_free_cb(map, destroy_again, map));
	assert_ok(doca_mmap_start(map));
	destroyed_again = DOCA_SUCCESS;
	assert_ok(doca_mmap_destroy(map));
	assert_invalid(destroyed_again);
}

/* ---- arguments ---- */

/* provokes: doca_mmap_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_stop DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_enable_thread_safety DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_set_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_set_free_cb DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_add_dev DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_rm_dev DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_get_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_get_max_num_devices DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_get_num_bufs DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_get_exported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_get_from_export DOCA_ERROR_INVALID_VALUE */
static void refuses_every_call(struct doca_mmap *no_map)
{
	union doca_data user_data = { 0 };
	uint32_t number;
	uint8_t flag;

	assert_invalid(doca_mmap_destroy(no_map));
	assert_invalid(doca_mmap_start(no_map));
	assert_invalid(doca_mmap_stop(no_map));
	assert_invalid(doca_mmap_enable_thread_safety(no_map));
	assert_invalid(doca_mmap_set_permissions(no_map, 0));
	assert_invalid(doca_mmap_set_max_num_devices(no_map, 5));
	assert_invalid(doca_mmap_set_user_data(no_map, user_data));
	assert_invalid(doca_mmap_set_free_cb(no_map, nothing_to_free, NULL));
	assert_invalid(doca_mmap_add_dev(no_map, devs[FIRST]));
	assert_invalid(doca_mmap_rm_dev(no_map, devs[FIRST]));
	assert_invalid(doca_mmap_get_user_data(no_map, &user_data));
	assert_invalid(doca_mmap_get_max_num_devices(no_map, &number));
	assert_invalid(doca_mmap_get_num_bufs(no_map, &number));
	assert_invalid(doca_mmap_get_exported(no_map, &flag));
	assert_invalid(doca_mmap_get_from_export(no_map, &flag));
}

static void test_call_on_no_map_or_another_handle_is_refused(void **state)
{
	struct doca_mmap *destroyed;

	refuses_every_call(NULL);
	refuses_every_call((struct doca_mmap *)devs[FIRST]);
	refuses_every_call((struct doca_mmap *)((char *)devs[FIRST] + 1)); /* not even aligned */
	assert_ok(doca_mmap_create(&destroyed));
	assert_ok(doca_mmap_destroy(destroyed));
	refuses_every_call(destroyed);
}

static void test_missing_or_foreign_argument_is_refused(void **state)
{
	assert_invalid(doca_mmap_create(NULL));
	assert_invalid(doca_mmap_set_free_cb(*state, NULL, memory));
	assert_invalid(doca_mmap_add_dev(*state, NULL));
	assert_invalid(doca_mmap_add_dev(*state, *state));
	assert_invalid(doca_mmap_add_dev(*state, (struct doca_dev *)doca_dev_as_devinfo(devs[FIRST])));
	assert_invalid(doca_mmap_rm_dev(*state, NULL));
	assert_invalid(doca_mmap_rm_dev(*state, *state));
	assert_invalid(doca_mmap_get_user_data(*state, NULL));
	assert_invalid(doca_mmap_get_max_num_devices(*state, NULL));
	assert_invalid(doca_mmap_get_num_bufs(*state, NULL));
	assert_invalid(doca_mmap_get_exported(*state, NULL));
	assert_invalid(doca_mmap_get_from_export(*state, NULL));
}

/* ---- memory runs out ---- */

static struct doca_mmap *oom_map;

static doca_error_t step_create(void)
{
	return doca_mmap_create(&oom_map);
}

static doca_error_t step_add_dev(void)
{
	return doca_mmap_add_dev(oom_map, devs[FIRST]);
}

static doca_error_t step_start(void)
{
	return doca_mmap_start(oom_map);
}

static void undo_start(void)
{
	assert_ok(doca_mmap_stop(oom_map));
}

/* provokes: doca_mmap_create DOCA_ERROR_NO_MEMORY */
/* provokes: doca_mmap_start DOCA_ERROR_NO_MEMORY */
static void test_map_without_memory_for_it_fails_and_the_call_can_be_repeated(void **state)
{
	api_fail_each_allocation(step_create, NULL);
	api_fail_each_allocation(step_add_dev, NULL);
	assert_ok(doca_mmap_set_memrange(oom_map, memory, sizeof(memory)));
	api_fail_each_allocation(step_start, undo_start); /* the C library reads without a buffer if need be */
	assert_ok(doca_mmap_destroy(oom_map));
}

#define WITH_MAP(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	WITH_MAP(test_map_is_started_stopped_and_started_again),
	WITH_MAP(test_destroy_stops_a_started_map),
	WITH_MAP(test_map_that_was_never_configured_is_destroyed),
	WITH_MAP(test_start_of_a_started_map_is_refused),
	WITH_MAP(test_start_needs_a_range_and_a_device),
	WITH_MAP(test_started_map_cannot_be_configured),
	WITH_MAP(test_stopped_map_can_be_configured_again),
	WITH_MAP(test_valid_permissions_are_taken),
	WITH_MAP(test_permissions_that_exclude_each_other_are_refused),
	WITH_MAP(test_user_data_is_zero_until_it_is_set),
	WITH_MAP(test_devices_are_added_once_and_removed_once),
	WITH_MAP(test_device_in_a_map_stays_open),
	WITH_MAP(test_no_more_devices_than_the_maximum_are_added),
	WITH_MAP(test_device_joins_no_map_with_as_many_devices_as_it_allows),
	WITH_MAP(test_maximum_below_what_is_there_is_refused),
	WITH_MAP(test_maximum_is_settled_with_the_first_start),
	cmocka_unit_test(test_destroy_calls_the_free_callback_of_a_map_that_was_started),
	cmocka_unit_test(test_free_callback_of_a_map_that_was_never_started_is_not_called),
	cmocka_unit_test(test_free_callback_counts_from_its_next_start),
	cmocka_unit_test(test_free_callback_that_destroys_its_map_is_refused),
	cmocka_unit_test(test_call_on_no_map_or_another_handle_is_refused),
	WITH_MAP(test_missing_or_foreign_argument_is_refused),
};
static const struct CMUnitTest oom_tests[] = {
	cmocka_unit_test(test_map_without_memory_for_it_fails_and_the_call_can_be_repeated),
};

int main(void)
{
	return API_RUN(API_ON_DPU("maps", "memory.yaml", tests, open_devices, close_devices),
		       API_ON_DPU("no memory", "memory.yaml", oom_tests, open_devices, close_devices));
}
