/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/test/suite.h - the cases of several scenarios, some of them at a time.
 *
 *   add scenarios --> cases, one for each seed --> run: at most num_jobs at a time --> results --> bundles of failures
 */
#ifndef SIM_CLI_TEST_SUITE_H
#define SIM_CLI_TEST_SUITE_H

#include "case.h"
#include "scenario_options.h"

struct cli_suite {
	struct cli_scenario **scenarios;
	size_t num_scenarios;
	struct cli_case *cases;
	size_t num_cases;
	uint32_t num_jobs;
	bool tap;                            /* output as TAP */
	const char *bundles;                 /* directory of bundles */
	struct cli_scenario_options options; /* for each scenario */
};

/* Add the scenario of a file, with the suite's options, or one that was read (the suite owns it then). It is checked. Return 0, or -1 with a
 * message. */
int cli_suite_add_file(struct cli_suite *suite, const char *path);
int cli_suite_add(struct cli_suite *suite, struct cli_scenario *scenario, bool has_seed, uint64_t seed);

/* Keep those cases alone that failed the last time, and add those of other files. Returns 0, or -1 with a message. */
int cli_suite_keep_failed(struct cli_suite *suite);

/* Put the cases in an order that depends on @seed. */
void cli_suite_shuffle(struct cli_suite *suite, uint64_t seed);

/* Run the cases and print their results. Returns the exit status: 0, CLI_FAILED if one failed, CLI_OWN_FAILURE if one could not
 * be started, or 128 + the signal that ended the run. */
int cli_suite_run(struct cli_suite *suite);

void cli_suite_fini(struct cli_suite *suite);

#endif
