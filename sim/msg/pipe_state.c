/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges between the states of a pipe. */
#include "pipe_state.h"

static const bool edges[SIM_PIPE_NUM_STATES][SIM_PIPE_NUM_STATES] = {
	[SIM_PIPE_OPENING] = { [SIM_PIPE_OPEN] = true, [SIM_PIPE_CLOSED] = true },
	[SIM_PIPE_OPEN] = { [SIM_PIPE_LOST] = true, [SIM_PIPE_CLOSED] = true },
	[SIM_PIPE_LOST] = { [SIM_PIPE_CLOSED] = true },
};

bool sim_pipe_state_set(enum sim_pipe_state *state, enum sim_pipe_state to)
{
	if (!edges[*state][to])
		return false;
	*state = to;
	return true;
}
