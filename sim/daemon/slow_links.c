/* SPDX-License-Identifier: BSD-3-Clause */
/* Links to other machines that rules have made slow: the gateway is told of each, and again when it is started again. */
#include <stdlib.h>

#include "daemon_priv.h"
#include "pcie_model/arith.h"
#include "sim/base/log.h"

static void tell_slow_link(struct daemon *daemon, const struct slow_rule_hit *slow, uint64_t now_ns)
{
	struct sim_msg msg = { .type = SIM_MSG_SLOW_LINK,
			       .body.slow_link = { .machine = slow->machine,
						   .rule = slow->rule,
						   .delay_ns = slow->delay_ns,
						   .rate = slow->rate,
						   .lasts_ns =
							   slow->until_ns == SIM_NEVER_NS ?
								   UINT64_MAX :
								   slow->until_ns - min_u64(slow->until_ns, now_ns) } };

	daemon_send(daemon, daemon->gateway.conn, &msg, -1);
}

static void remove_at(struct daemon *daemon, uint32_t number)
{
	daemon->slow_rules[number] = daemon->slow_rules[--daemon->num_slow_rules];
}

/* Those that are over stay in the plan, and not here; nor does an earlier hit of the same rule. */
static void make_room(struct daemon *daemon, const struct slow_rule_hit *slow, uint64_t now_ns)
{
	for (uint32_t i = daemon->num_slow_rules; i-- > 0;) {
		const struct slow_rule_hit *old = &daemon->slow_rules[i];

		if (old->until_ns <= now_ns || (old->rule == slow->rule && old->machine == slow->machine))
			remove_at(daemon, i);
	}
}

static void remember(struct daemon *daemon, const struct slow_rule_hit *slow)
{
	if (daemon->num_slow_rules == daemon->max_slow_rules) {
		const uint32_t max = 2 * daemon->max_slow_rules + 8;
		struct slow_rule_hit *more = reallocarray(daemon->slow_rules, max, sizeof(*more));

		if (!more) {
			sim_warn("no memory for rule %u: the link is not slow any more when a gateway is started again",
				 slow->rule);
			return;
		}
		daemon->slow_rules = more;
		daemon->max_slow_rules = max;
	}
	daemon->slow_rules[daemon->num_slow_rules++] = *slow;
}

void daemon_begin_slow_link(struct daemon *daemon, const struct slow_rule_hit *slow)
{
	make_room(daemon, slow, daemon->fault_events.injected_ns);
	remember(daemon, slow);
	tell_slow_link(daemon, slow, daemon->fault_events.injected_ns);
}

void daemon_end_slow_links(struct daemon *daemon)
{
	const struct sim_plan *plan = &sim_shared_state_of(&daemon->shared)->plan;

	for (uint32_t i = daemon->num_slow_rules; i-- > 0;) {
		const struct slow_rule_hit end = { .machine = UINT32_MAX, .rule = daemon->slow_rules[i].rule };

		if (sim_plan_has(plan, end.rule))
			continue;
		remove_at(daemon, i);
		if (daemon->gateway.conn)
			tell_slow_link(daemon, &end, 0);
	}
}

void daemon_tell_slow_links(struct daemon *daemon)
{
	const uint64_t now_ns = sim_clock_now_ns(daemon->clock);

	for (uint32_t i = 0; i < daemon->num_slow_rules; i++)
		if (daemon->slow_rules[i].until_ns > now_ns)
			tell_slow_link(daemon, &daemon->slow_rules[i], now_ns);
}
