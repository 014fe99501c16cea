/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/history/tasks_in_flight.h - finds the tasks with source and destination that are in flight.
 *
 * Nothing is kept for a task: a search inspects the tasks of all contexts, so it is for rare calls, and for reports.
 */
#ifndef SHIM_CHECK_TASKS_IN_FLIGHT_H
#define SHIM_CHECK_TASKS_IN_FLIGHT_H

#include <stdbool.h>

#include "shim/check/base/check.h"
#include "shim/common/accel/accel.h"

/* Returns whether @task is a struct shim_buf_task that copies its source to its destination. */
static inline bool check_is_memcpy(const struct doca_task *task)
{
	return task->pool->type->form == SHIM_TASK_COPY;
}

/* Returns whether @task is a struct shim_accel_task. */
static inline bool check_is_accel(const struct doca_task *task)
{
	return task->pool->type->form == SHIM_TASK_ACCEL;
}

/* Returns whether @task is a struct shim_buf_task, which may have no source unless it is one of the above. */
static inline bool check_is_buf_task(const struct doca_task *task)
{
	return task->pool->type->form != SHIM_TASK_PLAIN;
}

/* Call @see for each such task in flight, until @see returns false. Contexts that another thread is stopping are left
 * out. @see calls no function of this file. */
void check_tasks_in_flight(bool (*see)(const struct shim_buf_task *task, void *arg), void *arg);

/* The same for all tasks. */
void check_posted_tasks(bool (*see)(const struct doca_task *task, void *arg), void *arg);

/* Returns whether the task uses @mmap: one with source and destination, or one of RDMA. */
bool check_task_uses_mmap(const struct doca_task *task, const struct doca_mmap *mmap);

/* Returns whether the task uses @buf at either end. */
bool check_buf_task_uses_buf(const struct shim_buf_task *task, const struct doca_buf *buf);

#endif
