/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of network links: which links a rule takes down, and when. */
#include "fault_events.h"
#include "pcie_model/arith.h"
#include "sim/base/log.h"
#include "sim/clock/net_outage.h"

/* Limits that count what was evaluated: whether such a rule fires is known when it begins. */
#define COUNTS (SIM_WHEN_SKIP | SIM_WHEN_NTH | SIM_WHEN_EVERY | SIM_WHEN_CHANCE | SIM_WHEN_TIMES)

static struct sim_clock_net *net_of(const struct sim_fault_events *events)
{
	return &events->shared->clock.net;
}

/* The link of the DPU's PF is its port's, and the other functions of the port follow it. A PF's VFs and SFs follow the PF. */
static bool follows(const struct pcie_function *function, const struct pcie_function *hit)
{
	bool is_port = hit->type == PCIE_FUNC_PF && pcie_side_is_dpu(hit->side);

	return function == hit || function->parent == hit->id || (is_port && function->port == hit->port);
}

/* Returns 0, or -ENOSPC: a link has no room for the rule. What begins now does so before whoever waits for it goes on: at the time
 * that the clock shows, which may be before the begin that the plan counts. */
static int open_outages(struct sim_fault_events *events, uint32_t link, uint32_t id, const struct sim_rule *rule)
{
	const struct pcie_topology *topology = events->topology;
	uint64_t now_ns = sim_clock_now_ns(events->clock);
	uint64_t up_ns = add_saturating_u64(max_u64(rule->from_ns, now_ns), rule->duration_ns);
	int rc = 0;

	if (link >= topology->num_functions)
		return sim_clock_net_outage_open(net_of(events), link, id, rule->from_ns, up_ns, now_ns);
	for (uint32_t i = 0; i < topology->num_functions && rc == 0; i++)
		if (follows(&topology->functions[i], &topology->functions[link]))
			rc = sim_clock_net_outage_open(net_of(events), i, id, rule->from_ns, up_ns, now_ns);
	return rc;
}

void sim_fault_events_take_net_link_down(struct sim_fault_events *events, uint32_t link, uint32_t id,
					 const struct sim_rule *rule)
{
	if (open_outages(events, link, id, rule) == 0)
		return;
	if (link >= SIM_CLOCK_MAX_NET_LINKS)
		sim_warn(
			"fault %u has no effect: functions and links of the topology are more than %d, and the link is behind them",
			id, SIM_CLOCK_MAX_NET_LINKS);
	else
		sim_warn("fault %u finds no room: %d rules are at this network link already; it has no effect", id,
			 SIM_CLOCK_MAX_WINDOWS);
}

/* ---- trunks ---- */

/* A rule begins: the argument of the injector's callback. */
struct trunk_hit {
	struct sim_fault_events *events;
	uint32_t id;
};

static void on_trunk_down(void *arg, uint32_t id, const struct sim_rule *rule, uint64_t delay_ns)
{
	const struct trunk_hit *hit = arg;

	(void)delay_ns; /* an outage has none */
	sim_fault_events_take_net_link_down(hit->events, hit->id, id, rule);
}

static void inject_into_trunk(struct sim_fault_events *events, uint32_t link, uint64_t begin_ns)
{
	struct trunk_hit hit = { events, pcie_topology_link_id(events->topology, link) };
	const struct sim_fault_site site = { .op = SIM_OP_NET_LINK,
					     .function = hit.id,
					     .since_ns = begin_ns,
					     .upto_ns = begin_ns,
					     .now_ns = events->injected_ns,
					     .on_fire = on_trunk_down,
					     .arg = &hit };
	char name[PCIE_TRUNK_TEXT_SIZE];
	struct sim_fault_hit fault_hit;

	if (!sim_injector_evaluate(events->faults, &site, &fault_hit))
		return;
	pcie_trunk_format(events->topology, link, false, name);
	sim_info("fault %u hits net.link %s", fault_hit.rules[0], name);
}

void sim_fault_events_inject_trunks(struct sim_fault_events *events, uint64_t begin_ns)
{
	const struct pcie_network *network = &events->topology->network;

	for (uint32_t i = 0; sim_injector_may_hit(events->faults, SIM_OP_NET_LINK) && i < network->num_links; i++)
		if (pcie_link_is_trunk(&network->links[i]))
			inject_into_trunk(events, i, begin_ns);
}

/* ---- outages that begin later ---- */

static bool is_announced(const struct sim_rule *rule)
{
	return (sim_rule_ops(rule) & SIM_OP_BIT(SIM_OP_NET_LINK)) && !(rule->when & (SIM_WHEN_AFTER | COUNTS));
}

static bool is_for(const struct sim_rule *rule, const struct pcie_function *function)
{
	return (!(rule->where & SIM_WHERE_SIDE) || sim_side_pattern_matches(rule->side, function->side)) &&
	       (!(rule->where & SIM_WHERE_DEVICE) || sim_device_pattern_matches(rule->device, function));
}

/* A link without room gets the outage when it begins. */
static void announce_rule(void *arg, const struct sim_plan_rule *plan_rule)
{
	const struct sim_rule *rule = &plan_rule->rule;
	struct sim_fault_events *events = arg;
	uint64_t begin_ns = max_u64(rule->from_ns, plan_rule->added_ns);

	if (!is_announced(rule) || begin_ns <= events->injected_ns || begin_ns >= rule->until_ns)
		return;
	for (uint32_t i = 0; i < events->topology->num_functions; i++)
		if (is_for(rule, &events->topology->functions[i]))
			open_outages(events, i, plan_rule->id, rule);
	if (rule->where & SIM_WHERE_SIDE) /* a trunk has none */
		return;
	for (uint32_t i = 0; i < events->topology->network.num_links; i++)
		if (sim_rule_names_trunk(rule, events->topology, i))
			open_outages(events, pcie_topology_link_id(events->topology, i), plan_rule->id, rule);
}

void sim_fault_events_announce_net_links(struct sim_fault_events *events)
{
	if (sim_injector_may_hit(events->faults, SIM_OP_NET_LINK))
		sim_plan_each(&events->shared->plan, announce_rule, events);
}

void sim_fault_events_close_removed_outages(struct sim_fault_events *events,
					    bool (*rule_exists)(const void *arg, uint32_t rule))
{
	sim_clock_net_outages_restore(net_of(events), pcie_topology_num_link_ids(events->topology), rule_exists,
				      events);
}
