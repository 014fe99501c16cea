/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault_events.h"

#define VIRTUAL_LOOK_MS 1
#define NS_PER_MS UINT64_C(1000000)

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The plan may have changed. */
static void look_ahead(struct sim_events *events)
{
	const struct sim_plan *plan = &events->board->plan;
	uint64_t generation = atomic_load_explicit(&plan->generation, memory_order_acquire);

	if (generation != events->generation)
		sim_events_give_back_links(events);
	if (generation == events->generation && events->next_ns > events->asked_ns)
		return;
	events->generation = generation;
	events->next_ns = sim_faults_next(events->faults, events->asked_ns);
}

uint64_t sim_events_begin_ns(struct sim_events *events)
{
	events->begun_ns = later(sim_clock_now_ns(events->clock), events->asked_ns + 1);
	return events->begun_ns;
}

void sim_events_take(struct sim_events *events)
{
	uint64_t now_ns = later(sim_clock_now_ns(events->clock), events->begun_ns), since_ns = events->asked_ns + 1;

	look_ahead(events);
	events->asked_ns = later(now_ns, events->asked_ns);
	if (events->next_ns <= events->asked_ns) {
		sim_events_ask_functions(events, since_ns);
		events->hands->ask_others(events->arg, since_ns);
		look_ahead(events);
	}
	if (events->link_up_ns <= events->asked_ns)
		sim_events_end_downs(events);
}

uint64_t sim_events_deadline_ns(const struct sim_events *events)
{
	return events->next_ns < events->link_up_ns ? events->next_ns : events->link_up_ns;
}

uint64_t sim_events_deadline_ms(const struct sim_events *events, uint64_t now_ms)
{
	uint64_t next_ns = sim_events_deadline_ns(events);

	if (next_ns == SIM_NEVER_NS)
		return UINT64_MAX;
	if (sim_clock_mode(events->clock) == SIM_CLOCK_VIRTUAL)
		return now_ms + VIRTUAL_LOOK_MS;
	return sim_clock_real_ns(events->clock, next_ns) / NS_PER_MS + 1;
}

int sim_events_init(struct sim_events *events, const struct sim_events_cfg *cfg)
{
	const struct sim_faults_cfg faults = {.plan = &cfg->board->plan, .topology = cfg->topology};

	*events = (struct sim_events){
		.board = cfg->board,
		.topology = cfg->topology,
		.clock = cfg->clock,
		.hands = cfg->hands,
		.arg = cfg->arg,
		.asked_ns = cfg->asked_ns,
		.begun_ns = cfg->asked_ns + 1, /* rules that were added before there was a card */
		.next_ns = SIM_NEVER_NS,
		.link_up_ns = 0, /* it may be down since before */
	};
	return sim_faults_create(&faults, &events->faults);
}

void sim_events_fini(struct sim_events *events)
{
	sim_faults_destroy(events->faults);
	events->faults = NULL;
}
