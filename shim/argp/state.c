/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser object of the process and its states. */
#include <assert.h>
#include <errno.h>

#include "argp_priv.h"

struct shim_argp shim_argp;

static const bool edges[SHIM_ARGP_NUM_STATES][SHIM_ARGP_NUM_STATES] = {
	/* [from][to] */
	[SHIM_ARGP_OFF] = { [SHIM_ARGP_OPEN] = true },
	[SHIM_ARGP_OPEN] = { [SHIM_ARGP_PARSING] = true, [SHIM_ARGP_OFF] = true },
	[SHIM_ARGP_PARSING] = { [SHIM_ARGP_PARSED] = true, [SHIM_ARGP_OFF] = true },
	[SHIM_ARGP_PARSED] = { [SHIM_ARGP_OFF] = true },
};

bool shim_argp_can_change_state(enum shim_argp_state to)
{
	return edges[shim_argp.state][to];
}

void shim_argp_set_state(enum shim_argp_state to)
{
	assert(shim_argp_can_change_state(to));
	shim_argp.state = to;
}

doca_error_t shim_argp_result_after_callback(unsigned long generation, doca_error_t result)
{
	return generation == shim_argp.generation || result != DOCA_SUCCESS ? result : DOCA_ERROR_BAD_STATE;
}

const char *shim_argp_program_name(void)
{
	return shim_argp.program_name ? shim_argp.program_name : program_invocation_short_name;
}
