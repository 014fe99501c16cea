/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/run_priv.h - a run, for the worker (run_worker.c), the start of its programs (run_start.c) and their end
 * (run_explain.c, run_struck.c). */
#ifndef SIM_CLI_RUN_RUN_PRIV_H
#define SIM_CLI_RUN_RUN_PRIV_H

#include <stdbool.h>
#include <sys/types.h>

#include "check_results.h"
#include "fault_watch.h"
#include "program.h"
#include "run_phase.h"
#include "run_worker.h"
#include "verdict.h"
#include "sim/clock/launch.h"
#include "sim/state/shared_state.h"

#define CLI_RUN_START_POLL_MS 20 /* while commands wait for a service or a time */

struct run {
	struct cli_run_cfg *cfg;
	const sigset_t *original;
	pid_t daemon;                      /* 0 = it ended */
	pid_t *daemons;                    /* room for those of all machines */
	struct sim_segment shared_state;   /* stays when the daemon does not */
	struct cli_check_hits hits;        /* if programs are checked */
	int signal_fd;                     /* SIGCHLD and SIGTERM */
	int epoll_fd;                      /* signals, and output of the programs */
	struct cli_program *programs;      /* the first num_programs of them were started */
	struct sim_clock_launch *launches; /* of the commands; in virtual time */
	size_t num_programs;
	int64_t began_ms;
	struct cli_fault_watch watch;
	struct cli_verdict verdict;
	int status; /* of the first program that failed, 0 = none */
	enum cli_run_phase phase;
	bool end_requested; /* by a signal or the timeout */
	int64_t kill_at_ms; /* while ending */
	uint64_t ended_ns;  /* session time of the begin of the end */
};

static inline bool cli_run_is_ending(const struct run *run)
{
	return run->phase != CLI_RUN_RUNNING;
}

static inline struct sim_clock_page *cli_run_clock_page(const struct run *run)
{
	return &sim_shared_state_of(&run->shared_state)->clock;
}

/* Programs that run; and those that wait for a service or a time. */
size_t cli_run_count_running(const struct run *run);
size_t cli_run_count_pending(const struct run *run);

/* Start those that wait for nothing. Returns 0, or -1 with a message. */
int cli_run_start_programs(struct run *run);

/* Start those that wait no longer. Returns 0, or -1 with a message: one can't be started, or what it waits for can't come
 * any more. */
int cli_run_start_due(struct run *run);

/* run_struck.c: the rules of a machine, which is home if @node is NULL; a program's machine. */
const struct sim_plan *cli_run_plan(const struct run *run, const struct cli_run_node *node);
const struct cli_run_node *cli_run_node_of(const struct run *run, const struct cli_program *program);

/* Whether a rule has killed the machine; or the program, which has ended, or its machine. A shell whose command was killed ends
 * as if it were itself. */
bool cli_run_machine_was_struck(const struct run *run, const struct cli_run_node *node);
bool cli_run_was_struck(const struct run *run, const struct cli_program *program);

/* Before programs are ended that did not end by themselves: say what the card did for them (run_state.h). @failed has ended; NULL =
 * the run is ended from outside. */
void cli_run_explain(const struct run *run, const struct cli_program *failed, bool was_killed);

/* Write the signal that ended a program, such as " (segmentation fault)" or " (SIGKILL)", or nothing. A shell passes a signal on
 * as its own status. Returns whether it was one. */
bool cli_run_describe_death(int code, char *text, size_t size);

#endif
