/* SPDX-License-Identifier: BSD-3-Clause */
/* Default names: VUIDs, network interfaces and those of representors. doc/topology.md lists each with the source. */
#include <stdio.h>
#include <string.h>

#include "topology_draft_priv.h"

static const struct pcie_draft_function *find_parent(const struct pcie_draft *draft,
						     const struct pcie_draft_function *function)
{
	return &draft->functions[function->final->parent];
}

/* The shape seen in public logs: the board's serial number ("MT", year and week,
 * plant, four more), "EC" for a function of the Arm cores, "MLNX", host, device
 * and PF, and for a VF its number from 1, for an SF its number from 32768. */
static void default_vuid(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	struct pcie_function *final = function->final;
	size_t size = sizeof(final->vuid);
	int len;

	if (function->yaml->vuid)
		return;
	len = snprintf(final->vuid, size, "MT2306XZ%04X%sMLNXS%uD0F%u", final->card,
		       pcie_side_is_dpu(final->side) ? "EC" : "", function->side_ordinal,
		       find_parent(draft, function)->ordinal);
	if (final->type == PCIE_FUNC_VF)
		snprintf(final->vuid + len, size - (size_t)len, "VF%u", function->ordinal + 1);
	else if (final->type == PCIE_FUNC_SF)
		snprintf(final->vuid + len, size - (size_t)len, "SF%u", function->ordinal + 32768);
}

/* The number of PFs before @pf in the file on its side, over all cards. */
static unsigned int count_preceding_pfs(const struct pcie_draft *draft, const struct pcie_function *pf)
{
	unsigned int count = 0;

	for (uint32_t id = 0; id < pf->id; id++) {
		const struct pcie_function *earlier = draft->functions[id].final;

		count += earlier->type == PCIE_FUNC_PF && strcmp(earlier->side, pf->side) == 0;
	}
	return count;
}

/* "enp177s0f0": how Linux names the interface of a PCI function ("ibp..." for InfiniBand). */
static int write_path_name(const struct pcie_function *pf, enum pcie_link_layer link_layer, char *name, size_t size)
{
	const char *kind = link_layer == PCIE_LINK_INFINIBAND ? "ib" : "en";

	if (pf->addr.domain)
		return snprintf(name, size, "%sP%up%us%uf%u", kind, pf->addr.domain, pf->addr.bus, pf->addr.device,
				pf->addr.function);
	return snprintf(name, size, "%sp%us%uf%u", kind, pf->addr.bus, pf->addr.device, pf->addr.function);
}

static void write_former_sf_iface(const struct pcie_function *sf, const struct pcie_function *pf, char *name,
				  size_t size)
{
	int len = write_path_name(pf, sf->link_layer, name, size);

	snprintf(name + len, size - (size_t)len, "s%u", sf->sf_index);
}

/* "enpb1s0f0s4": the rule of the driver's packages (auxdev-sf-netdev-rename of mlnx-tools) takes the digits of the PF's
 * address as they are, hexadecimal, and leaves the domain out. Cards at the same address of two domains need it. */
static void default_sf_iface(const struct pcie_draft_function *parent, struct pcie_function *sf)
{
	const struct pcie_addr *addr = &parent->final->addr;

	write_former_sf_iface(sf, parent->final, sf->iface, sizeof(sf->iface));
	if (addr->domain || sf->link_layer == PCIE_LINK_INFINIBAND)
		return;
	strcpy(sf->former.iface, sf->iface);
	snprintf(sf->iface, sizeof(sf->iface), "enp%xs%xf%us%u", addr->bus, addr->device, addr->function, sf->sf_index);
}

/* "enp6s0", or with its number where the device has other functions: the guest does not see the PF. */
static void default_guest_iface(const struct pcie_draft *draft, struct pcie_function *vf)
{
	bool is_multi = vf->addr.function > 0;

	for (size_t i = 0; !is_multi && i < draft->topology->num_functions; i++) {
		const struct pcie_function *other = draft->functions[i].final;

		is_multi = other != vf && other->addr.domain == vf->addr.domain && other->addr.bus == vf->addr.bus &&
			   other->addr.device == vf->addr.device && strcmp(other->side, vf->side) == 0;
	}
	write_path_name(vf, vf->link_layer, vf->iface, sizeof(vf->iface));
	if (!is_multi)
		*strrchr(vf->iface, 'f') = '\0';
}

static void default_iface(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const struct pcie_draft_function *parent = find_parent(draft, function);
	struct pcie_function *final = function->final;
	size_t size = sizeof(final->iface);
	int len;

	if (function->yaml->iface)
		return;
	if (final->type == PCIE_FUNC_SF) {
		default_sf_iface(parent, final);
		return;
	}
	if (strcmp(parent->final->side, final->side) != 0) {
		default_guest_iface(draft, final);
		return;
	}
	if (final->type == PCIE_FUNC_PF && pcie_side_is_dpu(final->side)) {
		snprintf(final->iface, size, "%s%u", final->link_layer == PCIE_LINK_INFINIBAND ? "ib" : "p",
			 count_preceding_pfs(draft, final));
		return;
	}
	len = write_path_name(parent->final, final->link_layer, final->iface, size);
	if (final->type == PCIE_FUNC_VF)
		snprintf(final->iface + len, size - (size_t)len, "v%u", function->ordinal);
	else if (final->link_layer == PCIE_LINK_ETHERNET)
		snprintf(final->iface + len, size - (size_t)len, "np%u", function->ordinal);
}

/* The end of a representor's name: pf0hpf, pf0vf1, pf0sf4. */
static void write_rep_end(const struct pcie_draft_function *function, unsigned int pf, char *name, size_t size)
{
	if (function->final->type == PCIE_FUNC_PF)
		snprintf(name, size, "pf%uhpf", pf);
	else if (function->final->type == PCIE_FUNC_VF)
		snprintf(name, size, "pf%uvf%u", pf, function->ordinal);
	else
		snprintf(name, size, "pf%usf%u", pf, function->final->sf_index);
}

/* Of a host's function, in earlier versions: c1 for the second host, c2 for the third. */
static void write_former_rep_iface(const struct pcie_draft *draft, const struct pcie_draft_function *function,
				   char name[PCIE_FORMER_SIZE])
{
	int len = function->side_ordinal ? snprintf(name, PCIE_FORMER_SIZE, "c%u", function->side_ordinal) : 0;

	write_rep_end(function, find_parent(draft, function)->ordinal, name + len, PCIE_FORMER_SIZE - (size_t)len);
}

/* Whether @holder holds a representor of a host that the file names before that of @function. */
static bool holds_earlier_host(const struct pcie_draft *draft, const struct pcie_function *holder,
			       const struct pcie_draft_function *function)
{
	for (size_t i = 0; function->side_ordinal && i < holder->num_reps; i++) {
		const struct pcie_draft_function *other = &draft->functions[holder->reps[i]];

		if (!pcie_side_is_dpu(other->final->side) && other->side_ordinal < function->side_ordinal)
			return true;
	}
	return false;
}

/* The kernel's name of an SF's port is c1pf0sf4 for the first host, pf0sf4 for the Arm cores; the packages put the PF that
 * holds the representor before it: en3f0c1pf0sf4. Of PFs and VFs they cut the host's number off. On an Arm system with more
 * than two PFs, the number in pf0hpf is the holder's (sf-rep-netdev-rename and vf-net-link-name.sh of mlnx-tools). */
static void write_rep_iface(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	struct pcie_function *final = function->final;
	const struct pcie_function *holder = draft->functions[function->holder].final;
	bool is_host = !pcie_side_is_dpu(final->side), has_many_pfs = draft->functions[holder->id].num_siblings > 2;
	unsigned int pf = find_parent(draft, function)->ordinal;
	size_t size = sizeof(final->rep_iface);
	int len = 0;

	if (final->type == PCIE_FUNC_SF) {
		const struct pcie_addr *addr = is_host ? &holder->addr : &final->addr;

		len = snprintf(final->rep_iface, size, "en%xf%u", addr->bus, addr->function);
		if (is_host)
			len += snprintf(final->rep_iface + len, size - (size_t)len, "c%u", function->side_ordinal + 1);
	} else if (has_many_pfs && !holds_earlier_host(draft, holder, function)) {
		pf = holder->addr.function;
	} else if (function->side_ordinal) {
		len = snprintf(final->rep_iface, size, "c%u", function->side_ordinal + 1);
	}
	write_rep_end(function, pf, final->rep_iface + len, size - (size_t)len);
	if (is_host)
		write_former_rep_iface(draft, function, final->former.rep_iface);
}

static int default_rep_iface(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	if (function->yaml->rep_iface && !function->is_represented)
		return pcie_draft_error(draft, function, "rep-iface",
					"no DPU function of this card represents this one; remove "
					"the field or list the function in a \"represents\"");
	if (!function->yaml->rep_iface && function->is_represented)
		write_rep_iface(draft, function);
	return 0;
}

int pcie_draft_default_names(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	default_vuid(draft, function);
	default_iface(draft, function);
	return default_rep_iface(draft, function);
}
