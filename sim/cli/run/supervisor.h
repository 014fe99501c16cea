/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/supervisor.h - work in a process of its own, of which nothing survives.
 *
 *   supervisor (this process) --forks--> worker --starts--> programs
 *
 * The supervisor turns the signals that end a command, and a time limit, into one
 * SIGTERM to the worker, which then has CLI_SUPERVISOR_GRACE_MS to end what it
 * started and itself. Whichever of the two dies, even by SIGKILL, the other ends
 * the programs: the worker is sent SIGTERM when the supervisor dies; orphans of the
 * worker fall to the supervisor.
 */
#ifndef SIM_CLI_RUN_SUPERVISOR_H
#define SIM_CLI_RUN_SUPERVISOR_H

#include <signal.h>

#define CLI_SUPERVISOR_GRACE_MS 5000

struct cli_supervisor_cfg {
	/* The worker. It runs with the usual signals blocked: SIGTERM asks it to end,
	 * and waits until it looks. @original is the mask for programs that it
	 * starts. Returns the exit status. */
	int (*work)(void *arg, const sigset_t *original);
	void *arg;
	unsigned int timeout_s; /* 0 = no limit */
};

/* Returns the worker's status, 128 + signal when one ended it, or CLI_TIMED_OUT. */
int cli_supervise(const struct cli_supervisor_cfg *cfg);

#endif
