/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/supervisor.h - work in a separate process, of which no process survives.
 *
 *   supervisor (this process) --forks--> worker --starts--> programs
 *
 * The supervisor turns the signals that end a command, and a time limit, into one SIGTERM to the worker. The worker
 * then has CLI_SUPERVISOR_GRACE_MS to end its programs and itself. When one of the two dies, even by SIGKILL, the
 * other ends the programs: the kernel sends the worker SIGTERM when the supervisor dies, and the supervisor adopts
 * the orphans of the worker.
 */
#ifndef SIM_CLI_RUN_SUPERVISOR_H
#define SIM_CLI_RUN_SUPERVISOR_H

#include <signal.h>

#define CLI_SUPERVISOR_GRACE_MS 5000

struct cli_supervisor_cfg {
	/* The worker. The signals that end a command are blocked: the worker must wait for SIGTERM, which asks it
	 * to end. @original is the signal mask for the programs that it starts. Returns the exit status. */
	int (*work)(void *arg, const sigset_t *original);
	void *arg;
	const sigset_t *original; /* of cli_hold_signals() */
	unsigned int timeout_s;   /* 0 = no limit */
};

/* Block the signals that end a command, and SIGPIPE: what the caller makes before the worker starts is not left behind by one.
 * @original is the mask before: set it again when that is removed. */
void cli_hold_signals(sigset_t *original);

/* After cli_hold_signals(). Returns the worker's status, 128 + the signal that asked for its end, CLI_TIMED_OUT, or that of a failure when the worker was
 * killed, with a message. */
int cli_supervise(const struct cli_supervisor_cfg *cfg);

#endif
