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
#include "sim/cli/reach/reach.h"

struct options {
	struct cli_session_opt session;
	struct cli_faults faults;
	bool json;
	struct cli_words words; /* action and its arguments */
};

static const struct cli_option option_list[] = {
	CLI_TEXT(
		'o', "on", "MACHINE", struct options, faults.on,
		"add, clear: the machine whose plan it is, or a side of it (default: those that the rules name, else all)"),
	CLI_FLAG('j', "json", struct options, json, "list: print JSON"),
	{ 0 },
};

/* ---- list ---- */

/* Add the rules of a machine. */
static void append_rules(json_object *to, const char *machine, json_object *rules)
{
	for (size_t i = 0; rules && i < json_object_array_length(rules); i++) {
		json_object *rule = json_object_get(json_object_array_get_idx(rules, i));

		if (machine)
			cli_json_add_text(rule, "machine", machine);
		json_object_array_add(to, rule);
	}
	json_object_put(rules);
}

/* The rules of all machines that are there, or NULL with a message. */
static json_object *read_rules(const struct options *options, int dir_fd, const struct cli_machines *machines)
{
	json_object *all = json_object_new_array();
	bool is_complete = true;

	for (size_t i = 0; i < machines->count; i++) {
		const struct cli_machine *machine = &machines->list[i];
		json_object *rules = NULL;

		if (machine->is_unknown)
			cli_fail(
				"%s is not reached, as the gateway of this machine does not run: its rules are left out",
				machine->name);
		if (!machine->is_self && !machine->is_joined)
			continue;
		rules = machine->is_self ? cli_fault_rules(dir_fd, options->session.dir) :
					   cli_fault_rules_of(options->session.dir, machine->name);
		is_complete &= rules != NULL;
		append_rules(all, machine->name, rules);
	}
	if (machines->count == 0) {
		json_object *rules = cli_fault_rules(dir_fd, options->session.dir);

		is_complete = rules != NULL;
		append_rules(all, NULL, rules);
	}
	if (is_complete)
		return all;
	json_object_put(all);
	return NULL;
}

static int print_table(json_object *rules, bool has_machines)
{
	static const char *const headings[] = { "MACHINE", ">ID", ">MATCHED", ">FIRED", "RULE" };
	struct cli_table table = CLI_TABLE(headings);

	if (!has_machines) {
		table.headings++;
		table.num_columns--;
	}
	for (size_t i = 0; i < json_object_array_length(rules); i++) {
		json_object *rule = json_object_array_get_idx(rules, i);

		if (has_machines)
			cli_table_add(&table, "%s", cli_json_text(rule, "machine"));
		cli_table_add(&table, "%" PRIu64, cli_json_number(rule, "id"));
		cli_table_add(&table, "%" PRIu64, cli_json_number(rule, "matched"));
		cli_table_add(&table, "%" PRIu64, cli_json_number(rule, "fired"));
		cli_table_add(&table, "%s", cli_json_text(rule, "rule"));
	}
	return cli_table_print(&table);
}

static int do_list(struct options *options, int dir_fd)
{
	struct cli_machines machines;
	json_object *rules;
	int rc;

	if (cli_machines_read(options->session.dir, &machines) < 0)
		return -1;
	rules = read_rules(options, dir_fd, &machines);
	if (!rules) {
		rc = -1;
	} else if (options->json) {
		rc = cli_json_print(rules, JSON_C_TO_STRING_PRETTY);
	} else {
		rc = print_table(rules, machines.count > 0);
		json_object_put(rules);
	}
	cli_machines_free(&machines);
	return rc;
}

/* ---- changes ---- */

static int do_add(struct options *options, int dir_fd)
{
	return cli_faults_send(&options->faults, dir_fd, options->session.dir, true);
}

/* Remove the rule "ID" of this machine, or "MACHINE:ID". */
static int remove_rule(const struct options *options, int dir_fd, const char *word)
{
	struct cli_fault_change change = { .change = SIM_FAULT_REMOVE };
	const char *colon = strrchr(word, ':'), *number = colon ? colon + 1 : word;
	char machine[PCIE_SIDE_SIZE];
	uint64_t id;

	if (cli_number_parse(number, 10, 1, UINT32_MAX, &id, NULL) < 0 ||
	    (colon && colon - word >= (ptrdiff_t)sizeof(machine)))
		return cli_error("fault rm: there is no rule %s; bfsim fault list shows their ids", word);
	change.id = (uint32_t)id;
	if (!colon)
		return cli_fault_apply(&change, NULL, dir_fd, options->session.dir, &(uint32_t){ 0 });
	snprintf(machine, sizeof(machine), "%.*s", (int)(colon - word), word);
	return cli_faults_change(options->session.dir, dir_fd, &change, machine);
}

static int do_rm(struct options *options, int dir_fd)
{
	int rc = 0;

	for (size_t i = 1; i < options->words.count; i++)
		if (remove_rule(options, dir_fd, options->words.list[i]) < 0)
			rc = -1;
	return rc;
}

static int do_clear(struct options *options, int dir_fd)
{
	const struct cli_fault_change change = { .change = SIM_FAULT_CLEAR };

	return cli_faults_change(options->session.dir, dir_fd, &change, options->faults.on);
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
		       "add prints the ids of the new rules; rm takes them as they are printed. list shows how often a rule matched (MATCHED) and how often it "
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
