/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/run_inputs.h - what a run is asked to do, checked before anything starts. */
#ifndef SIM_CLI_RUN_RUN_INPUTS_H
#define SIM_CLI_RUN_RUN_INPUTS_H

#include "run_worker.h"

/* Check the topology, the sides of the commands, the rules of faults, and that the outputs can be written. Returns 0, or -1 with a
 * message for each error. */
int cli_run_check_inputs(const struct cli_run_cfg *cfg);

#endif
