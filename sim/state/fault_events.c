/* SPDX-License-Identifier: BSD-3-Clause */
/* The schedule of timed rules: applies due events and computes the next deadline. */
#include "fault_events.h"
#include "pcie_model/arith.h"

#define VIRTUAL_POLL_MS 1
#define NS_PER_MS       UINT64_C(1000000)

/* Find the next event, if the plan changed or the last event has passed. */
static void update_next_event(struct sim_fault_events *events)
{
	const struct sim_plan *plan = &events->shared->plan;
	uint64_t generation = atomic_load_explicit(&plan->generation, memory_order_acquire);

	if (generation != events->generation)
		sim_fault_events_close_removed_windows(events);
	if (generation == events->generation && events->next_ns > events->injected_ns)
		return;
	events->generation = generation;
	events->next_ns = sim_injector_next_event_ns(events->faults, events->injected_ns);
	sim_fault_events_announce_net_links(events);
}

uint64_t sim_fault_events_rule_begin_ns(struct sim_fault_events *events)
{
	events->last_rule_ns = max_u64(sim_clock_now_ns(events->clock), events->injected_ns + 1);
	return events->last_rule_ns;
}

/* Any process can write to the clock's page. The end of time is no event's time. */
void sim_fault_events_run(struct sim_fault_events *events)
{
	uint64_t now_ns = min_u64(max_u64(sim_clock_now_ns(events->clock), events->last_rule_ns), SIM_NEVER_NS - 1),
		 since_ns = events->injected_ns + 1;

	update_next_event(events);
	events->injected_ns = max_u64(now_ns, events->injected_ns);
	if (events->next_ns <= events->injected_ns) {
		sim_fault_events_inject_functions(events, since_ns);
		events->ops->inject_others(events->arg, since_ns);
		update_next_event(events);
	}
	if (events->link_up_ns <= events->injected_ns)
		sim_fault_events_update_links(events);
}

uint64_t sim_fault_events_deadline_ns(const struct sim_fault_events *events)
{
	return events->next_ns < events->link_up_ns ? events->next_ns : events->link_up_ns;
}

uint64_t sim_fault_events_deadline_ms(const struct sim_fault_events *events, uint64_t now_ms)
{
	uint64_t next_ns = sim_fault_events_deadline_ns(events);

	if (next_ns == SIM_NEVER_NS)
		return UINT64_MAX;
	if (sim_clock_mode(events->clock) == SIM_CLOCK_VIRTUAL)
		return now_ms + VIRTUAL_POLL_MS;
	return sim_clock_real_ns(events->clock, next_ns) / NS_PER_MS + 1;
}

int sim_fault_events_init(struct sim_fault_events *events, const struct sim_fault_events_cfg *cfg)
{
	const struct sim_injector_cfg faults = { .plan = &cfg->shared->plan, .topology = cfg->topology };

	*events = (struct sim_fault_events){
		.shared = cfg->shared,
		.topology = cfg->topology,
		.clock = cfg->clock,
		.ops = cfg->ops,
		.arg = cfg->arg,
		.injected_ns = cfg->injected_ns,
		.last_rule_ns = cfg->injected_ns + 1, /* covers rules that were added before the card was created */
		.next_ns = SIM_NEVER_NS,
		.link_up_ns = 0, /* a link may be down from an earlier instance */
	};
	return sim_injector_create(&faults, &events->faults);
}

void sim_fault_events_fini(struct sim_fault_events *events)
{
	sim_injector_destroy(events->faults);
	events->faults = NULL;
}
