/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches and links, as tables and as JSON. What the file does not give is that of a link's ports: "-", and 0 in JSON. */
#include "devs_network.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "func_text.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/table.h"

#define END_SIZE (PCIE_SIDE_SIZE + CLI_FUNC_ADDRESS_SIZE)

struct link_view {
	struct pcie_net_link link;
	char from[END_SIZE], to[END_SIZE];
	const char *state, *mark; /* in words for programs, and for people */
	struct cli_live_net net;
};

static void show_time(uint64_t ps, char text[CLI_FIELD_SIZE])
{
	if (ps % 1000 == 0)
		snprintf(text, CLI_FIELD_SIZE, "%" PRIu64 " ns", ps / 1000);
	else
		snprintf(text, CLI_FIELD_SIZE, "%" PRIu64 " ps", ps);
}

static void show_rate(uint64_t bps, char text[CLI_FIELD_SIZE])
{
	if (bps == 0)
		strcpy(text, "-");
	else
		cli_bps_text(bps, text);
}

static void show_mtu(uint64_t bytes, char text[CLI_FIELD_SIZE])
{
	if (bytes == 0)
		strcpy(text, "-");
	else
		snprintf(text, CLI_FIELD_SIZE, "%" PRIu64, bytes);
}

/* "0.25 %", without zeros at the end. */
static void show_share(uint64_t ppb, char text[CLI_FIELD_SIZE])
{
	size_t len = (size_t)snprintf(text, CLI_FIELD_SIZE, "%" PRIu64 ".%07" PRIu64, ppb / 10000000, ppb % 10000000);

	while (text[len - 1] == '0')
		len--;
	if (text[len - 1] == '.')
		len--;
	strcpy(text + len, " %");
}

#define LINK(member, key, heading)             CLI_FIELD(struct link_view, member, key, heading)
#define LINK_SHOWN(member, key, heading, show) CLI_SHOWN(struct link_view, link.member, key, heading, show)

static const struct cli_field switch_fields[] = {
	CLI_FIELD(struct pcie_switch, name, "name", "SWITCH"),
	CLI_SHOWN(struct pcie_switch, latency_ps, "latency-ps", ">LATENCY", show_time),
	CLI_SHOWN(struct pcie_switch, rate_bps, "rate-bps", ">RATE", show_rate),
	{ 0 },
};

static const struct cli_field link_fields[] = {
	LINK(from, "from", "LINK FROM"),
	LINK(to, "to", "TO"),
	LINK_SHOWN(latency_ps, "latency-ps", ">LATENCY", show_time),
	LINK_SHOWN(rate_bps, "rate-bps", ">RATE", show_rate),
	LINK_SHOWN(mtu_bytes, "mtu", ">MTU", show_mtu),
	LINK_SHOWN(loss_ppb, "loss-ppb", ">LOSS", show_share),
	LINK(state, "state", NULL),
	LINK(mark, NULL, "STATE"),
	LINK(net.up_in_ns, "up-in-ns", NULL),
	LINK(net.slow.delay_ns, "added-delay-ns", NULL),
	LINK(net.slow.rate, "max-bytes-per-s", NULL),
	{ 0 },
};

/* The first function of a port stands for it. */
static void describe_end(const struct pcie_topology *topology, const struct pcie_link_end *end, char text[END_SIZE])
{
	char address[CLI_FUNC_ADDRESS_SIZE];

	if (end->is_switch) {
		strcpy(text, topology->network.switches[end->index].name);
		return;
	}
	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (function->port != end->index)
			continue;
		cli_func_address(function, address);
		snprintf(text, END_SIZE, "%s/%s", function->side, address);
		return;
	}
}

static struct link_view describe(const struct pcie_topology *topology, const struct cli_live *live, uint32_t index)
{
	struct link_view view = { .link = topology->network.links[index],
				  .net = cli_live_net_link(live, topology, index) };

	view.state = view.net.up_in_ns > 0 ? "down" : "up";
	view.mark = view.net.up_in_ns == 0 && cli_live_net_is_changed(&view.net) ? "slow" : view.state;
	describe_end(topology, &view.link.ends[0], view.from);
	describe_end(topology, &view.link.ends[1], view.to);
	return view;
}

/* Whether all links are as the topology says. */
static bool works(const struct pcie_topology *topology, const struct cli_live *live)
{
	for (uint32_t i = 0; i < topology->network.num_links; i++) {
		const struct cli_live_net net = cli_live_net_link(live, topology, i);

		if (cli_live_net_is_changed(&net))
			return false;
	}
	return true;
}

int cli_devs_print_network(const struct pcie_topology *topology, const struct cli_live *live)
{
	static const char *const switch_headings[] = { "SWITCH", ">LATENCY", ">RATE" };
	static const char *const link_headings[] = {
		"LINK FROM", "TO", ">LATENCY", ">RATE", ">MTU", ">LOSS", "STATE"
	}; /* STATE is there if a link is down or slow */
	const struct pcie_network *network = &topology->network;
	struct cli_table switches = CLI_TABLE(switch_headings), links = CLI_TABLE(link_headings);

	if (!network->is_given)
		return 0;
	links.num_columns -= works(topology, live);
	printf("\nnetwork: %" PRIu32 " switch%s, %" PRIu32 " link%s\n", network->num_switches,
	       network->num_switches == 1 ? "" : "es", network->num_links, network->num_links == 1 ? "" : "s");
	for (uint32_t i = 0; i < network->num_switches; i++)
		cli_table_add_cells(&switches, switch_fields, &network->switches[i]);
	for (uint32_t i = 0; i < network->num_links; i++) {
		const struct link_view view = describe(topology, live, i);

		cli_table_add_cells(&links, link_fields, &view);
	}
	if (network->num_switches > 0) {
		printf("\n");
		if (cli_table_print(&switches) < 0)
			return -1;
	}
	printf("\n");
	return cli_table_print(&links);
}

json_object *cli_devs_network_json(const struct pcie_topology *topology, const struct cli_live *live)
{
	const struct pcie_network *network = &topology->network;
	json_object *json, *switches, *links;

	if (!network->is_given)
		return NULL;
	json = json_object_new_object();
	switches = json_object_new_array();
	links = json_object_new_array();
	for (uint32_t i = 0; i < network->num_switches; i++)
		json_object_array_add(switches, cli_json_of_fields(switch_fields, &network->switches[i]));
	for (uint32_t i = 0; i < network->num_links; i++) {
		const struct link_view view = describe(topology, live, i);

		json_object_array_add(links, cli_json_of_fields(link_fields, &view));
	}
	json_object_object_add(json, "switches", switches);
	json_object_object_add(json, "links", links);
	return json;
}
