/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/argp/run_callbacks.c - the program's callbacks, once its arguments are known to be
 * well-formed: parameters (those of the JSON file first, each group as it was
 * written), commands from the outermost in, validation, DPDK.
 */
#include "argp_priv.h"

/* What to go on with after a callback; the parser is gone if it destroyed it. */
static doca_error_t after_callback(unsigned long generation, doca_error_t result)
{
	if (generation == shim_argp.generation)
		return result;
	return result == DOCA_SUCCESS ? DOCA_ERROR_BAD_STATE : result;
}

static void *value_pointer(struct shim_argp_use *use)
{
	switch (use->param->type) {
	case DOCA_ARGP_TYPE_INT:
		return &use->number;
	case DOCA_ARGP_TYPE_BOOLEAN:
		return &use->truth;
	case DOCA_ARGP_TYPE_JSON_OBJ:
		return use->object;
	default:
		return use->text;
	}
}

static doca_error_t run_use(struct shim_argp_use *use)
{
	unsigned long generation = shim_argp.generation;
	doca_error_t result;

	if (use->param->type == DOCA_ARGP_TYPE_BOOLEAN && !use->truth)
		return DOCA_SUCCESS;
	result = use->param->callback(value_pointer(use), shim_argp.config);
	if (result != DOCA_SUCCESS && generation == shim_argp.generation)
		shim_argp_report("the value of %s was not accepted: %s", shim_argp_flag_name(use->param),
				 doca_error_get_descr(result));
	return after_callback(generation, result);
}

static doca_error_t run_uses(enum shim_argp_origin origin)
{
	doca_error_t result = DOCA_SUCCESS;
	struct shim_argp_use *use;

	for (use = shim_argp.uses; use; use = use->next) {
		if (use->origin == origin)
			result = run_use(use);
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
	return after_callback(generation, cmd->callback(shim_argp.config));
}

static doca_error_t run_validation(void)
{
	unsigned long generation = shim_argp.generation;

	if (!shim_argp.validation)
		return DOCA_SUCCESS;
	return after_callback(generation, shim_argp.validation(shim_argp.config));
}

doca_error_t shim_argp_run(void)
{
	unsigned long generation = shim_argp.generation;
	doca_error_t result = run_uses(SHIM_ARGP_FROM_JSON);

	if (result == DOCA_SUCCESS)
		result = run_uses(SHIM_ARGP_FROM_CLI);
	if (result == DOCA_SUCCESS)
		result = run_cmds(shim_argp.chosen);
	if (result == DOCA_SUCCESS)
		result = run_validation();
	if (result == DOCA_SUCCESS)
		result = after_callback(generation, shim_argp_dpdk_hand_out());
	return result;
}
