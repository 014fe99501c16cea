/* SPDX-License-Identifier: BSD-3-Clause */
/* Check of the values that must be unique. Defaults are checked too, since a given value may equal a default. */
#include <stdio.h>
#include <string.h>

#include "topology_draft_priv.h"

typedef bool same_fn(const struct pcie_function *a, const struct pcie_function *b);

static bool same_side(const struct pcie_function *a, const struct pcie_function *b)
{
	return strcmp(a->side, b->side) == 0;
}

/* An SF's address is its PF's. */
static bool same_addr(const struct pcie_function *a, const struct pcie_function *b)
{
	return a->type != PCIE_FUNC_SF && b->type != PCIE_FUNC_SF && pcie_addr_equal(&a->addr, &b->addr) &&
	       same_side(a, b);
}

static bool same_ibdev(const struct pcie_function *a, const struct pcie_function *b)
{
	return strcmp(a->ibdev, b->ibdev) == 0 && same_side(a, b);
}

static bool same_iface(const struct pcie_function *a, const struct pcie_function *b)
{
	return a->iface[0] && strcmp(a->iface, b->iface) == 0 && same_side(a, b);
}

static bool same_rep_iface(const struct pcie_function *a, const struct pcie_function *b)
{
	return a->rep_iface[0] && a->card == b->card && strcmp(a->rep_iface, b->rep_iface) == 0;
}

static bool same_mac(const struct pcie_function *a, const struct pcie_function *b)
{
	return memcmp(a->mac, b->mac, sizeof(a->mac)) == 0;
}

static bool same_vuid(const struct pcie_function *a, const struct pcie_function *b)
{
	return strcmp(a->vuid, b->vuid) == 0;
}

static bool same_vhca_id(const struct pcie_function *a, const struct pcie_function *b)
{
	return a->card == b->card && a->vhca_id == b->vhca_id;
}

static bool same_sf_index(const struct pcie_function *a, const struct pcie_function *b)
{
	return a->type == PCIE_FUNC_SF && b->type == PCIE_FUNC_SF && a->parent == b->parent &&
	       a->sf_index == b->sf_index;
}

static const struct unique {
	const char *field;
	const char *within;
	same_fn *same;
} unique[] = {
	{ "pci", "on one side", same_addr },        { "ibdev", "on one side", same_ibdev },
	{ "iface", "on one side", same_iface },     { "rep-iface", "on one card", same_rep_iface },
	{ "mac", "in a topology", same_mac },       { "vuid", "in a topology", same_vuid },
	{ "vhca-id", "on one card", same_vhca_id }, { "sf-index", "on one PF", same_sf_index },
};

static int check_pair(const struct pcie_draft *draft, const struct pcie_draft_function *function,
		      const struct pcie_draft_function *earlier)
{
	for (size_t i = 0; i < sizeof(unique) / sizeof(unique[0]); i++) {
		if (unique[i].same(earlier->final, function->final))
			return pcie_draft_error(draft, function, unique[i].field,
						"is the same as that of cards[%u].functions[%u]; it "
						"must be unique %s",
						earlier->final->card, pcie_draft_file_index(earlier), unique[i].within);
	}
	return 0;
}

int pcie_draft_check_unique(struct pcie_draft *draft)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < draft->topology->num_functions; i++) {
		for (size_t j = 0; !rc && j < i; j++)
			rc = check_pair(draft, &draft->functions[i], &draft->functions[j]);
	}
	return rc;
}
