/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that are applied: logged, and recorded. */
#include "inject.h"

#include "sim/base/log.h"
#include "sim/trace/trace.h"

/* Record each rule that hit, so that the run can be repeated. */
static void trace_rule_hits(uint32_t object, const struct sim_fault_site *site, const struct sim_fault_hit *hit)
{
	for (uint32_t i = 0; i < hit->num_rules && i < SIM_FAULT_HIT_MAX_RULES; i++) {
		struct sim_trace_fault_hit entry = { .rule = hit->rules[i],
						     .operation = sim_op_name(site->op),
						     .match = hit->matches[i],
						     .bytes = site->size,
						     .delay_ns = hit->delays_ns[i] };

		sim_trace_fault(object, &entry);
	}
}

bool sim_inject(struct sim_injector *injector, const struct sim_clock *clock, struct sim_fault_site *site,
		uint32_t object, struct sim_fault_hit *ret_hit)
{
	if (sim_injector_needs_time(injector, site->op))
		site->now_ns = sim_clock_now_ns(clock);
	if (!sim_injector_evaluate(injector, site, ret_hit))
		return false;
	trace_rule_hits(object, site, ret_hit);
	sim_info("fault %u hits %s of %llu bytes", ret_hit->rules[0], sim_op_name(site->op),
		 (unsigned long long)site->size);
	return true;
}
