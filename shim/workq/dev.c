/* SPDX-License-Identifier: BSD-3-Clause */
/* Device functions of 1.5 that 2.2 replaced by others. The core has all other device functions. */
#include <doca_dev.h>
#include <stdio.h>

#include "shim/common/base/check.h"

/* Parse "domain:bus:device.function" of the core. A doca_pci_bdf has no domain. */
static void parse_bdf(const char *text, struct doca_pci_bdf *ret_bdf)
{
	unsigned int bus, device, function;

	sscanf(text, "%*x:%x:%x.%x", &bus, &device, &function);
	ret_bdf->raw = (uint16_t)(bus << 8 | device << 3 | function);
}

doca_error_t doca_devinfo_get_pci_addr(const struct doca_devinfo *devinfo, struct doca_pci_bdf *pci_addr)
{
	char text[DOCA_DEVINFO_PCI_ADDR_SIZE];
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(pci_addr);
	result = doca_devinfo_get_pci_addr_str(devinfo, text);
	if (result == DOCA_SUCCESS)
		parse_bdf(text, pci_addr);
	return result;
}

doca_error_t doca_devinfo_rep_get_pci_addr(const struct doca_devinfo_rep *devinfo_rep, struct doca_pci_bdf *pci_addr)
{
	char text[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	doca_error_t result;

	SHIM_NEED(devinfo_rep, SHIM_DEVINFO_REP);
	SHIM_NEED_OUT(pci_addr);
	result = doca_devinfo_rep_get_pci_addr_str(devinfo_rep, text);
	if (result == DOCA_SUCCESS)
		parse_bdf(text, pci_addr);
	return result;
}

doca_error_t doca_devinfo_get_is_mmap_export_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(mmap_export);
	return doca_devinfo_get_is_mmap_export_dpu_supported(devinfo, mmap_export);
}

doca_error_t doca_devinfo_get_is_mmap_from_export_supported(const struct doca_devinfo *devinfo, uint8_t *from_export)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(from_export);
	return doca_devinfo_get_is_mmap_from_export_dpu_supported(devinfo, from_export);
}
