/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/argp/occurrence.c - what was given: one entry for each appearance of a parameter. */
#include <json-c/json.h>
#include <stdlib.h>

#include "argp_priv.h"

static void occurrence_free(struct shim_argp_occurrence *occurrence)
{
	free(occurrence->text);
	json_object_put(occurrence->object);
	free(occurrence);
}

void shim_argp_occurrences_free(void)
{
	struct shim_argp_occurrence *occurrence;

	while ((occurrence = shim_argp.occurrences)) {
		shim_argp.occurrences = occurrence->next;
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
	occurrence->number = value->number;
	occurrence->boolean = value->boolean;
	occurrence->object = json_object_get(value->object);
	if (value->text) {
		occurrence->text = shim_argp_dup(value->text);
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
	if (shim_argp.last_occurrence)
		shim_argp.last_occurrence->next = occurrence;
	else
		shim_argp.occurrences = occurrence;
	shim_argp.last_occurrence = occurrence;
	return DOCA_SUCCESS;
}

/* The value in the shape that a callback gets. */
static void *callback_value(const struct doca_argp_param *param, struct shim_argp_value *value)
{
	switch (param->type) {
	case DOCA_ARGP_TYPE_INT:
		return &value->number;
	case DOCA_ARGP_TYPE_BOOLEAN:
		return &value->boolean;
	default:
		return (void *)value->text;
	}
}

static doca_error_t call_immediately(struct doca_argp_param *param, struct shim_argp_value value)
{
	unsigned long generation = shim_argp.generation;
	doca_error_t result = param->callback(callback_value(param, &value), shim_argp.config);

	return generation == shim_argp.generation ? result : DOCA_ERROR_BAD_STATE;
}

doca_error_t shim_argp_handle_param(struct doca_argp_param *param, const struct shim_argp_value *value,
				    enum shim_argp_origin origin)
{
	param->given = origin;
	if (param->general)
		return call_immediately(param, *value);
	return append_occurrence(param, value, origin);
}
