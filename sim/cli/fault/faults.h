/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/fault/faults.h - faults on the command line, and what became of them.
 *
 * A command that takes --fault, --fault-plan and --seed lists cli_faults_argp among
 * its argp children, with a zeroed struct cli_faults as input. Rules are compiled
 * as they are read: a wrong one is a wrong command line.
 */
#ifndef SIM_CLI_FAULT_FAULTS_H
#define SIM_CLI_FAULT_FAULTS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/faults/plan/plan.h"

struct cli_fault {
	struct sim_rule rule;
	struct sim_delays *delays; /* NULL = it needs none */
};

struct cli_faults {
	struct cli_fault *list;
	size_t count;
	bool has_seed;
	uint64_t seed;
};

extern const struct argp cli_faults_argp;

void cli_faults_fini(struct cli_faults *faults);

/* Compile a line and add it. Returns 0, or -1 after it said what is wrong with it. */
int cli_faults_add(struct cli_faults *faults, const char *line);

/* Put them into the plan of the session @dir, behind what is there; print their ids if
 * @print_ids. Returns 0 or -1. */
int cli_faults_send(const struct cli_faults *faults, int dir_fd, const char *dir, bool print_ids);

/* Have @action happen now to the device of that name in the session @dir, and last for
 * @duration (a time as in rules; NULL: it has no end, or says it itself). Returns the exit
 * status; the line on standard error says why not, also when there is no such device, or it is as @action would have it already: then no rule is added. */
int cli_faults_inject_at_device(const char *dir, const char *op, const char *device, const char *action,
				const char *duration);

/* Say on standard error which rules of a plan never struck, and with @with_hits also which
 * did. Returns how many never did. */
int cli_faults_report(const struct sim_plan *plan, bool with_hits);

/* Whether a rule of the plan has killed the session's daemon. */
bool cli_faults_killed_daemon(const struct sim_plan *plan);

#endif
