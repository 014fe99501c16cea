/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_argp_start(): collect the arguments, check them, run the callbacks. */
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

static bool is_set(const struct shim_argp_occurrence *occurrence)
{
	return occurrence->param->type != DOCA_ARGP_TYPE_BOOLEAN || occurrence->value.boolean;
}

static const struct doca_argp_param *find_singular(void)
{
	const struct shim_argp_occurrence *occurrence;

	STAILQ_FOREACH(occurrence, &shim_argp.occurrences, link)
		if (occurrence->param->singular && is_set(occurrence))
			return occurrence->param;
	return NULL;
}

static doca_error_t check_singular(const struct doca_argp_param *singular)
{
	const struct shim_argp_occurrence *occurrence;

	STAILQ_FOREACH(occurrence, &shim_argp.occurrences, link) {
		if (occurrence->param != singular && is_set(occurrence)) {
			shim_argp_report("%s must be given alone, without other flags of the program",
					 shim_argp_flag_name(singular));
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	return DOCA_SUCCESS;
}

static doca_error_t check_mandatory(const struct doca_argp_cmd *cmd)
{
	const struct doca_argp_param *param;

	for (; cmd; cmd = cmd->parent) {
		for (param = cmd->params; param; param = param->next) {
			if (param->mandatory && param->given == SHIM_ARGP_NOT_GIVEN) {
				shim_argp_report("%s is missing; it must be given", shim_argp_flag_name(param));
				return DOCA_ERROR_INVALID_VALUE;
			}
		}
	}
	return DOCA_SUCCESS;
}

/* Are all mandatory parameters given? A singular parameter ("--list") needs no other, and must be alone.
 * General flags don't count. */
static doca_error_t check_occurrences(void)
{
	const struct doca_argp_param *singular = find_singular();

	return singular ? check_singular(singular) : check_mandatory(shim_argp.selected_cmd);
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
		result = check_occurrences();
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
	shim_argp_set_state(SHIM_ARGP_PARSING);
	result = parse(argc, argv);
	if (generation == shim_argp.generation)
		shim_argp_set_state(SHIM_ARGP_PARSED);
	return result;
}
