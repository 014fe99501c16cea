/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/test/bundle.h - what a failure leaves, enough to run it again.
 *
 *   DIR/NAME/  scenario.yaml, topology.yaml, faults.yaml (as far as it has them), case.json (seed, options, versions, status, reasons),
 *              output.log, SIDE.log, trace.bfsim, hits.json
 */
#ifndef SIM_CLI_TEST_BUNDLE_H
#define SIM_CLI_TEST_BUNDLE_H

#include "case.h"
#include "scenario_options.h"

/* Write a bundle of the case, which has failed, below @parent; its path is case.bundle then. @options were applied to its
 * scenario. Returns 0, or -1 with a message. */
int cli_bundle_write(const char *parent, const struct cli_scenario_options *options, struct cli_case *test);

struct cli_bundle {
	struct cli_scenario scenario; /* with the options */
	struct cli_scenario_options options;
	bool has_seed;
	uint64_t seed;
};

/* Read a bundle. @folder: of the scenario's programs and files; NULL = where they were. Returns 0 (the caller ends both
 * parts, or gives them to a suite), or -1 with a message. */
int cli_bundle_read(const char *dir, const char *folder, struct cli_bundle *ret_bundle);

#endif
