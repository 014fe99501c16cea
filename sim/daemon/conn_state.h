/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/daemon/conn_state.h - the states of a process's connection to the daemon.
 *
 *   [connected] --ATTACH--> [attached] <--a message-- / --no answer in time--> [unresponsive]
 *        |                    |   |                                              |   |
 *        |                    |   '------------------- DETACH -------------------|---+--> [leaving]
 *        |                    '---------- end of the socket, error --------------+------> [lost]
 *        '--end of the socket, error--> [gone] <--exports, imports, channels are removed-- both
 *
 * An unresponsive process did not answer a revocation in time: it counts as stopped, and the daemon does not wait for it until its
 * next message. The daemon sends nothing to a connection that is leaving, lost or gone, and removes it after the current events.
 * Whether a fault has paused the process is apart from that: the daemon then knows when it goes on (struct conn).
 */
#ifndef SIM_DAEMON_CONN_STATE_H
#define SIM_DAEMON_CONN_STATE_H

#include <stdbool.h>

enum daemon_conn_state {
	DAEMON_CONN_CONNECTED,
	DAEMON_CONN_ATTACHED,
	DAEMON_CONN_UNRESPONSIVE,
	DAEMON_CONN_LEAVING,
	DAEMON_CONN_LOST,
	DAEMON_CONN_GONE,
	DAEMON_CONN_NUM_STATES,
};

/* Write @to to *@state if the picture has that edge. Returns whether it has; else the state stays. */
bool daemon_conn_state_set(enum daemon_conn_state *state, enum daemon_conn_state to);

/* Whether the card has the process, with its exports, imports and channels. */
static inline bool daemon_conn_state_is_attached(enum daemon_conn_state state)
{
	return state != DAEMON_CONN_CONNECTED && state != DAEMON_CONN_GONE;
}

/* Whether the connection has ended. */
static inline bool daemon_conn_state_has_ended(enum daemon_conn_state state)
{
	return state >= DAEMON_CONN_LEAVING;
}

#endif
