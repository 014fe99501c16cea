/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim fault: show and change the fault plan of a live session. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/number.h"
#include "sim/cli/fault/fault_replay.h"
#include "sim/cli/fault/faults.h"
#include "sim/cli/report/report_recordings.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/base/table.h"

struct options {
	struct cli_session_opt session;
	struct cli_faults faults;
	bool json;
	struct cli_words words; /* action and its arguments */
};

static const struct cli_option option_list[] = {
	CLI_FLAG('j', "json", struct options, json, "list: print JSON"),
	{ 0 },
};

/* ---- list ---- */

static const struct cli_field rule_fields[] = {
	CLI_FIELD(struct sim_plan_rule, id, "id", ">ID"),
	CLI_FIELD(struct sim_plan_rule, matched, "matched", ">MATCHED"),
	CLI_FIELD(struct sim_plan_rule, fired, "fired", ">FIRED"),
	CLI_FIELD(struct sim_plan_rule, text, "rule", "RULE"),
	{ 0 },
};

static void add_rule_row(void *table, const struct sim_plan_rule *rule)
{
	cli_table_add_cells(table, rule_fields, rule);
}

static void add_rule_json(void *list, const struct sim_plan_rule *rule)
{
	json_object_array_add(list, cli_json_of_fields(rule_fields, rule));
}

static int print_list(const struct sim_plan *plan, bool json)
{
	static const char *const headings[] = { ">ID", ">MATCHED", ">FIRED", "RULE" };
	struct cli_table table = CLI_TABLE(headings);
	json_object *list;

	if (!json) {
		sim_plan_each(plan, add_rule_row, &table);
		return cli_table_print(&table);
	}
	list = json_object_new_array();
	sim_plan_each(plan, add_rule_json, list);
	return cli_json_print(list, JSON_C_TO_STRING_PRETTY);
}

static int do_list(struct options *options, int dir_fd)
{
	struct sim_segment shared_state;
	int rc = sim_control_map_shared_state(dir_fd, &shared_state);

	if (rc < 0)
		return cli_session_report_error(options->session.dir, rc);
	rc = print_list(&sim_shared_state_of(&shared_state)->plan, options->json);
	sim_segment_unmap(&shared_state);
	return rc;
}

/* ---- changes ---- */

static int do_add(struct options *options, int dir_fd)
{
	return cli_faults_send(&options->faults, dir_fd, options->session.dir, true);
}

static int do_rm(struct options *options, int dir_fd)
{
	int failed = 0;

	for (size_t i = 1; i < options->words.count; i++) {
		uint64_t id;
		int rc = -ENOENT;

		if (cli_number_parse(options->words.list[i], 10, 1, UINT32_MAX, &id, NULL) == 0)
			rc = sim_control_change_faults(dir_fd, SIM_FAULT_REMOVE, (uint32_t)id, 0);
		if (rc == -ENOENT)
			cli_fail("fault rm: there is no rule %s; bfsim fault list shows their ids",
				 options->words.list[i]);
		else if (rc < 0)
			cli_session_report_error(options->session.dir, rc);
		failed |= rc < 0;
	}
	return failed ? -1 : 0;
}

static int do_clear(struct options *options, int dir_fd)
{
	int rc = sim_control_change_faults(dir_fd, SIM_FAULT_CLEAR, 0, 0);

	return rc < 0 ? cli_session_report_error(options->session.dir, rc) : 0;
}

/* ---- args ---- */

/* Compile all rules before adding the first: an invalid rule changes nothing. */
static bool check_rule_args(struct options *options)
{
	for (size_t i = 1; i < options->words.count; i++)
		if (cli_faults_add(&options->faults, options->words.list[i]) < 0)
			return false;
	if (options->faults.count > 0 || options->faults.has_seed)
		return true;
	cli_fail(
		"fault add: give rules, each as one argument ('dma.memcpy nth=3 fail=IO_FAILED'), or --fault-plan FILE");
	return false;
}

static bool check_id_args(struct options *options)
{
	if (options->words.count >= 2)
		return true;
	cli_fail("fault rm: give the ids of rules; bfsim fault list shows them");
	return false;
}

static bool check_no_args(struct options *options)
{
	if (options->words.count == 1)
		return true;
	cli_fail("fault %s takes no argument, but got \"%s\"; fault rm removes single rules", options->words.list[0],
		 options->words.list[1]);
	return false;
}

static const struct {
	const char *name;
	bool (*check_args)(struct options *options); /* whether the command line is right */
	int (*run)(struct options *options, int dir_fd);
} actions[] = {
	{ "list", check_no_args, do_list },
	{ "add", check_rule_args, do_add },
	{ "rm", check_id_args, do_rm },
	{ "clear", check_no_args, do_clear },
};

/* Print the plan of a recording; no session is needed. */
static int do_replay(const struct options *options)
{
	const char *name = options->words.list[1]; /* NULL without one */
	struct cli_report report;
	int rc;

	if (options->words.count != 2) {
		cli_fail(
			"fault replay: give one recording: a file of bfsim run --trace FILE.bfsim or bfsim trace --format raw");
		return CLI_USAGE;
	}
	if (cli_report_open_file(name, &report) < 0)
		return CLI_FAILED;
	rc = cli_fault_replay(&report, name, stdout);
	cli_report_fini(&report);
	return rc < 0 ? CLI_FAILED : CLI_OK;
}

static int run_action(struct options *options)
{
	int dir_fd, rc;

	if (strcmp(options->words.list[0], "replay") == 0)
		return do_replay(options);
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(options->words.list[0], actions[i].name) != 0)
			continue;
		if (!actions[i].check_args(options))
			return CLI_USAGE;
		dir_fd = cli_session_open(options->session.dir);
		if (dir_fd < 0)
			return CLI_FAILED;
		rc = actions[i].run(options, dir_fd);
		close(dir_fd);
		return rc < 0 ? CLI_FAILED : CLI_OK;
	}
	return cli_args_fail_action("fault", options->words.list[0], CLI_FAULT_ACTIONS);
}

#define NAME(id, name, ...) " " name

int cli_fault(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args),
			   CLI_PART(struct options, faults, cli_faults_args) },
		.words = offsetof(struct options, words),
		.max_words = CLI_MANY_WORDS,
		.no_words = "give list, add, rm, clear or replay",
		.args_doc = "list\nadd RULE...\nrm ID...\nclear\nreplay RECORDING",
		.doc = "Show and change the fault plan of a session while its programs run.\v"
		       "add prints the ids of the new rules. list shows how often a rule matched (MATCHED) and how often it "
		       "hit (FIRED). replay prints a plan that repeats the faults of a recording. doc/faults.md is the manual "
		       "of rules.\n\nOperations:" SIM_OPS(NAME) ".\n\nActions:" SIM_ACTS(NAME) ".",
	};
	struct options options = { 0 };
	int status;

	cli_args_parse(&args, argc, argv, 0, &options);
	status = run_action(&options);
	cli_faults_fini(&options.faults);
	return status;
}
