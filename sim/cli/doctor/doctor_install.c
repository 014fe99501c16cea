/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of this installation, and their versions. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "external_libraries.h" /* written by the build */
#include "pcie_model/topology/topology.h"
#include "sim/cli/base/install.h"

/* The first line that `@program --version` prints, without its name; "" = it can't be run. */
static void read_version(const char *program, char *line, int size)
{
	FILE *out = NULL;
	int pipe_fds[2];
	pid_t pid;

	line[0] = '\0';
	if (pipe(pipe_fds) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		dup2(pipe_fds[1], STDOUT_FILENO);
		close(pipe_fds[0]);
		execl(program, program, "--version", (char *)NULL);
		_exit(127);
	}
	close(pipe_fds[1]);
	out = fdopen(pipe_fds[0], "r");
	if (!out || !fgets(line, size, out))
		line[0] = '\0';
	while (out && fgetc(out) != EOF)
		;
	if (out)
		fclose(out);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	line[strcspn(line, "\n")] = '\0';
}

static void check_daemon(struct cli_doctor *doctor)
{
	char *program = cli_bfsimd_path(), line[128] = "";
	struct cli_doctor_finding *finding;

	if (program)
		read_version(program, line, sizeof(line));
	finding = cli_doctor_add(doctor, "daemon", "%s: %s", program ? program : "bfsimd",
				 line[0] ? line : "can't be run");
	if (!line[0])
		cli_doctor_fail(finding, CLI_DOCTOR_PROBLEM, "no session can start",
				"install bfsimd beside bfsim, or name it in BFSIM_BFSIMD");
	else if (strcmp(line, "bfsim " BFSIM_VERSION) != 0)
		cli_doctor_fail(finding, CLI_DOCTOR_PROBLEM,
				"the daemon is of another version than this command (" BFSIM_VERSION
				"), and sessions may not start",
				"install both from one version; unset BFSIM_BFSIMD");
	free(program);
}

/* Beside the daemon, or where the variable says. The caller frees it; NULL without memory. */
static char *gateway_path(void)
{
	const char *given = getenv("BFSIM_GATEWAY");
	char *daemon, *slash, *path = NULL;

	if (given && given[0])
		return strdup(given);
	daemon = cli_bfsimd_path();
	slash = daemon ? strrchr(daemon, '/') : NULL;
	if (slash && asprintf(&path, "%.*s/bfsim-gateway", (int)(slash - daemon), daemon) < 0)
		path = NULL;
	free(daemon);
	return path;
}

static void check_gateway(struct cli_doctor *doctor)
{
	static const char expected[] = "bfsim " BFSIM_VERSION ";";
	char *program = gateway_path(), line[256] = "";
	struct cli_doctor_finding *finding;

	if (program && access(program, X_OK) == 0)
		read_version(program, line, sizeof(line));
	finding = cli_doctor_add(doctor, "gateway", "%s: %s", program ? program : "bfsim-gateway",
				 line[0] ? line : "is not there");
	if (!line[0])
		cli_doctor_fail(finding, CLI_DOCTOR_WARNING,
				"sessions are of one machine: no bfsim up --listen, bfsim join or bfsim run --nodes",
				"install the package bfsim-gateway; a build needs libfabric-dev and libssl-dev for it");
	else if (strncmp(line, expected, sizeof(expected) - 1) != 0)
		cli_doctor_fail(finding, CLI_DOCTOR_WARNING,
				"the gateway is of another version than this command (" BFSIM_VERSION
				"), and may not connect machines",
				"install both from one version; unset BFSIM_GATEWAY");
	free(program);
}

/* The value of "Version:" in the pkg-config file @path; "" = none. */
static void read_module_version(const char *path, char *version, int size)
{
	FILE *file = fopen(path, "re");
	char line[256];

	version[0] = '\0';
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "Version: ", 9) == 0)
			snprintf(version, (size_t)size, "%.*s", (int)strcspn(line + 9, "\n"), line + 9);
	if (file)
		fclose(file);
}

/* The SDK trees are usable together if both sides have the version of this command. */
static void check_tree(struct cli_doctor *doctor, enum cli_generation generation, const char *name, const char *side,
		       const char *wanted)
{
	char *tree = cli_sdk_tree(generation, side), path[4096], version[64];
	struct cli_doctor_finding *finding;

	if (!tree)
		return;
	snprintf(path, sizeof(path), "%s/" CLI_LIBDIR_FORMAT "/pkgconfig/doca.pc", tree, cli_archs[0]);
	read_module_version(path, version, sizeof(version));
	finding = cli_doctor_add(doctor, name, "%s: DOCA %s", tree, version[0] ? version : "is not there");
	if (!version[0])
		cli_doctor_fail(finding, CLI_DOCTOR_WARNING,
				"programs of that side and generation can't be built or run",
				pcie_side_is_dpu(side) ? "apt install bfsim-sdk-dpu, or install bfsim whole" :
							 "apt install bfsim-sdk-host, or install bfsim whole");
	else if (strcmp(version, wanted) != 0)
		cli_doctor_fail(finding, CLI_DOCTOR_PROBLEM,
				"the tree is of another version than this command: programs may not attach",
				"install the SDK trees of both sides and the command from one version");
	free(tree);
}

static void check_trees(struct cli_doctor *doctor)
{
	char *tree = cli_sdk_tree(CLI_GENERATION_TASK, "host");
	char *slash = tree ? strrchr(tree, '/') : NULL;

	if (slash)
		*slash = '\0';
	if (tree && access(tree, F_OK) < 0) {
		cli_doctor_add(doctor, "sdk", "there are no SDK trees: this is a build tree, not an installation");
	} else {
		check_tree(doctor, CLI_GENERATION_TASK, "sdk host", "host", BFSIM_DOCA_VERSION);
		check_tree(doctor, CLI_GENERATION_TASK, "sdk dpu", "dpu", BFSIM_DOCA_VERSION);
		check_tree(doctor, CLI_GENERATION_TASK_2_5, "sdk task-2.5-host", "host", BFSIM_DOCA_VERSION);
		check_tree(doctor, CLI_GENERATION_TASK_2_5, "sdk task-2.5-dpu", "dpu", BFSIM_DOCA_VERSION);
		check_tree(doctor, CLI_GENERATION_WORKQ, "sdk workq-host", "host", BFSIM_WORKQ_VERSION);
		check_tree(doctor, CLI_GENERATION_WORKQ, "sdk workq-dpu", "dpu", BFSIM_WORKQ_VERSION);
	}
	free(tree);
}

/* Where a shell finds @program: a path that the caller frees, or NULL. */
static char *find_program(const char *program)
{
	char *list = strdup(getenv("PATH") ? getenv("PATH") : ""), *rest = list, *path = NULL;

	for (char *dir = strsep(&rest, ":"); dir; dir = strsep(&rest, ":")) {
		if (asprintf(&path, "%s/%s", dir[0] ? dir : ".", program) < 0)
			path = NULL;
		if (path && access(path, X_OK) == 0)
			break;
		free(path);
		path = NULL;
	}
	free(list);
	return path;
}

/* Add what builds of applications need: the first of @programs (up to NULL) that is there. */
static void check_tool(struct cli_doctor *doctor, const char *name, const char *const *programs, const char *effect,
		       const char *remedy)
{
	struct cli_doctor_finding *finding;
	char *path = NULL;

	for (size_t i = 0; programs[i] && !path; i++)
		path = find_program(programs[i]);
	if (path) {
		cli_doctor_add(doctor, name, "%s", path);
	} else {
		finding = cli_doctor_add(doctor, name, "there is no %s in PATH", programs[0]);
		cli_doctor_fail(finding, CLI_DOCTOR_WARNING, effect, remedy);
	}
	free(path);
}

static void check_tools(struct cli_doctor *doctor)
{
	static const char *const compilers[] = { "cc", "gcc", "clang", NULL };
	static const char *const pkg_config[] = { "pkg-config", "pkgconf", NULL };

	check_tool(doctor, "compiler", compilers, "applications can't be built here; those that are built run",
		   "apt install gcc libc6-dev");
	check_tool(doctor, "pkg-config", pkg_config, "builds don't find the SDK trees, but with -I and -L",
		   "apt install pkgconf");
}

static void check_library(struct cli_doctor *doctor, const char *file, const char *effect, const char *remedy)
{
	void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
	struct cli_doctor_finding *finding =
		cli_doctor_add(doctor, "library", "%s %s", file, handle ? "is there" : "is not there");

	if (handle)
		dlclose(handle);
	else
		cli_doctor_fail(finding, CLI_DOCTOR_WARNING, effect, remedy);
}

void cli_doctor_check_install(struct cli_doctor *doctor)
{
	cli_doctor_add(doctor, "command", "bfsim " BFSIM_VERSION);
	check_daemon(doctor);
	check_gateway(doctor);
	check_trees(doctor);
	check_tools(doctor);
#define CHECK(file, lack, package) check_library(doctor, file, lack, "apt install " package);
	SHIM_EXTERNAL_LIBRARIES(CHECK)
#undef CHECK
}
