/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparing a scenario with its card, its folder and this machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case.h"
#include "scenario.h"
#include "scenario_programs.h"
#include "sim/base/file.h"
#include "sim/base/last_error.h"
#include "sim/check/rules.h"
#include "sim/cli/abi/generation.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/fault/fault_check.h"
#include "sim/cli/run/start_order.h"
#include "sim/control/side.h"
#include "sim/faults/plan/plan_file.h"

#define MAX_TOPOLOGY_BYTES (1u << 20)

#define fail_at(scenario, line, ...) cli_scenario_fail((scenario)->path, (line), __VA_ARGS__)

/* ---- the card ---- */

static struct pcie_topology *read_topology(const struct cli_scenario *scenario)
{
	const char *built_in = pcie_topology_default_yaml();
	char error[PCIE_ERROR_SIZE], *path, *text = NULL;
	struct pcie_topology *topology = NULL;
	struct stat info;
	size_t len;
	int rc;

	if (!scenario->topology)
		return pcie_topology_parse("built-in topology", built_in, strlen(built_in), &topology, error) == 0 ?
			       topology :
			       NULL;
	path = cli_scenario_file_path(scenario, scenario->topology);
	if (!path)
		return NULL;
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
		rc = -EINVAL;
	else
		rc = sim_file_read(path, MAX_TOPOLOGY_BYTES, &text, &len);
	if (rc < 0)
		fail_at(scenario, scenario->lines.topology, "topology: %s: %s", path,
			rc == -EINVAL ? "not a file" : strerror(-rc));
	else if (pcie_topology_parse(path, text, len, &topology, error) < 0)
		fail_at(scenario, scenario->lines.topology, "topology: %s", error);
	free(text);
	free(path);
	return topology;
}

static int check_sides(const struct cli_scenario *scenario, const struct pcie_topology *topology)
{
	const char *where = scenario->topology ? scenario->topology : "the built-in topology";
	int rc = 0;

	for (size_t i = 0; i < scenario->num_sides; i++) {
		if (i > 0 && strcmp(scenario->sides[i].name, scenario->sides[i - 1].name) == 0)
			continue; /* a list */
		if (sim_side_check(topology, where, scenario->sides[i].name) < 0)
			rc = fail_at(scenario, scenario->sides[i].line, "sides: %s", sim_last_error());
	}
	return rc;
}

/* ---- faults ---- */

static int check_rule(const struct cli_scenario *scenario, const struct pcie_topology *topology,
		      enum sim_clock_mode mode, const struct sim_rule *rule, size_t line)
{
	char error[CLI_FAULT_ERROR_SIZE];

	if (!topology || cli_fault_check(rule, topology, mode, error) == 0)
		return 0;
	return fail_at(scenario, line, "%s", error);
}

static int check_faults(const struct cli_scenario *scenario, const struct pcie_topology *topology,
			enum sim_clock_mode mode)
{
	int rc = 0;

	for (size_t i = 0; i < scenario->faults.count; i++) {
		char delays_file[SIM_DELAYS_FILE_SIZE];
		size_t line = scenario->faults.lines[i];
		struct sim_rule_error error;
		struct sim_rule rule;

		if (sim_rule_parse(scenario->faults.list[i], &rule, delays_file, &error) < 0)
			rc = fail_at(scenario, line, "fault '%s', column %u: %s", scenario->faults.list[i],
				     error.column, error.text);
		else
			rc |= check_rule(scenario, topology, mode, &rule, line);
	}
	return rc;
}

static int check_plan(const struct cli_scenario *scenario, size_t i, const struct pcie_topology *topology,
		      enum sim_clock_mode mode)
{
	char *path = cli_scenario_file_path(scenario, scenario->fault_plans.list[i]);
	char error[SIM_PLAN_FILE_ERROR_SIZE];
	size_t line = scenario->fault_plans.lines[i];
	struct sim_plan_file file;
	int rc = 0;

	if (!path)
		return fail_at(scenario, line, "out of memory");
	if (sim_plan_file_load(path, &file, error) < 0) {
		rc = fail_at(scenario, line, "fault-plan: %s", error);
	} else {
		for (uint32_t j = 0; j < file.num_rules; j++)
			rc |= check_rule(scenario, topology, mode, &file.rules[j].rule, line);
		sim_plan_file_fini(&file);
	}
	free(path);
	return rc;
}

static int check_all_faults(const struct cli_scenario *scenario, const struct pcie_topology *topology,
			    enum sim_clock_mode mode)
{
	int rc = check_faults(scenario, topology, mode);

	for (size_t i = 0; i < scenario->fault_plans.count; i++)
		rc |= check_plan(scenario, i, topology, mode);
	if (scenario->require_faults && scenario->lines.require_faults && scenario->faults.count == 0 &&
	    scenario->fault_plans.count == 0)
		rc = fail_at(scenario, scenario->lines.require_faults,
			     "require-faults: there is no fault; give faults or fault-plan");
	return rc;
}

/* ---- values, files ---- */

static int check_values(const struct cli_scenario *scenario, enum sim_clock_mode *ret_mode)
{
	enum sim_check_mode check = SIM_CHECK_OFF;
	int rc = 0;

	if (scenario->clock && sim_clock_mode_parse(scenario->clock, ret_mode) < 0)
		rc = fail_at(scenario, scenario->lines.clock, "clock: %s: write " SIM_CLOCK_MODES, scenario->clock);
	if (scenario->check && sim_check_mode_parse(scenario->check, &check) < 0)
		rc = fail_at(scenario, scenario->lines.check, "check: %s: give " SIM_CHECK_MODES, scenario->check);
	return rc;
}

static int check_until(const struct cli_scenario *scenario)
{
	const char *names[CLI_SCENARIO_MAX_SIDES];
	struct cli_hint hint;
	bool found = false;

	if (!scenario->until)
		return 0;
	for (size_t i = 0; i < scenario->num_sides; i++) {
		char *label = cli_case_label(scenario, i);

		names[i] = scenario->sides[i].name;
		found |= label && cli_label_matches(scenario->until, label);
		free(label);
	}
	if (found)
		return 0;
	hint = cli_hint(scenario->until, names, scenario->num_sides);
	return fail_at(scenario, scenario->lines.until, "until: there is no side %s%s%s", scenario->until, hint.text,
		       hint.text[0] ? "?" : "");
}

static int check_commands(const struct cli_scenario *scenario)
{
	enum cli_generation generation;
	int64_t delay_ms;
	int rc = 0;

	for (size_t i = 0; i < scenario->num_sides; i++) {
		const struct cli_scenario_side *side = &scenario->sides[i];

		if (side->generation && cli_generation_parse(side->generation, &generation) < 0)
			rc = fail_at(scenario, side->line, CLI_GENERATION_WRONG, side->generation);
		if (side->delay && cli_start_parse_ms(side->delay, &delay_ms) < 0)
			rc = fail_at(scenario, side->line, "delay: %s: write a time such as 500ms or 1s", side->delay);
		if (side->command[strspn(side->command, " \t\n")] == '\0')
			rc = fail_at(scenario, side->line, "the command on %s is empty", side->name);
		rc |= cli_scenario_check_program(scenario, side);
	}
	return rc;
}

static int check_copies(const struct cli_scenario *scenario)
{
	int rc = 0;

	for (size_t i = 0; i < scenario->copy.count; i++) {
		char *path = cli_scenario_file_path(scenario, scenario->copy.list[i]);

		if (!path || access(path, R_OK) < 0)
			rc = fail_at(scenario, scenario->copy.lines[i], "copy: %s: %s",
				     path ? path : scenario->copy.list[i], strerror(errno));
		free(path);
	}
	return rc;
}

int cli_scenario_check(const struct cli_scenario *scenario)
{
	enum sim_clock_mode mode = SIM_CLOCK_FUNCTIONAL;
	struct pcie_topology *topology;
	int rc = check_values(scenario, &mode);

	topology = read_topology(scenario);
	rc |= topology ? check_sides(scenario, topology) : -1;
	rc |= check_all_faults(scenario, topology, mode);
	rc |= check_until(scenario);
	rc |= check_commands(scenario);
	rc |= check_copies(scenario);
	pcie_topology_destroy(topology);
	return rc < 0 ? -1 : 0;
}
