/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/net_slow.h - network links that rules make slow, in the model of the network (pcie_model/net.h).
 *
 * A link's delay adds to its latency, in each direction, and its rate limits its stations. Of several rules the longest delay
 * and the lowest rate count. A request sees the links as they are when the card has it.
 */
#ifndef SIM_NET_SLOW_H
#define SIM_NET_SLOW_H

#include "net_window.h"
#include "pcie_model/topology/topology.h"

/* What rules do to a link. */
struct sim_clock_net_slow {
	uint64_t delay_ns; /* added to its latency */
	uint32_t rate;     /* bytes in a second at most; 0 = no limit */
};

/* Let @link be slow by a rule. Nothing changes if it has such a window there already, or neither delay nor rate. Returns 0, or
 * -ENOSPC as sim_clock_net_outage_open(). */
int sim_clock_net_slow_open(struct sim_clock_net *net, uint32_t link, const struct sim_clock_net_change *change,
			    uint64_t now_ns);

/* The lower one of two rates, of which 0 is none. */
uint32_t sim_clock_net_lower_rate(uint32_t a, uint32_t b);

/* How slow the link is at @at_ns. */
struct sim_clock_net_slow sim_clock_net_slow_at(const struct sim_clock_net *net, uint32_t link, uint64_t at_ns);

/* Change the hops of @path, between these functions, to what they are at @at_ns. */
void sim_clock_net_slow_path(const struct sim_clock_net *net, const struct pcie_topology *topology, uint32_t from,
			     uint32_t to, uint64_t at_ns, struct pcie_net_path *path);

/* Whether that may change anything. */
static inline bool sim_clock_net_has_slow_links(const struct sim_clock_net *net)
{
	return __builtin_expect(atomic_load_explicit(&net->has_slow_links, memory_order_relaxed) != 0, 0);
}

#endif
