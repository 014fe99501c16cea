/* SPDX-License-Identifier: BSD-3-Clause */
/* The usage text of the program, or of the command that the arguments selected:
 *
 *   Usage: NAME [DOCA Flags] [Program Flags]
 *
 *   DOCA Flags:
 *     -h, --help                        the description
 *   ...
 */
#include <stdio.h>

#include "argp_priv.h"

#define DESCRIPTION_COLUMN 36

static void print_description(int width, const char *description)
{
	printf("%*s%s\n", width < DESCRIPTION_COLUMN ? DESCRIPTION_COLUMN - width : 1, "", description);
}

static void print_flag(const struct doca_argp_param *param)
{
	int width = printf("  ");

	if (param->short_name)
		width += printf("-%s", param->short_name);
	if (param->short_name && param->long_name)
		width += printf(", ");
	if (param->long_name)
		width += printf("--%s", param->long_name);
	if (param->arguments)
		width += printf(" %s", param->arguments);
	print_description(width, param->description);
}

/* Is @param of @cmd to be shown in the usage of @shown, which is @cmd or inside it? */
static bool is_shown(const struct doca_argp_param *param, const struct doca_argp_cmd *cmd,
		     const struct doca_argp_cmd *shown)
{
	return !param->hidden && (cmd == shown || param->inherited);
}

static bool has_flags(const struct doca_argp_cmd *shown)
{
	const struct doca_argp_param *param;
	const struct doca_argp_cmd *cmd;

	for (cmd = shown; cmd; cmd = cmd->parent)
		for (param = cmd->params; param; param = param->next)
			if (is_shown(param, cmd, shown))
				return true;
	return false;
}

static void print_flags(const char *title, const struct doca_argp_cmd *shown)
{
	const struct doca_argp_param *param;
	const struct doca_argp_cmd *cmd;

	if (!has_flags(shown))
		return;
	printf("\n%s Flags:\n", title);
	for (cmd = shown; cmd; cmd = cmd->parent)
		for (param = cmd->params; param; param = param->next)
			if (is_shown(param, cmd, shown))
				print_flag(param);
}

static bool has_cmds(const struct doca_argp_cmd *shown)
{
	const struct doca_argp_cmd *cmd;

	for (cmd = shown->commands; cmd && cmd->hidden; cmd = cmd->next)
		;
	return cmd != NULL;
}

static void print_cmds(const char *title, const struct doca_argp_cmd *shown)
{
	const struct doca_argp_cmd *cmd;

	if (!has_cmds(shown))
		return;
	printf("\n%s Commands:\n", title);
	for (cmd = shown->commands; cmd; cmd = cmd->next)
		if (!cmd->hidden)
			print_description(printf("  %s", cmd->name), cmd->description);
}

static void print_path(const struct doca_argp_cmd *cmd)
{
	if (!cmd->parent)
		return;
	print_path(cmd->parent);
	printf(" %s", cmd->name);
}

static void print_first_line(const char *title, const struct doca_argp_cmd *shown)
{
	printf("Usage: %s", shim_argp_program_name());
	if (shim_argp.dpdk_callback)
		printf(" [DPDK Flags] --");
	print_path(shown);
	printf(" [DOCA Flags]");
	if (has_flags(shown))
		printf(" [%s Flags]", title);
	if (has_cmds(shown))
		printf(" <Command> [Command Flags]");
	printf("\n");
}

void doca_argp_usage(void)
{
	const struct doca_argp_cmd *shown = shim_argp.selected_cmd;
	const char *title;

	if (shim_argp.state == SHIM_ARGP_OFF) {
		shim_argp_log_misuse(__func__, "call doca_argp_init() first; there is nothing to print");
		return;
	}
	title = shown->parent ? "Command" : "Program";
	print_first_line(title, shown);
	print_flags("DOCA", &shim_argp.general);
	print_flags(title, shown);
	print_cmds(title, shown);
	fflush(stdout);
}
