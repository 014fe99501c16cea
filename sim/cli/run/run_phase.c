/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges between the phases of a run. */
#include "run_phase.h"

static const bool edges[CLI_RUN_NUM_PHASES][CLI_RUN_NUM_PHASES] = {
	[CLI_RUN_RUNNING] = { [CLI_RUN_ENDING] = true },
	[CLI_RUN_ENDING] = { [CLI_RUN_ORPHANED] = true, [CLI_RUN_DONE] = true },
	[CLI_RUN_ORPHANED] = { [CLI_RUN_DONE] = true },
};

bool cli_run_phase_set(enum cli_run_phase *phase, enum cli_run_phase to)
{
	if (!edges[*phase][to])
		return false;
	*phase = to;
	return true;
}
