/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges between the states of a Comm Channel endpoint, and of a peer. */
#include "ep_state.h"

static const bool role_edges[CHANNEL_NUM_ROLES][CHANNEL_NUM_ROLES] = {
	[CHANNEL_IDLE] = { [CHANNEL_SERVICE] = true, [CHANNEL_CLIENT] = true },
	[CHANNEL_SERVICE] = { [CHANNEL_IDLE] = true },
	[CHANNEL_CLIENT] = { [CHANNEL_IDLE] = true },
};

static const bool peer_edges[CHANNEL_NUM_PEER_STATES][CHANNEL_NUM_PEER_STATES] = {
	[CHANNEL_CONNECTING] = { [CHANNEL_CONNECTED] = true, [CHANNEL_ENDED] = true },
	[CHANNEL_CONNECTED] = { [CHANNEL_ENDED] = true },
};

bool channel_role_set(enum channel_role *role, enum channel_role to)
{
	if (!role_edges[*role][to])
		return false;
	*role = to;
	return true;
}

bool channel_peer_state_set(enum channel_peer_state *state, enum channel_peer_state to)
{
	if (!peer_edges[*state][to])
		return false;
	*state = to;
	return true;
}
