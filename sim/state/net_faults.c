/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of network links: which links a rule takes down or makes slow, and when. */
#include "fault_events.h"
#include "pcie_model/arith.h"
#include "sim/base/log.h"
#include "sim/clock/net_outage.h"
#include "sim/clock/net_slow.h"

#define DOES(act) SIM_ACT_BIT(SIM_ACT_##act)

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
static int open_windows_of_link(struct sim_fault_events *events, uint32_t link, uint32_t id,
				const struct sim_rule *rule, uint64_t delay_ns)
{
	uint64_t now_ns = sim_clock_now_ns(events->clock);
	uint64_t up_ns = add_saturating_u64(max_u64(rule->from_ns, now_ns), rule->duration_ns);
	const struct sim_clock_net_change slow = { .rule = id,
						   .rate = rule->actions & DOES(RATE) ? rule->rate_bytes : 0,
						   .delay_ns = rule->actions & DOES(DELAY) ? delay_ns : 0,
						   .begin_ns = rule->from_ns,
						   .end_ns = rule->until_ns };
	int rc = 0;

	if (rule->actions & DOES(DOWN))
		rc = sim_clock_net_outage_open(net_of(events), link, id, rule->from_ns, up_ns, now_ns);
	return rc < 0 ? rc : sim_clock_net_slow_open(net_of(events), link, &slow, now_ns);
}

static int open_windows(struct sim_fault_events *events, uint32_t link, uint32_t id, const struct sim_rule *rule,
			uint64_t delay_ns)
{
	const struct pcie_topology *topology = events->topology;
	int rc = 0;

	if (link >= topology->num_functions)
		return open_windows_of_link(events, link, id, rule, delay_ns);
	for (uint32_t i = 0; i < topology->num_functions && rc == 0; i++)
		if (follows(&topology->functions[i], &topology->functions[link]))
			rc = open_windows_of_link(events, i, id, rule, delay_ns);
	return rc;
}

void sim_fault_events_change_net_link(struct sim_fault_events *events, uint32_t link, uint32_t id,
				      const struct sim_rule *rule, uint64_t delay_ns)
{
	if (open_windows(events, link, id, rule, delay_ns) == 0)
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

static void on_trunk_hit(void *arg, uint32_t id, const struct sim_rule *rule, uint64_t delay_ns)
{
	const struct trunk_hit *hit = arg;

	sim_fault_events_change_net_link(hit->events, hit->id, id, rule, delay_ns);
}

static void inject_into_trunk(struct sim_fault_events *events, uint32_t link, uint64_t begin_ns)
{
	struct trunk_hit hit = { events, pcie_topology_link_id(events->topology, link) };
	const struct sim_fault_site site = { .op = SIM_OP_NET_LINK,
					     .function = hit.id,
					     .since_ns = begin_ns,
					     .upto_ns = begin_ns,
					     .now_ns = events->injected_ns,
					     .on_fire = on_trunk_hit,
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

/* ---- rules that begin later ---- */

static bool is_announced(const struct sim_rule *rule)
{
	return (sim_rule_ops(rule) & SIM_OP_BIT(SIM_OP_NET_LINK)) && !(rule->when & (SIM_WHEN_AFTER | COUNTS)) &&
	       rule->delay_kind <= SIM_DELAY_FIXED; /* others are drawn when the rule begins */
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
			open_windows(events, i, plan_rule->id, rule, rule->delay_a);
	if (rule->where & SIM_WHERE_SIDE) /* a trunk has none */
		return;
	for (uint32_t i = 0; i < events->topology->network.num_links; i++)
		if (sim_rule_names_trunk(rule, events->topology, i))
			open_windows(events, pcie_topology_link_id(events->topology, i), plan_rule->id, rule,
				     rule->delay_a);
}

void sim_fault_events_announce_net_links(struct sim_fault_events *events)
{
	if (sim_injector_may_hit(events->faults, SIM_OP_NET_LINK))
		sim_plan_each(&events->shared->plan, announce_rule, events);
}

void sim_fault_events_restore_net_links(struct sim_fault_events *events,
					bool (*rule_exists)(const void *arg, uint32_t rule))
{
	sim_clock_net_restore(net_of(events), pcie_topology_num_link_ids(events->topology), rule_exists, events);
}
