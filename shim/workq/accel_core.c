/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of the engines besides DMA as tasks of the core. Compiled with the core. */
#include "accel_core.h"

#include <stdlib.h>

#include "shim/common/accel/accel.h"
#include "shim/common/base/check.h"

/* A job in flight. */
struct slot {
	struct slot *next_free;
	int type;
	bool keeps_task;
	union doca_data user_data;
	void (*finish)(struct doca_task *task, doca_error_t status, void *result);
	void *result;
};

struct workq_accel_core {
	struct shim_completion_hook hook; /* first; called at the completion of each task */
	struct shim_accel *accel;
	struct workq_attachment *attachment;
	void (*on_stopping)(void *arg); /* NULL = nothing to do */
	void *stopping_arg;
	struct slot *free_slots;
	struct slot slots[];
};

static void on_complete(struct shim_completion_hook *hook, struct doca_task *task)
{
	struct workq_accel_core *core = (struct workq_accel_core *)hook;
	struct slot *slot = task->user_data.ptr;
	doca_error_t status = task->status;

	shim_task_apply(task);
	if (slot->finish)
		slot->finish(task, status, slot->result);
	if (!slot->keeps_task)
		doca_task_free(task);
	slot->next_free = core->free_slots;
	core->free_slots = slot;
	shim_workq_complete(core->attachment, slot->type, slot->user_data, (union doca_data){ .u64 = status },
			    status != DOCA_SUCCESS);
}

/* Never called: each task has the completion hook. */
static void unused_callback(void)
{
}

static void on_state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states from,
			     enum doca_ctx_states to)
{
	struct workq_accel_core *core = user_data.ptr;

	(void)ctx, (void)from;
	if (to == DOCA_CTX_STATE_STOPPING && core->on_stopping)
		core->on_stopping(core->stopping_arg);
}

static doca_error_t configure(struct workq_accel_core *core, uint32_t depth)
{
	const struct shim_accel_lib *lib = shim_accel_lib(core->accel);
	uint32_t max = shim_accel_max_tasks(core->accel) / lib->num_types;
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < lib->num_types && result == DOCA_SUCCESS; i++)
		if (shim_accel_can_run(core->accel, lib->types[i]))
			result = shim_accel_set_conf("doca_ctx_workq_add", core->accel, i, unused_callback,
						     unused_callback, depth < max ? depth : max);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(&core->accel->ctx, (union doca_data){ .ptr = core });
	return result == DOCA_SUCCESS ? doca_ctx_set_state_changed_cb(&core->accel->ctx, on_state_changed) : result;
}

doca_error_t shim_workq_accel_create(struct shim_accel *accel, uint32_t depth, struct workq_attachment *attachment,
				     struct workq_accel_core **ret_core)
{
	struct workq_accel_core *core = calloc(1, sizeof(*core) + depth * sizeof(core->slots[0]));
	doca_error_t result;

	if (!core) {
		shim_accel_destroy(accel);
		return DOCA_ERROR_NO_MEMORY;
	}
	core->hook.on_complete = on_complete;
	core->accel = accel;
	core->attachment = attachment;
	for (uint32_t i = 0; i < depth; i++) {
		core->slots[i].next_free = core->free_slots;
		core->free_slots = &core->slots[i];
	}
	accel->ctx.is_internal = true;
	result = configure(core, depth);
	if (result == DOCA_SUCCESS)
		*ret_core = core;
	else
		shim_workq_accel_destroy(core);
	return result;
}

void shim_workq_accel_destroy(struct workq_accel_core *core)
{
	if (core)
		shim_accel_destroy(core->accel);
	free(core);
}

struct doca_ctx *shim_workq_accel_as_ctx(struct workq_accel_core *core)
{
	return &core->accel->ctx;
}

void shim_workq_accel_set_stopping(struct workq_accel_core *core, void (*on_stopping)(void *arg), void *arg)
{
	core->on_stopping = on_stopping;
	core->stopping_arg = arg;
}

doca_error_t shim_workq_accel_alloc(struct workq_accel_core *core, uint32_t index, struct doca_task **ret_task)
{
	if (core->accel->ctx.state == DOCA_CTX_STATE_RUNNING && !core->accel->conf[index].tasks.pool) {
		sim_err("doca_workq_submit: device %s has no engine for such jobs; ask doca_..._job_get_supported() first",
			shim_dev_function(core->accel->ctx.dev)->ibdev);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	return shim_task_alloc(core->accel->conf[index].tasks.pool, &core->accel->ctx, (union doca_data){ 0 },
			       ret_task);
}

static doca_error_t submit_task(struct workq_accel_core *core, struct doca_task *task,
				const struct workq_accel_job *job)
{
	struct slot *slot = core->free_slots;
	doca_error_t result;

	shim_to_buf_task(task)->src = job->src;
	shim_to_buf_task(task)->dst = job->dst;
	task->user_data.ptr = slot;
	task->hook = &core->hook;
	if (job->prepare)
		job->prepare(task, job);
	result = doca_task_submit(task);
	if (result != DOCA_SUCCESS)
		return result;
	core->free_slots = slot->next_free;
	slot->type = job->type;
	slot->keeps_task = job->task != NULL;
	slot->user_data = job->user_data;
	slot->finish = job->finish;
	slot->result = job->result;
	return DOCA_SUCCESS;
}

doca_error_t shim_workq_accel_submit(struct workq_accel_core *core, const struct workq_accel_job *job)
{
	struct doca_task *task = job->task;
	doca_error_t result = DOCA_SUCCESS;

	if (shim_ctx_is_stale(&core->accel->ctx)) {
		sim_err("doca_workq_submit: the function was reset, failed or was removed; close the device and open it again");
		return DOCA_ERROR_BAD_STATE;
	}
	if (!core->free_slots)
		return DOCA_ERROR_NO_MEMORY;
	if (!task)
		result = shim_workq_accel_alloc(core, job->index, &task);
	if (result != DOCA_SUCCESS)
		return result;
	result = submit_task(core, task, job);
	if (result != DOCA_SUCCESS && !job->task)
		doca_task_free(task);
	return result;
}
