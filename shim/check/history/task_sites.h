/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/history/task_sites.h - where the program allocated and freed its tasks. */
#ifndef SHIM_CHECK_TASK_SITES_H
#define SHIM_CHECK_TASK_SITES_H

struct doca_task;

/* The caller of the task's alloc_init function, or NULL: tasks that share a place in the table lose theirs. */
const void *check_task_site(const struct doca_task *task);

/* The caller of doca_task_free() that freed @task, any value; NULL = it is not freed, or not known. */
const void *check_task_freed_at(const struct doca_task *task);

#endif
