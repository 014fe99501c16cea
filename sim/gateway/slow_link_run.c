/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for slow links that are told to other machines, and what has waited long enough. */
#include <stdlib.h>

#include "pcie_model/arith.h"
#include "slow_link_priv.h"
#include "sim/base/monotonic.h"

/* ---- rules ---- */

static void tell(struct gateway *gateway, uint32_t machine, const struct slow_rule *rule)
{
	uint8_t lasts[8];
	struct gateway_frame frame = { .kind = GATEWAY_SLOW_LINK,
				       .id = rule->rule,
				       .a = rule->rate,
				       .b = rule->delay_ns,
				       .body = lasts,
				       .len_bytes = sizeof(lasts) };

	gateway_put(lasts, rule->lasts_ns, sizeof(lasts));
	gateway_send(gateway, machine, &frame);
}

static void begin(struct gateway *gateway, uint32_t machine, const struct slow_rule *rule)
{
	struct slow_link *slow = slow_link_of(gateway, machine);

	tell(gateway, machine, rule);
	if (slow)
		slow_link_set_rule(slow, gateway->self, rule);
}

void slow_link_begin(struct gateway *gateway, uint32_t machine, const struct slow_rule *rule)
{
	for (uint32_t i = 0; i < gateway->num_machines; i++)
		if (i != gateway->self && (i == machine || (machine == LINK_NO_MACHINE && gateway->machines[i].slow)))
			begin(gateway, i, rule);
}

void slow_link_tell(struct gateway *gateway, uint32_t machine)
{
	const struct slow_link *slow = gateway->machines[machine].slow;
	const uint64_t now_ns = sim_monotonic_ns();

	for (uint32_t i = 0; slow && i < slow->num_windows; i++) {
		const struct slow_window *window = &slow->windows[i];
		struct slow_rule rule = window->rule;

		if (window->machine != gateway->self || window->end_ns <= now_ns)
			continue;
		if (window->end_ns != UINT64_MAX)
			rule.lasts_ns = window->end_ns - now_ns;
		tell(gateway, machine, &rule);
	}
}

/* ---- time ---- */

static uint64_t tick(struct gateway *gateway, struct slow_link *slow, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;
	struct late *late;

	for (uint32_t i = slow->num_windows; i-- > 0;)
		if (slow->windows[i].end_ns <= now_ns)
			slow_link_remove_window(slow, i);
		else
			next_ns = min_u64(next_ns, slow->windows[i].end_ns);
	while ((late = STAILQ_FIRST(&slow->waiting)) && (late->due_ns <= now_ns || slow->num_windows == 0)) {
		slow_link_take_first(slow);
		gateway_pass_late(gateway, &late->frame);
		free(late);
	}
	return late ? min_u64(next_ns, late->due_ns) : next_ns;
}

uint64_t slow_link_tick(struct gateway *gateway, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; gateway->num_slow > 0 && i < gateway->num_machines; i++) {
		struct gateway_machine *machine = &gateway->machines[i];

		if (!machine->slow)
			continue;
		next_ns = min_u64(next_ns, tick(gateway, machine->slow, now_ns));
		if (machine->slow->num_windows > 0 || !STAILQ_EMPTY(&machine->slow->waiting))
			continue;
		free(machine->slow->windows);
		free(machine->slow);
		machine->slow = NULL;
		gateway->num_slow--;
	}
	return next_ns;
}
