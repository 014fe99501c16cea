/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading options of the command line, and putting them into scenarios. */
#include "scenario_options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check/rules.h"
#include "sim/cli/abi/generation.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/number.h"
#include "sim/cli/base/seeds.h"
#include "sim/cli/base/session_opt.h"
#include "sim/faults/rule/rule.h"

enum {
	KEY_SEEDS = 0x700,
	KEY_FAULT,
	KEY_PLAN,
	KEY_CHECK,
	KEY_CLOCK,
	KEY_TIMEOUT,
};

static const struct argp_option option_list[] = {
	{ "seeds", KEY_SEEDS, "SEEDS", 0, "A seed, or a range such as 1..50, instead of those of the scenarios", 0 },
	{ "fault", KEY_FAULT, "RULE", CLI_OPTION_REPEATS, "Inject this fault, too; may be given again", 0 },
	{ "fault-plan", KEY_PLAN, "FILE", CLI_OPTION_REPEATS,
	  "Inject the faults of this plan (YAML), too; may be given again", 0 },
	{ "check", KEY_CHECK, "MODE", OPTION_ARG_OPTIONAL,
	  "Check all programs, as bfsim run does: api (default), races or strict", 0 },
	{ "topology", 't', "FILE", 0, "The card, instead of those of the scenarios", 0 },
	{ "clock", KEY_CLOCK, "MODE", 0, "The clock, instead of those of the scenarios", 0 },
	{ "generation", 'g', "GENERATION", 0, "Libraries of all commands: " CLI_GENERATION_HELP, 0 },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0, "The time of each run, instead of those of the scenarios", 0 },
	{ 0 },
};

static void no_memory(struct argp_state *state)
{
	argp_failure(state, cli_failure_status(), 0, "out of memory");
}

static void set_text(char **to, const char *text, struct argp_state *state)
{
	free(*to);
	*to = strdup(text);
	if (!*to)
		no_memory(state);
}

/* Runs have directories of their own. */
static char *absolute_path(const char *option, const char *path, struct argp_state *state)
{
	char *absolute = realpath(path, NULL);

	if (!absolute)
		argp_failure(state, CLI_USAGE, 0, "%s %s: %s", option, path, strerror(errno));
	return absolute;
}

static void add_fault(struct cli_scenario_options *options, const char *line, struct argp_state *state)
{
	char delays_file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;

	if (sim_rule_parse(line, &rule, delays_file, &error) < 0)
		argp_failure(state, CLI_USAGE, 0, "fault '%s', column %u: %s", line, error.column, error.text);
	if (cli_texts_add(&options->faults, line, 0) < 0)
		no_memory(state);
}

static void add_plan(struct cli_scenario_options *options, const char *path, struct argp_state *state)
{
	char *absolute = absolute_path("--fault-plan", path, state);

	if (cli_texts_add(&options->fault_plans, absolute, 0) < 0)
		no_memory(state);
	free(absolute);
}

static void set_check(struct cli_scenario_options *options, const char *text, struct argp_state *state)
{
	enum sim_check_mode mode;

	if (sim_check_mode_parse(text ? text : "", &mode) < 0)
		argp_error(state, "--check=%s: give " SIM_CHECK_MODES, text);
	set_text(&options->check, sim_check_mode_name(mode), state);
}

static void set_generation(struct cli_scenario_options *options, const char *text, struct argp_state *state)
{
	enum cli_generation generation;

	if (cli_generation_parse(text, &generation) < 0)
		argp_error(state, CLI_GENERATION_WRONG, text);
	set_text(&options->generation, text, state);
}

static void set_timeout(struct cli_scenario_options *options, const char *text, struct argp_state *state)
{
	uint64_t number = 0;

	if (cli_number_parse(text, 10, 1, INT_MAX, &number, NULL) < 0)
		argp_error(state, "--timeout %s: not a number of seconds from 1 to %d", text, INT_MAX);
	options->timeout_s = (uint32_t)number;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct cli_scenario_options *options = state->input;

	switch (key) {
	case KEY_SEEDS:
		options->has_seeds = true;
		if (cli_seeds_parse(arg, &options->first_seed, &options->last_seed) < 0)
			argp_error(state, "--seeds %s: write a number, or a range such as 1..50", arg);
		return 0;
	case KEY_FAULT:
		add_fault(options, arg, state);
		return 0;
	case KEY_PLAN:
		add_plan(options, arg, state);
		return 0;
	case KEY_CHECK:
		set_check(options, arg, state);
		return 0;
	case 't':
		options->topology = absolute_path("--topology", arg, state);
		return 0;
	case KEY_CLOCK:
		cli_clock_mode(arg, state);
		set_text(&options->clock, arg, state);
		return 0;
	case 'g':
		set_generation(options, arg, state);
		return 0;
	case KEY_TIMEOUT:
		set_timeout(options, arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp cli_scenario_options_argp = { .options = option_list, .parser = parse_opt };

void cli_scenario_options_fini(struct cli_scenario_options *options)
{
	free(options->topology);
	free(options->clock);
	free(options->check);
	free(options->generation);
	cli_texts_fini(&options->faults);
	cli_texts_fini(&options->fault_plans);
	*options = (struct cli_scenario_options){ 0 };
}

/* ---- into a scenario ---- */

/* Replace *field, whose line is that of no file then; the text stays that of the options. */
static void replace(const char **field, size_t *line, const char *text)
{
	if (!text)
		return;
	*field = text;
	*line = 0;
}

static int append(struct cli_texts *texts, const struct cli_texts *more)
{
	for (size_t i = 0; i < more->count; i++)
		if (cli_texts_add(texts, more->list[i], 0) < 0)
			return -1;
	return 0;
}

static int apply(const struct cli_scenario_options *options, struct cli_scenario *scenario)
{
	replace(&scenario->topology, &scenario->lines.topology, options->topology);
	replace(&scenario->clock, &scenario->lines.clock, options->clock);
	replace(&scenario->check, &scenario->lines.check, options->check);
	for (size_t i = 0; options->generation && i < scenario->num_sides; i++)
		scenario->sides[i].generation = options->generation;
	if (options->timeout_s)
		scenario->timeout_s = options->timeout_s;
	if (options->has_seeds) {
		scenario->has_seeds = true;
		scenario->first_seed = options->first_seed;
		scenario->last_seed = options->last_seed;
	}
	return append(&scenario->faults, &options->faults) < 0 ? -1 :
								 append(&scenario->fault_plans, &options->fault_plans);
}

int cli_scenario_options_apply(const struct cli_scenario_options *options, struct cli_scenario *scenario)
{
	if (apply(options, scenario) == 0)
		return 0;
	cli_fail("out of memory");
	return -1;
}

/* ---- of a bundle ---- */

static json_object *list_to_json(const struct cli_texts *texts)
{
	json_object *list = json_object_new_array();

	for (size_t i = 0; i < texts->count; i++)
		json_object_array_add(list, json_object_new_string(texts->list[i]));
	return list;
}

struct json_object *cli_scenario_options_to_json(const struct cli_scenario_options *options)
{
	json_object *json = json_object_new_object();
	char seeds[48];

	if (options->topology)
		cli_json_add_text(json, "topology", options->topology);
	if (options->clock)
		cli_json_add_text(json, "clock", options->clock);
	if (options->check)
		cli_json_add_text(json, "check", options->check);
	if (options->generation)
		cli_json_add_text(json, "generation", options->generation);
	if (options->timeout_s)
		cli_json_add_number(json, "timeout", options->timeout_s);
	snprintf(seeds, sizeof(seeds), "%" PRIu64 "..%" PRIu64, options->first_seed, options->last_seed);
	if (options->has_seeds)
		cli_json_add_text(json, "seeds", seeds);
	if (options->faults.count)
		json_object_object_add(json, "faults", list_to_json(&options->faults));
	if (options->fault_plans.count)
		json_object_object_add(json, "fault-plans", list_to_json(&options->fault_plans));
	return json;
}

/* Returns false without memory. */
static bool text_from_json(json_object *json, const char *key, char **ret_text)
{
	const char *text = cli_json_text(json, key);

	*ret_text = text[0] ? strdup(text) : NULL;
	return *ret_text || !text[0];
}

static bool list_from_json(json_object *json, const char *key, struct cli_texts *ret_texts)
{
	json_object *list = cli_json_list(json, key);

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(list, i));

		if (text && cli_texts_add(ret_texts, text, 0) < 0)
			return false;
	}
	return true;
}

int cli_scenario_options_from_json(struct json_object *json, struct cli_scenario_options *ret_options)
{
	struct cli_scenario_options options = { .timeout_s = (uint32_t)cli_json_number(json, "timeout") };
	const char *seeds = cli_json_text(json, "seeds");

	options.has_seeds = seeds[0] && cli_seeds_parse(seeds, &options.first_seed, &options.last_seed) == 0;
	if (text_from_json(json, "topology", &options.topology) && text_from_json(json, "clock", &options.clock) &&
	    text_from_json(json, "check", &options.check) && text_from_json(json, "generation", &options.generation) &&
	    list_from_json(json, "faults", &options.faults) &&
	    list_from_json(json, "fault-plans", &options.fault_plans)) {
		*ret_options = options;
		return 0;
	}
	cli_scenario_options_fini(&options);
	cli_fail("out of memory");
	return -1;
}
