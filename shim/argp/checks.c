/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/argp/checks.c - is what was given complete and consistent?
 *
 * A singular parameter ("--list") stands for itself: nothing else may be given,
 * so nothing else can be required. General flags don't count.
 */
#include "argp_priv.h"

static bool is_set(const struct shim_argp_occurrence *occurrence)
{
	return occurrence->param->type != DOCA_ARGP_TYPE_BOOLEAN || occurrence->boolean;
}

static const struct doca_argp_param *find_singular(void)
{
	const struct shim_argp_occurrence *occurrence;

	for (occurrence = shim_argp.occurrences; occurrence; occurrence = occurrence->next)
		if (occurrence->param->singular && is_set(occurrence))
			return occurrence->param;
	return NULL;
}

static doca_error_t check_singular(const struct doca_argp_param *singular)
{
	const struct shim_argp_occurrence *occurrence;

	for (occurrence = shim_argp.occurrences; occurrence; occurrence = occurrence->next) {
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

doca_error_t shim_argp_check_occurrences(void)
{
	const struct doca_argp_param *singular = find_singular();

	return singular ? check_singular(singular) : check_mandatory(shim_argp.selected_cmd);
}
