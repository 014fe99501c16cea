/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules whose device is a link between switches. */
#include "fault_trunk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/base/args.h"
#include "sim/faults/inject/injector.h"

/* The names of a topology's trunks: of each, as the file has it, and reversed. */
struct trunk_list {
	char (*names)[PCIE_TRUNK_TEXT_SIZE];
	const char **pointers;
	size_t count;
};

static void trunk_list_free(struct trunk_list *list)
{
	free(list->names);
	free(list->pointers);
}

static int trunk_list_init(const struct pcie_topology *topology, struct trunk_list *ret_list)
{
	const struct pcie_network *network = &topology->network;

	*ret_list = (struct trunk_list){ .names = calloc(2 * network->num_links + 1, sizeof(*ret_list->names)),
					 .pointers = calloc(2 * network->num_links + 1, sizeof(char *)) };
	if (!ret_list->names || !ret_list->pointers)
		return -1;
	for (uint32_t i = 0; i < network->num_links; i++)
		for (int reversed = 0; pcie_link_is_trunk(&network->links[i]) && reversed < 2; reversed++) {
			pcie_trunk_format(topology, i, reversed, ret_list->names[ret_list->count]);
			ret_list->pointers[ret_list->count] = ret_list->names[ret_list->count];
			ret_list->count++;
		}
	return 0;
}

/* The rule names no trunk: which ones there are. */
static void explain_trunk(const struct pcie_topology *topology, const struct sim_rule *rule, const char *text,
			  char *error)
{
	struct trunk_list list;
	size_t used;

	if (trunk_list_init(topology, &list) < 0) {
		snprintf(error, CLI_FAULT_ERROR_SIZE, "fault '%s': no memory", text);
	} else if (list.count == 0) {
		snprintf(
			error, CLI_FAULT_ERROR_SIZE,
			"fault '%s': the topology has no link %s, and none between switches; bfsim devs lists its links",
			text, rule->device);
	} else {
		snprintf(error, CLI_FAULT_ERROR_SIZE,
			 "fault '%s': the topology has no link %s between switches%s; it has: ", text, rule->device,
			 cli_hint(rule->device, list.pointers, list.count).text);
		for (size_t i = 0; i < list.count; i += 2) {
			used = strlen(error);
			snprintf(error + used, CLI_FAULT_ERROR_SIZE - used, "%s%s", i ? ", " : "", list.names[i]);
		}
	}
	trunk_list_free(&list);
}

static bool names_any(const struct sim_rule *rule, const struct pcie_topology *topology)
{
	for (uint32_t i = 0; i < topology->network.num_links; i++)
		if (sim_rule_names_trunk(rule, topology, i))
			return true;
	return false;
}

int cli_fault_check_trunk(const struct sim_rule *rule, const struct pcie_topology *topology, const char *text,
			  char ret_error[CLI_FAULT_ERROR_SIZE])
{
	if (!(sim_rule_ops(rule) & SIM_OP_BIT(SIM_OP_NET_LINK))) {
		snprintf(ret_error, CLI_FAULT_ERROR_SIZE,
			 "fault '%s': %s is no device; a link between switches is named by rules for net.link only",
			 text, rule->device);
		return -1;
	}
	if (!names_any(rule, topology)) {
		explain_trunk(topology, rule, text, ret_error);
		return -1;
	}
	if (!(rule->where & SIM_WHERE_SIDE))
		return 0;
	snprintf(ret_error, CLI_FAULT_ERROR_SIZE,
		 "fault '%s': a link between switches is of no side; leave out side=%s", text, rule->side);
	return -1;
}
