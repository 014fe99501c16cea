/* SPDX-License-Identifier: BSD-3-Clause */
/* Inspects the session's fault plan, and at the status words of its functions. */
#include "outside_faults.h"

#include "ctx_history.h"
#include "shim/common/pe/task_fault.h"
#include "shim/common/pe/task_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/faults/plan/plan.h"
#include "sim/state/function_status.h"

bool check_function_failed_ever(void)
{
	const struct sim_session *session = shim_session();
	uint32_t count = session ? sim_session_topology(session)->num_functions : 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t word = atomic_load_explicit(sim_session_function_status(session, i), memory_order_acquire);

		if (sim_function_generation(word) != 0 || !sim_function_is_usable(word))
			return true;
	}
	return false;
}

/* ---- rules of the plan that have hit ---- */

struct search {
	sim_bits ops, actions; /* of both, one that the rule has, too; 0 = any */
	bool is_found;
};

static void see_rule(void *arg, const struct sim_plan_rule *rule)
{
	struct search *search = arg;

	if (rule->fired > 0 && (sim_rule_ops(&rule->rule) & search->ops) &&
	    (!search->actions || rule->rule.actions & search->actions))
		search->is_found = true;
}

static bool find_rule(sim_bits ops, sim_bits actions)
{
	const struct sim_injector *faults = shim_session() ? sim_session_faults(shim_session()) : NULL;
	struct search search = { .ops = ops, .actions = actions };

	if (faults) {
		sim_plan_each(faults->plan, see_rule, &search);
		sim_plan_each_removed(faults->plan, see_rule, &search);
	}
	return search.is_found;
}

bool check_peer_was_killed(void)
{
	return find_rule(SIM_OP_BIT(SIM_OP_PEER), SIM_ACT_BIT(SIM_ACT_KILL));
}

bool check_fault_has_hit(enum sim_op op)
{
	return find_rule(SIM_OP_BIT(op), 0);
}

bool check_task_fails_from_outside(const struct doca_task *task)
{
	return check_task_was_flushed(task) || shim_task_has_fault(task, FAIL) || shim_task_has_fault(task, BREAK);
}
