/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "argp_priv.h"

static doca_error_t check_arguments(int argc, char **argv)
{
	int i;

	for (i = 0; argv && i < argc && argv[i]; i++)
		;
	if (argc > 0 && i == argc)
		return DOCA_SUCCESS;
	shim_argp_log_misuse("doca_argp_start", "pass argc and argv as main() got them: one string or more, none NULL");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t set_program_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (shim_argp.program_name || name[0] == '\0')
		return DOCA_SUCCESS;
	shim_argp.program_name = shim_argp_dup(name);
	return shim_argp.program_name ? DOCA_SUCCESS : shim_argp_report_no_memory();
}

static doca_error_t parse(int argc, char **argv)
{
	doca_error_t result = set_program_name(argv[0]);
	int first;

	if (result == DOCA_SUCCESS)
		result = shim_argp_dpdk_collect(argc, argv, &first);
	if (result == DOCA_SUCCESS)
		result = shim_argp_cli_collect(argc - first, argv + first);
	if (result == DOCA_SUCCESS && shim_argp.json_path)
		result = shim_argp_json_collect(shim_argp.json_path);
	if (result == DOCA_SUCCESS)
		result = shim_argp_check_occurrences();
	if (result == DOCA_SUCCESS)
		result = shim_argp_run_callbacks();
	return result;
}

doca_error_t doca_argp_start(int argc, char **argv)
{
	unsigned long generation = shim_argp.generation;
	doca_error_t result = shim_argp_check_open(__func__);

	if (result == DOCA_SUCCESS)
		result = check_arguments(argc, argv);
	if (result != DOCA_SUCCESS)
		return result;
	shim_argp.state = SHIM_ARGP_PARSING;
	result = parse(argc, argv);
	if (generation == shim_argp.generation)
		shim_argp.state = SHIM_ARGP_PARSED;
	return result;
}
