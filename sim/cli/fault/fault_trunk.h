/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/fault/fault_trunk.h - rules whose device has a '/': a link between switches, "leaf0/spine". */
#ifndef SIM_CLI_FAULT_FAULT_TRUNK_H
#define SIM_CLI_FAULT_FAULT_TRUNK_H

#include "fault_check.h"

/* Check that the topology has the link, and that the rule, which is @text, can hit it. Returns 0, or -1 with the reason in
 * @ret_error. */
int cli_fault_check_trunk(const struct sim_rule *rule, const struct pcie_topology *topology, const char *text,
			  char ret_error[CLI_FAULT_ERROR_SIZE]);

#endif
