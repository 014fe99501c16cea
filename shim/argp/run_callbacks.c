/* SPDX-License-Identifier: BSD-3-Clause */
/* The callbacks of the program, after its arguments were found to be well-formed: parameters of the JSON
 * file, parameters of the command line, commands from the outermost to the innermost, validation, DPDK.
 */
#include "argp_priv.h"

static bool names_device(const struct shim_argp_occurrence *occurrence)
{
	enum doca_argp_type type = occurrence->param->type;

	return occurrence->value.text && (type == DOCA_ARGP_TYPE_DEVICE || type == DOCA_ARGP_TYPE_DEVICE_REP);
}

static doca_error_t run_param_callback(struct shim_argp_occurrence *occurrence)
{
	unsigned long generation = shim_argp.generation;
	doca_error_t result;

	if (occurrence->param->type == DOCA_ARGP_TYPE_BOOLEAN && !occurrence->value.boolean)
		return DOCA_SUCCESS;
	if (names_device(occurrence)) {
		result = shim_argp_open_device(occurrence->param, &occurrence->value);
		if (result != DOCA_SUCCESS)
			return result;
	}
	result = shim_argp_call_param(occurrence->param, &occurrence->value);
	if (result != DOCA_SUCCESS && generation == shim_argp.generation)
		shim_argp_report("the value of %s was not accepted: %s", shim_argp_flag_name(occurrence->param),
				 doca_error_get_descr(result));
	return result;
}

static doca_error_t run_param_callbacks(enum shim_argp_origin origin)
{
	doca_error_t result = DOCA_SUCCESS;
	struct shim_argp_occurrence *occurrence;

	STAILQ_FOREACH(occurrence, &shim_argp.occurrences, link) {
		if (occurrence->origin == origin)
			result = run_param_callback(occurrence);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}

static doca_error_t run_cmds(const struct doca_argp_cmd *cmd)
{
	doca_error_t result = cmd->parent ? run_cmds(cmd->parent) : DOCA_SUCCESS;
	unsigned long generation = shim_argp.generation;

	if (result != DOCA_SUCCESS || !cmd->callback)
		return result;
	return shim_argp_result_after_callback(generation, cmd->callback(shim_argp.config));
}

static doca_error_t run_validation(void)
{
	unsigned long generation = shim_argp.generation;

	if (!shim_argp.validation)
		return DOCA_SUCCESS;
	return shim_argp_result_after_callback(generation, shim_argp.validation(shim_argp.config));
}

doca_error_t shim_argp_run_callbacks(void)
{
	unsigned long generation = shim_argp.generation;
	doca_error_t result = run_param_callbacks(SHIM_ARGP_FROM_JSON);

	if (result == DOCA_SUCCESS)
		result = run_param_callbacks(SHIM_ARGP_FROM_CLI);
	if (result == DOCA_SUCCESS)
		result = run_cmds(shim_argp.selected_cmd);
	if (result == DOCA_SUCCESS)
		result = run_validation();
	if (result == DOCA_SUCCESS)
		result = shim_argp_result_after_callback(generation, shim_argp_dpdk_call());
	return result;
}
