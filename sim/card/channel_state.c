/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges between the states of a channel. */
#include "services.h"

static const bool edges[SIM_NUM_CHANNEL_STATES][SIM_NUM_CHANNEL_STATES] = {
	[SIM_CHANNEL_PENDING] = { [SIM_CHANNEL_OFFERED] = true },
	[SIM_CHANNEL_OFFERED] = { [SIM_CHANNEL_OPEN] = true },
};

bool sim_channel_state_can_become(enum sim_channel_state from, enum sim_channel_state to)
{
	return edges[from][to];
}
