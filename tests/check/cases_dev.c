/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about devices and representors. */
#include "cases.h"

/* Whether a representor of the first device has the address. */
static bool has_representor(struct doca_dev *dev, const char *addr)
{
	struct doca_devinfo_rep **list;
	uint8_t is_equal = 0;
	uint32_t count;

	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	for (uint32_t i = 0; i < count && !is_equal; i++)
		MUST(doca_devinfo_rep_is_equal_pci_addr(list[i], addr, &is_equal));
	MUST(doca_devinfo_rep_destroy_list(list));
	return is_equal;
}

/* The host sees its function as b1:00.0; 03:00.1 is the DPU's. */
static void search_with_own_address(void)
{
	struct doca_dev *dev = rig_open_dev(0);

	CHECK(!has_representor(dev, "03:00.1"));
	MUST(doca_dev_close(dev));
}

/* The representor is not that of the first device, but that of the second. */
static void search_in_two_lists(void)
{
	struct doca_dev *first = rig_open_dev(0), *second = rig_open_dev(1);
	int found = has_representor(first, "b1:00.1") + has_representor(second, "b1:00.1");

	CHECK(found == 1);
	MUST(doca_dev_close(first));
	MUST(doca_dev_close(second));
}

const struct check_case dev_cases[] = {
	{ "device-not-found", search_with_own_address, search_in_two_lists },
	{ 0 },
};
