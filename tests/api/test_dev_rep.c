/* SPDX-License-Identifier: BSD-3-Clause */
/* Representors: lists of them, filters, opening and closing, and the attributes of their functions.
 *
 * What can't be provoked here:
 * unreachable: doca_dev_rep_close DOCA_ERROR_IN_USE: nothing that bfsim has so far stands on a representor
 * unreachable: doca_devinfo_rep_destroy_list DOCA_ERROR_IN_USE: our infos have no state that could be corrupt
 * unreachable: doca_devinfo_rep_create_list DOCA_ERROR_DRIVER: representors are in the topology
 * unreachable: doca_devinfo_rep_cap_is_filter_all_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_devinfo_rep_cap_is_filter_net_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_devinfo_rep_cap_is_filter_emulated_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_devinfo_rep_get_pci_addr_str DOCA_ERROR_NO_MEMORY: nothing is allocated
 * unreachable: doca_devinfo_rep_get_pci_addr_str DOCA_ERROR_UNEXPECTED: an address in the topology is always valid
 * unreachable: doca_devinfo_rep_is_equal_pci_addr DOCA_ERROR_NO_MEMORY: nothing is allocated
 * unreachable: doca_devinfo_rep_is_equal_pci_addr DOCA_ERROR_UNEXPECTED: an address in the topology is always valid
 */
#include "api_util.h"

#include <string.h>

/* The devices that data/representors.yaml has on the DPU, and the functions that the first represents. */
enum { MANAGER, EMPTY, NO_NET, NO_FILTER };
enum { PF, VF, SF, DPU_SF, NUM_REPS };

#define ALL      DOCA_DEVINFO_REP_FILTER_ALL
#define NET      DOCA_DEVINFO_REP_FILTER_NET
#define EMULATED DOCA_DEVINFO_REP_FILTER_EMULATED

/* The fixture of most tests: the manager, open, and the list of its representors. */
struct listed {
	struct doca_dev *dev;
	struct doca_devinfo_rep **reps;
};

static int setup(void **state)
{
	static struct listed listed;
	uint32_t count;

	listed.dev = api_open_nth(MANAGER);
	assert_ok(doca_devinfo_rep_create_list(listed.dev, ALL, &listed.reps, &count));
	assert_int_equal(count, NUM_REPS);
	*state = &listed;
	return 0;
}

static int teardown(void **state)
{
	struct listed *listed = *state;

	assert_ok(doca_devinfo_rep_destroy_list(listed->reps));
	assert_ok(doca_dev_close(listed->dev));
	return 0;
}

/* ---- lists and filters ---- */

static void test_representors_are_listed_in_the_topologys_order(void **state)
{
	static const char *const pci_addrs[NUM_REPS] = { "0000:b1:00.0", "0000:b1:00.2", "0000:b1:00.0",
							 "0000:03:00.2" };
	struct listed *listed = *state;
	char pci_addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];

	for (int i = 0; i < NUM_REPS; i++) {
		assert_ok(doca_devinfo_rep_get_pci_addr_str(listed->reps[i], pci_addr));
		assert_string_equal(pci_addr, pci_addrs[i]);
	}
}

static void assert_listed(uint32_t device, int filter, doca_error_t expected, uint32_t expected_count)
{
	struct doca_dev *dev = api_open_nth(device);
	struct doca_devinfo_rep **reps = NULL;
	uint32_t count = 77;

	assert_doca(doca_devinfo_rep_create_list(dev, filter, &reps, &count), expected);
	if (expected == DOCA_SUCCESS) {
		assert_int_equal(count, expected_count);
		assert_ok(doca_devinfo_rep_destroy_list(reps));
	} else {
		assert_null(reps);
		assert_int_equal(count, 77);
	}
	assert_ok(doca_dev_close(dev));
}

/* provokes: doca_devinfo_rep_create_list DOCA_ERROR_NOT_SUPPORTED */
static void test_filter_chooses_and_must_be_a_capability(void **state)
{
	assert_listed(MANAGER, ALL, DOCA_SUCCESS, NUM_REPS);
	assert_listed(MANAGER, NET, DOCA_SUCCESS, NUM_REPS);
	assert_listed(MANAGER, EMULATED, DOCA_SUCCESS, 0); /* none of the host's functions is */
	assert_listed(MANAGER, NET | EMULATED, DOCA_SUCCESS, NUM_REPS);

	assert_listed(EMPTY, ALL, DOCA_SUCCESS, 0);
	assert_listed(EMPTY, EMULATED, DOCA_ERROR_NOT_SUPPORTED, 0);
	assert_listed(EMPTY, NET | EMULATED, DOCA_ERROR_NOT_SUPPORTED, 0);

	assert_listed(NO_NET, ALL, DOCA_SUCCESS, 0);
	assert_listed(NO_NET, NET, DOCA_ERROR_NOT_SUPPORTED, 0);
	assert_listed(NO_FILTER, ALL, DOCA_ERROR_NOT_SUPPORTED, 0);
}

/* provokes: doca_devinfo_rep_create_list DOCA_ERROR_INVALID_VALUE */
static void test_filter_with_unknown_bits_is_refused(void **state)
{
	assert_listed(MANAGER, 1, DOCA_ERROR_INVALID_VALUE, 0);
	assert_listed(MANAGER, NET | 1 << 3, DOCA_ERROR_INVALID_VALUE, 0);
	assert_listed(MANAGER, -1, DOCA_ERROR_INVALID_VALUE, 0);
}

struct filter_cap {
	doca_error_t (*get)(const struct doca_devinfo *devinfo, uint8_t *answer);
	uint8_t of_manager, of_empty;
};

static const struct filter_cap filter_caps[] = {
	{ doca_devinfo_rep_cap_is_filter_all_supported, 1, 1 },
	{ doca_devinfo_rep_cap_is_filter_net_supported, 1, 1 },
	{ doca_devinfo_rep_cap_is_filter_emulated_supported, 1, 0 },
};

static void test_filter_capabilities_are_the_topologys_or_the_profiles(void **state)
{
	for (size_t i = 0; i < API_COUNT(filter_caps); i++) {
		uint8_t answer = 77;

		assert_ok(filter_caps[i].get(api_devinfo_nth(MANAGER), &answer));
		assert_int_equal(answer, filter_caps[i].of_manager);
		assert_ok(filter_caps[i].get(api_devinfo_nth(EMPTY), &answer));
		assert_int_equal(answer, filter_caps[i].of_empty);
	}
}

/* provokes: doca_devinfo_rep_cap_is_filter_all_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_devinfo_rep_cap_is_filter_net_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_devinfo_rep_cap_is_filter_emulated_supported DOCA_ERROR_NOT_SUPPORTED */
static void assert_shows_no_representors(uint32_t device)
{
	for (size_t i = 0; i < API_COUNT(filter_caps); i++) {
		uint8_t answer = 77;

		assert_doca(filter_caps[i].get(api_devinfo_nth(device), &answer), DOCA_ERROR_NOT_SUPPORTED);
		assert_int_equal(answer, 77);
	}
	assert_listed(device, ALL, DOCA_ERROR_NOT_SUPPORTED, 0);
	assert_listed(device, NET, DOCA_ERROR_NOT_SUPPORTED, 0);
	assert_listed(device, EMULATED, DOCA_ERROR_NOT_SUPPORTED, 0);
}

static void test_device_without_any_filter_shows_no_representors(void **state)
{
	assert_shows_no_representors(NO_FILTER);
}

/* The vendor's DPA programs search for a device whose answer is a success, also on the host. */
static void test_host_device_with_a_dpa_shows_no_representors(void **state)
{
	for (size_t i = 0; i < API_COUNT(filter_caps); i++) {
		uint8_t answer = 77;

		assert_ok(filter_caps[i].get(api_devinfo_nth(0), &answer));
		assert_int_equal(answer, 0);
	}
	assert_listed(0, ALL, DOCA_ERROR_NOT_SUPPORTED, 0);
	assert_listed(0, NET, DOCA_ERROR_NOT_SUPPORTED, 0);
}

/* provokes: doca_devinfo_rep_destroy_list DOCA_ERROR_INVALID_VALUE */
static void test_list_is_destroyed_once_and_its_infos_with_it(void **state)
{
	struct listed *listed = *state;
	struct doca_devinfo_rep **reps, *rep, *none = NULL;
	uint32_t count;
	uint16_t vhca_id;

	assert_ok(doca_devinfo_rep_create_list(listed->dev, ALL, &reps, &count));
	rep = reps[PF];
	assert_ok(doca_devinfo_rep_destroy_list(reps));
	assert_invalid(doca_devinfo_rep_destroy_list(reps));
	assert_invalid(doca_devinfo_rep_get_vhca_id(rep, &vhca_id));
	assert_invalid(doca_devinfo_rep_destroy_list(NULL));
	assert_invalid(doca_devinfo_rep_destroy_list(&none));
	assert_ok(doca_devinfo_rep_get_vhca_id(listed->reps[PF], &vhca_id)); /* the other list stays */
}

/* ---- opening and closing ---- */

static void test_open_representor_outlives_the_list(void **state)
{
	struct listed *listed = *state;
	char vuid[DOCA_DEVINFO_REP_VUID_SIZE];
	struct doca_devinfo_rep **reps;
	struct doca_dev_rep *rep;
	uint32_t count;

	assert_ok(doca_devinfo_rep_create_list(listed->dev, ALL, &reps, &count));
	assert_ok(doca_dev_rep_open(reps[PF], &rep));
	assert_ok(doca_devinfo_rep_destroy_list(reps));
	assert_ok(doca_devinfo_rep_get_vuid(doca_dev_rep_as_devinfo(rep), vuid, sizeof(vuid)));
	assert_string_equal(vuid, "MT2251XZ02WZMLNXS0D0F0");
	assert_ok(doca_dev_rep_close(rep));
}

/* provokes: doca_dev_rep_close DOCA_ERROR_INVALID_VALUE */
static void test_closed_representor_is_gone(void **state)
{
	struct listed *listed = *state;
	struct doca_devinfo_rep *info;
	struct doca_dev_rep *rep;
	uint16_t vhca_id;

	assert_ok(doca_dev_rep_open(listed->reps[VF], &rep));
	info = doca_dev_rep_as_devinfo(rep);
	assert_ok(doca_dev_rep_close(rep));
	assert_null(doca_dev_rep_as_devinfo(rep));
	assert_invalid(doca_devinfo_rep_get_vhca_id(info, &vhca_id));
	assert_invalid(doca_dev_rep_close(rep));
	assert_invalid(doca_dev_rep_close(NULL));
	assert_invalid(doca_dev_rep_close((struct doca_dev_rep *)listed->dev));
	assert_null(doca_dev_rep_as_devinfo(NULL));
	assert_null(doca_dev_rep_as_devinfo((struct doca_dev_rep *)listed->dev));
}

static void test_device_stays_open_while_a_representor_is(void **state)
{
	struct doca_dev *dev = api_open_nth(MANAGER);
	struct listed *listed = *state;
	struct doca_dev_rep *rep;

	assert_ok(doca_dev_rep_open(listed->reps[SF], &rep));
	assert_ok(doca_dev_close(dev)); /* one of two */
	assert_doca(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_ok(doca_dev_rep_close(rep));
}

/* provokes: doca_dev_rep_open DOCA_ERROR_INVALID_VALUE */
static void test_opening_what_is_no_representor_info_is_refused(void **state)
{
	struct listed *listed = *state;
	struct doca_dev_rep *rep = NULL;

	assert_invalid(doca_dev_rep_open(NULL, &rep));
	assert_invalid(doca_dev_rep_open((struct doca_devinfo_rep *)listed->dev, &rep));
	assert_invalid(doca_dev_rep_open((struct doca_devinfo_rep *)doca_dev_as_devinfo(listed->dev), &rep));
	assert_null(rep);
	assert_invalid(doca_dev_rep_open(listed->reps[PF], NULL));
}

static void test_representor_of_a_closed_device_cannot_be_opened(void **state)
{
	struct doca_dev *manager = api_open_nth(MANAGER), *other;
	struct doca_devinfo_rep **reps;
	struct doca_dev_rep *rep;
	uint32_t count;

	assert_ok(doca_devinfo_rep_create_list(manager, ALL, &reps, &count));
	assert_ok(doca_dev_close(manager));
	assert_invalid(doca_dev_rep_open(reps[PF], &rep));
	other = api_open_nth(EMPTY); /* may well have the closed one's handle */
	assert_invalid(doca_dev_rep_open(reps[PF], &rep));
	assert_ok(doca_dev_close(other));
	assert_ok(doca_devinfo_rep_destroy_list(reps));
}

/* ---- attributes of the represented function ---- */

static void test_getters_give_what_the_topology_says_of_the_function(void **state)
{
	struct listed *listed = *state;
	char vuid[DOCA_DEVINFO_REP_VUID_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint8_t is_hotplug;
	uint16_t vhca_id;

	assert_ok(doca_devinfo_rep_get_vuid(listed->reps[PF], vuid, sizeof(vuid)));
	assert_string_equal(vuid, "MT2251XZ02WZMLNXS0D0F0");
	assert_ok(doca_devinfo_rep_get_iface_name(listed->reps[PF], iface, sizeof(iface)));
	assert_string_equal(iface, "hostrep");
	assert_ok(doca_devinfo_rep_get_vhca_id(listed->reps[PF], &vhca_id));
	assert_int_equal(vhca_id, 77);
	assert_ok(doca_devinfo_rep_get_is_hotplug(listed->reps[PF], &is_hotplug));
	assert_int_equal(is_hotplug, 1);
	assert_ok(doca_devinfo_rep_get_is_hotplug(listed->reps[VF], &is_hotplug));
	assert_int_equal(is_hotplug, 0);
}

/* A program finds the representor of a VF or SF by these numbers; other functions have none of the kind, and the number
 * stays as it was. */
static void test_numbers_of_the_function(void **state)
{
	enum { NONE = 99 };
	static const struct {
		uint32_t host, pf, vf, sf;
	} wanted[NUM_REPS] = { { 1, 0, NONE, NONE }, { 1, 0, 0, NONE }, { 1, 0, NONE, 4 }, { 0, 2, NONE, 88 } };
	struct listed *listed = *state;

	for (int i = 0; i < NUM_REPS; i++) {
		uint32_t host = NONE, pf = NONE, vf = NONE, sf = NONE;

		assert_ok(doca_devinfo_rep_get_host_index(listed->reps[i], &host));
		assert_ok(doca_devinfo_rep_get_pf_index(listed->reps[i], &pf));
		assert_doca(doca_devinfo_rep_get_vf_index(listed->reps[i], &vf),
			    wanted[i].vf == NONE ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS);
		assert_doca(doca_devinfo_rep_get_sf_index(listed->reps[i], &sf),
			    wanted[i].sf == NONE ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS);
		assert_int_equal(host, wanted[i].host);
		assert_int_equal(pf, wanted[i].pf);
		assert_int_equal(vf, wanted[i].vf);
		assert_int_equal(sf, wanted[i].sf);
	}
}

static void test_function_types(void **state)
{
	static const enum doca_pci_func_type types[NUM_REPS] = { DOCA_PCI_FUNC_TYPE_PF, DOCA_PCI_FUNC_TYPE_VF,
								 DOCA_PCI_FUNC_TYPE_SF, DOCA_PCI_FUNC_TYPE_SF };
	struct listed *listed = *state;

	for (int i = 0; i < NUM_REPS; i++) {
		enum doca_pci_func_type type;

		assert_ok(doca_devinfo_rep_get_pci_func_type(listed->reps[i], &type));
		assert_int_equal(type, types[i]);
	}
}

/* provokes: doca_devinfo_rep_get_iface_name DOCA_ERROR_OPERATING_SYSTEM */
static void test_representor_without_interface_says_so(void **state)
{
	struct listed *listed = *state;
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];

	assert_doca(doca_devinfo_rep_get_iface_name(listed->reps[VF], iface, sizeof(iface)),
		    DOCA_ERROR_OPERATING_SYSTEM);
	assert_ok(doca_devinfo_rep_get_iface_name(listed->reps[SF], iface, sizeof(iface)));
	assert_string_equal(iface, "en3f0c1pf0sf4"); /* the default */
}

/* provokes: doca_devinfo_rep_is_equal_pci_addr DOCA_ERROR_INVALID_VALUE */
static void test_pci_address_is_compared_in_both_forms(void **state)
{
	struct listed *listed = *state;
	uint8_t is_equal;

	assert_ok(doca_devinfo_rep_is_equal_pci_addr(listed->reps[VF], "b1:00.2", &is_equal));
	assert_int_equal(is_equal, 1);
	assert_ok(doca_devinfo_rep_is_equal_pci_addr(listed->reps[VF], "0000:b1:00.2", &is_equal));
	assert_int_equal(is_equal, 1);
	assert_ok(doca_devinfo_rep_is_equal_pci_addr(listed->reps[VF], "0001:b1:00.2", &is_equal));
	assert_int_equal(is_equal, 0);
	assert_ok(doca_devinfo_rep_is_equal_pci_addr(listed->reps[VF], "03:00.0", &is_equal)); /* the DPU's own */
	assert_int_equal(is_equal, 0);
	assert_invalid(doca_devinfo_rep_is_equal_pci_addr(listed->reps[VF], "b1:00", &is_equal));
	assert_invalid(doca_devinfo_rep_is_equal_pci_addr(listed->reps[VF], NULL, &is_equal));
	assert_invalid(doca_devinfo_rep_is_equal_pci_addr(listed->reps[VF], "b1:00.2", NULL));
	assert_invalid(doca_devinfo_rep_is_equal_pci_addr(NULL, "b1:00.2", &is_equal));
}

static void test_vuid_needs_room_for_itself(void **state)
{
	struct listed *listed = *state;
	char vuid[sizeof("MT2251XZ02WZMLNXS0D0F0")];

	assert_ok(doca_devinfo_rep_get_vuid(listed->reps[PF], vuid, sizeof(vuid)));
	assert_string_equal(vuid, "MT2251XZ02WZMLNXS0D0F0");
	assert_invalid(doca_devinfo_rep_get_vuid(listed->reps[PF], vuid, sizeof(vuid) - 1));
	assert_invalid(doca_devinfo_rep_get_vuid(listed->reps[PF], vuid, 0));
}

/* provokes: doca_devinfo_rep_cap_is_filter_all_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_cap_is_filter_net_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_cap_is_filter_emulated_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_get_iface_name DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_get_is_hotplug DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_get_pci_addr_str DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_get_pci_func_type DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_get_vhca_id DOCA_ERROR_INVALID_VALUE
 * provokes: doca_devinfo_rep_get_vuid DOCA_ERROR_INVALID_VALUE */
static void test_call_with_a_missing_or_foreign_argument_is_refused(void **state)
{
	struct listed *listed = *state;
	struct doca_devinfo_rep *foreign = (struct doca_devinfo_rep *)listed->dev, *rep = listed->reps[VF], **reps;
	char text[DOCA_DEVINFO_IFACE_NAME_SIZE];
	enum doca_pci_func_type type;
	uint16_t vhca_id;
	uint32_t count;
	uint8_t answer;

	assert_invalid(doca_devinfo_rep_create_list(NULL, ALL, &reps, &count));
	assert_invalid(doca_devinfo_rep_create_list((struct doca_dev *)rep, ALL, &reps, &count));
	assert_invalid(doca_devinfo_rep_create_list(listed->dev, ALL, NULL, &count));
	assert_invalid(doca_devinfo_rep_create_list(listed->dev, ALL, &reps, NULL));
	for (size_t i = 0; i < API_COUNT(filter_caps); i++) {
		assert_invalid(filter_caps[i].get(NULL, &answer));
		assert_invalid(filter_caps[i].get((struct doca_devinfo *)rep, &answer));
		assert_invalid(filter_caps[i].get(doca_dev_as_devinfo(listed->dev), NULL));
	}
#define REFUSES(get, ...)                                  \
	do {                                               \
		assert_invalid(get(NULL, __VA_ARGS__));    \
		assert_invalid(get(foreign, __VA_ARGS__)); \
	} while (0)
	REFUSES(doca_devinfo_rep_get_iface_name, text, sizeof(text));
	REFUSES(doca_devinfo_rep_get_is_hotplug, &answer);
	REFUSES(doca_devinfo_rep_get_pci_addr_str, text);
	REFUSES(doca_devinfo_rep_get_pci_func_type, &type);
	REFUSES(doca_devinfo_rep_get_vhca_id, &vhca_id);
	REFUSES(doca_devinfo_rep_get_host_index, &count);
	REFUSES(doca_devinfo_rep_get_pf_index, &count);
	REFUSES(doca_devinfo_rep_get_vf_index, &count);
	REFUSES(doca_devinfo_rep_get_sf_index, &count);
	assert_invalid(doca_devinfo_rep_get_host_index(rep, NULL));
	assert_invalid(doca_devinfo_rep_get_pf_index(rep, NULL));
	assert_invalid(doca_devinfo_rep_get_vf_index(rep, NULL));
	assert_invalid(doca_devinfo_rep_get_sf_index(rep, NULL));
	REFUSES(doca_devinfo_rep_get_vuid, text, sizeof(text));
	assert_invalid(doca_devinfo_rep_get_iface_name(rep, NULL, sizeof(text)));
	assert_invalid(doca_devinfo_rep_get_iface_name(rep, text, DOCA_DEVINFO_IFACE_NAME_SIZE - 1));
	assert_invalid(doca_devinfo_rep_get_is_hotplug(rep, NULL));
	assert_invalid(doca_devinfo_rep_get_pci_addr_str(rep, NULL));
	assert_invalid(doca_devinfo_rep_get_pci_func_type(rep, NULL));
	assert_invalid(doca_devinfo_rep_get_vhca_id(rep, NULL));
	assert_invalid(doca_devinfo_rep_get_vuid(rep, NULL, DOCA_DEVINFO_REP_VUID_SIZE));
}

/* ---- memory runs out ---- */

static struct doca_dev *oom_dev;
static struct doca_devinfo_rep **oom_list;
static struct doca_dev_rep *oom_rep;

static doca_error_t step_list(void)
{
	uint32_t count;

	return doca_devinfo_rep_create_list(oom_dev, ALL, &oom_list, &count);
}

static doca_error_t step_open(void)
{
	return doca_dev_rep_open(oom_list[0], &oom_rep);
}

/* provokes: doca_devinfo_rep_create_list DOCA_ERROR_NO_MEMORY */
/* provokes: doca_dev_rep_open DOCA_ERROR_NO_MEMORY */
static void test_list_and_open_without_memory_fail_and_can_be_repeated(void **state)
{
	oom_dev = api_open_nth(MANAGER);
	api_fail_each_allocation(step_list, NULL);
	api_fail_each_allocation(step_open, NULL);
	assert_ok(doca_dev_rep_close(oom_rep));
	assert_ok(doca_devinfo_rep_destroy_list(oom_list));
	assert_ok(doca_dev_close(oom_dev));
}

#define LISTED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest dpu_tests[] = {
	LISTED(test_representors_are_listed_in_the_topologys_order),
	cmocka_unit_test(test_filter_chooses_and_must_be_a_capability),
	cmocka_unit_test(test_filter_with_unknown_bits_is_refused),
	cmocka_unit_test(test_filter_capabilities_are_the_topologys_or_the_profiles),
	cmocka_unit_test(test_device_without_any_filter_shows_no_representors),
	LISTED(test_list_is_destroyed_once_and_its_infos_with_it),
	LISTED(test_open_representor_outlives_the_list),
	LISTED(test_closed_representor_is_gone),
	LISTED(test_device_stays_open_while_a_representor_is),
	LISTED(test_opening_what_is_no_representor_info_is_refused),
	cmocka_unit_test(test_representor_of_a_closed_device_cannot_be_opened),
	LISTED(test_getters_give_what_the_topology_says_of_the_function),
	LISTED(test_function_types),
	LISTED(test_numbers_of_the_function),
	LISTED(test_representor_without_interface_says_so),
	LISTED(test_pci_address_is_compared_in_both_forms),
	LISTED(test_vuid_needs_room_for_itself),
	LISTED(test_call_with_a_missing_or_foreign_argument_is_refused),
};
static const struct CMUnitTest host_tests[] = {
	cmocka_unit_test(test_host_device_with_a_dpa_shows_no_representors),
};
static const struct CMUnitTest oom_tests[] = {
	cmocka_unit_test(test_list_and_open_without_memory_fail_and_can_be_repeated),
};

int main(void)
{
	return API_RUN({ .name = "DPU", .topology = "representors.yaml", .side = "dpu", API_WITH(dpu_tests) },
		       { .name = "host", .topology = "representors.yaml", .side = "host", API_WITH(host_tests) },
		       { .name = "no memory", .topology = "representors.yaml", .side = "dpu", API_WITH(oom_tests) });
}
