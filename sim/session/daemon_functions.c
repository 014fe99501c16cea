/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules do to functions and to their cards' links: the word that all processes look at changes, exports
 * and channels of the function end, and who sleeps is woken to see it. */
#include <string.h>

#include "daemon_priv.h"
#include "sim/clock/trouble.h"
#include "sim/log.h"

#define DOES(act) SIM_ACT_BIT(SIM_ACT_##act)

static _Atomic uint64_t *word_of(const struct daemon *daemon, uint32_t function)
{
	return &sim_board_of(&daemon->board)->functions.words[function];
}

static uint64_t load(const struct daemon *daemon, uint32_t function)
{
	return atomic_load_explicit(word_of(daemon, function), memory_order_relaxed);
}

/* What was open on it ends. */
static void cut(struct daemon *daemon, uint32_t function)
{
	sim_function_cut(word_of(daemon, function));
	daemon_revoke_all_through(daemon, function);
	daemon_end_channels_through(daemon, function);
}

static void reset(struct daemon *daemon, uint32_t function)
{
	if (load(daemon, function) & SIM_FUNCTION_GONE)
		return; /* nothing is there */
	sim_function_set(word_of(daemon, function), SIM_FUNCTION_FATAL, false);
	cut(daemon, function);
}

static void fail(struct daemon *daemon, uint32_t function)
{
	sim_function_set(word_of(daemon, function), SIM_FUNCTION_FATAL, true);
	cut(daemon, function);
}

static void take_away(struct daemon *daemon, uint32_t function)
{
	if (load(daemon, function) & SIM_FUNCTION_GONE)
		return;
	sim_function_set(word_of(daemon, function), SIM_FUNCTION_GONE, true);
	cut(daemon, function);
}

static void plug_in(struct daemon *daemon, uint32_t function)
{
	sim_function_set(word_of(daemon, function), SIM_FUNCTION_GONE | SIM_FUNCTION_FATAL | SIM_FUNCTION_REP_GONE, false);
}

static void remove_rep(struct daemon *daemon, uint32_t function)
{
	sim_function_set(word_of(daemon, function), SIM_FUNCTION_REP_GONE, true);
	daemon_end_channels_through(daemon, function);
}

/* A PF has its VFs and SFs share what becomes of it. */
static void with_children(struct daemon *daemon, uint32_t function, void (*become)(struct daemon *, uint32_t))
{
	const struct pcie_topology *topology = daemon->topology;

	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (i == function || topology->functions[i].parent == function)
			become(daemon, i);
}

static void set_num_vfs(struct daemon *daemon, uint32_t pf, uint32_t num_vfs)
{
	const struct pcie_topology *topology = daemon->topology;
	uint32_t count = 0;

	for (uint32_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (i == pf || function->parent != pf || function->type != PCIE_FUNC_VF)
			continue;
		if (count++ < num_vfs)
			plug_in(daemon, i);
		else
			take_away(daemon, i);
	}
	if (count < num_vfs)
		sim_warn("a rule wants %u VFs of %s, for which the topology describes %u: it has those; describe more",
			 num_vfs, topology->functions[pf].ibdev, count);
}

/* ---- links ---- */

static void set_down(struct daemon *daemon, uint32_t card, bool down)
{
	const struct pcie_topology *topology = daemon->topology;

	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (topology->functions[i].card == card)
			sim_function_set(word_of(daemon, i), SIM_FUNCTION_DOWN, down);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

static void trouble_link(struct daemon *daemon, uint32_t function, const struct sim_strike *strike)
{
	struct sim_clock_card *card = sim_clock_card(daemon->clock, function);
	uint64_t now_ns = daemon->events.asked_ns;

	if (strike->actions & DOES(DEGRADE))
		sim_clock_link_degrade(card, strike->link_gen, strike->link_lanes, now_ns, strike->until_ns);
	if (strike->actions & DOES(ERRORS))
		sim_clock_link_repeat(card, strike->errors_ppb, now_ns, strike->until_ns);
	if (strike->actions & DOES(DOWN)) {
		sim_clock_link_down(card, later(now_ns, strike->duration_ns));
		set_down(daemon, daemon->topology->functions[function].card, true);
		daemon_end_downs(daemon);
	}
}

void daemon_end_downs(struct daemon *daemon)
{
	const struct pcie_topology *topology = daemon->topology;
	uint64_t next_ns = SIM_NEVER_NS;

	for (uint32_t i = 0; i < topology->num_functions; i++) {
		uint64_t up_ns = sim_clock_link_up_ns(sim_clock_card(daemon->clock, i));

		if (!(load(daemon, i) & SIM_FUNCTION_DOWN))
			continue;
		if (up_ns <= daemon->events.asked_ns)
			set_down(daemon, topology->functions[i].card, false);
		else if (up_ns < next_ns)
			next_ns = up_ns;
	}
	daemon->events.link_up_ns = next_ns;
}

/* ---- asking ---- */

static void tell_all(struct daemon *daemon)
{
	for (struct conn *conn = daemon->conns; conn; conn = conn->next) {
		struct sim_msg msg = {.type = SIM_MSG_FUNCTION};

		if (conn->attached)
			daemon_send(daemon, conn, &msg, -1);
	}
}

static void act(struct daemon *daemon, uint32_t function, const struct sim_strike *strike)
{
	const struct {
		uint32_t action;
		void (*become)(struct daemon *daemon, uint32_t function);
	} changes[] = {
		{DOES(RESET), reset}, {DOES(FATAL), fail}, {DOES(REMOVE), take_away}, {DOES(ADD), plug_in},
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (strike->actions & changes[i].action)
			with_children(daemon, function, changes[i].become);
	if (strike->actions & DOES(REP_REMOVE))
		remove_rep(daemon, function);
	if (strike->actions & DOES(NUM_VFS) && daemon->topology->functions[function].type == PCIE_FUNC_PF)
		set_num_vfs(daemon, function, strike->num_vfs);
	trouble_link(daemon, function, strike);
	if (strike->actions & (DOES(RESET) | DOES(FATAL) | DOES(REMOVE) | DOES(NUM_VFS))) /* something may have ended */
		tell_all(daemon);
}

static void ask(struct daemon *daemon, enum sim_op op, uint32_t function, uint64_t since_ns)
{
	const struct pcie_function *about = &daemon->topology->functions[function];
	const struct sim_who who = {.side = about->side};
	const struct sim_site site = {.op = op, .function = function, .who = &who, .since_ns = since_ns,
				      .now_ns = daemon->events.asked_ns};
	char addr[PCIE_ADDR_TEXT_SIZE];
	struct sim_strike strike;

	if (!sim_faults_strike(daemon->events.faults, &site, &strike))
		return;
	pcie_addr_format(&about->addr, addr);
	sim_info("fault %u strikes %s %s (%s)", strike.rules[0], sim_op_name(op), addr, about->ibdev);
	act(daemon, function, &strike);
}

void daemon_ask_for_functions(struct daemon *daemon, uint64_t since_ns)
{
	for (enum sim_op op = SIM_OP_LINK; op <= SIM_OP_FUNCTION; op++)
		for (uint32_t i = 0; sim_faults_any(daemon->events.faults, op) && i < daemon->topology->num_functions; i++)
			ask(daemon, op, i, since_ns);
}
