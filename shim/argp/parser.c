/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/argp/parser.c - the parser's life and the hooks that a program sets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "argp_priv.h"

struct argp_parser argp_parser;

const char *argp_program_name(void)
{
	return argp_parser.program_name ? argp_parser.program_name : program_invocation_short_name;
}

/* Back to OFF, from any state and from a half-done init. */
static void parser_reset(void)
{
	unsigned long generation = argp_parser.generation;

	argp_uses_free();
	argp_dpdk_free();
	argp_params_free_all();
	argp_cmds_free_all();
	free(argp_parser.json_path);
	free(argp_parser.program_name);
	memset(&argp_parser, 0, sizeof(argp_parser));
	argp_parser.generation = generation + 1;
}

static doca_error_t parser_fill(const char *program_name, void *program_config)
{
	argp_parser.config = program_config;
	argp_parser.chosen = &argp_parser.program;
	argp_parser.state = ARGP_OPEN;
	if (program_name) {
		argp_parser.program_name = argp_dup(program_name);
		if (!argp_parser.program_name)
			return DOCA_ERROR_NO_MEMORY;
	}
	return argp_general_make();
}

doca_error_t doca_argp_init(const char *program_name, void *program_config)
{
	doca_error_t result;

	if (argp_parser.state != ARGP_OFF) {
		argp_misuse(__func__, "already called; call doca_argp_destroy() before the next");
		return DOCA_ERROR_BAD_STATE;
	}
	if (program_name && program_name[0] == '\0') {
		argp_misuse(__func__, "the program name is empty; pass NULL to take it from argv[0]");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = parser_fill(program_name, program_config);
	if (result != DOCA_SUCCESS)
		parser_reset();
	return result;
}

doca_error_t doca_argp_destroy(void)
{
	if (argp_parser.state == ARGP_OFF)
		return DOCA_ERROR_BAD_STATE;
	parser_reset();
	return DOCA_SUCCESS;
}

doca_error_t argp_check_open(const char *func)
{
	if (argp_parser.state == ARGP_OPEN)
		return DOCA_SUCCESS;
	argp_misuse(func, "%s", argp_parser.state == ARGP_OFF ? "call doca_argp_init() first"
							      : "too late: doca_argp_start() was called");
	return DOCA_ERROR_BAD_STATE;
}

/* May a hook that start() consults be set now? */
static doca_error_t check_hook(bool given, const char *func)
{
	doca_error_t result = argp_check_open(func);

	if (result != DOCA_SUCCESS)
		return result;
	if (!given) {
		argp_misuse(func, "the callback is NULL; nothing was set");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback)
{
	doca_error_t result = check_hook(callback != NULL, __func__);

	if (result == DOCA_SUCCESS)
		argp_parser.version = callback;
	return result;
}

doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback)
{
	doca_error_t result = check_hook(callback != NULL, __func__);

	if (result == DOCA_SUCCESS)
		argp_parser.validation = callback;
	return result;
}

void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback)
{
	if (check_hook(callback != NULL, __func__) == DOCA_SUCCESS)
		argp_parser.dpdk_callback = callback;
}

doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback)
{
	if (argp_parser.state == ARGP_OFF)
		return DOCA_ERROR_BAD_STATE;
	if (!callback)
		return DOCA_ERROR_INVALID_VALUE;
	if (argp_parser.logger)
		return DOCA_ERROR_ALREADY_EXIST;
	argp_parser.logger = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_disable_logger_callback(void)
{
	if (!argp_parser.logger)
		return DOCA_ERROR_BAD_STATE;
	argp_parser.logger = NULL;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_get_log_level(int *log_level)
{
	if (!log_level)
		return DOCA_ERROR_INVALID_VALUE;
	*log_level = argp_parser.log_level ? argp_parser.log_level
					   : (int)doca_log_level_get_global_lower_limit();
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_get_sdk_log_level(int *log_level)
{
	if (!log_level)
		return DOCA_ERROR_INVALID_VALUE;
	*log_level = argp_parser.sdk_log_level ? argp_parser.sdk_log_level
					       : (int)doca_log_level_get_global_sdk_limit();
	return DOCA_SUCCESS;
}
