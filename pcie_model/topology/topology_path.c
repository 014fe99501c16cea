/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths through the network: over the fewest switches, and of those by the links that the file has first. */
#include <errno.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "topology.h"

#define MIB (UINT64_C(1) << 20)

static const struct pcie_card *card_of(const struct pcie_topology *topology, const struct pcie_function *function)
{
	return &topology->cards[function->card];
}

/* The rate of the function's port, unless the link has another: no more than a host's link to the card gives. */
static uint64_t port_rate_bps(const struct pcie_topology *topology, const struct pcie_function *function,
			      uint64_t link_rate_bps)
{
	uint64_t rate_bps = link_rate_bps > 0 ? link_rate_bps : function->rdma_rate_bps;
	struct pcie_bandwidth bandwidth;

	if (pcie_side_is_dpu(function->side))
		return rate_bps;
	pcie_link_bandwidth(&card_of(topology, function)->link, MIB, &bandwidth);
	return min_u64(rate_bps, min_u64(bandwidth.read_bps, bandwidth.write_bps));
}

/* ---- without a description ---- */

static void find_default(const struct pcie_topology *topology, const struct pcie_function *from,
			 const struct pcie_function *to, struct pcie_net_path *ret_path)
{
	pcie_net_default_path(&card_of(topology, from)->profile->rdma_timing,
			      &card_of(topology, to)->profile->rdma_timing, 2 * from->port,
			      port_rate_bps(topology, from, 0), 2 * to->port + 1, port_rate_bps(topology, to, 0),
			      ret_path);
	ret_path->mtu_bytes = min_u32(from->rdma_mtu_bytes, to->rdma_mtu_bytes);
}

/* ---- in the network that the file describes ---- */

/* One direction of a link: from its end @end to the other. */
struct step {
	uint32_t link;
	uint32_t end;
};

static const struct pcie_link_end *far_end(const struct pcie_network *network, struct step step)
{
	return &network->links[step.link].ends[!step.end];
}

static bool find_port_link(const struct pcie_network *network, uint32_t port, struct step *ret_out)
{
	for (uint32_t i = 0; i < network->num_links; i++) {
		for (uint32_t end = 0; end < 2; end++) {
			if (!network->links[i].ends[end].is_switch && network->links[i].ends[end].index == port) {
				*ret_out = (struct step){ i, end };
				return true;
			}
		}
	}
	return false;
}

/* Of a search from a switch: the switches that were reached, in order, and the step that led to each. */
struct search {
	uint32_t order[PCIE_NET_MAX_SWITCHES], num;
	bool is_known[PCIE_NET_MAX_SWITCHES];
	struct step via[PCIE_NET_MAX_SWITCHES];
};

static void visit(struct search *search, uint32_t number, struct step via)
{
	if (search->is_known[number])
		return;
	search->is_known[number] = true;
	search->via[number] = via;
	search->order[search->num++] = number;
}

static void search_from(const struct pcie_network *network, uint32_t first, struct step via, struct search *search)
{
	search->num = 0;
	memset(search->is_known, 0, sizeof(search->is_known));
	visit(search, first, via);
	for (uint32_t at = 0; at < search->num; at++) {
		for (uint32_t i = 0; i < network->num_links; i++) {
			const struct pcie_link_end *ends = network->links[i].ends;

			if (!ends[0].is_switch || !ends[1].is_switch)
				continue;
			if (ends[0].index == search->order[at])
				visit(search, ends[1].index, (struct step){ i, 0 });
			else if (ends[1].index == search->order[at])
				visit(search, ends[0].index, (struct step){ i, 1 });
		}
	}
}

/* The steps from port to port. Returns their number; 0 = there is no path, or a longer one. */
static uint32_t find_steps(const struct pcie_network *network, uint32_t from, uint32_t to,
			   struct step steps[PCIE_NET_MAX_HOPS])
{
	struct search search;
	struct step out, in;
	const struct pcie_link_end *near_to;
	uint32_t num = 1, at;

	if (!find_port_link(network, from, &out) || !find_port_link(network, to, &in))
		return 0;
	steps[0] = out;
	if (out.link == in.link)
		return 1;
	near_to = far_end(network, in);
	if (!far_end(network, out)->is_switch || !near_to->is_switch)
		return 0;
	search_from(network, far_end(network, out)->index, out, &search);
	if (!search.is_known[near_to->index])
		return 0;
	for (at = near_to->index; search.via[at].link != out.link; num++)
		at = network->links[search.via[at].link].ends[search.via[at].end].index;
	if (num + 1 > PCIE_NET_MAX_HOPS)
		return 0;
	steps[num] = (struct step){ in.link, !in.end };
	for (uint32_t i = num - 1, number = near_to->index; i > 0; i--) {
		steps[i] = search.via[number];
		number = network->links[steps[i].link].ends[steps[i].end].index;
	}
	return num + 1;
}

static uint64_t rate_at_switch(const struct pcie_network *network, const struct pcie_link_end *end, uint64_t rate_bps)
{
	uint64_t limit_bps = end->is_switch ? network->switches[end->index].rate_bps : 0;

	if (limit_bps == 0)
		return rate_bps;
	return rate_bps == 0 ? limit_bps : min_u64(rate_bps, limit_bps);
}

/* Append a step. @from and @to are the functions at the ends of the path. */
static void add_step(const struct pcie_topology *topology, struct step step, const struct pcie_function *from,
		     const struct pcie_function *to, struct pcie_net_path *path)
{
	const struct pcie_network *network = &topology->network;
	const struct pcie_net_link *link = &network->links[step.link];
	const struct pcie_link_end *near = &link->ends[step.end], *far = far_end(network, step);
	uint64_t latency_ps = link->latency_ps, rate_bps = link->rate_bps;

	rate_bps = rate_at_switch(network, near, rate_bps);
	rate_bps = rate_at_switch(network, far, rate_bps);
	if (far->is_switch)
		latency_ps = add_saturating_u64(latency_ps, network->switches[far->index].latency_ps);
	if (!near->is_switch) {
		rate_bps = port_rate_bps(topology, from, rate_bps);
		latency_ps = add_saturating_u64(latency_ps, card_of(topology, from)->profile->rdma_timing.port_ps);
	}
	if (!far->is_switch) {
		rate_bps = port_rate_bps(topology, to, rate_bps);
		latency_ps = add_saturating_u64(latency_ps, card_of(topology, to)->profile->rdma_timing.port_ps);
	}
	if (rate_bps == 0) /* between two switches, neither of which has a rate */
		rate_bps = max_u64(from->rdma_rate_bps, to->rdma_rate_bps);
	if (link->mtu_bytes > 0)
		path->mtu_bytes = min_u32(path->mtu_bytes, link->mtu_bytes);
	else if (!near->is_switch || !far->is_switch)
		path->mtu_bytes = min_u32(path->mtu_bytes, near->is_switch ? to->rdma_mtu_bytes : from->rdma_mtu_bytes);
	pcie_net_path_add(path, 2 * step.link + step.end, rate_bps, latency_ps, link->loss_ppb);
}

int pcie_topology_find_path(const struct pcie_topology *topology, const struct pcie_function *from,
			    const struct pcie_function *to, struct pcie_net_path *ret_path)
{
	struct step steps[PCIE_NET_MAX_HOPS];
	uint32_t num_steps;

	if (from->link_layer != to->link_layer)
		return -ENETUNREACH;
	*ret_path = (struct pcie_net_path){ .mtu_bytes = PCIE_NET_MAX_MTU };
	if (from->port == to->port) {
		pcie_net_loop_path(&card_of(topology, from)->profile->rdma_timing, 2 * PCIE_NET_MAX_LINKS + from->port,
				   ret_path);
		ret_path->mtu_bytes = min_u32(from->rdma_mtu_bytes, to->rdma_mtu_bytes);
		return 0;
	}
	if (!topology->network.is_given) {
		find_default(topology, from, to, ret_path);
		return 0;
	}
	num_steps = find_steps(&topology->network, from->port, to->port, steps);
	for (uint32_t i = 0; i < num_steps; i++)
		add_step(topology, steps[i], from, to, ret_path);
	return num_steps > 0 ? 0 : -ENETUNREACH;
}
