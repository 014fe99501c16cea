/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/fault/fault_check.h - rules that can't hit on a card: refused, since a rule that never hits tests nothing. */
#ifndef SIM_CLI_FAULT_FAULT_CHECK_H
#define SIM_CLI_FAULT_FAULT_CHECK_H

#include "pcie_model/topology/topology.h"
#include "sim/clock/clock.h"
#include "sim/faults/rule/rule.h"

#define CLI_FAULT_ERROR_SIZE (SIM_RULE_TEXT_SIZE + 512)

/* Check that the card has the side and the device that @rule names, and that its clock shows what the rule does. Returns 0, or
 * -1 with the reason in @ret_error. */
int cli_fault_check(const struct sim_rule *rule, const struct pcie_topology *topology, enum sim_clock_mode mode,
		    char ret_error[CLI_FAULT_ERROR_SIZE]);

#endif
