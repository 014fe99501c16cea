/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/argp/run_callbacks.c - the program's callbacks, once its arguments are known to be
 * well-formed: parameters (those of the JSON file first, each group as it was
 * written), commands from the outermost in, validation, DPDK.
 */
#include "argp_priv.h"

/* What to go on with after a callback; the parser is gone if it destroyed it. */
static doca_error_t result_after_callback(unsigned long generation, doca_error_t result)
{
	if (generation == shim_argp.generation)
		return result;
	return result == DOCA_SUCCESS ? DOCA_ERROR_BAD_STATE : result;
}

static void *callback_value(struct shim_argp_occurrence *occurrence)
{
	switch (occurrence->param->type) {
	case DOCA_ARGP_TYPE_INT:
		return &occurrence->number;
	case DOCA_ARGP_TYPE_BOOLEAN:
		return &occurrence->boolean;
	case DOCA_ARGP_TYPE_JSON_OBJ:
		return occurrence->object;
	default:
		return occurrence->text;
	}
}

static doca_error_t run_param_callback(struct shim_argp_occurrence *occurrence)
{
	unsigned long generation = shim_argp.generation;
	doca_error_t result;

	if (occurrence->param->type == DOCA_ARGP_TYPE_BOOLEAN && !occurrence->boolean)
		return DOCA_SUCCESS;
	result = occurrence->param->callback(callback_value(occurrence), shim_argp.config);
	if (result != DOCA_SUCCESS && generation == shim_argp.generation)
		shim_argp_report("the value of %s was not accepted: %s", shim_argp_flag_name(occurrence->param),
				 doca_error_get_descr(result));
	return result_after_callback(generation, result);
}

static doca_error_t run_param_callbacks(enum shim_argp_origin origin)
{
	doca_error_t result = DOCA_SUCCESS;
	struct shim_argp_occurrence *occurrence;

	for (occurrence = shim_argp.occurrences; occurrence; occurrence = occurrence->next) {
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
	return result_after_callback(generation, cmd->callback(shim_argp.config));
}

static doca_error_t run_validation(void)
{
	unsigned long generation = shim_argp.generation;

	if (!shim_argp.validation)
		return DOCA_SUCCESS;
	return result_after_callback(generation, shim_argp.validation(shim_argp.config));
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
		result = result_after_callback(generation, shim_argp_dpdk_call());
	return result;
}
