/* SPDX-License-Identifier: BSD-3-Clause */
/* Occurrences: one for each appearance of a parameter, in the order of the arguments. */
#include <json-c/json.h>
#include <stdlib.h>

#include "argp_priv.h"

static void occurrence_free(struct shim_argp_occurrence *occurrence)
{
	free(occurrence->text);
	json_object_put(occurrence->value.object);
	free(occurrence);
}

void shim_argp_occurrences_free(void)
{
	struct shim_argp_occurrence *occurrence;

	while ((occurrence = STAILQ_FIRST(&shim_argp.occurrences))) {
		STAILQ_REMOVE_HEAD(&shim_argp.occurrences, link);
		occurrence_free(occurrence);
	}
}

static struct shim_argp_occurrence *occurrence_new(struct doca_argp_param *param, const struct shim_argp_value *value,
						   enum shim_argp_origin origin)
{
	struct shim_argp_occurrence *occurrence = calloc(1, sizeof(*occurrence));

	if (!occurrence)
		return NULL;
	occurrence->param = param;
	occurrence->origin = origin;
	occurrence->value = *value;
	json_object_get(value->object);
	if (value->text) {
		occurrence->value.text = occurrence->text = shim_argp_dup(value->text);
		if (!occurrence->text) {
			occurrence_free(occurrence);
			return NULL;
		}
	}
	return occurrence;
}

static doca_error_t append_occurrence(struct doca_argp_param *param, const struct shim_argp_value *value,
				      enum shim_argp_origin origin)
{
	struct shim_argp_occurrence *occurrence = occurrence_new(param, value, origin);

	if (!occurrence)
		return shim_argp_report_no_memory();
	STAILQ_INSERT_TAIL(&shim_argp.occurrences, occurrence, link);
	return DOCA_SUCCESS;
}

/* The argument of the callback: a pointer to the number, boolean or device, the text, the object. */
static void *callback_argument(const struct doca_argp_param *param, struct shim_argp_value *value)
{
	switch (param->type) {
	case DOCA_ARGP_TYPE_INT:
		return &value->number;
	case DOCA_ARGP_TYPE_BOOLEAN:
		return &value->boolean;
	case DOCA_ARGP_TYPE_DOUBLE:
		return &value->real;
	case DOCA_ARGP_TYPE_DEVICE_REP:
		return &value->device;
	case DOCA_ARGP_TYPE_DEVICE:
		return value->object ? (void *)value->object : &value->device.dev_ctx;
	default:
		return (void *)value->text;
	}
}

doca_error_t shim_argp_call_param(struct doca_argp_param *param, struct shim_argp_value *value)
{
	unsigned long generation = shim_argp.generation;
	doca_error_t result = param->callback(callback_argument(param, value), shim_argp.config);

	return shim_argp_result_after_callback(generation, result);
}

doca_error_t shim_argp_handle_param(struct doca_argp_param *param, const struct shim_argp_value *value,
				    enum shim_argp_origin origin)
{
	struct shim_argp_value copy = *value;

	param->given = origin;
	return param->general ? shim_argp_call_param(param, &copy) : append_occurrence(param, value, origin);
}
