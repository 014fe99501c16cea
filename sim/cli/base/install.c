/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of this installation. */
#include "install.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pcie_model/topology/topology.h"

/* The directory of this program (@levels 0), or the one @levels above it. */
static char *program_dir(int levels)
{
	char *path = realpath("/proc/self/exe", NULL);

	for (; path && levels >= 0; levels--) {
		char *slash = strrchr(path, '/');

		if (slash)
			*slash = '\0';
	}
	return path;
}

static char *append_path(char *dir, const char *rest)
{
	char *path = NULL;

	if (dir && asprintf(&path, "%s/%s", dir, rest) < 0)
		path = NULL;
	free(dir);
	return path;
}

char *cli_bfsimd_path(void)
{
	const char *override = getenv("BFSIM_BFSIMD");
	char *path;

	if (!override || !override[0])
		return append_path(program_dir(0), "bfsimd");
	path = realpath(override, NULL); /* absolute: the daemon starts in another directory */
	return path ? path : strdup(override);
}

static const struct {
	const char *name;
	const char *trees[2];  /* of the host and of the DPU, in the prefix */
	const char *libraries; /* outside of the trees, in the directory of the architecture */
} generations[] = {
	[CLI_GENERATION_TASK] = { "task", { "sdk/host", "sdk/dpu" }, "" },
	[CLI_GENERATION_WORKQ] = { "workq", { "sdk/workq-host", "sdk/workq-dpu" }, "/bfsim-workq" },
	[CLI_GENERATION_TASK_2_5] = { "task-2.5", { "sdk/task-2.5-host", "sdk/task-2.5-dpu" }, "/bfsim-task-2.5" },
};

int cli_generation_parse(const char *name, enum cli_generation *ret_generation)
{
	for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++)
		if (strcmp(name, generations[i].name) == 0) {
			*ret_generation = (enum cli_generation)i;
			return 0;
		}
	return -1;
}

void cli_set_generation(void *to, char *text, struct argp_state *state)
{
	if (cli_generation_parse(text, to) < 0)
		argp_error(state, CLI_GENERATION_WRONG, text);
}

const char *cli_generation_name(enum cli_generation generation)
{
	return generations[generation].name;
}

char *cli_sdk_tree(enum cli_generation generation, const char *side)
{
	return append_path(program_dir(1), generations[generation].trees[pcie_side_is_dpu(side)]);
}

char *cli_doc_dir(void)
{
	return append_path(program_dir(1), "share/doc/bfsim");
}

#ifdef __aarch64__
const char *const cli_archs[] = { "aarch64", "x86_64", NULL };
#else
const char *const cli_archs[] = { "x86_64", "aarch64", NULL };
#endif

char *cli_sdk_libdir(enum cli_generation generation, const char *side, const char *arch)
{
	char *tree = cli_sdk_tree(generation, side), *path = NULL;

	if (tree && asprintf(&path, "%s/" CLI_LIBDIR_FORMAT, tree, arch) < 0)
		path = NULL;
	free(tree);
	return path;
}

char *cli_libdir(enum cli_generation generation, const char *arch)
{
	char *rest = NULL, *path;

	if (asprintf(&rest, CLI_LIBDIR_FORMAT "%s", arch, generations[generation].libraries) < 0)
		return NULL;
	path = append_path(program_dir(1), rest);
	free(rest);
	return path;
}

bool cli_has_libraries(enum cli_generation generation, const char *arch)
{
	char *dir = cli_libdir(generation, arch);
	bool has = dir && access(dir, F_OK) == 0;

	free(dir);
	return has;
}

bool cli_is_installed(void)
{
	char *dir = program_dir(0), *name = dir ? strrchr(dir, '/') : NULL;
	bool is_installed = name && strcmp(name, "/bin") == 0;

	free(dir);
	return is_installed;
}

char *cli_prefix_without(const char *arch)
{
	return cli_has_libraries(CLI_GENERATION_TASK, cli_archs[0]) && !cli_has_libraries(CLI_GENERATION_TASK, arch) ?
		       program_dir(1) :
		       NULL;
}

char *cli_pages_library(const char *arch)
{
	char *name = NULL, *path;

	if (asprintf(&name, CLI_LIBDIR_FORMAT "/libbfsim_pages.so", arch) < 0)
		return NULL;
	path = append_path(program_dir(1), name);
	free(name);
	if (!path || access(path, F_OK) == 0)
		return path;
	free(path);
	return append_path(program_dir(1), "libbfsim_pages.so"); /* in a build tree */
}

char *cli_bench_probe_path(void)
{
	char *path = append_path(program_dir(1), "libexec/bfsim/bfsim-bench-probe");

	if (!path || access(path, F_OK) == 0)
		return path;
	free(path);
	return append_path(program_dir(2), "shim/bench/bfsim-bench-probe"); /* in a build tree */
}
