/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/rule_noop.h - rules that would change nothing, such as the removal of a removed function.
 *
 * Such a rule does not hit: a test that relies on the fault would prove nothing.
 */
#ifndef SIM_RULE_NOOP_H
#define SIM_RULE_NOOP_H

#include "function_status.h"
#include "pcie_model/topology/topology.h"
#include "sim/faults/rule/rule.h"

/* Returns true when @function, with its VFs and SFs, is already in the state that @rule would cause.
 * *ret_reason is then a static text that describes the state ("it is there"). */
bool sim_rule_is_noop(const struct sim_rule *rule, const struct sim_function_table *functions,
		      const struct pcie_topology *topology, uint32_t function, const char **ret_reason);

#endif
