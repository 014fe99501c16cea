/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to a topology. */
#include <stdio.h>
#include <string.h>

#include "topology.h"

void pcie_topology_for_each_side(const struct pcie_topology *topology, void (*visit)(void *arg, const char *side),
				 void *arg)
{
	for (size_t i = 0; i < topology->num_functions; i++) {
		const char *side = topology->functions[i].side;
		size_t first = 0;

		while (strcmp(topology->functions[first].side, side) != 0)
			first++;
		if (first == i)
			visit(arg, side);
	}
}

bool pcie_topology_has_side(const struct pcie_topology *topology, const char *side)
{
	for (size_t i = 0; i < topology->num_functions; i++) {
		if (strcmp(topology->functions[i].side, side) == 0)
			return true;
	}
	return false;
}

const char *pcie_topology_describe_no_side(const struct pcie_topology *topology, const char *side)
{
	for (size_t i = 0; i < topology->num_cards && pcie_side_is_dpu(side); i++) {
		if (topology->cards[i].profile->has_dpu && topology->cards[i].mode == PCIE_MODE_NIC)
			return "; a card is in NIC mode, in which its Arm cores are inactive";
	}
	return "";
}

uint32_t pcie_topology_page_bytes(const struct pcie_topology *topology, const char *side)
{
	for (size_t i = 0; i < topology->num_sides; i++) {
		if (strcmp(topology->sides[i].name, side) == 0)
			return topology->sides[i].page_bytes;
	}
	return PCIE_DEFAULT_PAGE_BYTES;
}

bool pcie_function_has_representor(const struct pcie_function *function, uint32_t rep)
{
	for (size_t i = 0; i < function->num_reps; i++)
		if (function->reps[i] == rep)
			return true;
	return false;
}

const struct pcie_function *pcie_topology_find_rep_holder(const struct pcie_topology *topology, uint32_t id)
{
	for (size_t i = 0; i < topology->num_functions; i++)
		if (pcie_function_has_representor(&topology->functions[i], id))
			return &topology->functions[i];
	return NULL;
}

bool pcie_functions_are_related(const struct pcie_function *a, const struct pcie_function *b)
{
	return a->card == b->card && (strcmp(a->side, b->side) == 0 || pcie_function_has_representor(a, b->id) ||
				      pcie_function_has_representor(b, a->id));
}

void pcie_function_format(const struct pcie_function *function, char text[PCIE_FUNCTION_TEXT_SIZE])
{
	char addr[PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&function->addr, addr);
	if (function->type == PCIE_FUNC_SF)
		snprintf(text, PCIE_FUNCTION_TEXT_SIZE, "%s/%s/sf%u", function->side, addr, function->sf_index);
	else
		snprintf(text, PCIE_FUNCTION_TEXT_SIZE, "%s/%s", function->side, addr);
}
