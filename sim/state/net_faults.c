/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the network links of functions: which links a rule takes down, and when. */
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
static int open_outages(struct sim_fault_events *events, uint32_t hit, uint32_t id, const struct sim_rule *rule)
{
	const struct pcie_topology *topology = events->topology;
	uint64_t now_ns = sim_clock_now_ns(events->clock);
	uint64_t up_ns = add_saturating_u64(max_u64(rule->from_ns, now_ns), rule->duration_ns);
	int rc = 0;

	for (uint32_t i = 0; i < topology->num_functions && rc == 0; i++)
		if (follows(&topology->functions[i], &topology->functions[hit]))
			rc = sim_clock_net_outage_open(net_of(events), i, id, rule->from_ns, up_ns, now_ns);
	return rc;
}

void sim_fault_events_take_net_link_down(struct sim_fault_events *events, uint32_t function, uint32_t id,
					 const struct sim_rule *rule)
{
	if (open_outages(events, function, id, rule) < 0)
		sim_warn("fault %u finds no room: %d rules are at this network link already; it has no effect", id,
			 SIM_CLOCK_MAX_WINDOWS);
}

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
}

void sim_fault_events_announce_net_links(struct sim_fault_events *events)
{
	if (sim_injector_may_hit(events->faults, SIM_OP_NET_LINK))
		sim_plan_each(&events->shared->plan, announce_rule, events);
}

void sim_fault_events_close_removed_outages(struct sim_fault_events *events,
					    bool (*rule_exists)(const void *arg, uint32_t rule))
{
	sim_clock_net_outages_restore(net_of(events), (uint32_t)events->topology->num_functions, rule_exists, events);
}
