/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/fault/fault_targets.h - the machines whose plans have to know a rule.
 *
 *   an option --on MACHINE or SIDE              that machine
 *   a rule for net.link, or machine.link        all: programs on each of them ask whether a link is up; each has links of its own
 *   a rule for machine                          the machines of that name
 *   a rule for a process id or for the daemon, or for the program bfsim-gateway      this one
 *   a side or a device in the rule              the machines that have it
 *   else                                        all
 */
#ifndef SIM_CLI_FAULT_FAULT_TARGETS_H
#define SIM_CLI_FAULT_FAULT_TARGETS_H

#include "sim/cli/reach/reach.h"
#include "sim/faults/rule/rule.h"

struct cli_fault_targets {
	bool list[4096]; /* by the machines' numbers in struct cli_machines */
	bool is_named;   /* the rule, or the option, names them: each must have joined */
};

/* @on may be NULL. Returns 0, or -1 with a message. A session on one machine has no targets. */
int cli_fault_targets_find(const struct cli_machines *machines, const struct pcie_topology *topology,
			   const struct sim_rule *rule, const char *on, struct cli_fault_targets *ret_targets);

#endif
