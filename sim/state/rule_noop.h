/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/rule_noop.h - rules for functions that would change nothing: remove what is gone, add what is there.
 *
 * Such a rule does not strike: a test that meant to inject it would prove nothing.
 */
#ifndef SIM_RULE_NOOP_H
#define SIM_RULE_NOOP_H

#include "function_status.h"
#include "pcie_model/topology/topology.h"
#include "sim/faults/rule/rule.h"

/* Whether each thing that @rule would have become of @function, and of its VFs and SFs, has become of them already.
 * @ret_reason says it in some words ("it is there"), if so; it is static. */
bool sim_rule_is_noop(const struct sim_rule *rule, const struct sim_function_table *functions,
		      const struct pcie_topology *topology, uint32_t function, const char **ret_reason);

#endif
