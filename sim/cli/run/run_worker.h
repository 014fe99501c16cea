/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/run_worker.h - a temporary session with programs on its sides, from start to end.
 *
 *   daemon --> programs --> phases (run_phase.h) --> daemon ends
 *
 * The standard input of a program stays open and empty while a program of the other kind (host or DPU) runs. When
 * the last of these has ended, the worker writes one newline and closes it: some programs wait for Enter until
 * their peer is done.
 */
#ifndef SIM_CLI_RUN_RUN_WORKER_H
#define SIM_CLI_RUN_RUN_WORKER_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/cli/fault/faults.h"
#include "sim/cli/base/check_opt.h"
#include "sim/cli/base/install.h"
#include "sim/cli/base/session_start.h"
#include "run_nodes.h"
#include "start_order.h"
#include "verdict.h"

#define CLI_RUN_GRACE_MS 2000 /* between SIGTERM and SIGKILL */

struct cli_run_command {
	const char *side;
	char *label;                    /* before its lines: the side, or "SIDE#2" if the side has several */
	char *text;                     /* for /bin/sh */
	enum cli_generation generation; /* of the libraries */
};

struct cli_run_cfg {
	const struct sim_session_dir *session_dir;
	const char *topology; /* file, or NULL */
	enum sim_clock_mode clock;
	bool passes_memory;       /* as of struct sim_daemon_cfg */
	int64_t begun_ms;         /* before the supervisor began, by the monotonic clock */
	unsigned int timeout_s;   /* the supervisor ends the run then; 0 = never */
	uint32_t trace_level;     /* sim/trace/trace.h; 0 = the default */
	const char *trace_path;   /* file for the trace, or NULL */
	const char *report_path;  /* file for the report, or NULL */
	const char *metrics_path; /* file for the counts as OpenMetrics, or NULL */
	const struct cli_check_opt *check;
	const struct cli_run_command *commands;
	size_t num_commands;
	const struct cli_faults *faults; /* in the plan before programs start */
	struct cli_verdict verdict;      /* its options: is_quiet also means no lines about faults that strike */
	const char *verdict_path;        /* file for the verdict, or NULL */
	bool require_faults;             /* a plan without rules is a failure, too */
	const struct cli_start_order *order;
	bool has_nodes;             /* the machines of the topology are machines of the session */
	struct cli_run_nodes nodes; /* opened before the worker */
};

/* The worker of a supervisor (supervisor.h); @cfg is a struct cli_run_cfg. Returns 0 when all programs returned 0, except
 * those that a rule killed while others ran; else the status of the first program that failed, 128 + signal if it was
 * killed. With all programs well, returns CLI_OWN_FAILURE when bfsim failed, a fault never hit, nothing was checked, or the
 * trace or a report could not be written; and SIM_CHECK_EXIT_STATUS when the checker found a rule broken. */
int cli_run_worker(void *cfg, const sigset_t *original);

#endif
