/* SPDX-License-Identifier: BSD-3-Clause */
/* The task that adds two numbers. */
#include "shim/common/base/check.h"
#include "shim/common/pe/task_submit.h"
#include "toy_priv.h"

enum { MAX_TASKS = 1024 };

static struct doca_toy_task_sum *to_sum(const struct doca_task *task)
{
	return (struct doca_toy_task_sum *)(uintptr_t)task;
}

static doca_error_t check(struct doca_task *task)
{
	(void)task; /* each pair of numbers has a sum */
	return DOCA_SUCCESS;
}

static int run(struct sim_job *job)
{
	struct doca_toy_task_sum *sum = to_sum(shim_task_from_job(job));

	sum->result = sum->terms[0] + sum->terms[1];
	return 0;
}

static void complete(struct doca_task *task)
{
	SHIM_TASK_CALL(task, &((struct doca_toy *)task->ctx)->sums, struct doca_toy_task_sum,
		       doca_toy_task_sum_completion_cb_t);
}

const struct shim_task_type toy_sum_type = {
	.name = SIM_TASK_TOY_SUM,
	.size = sizeof(struct doca_toy_task_sum),
	.check = check,
	.validate = check,
	.post = shim_task_post_job,
	.run = run,
	.complete = complete,
};

/* ---- public functions ---- */

doca_error_t doca_toy_task_sum_set_conf(struct doca_toy *toy, doca_toy_task_sum_completion_cb_t completion_cb,
					doca_toy_task_sum_completion_cb_t error_cb, uint32_t num_tasks)
{
	SHIM_NEED(toy, SHIM_TOY);
	return shim_task_set_conf(__func__, &toy->ctx, &toy->sums, (void (*)(void))completion_cb,
				  (void (*)(void))error_cb, num_tasks, MAX_TASKS, "our choice");
}

doca_error_t doca_toy_task_sum_alloc_init(struct doca_toy *toy, uint32_t a, uint32_t b, union doca_data user_data,
					  struct doca_toy_task_sum **task)
{
	struct doca_task *base;
	doca_error_t result;

	SHIM_NEED_FAST(toy, SHIM_TOY);
	SHIM_NEED_OUT(task);
	result = shim_task_alloc_of(__func__, &toy->ctx, &toy->sums, user_data, &base);
	if (result != DOCA_SUCCESS)
		return result;
	*task = to_sum(base);
	(*task)->terms[0] = a;
	(*task)->terms[1] = b;
	return DOCA_SUCCESS;
}

struct doca_task *doca_toy_task_sum_as_task(struct doca_toy_task_sum *task)
{
	return shim_object_is(task, SHIM_TASK) ? &task->task : NULL;
}

uint32_t doca_toy_task_sum_get_result(const struct doca_toy_task_sum *task)
{
	return shim_object_is(task, SHIM_TASK) ? task->result : 0;
}
