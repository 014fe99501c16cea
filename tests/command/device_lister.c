/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that lists what the API shows of its side, one line each:
 *
 *   dev ADDRESS TYPE IBDEV IFACE             a device; "-" = it has none
 *   rep ADDRESS TYPE IFACE VUID              a representor of the device above
 *
 * With WANTED_PCI, it looks for a device with that address, too.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_dev.h>

#define MUST(call) must((call), #call)

static const char *const type_names[] = {
	[DOCA_PCI_FUNC_TYPE_PF] = "pf", [DOCA_PCI_FUNC_TYPE_VF] = "vf", [DOCA_PCI_FUNC_TYPE_SF] = "sf"
};

static void must(doca_error_t result, const char *call)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", call, doca_error_get_descr(result));
	exit(1);
}

static void list_rep(const struct doca_devinfo_rep *rep)
{
	char addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE],
		vuid[DOCA_DEVINFO_REP_VUID_SIZE];
	enum doca_pci_func_type type;
	bool has_iface;

	MUST(doca_devinfo_rep_get_pci_addr_str(rep, addr));
	MUST(doca_devinfo_rep_get_pci_func_type(rep, &type));
	MUST(doca_devinfo_rep_get_vuid(rep, vuid, sizeof(vuid)));
	has_iface = doca_devinfo_rep_get_iface_name(rep, iface, sizeof(iface)) == DOCA_SUCCESS;
	printf("rep %s %s %s %s\n", addr, type_names[type], has_iface ? iface : "-", vuid);
}

static void list_reps(const struct doca_devinfo *devinfo)
{
	struct doca_devinfo_rep **reps;
	struct doca_dev *dev;
	uint32_t count;
	uint8_t can_list = 0;

	if (doca_devinfo_rep_cap_is_filter_all_supported(devinfo, &can_list) != DOCA_SUCCESS || !can_list)
		return;
	MUST(doca_dev_open((struct doca_devinfo *)(uintptr_t)devinfo, &dev));
	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &reps, &count));
	for (uint32_t i = 0; i < count; i++)
		list_rep(reps[i]);
	MUST(doca_devinfo_rep_destroy_list(reps));
	MUST(doca_dev_close(dev));
}

static void list_device(const struct doca_devinfo *devinfo)
{
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE], ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	enum doca_pci_func_type type;
	bool has_iface;

	MUST(doca_devinfo_get_pci_addr_str(devinfo, addr));
	MUST(doca_devinfo_get_pci_func_type(devinfo, &type));
	MUST(doca_devinfo_get_ibdev_name(devinfo, ibdev, sizeof(ibdev)));
	has_iface = doca_devinfo_get_iface_name(devinfo, iface, sizeof(iface)) == DOCA_SUCCESS;
	printf("dev %s %s %s %s\n", addr, type_names[type], ibdev, has_iface ? iface : "-");
	list_reps(devinfo);
}

int main(void)
{
	const char *wanted = getenv("WANTED_PCI");
	struct doca_devinfo **devinfos;
	uint32_t count;
	uint8_t is_equal;

	MUST(doca_devinfo_create_list(&devinfos, &count));
	for (uint32_t i = 0; i < count; i++) {
		list_device(devinfos[i]);
		if (wanted)
			MUST(doca_devinfo_is_equal_pci_addr(devinfos[i], wanted, &is_equal));
	}
	MUST(doca_devinfo_destroy_list(devinfos));
	return 0;
}
