/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_argp_destroy(): the way back to the state OFF. */
#include <stdlib.h>

#include "argp_priv.h"

void shim_argp_reset(void)
{
	struct shim_argp reset = { .state = shim_argp.state, .generation = shim_argp.generation + 1 };

	shim_argp_occurrences_free();
	shim_argp_dpdk_free();
	shim_argp_params_free_all();
	shim_argp_cmds_free_all();
	free(shim_argp.json_path);
	free(shim_argp.grpc_address);
	free(shim_argp.program_name);
	shim_argp = reset;
	shim_argp_set_state(SHIM_ARGP_OFF);
}

doca_error_t doca_argp_destroy(void)
{
	if (!shim_argp_can_change_state(SHIM_ARGP_OFF))
		return DOCA_ERROR_BAD_STATE;
	shim_argp_reset();
	return DOCA_SUCCESS;
}
