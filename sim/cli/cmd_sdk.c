/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim sdk: print the path of an SDK tree, or shell lines that make builds and programs use it. */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/install.h"
#include "sim/base/shell_quote.h"

struct options {
	const char *side;
	enum cli_generation generation;
	bool env;
};

/* Variables of pkg-config, of the compiler and linker, and of the loader, with the part of the tree for each. */
static const struct {
	const char *variable;
	const char *part;
} env_vars[] = {
	{ "PKG_CONFIG_PATH", CLI_SDK_LIBDIR "/pkgconfig" },
	{ "CPATH", "include" },
	{ "LIBRARY_PATH", CLI_SDK_LIBDIR },
	{ "LD_LIBRARY_PATH", CLI_SDK_LIBDIR },
};

static const struct argp_option option_list[] = {
	{ "on", 'o', "SIDE", 0, "Side of the tree: host or dpu (required)", 0 },
	{ "generation", 'g', "GENERATION", 0, "Interface: " CLI_GENERATION_HELP "; default: task", 0 },
	{ "env", 'e', NULL, 0, "Print shell lines for eval instead of the tree's path", 0 },
	{ 0 },
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'o':
		options->side = arg;
		if (strcmp(arg, "host") != 0 && strcmp(arg, "dpu") != 0)
			argp_error(state, "--on %s: there are two trees, host and dpu", arg);
		return 0;
	case 'g':
		if (cli_generation_parse(arg, &options->generation) < 0)
			argp_error(state, CLI_GENERATION_WRONG, arg);
		return 0;
	case 'e':
		options->env = true;
		return 0;
	case ARGP_KEY_END:
		if (!options->side)
			argp_error(state, "no side: give --on host or --on dpu");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int print_export(const char *variable, const char *tree, const char *part)
{
	char *path, *quoted = NULL;

	if (asprintf(&path, "%s/%s", tree, part) >= 0) {
		quoted = sim_shell_quote(path);
		free(path);
	}
	if (!quoted)
		return cli_fail("out of memory");
	printf("export %s=%s${%s:+:$%s}\n", variable, quoted, variable, variable);
	free(quoted);
	return CLI_OK;
}

static int print_env(const char *tree)
{
	int status = CLI_OK;

	if (strpbrk(tree, ":;"))
		return cli_fail("%s contains : or ;, which a list of directories cannot: install bfsim elsewhere",
				tree);
	for (size_t i = 0; status == CLI_OK && i < sizeof(env_vars) / sizeof(env_vars[0]); i++)
		status = print_export(env_vars[i].variable, tree, env_vars[i].part);
	return status;
}

static int print_tree(const struct options *options, const char *tree)
{
	if (access(tree, F_OK) < 0)
		return cli_fail(
			"there is no SDK tree at %s: install bfsim (meson install) and use the installed command",
			tree);
	if (options->env)
		return print_env(tree);
	printf("%s\n", tree);
	return CLI_OK;
}

int cli_sdk(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.doc = "Print the path of the SDK tree for applications of a side.\v"
		       "eval \"$(bfsim sdk --on dpu --env)\" sets up a shell for building and running against it.",
	};
	struct options options = { 0 };
	char *tree;
	int status;

	cli_args_parse(&argp, argc, argv, 0, &options);
	tree = cli_sdk_tree(options.generation, options.side);
	status = tree ? print_tree(&options, tree) : cli_fail("out of memory");
	free(tree);
	return status;
}
