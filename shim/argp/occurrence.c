/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/argp/occurrence.c - what was given: one entry for each appearance of a parameter. */
#include <json-c/json.h>
#include <stdlib.h>

#include "argp_priv.h"

static void use_free(struct shim_argp_use *use)
{
	free(use->text);
	json_object_put(use->object);
	free(use);
}

void shim_argp_uses_free(void)
{
	struct shim_argp_use *use;

	while ((use = shim_argp.uses)) {
		shim_argp.uses = use->next;
		use_free(use);
	}
}

static struct shim_argp_use *use_make(struct doca_argp_param *param, const struct shim_argp_value *value,
				      enum shim_argp_origin origin)
{
	struct shim_argp_use *use = calloc(1, sizeof(*use));

	if (!use)
		return NULL;
	use->param = param;
	use->origin = origin;
	use->number = value->number;
	use->truth = value->truth;
	use->object = json_object_get(value->object);
	if (value->text) {
		use->text = shim_argp_dup(value->text);
		if (!use->text) {
			use_free(use);
			return NULL;
		}
	}
	return use;
}

static doca_error_t use_keep(struct doca_argp_param *param, const struct shim_argp_value *value,
			     enum shim_argp_origin origin)
{
	struct shim_argp_use *use = use_make(param, value, origin);

	if (!use)
		return shim_argp_report_no_memory();
	if (shim_argp.last_use)
		shim_argp.last_use->next = use;
	else
		shim_argp.uses = use;
	shim_argp.last_use = use;
	return DOCA_SUCCESS;
}

/* The value in the shape that a callback gets. */
static void *value_pointer(const struct doca_argp_param *param, struct shim_argp_value *value)
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

static doca_error_t act_at_once(struct doca_argp_param *param, struct shim_argp_value value)
{
	unsigned long generation = shim_argp.generation;
	doca_error_t result = param->callback(value_pointer(param, &value), shim_argp.config);

	return generation == shim_argp.generation ? result : DOCA_ERROR_BAD_STATE;
}

doca_error_t shim_argp_take(struct doca_argp_param *param, const struct shim_argp_value *value,
			    enum shim_argp_origin origin)
{
	param->given = origin;
	if (param->general)
		return act_at_once(param, *value);
	return use_keep(param, value, origin);
}
