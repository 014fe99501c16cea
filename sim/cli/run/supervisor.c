/* SPDX-License-Identifier: BSD-3-Clause */
/* The supervisor of bfsim run: signals, the time limit, and the end of the worker. */
#include "supervisor.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "subreaper.h"

/* timeout(1) and others signal a process and then its group: a repetition within this time is the same request. */
#define REPEATED_SIGNAL_MS 500

struct supervisor {
	pid_t worker;
	sigset_t watched;
	int status;           /* reason of the end: CLI_TIMED_OUT or 128 + signal; 0 = not asked to end */
	int64_t deadline_ms;  /* end of the time limit, or of the grace period; 0 = none */
	int64_t term_sent_ms; /* time of SIGTERM */
};

/* The signals that end a command, except those that are ignored since the start (nohup). */
static void choose_signals(sigset_t *watched)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	sigemptyset(watched);
	sigaddset(watched, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct sigaction action;

		if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(watched, ends[i]);
	}
}

void cli_hold_signals(sigset_t *original)
{
	sigset_t blocked;

	choose_signals(&blocked);
	signal(SIGCHLD, SIG_DFL); /* if the parent ignored it, waitpid() would fail */
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGPIPE); /* a closed reader shows as a write error */
	sigprocmask(SIG_BLOCK, &blocked, original);
}

static void become_worker(const struct cli_supervisor_cfg *cfg, pid_t supervisor)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != supervisor)
		raise(SIGTERM); /* the supervisor died before prctl() */
	cli_become_subreaper();
	exit(cfg->work(cfg->arg, cfg->original));
}

/* End the worker: by SIGTERM the first time, then by SIGKILL. */
static void terminate_worker(struct supervisor *supervisor, int status)
{
	if (supervisor->status != 0) {
		if (sim_monotonic_ms() - supervisor->term_sent_ms >= REPEATED_SIGNAL_MS)
			kill(supervisor->worker, SIGKILL);
		return;
	}
	supervisor->status = status;
	supervisor->term_sent_ms = sim_monotonic_ms();
	supervisor->deadline_ms = supervisor->term_sent_ms + CLI_SUPERVISOR_GRACE_MS;
	kill(supervisor->worker, SIGTERM);
}

/* The time limit or the grace period is over. */
static void handle_deadline(struct supervisor *supervisor, unsigned int timeout_s)
{
	if (supervisor->status == 0) {
		cli_fail("not finished after %u s (--timeout): ending all programs", timeout_s);
		terminate_worker(supervisor, CLI_TIMED_OUT);
	} else {
		kill(supervisor->worker, SIGKILL);
		supervisor->deadline_ms = 0; /* only wait for its end */
	}
}

/* Wait for a watched signal or the deadline. Returns the signal, or 0. */
static int wait_for_signal(const struct supervisor *supervisor)
{
	int64_t left_ms = supervisor->deadline_ms - sim_monotonic_ms();
	struct timespec left = { .tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000 };
	int signal;

	if (supervisor->deadline_ms == 0)
		signal = sigwaitinfo(&supervisor->watched, NULL);
	else if (left_ms > 0)
		signal = sigtimedwait(&supervisor->watched, NULL, &left);
	else
		return 0;
	return signal > 0 ? signal : 0;
}

/* Returns the worker's status as waitpid() does. */
static int wait_for_worker(struct supervisor *supervisor, unsigned int timeout_s)
{
	int status;

	for (;;) {
		int signal = wait_for_signal(supervisor);

		if (signal == SIGCHLD) {
			if (waitpid(supervisor->worker, &status, WNOHANG) == supervisor->worker)
				return status;
		} else if (signal) {
			terminate_worker(supervisor, CLI_SIGNAL + signal);
		} else if (supervisor->deadline_ms && sim_monotonic_ms() >= supervisor->deadline_ms) {
			handle_deadline(supervisor, timeout_s);
		}
	}
}

static int final_status(const struct supervisor *supervisor, int worker_status)
{
	int status = WIFEXITED(worker_status) ? WEXITSTATUS(worker_status) : 0;

	if (WIFSIGNALED(worker_status))
		cli_kill_descendants(NULL); /* a worker that exits has done this */
	if (WIFSIGNALED(worker_status) && !supervisor->status)
		return cli_fail("the process that ran the commands was killed by signal %d", WTERMSIG(worker_status));
	return supervisor->status ? supervisor->status : status;
}

int cli_supervise(const struct cli_supervisor_cfg *cfg)
{
	struct supervisor supervisor = { 0 };
	pid_t self = getpid();
	int status;

	choose_signals(&supervisor.watched);
	cli_become_subreaper();
	fflush(NULL);
	supervisor.worker = fork();
	if (supervisor.worker == 0)
		become_worker(cfg, self);
	if (supervisor.worker < 0) {
		status = cli_fail("cannot start a process: %s", strerror(errno));
	} else {
		if (cfg->timeout_s > 0)
			supervisor.deadline_ms = sim_monotonic_ms() + (int64_t)cfg->timeout_s * 1000;
		status = final_status(&supervisor, wait_for_worker(&supervisor, cfg->timeout_s));
	}
	return status;
}
