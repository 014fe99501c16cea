/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim sdk: print the path of an SDK tree, or shell lines that make builds and programs use it. */
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
	int side; /* of sides[] */
	int arch; /* of cli_archs[] */
	enum cli_generation generation;
	bool env;
};

/* Variables of pkg-config, of the compiler and linker, and of the loader, with the part of the tree's libraries, or NULL for
 * its headers. */
static const struct {
	const char *variable;
	const char *part;
} env_vars[] = {
	{ "PKG_CONFIG_PATH", "/pkgconfig" },
	{ "CPATH", NULL },
	{ "LIBRARY_PATH", "" },
	{ "LD_LIBRARY_PATH", "" },
};

enum { NONE = -1 };

static const char *const sides[] = { "host", "dpu", NULL };

static const struct cli_option option_list[] = {
	CLI_CHOICE('o', "on", "SIDE", struct options, side, sides, "tree", "Side of the tree: host or dpu (required)"),
	CLI_CALL('g', "generation", "GENERATION", struct options, generation, cli_set_generation,
		 "Interface: " CLI_GENERATION_HELP "; default: task"),
	CLI_CHOICE('a', "arch", "ARCH", struct options, arch, cli_archs, "processor",
		   "Processor of the programs: x86_64 or aarch64; default: this machine's"),
	CLI_FLAG('e', "env", struct options, env, "Print shell lines for eval instead of the tree's path"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (options->side == NONE)
		argp_error(state, "no side: give --on host or --on dpu");
}

static int print_export(const char *variable, const char *path)
{
	char *quoted = sim_shell_quote(path);

	if (!quoted)
		return cli_fail("out of memory");
	printf("export %s=%s${%s:+:$%s}\n", variable, quoted, variable, variable);
	free(quoted);
	return CLI_OK;
}

/* For another architecture: its compilers, and its packages instead of this machine's. */
static void print_cross_env(const char *arch)
{
	printf("export CC=%s-linux-gnu-gcc CXX=%s-linux-gnu-g++\n", arch, arch);
	printf("export PKG_CONFIG_LIBDIR=/usr/lib/%s-linux-gnu/pkgconfig:/usr/share/pkgconfig\n", arch);
}

static int print_env(const char *tree, const char *libdir, const char *arch)
{
	int status = CLI_OK;

	if (strpbrk(tree, ":;"))
		return cli_fail("%s contains : or ;, which a list of directories cannot: install bfsim elsewhere",
				tree);
	if (strcmp(arch, cli_archs[0]) != 0)
		print_cross_env(arch);
	for (size_t i = 0; status == CLI_OK && i < sizeof(env_vars) / sizeof(env_vars[0]); i++) {
		const char *part = env_vars[i].part;
		char *path = NULL;

		if (asprintf(&path, "%s%s", part ? libdir : tree, part ? part : "/include") < 0)
			return cli_fail("out of memory");
		status = print_export(env_vars[i].variable, path);
		free(path);
	}
	return status;
}

static int fail_without_tree(const char *side, const char *tree)
{
	if (cli_is_installed())
		return cli_fail(
			"there is no SDK tree at %s: apt install bfsim-sdk-%s, where bfsim came as Debian packages",
			tree, side);
	return cli_fail("there is no SDK tree at %s: install bfsim (meson install) and use the installed command",
			tree);
}

static int print_tree(const struct options *options, const char *tree, const char *libdir)
{
	const char *arch = cli_archs[options->arch];

	if (access(tree, F_OK) < 0)
		return fail_without_tree(sides[options->side], tree);
	if (options->arch != 0 && !cli_has_libraries(options->generation, arch))
		return cli_fail("the SDK tree has no libraries for %s (%s): install bfsim for it, too (doc/arm.md)",
				arch, libdir);
	if (options->env)
		return print_env(tree, libdir, arch);
	printf("%s\n", tree);
	return CLI_OK;
}

int cli_sdk(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.check = check_options,
		.doc = "Print the path of the SDK tree for applications of a side.\v"
		       "eval \"$(bfsim sdk --on dpu --env)\" sets up a shell for building and running against it.",
	};
	struct options options = { .side = NONE };
	char *tree, *libdir;
	int status;

	cli_args_parse(&args, argc, argv, 0, &options);
	tree = cli_sdk_tree(options.generation, sides[options.side]);
	libdir = cli_sdk_libdir(options.generation, sides[options.side], cli_archs[options.arch]);
	status = tree && libdir ? print_tree(&options, tree, libdir) : cli_fail("out of memory");
	free(libdir);
	free(tree);
	return status;
}
