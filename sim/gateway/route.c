/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of machines, and the way of frames to them. */
#include <errno.h>
#include <stdlib.h>

#include "direct.h"
#include "outage.h"
#include "slow_link.h"

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
		if (link->state == LINK_UP && !link->is_direct)
			return link;
	return NULL;
}

/* The link to the machine, or the one to home, which passes frames on. NULL: it has not joined. */
static struct link *find_link(const struct gateway *gateway, uint32_t machine)
{
	struct link *link = members_has(gateway, machine) ? gateway->machines[machine].link : NULL;

	if (!link && !gateway->cfg.is_home && members_has(gateway, machine)) {
		link = direct_link(gateway, machine);
		link = link ? link : home_link(gateway);
	}
	return link;
}

bool gateway_has_room(struct gateway *gateway, uint32_t machine)
{
	const struct link *link = find_link(gateway, machine);
	bool is_full = link && (link->num_queued >= LINK_FULL_QUEUED || direct_is_full(gateway, machine) ||
				slow_link_is_full(gateway, machine));

	gateway->is_full |= is_full;
	return !is_full;
}

static void send_late(struct gateway *gateway, struct link *link, const struct gateway_frame *frame)
{
	if (!gateway->cfg.is_home && frame->to != link->machine && direct_takes(gateway, frame))
		return;
	if (gateway->num_outages == 0 || frame->kind == GATEWAY_OUTAGE || !outage_takes(gateway, link->machine, frame))
		link_send(link, frame);
}

static void send_by(struct gateway *gateway, struct link *link, const struct gateway_frame *frame)
{
	bool tells_of_faults = frame->kind == GATEWAY_OUTAGE || frame->kind == GATEWAY_SLOW_LINK;

	if (gateway->num_slow == 0 || tells_of_faults || !slow_link_takes(gateway, link, frame))
		send_late(gateway, link, frame);
}

void gateway_pass_late(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct link *link = find_link(gateway, frame->to);

	if (link)
		send_late(gateway, link, frame);
}

void gateway_pass(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct link *link = find_link(gateway, frame->to);

	if (link)
		send_by(gateway, link, frame);
}

int gateway_send(struct gateway *gateway, uint32_t machine, struct gateway_frame *frame)
{
	struct link *link = find_link(gateway, machine);

	if (!link)
		return -EHOSTUNREACH;
	frame->from = (uint16_t)gateway->self;
	frame->to = (uint16_t)machine;
	send_by(gateway, link, frame);
	return 0;
}
