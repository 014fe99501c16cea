/* SPDX-License-Identifier: BSD-3-Clause */
/* Parents of VFs and SFs, and ordinals of all functions. */
#include <string.h>

#include "pcie_model/arith.h"
#include "topology_draft_priv.h"

static bool is_same_card_and_side(const struct pcie_function *a, const struct pcie_function *b)
{
	return a->card == b->card && strcmp(a->side, b->side) == 0;
}

/* A card has one set of Arm cores, so all its DPU functions are on one side. */
static int check_dpu_side(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const struct pcie_function *final = function->final;

	if (!pcie_side_is_dpu(final->side))
		return 0;
	for (uint32_t id = final->id - function->index; id < final->id; id++) {
		const struct pcie_function *earlier = draft->functions[id].final;

		if (!pcie_side_is_dpu(earlier->side))
			continue;
		if (is_same_card_and_side(earlier, final))
			return 0; /* so are the others, which were checked */
		return pcie_draft_error(draft, function, "side",
					"the card's DPU side is " PCIE_QUOTE " already; a card has one", earlier->side);
	}
	return 0;
}

/* The PF at @addr on @side of @card, or NULL. */
static const struct pcie_function *find_pf(const struct pcie_draft *draft, uint32_t card, const char *side,
					   const struct pcie_addr *addr)
{
	const struct pcie_topology *topology = draft->topology;

	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *pf = &topology->functions[i];

		if (pf->type == PCIE_FUNC_PF && pf->card == card && strcmp(pf->side, side) == 0 &&
		    pcie_addr_equal(&pf->addr, addr))
			return pf;
	}
	return NULL;
}

/* The PF that the file lists last before @function on its card and side, or NULL. */
static const struct pcie_function *find_preceding_pf(const struct pcie_draft *draft,
						     const struct pcie_function *function)
{
	for (uint32_t id = function->id; id-- > 0;) {
		const struct pcie_function *earlier = &draft->topology->functions[id];

		if (!is_same_card_and_side(earlier, function))
			continue;
		if (earlier->type == PCIE_FUNC_PF)
			return earlier;
		if (earlier->type == PCIE_FUNC_VF && !draft->functions[id].yaml->parent)
			return &draft->topology->functions[earlier->parent];
	}
	return NULL;
}

/* "BB:DD.F" on the VF's own side, or "SIDE/BB:DD.F": the PF of a host, whose VF a guest or a container has. */
static int resolve_named_parent(const struct pcie_draft *draft, const struct pcie_draft_function *vf)
{
	const char *text = vf->yaml->parent;
	char side[PCIE_SIDE_SIZE];
	const struct pcie_function *pf;
	struct pcie_addr addr;

	if (pcie_parse_parent(text, vf->final->side, side, &addr))
		return pcie_draft_error(draft, vf, "parent",
					PCIE_QUOTE " is not a PCI address; write DDDD:BB:DD.F or BB:DD.F, or "
						   "SIDE/ADDRESS for the PF of another side: host/b1:00.0",
					text);
	pf = find_pf(draft, vf->final->card, side, &addr);
	if (!pf)
		return pcie_draft_error(draft, vf, "parent",
					"no PF of this card has the address " PCIE_QUOTE " on side " PCIE_QUOTE,
					text + (strrchr(text, '/') ? strlen(side) + 1 : 0), side);
	if (pcie_side_is_dpu(side) != pcie_side_is_dpu(vf->final->side))
		return pcie_draft_error(draft, vf, "parent",
					PCIE_QUOTE " is not a host's; VFs of a host are seen by hosts, those of the "
						   "Arm cores by the Arm cores",
					pcie_side_is_dpu(side) ? text : vf->final->side);
	vf->final->parent = pf->id;
	return 0;
}

static int resolve_vf_parent(const struct pcie_draft *draft, const struct pcie_draft_function *vf)
{
	const struct pcie_function *pf;

	if (vf->yaml->parent)
		return resolve_named_parent(draft, vf);
	pf = find_preceding_pf(draft, vf->final);
	if (!pf)
		return pcie_draft_error(draft, vf, "type",
					"a VF needs a PF: list one before it on this card and side " PCIE_QUOTE
					", or name it with \"parent\"",
					vf->final->side);
	vf->final->parent = pf->id;
	return 0;
}

static int resolve_sf_parent(const struct pcie_draft *draft, const struct pcie_draft_function *sf)
{
	const struct pcie_function *pf = find_pf(draft, sf->final->card, sf->final->side, &sf->final->addr);

	if (!pf)
		return pcie_draft_error(draft, sf, "pci",
					"no PF of this card has the address " PCIE_QUOTE " on side " PCIE_QUOTE
					"; an SF has its PF's address",
					sf->yaml->pci, sf->final->side);
	sf->final->parent = pf->id;
	return 0;
}

static int resolve_parent(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	function->final->parent = function->final->id;
	if (function->yaml->parent && function->final->type != PCIE_FUNC_VF)
		return pcie_draft_error(draft, function, "parent",
					"only a VF names its PF; a PF has none, an SF has its PF's address");
	if (function->final->type == PCIE_FUNC_VF)
		return resolve_vf_parent(draft, function);
	if (function->final->type == PCIE_FUNC_SF)
		return resolve_sf_parent(draft, function);
	return 0;
}

static bool are_siblings(const struct pcie_function *a, const struct pcie_function *b)
{
	if (a->type != b->type)
		return false;
	return a->type == PCIE_FUNC_PF ? is_same_card_and_side(a, b) : a->parent == b->parent;
}

/* The sibling before @function, or NULL. */
static const struct pcie_draft_function *find_preceding_sibling(const struct pcie_draft *draft,
								const struct pcie_draft_function *function)
{
	for (uint32_t id = function->final->id; id-- > function->final->id - function->index;)
		if (are_siblings(draft->functions[id].final, function->final))
			return &draft->functions[id];
	return NULL;
}

/* The side of its PF: a guest that has VFs of a host is no host of the card. */
static const char *home_side(const struct pcie_draft *draft, const struct pcie_function *function)
{
	return draft->functions[function->parent].final->side;
}

/* The position of the function's host side among those of the card. */
static uint32_t find_side_ordinal(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const char *side = home_side(draft, function->final);
	uint32_t ordinal = 0;

	if (pcie_side_is_dpu(side))
		return 0;
	for (uint32_t id = function->final->id; id-- > function->final->id - function->index;) {
		const struct pcie_draft_function *earlier = &draft->functions[id];

		if (pcie_side_is_dpu(earlier->final->side))
			continue;
		if (strcmp(home_side(draft, earlier->final), side) == 0)
			return earlier->side_ordinal;
		ordinal = (uint32_t)max_u64(ordinal, earlier->side_ordinal + 1);
	}
	return ordinal;
}

/* The number of PFs on the function's card and side. */
static uint32_t count_pfs(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	uint32_t count = 0;

	for (size_t i = 0; i < draft->topology->num_functions; i++) {
		const struct pcie_function *other = draft->functions[i].final;

		count += other->type == PCIE_FUNC_PF && is_same_card_and_side(other, function->final);
	}
	return count;
}

static void assign_ordinals(const struct pcie_draft *draft, struct pcie_draft_function *function)
{
	const struct pcie_draft_function *sibling = find_preceding_sibling(draft, function);

	function->ordinal = sibling ? sibling->ordinal + 1 : 0;
	function->side_ordinal = find_side_ordinal(draft, function);
	function->num_siblings = function->final->type == PCIE_FUNC_PF ? count_pfs(draft, function) : 0;
}

/* The numbers that representors show of the function, from the ordinals of all functions. */
static void assign_indices(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	struct pcie_function *final = function->final;

	final->host_index = pcie_side_is_dpu(final->side) ? 0 : function->side_ordinal + 1;
	final->pf_index = draft->functions[final->parent].ordinal;
	final->vf_index = final->type == PCIE_FUNC_VF ? function->ordinal : 0;
}

static bool is_sf_index_given(const struct pcie_draft *draft, const struct pcie_function *sf, uint32_t index)
{
	for (size_t i = 0; draft->gives_sf_indices && i < draft->topology->num_functions; i++) {
		const struct pcie_draft_function *other = &draft->functions[i];

		if (other->yaml->sf_index && other->final->sf_index == index && are_siblings(other->final, sf))
			return true;
	}
	return false;
}

/* An SF without an index gets the next index of its PF that no SF has. */
static void assign_sf_index(const struct pcie_draft *draft, const struct pcie_draft_function *sf)
{
	uint32_t index = 0;

	if (sf->final->type != PCIE_FUNC_SF || sf->yaml->sf_index)
		return;
	for (uint32_t id = sf->final->id; id-- > 0;) {
		const struct pcie_draft_function *earlier = &draft->functions[id];

		if (!earlier->yaml->sf_index && are_siblings(earlier->final, sf->final)) {
			index = earlier->final->sf_index + 1;
			break;
		}
	}
	while (is_sf_index_given(draft, sf->final, index))
		index++;
	sf->final->sf_index = index;
}

int pcie_draft_resolve_parents(struct pcie_draft *draft)
{
	size_t num_functions = draft->topology->num_functions;
	int rc = 0;

	for (size_t i = 0; !rc && i < num_functions; i++)
		rc = check_dpu_side(draft, &draft->functions[i]);
	for (size_t i = 0; !rc && i < num_functions; i++)
		rc = resolve_parent(draft, &draft->functions[i]);
	if (rc)
		return rc;
	for (size_t i = 0; i < num_functions; i++)
		draft->gives_sf_indices |= draft->functions[i].yaml->sf_index != NULL;
	for (size_t i = 0; i < num_functions; i++)
		assign_ordinals(draft, &draft->functions[i]);
	for (size_t i = 0; i < num_functions; i++)
		assign_indices(draft, &draft->functions[i]);
	for (size_t i = 0; i < num_functions; i++)
		assign_sf_index(draft, &draft->functions[i]);
	return 0;
}
