/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a rule has to be known. */
#include "fault_targets.h"

#include <string.h>

#include "sim/cli/base/cli.h"
#include "sim/faults/inject/injector.h"

#define GATEWAY_PROGRAM "bfsim-gateway"
#define FOR_ALL         (SIM_OP_BIT(SIM_OP_NET_LINK) | SIM_OP_BIT(SIM_OP_MACHINE_LINK))

/* "*" with a delay is for operations of programs, and for links as well. */
static bool is_for_all(const struct sim_rule *rule)
{
	sim_bits ops = sim_rule_ops(rule);

	return ops & FOR_ALL && !(rule->actions & SIM_ACT_BIT(SIM_ACT_DELAY) && ops & ~FOR_ALL);
}

static bool is_of_this_machine(const struct sim_rule *rule)
{
	return sim_rule_ops(rule) == SIM_OP_BIT(SIM_OP_DAEMON) || rule->where & SIM_WHERE_PID ||
	       (rule->where & SIM_WHERE_PROGRAM && strcmp(rule->program, GATEWAY_PROGRAM) == 0);
}

static bool names(const struct sim_rule *rule, const struct pcie_function *function)
{
	return (!(rule->where & SIM_WHERE_SIDE) || sim_side_pattern_matches(rule->side, function->side)) &&
	       (!(rule->where & SIM_WHERE_DEVICE) || sim_device_pattern_matches(rule->device, function));
}

/* The number of the side's machine, or of the machine of that name; count = there is none. */
static size_t find(const struct cli_machines *machines, const char *name)
{
	const struct cli_machine *machine = cli_machines_find(machines, name);

	if (!machine)
		machine = cli_machines_of_side(machines, name);
	return machine ? (size_t)(machine - machines->list) : machines->count;
}

static void add_named(const struct cli_machines *machines, const struct pcie_topology *topology,
		      const struct sim_rule *rule, struct cli_fault_targets *targets)
{
	for (size_t i = 0; i < topology->num_functions; i++) {
		size_t number = find(machines, topology->functions[i].side);

		if (number < machines->count && names(rule, &topology->functions[i]))
			targets->list[number] = true;
	}
}

/* Machines whose name the rule's side is. */
static void add_machines(const struct cli_machines *machines, const struct sim_rule *rule,
			 struct cli_fault_targets *targets)
{
	for (size_t i = 0; i < machines->count; i++)
		if (!(rule->where & SIM_WHERE_SIDE) || sim_side_pattern_matches(rule->side, machines->list[i].name))
			targets->list[i] = true;
}

static void add_all(const struct cli_machines *machines, struct cli_fault_targets *targets)
{
	for (size_t i = 0; i < machines->count; i++)
		targets->list[i] = true;
}

int cli_fault_targets_find(const struct cli_machines *machines, const struct pcie_topology *topology,
			   const struct sim_rule *rule, const char *on, struct cli_fault_targets *ret_targets)
{
	const uint32_t names_place = SIM_WHERE_SIDE | SIM_WHERE_DEVICE;
	struct cli_fault_targets targets = { .is_named = on || rule->where & names_place };

	if (machines->count > sizeof(targets.list) / sizeof(targets.list[0]))
		return cli_error("the session has more machines than rules can be sent to");
	if (on && find(machines, on) == machines->count)
		return cli_error("--on %s: the session has no such machine; see bfsim ps", on);
	if (on)
		targets.list[find(machines, on)] = true;
	else if (is_for_all(rule))
		add_all(machines, &targets);
	else if (sim_rule_ops(rule) & SIM_OP_BIT(SIM_OP_MACHINE))
		add_machines(machines, rule, &targets);
	else if (rule->where & names_place && !(rule->where & SIM_WHERE_PID))
		add_named(machines, topology, rule, &targets);
	else if (machines->count > 0 && is_of_this_machine(rule))
		targets.list[find(machines, machines->self)] = true;
	else
		add_all(machines, &targets);
	if (!on && is_for_all(rule))
		targets.is_named = false;
	*ret_targets = targets;
	return 0;
}
