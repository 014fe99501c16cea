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
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/session_opt.h"
#include "sim/faults/rule/rule.h"

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

static void add_fault(void *all, char *line, struct argp_state *state)
{
	struct cli_scenario_options *options = all;
	char delays_file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;

	if (sim_rule_parse(line, &rule, delays_file, &error) < 0)
		argp_failure(state, CLI_USAGE, 0, "fault '%s', column %u: %s", line, error.column, error.text);
	if (cli_texts_add(&options->faults, line, 0) < 0)
		no_memory(state);
}

static void add_plan(void *all, char *path, struct argp_state *state)
{
	struct cli_scenario_options *options = all;
	char *absolute = absolute_path("--fault-plan", path, state);

	if (cli_texts_add(&options->fault_plans, absolute, 0) < 0)
		no_memory(state);
	free(absolute);
}

static void set_check(void *to, char *text, struct argp_state *state)
{
	enum sim_check_mode mode;

	if (sim_check_mode_parse(text ? text : "", &mode) < 0)
		argp_error(state, "--check=%s: give " SIM_CHECK_MODES, text);
	set_text(to, sim_check_mode_name(mode), state);
}

static void set_topology(void *to, char *path, struct argp_state *state)
{
	*(char **)to = absolute_path("--topology", path, state);
}

static void set_clock(void *to, char *text, struct argp_state *state)
{
	enum sim_clock_mode mode;

	cli_set_clock(&mode, text, state);
	set_text(to, text, state);
}

static void set_generation(void *to, char *text, struct argp_state *state)
{
	enum cli_generation generation;

	cli_set_generation(&generation, text, state);
	set_text(to, text, state);
}

static const struct cli_option option_list[] = {
	CLI_SEEDS_OPTION(struct cli_scenario_options, seeds,
			 "A seed, or a range such as 1..50, instead of those of the scenarios"),
	CLI_CALL_WHOLE(0, "fault", "RULE", add_fault, CLI_OPTION_REPEATS, "Inject this fault, too; may be given again"),
	CLI_CALL_WHOLE(0, "fault-plan", "FILE", add_plan, CLI_OPTION_REPEATS,
		       "Inject the faults of this plan (YAML), too; may be given again"),
	CLI_CALL_OPTIONAL(0, "check", "MODE", struct cli_scenario_options, check, set_check,
			  "Check all programs, as bfsim run does: api (default), races or strict"),
	CLI_CALL('t', "topology", "FILE", struct cli_scenario_options, topology, set_topology,
		 "The card, instead of those of the scenarios"),
	CLI_CALL(0, "clock", "MODE", struct cli_scenario_options, clock, set_clock,
		 "The clock, instead of those of the scenarios"),
	CLI_CALL('g', "generation", "GENERATION", struct cli_scenario_options, generation, set_generation,
		 "Libraries of all commands: " CLI_GENERATION_HELP),
	CLI_NUMBER(0, "timeout", "SECONDS", struct cli_scenario_options, timeout_s, 1, INT_MAX, "a number of seconds",
		   "The time of each run, instead of those of the scenarios"),
	{ 0 },
};

const struct cli_args cli_scenario_options_args = { .options = option_list };

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
	if (options->seeds.is_given) {
		scenario->has_seeds = true;
		scenario->first_seed = options->seeds.first;
		scenario->last_seed = options->seeds.last;
	}
	return append(&scenario->faults, &options->faults) < 0 ? -1 :
								 append(&scenario->fault_plans, &options->fault_plans);
}

int cli_scenario_options_apply(const struct cli_scenario_options *options, struct cli_scenario *scenario)
{
	if (apply(options, scenario) == 0)
		return 0;
	return cli_error("out of memory");
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
	snprintf(seeds, sizeof(seeds), "%" PRIu64 "..%" PRIu64, options->seeds.first, options->seeds.last);
	if (options->seeds.is_given)
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

	options.seeds.is_given = seeds[0] && cli_seeds_parse(seeds, &options.seeds.first, &options.seeds.last) == 0;
	if (text_from_json(json, "topology", &options.topology) && text_from_json(json, "clock", &options.clock) &&
	    text_from_json(json, "check", &options.check) && text_from_json(json, "generation", &options.generation) &&
	    list_from_json(json, "faults", &options.faults) &&
	    list_from_json(json, "fault-plans", &options.fault_plans)) {
		*ret_options = options;
		return 0;
	}
	cli_scenario_options_fini(&options);
	return cli_error("out of memory");
}
