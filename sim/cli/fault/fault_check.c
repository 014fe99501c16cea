/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing a rule with a card. */
#include "fault_check.h"

#include <stdio.h>
#include <string.h>

#include "fault_trunk.h"
#include "sim/cli/base/args.h"
#include "sim/faults/inject/injector.h"

/* Collects the sides of a topology. */
struct side_list {
	const char *pattern;
	bool found;
	const char *names[16];
	size_t count;
	char text[256];
};

static void look_at_side(void *arg, const char *side)
{
	struct side_list *list = arg;
	size_t used = strlen(list->text);

	list->found |= sim_side_pattern_matches(list->pattern, side);
	if (list->count < sizeof(list->names) / sizeof(list->names[0]))
		list->names[list->count++] = side;
	snprintf(list->text + used, sizeof(list->text) - used, "%s%s", used ? ", " : "", side);
}

static int check_side(const struct pcie_topology *topology, const struct sim_rule *rule, const char *text, char *error)
{
	struct side_list list = { .pattern = rule->side };

	if (!(rule->where & SIM_WHERE_SIDE))
		return 0;
	pcie_topology_for_each_side(topology, look_at_side, &list);
	if (list.found)
		return 0;
	snprintf(error, CLI_FAULT_ERROR_SIZE, "fault '%s': the card has no side %s%s; its sides are: %s", text,
		 rule->side, cli_hint(rule->side, list.names, list.count).text, list.text);
	return -1;
}

/* A rule for machines, or for links to them, whose side is the name of one. */
static int check_machine(const struct pcie_topology *topology, const struct sim_rule *rule, const char *text,
			 char *error)
{
	char name[PCIE_SIDE_SIZE], names[256] = "";

	for (uint32_t i = 0; pcie_topology_get_machine(topology, i, name); i++) {
		size_t used = strlen(names);

		if (name[0] && (!(rule->where & SIM_WHERE_SIDE) || sim_side_pattern_matches(rule->side, name)))
			return 0;
		snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "", name);
	}
	snprintf(error, CLI_FAULT_ERROR_SIZE, "fault '%s': the session has no such machine; its machines are: %s", text,
		 names[0] ? names : "this one, without a name");
	return -1;
}

static bool is_for_machines(const struct sim_rule *rule)
{
	return (sim_rule_ops(rule) & ~(SIM_OP_BIT(SIM_OP_MACHINE) | SIM_OP_BIT(SIM_OP_MACHINE_LINK))) == 0;
}

static int check_device(const struct pcie_topology *topology, const struct sim_rule *rule, const char *text,
			char *error)
{
	char note[PCIE_NOTE_SIZE];
	bool has_note;

	if (!(rule->where & SIM_WHERE_DEVICE))
		return 0;
	if (strchr(rule->device, '/'))
		return cli_fault_check_trunk(rule, topology, text, error);
	for (size_t i = 0; i < topology->num_functions; i++)
		if (sim_device_pattern_matches(rule->device, &topology->functions[i]))
			return 0;
	has_note = pcie_topology_find_former(topology, rule->device, note);
	snprintf(error, CLI_FAULT_ERROR_SIZE, "fault '%s': the card has no device %s; bfsim devs lists them%s%s", text,
		 rule->device, has_note ? "; " : "", has_note ? note : "");
	return -1;
}

static int check_clock(enum sim_clock_mode mode, const struct sim_rule *rule, const char *text, char *error)
{
	if (mode != SIM_CLOCK_FUNCTIONAL || !sim_rule_slows_links(rule))
		return 0;
	snprintf(
		error, CLI_FAULT_ERROR_SIZE,
		"fault '%s': the session's clock is functional, which shows no slower link: --clock timed or virtual, of "
		"bfsim run or bfsim up",
		text);
	return -1;
}

int cli_fault_check(const struct sim_rule *rule, const struct pcie_topology *topology, enum sim_clock_mode mode,
		    char ret_error[CLI_FAULT_ERROR_SIZE])
{
	char text[SIM_RULE_TEXT_SIZE];

	sim_rule_format(rule, "FILE", text);
	if (is_for_machines(rule))
		return check_machine(topology, rule, text, ret_error);
	if (check_side(topology, rule, text, ret_error) < 0 || check_device(topology, rule, text, ret_error) < 0)
		return -1;
	return check_clock(mode, rule, text, ret_error);
}
