/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of frames to machines that may have a direct link. */
#include <stdlib.h>

#include "direct.h"
#include "sim/base/monotonic.h"

static struct direct *find(const struct gateway *gateway, uint32_t machine)
{
	return machine < gateway->num_machines ? gateway->machines[machine].direct : NULL;
}

struct link *direct_link(const struct gateway *gateway, uint32_t machine)
{
	const struct direct *direct = find(gateway, machine);

	return direct && direct->way == DIRECT_SWITCHED ? direct->link : NULL;
}

bool direct_is_full(const struct gateway *gateway, uint32_t machine)
{
	const struct direct *direct = find(gateway, machine);

	return direct && direct->held.num_bytes >= HELD_MAX_BYTES / 2;
}

bool direct_is_void(const struct gateway *gateway, const struct gateway_frame *frame)
{
	const struct direct *direct = find(gateway, frame->from);

	return direct && direct->awaited > 0 && frame->kind != GATEWAY_BREAK;
}

bool direct_takes(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct direct *direct = find(gateway, frame->to);

	if ((frame->kind == GATEWAY_IMPORT || frame->kind == GATEWAY_CONNECT) &&
	    (!direct || direct->state == DIRECT_NONE))
		direct_wish(gateway, frame->to);
	if (!direct || direct->way != DIRECT_SWITCHING || frame->kind == GATEWAY_SWITCH)
		return false;
	if (!held_add(&direct->held, frame))
		link_close(direct->link, "too much waits for the switch to it");
	return true;
}

struct direct *direct_of(struct gateway *gateway, uint32_t machine)
{
	struct gateway_machine *other = &gateway->machines[machine];

	if (other->direct)
		return other->direct;
	other->direct = calloc(1, sizeof(*other->direct));
	if (other->direct)
		held_init(&other->direct->held);
	return other->direct;
}

void direct_wish(struct gateway *gateway, uint32_t machine)
{
	struct gateway_frame frame = { .kind = GATEWAY_WISH, .a = machine };
	struct link *home = gateway->machines[gateway->home].link;
	struct direct *direct = !home || machine == gateway->home ? NULL : direct_of(gateway, machine);

	if (!direct || direct->state != DIRECT_NONE || direct->wish_ns > sim_monotonic_ns())
		return;
	direct->state = DIRECT_WISHED;
	direct->deadline_ns = sim_monotonic_ns() + DIRECT_OFFER_NS;
	frame.id = direct->number;
	link_send(home, &frame);
}
