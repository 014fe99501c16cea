/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/argp/use.c - what was given: one entry for each appearance of a parameter. */
#include <json-c/json.h>
#include <stdlib.h>

#include "argp_priv.h"

static void use_free(struct argp_use *use)
{
	free(use->text);
	json_object_put(use->object);
	free(use);
}

void argp_uses_free(void)
{
	struct argp_use *use;

	while ((use = argp_parser.uses)) {
		argp_parser.uses = use->next;
		use_free(use);
	}
}

static struct argp_use *use_make(struct doca_argp_param *param, const struct argp_value *value,
				 enum argp_origin origin)
{
	struct argp_use *use = calloc(1, sizeof(*use));

	if (!use)
		return NULL;
	use->param = param;
	use->origin = origin;
	use->number = value->number;
	use->truth = value->truth;
	use->object = json_object_get(value->object);
	if (value->text) {
		use->text = argp_dup(value->text);
		if (!use->text) {
			use_free(use);
			return NULL;
		}
	}
	return use;
}

static doca_error_t use_keep(struct doca_argp_param *param, const struct argp_value *value,
			     enum argp_origin origin)
{
	struct argp_use *use = use_make(param, value, origin);

	if (!use)
		return argp_report_no_memory();
	if (argp_parser.last_use)
		argp_parser.last_use->next = use;
	else
		argp_parser.uses = use;
	argp_parser.last_use = use;
	return DOCA_SUCCESS;
}

/* The value in the shape that a callback gets. */
static void *value_pointer(const struct doca_argp_param *param, struct argp_value *value)
{
	switch (param->type) {
	case DOCA_ARGP_TYPE_INT:
		return &value->number;
	case DOCA_ARGP_TYPE_BOOLEAN:
		return &value->truth;
	default:
		return (void *)value->text;
	}
}

static doca_error_t act_at_once(struct doca_argp_param *param, struct argp_value value)
{
	unsigned long generation = argp_parser.generation;
	doca_error_t result = param->callback(value_pointer(param, &value), argp_parser.config);

	return generation == argp_parser.generation ? result : DOCA_ERROR_BAD_STATE;
}

doca_error_t argp_take(struct doca_argp_param *param, const struct argp_value *value, enum argp_origin origin)
{
	param->given = origin;
	if (param->general)
		return act_at_once(param, *value);
	return use_keep(param, value, origin);
}
