/* SPDX-License-Identifier: BSD-3-Clause */
/* Changing the plan of this machine's session. */
#include "fault_change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/shell_quote.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/session_client.h"
#include "sim/faults/inject/injector.h"
#include "sim/state/rule_noop.h"

/* ---- a rule that has to change something now ---- */

static bool names(const struct sim_rule *rule, const struct pcie_function *function)
{
	return (!(rule->where & SIM_WHERE_SIDE) || sim_side_pattern_matches(rule->side, function->side)) &&
	       sim_device_pattern_matches(rule->device, function);
}

bool cli_fault_has_device(const struct pcie_topology *topology, const char *dir, const struct sim_rule *rule)
{
	bool found = strchr(rule->device, '/'); /* a link between switches: cli_fault_check() has names of those */
	char *quoted;

	for (size_t i = 0; i < topology->num_functions && !found; i++)
		found = names(rule, &topology->functions[i]);
	if (found)
		return true;
	quoted = sim_shell_quote(dir);
	cli_fail("there is no device %s in session %s; bfsim devs --session %s lists them", rule->device, dir,
		 quoted ? quoted : dir);
	free(quoted);
	return false;
}

/* Returns true, with a message, when the rule would change none of the functions that it names. */
static bool is_noop_everywhere(const struct sim_rule *rule, const struct sim_function_table *functions,
			       const struct pcie_topology *topology)
{
	const char *reason = NULL;

	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (names(rule, &topology->functions[i]) && !sim_rule_is_noop(rule, functions, topology, i, &reason))
			return false;
	if (reason)
		cli_fail("nothing was done: %s: %s already", rule->device, reason);
	return reason;
}

/* Check the device, and let the rule end after its time: rules take absolute session time. */
static int prepare_rule(const struct cli_fault_change *change, struct sim_rule *rule, const char *dir,
			const struct sim_shared_state *state)
{
	struct pcie_topology *topology = cli_topology_of_session(dir);
	int rc = 0;

	if (!topology)
		return -1;
	if (change->refuses_noop &&
	    (!cli_fault_has_device(topology, dir, rule) || is_noop_everywhere(rule, &state->functions, topology)))
		rc = -1;
	pcie_topology_destroy(topology);
	if (change->lasts_ns > 0) {
		rule->when |= SIM_WHEN_UNTIL;
		rule->until_ns = sim_shared_state_now_ns(state) + change->lasts_ns;
	}
	return rc;
}

/* ---- changes ---- */

static int report(const struct cli_fault_change *change, const char *dir, int rc)
{
	if (rc == -ENOSPC)
		return cli_error("the plan of session %s is full: %d rules, or %d delays of files", dir,
				 SIM_PLAN_MAX_RULES, SIM_DELAYS_MAX);
	if (rc == -ENOENT && change->change == SIM_FAULT_REMOVE)
		return cli_error("fault rm: there is no rule %u; bfsim fault list shows their ids", change->id);
	return rc < 0 ? cli_session_report_error(dir, rc) : 0;
}

static int add(const struct cli_fault_change *change, const struct sim_delays *delays, int dir_fd, const char *dir,
	       uint32_t *ret_id)
{
	struct sim_rule rule = change->rule;
	struct sim_segment state;
	int rc;

	if (change->refuses_noop || change->lasts_ns > 0) {
		if (cli_session_map_state(dir_fd, dir, &state) < 0)
			return -1;
		rc = prepare_rule(change, &rule, dir, sim_shared_state_of(&state));
		sim_segment_unmap(&state);
		if (rc < 0)
			return rc;
	}
	return report(change, dir, sim_control_add_fault(dir_fd, &rule, delays, ret_id));
}

int cli_fault_apply(const struct cli_fault_change *change, const struct sim_delays *delays, int dir_fd, const char *dir,
		    uint32_t *ret_id)
{
	*ret_id = 0;
	if (change->change == SIM_FAULT_ADD)
		return add(change, delays, dir_fd, dir, ret_id);
	return report(
		change, dir,
		sim_control_change_faults(dir_fd, (enum sim_fault_change)change->change, change->id, change->seed));
}

/* ---- the rules ---- */

static void add_rule(void *list, const struct sim_plan_rule *rule)
{
	json_object *entry = json_object_new_object();

	cli_json_add_number(entry, "id", rule->id);
	cli_json_add_number(entry, "matched", rule->matched);
	cli_json_add_number(entry, "fired", rule->fired);
	cli_json_add_text(entry, "rule", rule->text);
	json_object_array_add(list, entry);
}

json_object *cli_fault_rules(int dir_fd, const char *dir)
{
	struct sim_segment state;
	json_object *list;

	if (cli_session_map_state(dir_fd, dir, &state) < 0)
		return NULL;
	list = json_object_new_array();
	sim_plan_each(&sim_shared_state_of(&state)->plan, add_rule, list);
	sim_segment_unmap(&state);
	return list;
}
