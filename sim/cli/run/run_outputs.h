/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/run_outputs.h - the trace and the report of a run. */
#ifndef SIM_CLI_RUN_RUN_OUTPUTS_H
#define SIM_CLI_RUN_RUN_OUTPUTS_H

#include "run_priv.h"

/* Write them, as far as the run has options for them; a failure goes to its verdict. The daemon has the recordings, so it must
 * still live. */
void cli_run_write_outputs(struct run *run);

#endif
