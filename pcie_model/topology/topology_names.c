/* SPDX-License-Identifier: BSD-3-Clause */
/* Default names: VUIDs, network interfaces and those of representors. doc/topology.md lists each with the source. */
#include <stdio.h>
#include <string.h>

#include "topology_draft_priv.h"
#include "topology_vf_addr_priv.h"

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

/* "enp177s0f0": how systemd names the interface of a PCI function, "ibp..." for InfiniBand. The number of the function stands
 * there where the device has several (@is_multi). */
static int write_path_name(const struct pcie_function *pf, enum pcie_link_layer link_layer, bool is_multi, char *name,
			   size_t size)
{
	const struct pcie_addr *addr = &pf->addr;
	int len = snprintf(name, size, "%s", link_layer == PCIE_LINK_INFINIBAND ? "ib" : "en");

	if (addr->domain)
		len += snprintf(name + len, size - (size_t)len, "P%u", addr->domain);
	len += snprintf(name + len, size - (size_t)len, "p%us%u", addr->bus, addr->device);
	if (is_multi)
		len += snprintf(name + len, size - (size_t)len, "f%u", addr->function);
	return len;
}

/* Whether the device of @function has another function that the file lists on its side, or one that manages the card. VFs of a
 * PF do not count: they are no functions of its device when it gets its name. */
static bool is_multi_function(const struct pcie_draft *draft, const struct pcie_function *function)
{
	const struct pcie_topology *topology = draft->topology;

	if (function->addr.function > 0 || pcie_side_is_dpu(function->side))
		return true;
	if (function->type == PCIE_FUNC_PF && pcie_has_management(&draft->yaml.cards[function->card], function->side))
		return true;
	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *other = &topology->functions[i];

		if (other != function && other->type == function->type && other->addr.domain == function->addr.domain &&
		    other->addr.bus == function->addr.bus && other->addr.device == function->addr.device &&
		    strcmp(other->side, function->side) == 0)
			return true;
	}
	return false;
}

static void write_former_sf_iface(const struct pcie_function *sf, const struct pcie_function *pf, char *name,
				  size_t size)
{
	int len = write_path_name(pf, sf->link_layer, true, name, size);

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

/* The end of the name of a PF or VF: "np0", "v1". */
static void write_path_end(const struct pcie_draft_function *function, char *end, size_t size)
{
	if (function->final->type == PCIE_FUNC_VF)
		snprintf(end, size, "v%u", function->ordinal);
	else if (function->final->link_layer == PCIE_LINK_ETHERNET)
		snprintf(end, size, "np%u", function->ordinal);
}

static void default_iface(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const struct pcie_draft_function *parent = find_parent(draft, function);
	struct pcie_function *final = function->final;
	size_t size = sizeof(final->iface);
	bool is_multi;
	int len;

	if (function->yaml->iface)
		return;
	if (final->type == PCIE_FUNC_SF) {
		default_sf_iface(parent, final);
		return;
	}
	if (final->type == PCIE_FUNC_PF && pcie_side_is_dpu(final->side)) {
		snprintf(final->iface, size, "%s%u", final->link_layer == PCIE_LINK_INFINIBAND ? "ib" : "p",
			 count_preceding_pfs(draft, final));
		return;
	}
	if (strcmp(parent->final->side, final->side) != 0) { /* a guest does not see the PF */
		write_path_name(final, final->link_layer, is_multi_function(draft, final), final->iface, size);
		return;
	}
	is_multi = is_multi_function(draft, parent->final);
	len = write_path_name(parent->final, final->link_layer, is_multi, final->iface, size);
	write_path_end(function, final->iface + len, size - (size_t)len);
	if (is_multi)
		return;
	len = write_path_name(parent->final, final->link_layer, true, final->former.iface, PCIE_FORMER_SIZE);
	write_path_end(function, final->former.iface + len, PCIE_FORMER_SIZE - (size_t)len);
}

/* A VF's number in the name of its representor. Those of the Arm cores count on behind the host's of the same holder
 * (DOCA's guide "BlueField SR-IOV"). */
static unsigned int vf_number(const struct pcie_draft *draft, const struct pcie_draft_function *vf)
{
	const struct pcie_function *holder = draft->functions[vf->holder].final;
	unsigned int number = vf->ordinal;

	for (size_t i = 0; pcie_side_is_dpu(vf->final->side) && i < holder->num_reps; i++) {
		const struct pcie_function *other = draft->functions[holder->reps[i]].final;

		number += other->type == PCIE_FUNC_VF && !pcie_side_is_dpu(other->side);
	}
	return number;
}

/* The end of a representor's name: pf0hpf, pf0vf1, pf0sf4. */
static void write_rep_end(const struct pcie_draft *draft, const struct pcie_draft_function *function, unsigned int pf,
			  char *name, size_t size)
{
	if (function->final->type == PCIE_FUNC_PF)
		snprintf(name, size, "pf%uhpf", pf);
	else if (function->final->type == PCIE_FUNC_VF)
		snprintf(name, size, "pf%uvf%u", pf, vf_number(draft, function));
	else
		snprintf(name, size, "pf%usf%u", pf, function->final->sf_index);
}

/* Of a host's function, in earlier versions: c1 for the second host, c2 for the third. */
static void write_former_rep_iface(const struct pcie_draft *draft, const struct pcie_draft_function *function,
				   char name[PCIE_FORMER_SIZE])
{
	int len = function->side_ordinal ? snprintf(name, PCIE_FORMER_SIZE, "c%u", function->side_ordinal) : 0;

	write_rep_end(draft, function, find_parent(draft, function)->ordinal, name + len,
		      PCIE_FORMER_SIZE - (size_t)len);
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

/* Whether each PF of the card's Arm cores has a number of its own in its address, and represents at most one PF of a host. */
static bool have_own_numbers(const struct pcie_draft *draft, uint32_t card)
{
	uint32_t holders = 0; /* a bit for each number of a function */

	for (size_t i = 0; i < draft->topology->num_functions; i++) {
		const struct pcie_function *pf = draft->functions[i].final;
		uint32_t bit = UINT32_C(1) << pf->addr.function, num_host_pfs = 0;

		if (pf->card != card || pf->type != PCIE_FUNC_PF || !pcie_side_is_dpu(pf->side))
			continue;
		for (size_t k = 0; k < pf->num_reps; k++)
			num_host_pfs += draft->functions[pf->reps[k]].final->type == PCIE_FUNC_PF;
		if (holders & bit || num_host_pfs > 1)
			return false;
		holders |= bit;
	}
	return true;
}

/* The kernel's name of an SF's port is c1pf0sf4 for the first host, pf0sf4 for the Arm cores; the packages put the PF that
 * holds the representor before it: en3f0c1pf0sf4. Of PFs and VFs they cut the host's number off. On an Arm system with more
 * than two PFs, the number in pf0hpf is the holder's (sf-rep-netdev-rename and vf-net-link-name.sh of mlnx-tools). */
static void write_rep_iface(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	struct pcie_function *final = function->final;
	const struct pcie_function *holder = draft->functions[function->holder].final;
	bool is_host = !pcie_side_is_dpu(final->side);
	bool has_many_pfs = draft->functions[holder->id].num_siblings > 2 && have_own_numbers(draft, final->card);
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
	write_rep_end(draft, function, pf, final->rep_iface + len, size - (size_t)len);
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
