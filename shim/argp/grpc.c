/* SPDX-License-Identifier: BSD-3-Clause */
/* The flag of gRPC programs, in releases up to 2.6: a parameter like those of the program,
 * with a callback that keeps the value. */
#include <stdlib.h>

#include "argp_priv.h"

static doca_error_t on_address(void *value, void *config)
{
	char *address = shim_argp_dup(value);

	(void)config;
	if (!address)
		return shim_argp_report_no_memory();
	free(shim_argp.grpc_address);
	shim_argp.grpc_address = address;
	return DOCA_SUCCESS;
}

static void set_param_fields(struct doca_argp_param *param)
{
	doca_argp_param_set_short_name(param, "g");
	doca_argp_param_set_long_name(param, "grpc-address");
	doca_argp_param_set_arguments(param, "<ip:port>");
	doca_argp_param_set_description(param, "Address of the gRPC server");
	doca_argp_param_set_callback(param, on_address);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
}

void doca_argp_set_grpc_program(void)
{
	struct doca_argp_param *param;

	if (shim_argp_check_open(__func__) != DOCA_SUCCESS || shim_argp.is_grpc)
		return;
	if (doca_argp_param_create(&param) != DOCA_SUCCESS) {
		shim_argp_log_misuse(__func__, "no memory for the flag --grpc-address: the program does not have it");
		return;
	}
	set_param_fields(param);
	shim_argp.is_grpc = doca_argp_register_param(param) == DOCA_SUCCESS;
}

doca_error_t doca_argp_get_grpc_addr(const char **address)
{
	if (!address) {
		shim_argp_log_misuse(__func__, "address is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!shim_argp.is_grpc || shim_argp.state == SHIM_ARGP_OPEN) {
		shim_argp_log_misuse(__func__, "%s",
				     shim_argp.is_grpc ? "call doca_argp_start() first" :
							 "call doca_argp_set_grpc_program() before doca_argp_start()");
		return DOCA_ERROR_BAD_STATE;
	}
	if (!shim_argp.grpc_address)
		return DOCA_ERROR_NOT_FOUND;
	*address = shim_argp.grpc_address;
	return DOCA_SUCCESS;
}
