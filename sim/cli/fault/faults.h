/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/fault/faults.h - faults on the command line, and in a session.
 *
 * A command that takes --fault, --fault-plan and --seed has the part cli_faults_args, with a zeroed struct cli_faults. Rules are
 * compiled as they are parsed: an invalid rule is a usage error.
 */
#ifndef SIM_CLI_FAULT_FAULTS_H
#define SIM_CLI_FAULT_FAULTS_H

#include "sim/cli/base/args.h"

#include "sim/faults/plan/plan.h"

struct cli_fault {
	struct sim_rule rule;
	struct sim_delays *delays; /* of a file; NULL = none */
};

struct cli_faults {
	struct cli_fault *list;
	size_t count;
	bool has_seed;        /* of the option, or of a plan */
	bool has_seed_option; /* the first of the two */
	uint64_t seed;
};

extern const struct cli_args cli_faults_args;

void cli_faults_fini(struct cli_faults *faults);

/* Compile a rule and add it. Returns 0, or -1 with a message. */
int cli_faults_add(struct cli_faults *faults, const char *line);

/* Append the rules to the plan of the session @dir, and print their ids if @print_ids. Returns 0, or -1 with a
 * message. */
int cli_faults_send(const struct cli_faults *faults, int dir_fd, const char *dir, bool print_ids);

/* Inject @action at the device with that name in the session @dir, now. @duration is a time as in rules; with NULL,
 * the action has no end or contains it. Returns an exit status. A device that does not exist, or is in that state
 * already, is an error: then no rule is added. */
int cli_faults_inject_at_device(const char *dir, const char *op, const char *device, const char *action,
				const char *duration);

/* Returns whether a rule of the plan has killed the session's daemon. */
bool cli_faults_killed_daemon(const struct sim_plan *plan);

#endif
