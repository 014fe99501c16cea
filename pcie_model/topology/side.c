/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of sides. */
#include <string.h>

#include "topology.h"

static size_t machine_len(const char *side)
{
	const char *slash = strrchr(side, '/');

	return slash ? (size_t)(slash - side) : 0;
}

bool pcie_side_is_of(const char *side, const char *machine)
{
	size_t len = machine_len(side);

	return len == strlen(machine) && memcmp(side, machine, len) == 0;
}

/* Whether no function before the one at @index is of its machine. */
static bool is_first_of_machine(const struct pcie_topology *topology, size_t index)
{
	const char *side = topology->functions[index].side;
	size_t len = machine_len(side);

	for (size_t i = 0; i < index; i++)
		if (machine_len(topology->functions[i].side) == len &&
		    memcmp(topology->functions[i].side, side, len) == 0)
			return false;
	return true;
}

bool pcie_topology_get_machine(const struct pcie_topology *topology, uint32_t number, char ret_name[PCIE_SIDE_SIZE])
{
	for (size_t i = 0; i < topology->num_functions; i++) {
		const char *side = topology->functions[i].side;

		if (!is_first_of_machine(topology, i) || number-- > 0)
			continue;
		memcpy(ret_name, side, machine_len(side));
		ret_name[machine_len(side)] = '\0';
		return true;
	}
	return false;
}

bool pcie_topology_find_machine(const struct pcie_topology *topology, const char *name, uint32_t *ret_number)
{
	char other[PCIE_SIDE_SIZE];

	for (uint32_t i = 0; pcie_topology_get_machine(topology, i, other); i++)
		if (strcmp(other, name) == 0) {
			*ret_number = i;
			return true;
		}
	return false;
}

bool pcie_side_is_dpu(const char *side)
{
	const char *slash = strrchr(side, '/');

	return strcmp(slash ? slash + 1 : side, "dpu") == 0;
}
