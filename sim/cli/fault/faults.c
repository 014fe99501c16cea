/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults on the command line: compiling rules, sending them to a session, reporting hits. */
#include "faults.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault_check.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/session_client.h"
#include "sim/faults/inject/injector.h"
#include "sim/faults/plan/plan_file.h"
#include "sim/base/shell_quote.h"
#include "sim/state/rule_noop.h"

void cli_faults_fini(struct cli_faults *faults)
{
	for (size_t i = 0; i < faults->count; i++)
		free(faults->list[i].delays);
	free(faults->list);
	*faults = (struct cli_faults){ 0 };
}

/* Takes ownership of @delays, also on failure. */
static int append_fault(struct cli_faults *faults, const struct sim_rule *rule, struct sim_delays *delays)
{
	struct cli_fault *list = reallocarray(faults->list, faults->count + 1, sizeof(*list));

	if (!list) {
		free(delays);
		return cli_error("out of memory");
	}
	list[faults->count++] = (struct cli_fault){ *rule, delays };
	faults->list = list;
	return 0;
}

int cli_faults_add(struct cli_faults *faults, const char *line)
{
	struct sim_rule_error error;
	struct sim_delays *delays;
	struct sim_rule rule;

	if (sim_rule_load(line, NULL, &rule, &delays, &error) == 0)
		return append_fault(faults, &rule, delays);
	return cli_error("fault '%s', column %u: %s", line, error.column, error.text);
}

static int add_plan_file(struct cli_faults *faults, const char *path)
{
	char error[SIM_PLAN_FILE_ERROR_SIZE];
	struct sim_plan_file file;
	int rc = 0;

	if (sim_plan_file_load(path, &file, error) < 0)
		return cli_error("%s", error);
	for (uint32_t i = 0; i < file.num_rules && rc == 0; i++) {
		rc = append_fault(faults, &file.rules[i].rule, file.rules[i].delays);
		file.rules[i].delays = NULL;
	}
	if (file.has_seed && !faults->has_seed) {
		faults->has_seed = true;
		faults->seed = file.seed;
	}
	sim_plan_file_fini(&file);
	return rc;
}

static void set_fault(void *options, char *text, struct argp_state *state)
{
	(void)state;
	if (cli_faults_add(options, text) < 0)
		exit(CLI_USAGE);
}

static void set_plan(void *options, char *path, struct argp_state *state)
{
	(void)state;
	if (add_plan_file(options, path) < 0)
		exit(CLI_USAGE);
}

static void set_seed(void *options, char *text, struct argp_state *state)
{
	struct cli_faults *faults = options;

	if (cli_number_parse(text, 0, 0, UINT64_MAX, &faults->seed, NULL) < 0)
		argp_error(state, "--seed %s: not a number from 0 to 2^64-1", text);
	faults->has_seed = faults->has_seed_option = true;
}

static const struct cli_option option_list[] = {
	CLI_CALL_WHOLE(0, "fault", "RULE", set_fault, CLI_OPTION_REPEATS,
		       "Inject a fault, such as 'dma.memcpy size>=4096 nth=3 fail=IO_FAILED'; may be given again"),
	CLI_CALL_WHOLE(0, "fault-plan", "FILE", set_plan, CLI_OPTION_REPEATS, "Inject the faults of a plan, as YAML"),
	CLI_CALL_WHOLE(0, "seed", "NUMBER", set_seed, 0, "Seed of random faults (default: the plan's, else 0)"),
	{ 0 },
};

const struct cli_args cli_faults_args = { .options = option_list };

static int send_rule(const struct cli_fault *fault, int dir_fd, const char *dir, bool print_ids)
{
	uint32_t id;
	int rc = sim_control_add_fault(dir_fd, &fault->rule, fault->delays, &id);

	if (rc == -ENOSPC)
		return cli_error("the plan of session %s is full: %d rules, or %d delays of files", dir,
				 SIM_PLAN_MAX_RULES, SIM_DELAYS_MAX);
	if (rc < 0)
		return cli_session_report_error(dir, rc);
	if (print_ids)
		printf("%u\n", id);
	return 0;
}

/* What can't happen in this session is refused: a rule that never hits tests nothing. */
static int check_rules(const struct cli_faults *faults, int dir_fd, const char *dir)
{
	struct pcie_topology *topology = cli_topology_of_session(dir);
	struct sim_segment shared_state;
	enum sim_clock_mode mode;
	int rc;

	if (!topology)
		return -1;
	rc = sim_control_map_shared_state(dir_fd, &shared_state);
	if (rc < 0) {
		pcie_topology_destroy(topology);
		return cli_session_report_error(dir, rc);
	}
	mode = (enum sim_clock_mode)atomic_load(&sim_shared_state_of(&shared_state)->clock.mode);
	sim_segment_unmap(&shared_state);
	for (size_t i = 0; i < faults->count && rc == 0; i++) {
		char error[CLI_FAULT_ERROR_SIZE];

		rc = cli_fault_check(&faults->list[i].rule, topology, mode, error);
		if (rc < 0)
			cli_fail("%s", error);
	}
	pcie_topology_destroy(topology);
	return rc;
}

int cli_faults_send(const struct cli_faults *faults, int dir_fd, const char *dir, bool print_ids)
{
	int rc = 0;

	if (faults->count > 0 && check_rules(faults, dir_fd, dir) < 0)
		return -1;
	if (faults->has_seed)
		rc = sim_control_change_faults(dir_fd, SIM_FAULT_SEED, 0, faults->seed);
	if (rc < 0)
		return cli_session_report_error(dir, rc);
	for (size_t i = 0; i < faults->count && rc == 0; i++)
		rc = send_rule(&faults->list[i], dir_fd, dir, print_ids);
	return rc;
}

static bool has_device(const struct pcie_topology *topology, const char *dir, const struct sim_rule *rule)
{
	bool found = false;
	char *quoted;

	for (size_t i = 0; i < topology->num_functions && !found; i++)
		found = sim_device_pattern_matches(rule->device, &topology->functions[i]);
	if (found)
		return true;
	quoted = sim_shell_quote(dir);
	cli_fail("there is no device %s in session %s; bfsim devs --session %s lists them", rule->device, dir,
		 quoted ? quoted : dir);
	free(quoted);
	return false;
}

/* Let the rule end after the duration. Rules take absolute session time. */
static int set_end_time(struct cli_faults *faults, int dir_fd, const char *dir, const struct sim_rule *duration_rule)
{
	struct sim_rule *rule = &faults->list[0].rule;
	struct sim_segment shared_state;
	int rc = sim_control_map_shared_state(dir_fd, &shared_state);

	if (rc < 0)
		return cli_session_report_error(dir, rc);
	rule->when |= SIM_WHEN_UNTIL;
	rule->until_ns = sim_shared_state_now_ns(sim_shared_state_of(&shared_state)) + duration_rule->duration_ns;
	sim_segment_unmap(&shared_state);
	return 0;
}

/* Returns true, with a message, when the rule would change none of the functions that it names. */
static bool is_noop_everywhere(const struct sim_rule *rule, const struct sim_function_table *functions,
			       const struct pcie_topology *topology)
{
	const char *reason = NULL;

	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (sim_device_pattern_matches(rule->device, &topology->functions[i]) &&
		    !sim_rule_is_noop(rule, functions, topology, i, &reason))
			return false;
	if (reason)
		cli_fail("nothing was done: %s: %s already", rule->device, reason);
	return reason;
}

static int check_device(int dir_fd, const char *dir, const struct sim_rule *rule)
{
	struct pcie_topology *topology = cli_topology_of_session(dir);
	struct sim_segment shared_state;
	int rc = -1;

	if (!topology || !has_device(topology, dir, rule))
		goto out;
	rc = sim_control_map_shared_state(dir_fd, &shared_state);
	if (rc < 0) {
		rc = cli_session_report_error(dir, rc);
		goto out;
	}
	rc = is_noop_everywhere(rule, &sim_shared_state_of(&shared_state)->functions, topology) ? -1 : 0;
	sim_segment_unmap(&shared_state);
out:
	pcie_topology_destroy(topology);
	return rc;
}

static int inject_at_device(struct cli_faults *faults, int dir_fd, const char *dir,
			    const struct sim_rule *duration_rule)
{
	if (check_device(dir_fd, dir, &faults->list[0].rule) < 0)
		return -1;
	if (duration_rule && set_end_time(faults, dir_fd, dir, duration_rule) < 0)
		return -1;
	return cli_faults_send(faults, dir_fd, dir, false);
}

int cli_faults_inject_at_device(const char *dir, const char *op, const char *device, const char *action,
				const char *duration)
{
	struct cli_faults faults = { 0 }, duration_rule = { 0 };
	char line[SIM_RULE_TEXT_SIZE], end[SIM_RULE_TEXT_SIZE];
	int dir_fd, rc = -1;

	snprintf(line, sizeof(line), "%s device=\"%s\" %s", op, device, action);
	snprintf(end, sizeof(end), "link down=%s",
		 duration ? duration : "1ns"); /* reuse the parser of rules for the time */
	if (cli_faults_add(&faults, line) < 0 || cli_faults_add(&duration_rule, end) < 0) {
		cli_faults_fini(&faults);
		return CLI_USAGE;
	}
	dir_fd = cli_session_open(dir);
	if (dir_fd >= 0) {
		rc = inject_at_device(&faults, dir_fd, dir, duration ? &duration_rule.list[0].rule : NULL);
		close(dir_fd);
	}
	cli_faults_fini(&duration_rule);
	cli_faults_fini(&faults);
	return rc < 0 ? CLI_FAILED : CLI_OK;
}

static void find_daemon_kill(void *arg, const struct sim_plan_rule *rule)
{
	bool *found = arg;

	if (rule->fired > 0 && (sim_rule_ops(&rule->rule) & SIM_OP_BIT(SIM_OP_DAEMON)) &&
	    (rule->rule.actions & SIM_ACT_BIT(SIM_ACT_KILL)))
		*found = true;
}

bool cli_faults_killed_daemon(const struct sim_plan *plan)
{
	bool found = false;

	sim_plan_each(plan, find_daemon_kill, &found);
	return found;
}
