/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/fault_watch.h - a line on the console when a fault strikes. */
#ifndef SIM_CLI_RUN_FAULT_WATCH_H
#define SIM_CLI_RUN_FAULT_WATCH_H

#include "sim/faults/plan/plan.h"

#define CLI_FAULT_WATCH_MS 50 /* between two looks at the plan */

struct cli_fault_watch {
	uint64_t *fired; /* of each rule, when it was looked at last */
	size_t count;
};

/* Print a line for each rule that has fired since the last call: the first hits of a rule, then tens, hundreds, ... */
void cli_fault_watch_update(struct cli_fault_watch *watch, const struct sim_plan *plan);

void cli_fault_watch_fini(struct cli_fault_watch *watch);

#endif
