/* SPDX-License-Identifier: BSD-3-Clause */
/* Trunks: the links of the network between two switches. */
#include <string.h>

#include "topology.h"

bool pcie_link_is_trunk(const struct pcie_net_link *link)
{
	return link->ends[0].is_switch && link->ends[1].is_switch;
}

uint32_t pcie_topology_num_link_ids(const struct pcie_topology *topology)
{
	return (uint32_t)topology->num_functions + topology->network.num_links;
}

uint32_t pcie_topology_link_id(const struct pcie_topology *topology, uint32_t link)
{
	return (uint32_t)topology->num_functions + link;
}

/* The hops of a path between two ports are links of the network, if it is given; that of a path within a port is not. */
bool pcie_topology_find_trunk(const struct pcie_topology *topology, const struct pcie_net_hop *hop, uint32_t *ret_id)
{
	uint32_t link = hop->station / 2;

	if (!topology->network.is_given || link >= topology->network.num_links ||
	    !pcie_link_is_trunk(&topology->network.links[link]))
		return false;
	*ret_id = pcie_topology_link_id(topology, link);
	return true;
}

static uint32_t add_trunks(const struct pcie_topology *topology, const struct pcie_function *from,
			   const struct pcie_function *to, uint32_t *ret_ids)
{
	struct pcie_net_path path;
	uint32_t num = 0;

	if (pcie_topology_find_path(topology, from, to, &path) < 0)
		return 0;
	for (uint32_t i = 0; i < path.num_hops; i++)
		num += pcie_topology_find_trunk(topology, &path.hops[i], &ret_ids[num]);
	return num;
}

uint32_t pcie_topology_find_trunks(const struct pcie_topology *topology, const struct pcie_function *a,
				   const struct pcie_function *b, uint32_t ret_ids[PCIE_MAX_TRUNKS_BETWEEN])
{
	uint32_t num;

	num = add_trunks(topology, a, b, ret_ids);
	return num + add_trunks(topology, b, a, ret_ids + num);
}

void pcie_trunk_format(const struct pcie_topology *topology, uint32_t link, bool is_reversed,
		       char text[PCIE_TRUNK_TEXT_SIZE])
{
	const struct pcie_network *network = &topology->network;
	const struct pcie_link_end *ends = network->links[link].ends;

	strcpy(text, network->switches[ends[is_reversed].index].name);
	strcat(text, "/");
	strcat(text, network->switches[ends[!is_reversed].index].name);
}
