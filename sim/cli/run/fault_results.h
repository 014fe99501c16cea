/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/fault_results.h - what the fault rules of a run have done: a rule that never hit tests nothing. */
#ifndef SIM_CLI_RUN_FAULT_RESULTS_H
#define SIM_CLI_RUN_FAULT_RESULTS_H

#include "sim/cli/fault/faults.h"
#include "verdict.h"

/* Say which rules of the plan have struck nothing, and why, with the verdict; with @with_hits, print also those that hit. @dir
 * is the session's directory if its daemon lives, else NULL. */
void cli_fault_results(const struct sim_plan *plan, const char *dir, bool with_hits, struct cli_verdict *verdict);

/* The same of a session over several machines, each with a plan of its own: a rule has struck if it has on one of them. */
void cli_fault_results_of_machines(const struct cli_faults *faults, const struct sim_plan *const *plans,
				   size_t num_plans, bool with_hits, struct cli_verdict *verdict);

#endif
