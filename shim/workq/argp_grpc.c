/* SPDX-License-Identifier: BSD-3-Clause */
/* gRPC programs: this generation alone knew them. The rest of the parser is shim/argp. */
#include <doca_argp.h>

#include "shim/common/check.h"

#define WHAT "gRPC programs"

void doca_argp_set_grpc_program(void)
{
	(void)SHIM_NOT_SIMULATED(WHAT);
}

doca_error_t doca_argp_get_grpc_addr(const char **address)
{
	SHIM_NEED_OUT(address);
	return SHIM_NOT_SIMULATED(WHAT);
}
