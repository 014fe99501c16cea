/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comm_channel/ep_state.h - the states of a Comm Channel endpoint and of its peers.
 *
 * An endpoint has a role:
 *
 *            .--listen---> [service] --.
 *   [idle] --+                         +--disconnect (client), destroy--> [idle]
 *            '--connect--> [client] ---'
 *
 * A client's peer begins as connecting, a service's peer as connected:
 *
 *   [connecting] --the service accepted--> [connected] --the connection ended--> [ended]
 *        '--------no connection was made------------------------------------------^
 *
 * An ended peer stays until the user disconnects it; one recvfrom() reports the end.
 */
#ifndef SHIM_COMM_CHANNEL_EP_STATE_H
#define SHIM_COMM_CHANNEL_EP_STATE_H

#include <stdbool.h>

enum channel_role { CHANNEL_IDLE, CHANNEL_SERVICE, CHANNEL_CLIENT, CHANNEL_NUM_ROLES };

enum channel_peer_state { CHANNEL_CONNECTING, CHANNEL_CONNECTED, CHANNEL_ENDED, CHANNEL_NUM_PEER_STATES };

/* Write @to if the picture has that edge. Returns whether it has; else nothing changes. */
bool channel_role_set(enum channel_role *role, enum channel_role to);
bool channel_peer_state_set(enum channel_peer_state *state, enum channel_peer_state to);

#endif
