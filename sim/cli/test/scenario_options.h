/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/test/scenario_options.h - options of bfsim test that hold for each of its scenarios: in place of the scenario's
 * field, or in addition to it (faults). A bundle keeps them, since a replay needs them, too.
 */
#ifndef SIM_CLI_TEST_SCENARIO_OPTIONS_H
#define SIM_CLI_TEST_SCENARIO_OPTIONS_H

#include "scenario.h"
#include "sim/cli/base/seeds.h"

struct json_object;

struct cli_scenario_options {
	char *topology; /* absolute; NULL = not given, as for the next three */
	char *clock, *check, *generation;
	struct cli_texts faults, fault_plans; /* plans: absolute */
	uint32_t timeout_s;                   /* 0 = not given */
	struct cli_seeds seeds;
};

/* The part with them, for a zeroed struct cli_scenario_options. */
extern const struct cli_args cli_scenario_options_args;

void cli_scenario_options_fini(struct cli_scenario_options *options);

/* The scenario borrows texts of the options. Returns 0, or -1 with a message. */
int cli_scenario_options_apply(const struct cli_scenario_options *options, struct cli_scenario *scenario);

/* As members of a bundle's case.json, and back. cli_scenario_options_from_json() takes any value, and returns 0, or -1 with a
 * message. */
struct json_object *cli_scenario_options_to_json(const struct cli_scenario_options *options);
int cli_scenario_options_from_json(struct json_object *json, struct cli_scenario_options *ret_options);

#endif
