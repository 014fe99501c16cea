/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that name links between switches. */
#include <string.h>

#include "injector.h"
#include "sim/faults/rule/rule.h"

bool sim_rule_names_trunk(const struct sim_rule *rule, const struct pcie_topology *topology, uint32_t link)
{
	char name[PCIE_TRUNK_TEXT_SIZE], reversed[PCIE_TRUNK_TEXT_SIZE];

	if (!(rule->where & SIM_WHERE_DEVICE) || !strchr(rule->device, '/') ||
	    !pcie_link_is_trunk(&topology->network.links[link]))
		return false;
	pcie_trunk_format(topology, link, false, name);
	pcie_trunk_format(topology, link, true, reversed);
	return sim_glob(rule->device, name) || sim_glob(rule->device, reversed);
}
