/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters: creation and setters. */
#include <stdlib.h>
#include <string.h>

#include "argp_priv.h"

struct doca_argp_param *shim_argp_param_new(void)
{
	struct doca_argp_param *param = calloc(1, sizeof(*param));

	if (!param)
		return NULL;
	param->next_created = shim_argp.all_params;
	shim_argp.all_params = param;
	return param;
}

struct doca_argp_param *shim_argp_param_lookup(const struct doca_argp_param *handle)
{
	struct doca_argp_param *param;

	for (param = shim_argp.all_params; param; param = param->next_created)
		if (param == handle)
			return param->registration == SHIM_ARGP_DESTROYED ? NULL : param;
	return NULL;
}

void shim_argp_param_destroy(struct doca_argp_param *param)
{
	free(param->short_name);
	free(param->long_name);
	free(param->description);
	free(param->arguments);
	param->short_name = NULL;
	param->long_name = NULL;
	param->description = NULL;
	param->arguments = NULL;
	param->registration = SHIM_ARGP_DESTROYED;
}

void shim_argp_params_free_all(void)
{
	struct doca_argp_param *param;

	while ((param = shim_argp.all_params)) {
		shim_argp.all_params = param->next_created;
		shim_argp_param_destroy(param);
		free(param);
	}
}

doca_error_t doca_argp_param_create(struct doca_argp_param **param)
{
	struct doca_argp_param *created;

	if (shim_argp.state == SHIM_ARGP_OFF) {
		shim_argp_log_misuse(__func__, "call doca_argp_init() first");
		return DOCA_ERROR_BAD_STATE;
	}
	if (!param)
		return DOCA_ERROR_INVALID_VALUE;
	created = shim_argp_param_new();
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	*param = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_param_destroy(struct doca_argp_param *param)
{
	struct doca_argp_param *found = shim_argp_param_lookup(param);

	if (!found) {
		shim_argp_log_misuse(__func__, "the parameter is NULL, destroyed or unknown");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (found->registration == SHIM_ARGP_REGISTERED) {
		shim_argp_log_misuse(__func__, "%s is registered; doca_argp_destroy() frees it",
				     shim_argp_flag_name(found));
		return DOCA_ERROR_BAD_STATE;
	}
	shim_argp_param_destroy(found);
	return DOCA_SUCCESS;
}

static bool check_settable(const struct doca_argp_param *param, const char *func)
{
	const struct doca_argp_param *found = shim_argp_param_lookup(param);

	if (!found)
		shim_argp_log_misuse(func, "the parameter is NULL, destroyed or unknown; nothing was set");
	else if (found->registration == SHIM_ARGP_REGISTERED)
		shim_argp_log_misuse(func, "%s is registered already; nothing was set", shim_argp_flag_name(found));
	return found && found->registration == SHIM_ARGP_UNREGISTERED;
}

void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name)
{
	if (check_settable(param, __func__))
		shim_argp_set_text(&param->short_name, name, __func__);
}

void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name)
{
	if (check_settable(param, __func__))
		shim_argp_set_text(&param->long_name, name, __func__);
}

void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments)
{
	if (check_settable(param, __func__))
		shim_argp_set_text(&param->arguments, arguments, __func__);
}

void doca_argp_param_set_description(struct doca_argp_param *param, const char *description)
{
	if (check_settable(param, __func__))
		shim_argp_set_text(&param->description, description, __func__);
}

void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback)
{
	if (!check_settable(param, __func__))
		return;
	if (!callback)
		shim_argp_log_misuse(__func__, "the callback is NULL; nothing was set");
	else
		param->callback = callback;
}

void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type)
{
	if (!check_settable(param, __func__))
		return;
	if (type < DOCA_ARGP_TYPE_STRING || type > DOCA_ARGP_TYPE_DOUBLE)
		shim_argp_log_misuse(__func__, "%d is not a type; nothing was set", (int)type);
	else
		param->type = type;
}

void doca_argp_param_set_mandatory(struct doca_argp_param *param)
{
	if (check_settable(param, __func__))
		param->mandatory = true;
}

void doca_argp_param_set_cli_only(struct doca_argp_param *param)
{
	if (check_settable(param, __func__))
		param->cli_only = true;
}

void doca_argp_param_set_multiplicity(struct doca_argp_param *param)
{
	if (check_settable(param, __func__))
		param->multiple = true;
}

void doca_argp_param_set_singular(struct doca_argp_param *param)
{
	if (check_settable(param, __func__))
		param->singular = true;
}

void doca_argp_param_set_inherited(struct doca_argp_param *param)
{
	if (check_settable(param, __func__))
		param->inherited = true;
}

void doca_argp_param_set_hidden(struct doca_argp_param *param)
{
	if (check_settable(param, __func__))
		param->hidden = true;
}
