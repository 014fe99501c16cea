/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of a device. */
#include <doca_mmap.h>

#include <string.h>

#include "shim/common/base/check.h"
#include "devinfo_priv.h"
#include "shim/common/process/runtime.h"

doca_error_t shim_check_out(const char *func, const void *out, uint32_t size, uint32_t needed)
{
	if (out && size >= needed)
		return DOCA_SUCCESS;
	sim_err("%s: the output buffer %s; give %u bytes", func, out ? "is too small" : "is NULL", needed);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t shim_get_text(const char *func, const char *text, char *out, uint32_t size, uint32_t needed)
{
	doca_error_t result = shim_check_out(func, out, size, needed);

	if (result == DOCA_SUCCESS)
		memcpy(out, text, strlen(text) + 1);
	return result;
}

/* Copy @needed bytes to a buffer that must have at least as many. */
static doca_error_t get_bytes(const char *func, const uint8_t *bytes, uint8_t *out, uint32_t size, uint32_t needed)
{
	doca_error_t result = shim_check_out(func, out, size, needed);

	if (result == DOCA_SUCCESS)
		memcpy(out, bytes, needed);
	return result;
}

doca_error_t shim_pci_addr_is_equal(const char *func, const struct pcie_function *function, const char *text,
				    uint8_t *is_equal)
{
	struct pcie_addr addr;

	if (!text || !is_equal || pcie_addr_parse(text, &addr) < 0) {
		sim_err("%s: \"%s\" is not a PCI address; write DDDD:BB:DD.F or BB:DD.F", func, text ? text : "(NULL)");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*is_equal = pcie_addr_equal(&addr, &function->addr);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(pci_addr_str);
	pcie_addr_format(&devinfo->function->addr, pci_addr_str);
	return DOCA_SUCCESS;
}

/* The most frequent mistake is the other side's address. Warn once, as programs ask for each device. */
static void warn_wrong_side(const struct doca_devinfo *devinfo, const char *pci_addr_str)
{
	static atomic_bool warned;
	const struct pcie_topology *topology;
	const struct pcie_function *other = NULL;
	struct pcie_addr addr;
	char note[PCIE_NOTE_SIZE];

	if (atomic_load_explicit(&warned, memory_order_relaxed) ||
	    !shim_session()) /* a forked child with its parent's list */
		return;
	topology = sim_session_topology(shim_session());
	pcie_addr_parse(pci_addr_str, &addr);
	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (!pcie_addr_equal(&addr, &function->addr))
			continue;
		if (strcmp(function->side, devinfo->function->side) == 0)
			return;
		other = function;
	}
	if (!other && pcie_topology_find_former(topology, pci_addr_str, note) && !atomic_exchange(&warned, true))
		sim_warn("%s (doc/topology.md, Defaults that changed)", note);
	if (other && !atomic_exchange(&warned, true))
		sim_warn(
			"%s is a function of side %s, and this process is on side %s: see BFSIM_SIDE, bfsim exec --on and bfsim devs",
			pci_addr_str, other->side, devinfo->function->side);
}

doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo, const char *pci_addr_str,
					    uint8_t *is_equal)
{
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	result = shim_pci_addr_is_equal(__func__, devinfo->function, pci_addr_str, is_equal);
	if (result == DOCA_SUCCESS && !*is_equal)
		warn_wrong_side(devinfo, pci_addr_str);
	return result;
}

doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name, uint32_t size)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return shim_get_text(__func__, devinfo->function->ibdev, ibdev_name, size, DOCA_DEVINFO_IBDEV_NAME_SIZE);
}

doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size)
{
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	result = shim_check_out(__func__, iface_name, size, DOCA_DEVINFO_IFACE_NAME_SIZE);
	if (result != DOCA_SUCCESS)
		return result;
	if (!devinfo->function->iface[0])
		return SHIM_REFUSE(DOCA_ERROR_OPERATING_SYSTEM,
				   "the function has no network interface in the topology");
	return shim_get_text(__func__, devinfo->function->iface, iface_name, size, DOCA_DEVINFO_IFACE_NAME_SIZE);
}

doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr, uint32_t size)
{
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	result = shim_check_out(__func__, ipv4_addr, size, DOCA_DEVINFO_IPV4_ADDR_SIZE);
	if (result != DOCA_SUCCESS)
		return result;
	if (!devinfo->function->has_ipv4)
		return SHIM_REFUSE(DOCA_ERROR_NOT_FOUND, "the function has no IPv4 address in the topology");
	return get_bytes(__func__, devinfo->function->ipv4, ipv4_addr, size, DOCA_DEVINFO_IPV4_ADDR_SIZE);
}

doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr, uint32_t size)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return get_bytes(__func__, devinfo->function->ipv6, ipv6_addr, size, DOCA_DEVINFO_IPV6_ADDR_SIZE);
}

doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr, uint32_t size)
{
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	result = shim_check_out(__func__, mac_addr, size, DOCA_DEVINFO_MAC_ADDR_SIZE);
	if (result != DOCA_SUCCESS)
		return result;
	if (devinfo->function->link_layer != PCIE_LINK_ETHERNET)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the port's link layer is InfiniBand");
	return get_bytes(__func__, devinfo->function->mac, mac_addr, size, DOCA_DEVINFO_MAC_ADDR_SIZE);
}

doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(lid);
	if (devinfo->function->link_layer != PCIE_LINK_INFINIBAND)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the port's link layer is Ethernet");
	*lid = devinfo->function->lid;
	return DOCA_SUCCESS;
}

SHIM_DEFINE_DEVINFO_GETTER(doca_devinfo_get_active_rate, uint64_t, active_rate, devinfo->function->active_rate_bps)
SHIM_DEFINE_DEVINFO_GETTER(doca_devinfo_get_vhca_id, uint16_t, vhca_id, devinfo->function->vhca_id)
SHIM_DEFINE_DEVINFO_GETTER(doca_devinfo_get_pci_func_type, enum doca_pci_func_type, pci_func_type,
			   (enum doca_pci_func_type)devinfo->function->type) /* the numbers are equal */

doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(sf_index);
	if (devinfo->function->type != PCIE_FUNC_SF)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the function is no SF");
	*sf_index = devinfo->function->aux_index;
	return DOCA_SUCCESS;
}

#define CAPABILITY(name, out, field) SHIM_DEFINE_DEVINFO_GETTER(name, uint8_t, out, devinfo->function->caps.field)

CAPABILITY(doca_devinfo_cap_is_hotplug_manager_supported, is_hotplug_manager, hotplug_manager)
CAPABILITY(doca_devinfo_cap_is_notification_moderation_supported, is_notification_moderation_supported,
	   notification_moderation)
CAPABILITY(doca_devinfo_cap_is_accelerate_resource_reclaim_supported, is_accelerate_resource_reclaim,
	   accelerate_resource_reclaim)
CAPABILITY(doca_mmap_cap_is_export_pci_supported, mmap_export, mmap_export_pci)
CAPABILITY(doca_mmap_cap_is_create_from_export_pci_supported, from_export, mmap_from_export_pci)
