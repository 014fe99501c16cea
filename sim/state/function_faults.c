/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules do to functions and to their cards' links: the word that all processes look at changes, what is
 * open on the function ends, and who sleeps is woken to see it. */
#include "fault_events.h"
#include "rule_noop.h"
#include "sim/clock/link_state.h"
#include "sim/base/log.h"

#define DOES(act) SIM_ACT_BIT(SIM_ACT_##act)

static _Atomic uint64_t *word_of(const struct sim_events *events, uint32_t function)
{
	return &events->board->functions.words[function];
}

static uint64_t load(const struct sim_events *events, uint32_t function)
{
	return atomic_load_explicit(word_of(events, function), memory_order_relaxed);
}

/* What was open on it ends. */
static void cut(struct sim_events *events, uint32_t function)
{
	sim_function_cut(word_of(events, function));
	events->hands->cut(events->arg, function);
}

static void reset(struct sim_events *events, uint32_t function)
{
	if (load(events, function) & SIM_FUNCTION_GONE)
		return; /* nothing is there */
	sim_function_set(word_of(events, function), SIM_FUNCTION_FATAL, false);
	cut(events, function);
}

static void fail(struct sim_events *events, uint32_t function)
{
	sim_function_set(word_of(events, function), SIM_FUNCTION_FATAL, true);
	cut(events, function);
}

static void take_away(struct sim_events *events, uint32_t function)
{
	if (load(events, function) & SIM_FUNCTION_GONE)
		return;
	sim_function_set(word_of(events, function), SIM_FUNCTION_GONE, true);
	cut(events, function);
}

static void plug_in(struct sim_events *events, uint32_t function)
{
	sim_function_set(word_of(events, function), SIM_FUNCTION_GONE | SIM_FUNCTION_FATAL | SIM_FUNCTION_REP_GONE, false);
}

static void remove_rep(struct sim_events *events, uint32_t function)
{
	sim_function_set(word_of(events, function), SIM_FUNCTION_REP_GONE, true);
	events->hands->cut_rep(events->arg, function);
}

/* A PF has its VFs and SFs share what becomes of it. */
static void with_children(struct sim_events *events, uint32_t function, void (*become)(struct sim_events *, uint32_t))
{
	const struct pcie_topology *topology = events->topology;

	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (i == function || topology->functions[i].parent == function)
			become(events, i);
}

static void set_num_vfs(struct sim_events *events, uint32_t pf, uint32_t num_vfs)
{
	const struct pcie_topology *topology = events->topology;
	uint32_t count = 0;

	for (uint32_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (i == pf || function->parent != pf || function->type != PCIE_FUNC_VF)
			continue;
		if (count++ < num_vfs)
			plug_in(events, i);
		else
			take_away(events, i);
	}
	if (count < num_vfs)
		sim_warn("a rule wants %u VFs of %s, for which the topology describes %u: it has those; describe more",
			 num_vfs, topology->functions[pf].ibdev, count);
}

/* ---- links ---- */

static void set_down(struct sim_events *events, uint32_t card, bool down)
{
	const struct pcie_topology *topology = events->topology;

	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (topology->functions[i].card == card)
			sim_function_set(word_of(events, i), SIM_FUNCTION_DOWN, down);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* A rule that strikes a function. */
struct blow {
	struct sim_events *events;
	uint32_t function;
};

/* A rule that began while nobody looked is as long as if it had begun now. */
static void worsen_link(void *arg, uint32_t id, const struct sim_rule *rule)
{
	const struct blow *blow = arg;
	struct sim_events *events = blow->events;
	uint64_t now_ns = events->asked_ns;
	struct sim_clock_worse worse = {.generation = rule->link_gen, .lanes = rule->link_lanes, .repeat_ppb = rule->errors_ppb};

	if (!(rule->actions & (DOES(DEGRADE) | DOES(ERRORS) | DOES(DOWN))))
		return;
	worse.until_ns = rule->actions & (DOES(DEGRADE) | DOES(ERRORS)) ? rule->until_ns : 0;
	worse.up_ns = rule->actions & DOES(DOWN) ? later(now_ns, rule->duration_ns) : 0;
	if (sim_clock_link_worsen(sim_clock_card(events->clock, blow->function), id, &worse, now_ns) < 0)
		sim_warn("fault %u finds no room: %d rules are at this link already; it has no effect", id, SIM_CLOCK_MAX_WINDOWS);
	if (!worse.up_ns)
		return;
	set_down(events, events->topology->functions[blow->function].card, true);
	sim_events_end_downs(events);
}

void sim_events_end_downs(struct sim_events *events)
{
	const struct pcie_topology *topology = events->topology;
	uint64_t next_ns = SIM_NEVER_NS;

	for (uint32_t i = 0; i < topology->num_functions; i++) {
		uint64_t up_ns = sim_clock_link_up_ns(sim_clock_card(events->clock, i));

		if (!(load(events, i) & SIM_FUNCTION_DOWN))
			continue;
		if (up_ns <= events->asked_ns)
			set_down(events, topology->functions[i].card, false);
		else if (up_ns < next_ns)
			next_ns = up_ns;
	}
	events->link_up_ns = next_ns;
}

static bool is_in_plan(const void *arg, uint32_t rule)
{
	const struct sim_events *events = arg;

	return sim_plan_has(&events->board->plan, rule);
}

void sim_events_give_back_links(struct sim_events *events)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < events->topology->num_functions; i++) {
		if (events->topology->functions[i].card == last)
			continue; /* mostly they stand together */
		last = events->topology->functions[i].card;
		sim_clock_link_give_back(sim_clock_card(events->clock, i), is_in_plan, events);
	}
	sim_events_end_downs(events);
}

/* ---- asking ---- */

static void act(struct sim_events *events, uint32_t function, const struct sim_strike *strike)
{
	const struct {
		uint32_t action;
		void (*become)(struct sim_events *events, uint32_t function);
	} changes[] = {
		{DOES(RESET), reset}, {DOES(FATAL), fail}, {DOES(REMOVE), take_away}, {DOES(ADD), plug_in},
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (strike->actions & changes[i].action)
			with_children(events, function, changes[i].become);
	if (strike->actions & DOES(REP_REMOVE))
		remove_rep(events, function);
	if (strike->actions & DOES(NUM_VFS) && events->topology->functions[function].type == PCIE_FUNC_PF)
		set_num_vfs(events, function, strike->num_vfs);
	if (strike->actions & (DOES(RESET) | DOES(FATAL) | DOES(REMOVE) | DOES(NUM_VFS))) /* something may have ended */
		events->hands->tell(events->arg);
}

static bool is_moot(void *arg, uint32_t id, const struct sim_rule *rule)
{
	const struct blow *blow = arg;
	const struct sim_events *events = blow->events;
	const struct pcie_function *function = &events->topology->functions[blow->function];
	char addr[PCIE_ADDR_TEXT_SIZE];
	const char *why;

	if (!sim_rule_is_moot(rule, &events->board->functions, events->topology, blow->function, &why))
		return false;
	pcie_addr_format(&function->addr, addr);
	sim_info("fault %u does not strike function %s (%s): %s already", id, addr, function->ibdev, why);
	return true;
}

static void ask(struct sim_events *events, enum sim_op op, uint32_t function, uint64_t begin_ns)
{
	const struct pcie_function *about = &events->topology->functions[function];
	const struct sim_who who = {.side = about->side};
	struct blow blow = {events, function};
	const struct sim_site site = {.op = op, .function = function, .who = &who, .since_ns = begin_ns, .upto_ns = begin_ns,
				      .now_ns = events->asked_ns, .is_moot = is_moot, .each = worsen_link, .arg = &blow};
	char addr[PCIE_ADDR_TEXT_SIZE];
	struct sim_strike strike;

	if (!sim_faults_strike(events->faults, &site, &strike))
		return;
	pcie_addr_format(&about->addr, addr);
	sim_info("fault %u strikes %s %s (%s)", strike.rules[0], sim_op_name(op), addr, about->ibdev);
	act(events, function, &strike);
}

static void ask_all(struct sim_events *events, uint64_t begin_ns)
{
	for (enum sim_op op = SIM_OP_LINK; op <= SIM_OP_FUNCTION; op++)
		for (uint32_t i = 0; sim_faults_any(events->faults, op) && i < events->topology->num_functions; i++)
			ask(events, op, i, begin_ns);
}

/* One time after the other, also when we come late: what has become of a function by the first rule decides what the
 * next one finds to do. */
void sim_events_ask_functions(struct sim_events *events, uint64_t since_ns)
{
	uint64_t begin_ns = sim_faults_next(events->faults, since_ns - 1);

	while (begin_ns <= events->asked_ns) {
		ask_all(events, begin_ns);
		begin_ns = sim_faults_next(events->faults, begin_ns);
	}
}
