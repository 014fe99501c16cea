/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults for values that the file leaves out, derived from the given values. The same file always gets the same
 * defaults. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology_draft_priv.h"

#define IBDEV_PREFIX "mlx5_"

/* ---- numbers: vhca_id, ibdev, auxiliary device and LID ---- */

/* The number of an ibdev of the form "mlx5_N", or -1. */
static long ibdev_number(const char *ibdev)
{
	size_t prefix_len = strlen(IBDEV_PREFIX);

	return strncmp(ibdev, IBDEV_PREFIX, prefix_len) == 0 ? atol(ibdev + prefix_len) : -1;
}

static bool is_ibdev_given(const struct pcie_draft *draft, const char *side, const char *ibdev)
{
	for (size_t i = 0; draft->gives_ibdevs && i < draft->topology->num_functions; i++) {
		const struct pcie_draft_function *other = &draft->functions[i];

		if (other->yaml->ibdev && strcmp(other->yaml->ibdev, ibdev) == 0 &&
		    strcmp(other->final->side, side) == 0)
			return true;
	}
	return false;
}

/* mlx5_0, mlx5_1, ... on each side in the order of the file, without the names that the file gives. */
static void default_ibdev(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	struct pcie_function *final = function->final;
	long number = 0;

	if (function->yaml->ibdev)
		return;
	for (uint32_t id = final->id; id-- > 0;) {
		const struct pcie_draft_function *earlier = &draft->functions[id];

		if (!earlier->yaml->ibdev && strcmp(earlier->final->side, final->side) == 0) {
			number = ibdev_number(earlier->final->ibdev) + 1;
			break;
		}
	}
	do {
		snprintf(final->ibdev, sizeof(final->ibdev), IBDEV_PREFIX "%ld", number++);
	} while (is_ibdev_given(draft, final->side, final->ibdev));
}

static bool is_vhca_id_given(const struct pcie_draft *draft, uint32_t card, uint16_t vhca_id)
{
	for (size_t i = 0; draft->gives_vhca_ids && i < draft->topology->num_functions; i++) {
		const struct pcie_draft_function *other = &draft->functions[i];

		if (other->yaml->vhca_id && other->final->vhca_id == vhca_id && other->final->card == card)
			return true;
	}
	return false;
}

/* 0, 1, ... on each card in the order of the file, without the ids that the file gives. */
static void default_vhca_id(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	struct pcie_function *final = function->final;
	uint16_t vhca_id = 0;

	if (function->yaml->vhca_id)
		return;
	for (uint32_t id = final->id; id-- > final->id - function->index;) {
		if (!draft->functions[id].yaml->vhca_id) {
			vhca_id = draft->functions[id].final->vhca_id + 1;
			break;
		}
	}
	while (is_vhca_id_given(draft, final->card, vhca_id))
		vhca_id++;
	final->vhca_id = vhca_id;
}

static bool is_aux_index_given(const struct pcie_draft *draft, const char *side, uint32_t aux_index)
{
	for (size_t i = 0; draft->gives_aux_indices && i < draft->topology->num_functions; i++) {
		const struct pcie_draft_function *other = &draft->functions[i];

		if (other->yaml->aux_index && other->final->aux_index == aux_index &&
		    strcmp(other->final->side, side) == 0)
			return true;
	}
	return false;
}

static uint32_t count_pci_functions(const struct pcie_draft *draft, const char *side)
{
	uint32_t count = 0;

	for (size_t i = 0; i < draft->topology->num_functions; i++) {
		const struct pcie_function *function = draft->functions[i].final;

		count += function->type != PCIE_FUNC_SF && strcmp(function->side, side) == 0;
	}
	return count;
}

/* The driver numbers a machine's functions: first the PFs and VFs of all cards, then the SFs; so the first SF of a card
 * with two PFs is mlx5_core.sf.2. The SFs' numbers leave out those that the file gives. */
static void default_aux_index(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	struct pcie_function *final = function->final;
	uint32_t aux_index;

	if (final->type != PCIE_FUNC_SF || function->yaml->aux_index)
		return;
	aux_index = count_pci_functions(draft, final->side);
	for (uint32_t id = final->id; id-- > 0;) {
		const struct pcie_draft_function *earlier = &draft->functions[id];

		if (earlier->final->type == PCIE_FUNC_SF && !earlier->yaml->aux_index &&
		    strcmp(earlier->final->side, final->side) == 0) {
			aux_index = earlier->final->aux_index + 1;
			break;
		}
	}
	while (is_aux_index_given(draft, final->side, aux_index))
		aux_index++;
	final->aux_index = aux_index;
}

static void default_lid(const struct pcie_draft_function *function)
{
	struct pcie_function *final = function->final;

	if (final->link_layer == PCIE_LINK_INFINIBAND && !function->yaml->lid)
		final->lid = (uint16_t)(final->id + 1); /* LID 0 is reserved */
}

/* ---- addresses: MAC and IPv6 ---- */

/* 02:bf:00 (locally administered), then the function's id. */
static void default_mac(const struct pcie_draft_function *function)
{
	uint32_t id = function->final->id;
	const uint8_t mac[6] = { 0x02, 0xbf, 0, (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id };

	if (!function->yaml->mac)
		memcpy(function->final->mac, mac, sizeof(mac));
}

/* fe80::/64 with the MAC's modified EUI-64 (RFC 4291, appendix A). */
static void default_ipv6(const struct pcie_draft_function *function)
{
	const uint8_t *mac = function->final->mac;
	const uint8_t ipv6[16] = {
		0xfe, 0x80, [8] = mac[0] ^ 0x02, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]
	};

	if (!function->yaml->ipv6)
		memcpy(function->final->ipv6, ipv6, sizeof(ipv6));
}

/* ---- names: VUID and interfaces ---- */

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

static void default_iface(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const struct pcie_draft_function *parent = find_parent(draft, function);
	struct pcie_function *final = function->final;
	size_t size = sizeof(final->iface);
	int len;

	if (function->yaml->iface)
		return;
	if (final->type == PCIE_FUNC_PF && pcie_side_is_dpu(final->side)) {
		snprintf(final->iface, size, "%s%u", final->link_layer == PCIE_LINK_INFINIBAND ? "ib" : "p",
			 count_preceding_pfs(draft, final));
		return;
	}
	len = write_path_name(parent->final, final->link_layer, final->iface, size);
	if (final->type == PCIE_FUNC_VF)
		snprintf(final->iface + len, size - (size_t)len, "v%u", function->ordinal);
	else if (final->type == PCIE_FUNC_SF)
		snprintf(final->iface + len, size - (size_t)len, "s%u", final->sf_index);
	else if (final->link_layer == PCIE_LINK_ETHERNET)
		snprintf(final->iface + len, size - (size_t)len, "np%u", function->ordinal);
}

/* pf0hpf, pf0vf1, pf0sf4; those of a card's second host and further begin with c1, c2, ...; those of the DPU's own SFs
 * with the address of the PF: en3f0pf0sf0. */
static void write_rep_iface(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	struct pcie_function *final = function->final;
	unsigned int port = find_parent(draft, function)->ordinal;
	size_t size = sizeof(final->rep_iface);
	int len = 0;

	if (pcie_side_is_dpu(final->side))
		len = snprintf(final->rep_iface, size, "en%uf%u", final->addr.bus, final->addr.function);
	else if (function->side_ordinal)
		len = snprintf(final->rep_iface, size, "c%u", function->side_ordinal);
	if (final->type == PCIE_FUNC_PF)
		snprintf(final->rep_iface + len, size - (size_t)len, "pf%uhpf", port);
	else if (final->type == PCIE_FUNC_VF)
		snprintf(final->rep_iface + len, size - (size_t)len, "pf%uvf%u", port, function->ordinal);
	else
		snprintf(final->rep_iface + len, size - (size_t)len, "pf%usf%u", port, final->sf_index);
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

int pcie_draft_fill_defaults(struct pcie_draft *draft)
{
	int rc = 0;

	for (size_t i = 0; i < draft->topology->num_functions; i++) {
		draft->gives_ibdevs |= draft->functions[i].yaml->ibdev != NULL;
		draft->gives_vhca_ids |= draft->functions[i].yaml->vhca_id != NULL;
		draft->gives_aux_indices |= draft->functions[i].yaml->aux_index != NULL;
	}
	for (size_t i = 0; !rc && i < draft->topology->num_functions; i++) {
		struct pcie_draft_function *function = &draft->functions[i];

		default_ibdev(draft, function);
		default_vhca_id(draft, function);
		default_aux_index(draft, function);
		default_lid(function);
		default_mac(function);
		default_ipv6(function);
		default_vuid(draft, function);
		default_iface(draft, function);
		rc = default_rep_iface(draft, function);
	}
	return rc;
}
