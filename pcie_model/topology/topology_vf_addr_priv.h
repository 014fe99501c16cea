/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/topology/topology_vf_addr_priv.h - addresses of VFs that the file counts and does not list.
 *
 *   host side, BlueField with two ports          one port
 *   00.0  PF 0                                   00.0  PF 0
 *   00.1  PF 1                                   00.1  management of the card's system
 *   00.2  management of the card's system        00.2  first VF
 *   00.3  first VF of PF 0
 *   02.3  first VF of PF 1, 16 addresses on
 *
 * The room of a PF's VFs is the number of VFs that the card's firmware provides for, not the number that exists.
 */
#ifndef PCIE_TOPOLOGY_VF_ADDR_PRIV_H
#define PCIE_TOPOLOGY_VF_ADDR_PRIV_H

#include "topology_yaml_priv.h"

/* Addresses in use, of one side each. */
struct pcie_addr_set {
	struct pcie_side_addr {
		const char *side;
		struct pcie_addr addr;
	} * entries; /* room for PCIE_MAX_FUNCTIONS */
	size_t count;
};

/* Add the address of @function, unless it is malformed or the set is full. */
void pcie_addr_set_add(struct pcie_addr_set *set, const char *side, const struct pcie_addr *addr);

/* Set *@addr to the first address from itself on that is free on @side. Returns 0, or -ENOSPC behind the last bus. */
int pcie_addr_set_find_free(const struct pcie_addr_set *set, const char *side, struct pcie_addr *addr);

/* Whether @side sees the function that manages the card's system, unless the file lists another function at its address. */
bool pcie_has_management(const struct pcie_yaml_card *card, const char *side);

/* Where the VFs of the card's function @pf_index, a PF with a valid address, begin. @listed has the addresses that the
 * file gives. Returns 0, or -ENOSPC behind the last bus. */
int pcie_first_vf_addr(const struct pcie_yaml_card *card, uint32_t pf_index, const struct pcie_addr_set *listed,
		       struct pcie_addr *ret_addr);

/* The next address by routing id. Returns 0, or -ENOSPC behind the last bus. */
int pcie_addr_step(struct pcie_addr *addr, unsigned int count);

#endif
