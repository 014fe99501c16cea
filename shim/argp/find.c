/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-up of parameters and commands by name, from a command outwards. */
#include <string.h>

#include "argp_priv.h"

static bool name_equals(const char *name, const char *text, size_t length)
{
	return name && strlen(name) == length && strncmp(name, text, length) == 0;
}

static bool has_name(const struct doca_argp_param *param, const char *text, size_t length, bool is_long)
{
	return name_equals(is_long ? param->long_name : param->short_name, text, length);
}

static struct doca_argp_param *find_flag(struct doca_argp_cmd *from, const char *text, size_t length, bool is_long)
{
	struct doca_argp_param *param;
	struct doca_argp_cmd *cmd;

	for (cmd = from; cmd; cmd = cmd->parent)
		for (param = cmd->params; param; param = param->next)
			if ((cmd == from || param->inherited) && has_name(param, text, length, is_long))
				return param;
	for (param = shim_argp.general.params; param; param = param->next)
		if (has_name(param, text, length, is_long))
			return param;
	return NULL;
}

struct doca_argp_param *shim_argp_find_short(struct doca_argp_cmd *from, const char *name)
{
	return find_flag(from, name, strlen(name), false);
}

struct doca_argp_param *shim_argp_find_long(struct doca_argp_cmd *from, const char *name, size_t length)
{
	return find_flag(from, name, length, true);
}

struct doca_argp_param *shim_argp_find_key(struct doca_argp_cmd *from, const char *key)
{
	struct doca_argp_param *param;
	struct doca_argp_cmd *cmd;

	for (cmd = from; cmd; cmd = cmd->parent)
		for (param = cmd->params; param; param = param->next)
			if (has_name(param, key, strlen(key), true))
				return param;
	return NULL;
}

struct doca_argp_cmd *shim_argp_find_cmd(struct doca_argp_cmd *from, const char *name)
{
	struct doca_argp_cmd *cmd;

	for (cmd = from->commands; cmd; cmd = cmd->next)
		if (strcmp(cmd->name, name) == 0)
			return cmd;
	return NULL;
}
