/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a rule as a whole: whether it can act, and whether untrusted memory holds a rule. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pcie_model/pci_addr.h"
#include "rule_priv.h"

#define A(act) SIM_ACT_BIT(SIM_ACT_##act)

/* Each of these decides the outcome of the operation alone: a rule has at most one of them. */
#define EXCLUSIVE_ACTIONS \
	(SIM_ACTS_TERMINAL | A(STALL) | A(DOWN) | A(DEGRADE) | A(ADD) | A(NUM_VFS) | A(REP_REMOVE) | A(PAUSE))

/* No other action can accompany these: nothing is left to delay, corrupt or duplicate. */
#define SOLE_ACTIONS (A(HANG) | A(REFUSE) | A(DROP))

#define CONNECT_OPS (SIM_OP_BIT(SIM_OP_COMCH_CONNECT) | SIM_OP_BIT(SIM_OP_COMM_CHANNEL_CONNECT))

uint64_t sim_rule_ops(const struct sim_rule *rule)
{
	uint64_t ops = 0;

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		if ((rule->actions & ~sim_op_actions(op)) == 0 && (rule->where & ~sim_op_where(op)) == 0)
			ops |= SIM_OP_BIT(op);
	ops &= rule->ops;
	if (rule->refuse_status)
		ops &= ~CONNECT_OPS;
	if ((rule->actions & A(FAIL)) && rule->status != SIM_STATUS_NO_MEMORY)
		ops &= ~SIM_OP_BIT(SIM_OP_ALLOC);
	if (sim_rule_moves(rule))
		ops &= SIM_OPS_MOVING;
	return ops;
}

/* ---- contradictions ---- */

static int set_conflict(struct sim_rule_conflict *conflict, const char *word, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int set_conflict(struct sim_rule_conflict *conflict, const char *word, const char *format, ...)
{
	va_list args;

	conflict->word = word;
	va_start(args, format);
	vsnprintf(conflict->text, sizeof(conflict->text), format, args);
	va_end(args);
	return -EINVAL;
}

static enum sim_act first_act(uint32_t actions)
{
	return (enum sim_act)__builtin_ctz(actions);
}

static int check_actions(const struct sim_rule *rule, struct sim_rule_conflict *conflict)
{
	uint32_t exclusive = rule->actions & EXCLUSIVE_ACTIONS;
	uint32_t others;

	if (!rule->actions)
		return set_conflict(conflict, NULL,
				    "the rule does nothing; add an action, for instance fail=IO_FAILED or "
				    "delay=10us");
	if (exclusive) {
		enum sim_act act = first_act(exclusive & SOLE_ACTIONS ? exclusive & SOLE_ACTIONS : exclusive);

		others = (exclusive & SOLE_ACTIONS ? rule->actions : exclusive) & ~SIM_ACT_BIT(act);
		if (others)
			return set_conflict(conflict, sim_act_name(first_act(others)),
					    "%s: cannot be combined with %s; "
					    "write two rules",
					    sim_act_name(first_act(others)), sim_act_name(act));
	}
	if (sim_rule_moves(rule) && !(rule->actions & A(FAIL)))
		return set_conflict(conflict, "moved", "moved: goes with fail only; it says what was written before");
	return 0;
}

static int check_after(const struct sim_rule *rule, struct sim_rule_conflict *conflict)
{
	if (!(rule->when & SIM_WHEN_AFTER))
		return 0;
	if (rule->ops & ~SIM_OPS_EVENTS)
		return set_conflict(
			conflict, "after",
			"after: goes with events (link, function, peer, daemon); of operations, skip and nth count");
	if (rule->actions & A(FAIL))
		return set_conflict(conflict, "fail", "fail: is not an action of events");
	if (rule->when & (SIM_WHEN_NTH | SIM_WHEN_EVERY | SIM_WHEN_SKIP))
		return set_conflict(
			conflict, "after",
			"after: cannot be combined with nth, every or skip; its own nth=N is in its quotes");
	if (rule->when & SIM_WHEN_FROM)
		return set_conflict(conflict, "from",
				    "from: cannot be combined with after; the event begins at the operation");
	return 0;
}

static int check_when(const struct sim_rule *rule, struct sim_rule_conflict *conflict)
{
	if (check_after(rule, conflict))
		return -EINVAL;
	if ((rule->when & SIM_WHEN_NTH) && (rule->when & SIM_WHEN_EVERY))
		return set_conflict(conflict, "every",
				    "every: cannot be combined with nth; nth hits once, every hits again and again "
				    "(skip says from where on)");
	if ((rule->when & SIM_WHEN_NTH) && (rule->when & SIM_WHEN_TIMES))
		return set_conflict(
			conflict, "times",
			"times: cannot be combined with nth, which hits once; every=N times=M hits M times");
	if (rule->until_ns <= rule->from_ns)
		return set_conflict(conflict, "until", "until: is not later than from; the rule would never act");
	if (rule->size_min > rule->size_max)
		return set_conflict(conflict, "size",
				    "size: nothing is at least as large as one bound and at most as large "
				    "as the other");
	if (rule->addr_min > rule->addr_max)
		return set_conflict(conflict, "addr", "addr: the range ends before it begins");
	return 0;
}

static int check_delay(const struct sim_rule *rule, struct sim_rule_conflict *conflict)
{
	if (rule->delay_kind == SIM_DELAY_UNIFORM && rule->delay_a > rule->delay_b)
		return set_conflict(conflict, "delay", "delay: uniform(LEAST, MOST) has the smaller one first");
	if (rule->delay_kind == SIM_DELAY_LOGNORMAL && !rule->delay_a)
		return set_conflict(conflict, "delay", "delay: lognormal(MEAN, DEVIATION) needs a mean above 0");
	if (rule->delay_kind == SIM_DELAY_PARETO && (!rule->delay_a || rule->delay_b < SIM_PPB / 100))
		return set_conflict(conflict, "delay",
				    "delay: pareto(LEAST, ALPHA) needs a least delay above 0 and an alpha "
				    "of at least 0.01");
	return 0;
}

/* ---- why no operation is left ---- */

static int set_action_conflict(const struct sim_rule *rule, struct sim_rule_conflict *conflict, enum sim_act act)
{
	char names[SIM_RULE_ERROR_SIZE / 2], possible[SIM_RULE_ERROR_SIZE / 2];
	uint32_t actions = 0;

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		if (rule->ops & SIM_OP_BIT(op))
			actions |= sim_op_actions(op);
	sim_write_names(rule->ops, sim_op_name_at, names, sizeof(names));
	sim_write_names(actions, sim_act_name_at, possible, sizeof(possible));
	return set_conflict(conflict, sim_act_name(act), "%s: is not an action of %s; actions there: %s",
			    sim_act_name(act), names, possible);
}

static const struct {
	enum sim_where where;
	const char *word;
} conditions[] = {
	{ SIM_WHERE_SIDE, "side" },     { SIM_WHERE_PROGRAM, "program" }, { SIM_WHERE_PID, "pid" },
	{ SIM_WHERE_DEVICE, "device" }, { SIM_WHERE_SIZE, "size" },       { SIM_WHERE_ADDR, "addr" },
};

static const char *condition_name(size_t i)
{
	return conditions[i].word;
}

static uint32_t conditions_of(uint64_t ops)
{
	uint32_t where = 0;

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		if (ops & SIM_OP_BIT(op))
			where |= sim_op_where(op);
	return where;
}

static int set_condition_conflict(const struct sim_rule *rule, struct sim_rule_conflict *conflict, const char *word)
{
	char names[SIM_RULE_ERROR_SIZE / 2], possible[SIM_RULE_ERROR_SIZE / 2];

	sim_write_names(rule->ops, sim_op_name_at, names, sizeof(names));
	sim_write_names(conditions_of(rule->ops), condition_name, possible, sizeof(possible));
	return set_conflict(conflict, word, "%s: is not a condition of %s; conditions there: %s", word, names,
			    *possible ? possible : "none");
}

static int check_ops(const struct sim_rule *rule, struct sim_rule_conflict *conflict)
{
	if (sim_rule_ops(rule))
		return 0;
	for (enum sim_act act = 0; act < SIM_ACT_COUNT; act++)
		if ((rule->actions & SIM_ACT_BIT(act)) && !(rule->ops & sim_act_ops(act)))
			return set_action_conflict(rule, conflict, act);
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (rule->where & conditions[i].where & ~conditions_of(rule->ops))
			return set_condition_conflict(rule, conflict, conditions[i].word);
	if (rule->refuse_status && !(rule->ops & sim_act_ops(SIM_ACT_REFUSE) & ~CONNECT_OPS))
		return set_conflict(conflict, "refuse",
				    "refuse: of a connection has no status; write refuse, or fail=%s",
				    sim_status_name(rule->refuse_status));
	if (sim_rule_moves(rule) && !(rule->ops & SIM_OPS_MOVING))
		return set_conflict(
			conflict, "moved",
			"moved: only dma.memcpy and tasks of engines (sha, compress and others) can fail with a part of it done");
	if (rule->ops == SIM_OP_BIT(SIM_OP_ALLOC) && rule->status != SIM_STATUS_NO_MEMORY)
		return set_conflict(conflict, "fail", "fail: alloc fails with NO_MEMORY and nothing else");
	return set_conflict(conflict, NULL,
			    "the rule can never act: none of its operations takes all of its conditions and "
			    "actions; write several rules");
}

int sim_rule_find_conflict(const struct sim_rule *rule, struct sim_rule_conflict *ret_conflict)
{
	if (check_actions(rule, ret_conflict) || check_when(rule, ret_conflict) || check_delay(rule, ret_conflict))
		return -EINVAL;
	return check_ops(rule, ret_conflict);
}

/* ---- rules from untrusted memory ---- */

static bool is_zero(const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0 && !*at) {
		at++;
		len--;
	}
	return len == 0;
}

/* A name is followed by zeros up to its end in the rule. */
static bool name_is_valid(const struct sim_rule *rule, enum sim_where where, const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	return len < size && is_zero(text + len, size - len) && sim_value_is_name((struct sim_text){ text, len }) &&
	       !(rule->where & where) == !len;
}

/* A PCI address is in its canonical form. */
static bool device_is_valid(const struct sim_rule *rule)
{
	char canonical[PCIE_ADDR_TEXT_SIZE];
	struct pcie_addr addr;

	if (!name_is_valid(rule, SIM_WHERE_DEVICE, rule->device, sizeof(rule->device)))
		return false;
	if (pcie_addr_parse(rule->device, &addr) < 0)
		return true;
	pcie_addr_format(&addr, canonical);
	return strcmp(rule->device, canonical) == 0;
}

/* A counter is set if and only if its bit of rule->when is. */
static bool counters_are_valid(const struct sim_rule *rule)
{
	return !(rule->when & (SIM_WHEN_NTH | SIM_WHEN_AFTER)) == !rule->nth &&
	       !(rule->when & SIM_WHEN_EVERY) == !rule->every && !(rule->when & SIM_WHEN_TIMES) == !rule->times &&
	       !(rule->when & SIM_WHEN_SKIP) == !rule->skip && !(rule->when & SIM_WHEN_CHANCE) == !rule->chance_ppb &&
	       rule->chance_ppb <= SIM_PPB && ((rule->when & SIM_WHEN_SEED) || !rule->seed);
}

static bool times_are_valid(const struct sim_rule *rule)
{
	return rule->from_ns <= SIM_RULE_MAX_NS && rule->duration_ns <= SIM_RULE_MAX_NS &&
	       ((rule->when & SIM_WHEN_UNTIL) ? rule->until_ns <= SIM_RULE_MAX_NS : rule->until_ns == SIM_NEVER_NS) &&
	       ((rule->when & SIM_WHEN_FROM) || !rule->from_ns);
}

static bool bounds_are_valid(const struct sim_rule *rule)
{
	return ((rule->where & SIM_WHERE_SIZE) || (!rule->size_min && rule->size_max == UINT64_MAX)) &&
	       ((rule->where & SIM_WHERE_ADDR) || (!rule->addr_min && rule->addr_max == UINT64_MAX)) &&
	       ((rule->where & SIM_WHERE_PID) ? rule->pid > 0 : !rule->pid);
}

static bool has_any_action(const struct sim_rule *rule, uint32_t actions)
{
	return rule->actions & actions;
}

static bool delay_is_valid(const struct sim_rule *rule)
{
	bool has_a = rule->delay_kind != SIM_DELAY_NONE;
	bool has_b = rule->delay_kind >= SIM_DELAY_UNIFORM && rule->delay_kind <= SIM_DELAY_PARETO;

	return rule->delay_kind <= SIM_DELAY_TRACE && has_any_action(rule, A(DELAY)) == has_a &&
	       rule->delay_a <= (has_a ? SIM_RULE_MAX_NS : 0) && rule->delay_b <= (has_b ? SIM_RULE_MAX_NS : 0) &&
	       (rule->delay_kind != SIM_DELAY_PARETO || rule->delay_b <= SIM_MAX_ALPHA * (uint64_t)SIM_PPB);
}

static bool link_is_valid(const struct sim_rule *rule)
{
	return has_any_action(rule, A(DEGRADE)) == (rule->link_gen != 0) && rule->link_gen <= SIM_MAX_GEN &&
	       has_any_action(rule, A(DEGRADE)) == (rule->link_lanes != 0) && rule->link_lanes <= SIM_MAX_LANES &&
	       (rule->link_lanes & (rule->link_lanes - 1)) == 0 &&
	       has_any_action(rule, A(ERRORS)) == (rule->errors_ppb != 0) && rule->errors_ppb <= SIM_PPB &&
	       (has_any_action(rule, A(NUM_VFS)) || !rule->num_vfs) && rule->num_vfs <= SIM_MAX_VFS;
}

/* An action has its parameters; the parameters of absent actions are 0. */
static bool parameters_are_valid(const struct sim_rule *rule)
{
	return has_any_action(rule, A(FAIL)) == (rule->status != 0) &&
	       (!rule->status || sim_status_name(rule->status)) &&
	       (has_any_action(rule, A(REFUSE)) || !rule->refuse_status) &&
	       (!rule->refuse_status || rule->refuse_status == SIM_STATUS_AGAIN ||
		rule->refuse_status == SIM_STATUS_NO_MEMORY) &&
	       has_any_action(rule, A(STALL) | A(DOWN) | A(PAUSE)) == (rule->duration_ns != 0) &&
	       has_any_action(rule, A(FLIP)) == (rule->flip_bits != 0) &&
	       has_any_action(rule, A(REORDER)) == (rule->window != 0) && rule->flip_bits <= SIM_MAX_FLIP_BITS &&
	       rule->window <= SIM_MAX_WINDOW && (has_any_action(rule, A(TRUNCATE)) || !rule->truncate_bytes) &&
	       (!(rule->when & SIM_WHEN_AFTER) ||
		(rule->after_ops && !(rule->after_ops & ~(SIM_OPS_ALL & ~SIM_OPS_EVENTS)) &&
		 !rule->moved_is_fraction)) &&
	       rule->moved_is_fraction <= 1 && (!rule->moved_is_fraction || rule->moved <= SIM_PPB);
}

int sim_rule_check(const struct sim_rule *rule)
{
	struct sim_rule_conflict conflict;

	if (!rule->ops || (rule->ops & ~SIM_OPS_ALL) || rule->actions >> SIM_ACT_COUNT || rule->when >> 9 ||
	    rule->where >> 6)
		return -EINVAL;
	if (!name_is_valid(rule, SIM_WHERE_SIDE, rule->side, sizeof(rule->side)) ||
	    !name_is_valid(rule, SIM_WHERE_PROGRAM, rule->program, sizeof(rule->program)) || !device_is_valid(rule) ||
	    !is_zero(rule->reserved, sizeof(rule->reserved)))
		return -EINVAL;
	if (!counters_are_valid(rule) || !times_are_valid(rule) || !bounds_are_valid(rule) || !delay_is_valid(rule) ||
	    !link_is_valid(rule) || !parameters_are_valid(rule))
		return -EINVAL;
	return sim_rule_find_conflict(rule, &conflict);
}
