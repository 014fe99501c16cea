/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/fault_results.h - what the fault rules of a run have done: a rule that never hit tests nothing. */
#ifndef SIM_CLI_RUN_FAULT_RESULTS_H
#define SIM_CLI_RUN_FAULT_RESULTS_H

#include "verdict.h"

/* Say which rules of the plan have struck nothing, and why, with the verdict; with @with_hits, print also those that hit. @dir
 * is the session's directory if its daemon lives, else NULL. */
void cli_fault_results(const struct sim_plan *plan, const char *dir, bool with_hits, struct cli_verdict *verdict);

#endif
