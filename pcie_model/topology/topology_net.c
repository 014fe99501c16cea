/* SPDX-License-Identifier: BSD-3-Clause */
/* The network of a topology: ports of functions, and the switches and links that the file describes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "topology_draft_priv.h"
#include "value_parse_priv.h"

/* What a packet of RoCE takes of an Ethernet frame's payload: IPv6, UDP, and all of InfiniBand's headers. */
#define ROCE_BYTES 96
#define MAX_MTU    4096u
#define MIN_MTU    256u

/* ---- ports ---- */

/* The port of a host's PF is that of the DPU's PF which represents it. */
static void set_ports_in_card(const struct pcie_topology *topology)
{
	struct pcie_function *functions = topology->functions;

	for (size_t i = 0; i < topology->num_functions; i++)
		functions[i].port = functions[i].pf_index;
	for (size_t i = 0; i < topology->num_functions; i++)
		for (size_t j = 0; j < functions[i].num_reps; j++)
			if (functions[functions[i].reps[j]].type == PCIE_FUNC_PF)
				functions[functions[i].reps[j]].port = functions[i].pf_index;
	for (size_t i = 0; i < topology->num_functions; i++)
		functions[i].port = functions[functions[i].parent].port;
}

/* Cards follow each other in the list of functions. */
static void number_ports(struct pcie_topology *topology)
{
	uint32_t base = 0, end = 0, card = 0;

	for (size_t i = 0; i < topology->num_functions; i++) {
		struct pcie_function *function = &topology->functions[i];

		if (function->card != card) {
			base = end;
			card = function->card;
		}
		function->port += base;
		end = max_u32(end, function->port + 1);
	}
	topology->num_ports = end;
}

/* ---- switches ---- */

static int net_error(const struct pcie_draft *draft, const char *list, uint32_t index, const char *field,
		     const char *quoted, const char *reason)
{
	char path[PCIE_FIELD_PATH_SIZE];

	snprintf(path, sizeof(path), "network.%s[%u].%s", list, index, field);
	return pcie_yaml_error_at(draft->doc, path, PCIE_QUOTE " %s", quoted, reason);
}

static int read_rate(const struct pcie_draft *draft, const char *list, uint32_t index, const char *text,
		     uint64_t *ret_bps)
{
	uint64_t bps = 1;

	if (text && (pcie_parse_rate(text, &bps) || bps == 0))
		return net_error(draft, list, index, "rate", text,
				 "is not a rate; write bits per second, or a number with Mb/s, Gb/s or Tb/s");
	if (text)
		*ret_bps = bps;
	return 0;
}

static int read_latency(const struct pcie_draft *draft, const char *list, uint32_t index, const char *text,
			uint64_t *ret_ps)
{
	if (text && pcie_parse_time(text, ret_ps))
		return net_error(draft, list, index, "latency", text, "is not a time; write 300ns, for instance");
	return 0;
}

static int read_switch(const struct pcie_draft *draft, uint32_t index)
{
	const struct pcie_yaml_switch *yaml = &draft->yaml.network->switches[index];
	struct pcie_network *network = &draft->topology->network;
	struct pcie_switch *ret = &network->switches[index];
	int rc;

	if (!*yaml->name || strlen(yaml->name) >= sizeof(ret->name) || !pcie_is_valid_name(yaml->name))
		return net_error(draft, "switches", index, "name", yaml->name,
				 "is not a name; write 1 to 63 characters without spaces and '/'");
	for (uint32_t i = 0; i < index; i++)
		if (strcmp(network->switches[i].name, yaml->name) == 0)
			return net_error(draft, "switches", index, "name", yaml->name,
					 "is the name of an earlier switch too");
	strcpy(ret->name, yaml->name);
	ret->latency_ps = PCIE_NET_SWITCH_LATENCY_PS;
	rc = read_latency(draft, "switches", index, yaml->latency, &ret->latency_ps);
	return rc ? rc : read_rate(draft, "switches", index, yaml->rate, &ret->rate_bps);
}

/* ---- links ---- */

static const struct pcie_function *find_function(const struct pcie_topology *topology, const char *text)
{
	char side[PCIE_SIDE_SIZE];
	struct pcie_addr addr;

	if (pcie_parse_parent(text, "", side, &addr))
		return NULL;
	for (size_t i = 0; i < topology->num_functions; i++)
		if (strcmp(topology->functions[i].side, side) == 0 &&
		    pcie_addr_equal(&topology->functions[i].addr, &addr))
			return &topology->functions[i];
	return NULL;
}

static bool has_link(const struct pcie_network *network, uint32_t num_links, uint32_t port)
{
	for (uint32_t i = 0; i < num_links; i++)
		for (int end = 0; end < 2; end++)
			if (!network->links[i].ends[end].is_switch && network->links[i].ends[end].index == port)
				return true;
	return false;
}

static int read_end(const struct pcie_draft *draft, uint32_t index, const char *field, const char *text,
		    struct pcie_link_end *ret_end)
{
	const struct pcie_topology *topology = draft->topology;
	const struct pcie_network *network = &topology->network;
	const struct pcie_function *function;

	for (uint32_t i = 0; i < network->num_switches; i++) {
		if (strcmp(network->switches[i].name, text) == 0) {
			*ret_end = (struct pcie_link_end){ .is_switch = true, .index = i };
			return 0;
		}
	}
	function = find_function(topology, text);
	if (!function)
		return net_error(
			draft, "links", index, field, text,
			"is neither a switch nor a function; write a switch's name, or SIDE/ADDRESS of a function at the port");
	if (has_link(network, index, function->port))
		return net_error(draft, "links", index, field, text,
				 "is at a port that has a link already; functions of a port share its link");
	*ret_end = (struct pcie_link_end){ .index = function->port };
	return 0;
}

static int read_mtu(const struct pcie_draft *draft, uint32_t index, const char *text, uint32_t *ret_mtu)
{
	uint64_t mtu = 0;

	if (text && (pcie_parse_number(text, MAX_MTU, &mtu) || mtu < MIN_MTU || (mtu & (mtu - 1)) != 0))
		return net_error(draft, "links", index, "mtu", text,
				 "is not an MTU of RDMA; write 256, 512, 1024, 2048 or 4096");
	*ret_mtu = (uint32_t)mtu;
	return 0;
}

static int read_link(const struct pcie_draft *draft, uint32_t index)
{
	const struct pcie_yaml_net_link *yaml = &draft->yaml.network->links[index];
	struct pcie_net_link *link = &draft->topology->network.links[index];
	int rc = read_end(draft, index, "from", yaml->from, &link->ends[0]);

	if (!rc)
		rc = read_end(draft, index, "to", yaml->to, &link->ends[1]);
	if (!rc && link->ends[0].is_switch == link->ends[1].is_switch && link->ends[0].index == link->ends[1].index)
		rc = net_error(draft, "links", index, "to", yaml->to, "is the link's other end as well");
	link->latency_ps = PCIE_NET_LINK_LATENCY_PS;
	if (!rc)
		rc = read_latency(draft, "links", index, yaml->latency, &link->latency_ps);
	if (!rc)
		rc = read_rate(draft, "links", index, yaml->rate, &link->rate_bps);
	if (!rc)
		rc = read_mtu(draft, index, yaml->mtu, &link->mtu_bytes);
	if (!rc && yaml->loss && pcie_parse_share(yaml->loss, &link->loss_ppb))
		rc = net_error(draft, "links", index, "loss", yaml->loss,
			       "is not a share of packets below 100%; write 0.1%, for instance");
	return rc;
}

static int read_network(struct pcie_draft *draft)
{
	const struct pcie_yaml_network *yaml = draft->yaml.network;
	struct pcie_network *network = &draft->topology->network;
	int rc = 0;

	if (yaml->num_switches > PCIE_NET_MAX_SWITCHES)
		return pcie_yaml_error_at(draft->doc, "network.switches", "the network has more than %d switches",
					  PCIE_NET_MAX_SWITCHES);
	if (yaml->num_links > PCIE_NET_MAX_LINKS)
		return pcie_yaml_error_at(draft->doc, "network.links", "the network has more than %d links",
					  PCIE_NET_MAX_LINKS);
	network->is_given = true;
	network->switches = calloc(yaml->num_switches + 1, sizeof(*network->switches));
	network->links = calloc(yaml->num_links + 1, sizeof(*network->links));
	if (!network->switches || !network->links)
		return -ENOMEM;
	for (uint32_t i = 0; !rc && i < yaml->num_switches; i++)
		rc = read_switch(draft, i);
	network->num_switches = yaml->num_switches;
	for (uint32_t i = 0; !rc && i < yaml->num_links; i++)
		rc = read_link(draft, i);
	network->num_links = yaml->num_links;
	return rc;
}

static uint32_t default_mtu(const struct pcie_function *function)
{
	uint32_t mtu = MAX_MTU;

	while (function->link_layer == PCIE_LINK_ETHERNET && mtu > MIN_MTU && mtu + ROCE_BYTES > function->mtu)
		mtu /= 2;
	return mtu;
}

int pcie_draft_read_network(struct pcie_draft *draft)
{
	struct pcie_topology *topology = draft->topology;

	set_ports_in_card(topology);
	number_ports(topology);
	for (size_t i = 0; i < topology->num_functions; i++)
		topology->functions[i].rdma_mtu_bytes = default_mtu(&topology->functions[i]);
	return draft->yaml.network ? read_network(draft) : 0;
}
