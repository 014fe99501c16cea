/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/run_state.h - what the card was doing for the programs of a run when one failed, or the run had to be ended.
 *
 * Of a program that runs: what it waits for and since when, by its recording: tasks in flight, contexts on their way to another
 * state, open connections, where its main thread is; and its last records. Of a program that has ended, what it left.
 */
#ifndef SIM_CLI_RUN_RUN_STATE_H
#define SIM_CLI_RUN_RUN_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "program.h"

struct cli_run_state_cfg {
	const char *dir; /* of the session; its daemon must live */
	const struct cli_program *programs;
	size_t num_programs;
	const struct cli_program
		*failed;  /* it has ended and the caller has said how; NULL = the run is ended from outside */
	bool was_killed;  /* the failed one, by a signal */
	bool is_recorded; /* programs record; else there is nothing to say of the card */
};

/* Print it on standard error. Nothing is printed if no program runs, and the one that failed has ended well for the card. */
void cli_run_state_print(const struct cli_run_state_cfg *cfg);

#endif
