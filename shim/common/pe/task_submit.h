/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/task_submit.h - submission and completion of tasks (the picture in task_priv.h), for task types. */
#ifndef SHIM_TASK_SUBMIT_H
#define SHIM_TASK_SUBMIT_H

#include "task_priv.h"

/* Stage the task's job in the context's queue. */
SHIM_INTERNAL_API doca_error_t shim_task_post_job(struct doca_task *task);

/* Take back what a submission did before the post, which failed: hooks, trace and fault. */
SHIM_INTERNAL_API void shim_task_undo_post(struct doca_task *task);

/* The library completes a task that it kept: call the user. */
SHIM_INTERNAL_API void shim_task_complete_posted(struct doca_task *task, doca_error_t status);

/* Complete the task of a reaped job: call the user. */
void shim_task_complete_job(struct sim_job *job);

#endif
