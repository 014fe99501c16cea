/* SPDX-License-Identifier: BSD-3-Clause */
/* Detection of rules that would change nothing on a function. */
#include "rule_noop.h"

#include <stddef.h>

#define DOES(act) SIM_ACT_BIT(SIM_ACT_##act)
#define UNUSABLE  (SIM_FUNCTION_REMOVED | SIM_FUNCTION_FATAL | SIM_FUNCTION_REP_REMOVED)

/* The target of each action: one of these bits is set (@set), or none of them is. */
static const struct {
	sim_bits action;
	bool set;
	bool with_children;
	uint64_t bits;
	const char *reason;
} targets[] = {
	{ DOES(RESET), true, true, SIM_FUNCTION_REMOVED, "it is removed" },
	{ DOES(FATAL), true, true, SIM_FUNCTION_REMOVED | SIM_FUNCTION_FATAL, "it is removed, or has failed" },
	{ DOES(REMOVE), true, true, SIM_FUNCTION_REMOVED, "it is removed" },
	{ DOES(ADD), false, true, UNUSABLE, "it is there" },
	{ DOES(REP_REMOVE), true, false, SIM_FUNCTION_REP_REMOVED, "its representor is removed" },
};

static bool has_bits(const struct sim_function_table *functions, uint32_t function, uint64_t bits)
{
	return atomic_load_explicit(&functions->status_words[function], memory_order_relaxed) & bits;
}

static bool is_at_target(size_t target, const struct sim_function_table *functions,
			 const struct pcie_topology *topology, uint32_t function)
{
	for (uint32_t i = 0; i < topology->num_functions; i++) {
		bool is_child = targets[target].with_children && topology->functions[i].parent == function;

		if ((i == function || is_child) && has_bits(functions, i, targets[target].bits) != targets[target].set)
			return false;
	}
	return true;
}

/* Whether the first @num_vfs VFs are usable and the others are removed. */
static bool has_num_vfs(const struct sim_function_table *functions, const struct pcie_topology *topology, uint32_t pf,
			uint32_t num_vfs)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (i == pf || function->parent != pf || function->type != PCIE_FUNC_VF)
			continue;
		if (count++ < num_vfs ? has_bits(functions, i, UNUSABLE) :
					!has_bits(functions, i, SIM_FUNCTION_REMOVED))
			return false;
	}
	return true;
}

bool sim_rule_is_noop(const struct sim_rule *rule, const struct sim_function_table *functions,
		      const struct pcie_topology *topology, uint32_t function, const char **ret_reason)
{
	sim_bits remaining = rule->actions;
	const char *reason = NULL;

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (!(remaining & targets[i].action))
			continue;
		if (!is_at_target(i, functions, topology, function))
			return false;
		remaining &= ~targets[i].action;
		reason = targets[i].reason;
	}
	if (remaining & DOES(NUM_VFS)) {
		if (!has_num_vfs(functions, topology, function, rule->num_vfs))
			return false;
		remaining &= ~DOES(NUM_VFS);
		reason = "it has so many VFs";
	}
	if (remaining || !reason)
		return false; /* an action on a link, or one that is not in the table */
	*ret_reason = reason;
	return true;
}
