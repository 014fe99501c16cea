/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/verdict.h - what a run has proved, apart from how its programs ended.
 *
 *   programs end --> failures of bfsim, fault rules that never hit, broken rules of the checker --> exit status
 *                                                                                             \-> a file for bfsim test
 *
 * The file is JSON: { "status": of the programs, "failures": [TEXT], "unused-faults": [{ "rule": ID, "is-random": BOOL,
 * "text": TEXT }], "broken-rules": [ID] }. A run that could not write it has failed.
 */
#ifndef SIM_CLI_RUN_VERDICT_H
#define SIM_CLI_RUN_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/faults/plan/plan.h"

struct json_object;

struct cli_verdict {
	struct json_object *failures, *unused_faults;
	struct json_object *broken_rules; /* of the checker, that are severe enough */
	bool allows_unused_faults;        /* they are no failure */
	bool is_quiet;                    /* do not print those that are no failure */
	uint64_t *
		hits_of_seeds; /* of each rule, by its id - 1, over all seeds of the command; NULL = there is one seed */
	uint32_t num_rules;    /* of that array */
};

/* Returns 0, or -1 with a message. The verdict has the options already. */
int cli_verdict_init(struct cli_verdict *verdict);
void cli_verdict_fini(struct cli_verdict *verdict);

/* Print that bfsim has failed, and keep the text. */
void cli_verdict_fail(struct cli_verdict *verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a failure whose message was printed already: the last one of cli_fail(). */
void cli_verdict_keep_failure(struct cli_verdict *verdict);

/* A rule has struck nothing; the text says why. */
void cli_verdict_add_unused(struct cli_verdict *verdict, const struct sim_plan_rule *rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A rule of the checker was broken. */
void cli_verdict_add_broken(struct cli_verdict *verdict, const char *rule_id);

/* Whether bfsim has failed. */
bool cli_verdict_has_failures(const struct cli_verdict *verdict);

/* The exit status of a run whose programs ended with @status: 0, or that of the first that failed. */
int cli_verdict_status(const struct cli_verdict *verdict, int status);

/* Write the file. Returns 0, or -1 with a message. */
int cli_verdict_write(const struct cli_verdict *verdict, int status, const char *path);

#endif
