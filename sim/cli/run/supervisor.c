/* SPDX-License-Identifier: BSD-3-Clause */
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

/* timeout(1) and others signal a process and then its group: that is one request. */
#define REPEATED_SIGNAL_MS 500

struct supervisor {
	pid_t worker;
	sigset_t watched;
	int status;           /* why it was ended: CLI_TIMED_OUT or 128 + signal; 0 = it was not */
	int64_t deadline_ms;  /* when it must have ended; 0 = never */
	int64_t term_sent_ms; /* when it was asked to end */
};

/* The signals that end a command, except those that we were started to ignore (nohup). */
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

static void block_signals(const sigset_t *watched, sigset_t *original)
{
	sigset_t blocked = *watched;

	signal(SIGCHLD, SIG_DFL); /* a parent that ignored it would make our waits fail */
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGPIPE); /* a reader that went away is a failed write */
	sigprocmask(SIG_BLOCK, &blocked, original);
}

static void run_worker(const struct cli_supervisor_cfg *cfg, pid_t supervisor, const sigset_t *original)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != supervisor)
		raise(SIGTERM); /* it died before; the worker sees this as soon as it looks */
	cli_become_subreaper();
	exit(cfg->work(cfg->arg, original));
}

/* End the worker: gently the first time, then at once. */
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

/* The deadline is reached: of the work, or of its end. */
static void handle_deadline(struct supervisor *supervisor, unsigned int timeout_s)
{
	if (supervisor->status == 0) {
		cli_fail("not finished after %u s (--timeout): ending all", timeout_s);
		terminate_worker(supervisor, CLI_TIMED_OUT);
	} else {
		kill(supervisor->worker, SIGKILL);
		supervisor->deadline_ms = 0; /* now only wait */
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

/* Returns what waitpid() says of the worker. */
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
	int status = WIFEXITED(worker_status) ? WEXITSTATUS(worker_status) : CLI_SIGNAL + WTERMSIG(worker_status);

	if (WIFSIGNALED(worker_status))
		cli_kill_descendants(0); /* else the worker did */
	return supervisor->status ? supervisor->status : status;
}

int cli_supervise(const struct cli_supervisor_cfg *cfg)
{
	struct supervisor supervisor = { 0 };
	pid_t self = getpid();
	sigset_t original;
	int status;

	choose_signals(&supervisor.watched);
	block_signals(&supervisor.watched, &original);
	cli_become_subreaper();
	fflush(NULL);
	supervisor.worker = fork();
	if (supervisor.worker == 0)
		run_worker(cfg, self, &original);
	if (supervisor.worker < 0) {
		status = cli_fail("cannot start a process: %s", strerror(errno));
	} else {
		if (cfg->timeout_s > 0)
			supervisor.deadline_ms = sim_monotonic_ms() + (int64_t)cfg->timeout_s * 1000;
		status = final_status(&supervisor, wait_for_worker(&supervisor, cfg->timeout_s));
	}
	sigprocmask(SIG_SETMASK, &original, NULL);
	return status;
}
