/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a rule as a whole: whether it can act, and whether untrusted memory holds a rule. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rule_priv.h"

#define A(act) SIM_ACT_BIT(SIM_ACT_##act)

sim_bits sim_rule_ops(const struct sim_rule *rule)
{
	sim_bits ops = 0;

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		if ((rule->actions & ~sim_op_actions(op)) == 0 && (rule->where & ~sim_op_where(op)) == 0)
			ops |= SIM_OP_BIT(op);
	ops &= rule->ops;
	if (rule->refuse_status)
		ops &= ~sim_act_ops(SIM_ACT_STALL); /* connections */
	if ((rule->actions & A(FAIL)) && rule->status != SIM_STATUS_NO_MEMORY)
		ops &= ~SIM_OP_BIT(SIM_OP_ALLOC);
	if (sim_rule_moves(rule))
		ops &= SIM_OPS_MOVING;
	if (rule->ops == SIM_OPS_ALL && (ops & ~SIM_OPS_EVENTS)) /* "*" is what programs do, if they do any of it */
		ops &= ~SIM_OPS_EVENTS;
	return ops;
}

bool sim_rule_slows_links(const struct sim_rule *rule)
{
	sim_bits slowing = SIM_ACT_BIT(SIM_ACT_DEGRADE) | SIM_ACT_BIT(SIM_ACT_ERRORS);

	if (sim_rule_ops(rule) == SIM_OP_BIT(SIM_OP_NET_LINK))
		slowing = SIM_ACT_BIT(SIM_ACT_DELAY) | SIM_ACT_BIT(SIM_ACT_RATE);
	return rule->actions & slowing;
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

static int check_actions(const struct sim_rule *rule, struct sim_rule_conflict *conflict)
{
	sim_bits deciding = rule->actions & sim_acts_with(SIM_ROLE_DECIDES);
	sim_bits alone = rule->actions & sim_acts_with(SIM_ROLE_ALONE);

	if (!rule->actions)
		return set_conflict(conflict, NULL,
				    "the rule does nothing; add an action, for instance fail=IO_FAILED or "
				    "delay=10us");
	if (deciding) {
		enum sim_act act = sim_bits_first(alone ? alone : deciding);
		sim_bits others = (alone ? rule->actions : deciding) & ~SIM_ACT_BIT(act);

		if (others)
			return set_conflict(conflict, sim_act_name(sim_bits_first(others)),
					    "%s: cannot be combined with %s; write two rules",
					    sim_act_name(sim_bits_first(others)), sim_act_name(act));
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
			"after: goes with events (link, net.link, function, peer, daemon); of operations, skip and nth count");
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
	sim_bits actions = 0;

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		if (rule->ops & SIM_OP_BIT(op))
			actions |= sim_op_actions(op);
	sim_write_names(rule->ops, sim_op_name_at, names, sizeof(names));
	sim_write_names(actions, sim_act_name_at, possible, sizeof(possible));
	return set_conflict(conflict, sim_act_name(act), "%s: is not an action of %s; actions there: %s",
			    sim_act_name(act), names, possible);
}

/* The conditions come first (words.h). */
static const char *condition_name(size_t i)
{
	return sim_keyword_at(i)->name;
}

static uint32_t conditions_of(sim_bits ops)
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
	for (uint32_t i = 0; i < SIM_NUM_CONDITIONS; i++)
		if (rule->where & UINT32_C(1) << i & ~conditions_of(rule->ops))
			return set_condition_conflict(rule, conflict, condition_name(i));
	if (rule->refuse_status && !(rule->ops & sim_act_ops(SIM_ACT_REFUSE) & ~sim_act_ops(SIM_ACT_STALL)))
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

int sim_rule_check(const struct sim_rule *rule)
{
	const struct sim_keyword *keyword;
	struct sim_rule_conflict conflict;

	if (!rule->ops || (rule->ops & ~SIM_OPS_ALL) || rule->actions >> SIM_ACT_COUNT ||
	    rule->when >> SIM_NUM_LIMITS || rule->where >> SIM_NUM_CONDITIONS)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(rule->reserved); i++)
		if (rule->reserved[i])
			return -EINVAL;
	for (size_t i = 0; (keyword = sim_keyword_at(i)) != NULL; i++)
		if (!sim_arg_is_valid(keyword, rule))
			return -EINVAL;
	return sim_rule_find_conflict(rule, &conflict);
}
