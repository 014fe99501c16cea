/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/argp/checks.c - is what was given complete and consistent?
 *
 * A singular parameter ("--list") stands for itself: nothing else may be given,
 * so nothing else can be required. General flags don't count.
 */
#include "argp_priv.h"

static bool counts(const struct argp_use *use)
{
	return use->param->type != DOCA_ARGP_TYPE_BOOLEAN || use->truth;
}

static const struct doca_argp_param *find_singular(void)
{
	const struct argp_use *use;

	for (use = argp_parser.uses; use; use = use->next)
		if (use->param->singular && counts(use))
			return use->param;
	return NULL;
}

static doca_error_t check_alone(const struct doca_argp_param *singular)
{
	const struct argp_use *use;

	for (use = argp_parser.uses; use; use = use->next) {
		if (use->param != singular && counts(use)) {
			argp_report("%s must be given alone, without other flags of the program",
				    argp_flag_name(singular));
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
			if (param->mandatory && param->given == ARGP_NOT_GIVEN) {
				argp_report("%s is missing; it must be given", argp_flag_name(param));
				return DOCA_ERROR_INVALID_VALUE;
			}
		}
	}
	return DOCA_SUCCESS;
}

doca_error_t argp_check_uses(void)
{
	const struct doca_argp_param *singular = find_singular();

	return singular ? check_alone(singular) : check_mandatory(argp_parser.chosen);
}
