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

/* A card numbers auxiliary devices otherwise; the files of earlier versions have one number for both. */
static void default_aux_index(const struct pcie_draft_function *function)
{
	if (!function->yaml->aux_index)
		function->final->aux_index = function->final->sf_index;
}

static void default_lid(const struct pcie_draft_function *function)
{
	struct pcie_function *final = function->final;

	if (final->link_layer == PCIE_LINK_INFINIBAND && !function->yaml->lid)
		final->lid = (uint16_t)(final->id + 1); /* LID 0 is reserved */
}

/* ---- addresses: MAC, IPv4 and IPv6 ---- */

/* 02:bf:00 (locally administered), then the function's id. */
static void default_mac(const struct pcie_draft_function *function)
{
	uint32_t id = function->final->id;
	const uint8_t mac[6] = { 0x02, 0xbf, 0, (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id };

	if (!function->yaml->mac)
		memcpy(function->final->mac, mac, sizeof(mac));
}

/* 198.18.0.0/15, the block for tests of networks (RFC 2544), and the function's id, from 1. Programs with RDMA connect to the
 * address of a device. */
static void default_ipv4(const struct pcie_draft_function *function)
{
	struct pcie_function *final = function->final;
	uint32_t number = final->id + 1;
	const uint8_t ipv4[4] = { 198, (uint8_t)(18 + (number >> 16)), (uint8_t)(number >> 8), (uint8_t)number };

	if (function->yaml->ipv4 || final->link_layer != PCIE_LINK_ETHERNET)
		return;
	memcpy(final->ipv4, ipv4, sizeof(ipv4));
	final->has_ipv4 = true;
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

int pcie_draft_fill_defaults(struct pcie_draft *draft)
{
	int rc = 0;

	for (size_t i = 0; i < draft->topology->num_functions; i++) {
		draft->gives_ibdevs |= draft->functions[i].yaml->ibdev != NULL;
		draft->gives_vhca_ids |= draft->functions[i].yaml->vhca_id != NULL;
	}
	for (size_t i = 0; !rc && i < draft->topology->num_functions; i++) {
		struct pcie_draft_function *function = &draft->functions[i];

		default_ibdev(draft, function);
		default_vhca_id(draft, function);
		default_aux_index(function);
		default_lid(function);
		default_mac(function);
		default_ipv4(function);
		default_ipv6(function);
		rc = pcie_draft_default_names(draft, function);
	}
	return rc;
}
