/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/pipe_state.h - the states of a pipe.
 *
 *   [opening] --connected--> [open] --peer gone, protocol error, abort--> [lost]
 *       |                       |                                           |
 *       |                       | closed by this end                        | reported to the user
 *       '--refused, stopped-> [closed] <------------------------------------'
 *
 * An open pipe carries messages. A lost one delivers nothing more: its owner reports the end to the user and then closes
 * it.
 */
#ifndef SIM_MSG_PIPE_STATE_H
#define SIM_MSG_PIPE_STATE_H

#include <stdbool.h>

enum sim_pipe_state { SIM_PIPE_OPENING, SIM_PIPE_OPEN, SIM_PIPE_LOST, SIM_PIPE_CLOSED, SIM_PIPE_NUM_STATES };

/* Write @to to *@state if the picture has that edge. Returns whether it has; else the state stays. */
bool sim_pipe_state_set(enum sim_pipe_state *state, enum sim_pipe_state to);

#endif
