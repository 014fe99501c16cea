/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/run_worker.h - a session of its own, with programs on its sides, from start to end.
 *
 *   daemon --> programs --> [running] --all ended----+
 *                               | one failed, or     v
 *                               | asked to end --> [ending] --nothing left--> daemon ends
 *                                                    | patience over: what is left is killed
 *
 * A program's standard input stays open and empty while a program of the other
 * kind runs (hosts against DPUs). When the last of those has ended, it brings
 * one newline and its end: what a program that waits for Enter, until its peer
 * is done, needs.
 */
#ifndef SIM_CLI_RUN_RUN_WORKER_H
#define SIM_CLI_RUN_RUN_WORKER_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/cli/fault/faults.h"
#include "sim/cli/base/install.h"
#include "sim/cli/base/session_start.h"

#define CLI_RUN_GRACE_MS 2000 /* between SIGTERM and SIGKILL */

struct cli_run_command {
	const char *side;
	const char *text;               /* for /bin/sh */
	enum cli_generation generation; /* whose libraries */
};

struct cli_run_cfg {
	const struct sim_session_dir *session_dir;
	const char *topology; /* file, or NULL */
	enum sim_clock_mode clock;
	uint32_t trace_level;    /* sim/trace/trace.h; 0 = the usual */
	const char *trace_path;  /* file for the trace, or NULL */
	const char *report_path; /* file for the report, or NULL */
	const struct cli_run_command *commands;
	size_t num_commands;
	const struct cli_faults *faults; /* in the plan from the start */
	bool require_faults;             /* one that never struck is a failure */
};

/* The worker of a supervisor (guard.h); @cfg is a struct cli_run_cfg. Returns 0 when all
 * programs did (and all faults struck, where that is required), else the status of
 * the first that failed, 128 + signal if it was killed;
 * CLI_FAILED as well when all went well but the trace, or the report. */
int cli_run_worker(void *cfg, const sigset_t *original);

#endif
