/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges between the states of a process's connection. */
#include "conn_state.h"

#define EDGE(to) [DAEMON_CONN_##to] = true

static const bool edges[DAEMON_CONN_NUM_STATES][DAEMON_CONN_NUM_STATES] = {
	[DAEMON_CONN_CONNECTED] = { EDGE(ATTACHED), EDGE(GONE) },
	[DAEMON_CONN_ATTACHED] = { EDGE(UNRESPONSIVE), EDGE(LEAVING), EDGE(LOST) },
	[DAEMON_CONN_UNRESPONSIVE] = { EDGE(ATTACHED), EDGE(LEAVING), EDGE(LOST) },
	[DAEMON_CONN_LEAVING] = { EDGE(GONE) },
	[DAEMON_CONN_LOST] = { EDGE(GONE) },
};

bool daemon_conn_state_set(enum daemon_conn_state *state, enum daemon_conn_state to)
{
	if (!edges[*state][to])
		return false;
	*state = to;
	return true;
}
