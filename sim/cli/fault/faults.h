/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/fault/faults.h - faults on the command line, and in a session.
 *
 * A command that takes --fault, --fault-plan and --seed has the part cli_faults_args, with a zeroed struct cli_faults. Rules are
 * compiled as they are parsed: an invalid rule is a usage error.
 */
#ifndef SIM_CLI_FAULT_FAULTS_H
#define SIM_CLI_FAULT_FAULTS_H

#include "sim/cli/base/args.h"

#include "fault_change.h"
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
	const char *on; /* the machine, or the side of one, whose plan gets all of it; NULL = by what the rules name */
	uint64_t lasts_ns; /* as of struct cli_fault_change, like refuses_noop */
	bool refuses_noop;
};

extern const struct cli_args cli_faults_args;

void cli_faults_fini(struct cli_faults *faults);

/* Compile a rule and add it. Returns 0, or -1 with a message. */
int cli_faults_add(struct cli_faults *faults, const char *line);

/* Append the rules to the plans of the machines of the session @dir that have to know them (fault_targets.h), and print their ids
 * if @print_ids: "NUMBER", or "MACHINE:NUMBER" if the session has several machines. Returns 0, or -1 with a message. */
int cli_faults_send(const struct cli_faults *faults, int dir_fd, const char *dir, bool print_ids);

/* Make a change without a rule on all machines, or on @on. Returns 0, or -1 with a message. */
int cli_faults_change(const char *dir, int dir_fd, const struct cli_fault_change *change, const char *on);

/* Inject @action at the device with that name in the session @dir, now. @duration is a time as in rules; with NULL,
 * the action has no end or contains it. @on is a side, or a machine; NULL = wherever the device is. Returns an exit status. A device that does not exist, or is in that state
 * already, is an error: then no rule is added. */
int cli_faults_inject_at_device(const char *dir, const char *op, const char *on, const char *device, const char *action,
				const char *duration);

/* How often rules of the plan have killed what @op names: processes, or the session's daemon. */
uint64_t cli_faults_num_kills(const struct sim_plan *plan, enum sim_op op);

#endif
