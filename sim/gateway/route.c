/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of machines, and the way of frames to them. */
#include <errno.h>
#include <stdlib.h>

#include "gateway.h"

int members_open(struct gateway *gateway, const struct pcie_topology *topology)
{
	char name[PCIE_SIDE_SIZE];

	while (pcie_topology_get_machine(topology, gateway->num_machines, name))
		gateway->num_machines++;
	gateway->machines = calloc(gateway->num_machines, sizeof(*gateway->machines));
	if (!gateway->machines)
		return -ENOMEM;
	for (uint32_t i = 0; i < gateway->num_machines; i++)
		pcie_topology_get_machine(topology, i, gateway->machines[i].name);
	if (!pcie_topology_find_machine(topology, gateway->cfg.name, &gateway->self))
		return -ENOENT;
	gateway->machines[gateway->self].is_joined = true;
	return 0;
}

bool members_has(const struct gateway *gateway, uint32_t machine)
{
	return machine < gateway->num_machines && machine != gateway->self && gateway->machines[machine].is_joined;
}

bool members_own(const struct gateway *gateway, uint32_t machine, uint64_t function)
{
	const struct pcie_topology *topology = sim_session_topology(gateway->session);

	return function < topology->num_functions &&
	       pcie_side_is_of(topology->functions[function].side, gateway->machines[machine].name);
}

static struct link *home_link(const struct gateway *gateway)
{
	struct link *link;

	LIST_FOREACH(link, &gateway->links, entry)
		if (link->state == LINK_UP)
			return link;
	return NULL;
}

int gateway_send(struct gateway *gateway, uint32_t machine, struct gateway_frame *frame)
{
	struct link *link = members_has(gateway, machine) ? gateway->machines[machine].link : NULL;

	if (!link && !gateway->cfg.is_home && members_has(gateway, machine))
		link = home_link(gateway);
	if (!link)
		return -EHOSTUNREACH;
	frame->from = (uint16_t)gateway->self;
	frame->to = (uint16_t)machine;
	link_send(link, frame);
	return 0;
}
