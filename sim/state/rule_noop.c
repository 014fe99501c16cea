/* SPDX-License-Identifier: BSD-3-Clause */
#include "rule_noop.h"

#include <stddef.h>

#define DOES(act) SIM_ACT_BIT(SIM_ACT_##act)
#define UNUSABLE (SIM_FUNCTION_GONE | SIM_FUNCTION_FATAL | SIM_FUNCTION_REP_GONE)

/* An action moves a function to where one of these bits is set, or none of them is. */
static const struct {
	uint32_t action;
	bool set;
	bool with_children;
	uint64_t bits;
	const char *why;
} ends[] = {
	{DOES(RESET), true, true, SIM_FUNCTION_GONE, "it is removed"},
	{DOES(FATAL), true, true, SIM_FUNCTION_GONE | SIM_FUNCTION_FATAL, "it is removed, or has failed"},
	{DOES(REMOVE), true, true, SIM_FUNCTION_GONE, "it is removed"},
	{DOES(ADD), false, true, UNUSABLE, "it is there"},
	{DOES(REP_REMOVE), true, false, SIM_FUNCTION_REP_GONE, "its representor is removed"},
};

static bool has(const struct sim_functions *functions, uint32_t function, uint64_t bits)
{
	return atomic_load_explicit(&functions->words[function], memory_order_relaxed) & bits;
}

static bool is_at_end(size_t end, const struct sim_functions *functions, const struct pcie_topology *topology,
		      uint32_t function)
{
	for (uint32_t i = 0; i < topology->num_functions; i++) {
		bool is_child = ends[end].with_children && topology->functions[i].parent == function;

		if ((i == function || is_child) && has(functions, i, ends[end].bits) != ends[end].set)
			return false;
	}
	return true;
}

/* The first so many are there and the others are not. */
static bool has_num_vfs(const struct sim_functions *functions, const struct pcie_topology *topology, uint32_t pf,
			uint32_t num_vfs)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (i == pf || function->parent != pf || function->type != PCIE_FUNC_VF)
			continue;
		if (count++ < num_vfs ? has(functions, i, UNUSABLE) : !has(functions, i, SIM_FUNCTION_GONE))
			return false;
	}
	return true;
}

bool sim_rule_is_moot(const struct sim_rule *rule, const struct sim_functions *functions,
		      const struct pcie_topology *topology, uint32_t function, const char **ret_why)
{
	uint32_t open = rule->actions;
	const char *why = NULL;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!(open & ends[i].action))
			continue;
		if (!is_at_end(i, functions, topology, function))
			return false;
		open &= ~ends[i].action;
		why = ends[i].why;
	}
	if (open & DOES(NUM_VFS)) {
		if (!has_num_vfs(functions, topology, function, rule->num_vfs))
			return false;
		open &= ~DOES(NUM_VFS);
		why = "it has so many VFs";
	}
	if (open || !why)
		return false; /* the link's, or none of ours */
	*ret_why = why;
	return true;
}
