/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration of parameters.
 *
 * A parameter may have the name of a parameter of another command: the innermost one is found first (find.c). Names in
 * one command are unique. A parameter can't have the long name of a general flag, nor -h or -j: it would hide what all
 * programs have. -v and -l are the program's if it wants them, as public samples do.
 */
#include <string.h>

#include "argp_priv.h"

void shim_argp_cmd_append_param(struct doca_argp_cmd *cmd, struct doca_argp_param *param)
{
	struct doca_argp_param **end = &cmd->params;

	while (*end)
		end = &(*end)->next;
	*end = param;
	param->registration = SHIM_ARGP_REGISTERED;
}

static bool name_is_valid(const char *name)
{
	return !name || (name[0] != '\0' && name[0] != '-' && !strchr(name, '='));
}

static bool names_equal(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool name_is_taken(const struct doca_argp_cmd *cmd, const struct doca_argp_param *param)
{
	const struct doca_argp_param *other;

	for (other = cmd->params; other; other = other->next)
		if (names_equal(other->short_name, param->short_name) ||
		    names_equal(other->long_name, param->long_name))
			return true;
	return false;
}

/* Returns the general flag whose name @param has, NULL if there is none. */
static const struct doca_argp_param *find_general(const struct doca_argp_param *param)
{
	const struct doca_argp_param *flag;

	for (flag = shim_argp.general.params; flag; flag = flag->next) {
		bool is_short = names_equal(flag->short_name, param->short_name);

		if (names_equal(flag->long_name, param->long_name) || (is_short && strchr("hj", flag->short_name[0])))
			return flag;
	}
	return NULL;
}

static const char *missing_field(const struct doca_argp_param *param)
{
	if (!param->short_name && !param->long_name)
		return "name, short or long";
	if (!param->description)
		return "description";
	if (!param->callback)
		return "callback";
	return param->type == DOCA_ARGP_TYPE_UNKNOWN ? "type" : NULL;
}

static doca_error_t check_fields(const struct doca_argp_cmd *cmd, const struct doca_argp_param *param, const char *func)
{
	const char *missing = missing_field(param);
	const struct doca_argp_param *general;

	if (missing) {
		shim_argp_log_misuse(func, "%s has no %s", shim_argp_flag_name(param), missing);
		return DOCA_ERROR_INITIALIZATION;
	}
	if (!name_is_valid(param->short_name) || !name_is_valid(param->long_name)) {
		shim_argp_log_misuse(func, "a name must not be empty, begin with '-' or have '=' in it: -%s, --%s",
				     param->short_name ? param->short_name : "(none)",
				     param->long_name ? param->long_name : "(none)");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (name_is_taken(cmd, param)) {
		shim_argp_log_misuse(func, "the names of %s are taken; choose others", shim_argp_flag_name(param));
		return DOCA_ERROR_INVALID_VALUE;
	}
	general = find_general(param);
	if (general) {
		shim_argp_log_misuse(func, "-%s, --%s would hide %s, which every program has; choose another name",
				     param->short_name ? param->short_name : "(none)",
				     param->long_name ? param->long_name : "(none)", shim_argp_flag_name(general));
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* Add an unregistered parameter to @cmd. */
static doca_error_t add_param(struct doca_argp_cmd *cmd, struct doca_argp_param *param, const char *func)
{
	doca_error_t result = shim_argp_check_open(func);

	if (result == DOCA_SUCCESS)
		result = check_fields(cmd, param, func);
	if (result != DOCA_SUCCESS)
		return result;
	if (!param->long_name)
		param->cli_only = true; /* keys of the file are long names */
	shim_argp_cmd_append_param(cmd, param);
	return DOCA_SUCCESS;
}

/* The parser owns @param from here on: @param becomes a part of @cmd, or is destroyed. A parameter
 * that was registered before stays in its place. */
static doca_error_t register_param(struct doca_argp_cmd *cmd, struct doca_argp_param *param, const char *func,
				   doca_error_t cmd_state)
{
	doca_error_t result = cmd_state;

	if (param->registration == SHIM_ARGP_REGISTERED) {
		shim_argp_log_misuse(func, "%s is registered already", shim_argp_flag_name(param));
		return DOCA_ERROR_BAD_STATE;
	}
	if (result == DOCA_SUCCESS)
		result = add_param(cmd, param, func);
	if (result != DOCA_SUCCESS)
		shim_argp_param_destroy(param);
	return result;
}

static doca_error_t check_handle(const struct doca_argp_param *found, const char *func)
{
	if (shim_argp.state == SHIM_ARGP_OFF)
		return shim_argp_check_open(func);
	if (!found) {
		shim_argp_log_misuse(func, "the parameter is NULL, destroyed or unknown");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_param(struct doca_argp_param *input_param)
{
	struct doca_argp_param *param = shim_argp_param_lookup(input_param);
	doca_error_t result = check_handle(param, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	return register_param(&shim_argp.program, param, __func__, DOCA_SUCCESS);
}

doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd, struct doca_argp_param *input_param)
{
	struct doca_argp_param *param = shim_argp_param_lookup(input_param);
	doca_error_t result = check_handle(param, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	return register_param(cmd, param, __func__, shim_argp_cmd_check_parent(cmd, __func__));
}
