/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/net_outage.h - outages of network links: of functions, and of trunks, which join two switches.
 *
 * Each rule has an outage of its own (net_window.h); a link is down while any of them says so.
 *
 * Each function has a link to the network, through its port. A packet between two functions passes both of their links, even
 * if they have one port, and the trunks between them.
 */
#ifndef SIM_NET_OUTAGE_H
#define SIM_NET_OUTAGE_H

#include "net_window.h"
#include "pcie_model/topology/topology.h"

/* The links that packets between two functions pass, there and back. */
struct sim_clock_net_way {
	uint32_t num;
	uint32_t links[2 + PCIE_MAX_TRUNKS_BETWEEN];
};

/* Let @link be down from @down_ns on, before @up_ns, by @rule, which has no outage there yet; else nothing
 * changes. @now_ns: what is over makes room. Returns 0, or -ENOSPC: SIM_CLOCK_MAX_WINDOWS rules are at the link, or its id is
 * above those for which there is room. */
int sim_clock_net_outage_open(struct sim_clock_net *net, uint32_t link, uint32_t rule, uint64_t down_ns, uint64_t up_ns,
			      uint64_t now_ns);

/* If the link is down at @at_ns: when it is up again, by what is known; else 0. */
uint64_t sim_clock_net_link_up_ns(const struct sim_clock_net *net, uint32_t link, uint64_t at_ns);

/* Find the links between the functions @a and @b. */
void sim_clock_net_find_way(const struct pcie_topology *topology, uint32_t a, uint32_t b,
			    struct sim_clock_net_way *ret_way);

/* When all of them are up again. */
uint64_t sim_clock_net_way_up_ns(const struct sim_clock_net *net, const struct sim_clock_net_way *way, uint64_t at_ns);

/* Whether the two have to be asked. */
static inline bool sim_clock_net_has_outages(const struct sim_clock_net *net)
{
	return __builtin_expect(atomic_load_explicit(&net->has_outages, memory_order_relaxed) != 0, 0);
}

#endif
