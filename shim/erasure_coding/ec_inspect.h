/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/erasure_coding/ec_inspect.h - what the checker may know of erasure coding tasks. */
#ifndef SHIM_EC_INSPECT_H
#define SHIM_EC_INSPECT_H

#include "ec_priv.h"

/* The blocks of a task's matrix; 0 = the program destroyed it. */
struct ec_task_view {
	size_t num_in, num_out;
};

/* Returns false if the task is of another library. */
static inline bool ec_inspect_task(const struct doca_task *task, struct ec_task_view *ret_view)
{
	const struct doca_ec_matrix *matrix;

	if (!shim_object_is_still(task->ctx, SHIM_EC))
		return false;
	matrix = ((const struct ec_task *)task)->matrix;
	*ret_view = (struct ec_task_view){ 0 };
	if (shim_object_is(matrix, SHIM_EC_MATRIX))
		*ret_view = (struct ec_task_view){ matrix->code->num_in, matrix->code->num_out };
	return true;
}

#endif
