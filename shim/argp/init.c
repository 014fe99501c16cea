/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_argp_init(), the hooks that a program sets before start, and the log levels. */
#include "argp_priv.h"

static doca_error_t parser_init(const char *program_name, void *program_config)
{
	shim_argp.config = program_config;
	shim_argp.selected_cmd = &shim_argp.program;
	STAILQ_INIT(&shim_argp.occurrences);
	shim_argp_set_state(SHIM_ARGP_OPEN);
	if (program_name) {
		shim_argp.program_name = shim_argp_dup(program_name);
		if (!shim_argp.program_name)
			return DOCA_ERROR_NO_MEMORY;
	}
	return shim_argp_general_flags_register();
}

doca_error_t doca_argp_init(const char *program_name, void *program_config)
{
	doca_error_t result;

	if (!shim_argp_can_change_state(SHIM_ARGP_OPEN)) {
		shim_argp_log_misuse(__func__, "already called; call doca_argp_destroy() before the next");
		return DOCA_ERROR_BAD_STATE;
	}
	if (program_name && program_name[0] == '\0') {
		shim_argp_log_misuse(__func__, "the program name is empty; pass NULL to take it from argv[0]");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = parser_init(program_name, program_config);
	if (result != DOCA_SUCCESS)
		shim_argp_reset();
	return result;
}

/* May a hook of doca_argp_start() be set now? @given: is it not NULL? */
static doca_error_t check_hook(bool given, const char *func)
{
	doca_error_t result = shim_argp_check_open(func);

	if (result != DOCA_SUCCESS)
		return result;
	if (!given) {
		shim_argp_log_misuse(func, "the callback is NULL; nothing was set");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback)
{
	doca_error_t result = check_hook(callback != NULL, __func__);

	if (result == DOCA_SUCCESS)
		shim_argp.version = callback;
	return result;
}

doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback)
{
	doca_error_t result = check_hook(callback != NULL, __func__);

	if (result == DOCA_SUCCESS)
		shim_argp.validation = callback;
	return result;
}

doca_error_t doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback, void *usr_ctx)
{
	doca_error_t result = check_hook(callback != NULL, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	shim_argp.open_dev = callback;
	shim_argp.open_dev_context = usr_ctx;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_disable_pedantic_config_parsing(void)
{
	doca_error_t result = shim_argp_check_open(__func__);

	if (result == DOCA_SUCCESS)
		shim_argp.ignores_unknown_keys = true;
	return result;
}

void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback)
{
	if (check_hook(callback != NULL, __func__) == DOCA_SUCCESS)
		shim_argp.dpdk_callback = callback;
}

doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback)
{
	if (shim_argp.state == SHIM_ARGP_OFF)
		return DOCA_ERROR_BAD_STATE;
	if (!callback)
		return DOCA_ERROR_INVALID_VALUE;
	if (shim_argp.logger)
		return DOCA_ERROR_ALREADY_EXIST;
	shim_argp.logger = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_disable_logger_callback(void)
{
	if (!shim_argp.logger)
		return DOCA_ERROR_BAD_STATE;
	shim_argp.logger = NULL;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_get_log_level(int *log_level)
{
	if (!log_level)
		return DOCA_ERROR_INVALID_VALUE;
	*log_level = shim_argp.log_level ? shim_argp.log_level : (int)doca_log_level_get_global_lower_limit();
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_get_sdk_log_level(int *log_level)
{
	if (!log_level)
		return DOCA_ERROR_INVALID_VALUE;
	*log_level = shim_argp.sdk_log_level ? shim_argp.sdk_log_level : (int)doca_log_level_get_global_sdk_limit();
	return DOCA_SUCCESS;
}
