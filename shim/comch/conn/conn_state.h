/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/conn/conn_state.h - the states of a Comch connection.
 *
 *   [opening] --handshake complete--> [open] --peer gone, protocol error, abort--> [lost]
 *       |                               |                                            |
 *       |                               | closed by this end                         | reported to the user
 *       '--refused, or stopped--------> [closed] <-----------------------------------'
 *
 * An open connection carries messages. A lost one delivers nothing more: the
 * endpoint reports its end to the user and then closes it. Consumers and
 * producers may hold the memory of a closed connection.
 */
#ifndef SHIM_COMCH_CONN_STATE_H
#define SHIM_COMCH_CONN_STATE_H

#include <stdbool.h>

enum comch_state { COMCH_OPENING, COMCH_OPEN, COMCH_LOST, COMCH_CLOSED, COMCH_NUM_STATES };

/* Write @to to *@state if the picture has that edge. Returns whether it has; else the state stays. */
bool comch_state_set(enum comch_state *state, enum comch_state to);

#endif
