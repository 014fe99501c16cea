/* SPDX-License-Identifier: BSD-3-Clause */
/* Local devices: lists of them, opening and closing, and their attributes.
 *
 * What can't be provoked here:
 * unreachable: doca_devinfo_destroy_list DOCA_ERROR_IN_USE: our infos have no state that could be corrupt
 * unreachable: doca_dev_open DOCA_ERROR_NOT_CONNECTED: a rule must remove the function first: tests/multi/test_functions.c
 * unreachable: doca_dev_open DOCA_ERROR_INITIALIZATION: the number of open devices is not limited
 * unreachable: doca_dev_open DOCA_ERROR_NOT_SUPPORTED: there is no doca_rdma_bridge_open_dev_from_pd()
 * unreachable: doca_dev_accelerate_resource_reclaim DOCA_ERROR_DRIVER: nothing is asked of a driver
 * unreachable: doca_dev_accelerate_resource_reclaim DOCA_ERROR_AGAIN: it is done at once
 * unreachable: doca_devinfo_get_pci_addr_str DOCA_ERROR_OPERATING_SYSTEM: the address is in the topology
 * unreachable: doca_devinfo_is_equal_pci_addr DOCA_ERROR_OPERATING_SYSTEM: the address is in the topology
 * unreachable: doca_devinfo_get_ipv4_addr DOCA_ERROR_OPERATING_SYSTEM: the address is in the topology
 * unreachable: doca_devinfo_get_ipv6_addr DOCA_ERROR_OPERATING_SYSTEM: the address is in the topology
 * unreachable: doca_devinfo_get_lid DOCA_ERROR_DRIVER: the identifier is in the topology
 * unreachable: doca_devinfo_get_active_rate DOCA_ERROR_DRIVER: the rate is in the topology
 * unreachable: doca_devinfo_get_vhca_id DOCA_ERROR_DRIVER: the number is in the topology
 * unreachable: doca_devinfo_cap_is_hotplug_manager_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_devinfo_cap_is_notification_moderation_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_devinfo_cap_is_accelerate_resource_reclaim_supported DOCA_ERROR_DRIVER: it is in the topology
 */
#include "api_util.h"

#include <stdlib.h>
#include <string.h>

#define GBPS UINT64_C(1000000000)

/* The devices that data/devices.yaml has on the DPU, in its order. */
enum { FULL, INFINIBAND, VF, SF, NUM_DEVICES };

/* ---- lists ---- */

static void test_list_has_the_devices_of_this_side_in_the_topologys_order(void **state)
{
	static const char *const pci_addrs[NUM_DEVICES] = { "0001:03:00.0", "0000:03:00.1", "0000:03:00.2",
							    "0000:03:00.1" };
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct doca_devinfo **list;
	uint32_t count;

	assert_ok(doca_devinfo_create_list(&list, &count));
	assert_int_equal(count, NUM_DEVICES);
	for (uint32_t i = 0; i < count; i++) {
		assert_ok(doca_devinfo_get_pci_addr_str(list[i], pci_addr));
		assert_string_equal(pci_addr, pci_addrs[i]);
	}
	assert_ok(doca_devinfo_destroy_list(list));
}

static void test_lists_are_destroyed_one_by_one(void **state)
{
	struct doca_devinfo **first, **second;
	uint16_t vhca_id;
	uint32_t count;

	assert_ok(doca_devinfo_create_list(&first, &count));
	assert_ok(doca_devinfo_create_list(&second, &count));
	assert_ptr_not_equal(first, second);
	assert_ok(doca_devinfo_destroy_list(first));
	assert_ok(doca_devinfo_get_vhca_id(second[0], &vhca_id));
	assert_invalid(doca_devinfo_destroy_list(first)); /* a second time */
	assert_ok(doca_devinfo_destroy_list(second));
}

/* provokes: doca_devinfo_create_list DOCA_ERROR_INVALID_VALUE */
/* provokes: doca_devinfo_destroy_list DOCA_ERROR_INVALID_VALUE */
static void test_list_without_a_place_for_it_is_refused(void **state)
{
	struct doca_devinfo **list = NULL, *none = NULL;
	uint32_t count = 7;

	assert_invalid(doca_devinfo_create_list(NULL, &count));
	assert_invalid(doca_devinfo_create_list(&list, NULL));
	assert_null(list);
	assert_int_equal(count, 7);
	assert_invalid(doca_devinfo_destroy_list(NULL));
	assert_invalid(doca_devinfo_destroy_list(&none)); /* an array that the library did not return */
}

/* ---- opening and closing ---- */

static void test_device_opened_twice_is_one_and_needs_two_closes(void **state)
{
	struct doca_dev *first = api_open_nth(FULL), *second = api_open("0001:03:00.0");

	assert_ptr_equal(first, second);
	assert_ok(doca_dev_close(first));
	assert_non_null(doca_dev_as_devinfo(second)); /* still open */
	assert_ok(doca_dev_close(second));
	assert_invalid(doca_dev_close(first));
	assert_null(doca_dev_as_devinfo(first));
}

static void test_device_can_be_opened_again_after_its_last_close(void **state)
{
	for (int i = 0; i < 3; i++) {
		struct doca_dev *dev = api_open_nth(VF);

		assert_non_null(doca_dev_as_devinfo(dev));
		assert_ok(doca_dev_close(dev));
	}
}

static void test_functions_with_one_pci_address_are_different_devices(void **state)
{
	struct doca_dev *pf = api_open_nth(INFINIBAND), *sf = api_open_nth(SF);

	assert_ptr_not_equal(pf, sf);
	assert_ok(doca_dev_close(pf));
	assert_ok(doca_dev_close(sf));
}

static void test_info_of_an_open_device_outlives_the_list(void **state)
{
	struct doca_dev *dev = api_open_nth(FULL); /* destroys the list that it opened from */
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];

	assert_ok(doca_devinfo_get_ibdev_name(doca_dev_as_devinfo(dev), name, sizeof(name)));
	assert_string_equal(name, "mlx5_bond_0");
	assert_ok(doca_dev_close(dev));
}

/* provokes: doca_dev_close DOCA_ERROR_IN_USE */
static void test_last_close_of_a_device_in_a_memory_map_is_refused(void **state)
{
	struct doca_dev *dev = api_open_nth(FULL);
	struct doca_mmap *map;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_add_dev(map, dev));
	assert_ptr_equal(api_open_nth(FULL), dev);
	assert_ok(doca_dev_close(dev)); /* not the last reference */
	assert_doca(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_non_null(doca_dev_as_devinfo(dev)); /* it stayed open */
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_dev_close(dev));
}

/* provokes: doca_dev_open DOCA_ERROR_INVALID_VALUE */
static void test_opening_what_is_no_device_info_is_refused(void **state)
{
	struct doca_dev *dev = api_open_nth(FULL), *opened = NULL;

	assert_invalid(doca_dev_open(NULL, &opened));
	assert_invalid(doca_dev_open((struct doca_devinfo *)dev, &opened));
	assert_null(opened);
	assert_invalid(doca_dev_open(doca_dev_as_devinfo(dev), NULL));
	assert_ok(doca_dev_close(dev)); /* the refused one was not counted */
	assert_invalid(doca_dev_close(dev));
}

static void test_closing_nothing_is_fine_and_closing_something_else_is_not(void **state)
{
	assert_ok(doca_dev_close(NULL));
	assert_invalid(doca_dev_close((struct doca_dev *)api_devinfo_nth(FULL)));
	assert_null(doca_dev_as_devinfo(NULL));
	assert_null(doca_dev_as_devinfo((struct doca_dev *)api_devinfo_nth(FULL)));
}

/* provokes: doca_dev_accelerate_resource_reclaim DOCA_ERROR_NOT_SUPPORTED */
/* provokes: doca_dev_accelerate_resource_reclaim DOCA_ERROR_INVALID_VALUE */
static void test_resource_reclaim_is_accelerated_where_the_capability_says_so(void **state)
{
	struct doca_dev *able = api_open_nth(FULL), *unable = api_open_nth(INFINIBAND);

	assert_ok(doca_dev_accelerate_resource_reclaim(able));
	assert_doca(doca_dev_accelerate_resource_reclaim(unable), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_dev_accelerate_resource_reclaim(NULL));
	assert_ok(doca_dev_close(able));
	assert_invalid(doca_dev_accelerate_resource_reclaim(able));
	assert_ok(doca_dev_close(unable));
}

/* ---- attributes of a device ---- */

static void test_getters_give_what_the_topology_says(void **state)
{
	static const uint8_t mac_wanted[DOCA_DEVINFO_MAC_ADDR_SIZE] = { 0xa0, 0x88, 0xc2, 0, 0, 0x0f };
	static const uint8_t ipv4_wanted[DOCA_DEVINFO_IPV4_ADDR_SIZE] = { 192, 0, 2, 77 };
	static const uint8_t ipv6_wanted[DOCA_DEVINFO_IPV6_ADDR_SIZE] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 0x77 };
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE], ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE], ipv6[DOCA_DEVINFO_IPV6_ADDR_SIZE];
	struct doca_devinfo *info = api_devinfo_nth(FULL);
	enum doca_pci_func_type type;
	uint64_t rate;
	uint16_t vhca_id;

	assert_ok(doca_devinfo_get_ibdev_name(info, ibdev, sizeof(ibdev)));
	assert_string_equal(ibdev, "mlx5_bond_0");
	assert_ok(doca_devinfo_get_iface_name(info, iface, sizeof(iface)));
	assert_string_equal(iface, "uplink0");
	assert_ok(doca_devinfo_get_mac_addr(info, mac, sizeof(mac)));
	assert_memory_equal(mac, mac_wanted, sizeof(mac));
	assert_ok(doca_devinfo_get_ipv4_addr(info, ipv4, sizeof(ipv4)));
	assert_memory_equal(ipv4, ipv4_wanted, sizeof(ipv4));
	assert_ok(doca_devinfo_get_ipv6_addr(info, ipv6, sizeof(ipv6)));
	assert_memory_equal(ipv6, ipv6_wanted, sizeof(ipv6));
	assert_ok(doca_devinfo_get_vhca_id(info, &vhca_id));
	assert_int_equal(vhca_id, 513);
	assert_ok(doca_devinfo_get_active_rate(info, &rate));
	assert_int_equal(rate, 100 * GBPS);
	assert_ok(doca_devinfo_get_pci_func_type(info, &type));
	assert_int_equal(type, DOCA_PCI_FUNC_TYPE_PF);
}

static void test_capabilities_are_the_topologys_or_the_profiles(void **state)
{
	static const struct {
		doca_error_t (*get)(const struct doca_devinfo *devinfo, uint8_t *answer);
		uint8_t full, plain;
	} caps[] = {
		{ doca_devinfo_cap_is_hotplug_manager_supported, 1, 0 },
		{ doca_devinfo_cap_is_notification_moderation_supported, 1, 0 },
		{ doca_devinfo_cap_is_accelerate_resource_reclaim_supported, 1, 0 },
		{ doca_mmap_cap_is_export_pci_supported, 0, 1 },
		{ doca_mmap_cap_is_create_from_export_pci_supported, 0, 1 },
	};

	for (size_t i = 0; i < API_COUNT(caps); i++) {
		uint8_t answer = 7;

		assert_ok(caps[i].get(api_devinfo_nth(FULL), &answer));
		assert_int_equal(answer, caps[i].full);
		assert_ok(caps[i].get(api_devinfo_nth(VF), &answer));
		assert_int_equal(answer, caps[i].plain);
	}
}

/* provokes: doca_devinfo_get_mac_addr DOCA_ERROR_NOT_SUPPORTED */
/* provokes: doca_devinfo_get_lid DOCA_ERROR_NOT_SUPPORTED */
static void test_lid_is_infinibands_and_mac_is_ethernets(void **state)
{
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE];
	uint16_t lid;

	assert_ok(doca_devinfo_get_lid(api_devinfo_nth(INFINIBAND), &lid));
	assert_int_equal(lid, 0x12);
	assert_doca(doca_devinfo_get_mac_addr(api_devinfo_nth(INFINIBAND), mac, sizeof(mac)), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_devinfo_get_lid(api_devinfo_nth(FULL), &lid), DOCA_ERROR_NOT_SUPPORTED);
}

/* provokes: doca_devinfo_get_iface_name DOCA_ERROR_OPERATING_SYSTEM */
/* provokes: doca_devinfo_get_ipv4_addr DOCA_ERROR_NOT_FOUND */
static void test_device_without_interface_and_address_says_so(void **state)
{
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE] = "untouched";
	uint8_t ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE] = { 7, 7, 7, 7 };

	assert_doca(doca_devinfo_get_iface_name(api_devinfo_nth(INFINIBAND), iface, sizeof(iface)),
		    DOCA_ERROR_OPERATING_SYSTEM);
	assert_string_equal(iface, "untouched");
	assert_doca(doca_devinfo_get_ipv4_addr(api_devinfo_nth(INFINIBAND), ipv4, sizeof(ipv4)), DOCA_ERROR_NOT_FOUND);
	assert_memory_equal(ipv4, "\7\7\7\7", sizeof(ipv4));
}

static void test_function_types_and_the_sfs_index(void **state)
{
	static const enum doca_pci_func_type types[NUM_DEVICES] = { DOCA_PCI_FUNC_TYPE_PF, DOCA_PCI_FUNC_TYPE_PF,
								    DOCA_PCI_FUNC_TYPE_VF, DOCA_PCI_FUNC_TYPE_SF };
	uint32_t sf_index = 0;

	for (uint32_t i = 0; i < NUM_DEVICES; i++) {
		enum doca_pci_func_type type;

		assert_ok(doca_devinfo_get_pci_func_type(api_devinfo_nth(i), &type));
		assert_int_equal(type, types[i]);
		if (i != SF)
			assert_doca(doca_devinfo_get_sf_index(api_devinfo_nth(i), &sf_index), DOCA_ERROR_NOT_SUPPORTED);
	}
	assert_int_equal(sf_index, 0);
	assert_ok(doca_devinfo_get_sf_index(api_devinfo_nth(SF), &sf_index));
	assert_int_equal(sf_index, UINT32_MAX);
}

static void assert_pci_addr(uint32_t index, const char *pci_addr, uint8_t expected)
{
	uint8_t is_equal = 7;

	assert_ok(doca_devinfo_is_equal_pci_addr(api_devinfo_nth(index), pci_addr, &is_equal));
	assert_int_equal(is_equal, expected);
}

static void test_pci_address_without_domain_means_domain_0(void **state)
{
	assert_pci_addr(FULL, "0001:03:00.0", 1);
	assert_pci_addr(FULL, "03:00.0", 0);
	assert_pci_addr(FULL, "0000:03:00.0", 0);
	assert_pci_addr(VF, "03:00.2", 1);
	assert_pci_addr(VF, "0000:03:00.2", 1);
	assert_pci_addr(VF, "0001:03:00.2", 0);
	assert_pci_addr(VF, "03:00.1", 0);
	assert_pci_addr(VF, "03:01.2", 0);
	assert_pci_addr(VF, "04:00.2", 0);
}

/* provokes: doca_devinfo_is_equal_pci_addr DOCA_ERROR_INVALID_VALUE */
static void test_what_is_no_pci_address_is_refused(void **state)
{
	static const char *const malformed[] = {
		"",         "03",       "03:00",       "03:00.",        "3:0.2",          "03:00.2 ",
		" 03:00.2", "03:00.22", "03.00.2",     "03:00:2",       "0g:00.2",        "03:20.2",
		"03:00.8",  ":03:00.2", "000:03:00.2", "00000:03:00.2", "0000:03:00.2\n", "0000-03:00.2",
		"mlx5_0",
	};
	uint8_t is_equal = 7;

	for (size_t i = 0; i < API_COUNT(malformed); i++)
		assert_invalid(doca_devinfo_is_equal_pci_addr(api_devinfo_nth(VF), malformed[i], &is_equal));
	assert_int_equal(is_equal, 7);
}

/* ---- arguments ---- */

#define SIZED_GETTERS(X)                                                    \
	X(doca_devinfo_get_ibdev_name, char, DOCA_DEVINFO_IBDEV_NAME_SIZE)  \
	X(doca_devinfo_get_iface_name, char, DOCA_DEVINFO_IFACE_NAME_SIZE)  \
	X(doca_devinfo_get_mac_addr, uint8_t, DOCA_DEVINFO_MAC_ADDR_SIZE)   \
	X(doca_devinfo_get_ipv4_addr, uint8_t, DOCA_DEVINFO_IPV4_ADDR_SIZE) \
	X(doca_devinfo_get_ipv6_addr, uint8_t, DOCA_DEVINFO_IPV6_ADDR_SIZE)

/* INFINIBAND has none of these values: a bad argument is told before that.
 *
 * provokes: doca_devinfo_get_ibdev_name DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_iface_name DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_mac_addr DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_ipv4_addr DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_ipv6_addr DOCA_ERROR_INVALID_VALUE */
static void test_getter_with_too_small_a_buffer_is_refused(void **state)
{
	struct doca_dev *dev = api_open_nth(FULL);

#define X(get, type, size)                                                        \
	{                                                                         \
		type value[size];                                                 \
		assert_invalid(get(NULL, value, size));                           \
		assert_invalid(get((struct doca_devinfo *)dev, value, size));     \
		for (uint32_t i = FULL; i <= INFINIBAND; i++) {                   \
			assert_invalid(get(api_devinfo_nth(i), NULL, size));      \
			assert_invalid(get(api_devinfo_nth(i), value, (size)-1)); \
			assert_invalid(get(api_devinfo_nth(i), value, 0));        \
		}                                                                 \
	}
	SIZED_GETTERS(X)
#undef X
	assert_ok(doca_dev_close(dev));
}

#define VALUE_GETTERS(X)                                                      \
	X(doca_devinfo_get_lid, uint16_t)                                     \
	X(doca_devinfo_get_active_rate, uint64_t)                             \
	X(doca_devinfo_get_vhca_id, uint16_t)                                 \
	X(doca_devinfo_get_pci_func_type, enum doca_pci_func_type)            \
	X(doca_devinfo_get_sf_index, uint32_t)                                \
	X(doca_devinfo_cap_is_hotplug_manager_supported, uint8_t)             \
	X(doca_devinfo_cap_is_notification_moderation_supported, uint8_t)     \
	X(doca_devinfo_cap_is_accelerate_resource_reclaim_supported, uint8_t) \
	X(doca_mmap_cap_is_export_pci_supported, uint8_t)                     \
	X(doca_mmap_cap_is_create_from_export_pci_supported, uint8_t)

/* provokes: doca_devinfo_get_pci_addr_str DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_lid DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_active_rate DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_vhca_id DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_cap_is_hotplug_manager_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_cap_is_notification_moderation_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_cap_is_accelerate_resource_reclaim_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_cap_is_export_pci_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_cap_is_create_from_export_pci_supported DOCA_ERROR_INVALID_VALUE */
static void test_getter_without_device_or_place_for_the_answer_is_refused(void **state)
{
	struct doca_dev *dev = api_open_nth(VF);
	char text[DOCA_DEVINFO_PCI_ADDR_SIZE];
	uint8_t is_equal;

#define X(get, type)                                                     \
	{                                                                \
		type value;                                              \
		assert_invalid(get(NULL, &value));                       \
		assert_invalid(get((struct doca_devinfo *)dev, &value)); \
		assert_invalid(get(api_devinfo_nth(VF), NULL));          \
	}
	VALUE_GETTERS(X)
#undef X
	assert_invalid(doca_devinfo_get_pci_addr_str(NULL, text));
	assert_invalid(doca_devinfo_get_pci_addr_str((struct doca_devinfo *)dev, text));
	assert_invalid(doca_devinfo_get_pci_addr_str(api_devinfo_nth(VF), NULL));
	assert_invalid(doca_devinfo_is_equal_pci_addr(NULL, "03:00.2", &is_equal));
	assert_invalid(doca_devinfo_is_equal_pci_addr(api_devinfo_nth(VF), NULL, &is_equal));
	assert_invalid(doca_devinfo_is_equal_pci_addr(api_devinfo_nth(VF), "03:00.2", NULL));
	assert_ok(doca_dev_close(dev));
}

/* ---- other worlds ---- */

static void test_host_sees_its_own_functions_of_the_built_in_card(void **state)
{
	struct doca_dev *dev = api_open("b1:00.1");
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	uint32_t count;

	assert_ok(doca_devinfo_create_list(&list, &count));
	assert_int_equal(count, 2);
	assert_ok(doca_devinfo_destroy_list(list));
	assert_ok(doca_devinfo_get_ibdev_name(doca_dev_as_devinfo(dev), name, sizeof(name)));
	assert_string_equal(name, "mlx5_1");
	assert_ok(doca_dev_close(dev));
}

/* provokes: doca_devinfo_create_list DOCA_ERROR_NOT_FOUND */
static void test_no_devices_are_found_until_the_environment_is_right(void **state)
{
	struct doca_devinfo **list = NULL;
	uint32_t count = 7;

	setenv("BFSIM_SIDE", "moon", 1);
	assert_doca(doca_devinfo_create_list(&list, &count), DOCA_ERROR_NOT_FOUND);
	setenv("BFSIM_SIDE", "dpu", 1);
	setenv("BFSIM_TOPOLOGY", API_DATA_DIR "/no-such-file.yaml", 1);
	assert_doca(doca_devinfo_create_list(&list, &count), DOCA_ERROR_NOT_FOUND);
	setenv("BFSIM_TOPOLOGY", API_DATA_DIR "/errors.json", 1); /* a file, but no topology */
	assert_doca(doca_devinfo_create_list(&list, &count), DOCA_ERROR_NOT_FOUND);
	unsetenv("BFSIM_TOPOLOGY");
	setenv("BFSIM_SESSION", API_DATA_DIR "/no-such-session", 1);
	assert_doca(doca_devinfo_create_list(&list, &count), DOCA_ERROR_NOT_FOUND);
	assert_null(list);
	assert_int_equal(count, 7);
	unsetenv("BFSIM_SESSION");
	assert_ok(doca_devinfo_create_list(&list, &count));
	assert_int_equal(count, 2);
	assert_ok(doca_devinfo_destroy_list(list));
}

static struct doca_devinfo **oom_list;
static struct doca_dev *oom_dev;

static doca_error_t step_list(void)
{
	uint32_t count;

	return doca_devinfo_create_list(&oom_list, &count);
}

static doca_error_t step_open(void)
{
	return doca_dev_open(oom_list[0], &oom_dev);
}

/* provokes: doca_devinfo_create_list DOCA_ERROR_NO_MEMORY */
/* provokes: doca_dev_open DOCA_ERROR_NO_MEMORY */
static void test_list_and_open_without_memory_fail_and_can_be_repeated(void **state)
{
	(void)api_devinfo_nth(0); /* for the attach, which is not tested here */
	api_fail_each_allocation(step_list, NULL);
	api_fail_each_allocation(step_open, NULL);
	assert_ok(doca_dev_close(oom_dev));
	assert_ok(doca_devinfo_destroy_list(oom_list));
}

static const struct CMUnitTest all_tests[] = {
	cmocka_unit_test(test_list_has_the_devices_of_this_side_in_the_topologys_order),
	cmocka_unit_test(test_lists_are_destroyed_one_by_one),
	cmocka_unit_test(test_list_without_a_place_for_it_is_refused),
	cmocka_unit_test(test_device_opened_twice_is_one_and_needs_two_closes),
	cmocka_unit_test(test_device_can_be_opened_again_after_its_last_close),
	cmocka_unit_test(test_functions_with_one_pci_address_are_different_devices),
	cmocka_unit_test(test_info_of_an_open_device_outlives_the_list),
	cmocka_unit_test(test_last_close_of_a_device_in_a_memory_map_is_refused),
	cmocka_unit_test(test_opening_what_is_no_device_info_is_refused),
	cmocka_unit_test(test_closing_nothing_is_fine_and_closing_something_else_is_not),
	cmocka_unit_test(test_resource_reclaim_is_accelerated_where_the_capability_says_so),
	cmocka_unit_test(test_getters_give_what_the_topology_says),
	cmocka_unit_test(test_capabilities_are_the_topologys_or_the_profiles),
	cmocka_unit_test(test_lid_is_infinibands_and_mac_is_ethernets),
	cmocka_unit_test(test_device_without_interface_and_address_says_so),
	cmocka_unit_test(test_function_types_and_the_sfs_index),
	cmocka_unit_test(test_pci_address_without_domain_means_domain_0),
	cmocka_unit_test(test_what_is_no_pci_address_is_refused),
	cmocka_unit_test(test_getter_with_too_small_a_buffer_is_refused),
	cmocka_unit_test(test_getter_without_device_or_place_for_the_answer_is_refused),
};
static const struct CMUnitTest host_tests[] = {
	cmocka_unit_test(test_host_sees_its_own_functions_of_the_built_in_card),
};
static const struct CMUnitTest nowhere_tests[] = {
	cmocka_unit_test(test_no_devices_are_found_until_the_environment_is_right),
};
static const struct CMUnitTest oom_tests[] = {
	cmocka_unit_test(test_list_and_open_without_memory_fail_and_can_be_repeated),
};

int main(void)
{
	return API_RUN({ .name = "devices", .topology = "devices.yaml", .side = "dpu", API_WITH(all_tests) },
		       { .name = "built-in card", .side = "host", API_WITH(host_tests) },
		       { .name = "nowhere", .side = "dpu", API_WITH(nowhere_tests) },
		       { .name = "no memory", .side = "dpu", API_WITH(oom_tests) });
}
