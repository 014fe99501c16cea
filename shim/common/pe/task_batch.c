/* SPDX-License-Identifier: BSD-3-Clause */
/* Task batches. A library allocates batches by calls of its own, and no library here has such a call. So each
 * function refuses its argument. */
#include <doca_pe.h>

#include "shim/common/base/check.h"

static doca_error_t refuse_batch(const char *func, const void *task_batch)
{
	sim_err("%s: %p is no task batch: no library of bfsim allocates batches", func, task_batch);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch)
{
	return refuse_batch(__func__, task_batch);
}

doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch)
{
	return refuse_batch(__func__, task_batch);
}

doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch)
{
	return refuse_batch(__func__, task_batch);
}

void doca_task_batch_free(struct doca_task_batch *task_batch)
{
	refuse_batch(__func__, task_batch);
}

struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch)
{
	refuse_batch(__func__, task_batch);
	return NULL;
}

union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch)
{
	refuse_batch(__func__, task_batch);
	return (union doca_data){ .u64 = 0 };
}

uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch)
{
	refuse_batch(__func__, task_batch);
	return 0;
}

union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch)
{
	refuse_batch(__func__, task_batch);
	return (union doca_data){ .u64 = 0 };
}

void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data)
{
	(void)user_data;
	refuse_batch(__func__, task_batch);
}
