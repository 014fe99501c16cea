/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/run_phase.h - the phases of a run, from the start of its programs on.
 *
 *   [running] --all programs ended, one failed, or a signal--> [ending] --none is left--> [done]
 *                                                                 |                         ^
 *                                                                 '--programs left processes behind--> [orphaned]
 *                                                                                           '--none is left--'
 *
 * Programs that run when a run begins to end get SIGTERM, and so do the processes that they left behind. What runs
 * CLI_RUN_GRACE_MS later is killed (run_worker.h). A run that is done has its daemon left.
 */
#ifndef SIM_CLI_RUN_RUN_PHASE_H
#define SIM_CLI_RUN_RUN_PHASE_H

#include <stdbool.h>

enum cli_run_phase { CLI_RUN_RUNNING, CLI_RUN_ENDING, CLI_RUN_ORPHANED, CLI_RUN_DONE, CLI_RUN_NUM_PHASES };

/* Write @to to *@phase if the picture has that edge. Returns whether it has; else the phase stays. */
bool cli_run_phase_set(enum cli_run_phase *phase, enum cli_run_phase to);

#endif
