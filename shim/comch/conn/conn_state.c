/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges between the states of a connection. */
#include "conn_state.h"

static const bool edges[COMCH_NUM_STATES][COMCH_NUM_STATES] = {
	[COMCH_OPENING] = { [COMCH_OPEN] = true, [COMCH_CLOSED] = true },
	[COMCH_OPEN] = { [COMCH_LOST] = true, [COMCH_CLOSED] = true },
	[COMCH_LOST] = { [COMCH_CLOSED] = true },
};

bool comch_state_set(enum comch_state *state, enum comch_state to)
{
	if (!edges[*state][to])
		return false;
	*state = to;
	return true;
}
