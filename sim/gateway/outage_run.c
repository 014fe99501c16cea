/* SPDX-License-Identifier: BSD-3-Clause */
/* The begin and the end of outages. */
#include <stdlib.h>

#include "outage_priv.h"
#include "pcie_model/arith.h"

#define WORDS "a fault has taken the link down"

void outage_begin(struct gateway *gateway, uint32_t machine, uint64_t ns, bool breaks)
{
	struct gateway_frame frame = { .kind = GATEWAY_OUTAGE, .a = breaks, .b = ns };

	if (machine >= gateway->num_machines || machine == gateway->self)
		return;
	gateway_send(gateway, machine, &frame);
	outage_note(gateway, machine, ns, breaks);
	if (gateway->machines[machine].outage)
		gateway->machines[machine].outage->is_mine = true;
}

/* The machines have lost each other. A link of their own ends, and is made anew when the outage ends. */
static void lose(struct gateway *gateway, uint32_t machine)
{
	struct outage *outage = gateway->machines[machine].outage;
	struct link *link = gateway->machines[machine].link;

	outage->is_lost = true;
	outage->had_link = link != NULL;
	outage->lose_ns = UINT64_MAX;
	held_drop(&outage->held);
	if (link)
		link_close(link, WORDS);
	else
		members_lose(gateway, machine, WORDS);
}

/* What was held back leaves. A machine without a link of its own is there again; one with a link joins. */
static void end(struct gateway *gateway, uint32_t machine)
{
	struct outage *outage = gateway->machines[machine].outage;

	gateway->machines[machine].outage = NULL;
	gateway->num_outages--;
	held_send(&outage->held, gateway_pass_late, gateway);
	if (outage->is_lost)
		members_find(gateway, machine);
	free(outage);
}

uint64_t outage_tick(struct gateway *gateway, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; gateway->num_outages > 0 && i < gateway->num_machines; i++) {
		const struct outage *outage = gateway->machines[i].outage;

		/* This process may have rested beyond the end of an outage in which nobody was to be lost. */
		if (outage && outage->lose_ns <= now_ns && outage->lose_ns <= outage->end_ns)
			lose(gateway, i);
		if (outage && outage->end_ns <= now_ns)
			end(gateway, i);
		else if (outage)
			next_ns = min_u64(next_ns, min_u64(outage->end_ns, outage->lose_ns));
	}
	return next_ns;
}
