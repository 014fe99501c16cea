/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of functions and of their cards' links: status words, revocations and notifications. */
#include "fault_events.h"
#include "rule_noop.h"
#include "pcie_model/arith.h"
#include "sim/clock/link_state.h"
#include "sim/base/log.h"

#define DOES(act) SIM_ACT_BIT(SIM_ACT_##act)

static _Atomic uint64_t *status_word_of(const struct sim_fault_events *events, uint32_t function)
{
	return &events->shared->functions.status_words[function];
}

static uint64_t load_status(const struct sim_fault_events *events, uint32_t function)
{
	return atomic_load_explicit(status_word_of(events, function), memory_order_relaxed);
}

/* End all objects that are open on a function. */
static void revoke_function(struct sim_fault_events *events, uint32_t function)
{
	sim_function_next_generation(status_word_of(events, function));
	events->ops->revoke_function(events->arg, function);
}

static void reset_function(struct sim_fault_events *events, uint32_t function)
{
	if (load_status(events, function) & SIM_FUNCTION_REMOVED)
		return; /* a removed function can't be reset */
	sim_function_set_bits(status_word_of(events, function), SIM_FUNCTION_FATAL, false);
	revoke_function(events, function);
}

static void set_function_fatal(struct sim_fault_events *events, uint32_t function)
{
	sim_function_set_bits(status_word_of(events, function), SIM_FUNCTION_FATAL, true);
	revoke_function(events, function);
}

static void remove_function(struct sim_fault_events *events, uint32_t function)
{
	if (load_status(events, function) & SIM_FUNCTION_REMOVED)
		return;
	sim_function_set_bits(status_word_of(events, function), SIM_FUNCTION_REMOVED, true);
	revoke_function(events, function);
}

static void add_function(struct sim_fault_events *events, uint32_t function)
{
	sim_function_set_bits(status_word_of(events, function),
			      SIM_FUNCTION_REMOVED | SIM_FUNCTION_FATAL | SIM_FUNCTION_REP_REMOVED, false);
}

static void remove_rep(struct sim_fault_events *events, uint32_t function)
{
	sim_function_set_bits(status_word_of(events, function), SIM_FUNCTION_REP_REMOVED, true);
	events->ops->disconnect_rep(events->arg, function);
}

/* A change of a PF also applies to its VFs and SFs. */
static void for_function_and_children(struct sim_fault_events *events, uint32_t function,
				      void (*change)(struct sim_fault_events *, uint32_t))
{
	const struct pcie_topology *topology = events->topology;

	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (i == function || topology->functions[i].parent == function)
			change(events, i);
}

static void set_num_vfs(struct sim_fault_events *events, uint32_t pf, uint32_t num_vfs)
{
	const struct pcie_topology *topology = events->topology;
	uint32_t count = 0;

	for (uint32_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (i == pf || function->parent != pf || function->type != PCIE_FUNC_VF)
			continue;
		if (count++ < num_vfs)
			add_function(events, i);
		else
			remove_function(events, i);
	}
	if (count < num_vfs)
		sim_warn("a rule wants %u VFs of %s, for which the topology describes %u: it has those; describe more",
			 num_vfs, topology->functions[pf].ibdev, count);
}

/* ---- links ---- */

static void set_link_down(struct sim_fault_events *events, uint32_t card, bool down)
{
	const struct pcie_topology *topology = events->topology;

	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (topology->functions[i].card == card)
			sim_function_set_bits(status_word_of(events, i), SIM_FUNCTION_LINK_DOWN, down);
}

/* The function that a rule hits: the argument of the injector's callbacks. */
struct function_hit {
	struct sim_fault_events *events;
	enum sim_op op;
	uint32_t function;
};

/* A rule's duration counts from its evaluation, even if the evaluation comes after its begin. */
static void degrade_link(const struct function_hit *hit, uint32_t id, const struct sim_rule *rule)
{
	struct sim_fault_events *events = hit->events;
	uint64_t now_ns = events->injected_ns;
	struct sim_clock_degrade degrade = { .generation = rule->link_gen,
					     .lanes = rule->link_lanes,
					     .replay_ppb = rule->errors_ppb };

	if (!(rule->actions & (DOES(DEGRADE) | DOES(ERRORS) | DOES(DOWN))))
		return;
	degrade.until_ns = rule->actions & (DOES(DEGRADE) | DOES(ERRORS)) ? rule->until_ns : 0;
	degrade.up_ns = rule->actions & DOES(DOWN) ? add_saturating_u64(now_ns, rule->duration_ns) : 0;
	if (sim_clock_link_degrade(sim_clock_card(events->clock, hit->function), id, &degrade, now_ns) < 0)
		sim_warn("fault %u finds no room: %d rules are at this link already; it has no effect", id,
			 SIM_CLOCK_MAX_WINDOWS);
	if (!degrade.up_ns)
		return;
	set_link_down(events, events->topology->functions[hit->function].card, true);
	sim_fault_events_update_links(events);
}

static void on_fire(void *arg, uint32_t id, const struct sim_rule *rule, uint64_t delay_ns)
{
	const struct function_hit *hit = arg;

	if (hit->op == SIM_OP_NET_LINK)
		sim_fault_events_change_net_link(hit->events, hit->function, id, rule, delay_ns);
	else
		degrade_link(hit, id, rule);
}

void sim_fault_events_update_links(struct sim_fault_events *events)
{
	const struct pcie_topology *topology = events->topology;
	uint64_t next_ns = SIM_NEVER_NS;

	for (uint32_t i = 0; i < topology->num_functions; i++) {
		uint64_t up_ns = sim_clock_link_up_ns(sim_clock_card(events->clock, i));

		if (!(load_status(events, i) & SIM_FUNCTION_LINK_DOWN))
			continue;
		if (up_ns <= events->injected_ns)
			set_link_down(events, topology->functions[i].card, false);
		else if (up_ns < next_ns)
			next_ns = up_ns;
	}
	events->link_up_ns = next_ns;
}

static bool is_in_plan(const void *arg, uint32_t rule)
{
	const struct sim_fault_events *events = arg;

	return sim_plan_has(&events->shared->plan, rule);
}

void sim_fault_events_close_removed_windows(struct sim_fault_events *events)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < events->topology->num_functions; i++) {
		if (events->topology->functions[i].card == last)
			continue; /* the functions of a card are mostly adjacent */
		last = events->topology->functions[i].card;
		sim_clock_link_restore(sim_clock_card(events->clock, i), is_in_plan, events);
	}
	sim_fault_events_restore_net_links(events, is_in_plan);
	sim_fault_events_update_links(events);
}

/* ---- evaluating rules ---- */

static void apply_hit(struct sim_fault_events *events, uint32_t function, const struct sim_fault_hit *hit)
{
	const struct {
		sim_bits action;
		void (*change)(struct sim_fault_events *events, uint32_t function);
	} changes[] = {
		{ DOES(RESET), reset_function },
		{ DOES(FATAL), set_function_fatal },
		{ DOES(REMOVE), remove_function },
		{ DOES(ADD), add_function },
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (hit->actions & changes[i].action)
			for_function_and_children(events, function, changes[i].change);
	if (hit->actions & DOES(REP_REMOVE))
		remove_rep(events, function);
	if (hit->actions & DOES(NUM_VFS) && events->topology->functions[function].type == PCIE_FUNC_PF)
		set_num_vfs(events, function, hit->num_vfs);
	if (hit->actions & (DOES(RESET) | DOES(FATAL) | DOES(REMOVE) | DOES(NUM_VFS))) /* may end open objects */
		events->ops->notify_functions_changed(events->arg);
}

static bool is_rule_noop(void *arg, uint32_t id, const struct sim_rule *rule)
{
	const struct function_hit *hit = arg;
	const struct sim_fault_events *events = hit->events;
	const struct pcie_function *function = &events->topology->functions[hit->function];
	char addr[PCIE_ADDR_TEXT_SIZE];
	const char *reason;

	if (!sim_rule_is_noop(rule, &events->shared->functions, events->topology, hit->function, &reason))
		return false;
	pcie_addr_format(&function->addr, addr);
	sim_info("fault %u does not hit function %s (%s): %s already", id, addr, function->ibdev, reason);
	return true;
}

static void inject_into_function(struct sim_fault_events *events, enum sim_op op, uint32_t function, uint64_t begin_ns)
{
	const struct pcie_function *about = &events->topology->functions[function];
	const struct sim_process process = { .side = about->side };
	struct function_hit hit = { events, op, function };
	const struct sim_fault_site site = { .op = op,
					     .function = function,
					     .process = &process,
					     .since_ns = begin_ns,
					     .upto_ns = begin_ns,
					     .now_ns = events->injected_ns,
					     .is_noop = is_rule_noop,
					     .on_fire = on_fire,
					     .arg = &hit };
	char addr[PCIE_ADDR_TEXT_SIZE];
	struct sim_fault_hit fault_hit;

	if (!sim_injector_evaluate(events->faults, &site, &fault_hit))
		return;
	pcie_addr_format(&about->addr, addr);
	sim_info("fault %u hits %s %s (%s)", fault_hit.rules[0], sim_op_name(op), addr, about->ibdev);
	apply_hit(events, function, &fault_hit);
}

static void inject_at(struct sim_fault_events *events, uint64_t begin_ns)
{
	for (enum sim_op op = SIM_OP_LINK; op <= SIM_OP_FUNCTION; op++)
		for (uint32_t i = 0; sim_injector_may_hit(events->faults, op) && i < events->topology->num_functions;
		     i++)
			inject_into_function(events, op, i, begin_ns);
	sim_fault_events_inject_trunks(events, begin_ns);
}

/* Evaluate one begin time after the other, even when several have passed: the effect of an earlier rule decides
 * whether a later rule changes anything. Each rule begins once; begin times that other processes move end here. */
void sim_fault_events_inject_functions(struct sim_fault_events *events, uint64_t since_ns)
{
	uint64_t begin_ns = sim_injector_next_event_ns(events->faults, since_ns - 1);

	for (uint32_t i = 0; i < SIM_PLAN_MAX_RULES && begin_ns <= events->injected_ns; i++) {
		inject_at(events, begin_ns);
		begin_ns = sim_injector_next_event_ns(events->faults, begin_ns);
	}
}
