/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dev.h of the work-queue generation, on the DPU of the built-in card: its
 * two functions and what they represent. tests/api tests the answers, which
 * come from the core. These tests compare the functions with older names. */
#include <doca_dev.h>
#include <doca_rdma_bridge.h>

#include <string.h>

#include "cmocka_test.h"
#include "doca_check.h"

struct listed {
	struct doca_devinfo **infos;
	uint32_t count;
	struct doca_dev *dev; /* the first */
};

static int setup(void **state)
{
	static struct listed listed;

	assert_ok(doca_devinfo_list_create(&listed.infos, &listed.count));
	assert_ok(doca_dev_open(listed.infos[0], &listed.dev));
	*state = &listed;
	return 0;
}

static int teardown(void **state)
{
	struct listed *listed = *state;

	assert_ok(doca_dev_close(listed->dev));
	assert_ok(doca_devinfo_list_destroy(listed->infos));
	return 0;
}

/* ---- local devices ---- */

static void test_pci_address_of_a_device_in_each_form(void **state)
{
	struct listed *listed = *state;
	char text[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct doca_pci_bdf bdf;
	uint8_t equal;

	assert_int_equal(listed->count, 2);
	assert_ok(doca_devinfo_get_pci_addr_str(listed->infos[1], text));
	assert_string_equal(text, "0000:03:00.1");
	assert_ok(doca_devinfo_get_pci_addr(listed->infos[1], &bdf));
	assert_int_equal(bdf.bus, 3);
	assert_int_equal(bdf.device, 0);
	assert_int_equal(bdf.function, 1);
	assert_ok(doca_devinfo_get_is_pci_addr_equal(listed->infos[1], "03:00.1", &equal));
	assert_int_equal(equal, 1);
	assert_ok(doca_devinfo_get_is_pci_addr_equal(listed->infos[1], "03:00.0", &equal));
	assert_int_equal(equal, 0);
}

static void test_abilities_of_a_device_under_both_names(void **state)
{
	struct listed *listed = *state;
	uint8_t answer = 9, older = 9;

	assert_ok(doca_devinfo_get_is_mmap_export_dpu_supported(listed->infos[0], &answer));
	assert_ok(doca_devinfo_get_is_mmap_export_supported(listed->infos[0], &older));
	assert_in_range(answer, 0, 1);
	assert_int_equal(answer, older);
	older = 9;
	assert_ok(doca_devinfo_get_is_mmap_from_export_dpu_supported(listed->infos[0], &answer));
	assert_ok(doca_devinfo_get_is_mmap_from_export_supported(listed->infos[0], &older));
	assert_int_equal(answer, 1); /* the DPU can import from the host */
	assert_int_equal(older, 1);
	answer = 9;
	assert_ok(doca_devinfo_get_is_hotplug_manager_supported(listed->infos[0], &answer));
	assert_in_range(answer, 0, 1);
}

static void test_wrong_arguments_are_refused_and_nothing_is_written(void **state)
{
	struct listed *listed = *state;
	struct doca_pci_bdf bdf = { .raw = 0x1234 };
	uint8_t answer = 9;

	assert_invalid(doca_devinfo_list_create(NULL, &listed->count));
	assert_invalid(doca_devinfo_get_pci_addr(NULL, &bdf));
	assert_invalid(doca_devinfo_get_pci_addr(listed->infos[0], NULL));
	assert_invalid(doca_devinfo_get_pci_addr((struct doca_devinfo *)listed->dev, &bdf));
	assert_invalid(doca_devinfo_rep_get_pci_addr(NULL, &bdf));
	assert_invalid(doca_devinfo_get_is_mmap_export_supported(NULL, &answer));
	assert_invalid(doca_devinfo_get_is_mmap_from_export_supported(listed->infos[0], NULL));
	assert_int_equal(bdf.raw, 0x1234);
	assert_int_equal(answer, 9);
}

/* A simulated card has no verbs: live arguments give NOT_SUPPORTED, others INVALID_VALUE. */
static void test_bridge_to_verbs_is_not_there(void **state)
{
	struct listed *listed = *state;
	struct doca_dev *dev = NULL;
	struct ibv_pd *pd = NULL;
	uint32_t mkey = 9;

	assert_doca(doca_dev_get_pd(listed->dev, &pd), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_dev_open_from_pd((struct ibv_pd *)listed, &dev), DOCA_ERROR_NOT_SUPPORTED);
	assert_invalid(doca_dev_get_pd(NULL, &pd));
	assert_invalid(doca_dev_get_pd(listed->dev, NULL));
	assert_invalid(doca_dev_open_from_pd(NULL, &dev));
	assert_invalid(doca_buf_get_mkey(NULL, listed->dev, &mkey));
	assert_invalid(doca_buf_get_mkey((struct doca_buf *)listed->dev, listed->dev, &mkey));
	assert_null(dev);
	assert_null(pd);
	assert_int_equal(mkey, 9);
}

/* ---- representors ---- */

static void test_representor_is_listed_opened_and_asked(void **state)
{
	struct listed *listed = *state;
	char text[DOCA_DEVINFO_REP_PCI_ADDR_SIZE], vuid[DOCA_DEVINFO_REP_VUID_SIZE];
	struct doca_devinfo_rep **reps;
	struct doca_dev_rep *rep;
	struct doca_pci_bdf bdf;
	uint8_t equal;
	uint32_t count;

	assert_ok(doca_devinfo_rep_list_create(listed->dev, DOCA_DEV_REP_FILTER_NET, &reps, &count));
	assert_true(count > 0);
	assert_ok(doca_dev_rep_open(reps[0], &rep));
	assert_ok(doca_devinfo_rep_list_destroy(reps));
	assert_ok(doca_devinfo_rep_get_pci_addr_str(doca_dev_rep_as_devinfo(rep), text));
	assert_string_equal(text, "0000:b1:00.0");
	assert_ok(doca_devinfo_rep_get_pci_addr(doca_dev_rep_as_devinfo(rep), &bdf));
	assert_int_equal(bdf.raw, 0xb100);
	assert_ok(doca_devinfo_rep_get_is_pci_addr_equal(doca_dev_rep_as_devinfo(rep), "b1:00.0", &equal));
	assert_int_equal(equal, 1);
	assert_ok(doca_devinfo_rep_get_vuid(doca_dev_rep_as_devinfo(rep), vuid, sizeof(vuid)));
	assert_ok(doca_dev_rep_close(rep));
}

static void test_filters_are_asked_one_by_one(void **state)
{
	struct listed *listed = *state;
	uint8_t all = 9, net = 9, emulated = 9;

	assert_ok(doca_devinfo_rep_get_is_list_all_supported(listed->infos[0], &all));
	assert_ok(doca_devinfo_rep_get_is_list_net_supported(listed->infos[0], &net));
	assert_ok(doca_devinfo_rep_get_is_list_emulated_supported(listed->infos[0], &emulated));
	assert_int_equal(net, 1);
	assert_in_range(all, 0, 1);
	assert_in_range(emulated, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pci_address_of_a_device_in_each_form),
		cmocka_unit_test(test_abilities_of_a_device_under_both_names),
		cmocka_unit_test(test_wrong_arguments_are_refused_and_nothing_is_written),
		cmocka_unit_test(test_bridge_to_verbs_is_not_there),
		cmocka_unit_test(test_representor_is_listed_opened_and_asked),
		cmocka_unit_test(test_filters_are_asked_one_by_one),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
