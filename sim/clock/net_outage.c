/* SPDX-License-Identifier: BSD-3-Clause */
/* The outages of network links, and their combination. */
#include "net_outage.h"

#include <errno.h>
#include <stddef.h>

#include "pcie_model/arith.h"

#define load(from)       atomic_load_explicit((from), memory_order_relaxed)
#define store(to, value) atomic_store_explicit((to), (value), memory_order_relaxed)

static uint32_t num_outages(const struct sim_clock_net_link *link)
{
	return min_u32(load(&link->end), SIM_CLOCK_MAX_WINDOWS);
}

/* The end first: a concurrent reader finds an outage that is over. */
static void close_outage(struct sim_clock_net_outage *outage)
{
	store(&outage->up_ns, 0);
	store(&outage->down_ns, 0);
	store(&outage->rule, 0);
}

/* The rule's own, else a free one, or NULL. */
static struct sim_clock_net_outage *find_outage(struct sim_clock_net_link *link, uint32_t rule, uint64_t now_ns)
{
	struct sim_clock_net_outage *free_outage = NULL;
	uint32_t end = num_outages(link);

	for (uint32_t i = 0; i < end; i++) {
		struct sim_clock_net_outage *outage = &link->outages[i];

		if (load(&outage->rule) == rule)
			return outage;
		if (!load(&outage->rule) || load(&outage->up_ns) <= now_ns)
			free_outage = outage;
	}
	if (free_outage || end == SIM_CLOCK_MAX_WINDOWS)
		return free_outage;
	store(&link->end, end + 1);
	return &link->outages[end];
}

int sim_clock_net_outage_open(struct sim_clock_net *net, uint32_t link, uint32_t rule, uint64_t down_ns, uint64_t up_ns,
			      uint64_t now_ns)
{
	struct sim_clock_net_outage *outage =
		link < SIM_CLOCK_MAX_NET_LINKS ? find_outage(&net->links[link], rule, now_ns) : NULL;

	if (!outage)
		return -ENOSPC;
	if (load(&outage->rule) == rule)
		return 0;
	close_outage(outage);
	store(&outage->down_ns, down_ns);
	store(&outage->up_ns, up_ns);
	store(&outage->rule, rule);
	atomic_store_explicit(&net->has_outages, 1, memory_order_release);
	return 0;
}

static void restore_link(struct sim_clock_net_link *link, bool (*rule_exists)(const void *arg, uint32_t rule),
			 const void *arg)
{
	uint32_t end = num_outages(link);

	for (uint32_t i = 0; i < end; i++)
		if (load(&link->outages[i].rule) && !rule_exists(arg, load(&link->outages[i].rule)))
			close_outage(&link->outages[i]);
	while (end > 0 && !load(&link->outages[end - 1].rule))
		end--;
	store(&link->end, end);
}

void sim_clock_net_outages_restore(struct sim_clock_net *net, uint32_t num_links,
				   bool (*rule_exists)(const void *arg, uint32_t rule), const void *arg)
{
	uint32_t has_outages = 0;

	if (!sim_clock_net_has_outages(net))
		return;
	for (uint32_t i = 0; i < min_u32(num_links, SIM_CLOCK_MAX_NET_LINKS); i++) {
		restore_link(&net->links[i], rule_exists, arg);
		has_outages |= num_outages(&net->links[i]);
	}
	store(&net->has_outages, has_outages > 0);
}

/* ---- combination ---- */

/* The end of the outage of the link that lasts longest at @at_ns; @at_ns = none. */
static uint64_t end_of_outage_ns(const struct sim_clock_net_link *link, uint64_t at_ns)
{
	uint32_t end = num_outages(link);
	uint64_t up_ns = at_ns;

	for (uint32_t i = 0; i < end; i++)
		if (load(&link->outages[i].down_ns) <= at_ns)
			up_ns = max_u64(up_ns, load(&link->outages[i].up_ns));
	return up_ns;
}

static uint64_t end_of_outages_ns(const struct sim_clock_net *net, const struct sim_clock_net_way *way, uint64_t at_ns)
{
	uint64_t up_ns = at_ns;

	for (uint32_t i = 0; i < way->num; i++)
		if (way->links[i] < SIM_CLOCK_MAX_NET_LINKS)
			up_ns = max_u64(up_ns, end_of_outage_ns(&net->links[way->links[i]], at_ns));
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
