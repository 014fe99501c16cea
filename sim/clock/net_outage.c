/* SPDX-License-Identifier: BSD-3-Clause */
/* The outages of network links, and their combination. */
#include "net_outage.h"

#include <errno.h>

#include "pcie_model/arith.h"

#define load(from) atomic_load_explicit((from), memory_order_relaxed)

int sim_clock_net_outage_open(struct sim_clock_net *net, uint32_t link, uint32_t rule, uint64_t down_ns, uint64_t up_ns,
			      uint64_t now_ns)
{
	const struct sim_clock_net_change change = { .rule = rule, .begin_ns = down_ns, .end_ns = up_ns };
	int rc = link < SIM_CLOCK_MAX_NET_LINKS ?
			 sim_clock_net_window_open(&net->links[link].outages, &change, now_ns) :
			 -ENOSPC;

	if (rc == 0)
		atomic_store_explicit(&net->has_outages, 1, memory_order_release);
	return rc;
}

/* ---- combination ---- */

/* The end of the outage of the link that lasts longest at @at_ns; @at_ns = none. */
static uint64_t end_of_outage_ns(const struct sim_clock_net_windows *outages, uint64_t at_ns)
{
	uint32_t end = sim_clock_net_num_windows(outages);
	uint64_t up_ns = at_ns;

	for (uint32_t i = 0; i < end; i++)
		if (load(&outages->entries[i].begin_ns) <= at_ns)
			up_ns = max_u64(up_ns, load(&outages->entries[i].end_ns));
	return up_ns;
}

static uint64_t end_of_outages_ns(const struct sim_clock_net *net, const struct sim_clock_net_way *way, uint64_t at_ns)
{
	uint64_t up_ns = at_ns;

	for (uint32_t i = 0; i < way->num; i++)
		if (way->links[i] < SIM_CLOCK_MAX_NET_LINKS)
			up_ns = max_u64(up_ns, end_of_outage_ns(&net->links[way->links[i]].outages, at_ns));
	return up_ns;
}

/* Outages that overlap follow each other: no more steps than there are. */
uint64_t sim_clock_net_way_up_ns(const struct sim_clock_net *net, const struct sim_clock_net_way *way, uint64_t at_ns)
{
	uint64_t up_ns = at_ns;

	if (!sim_clock_net_has_outages(net))
		return 0;
	for (uint32_t i = 0; i < way->num * SIM_CLOCK_MAX_WINDOWS; i++) {
		uint64_t next_ns = end_of_outages_ns(net, way, up_ns);

		if (next_ns == up_ns)
			break;
		up_ns = next_ns;
	}
	return up_ns > at_ns ? up_ns : 0;
}

uint64_t sim_clock_net_link_up_ns(const struct sim_clock_net *net, uint32_t link, uint64_t at_ns)
{
	return sim_clock_net_way_up_ns(net, &(const struct sim_clock_net_way){ 1, { link } }, at_ns);
}

void sim_clock_net_find_way(const struct pcie_topology *topology, uint32_t a, uint32_t b,
			    struct sim_clock_net_way *ret_way)
{
	ret_way->num = 0;
	if (a >= topology->num_functions || b >= topology->num_functions)
		return;
	ret_way->links[0] = a;
	ret_way->links[1] = b;
	ret_way->num = 2 + pcie_topology_find_trunks(topology, &topology->functions[a], &topology->functions[b],
						     ret_way->links + 2);
}
