/* SPDX-License-Identifier: BSD-3-Clause */
/* The status words and link windows of a live session, as text. */
#include "live.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "func_text.h"
#include "pcie_model/arith.h"
#include "sim/cli/base/human_format.h"
#include "sim/cli/base/session_client.h"
#include "sim/clock/link_state.h"
#include "sim/clock/net_outage.h"
#include "sim/state/shared_state.h"

#define PPB_PER_PERCENT 1e7
#define PS_PER_NS       1000

int cli_live_open(const char *dir, struct cli_live *ret_live)
{
	int dir_fd, rc;

	*ret_live = (struct cli_live){ 0 };
	if (!dir)
		return 0;
	dir_fd = cli_session_open(dir);
	if (dir_fd < 0)
		return -1;
	rc = sim_control_map_shared_state(dir_fd, &ret_live->shared);
	close(dir_fd);
	return rc < 0 ? cli_session_report_error(dir, rc) : 0;
}

void cli_live_close(struct cli_live *live)
{
	if (live->shared.base)
		sim_segment_unmap(&live->shared);
	live->shared.base = NULL;
}

static uint64_t status_word(const struct cli_live *live, const struct pcie_function *function)
{
	if (!live->shared.base)
		return 0;
	return atomic_load(&sim_shared_state_of(&live->shared)->functions.status_words[function->id]);
}

const char *cli_live_function(const struct cli_live *live, const struct pcie_function *function)
{
	uint64_t word = status_word(live, function);

	return word & SIM_FUNCTION_REMOVED ? "removed" : word & SIM_FUNCTION_FATAL ? "failed" : "works";
}

const char *cli_live_rep(const struct cli_live *live, const struct pcie_function *function)
{
	return status_word(live, function) & (SIM_FUNCTION_REMOVED | SIM_FUNCTION_REP_REMOVED) ? "removed" : "works";
}

static struct cli_live_net net_of(const struct cli_live *live, uint32_t link_id)
{
	const struct sim_shared_state *shared;
	uint64_t now_ns, up_ns;

	if (!live->shared.base)
		return (struct cli_live_net){ 0 };
	shared = sim_shared_state_of(&live->shared);
	now_ns = sim_shared_state_now_ns(shared);
	up_ns = sim_clock_net_link_up_ns(&shared->clock.net, link_id, now_ns);
	return (struct cli_live_net){ .up_in_ns = up_ns > 0 ? up_ns - now_ns : 0,
				      .slow = sim_clock_net_slow_at(&shared->clock.net, link_id, now_ns) };
}

struct cli_live_net cli_live_net(const struct cli_live *live, const struct pcie_function *function)
{
	return net_of(live, function->id);
}

static bool is_pf_of_port(const struct pcie_function *function, const struct pcie_link_end *end)
{
	return !end->is_switch && function->port == end->index && function->type == PCIE_FUNC_PF &&
	       pcie_side_is_dpu(function->side);
}

/* A link between two ports is that of each. */
static void add_net(struct cli_live_net *net, struct cli_live_net other)
{
	net->up_in_ns = max_u64(net->up_in_ns, other.up_in_ns);
	net->slow.delay_ns = add_saturating_u64(net->slow.delay_ns, other.slow.delay_ns);
	net->slow.rate = sim_clock_net_lower_rate(net->slow.rate, other.slow.rate);
}

struct cli_live_net cli_live_net_link(const struct cli_live *live, const struct pcie_topology *topology, uint32_t link)
{
	const struct pcie_link_end *ends = topology->network.links[link].ends;
	struct cli_live_net net = net_of(live, pcie_topology_link_id(topology, link));

	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (is_pf_of_port(function, &ends[0]) || is_pf_of_port(function, &ends[1]))
			add_net(&net, cli_live_net(live, function));
	}
	return net;
}

bool cli_live_net_is_changed(const struct cli_live_net *net)
{
	return net->up_in_ns > 0 || net->slow.delay_ns > 0 || net->slow.rate > 0;
}

static const char *net_mark(const struct cli_live_net *net)
{
	if (!cli_live_net_is_changed(net))
		return "";
	return net->up_in_ns > 0 ? "network link down" : "network link slow";
}

const char *cli_live_function_mark(const struct cli_live *live, const struct pcie_function *function)
{
	struct cli_live_net net = cli_live_net(live, function);
	uint64_t word = status_word(live, function);

	if (word & SIM_FUNCTION_REMOVED)
		return "removed";
	if (word & SIM_FUNCTION_FATAL)
		return "failed until a reset";
	if (word & SIM_FUNCTION_REP_REMOVED)
		return "representor removed";
	return net_mark(&net);
}

struct cli_live_link cli_live_link(const struct cli_live *live, const struct pcie_topology *topology, uint32_t card)
{
	struct cli_live_link state = { .link = topology->cards[card].link };
	const struct sim_shared_state *shared;
	const struct sim_clock_card *clock_card;
	uint64_t now_ns, up_ns;

	if (!live->shared.base || card >= SIM_CLOCK_MAX_CARDS)
		return state;
	shared = sim_shared_state_of(&live->shared);
	clock_card = &shared->clock.cards[card];
	now_ns = sim_shared_state_now_ns(shared);
	up_ns = sim_clock_link_up_ns(clock_card);
	state.is_down = up_ns > now_ns;
	state.up_in_ns = state.is_down ? up_ns - now_ns : 0;
	state.link = sim_clock_link_at(&state.link, &clock_card->degradation, now_ns * PS_PER_NS);
	return state;
}

void cli_live_link_mark(const struct cli_live *live, const struct pcie_topology *topology, uint32_t card,
			char text[CLI_LIVE_TEXT_SIZE])
{
	const struct pcie_link *trained = &topology->cards[card].link;
	struct cli_live_link state = cli_live_link(live, topology, card);
	char part[CLI_HUMAN_SIZE];
	size_t used = 0;

	text[0] = '\0';
	if (state.is_down) {
		cli_human_time(state.up_in_ns, part);
		snprintf(text, CLI_LIVE_TEXT_SIZE, "link down for another %s", part);
		return;
	}
	if (state.link.generation != trained->generation || state.link.lanes != trained->lanes)
		used = (size_t)snprintf(text, CLI_LIVE_TEXT_SIZE, "link at gen%u x%u", state.link.generation,
					state.link.lanes);
	if (state.link.replay_ppb != trained->replay_ppb)
		snprintf(text + used, CLI_LIVE_TEXT_SIZE - used, "%s%g %% of packets replayed",
			 used ? ", " : "link with ", state.link.replay_ppb / PPB_PER_PERCENT);
}

/* The links of ports are those of functions. */
static void print_trunks(const struct cli_live *live, const struct pcie_topology *topology)
{
	const struct pcie_network *network = &topology->network;
	char name[PCIE_TRUNK_TEXT_SIZE];

	for (uint32_t i = 0; i < network->num_links; i++) {
		const struct cli_live_net net = cli_live_net_link(live, topology, i);

		if (!pcie_link_is_trunk(&network->links[i]) || !cli_live_net_is_changed(&net))
			continue;
		pcie_trunk_format(topology, i, false, name);
		printf("%s: %s\n", name, net_mark(&net));
	}
}

void cli_live_print_changes(const struct cli_live *live, const struct pcie_topology *topology)
{
	char mark[CLI_LIVE_TEXT_SIZE], address[CLI_FUNC_ADDRESS_SIZE];

	for (uint32_t card = 0; card < topology->num_cards; card++) {
		cli_live_link_mark(live, topology, card, mark);
		if (mark[0])
			printf("%s: %s\n", topology->cards[card].name, mark);
	}
	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		cli_func_address(function, address);
		if (cli_live_function_mark(live, function)[0])
			printf("%s %s: %s\n", function->side, address, cli_live_function_mark(live, function));
	}
	print_trunks(live, topology);
}
