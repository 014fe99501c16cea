/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults on the command line: compiling rules, sending them to a session, reporting hits. */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault_check.h"
#include "fault_targets.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/session_client.h"
#include "sim/faults/plan/plan_file.h"

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

/* Where a change goes. */
struct place {
	const char *dir;
	int dir_fd;
	struct cli_machines machines;
	struct pcie_topology *topology;
};

static int open_place(const char *dir, int dir_fd, struct place *ret_place)
{
	struct place place = { .dir = dir, .dir_fd = dir_fd, .topology = cli_topology_of_session(dir) };

	if (!place.topology)
		return -1;
	if (cli_machines_read(dir, &place.machines) < 0) {
		pcie_topology_destroy(place.topology);
		return -1;
	}
	*ret_place = place;
	return 0;
}

static void close_place(struct place *place)
{
	cli_machines_free(&place->machines);
	pcie_topology_destroy(place->topology);
}

/* Make a change on one machine. */
static int change_at(const struct place *place, size_t number, const struct cli_fault_change *change,
		     const struct sim_delays *delays, bool print_ids)
{
	const struct cli_machine *machine = number < place->machines.count ? &place->machines.list[number] : NULL;
	uint32_t id;
	int rc;

	if (!machine || machine->is_self)
		rc = cli_fault_apply(change, delays, place->dir_fd, place->dir, &id);
	else
		rc = cli_fault_send(place->dir, machine->name, change, delays, &id);
	if (rc == 0 && print_ids)
		printf("%s%s%u\n", machine ? machine->name : "", machine ? ":" : "", id);
	return rc;
}

/* Make a change on the machines that it concerns. One that has not joined fails a change that names it, and else misses it. */
static int change_all(const struct place *place, const struct cli_fault_targets *targets,
		      const struct cli_fault_change *change, const struct sim_delays *delays, bool print_ids)
{
	int rc = 0;

	if (place->machines.count == 0)
		return change_at(place, 0, change, delays, print_ids);
	for (size_t i = 0; i < place->machines.count && rc == 0; i++) {
		const struct cli_machine *machine = &place->machines.list[i];

		if (!targets->list[i])
			continue;
		if (machine->is_self || machine->is_joined || targets->is_named)
			rc = change_at(place, i, change, delays, print_ids);
		else
			cli_fail("%s %s: it does not get the change of the fault plan", machine->name,
				 machine->is_unknown ? "is not reached, as the gateway of this machine does not run" :
						       "has not joined the session");
	}
	return rc;
}

static int send_rule(const struct cli_fault *fault, const struct cli_faults *faults, const struct place *place,
		     bool print_ids)
{
	const struct cli_fault_change change = { .change = SIM_FAULT_ADD,
						 .lasts_ns = faults->lasts_ns,
						 .refuses_noop = faults->refuses_noop,
						 .rule = fault->rule };
	struct cli_fault_targets targets;

	if (cli_fault_targets_find(&place->machines, place->topology, &fault->rule, faults->on, &targets) < 0)
		return -1;
	return change_all(place, &targets, &change, fault->delays, print_ids);
}

/* What can't happen in this session is refused: a rule that never hits tests nothing. */
static int check_rules(const struct cli_faults *faults, const struct place *place)
{
	struct sim_segment shared_state;
	enum sim_clock_mode mode;
	int rc = cli_session_map_state(place->dir_fd, place->dir, &shared_state);

	if (rc < 0)
		return rc;
	mode = (enum sim_clock_mode)atomic_load(&sim_shared_state_of(&shared_state)->clock.mode);
	sim_segment_unmap(&shared_state);
	for (size_t i = 0; i < faults->count && rc == 0; i++) {
		char error[CLI_FAULT_ERROR_SIZE];

		rc = cli_fault_check(&faults->list[i].rule, place->topology, mode, error);
		if (rc < 0)
			cli_fail("%s", error);
	}
	return rc;
}

static int send_all(const struct cli_faults *faults, const struct place *place, bool print_ids)
{
	const struct cli_fault_change seed = { .change = SIM_FAULT_SEED, .seed = faults->seed };
	int rc = 0;

	if (faults->refuses_noop && !cli_fault_has_device(place->topology, place->dir, &faults->list[0].rule))
		return -1;
	if (faults->count > 0 && check_rules(faults, place) < 0)
		return -1;
	if (faults->has_seed)
		rc = cli_faults_change(place->dir, place->dir_fd, &seed, faults->on);
	for (size_t i = 0; i < faults->count && rc == 0; i++)
		rc = send_rule(&faults->list[i], faults, place, print_ids);
	return rc;
}

int cli_faults_send(const struct cli_faults *faults, int dir_fd, const char *dir, bool print_ids)
{
	struct place place;
	int rc;

	if (faults->count == 0 && !faults->has_seed)
		return 0;
	if (open_place(dir, dir_fd, &place) < 0)
		return -1;
	rc = send_all(faults, &place, print_ids);
	close_place(&place);
	return rc;
}

int cli_faults_change(const char *dir, int dir_fd, const struct cli_fault_change *change, const char *on)
{
	const struct sim_rule any = { 0 };
	struct cli_fault_targets targets;
	struct place place;
	int rc;

	if (open_place(dir, dir_fd, &place) < 0)
		return -1;
	rc = cli_fault_targets_find(&place.machines, place.topology, &any, on, &targets);
	if (rc == 0)
		rc = change_all(&place, &targets, change, NULL, false);
	close_place(&place);
	return rc;
}

/* The rule's place: an option --on SIDE, or --on MACHINE for both of its sides. */
static void write_side(char *text, size_t size, const char *on)
{
	if (on)
		snprintf(text, size, " side=\"%s%s\"", on, strchr(on, '/') ? "" : "/*");
	else
		text[0] = '\0';
}

int cli_faults_inject_at_device(const char *dir, const char *op, const char *on, const char *device, const char *action,
				const char *duration)
{
	struct cli_faults faults = { .refuses_noop = true }, duration_rule = { 0 };
	char line[SIM_RULE_TEXT_SIZE], end[SIM_RULE_TEXT_SIZE], side[PCIE_SIDE_SIZE + 16];
	int dir_fd, rc = -1;

	write_side(side, sizeof(side), on);
	snprintf(line, sizeof(line), "%s device=\"%s\"%s %s", op, device, side, action);
	snprintf(end, sizeof(end), "link down=%s",
		 duration ? duration : "1ns"); /* reuse the parser of rules for the time */
	if (cli_faults_add(&faults, line) < 0 || cli_faults_add(&duration_rule, end) < 0) {
		cli_faults_fini(&faults);
		return CLI_USAGE;
	}
	faults.lasts_ns = duration ? duration_rule.list[0].rule.duration_ns : 0;
	dir_fd = cli_session_open(dir);
	if (dir_fd >= 0) {
		rc = cli_faults_send(&faults, dir_fd, dir, false);
		close(dir_fd);
	}
	cli_faults_fini(&duration_rule);
	cli_faults_fini(&faults);
	return rc < 0 ? CLI_FAILED : CLI_OK;
}

struct kills {
	enum sim_op op;
	uint64_t count;
};

static void add_kills(void *arg, const struct sim_plan_rule *rule)
{
	struct kills *kills = arg;

	if (sim_rule_ops(&rule->rule) & SIM_OP_BIT(kills->op) && rule->rule.actions & SIM_ACT_BIT(SIM_ACT_KILL))
		kills->count += rule->fired;
}

uint64_t cli_faults_num_kills(const struct sim_plan *plan, enum sim_op op)
{
	struct kills kills = { .op = op };

	sim_plan_each(plan, add_kills, &kills);
	return kills.count;
}
