/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes with devices and representors: the code and the log line of each call. Card: the DPU of data/poor.yaml.
 *
 * Errors that can't be provoked here:
 * unreachable: doca_dev_open DOCA_ERROR_NOT_CONNECTED: a function of a simulated card always answers
 * unreachable: doca_dev_rep_close DOCA_ERROR_IN_USE: only endpoints of Comm Channel use a representor
 * unreachable: doca_devinfo_get_ibdev_name DOCA_ERROR_NO_MEMORY: nothing is allocated
 * unreachable: doca_devinfo_get_ipv4_addr DOCA_ERROR_OPERATING_SYSTEM: the address is in the topology
 * unreachable: doca_devinfo_get_ipv6_addr DOCA_ERROR_OPERATING_SYSTEM: the address is in the topology
 * unreachable: doca_devinfo_get_is_hotplug_manager_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_devinfo_get_is_mmap_export_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_devinfo_get_is_mmap_from_export_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_devinfo_get_pci_addr DOCA_ERROR_NOT_CONNECTED: every function has an address
 * unreachable: doca_devinfo_get_pci_addr DOCA_ERROR_OPERATING_SYSTEM: the address is in the topology
 * unreachable: doca_devinfo_list_destroy DOCA_ERROR_IN_USE: our infos have no state that could be corrupt
 * unreachable: doca_devinfo_rep_get_is_list_all_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_devinfo_rep_get_is_list_net_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_devinfo_rep_list_destroy DOCA_ERROR_IN_USE: our infos have no state that could be corrupt
 */
#include <doca_dev.h>

#include <stdlib.h>

#include "cmocka_test.h"
#include "refuse.h"
#include "doca_check.h"

struct found {
	struct doca_devinfo **infos;
	struct doca_dev *dev; /* the first */
	struct doca_devinfo_rep **reps;
	struct doca_dev_rep *rep;
};

static int setup(void **state)
{
	static struct found found;
	uint32_t count;

	assert_ok(doca_devinfo_list_create(&found.infos, &count));
	assert_ok(doca_dev_open(found.infos[0], &found.dev));
	assert_ok(doca_devinfo_rep_list_create(found.dev, DOCA_DEV_REP_FILTER_NET, &found.reps, &count));
	assert_ok(doca_dev_rep_open(found.reps[0], &found.rep));
	*state = &found;
	return 0;
}

static int teardown(void **state)
{
	struct found *found = *state;

	assert_ok(doca_dev_rep_close(found->rep));
	assert_ok(doca_devinfo_rep_list_destroy(found->reps));
	assert_ok(doca_dev_close(found->dev));
	assert_ok(doca_devinfo_list_destroy(found->infos));
	return 0;
}

/* The first test, because a process joins a card once.
 * provokes: doca_devinfo_list_create DOCA_ERROR_NOT_FOUND */
static void test_no_devices_are_found_until_the_environment_is_right(void **state)
{
	struct doca_devinfo **list = NULL;
	char *side = getenv("BFSIM_SIDE");
	uint32_t count = 7;

	setenv("BFSIM_SIDE", "moon", 1);
	assert_doca(doca_devinfo_list_create(&list, &count), DOCA_ERROR_NOT_FOUND);
	assert_null(list);
	assert_int_equal(count, 7);
	setenv("BFSIM_SIDE", side, 1);
	assert_ok(doca_devinfo_list_create(&list, &count));
	assert_ok(doca_devinfo_list_destroy(list));
}

/* ---- handles ---- */

/* provokes: doca_dev_open DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_ibdev_name DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_iface_name DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_ipv4_addr DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_ipv6_addr DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_is_hotplug_manager_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_is_mmap_export_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_is_mmap_from_export_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_get_pci_addr DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_get_is_list_all_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_get_is_list_net_supported DOCA_ERROR_INVALID_VALUE */
static void test_a_handle_of_no_live_info_is_refused_everywhere(void **state)
{
	struct found *found = *state;
	struct doca_devinfo *wrong[] = { NULL, (struct doca_devinfo *)found->dev,
					 (struct doca_devinfo *)found->reps[0] };
	struct doca_pci_bdf bdf = { .raw = 0x1234 };
	struct doca_dev *dev = NULL;
	uint8_t yes = 7, bytes[16];
	char text[256] = "as it was";
	uint16_t lid;

	for (int i = 0; i < 3; i++) {
		assert_refused_invalid(doca_dev_open(wrong[i], &dev));
		assert_refused_invalid(doca_devinfo_get_pci_addr_str(wrong[i], text));
		assert_refused_invalid(doca_devinfo_get_is_pci_addr_equal(wrong[i], "03:00.0", &yes));
		assert_refused_invalid(doca_devinfo_get_pci_addr(wrong[i], &bdf));
		assert_refused_invalid(doca_devinfo_get_ibdev_name(wrong[i], text, sizeof(text)));
		assert_refused_invalid(doca_devinfo_get_iface_name(wrong[i], text, sizeof(text)));
		assert_refused_invalid(doca_devinfo_get_mac_addr(wrong[i], bytes, sizeof(bytes)));
		assert_refused_invalid(doca_devinfo_get_ipv4_addr(wrong[i], bytes, sizeof(bytes)));
		assert_refused_invalid(doca_devinfo_get_ipv6_addr(wrong[i], bytes, sizeof(bytes)));
		assert_refused_invalid(doca_devinfo_get_lid(wrong[i], &lid));
		assert_refused_invalid(doca_devinfo_get_is_hotplug_manager_supported(wrong[i], &yes));
		assert_refused_invalid(doca_devinfo_get_is_mmap_export_dpu_supported(wrong[i], &yes));
		assert_refused_invalid(doca_devinfo_get_is_mmap_export_supported(wrong[i], &yes));
		assert_refused_invalid(doca_devinfo_get_is_mmap_from_export_dpu_supported(wrong[i], &yes));
		assert_refused_invalid(doca_devinfo_get_is_mmap_from_export_supported(wrong[i], &yes));
		assert_refused_invalid(doca_devinfo_rep_get_is_list_all_supported(wrong[i], &yes));
		assert_refused_invalid(doca_devinfo_rep_get_is_list_net_supported(wrong[i], &yes));
		assert_refused_invalid(doca_devinfo_rep_get_is_list_emulated_supported(wrong[i], &yes));
	}
	assert_null(dev);
	assert_int_equal(bdf.raw, 0x1234);
	assert_int_equal(yes, 7);
	assert_string_equal(text, "as it was");
}

/* provokes: doca_dev_rep_open DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_get_pci_addr DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_get_pci_func_type DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_get_vuid DOCA_ERROR_INVALID_VALUE */
static void test_a_handle_of_no_live_representor_info_is_refused_everywhere(void **state)
{
	struct found *found = *state;
	struct doca_devinfo_rep **list, *wrong[] = { NULL, NULL, (struct doca_devinfo_rep *)found->infos[0] };
	enum doca_pci_func_type type;
	struct doca_dev_rep *rep = NULL;
	struct doca_pci_bdf bdf = { .raw = 0x1234 };
	char text[DOCA_DEVINFO_REP_VUID_SIZE] = "as it was";
	uint32_t count;
	uint8_t yes = 7;

	assert_ok(doca_devinfo_rep_list_create(found->dev, DOCA_DEV_REP_FILTER_NET, &list, &count));
	wrong[1] = list[0];
	assert_ok(doca_devinfo_rep_list_destroy(list));
	for (int i = 0; i < 3; i++) {
		assert_refused_invalid(doca_dev_rep_open(wrong[i], &rep));
		assert_refused_invalid(doca_devinfo_rep_get_pci_addr_str(wrong[i], text));
		assert_refused_invalid(doca_devinfo_rep_get_is_pci_addr_equal(wrong[i], "b1:00.0", &yes));
		assert_refused_invalid(doca_devinfo_rep_get_pci_addr(wrong[i], &bdf));
		assert_refused_invalid(doca_devinfo_rep_get_pci_func_type(wrong[i], &type));
		assert_refused_invalid(doca_devinfo_rep_get_vuid(wrong[i], text, sizeof(text)));
	}
	assert_null(rep);
	assert_int_equal(bdf.raw, 0x1234);
	assert_int_equal(yes, 7);
	assert_string_equal(text, "as it was");
}

/* provokes: doca_dev_rep_close DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_list_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_list_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_list_destroy DOCA_ERROR_INVALID_VALUE */
static void test_a_closed_device_is_not_closed_again_nor_a_list_destroyed_twice(void **state)
{
	struct found *found = *state;
	struct doca_devinfo **list;
	struct doca_devinfo_rep **reps;
	struct doca_dev *dev, *wrong[] = { NULL, NULL, (struct doca_dev *)found->rep };
	struct doca_dev_rep *wrong_rep[] = { NULL, NULL, (struct doca_dev_rep *)found->dev };
	uint32_t count = 7;

	assert_ok(doca_dev_open(found->infos[1], &dev));
	assert_ok(doca_dev_close(dev));
	wrong[1] = dev;
	assert_ok(doca_dev_rep_open(found->reps[0], &wrong_rep[1]));
	assert_ok(doca_dev_rep_close(wrong_rep[1]));
	for (int i = 0; i < 3; i++) {
		if (wrong[i]) /* to close NULL is fine */
			assert_refused_invalid(doca_dev_close(wrong[i]));
		assert_null(doca_dev_as_devinfo(wrong[i]));
		assert_refused_invalid(doca_devinfo_rep_list_create(wrong[i], DOCA_DEV_REP_FILTER_NET, &reps, &count));
		if (i == 1 && wrong_rep[1] == found->rep)
			continue; /* opened twice, closed once */
		assert_refused_invalid(doca_dev_rep_close(wrong_rep[i]));
		assert_null(doca_dev_rep_as_devinfo(wrong_rep[i]));
	}
	assert_int_equal(count, 7);
	assert_refused_invalid(doca_devinfo_list_destroy(NULL));
	assert_refused_invalid(doca_devinfo_rep_list_destroy(NULL));
	assert_ok(doca_devinfo_list_create(&list, &count));
	assert_refused_invalid(doca_devinfo_rep_list_destroy((struct doca_devinfo_rep **)list));
	assert_ok(doca_devinfo_list_destroy(list));
	assert_refused_invalid(doca_devinfo_list_destroy(list));
}

/* ---- places and numbers ---- */

/* provokes: doca_devinfo_list_create DOCA_ERROR_INVALID_VALUE */
static void test_answers_need_a_place_that_is_large_enough(void **state)
{
	struct found *found = *state;
	struct doca_devinfo *info = found->infos[0];
	struct doca_devinfo_rep *rep = found->reps[0], **reps;
	struct doca_devinfo **list;
	uint32_t count;
	uint8_t yes, bytes[16];
	char text[256];

	assert_refused_invalid(doca_devinfo_list_create(NULL, &count));
	assert_refused_invalid(doca_devinfo_list_create(&list, NULL));
	assert_refused_invalid(doca_devinfo_rep_list_create(found->dev, DOCA_DEV_REP_FILTER_NET, NULL, &count));
	assert_refused_invalid(doca_devinfo_rep_list_create(found->dev, DOCA_DEV_REP_FILTER_NET, &reps, NULL));
	assert_refused_invalid(doca_devinfo_rep_list_create(found->dev, 1 << 20, &reps, &count)); /* no such filter */
	assert_refused_invalid(doca_dev_open(info, NULL));
	assert_refused_invalid(doca_dev_rep_open(rep, NULL));
	assert_refused_invalid(doca_devinfo_get_pci_addr_str(info, NULL));
	assert_refused_invalid(doca_devinfo_get_pci_addr(info, NULL));
	assert_refused_invalid(doca_devinfo_get_is_pci_addr_equal(info, NULL, &yes));
	assert_refused_invalid(doca_devinfo_get_is_pci_addr_equal(info, "03:00.0", NULL));
	assert_refused_invalid(doca_devinfo_get_is_pci_addr_equal(info, "the first", &yes));
	assert_refused_invalid(doca_devinfo_get_ibdev_name(info, NULL, DOCA_DEVINFO_IBDEV_NAME_SIZE));
	assert_refused_invalid(doca_devinfo_get_ibdev_name(info, text, DOCA_DEVINFO_IBDEV_NAME_SIZE - 1));
	assert_refused_invalid(doca_devinfo_get_iface_name(info, NULL, DOCA_DEVINFO_IFACE_NAME_SIZE));
	assert_refused_invalid(doca_devinfo_get_iface_name(info, text, DOCA_DEVINFO_IFACE_NAME_SIZE - 1));
	assert_refused_invalid(doca_devinfo_get_mac_addr(info, bytes, DOCA_DEVINFO_MAC_ADDR_SIZE - 1));
	assert_refused_invalid(doca_devinfo_get_ipv4_addr(info, bytes, DOCA_DEVINFO_IPV4_ADDR_SIZE - 1));
	assert_refused_invalid(doca_devinfo_get_ipv6_addr(info, bytes, DOCA_DEVINFO_IPV6_ADDR_SIZE - 1));
	assert_refused_invalid(doca_devinfo_get_mac_addr(info, NULL, DOCA_DEVINFO_MAC_ADDR_SIZE));
	assert_refused_invalid(doca_devinfo_get_ipv4_addr(info, NULL, DOCA_DEVINFO_IPV4_ADDR_SIZE));
	assert_refused_invalid(doca_devinfo_get_ipv6_addr(info, NULL, DOCA_DEVINFO_IPV6_ADDR_SIZE));
	assert_refused_invalid(doca_devinfo_get_lid(info, NULL));
	assert_refused_invalid(doca_devinfo_get_is_hotplug_manager_supported(info, NULL));
	assert_refused_invalid(doca_devinfo_get_is_mmap_export_dpu_supported(info, NULL));
	assert_refused_invalid(doca_devinfo_get_is_mmap_export_supported(info, NULL));
	assert_refused_invalid(doca_devinfo_get_is_mmap_from_export_dpu_supported(info, NULL));
	assert_refused_invalid(doca_devinfo_get_is_mmap_from_export_supported(info, NULL));
	assert_refused_invalid(doca_devinfo_rep_get_is_list_all_supported(info, NULL));
	assert_refused_invalid(doca_devinfo_rep_get_is_list_net_supported(info, NULL));
	assert_refused_invalid(doca_devinfo_rep_get_is_list_emulated_supported(info, NULL));
	assert_refused_invalid(doca_devinfo_rep_get_pci_addr_str(rep, NULL));
	assert_refused_invalid(doca_devinfo_rep_get_pci_addr(rep, NULL));
	assert_refused_invalid(doca_devinfo_rep_get_is_pci_addr_equal(rep, NULL, &yes));
	assert_refused_invalid(doca_devinfo_rep_get_is_pci_addr_equal(rep, "b1:00.0", NULL));
	assert_refused_invalid(doca_devinfo_rep_get_pci_func_type(rep, NULL));
	assert_refused_invalid(doca_devinfo_rep_get_vuid(rep, NULL, DOCA_DEVINFO_REP_VUID_SIZE));
	assert_refused_invalid(doca_devinfo_rep_get_vuid(rep, text, 1));
}

/* ---- the wrong moment ---- */

/* provokes: doca_dev_close DOCA_ERROR_IN_USE
 * provokes: doca_devinfo_get_iface_name DOCA_ERROR_OPERATING_SYSTEM */
static void test_a_device_with_an_open_representor_stays_open(void **state)
{
	struct found *found = *state;
	char text[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint16_t lid;

	assert_refused(doca_dev_close(found->dev), DOCA_ERROR_IN_USE);
	assert_refused(doca_devinfo_get_iface_name(found->infos[1], text, sizeof(text)), DOCA_ERROR_OPERATING_SYSTEM);
	assert_refused(doca_devinfo_get_lid(found->infos[0], &lid), DOCA_ERROR_NOT_SUPPORTED); /* it is Ethernet */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_devices_are_found_until_the_environment_is_right),
		TEST(test_a_handle_of_no_live_info_is_refused_everywhere),
		TEST(test_a_handle_of_no_live_representor_info_is_refused_everywhere),
		TEST(test_a_closed_device_is_not_closed_again_nor_a_list_destroyed_twice),
		TEST(test_answers_need_a_place_that_is_large_enough),
		TEST(test_a_device_with_an_open_representor_stays_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
