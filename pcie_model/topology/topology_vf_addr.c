/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of VFs that a number of their PF stands for. */
#include "topology_vf_addr_priv.h"

#include <errno.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "topology.h"
#include "value_parse_priv.h"

/* NUM_OF_VFS of the firmware, as sriov_totalvfs shows it: 16 on BlueField-2 and -3, 8 on ConnectX-4 to -6 (doc/topology.md). */
#define BLUEFIELD_TOTAL_VFS 16
#define CONNECTX_TOTAL_VFS  8

void pcie_addr_set_add(struct pcie_addr_set *set, const char *side, const struct pcie_addr *addr)
{
	if (set->count < PCIE_MAX_FUNCTIONS)
		set->entries[set->count++] = (struct pcie_side_addr){ side, *addr };
}

static bool is_used(const struct pcie_addr_set *set, const char *side, const struct pcie_addr *addr)
{
	for (size_t i = 0; i < set->count; i++)
		if (pcie_addr_equal(&set->entries[i].addr, addr) && strcmp(set->entries[i].side, side) == 0)
			return true;
	return false;
}

static unsigned int routing_id(const struct pcie_addr *addr)
{
	return (unsigned int)addr->bus << 8 | (unsigned int)addr->device << 3 | addr->function;
}

int pcie_addr_step(struct pcie_addr *addr, unsigned int count)
{
	unsigned int id = routing_id(addr) + count;

	if (id > UINT16_MAX)
		return -ENOSPC;
	addr->bus = (uint8_t)(id >> 8);
	addr->device = id >> 3 & 0x1f;
	addr->function = id & 7;
	return 0;
}

int pcie_addr_set_find_free(const struct pcie_addr_set *set, const char *side, struct pcie_addr *addr)
{
	int rc = 0;

	while (!rc && is_used(set, side, addr))
		rc = pcie_addr_step(addr, 1);
	return rc;
}

/* Whether @function is a PF of the same device as @pf, which has the address @pf_addr. */
static bool is_in_device(const struct pcie_yaml_function *function, const struct pcie_yaml_function *pf,
			 const struct pcie_addr *pf_addr, struct pcie_addr *ret_addr)
{
	return strcmp(function->type, "pf") == 0 && strcmp(function->side, pf->side) == 0 &&
	       pcie_addr_parse(function->pci, ret_addr) == 0 && ret_addr->domain == pf_addr->domain &&
	       ret_addr->bus == pf_addr->bus && ret_addr->device == pf_addr->device;
}

bool pcie_has_management(const struct pcie_yaml_card *card, const char *side)
{
	const struct pcie_profile *profile = pcie_profile_find(card->profile);
	bool value = true;

	if (card->management)
		pcie_parse_bool(card->management, &value); /* a later step reports a malformed value */
	return value && profile && profile->has_dpu && !pcie_side_is_dpu(side);
}

/* The room of one PF's VFs: the default of the firmware, or what the file needs. */
static unsigned int total_vfs(const struct pcie_yaml_card *card)
{
	const struct pcie_profile *profile = pcie_profile_find(card->profile);
	uint64_t total = profile && profile->has_dpu ? BLUEFIELD_TOTAL_VFS : CONNECTX_TOTAL_VFS, count;

	for (uint32_t i = 0; i < card->num_functions; i++)
		if (card->functions[i].vfs && !pcie_parse_number(card->functions[i].vfs, PCIE_MAX_FUNCTIONS, &count))
			total = max_u64(total, count);
	return (unsigned int)total;
}

int pcie_first_vf_addr(const struct pcie_yaml_card *card, uint32_t pf_index, const struct pcie_addr_set *listed,
		       struct pcie_addr *ret_addr)
{
	const struct pcie_yaml_function *pf = &card->functions[pf_index];
	struct pcie_addr pf_addr, other, last;
	unsigned int num_before = 0;
	int rc = pcie_addr_parse(pf->pci, &pf_addr);

	last = pf_addr;
	for (uint32_t i = 0; i < card->num_functions; i++) {
		if (!is_in_device(&card->functions[i], pf, &pf_addr, &other))
			continue;
		num_before += other.function < pf_addr.function;
		if (other.function > last.function)
			last = other;
	}
	rc = rc ? rc : pcie_addr_step(&last, 1);
	if (!rc && pcie_has_management(card, pf->side) && !is_used(listed, pf->side, &last))
		rc = pcie_addr_step(&last, 1);
	rc = rc ? rc : pcie_addr_step(&last, num_before * total_vfs(card));
	if (!rc)
		*ret_addr = last;
	return rc;
}
