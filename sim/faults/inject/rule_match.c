/* SPDX-License-Identifier: BSD-3-Clause */
/* The conditions of a rule: process, device, operation. */
#include <string.h>

#include "rule_index_priv.h"

bool sim_side_pattern_matches(const char *pattern, const char *side)
{
	const char *last = strrchr(side, '/');

	return sim_glob(pattern, side) || (last && !strchr(pattern, '/') && sim_glob(pattern, last + 1));
}

bool sim_rule_matches_process(const struct sim_rule *rule, const struct sim_process *process)
{
	if (!(rule->where & (SIM_WHERE_SIDE | SIM_WHERE_PROGRAM | SIM_WHERE_PID)))
		return true;
	if (!process)
		return false;
	if ((rule->where & SIM_WHERE_SIDE) && !(process->side && sim_side_pattern_matches(rule->side, process->side)))
		return false;
	if ((rule->where & SIM_WHERE_PROGRAM) && !(process->program && sim_glob(rule->program, process->program)))
		return false;
	return !(rule->where & SIM_WHERE_PID) || rule->pid == process->pid;
}

/* The index knows size and address as well, to skip rules: another condition stands here alone. */
bool sim_rule_matches_operation(const struct sim_rule *rule, const struct sim_fault_site *site)
{
	return site->size >= rule->size_min && site->size <= rule->size_max && site->addr <= rule->addr_max &&
	       sim_fault_site_last_addr(site) >= rule->addr_min;
}

/* The pattern is for an RDMA device's name, or for an address with or without its domain. */
bool sim_device_pattern_matches(const char *device, const struct pcie_function *function)
{
	char addr[PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&function->addr, addr);
	return sim_glob(device, function->ibdev) || sim_glob(device, addr) ||
	       (function->addr.domain == 0 && sim_glob(device, addr + strlen("0000:")));
}
