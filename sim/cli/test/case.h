/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/test/case.h - one run of a scenario, by "bfsim run", in a directory of its own.
 *
 *   [new] --start--> [running: pid] --its end--> finish: judged --> passed, or reasons --failed: bundle.h
 *
 * The directory has output.log (all that the run printed), trace.bfsim, hits.json with the checker, and the run's verdict
 * (sim/cli/run/verdict.h), which tells bfsim's failures apart from the programs' statuses. It is removed by cli_case_fini().
 */
#ifndef SIM_CLI_TEST_CASE_H
#define SIM_CLI_TEST_CASE_H

#include <sys/types.h>

#include "scenario.h"

/* A fault rule that never hit: its number in the run's plan, and the message. */
struct cli_case_miss {
	uint32_t rule;
	char *text;
};

struct cli_case {
	const struct cli_scenario *scenario; /* borrowed */
	bool has_seed;
	uint64_t seed;
	char *name; /* "copy", "copy seed 3" */
	char *dir;
	pid_t pid;  /* 0 = does not run */
	int status; /* of the run */
	int64_t began_ms, took_ms;
	bool is_done;
	struct cli_texts reasons;     /* why it failed; none: it passed */
	bool is_one_of_seeds;         /* the scenario has several: a random fault must hit with one of them */
	struct cli_case_miss *misses; /* random faults that did not hit; with is_one_of_seeds */
	size_t num_misses;
	char *bundle; /* of a failure; NULL = none */
};

/* Prepare a case. Returns 0, or -1 with a message. */
int cli_case_init(const struct cli_scenario *scenario, bool has_seed, uint64_t seed, struct cli_case *ret_case);

/* Start it. Returns 0, or -1 with a message. */
int cli_case_start(struct cli_case *test);

/* Its process has ended with that status of waitpid(): compare what happened with what is expected. */
void cli_case_finish(struct cli_case *test, int wait_status);

void cli_case_fini(struct cli_case *test);

/* The name of the @i-th command of the scenario before its lines in the output: "dpu", or "dpu#2". The caller frees it. */
char *cli_case_label(const struct cli_scenario *scenario, size_t i);

/* What @line, of the output, says after that label; NULL if another program wrote it. */
const char *cli_case_line_of(const char *line, const char *label);

#endif
