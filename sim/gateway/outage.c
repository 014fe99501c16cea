/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that a fault has taken down: what waits for them. */
#include "outage_priv.h"

#include <stdlib.h>

#include "pcie_model/arith.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

#define MAX_NS (3600 * UINT64_C(1000000000)) /* of another machine's word */

void outage_note(struct gateway *gateway, uint32_t machine, uint64_t ns, bool breaks)
{
	struct gateway_machine *other = &gateway->machines[machine];
	const uint64_t begin_ns = sim_monotonic_ns() + OUTAGE_NOTICE_NS;

	if (!other->outage) {
		other->outage = calloc(1, sizeof(*other->outage));
		if (!other->outage)
			return;
		held_init(&other->outage->held);
		other->outage->begin_ns = begin_ns;
		other->outage->lose_ns = begin_ns + LINK_TIMEOUT_NS;
		gateway->num_outages++;
	}
	other->outage->end_ns = max_u64(other->outage->end_ns, begin_ns + min_u64(ns, MAX_NS));
	if (breaks && !other->outage->is_lost)
		other->outage->lose_ns = begin_ns;
	gateway->is_status_old = true; /* so that the loop calls it at once */
}

uint64_t outage_left_ns(const struct gateway *gateway, uint32_t machine)
{
	const struct outage *outage = gateway->machines[machine].outage;
	const uint64_t begin_ns = sim_monotonic_ns() + OUTAGE_NOTICE_NS;

	return outage && outage->is_mine && !outage->is_lost ? outage->end_ns - min_u64(outage->end_ns, begin_ns) : 0;
}

void outage_on_frame(struct gateway *gateway, const struct gateway_frame *frame)
{
	sim_info("a fault of %s has taken the link to it down", gateway->machines[frame->from].name);
	outage_note(gateway, frame->from, frame->b, frame->a == 1);
}

bool outage_takes(struct gateway *gateway, uint32_t hop, const struct gateway_frame *frame)
{
	struct outage *outage = hop < gateway->num_machines ? gateway->machines[hop].outage : NULL;

	if (!outage && frame->to < gateway->num_machines)
		outage = gateway->machines[frame->to].outage;
	if (!outage || sim_monotonic_ns() < outage->begin_ns)
		return false;
	if (outage->is_lost)
		return true;
	if (!held_add(&outage->held, frame))
		outage->lose_ns = 0; /* by outage_tick(): the caller is in the midst of sending */
	return true;
}

void outage_drop(struct gateway *gateway, uint32_t machine)
{
	if (gateway->machines[machine].outage)
		held_drop(&gateway->machines[machine].outage->held);
}

bool outage_is_lost(const struct gateway *gateway, uint32_t machine)
{
	return gateway->machines[machine].outage && gateway->machines[machine].outage->is_lost;
}

bool outage_blocks_home(const struct gateway *gateway)
{
	for (uint32_t i = 0; gateway->num_outages > 0 && i < gateway->num_machines; i++)
		if (outage_is_lost(gateway, i) && gateway->machines[i].outage->had_link)
			return true;
	return false;
}
