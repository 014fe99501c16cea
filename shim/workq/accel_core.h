/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/accel_core.h - jobs of the engines besides DMA as tasks of the core.
 *
 *   translation --workq_accel_job--> accel_core.c --task--> engine --completion--> finish(), event of the queue
 *
 * accel_core.c is compiled with the core, into libdoca_common. A library has a file of its own that is compiled with the core
 * (sha_core.c, ...): it creates the library's object and knows its tasks.
 */
#ifndef SHIM_WORKQ_ACCEL_CORE_H
#define SHIM_WORKQ_ACCEL_CORE_H

#include <doca_error.h>
#include <doca_types.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/common/base/object.h"

struct doca_buf;
struct doca_ctx;
struct doca_task;
struct shim_accel;
struct workq_accel_core;
struct workq_attachment;

struct workq_accel_job {
	uint32_t index; /* of the type of tasks, in its library's table */
	int type;       /* of the job, and of its event */
	const struct doca_buf *src;
	struct doca_buf *dst;
	union doca_data user_data;
	struct doca_task *task; /* to be used; it stays allocated. NULL = one that is freed at its end */
	/* Set what the task has besides buffers. NULL: nothing. */
	void (*prepare)(struct doca_task *task, const struct workq_accel_job *job);
	const void *arg; /* for prepare() */
	/* The task ended with @status. NULL: nothing to do. */
	void (*finish)(struct doca_task *task, doca_error_t status, void *result);
	void *result; /* for finish() */
};

/* Have a context of the core for @depth jobs in flight, of each type that the device offers. @accel, an object of a library of
 * the core, belongs to the result; on failure it is destroyed. */
SHIM_INTERNAL_API doca_error_t shim_workq_accel_create(struct shim_accel *accel, uint32_t depth,
						       struct workq_attachment *attachment,
						       struct workq_accel_core **ret_core);

/* Destroy an idle context. NULL is fine. */
SHIM_INTERNAL_API void shim_workq_accel_destroy(struct workq_accel_core *core);

SHIM_INTERNAL_API struct doca_ctx *shim_workq_accel_as_ctx(struct workq_accel_core *core);

/* When the context stops, after a job that failed or with its queue, call @on_stopping: it frees the tasks that the library
 * keeps and that are not in flight. */
SHIM_INTERNAL_API void shim_workq_accel_set_stopping(struct workq_accel_core *core, void (*on_stopping)(void *arg),
						     void *arg);

/* Allocate a task that the library keeps. BAD_STATE unless the context runs, NO_MEMORY. */
SHIM_INTERNAL_API doca_error_t shim_workq_accel_alloc(struct workq_accel_core *core, uint32_t index,
						      struct doca_task **ret_task);

/* Submit a task. If the destination has too little room behind its data, the output replaces the data: in programs of 1.5 the
 * data is the place to write to. NO_MEMORY if too many are in flight, BAD_STATE unless the context runs, NOT_SUPPORTED, or what
 * the task's check returns. */
SHIM_INTERNAL_API doca_error_t shim_workq_accel_submit(struct workq_accel_core *core,
						       const struct workq_accel_job *job);

/* As in ctx_priv.h, which the core can't include: it needs the headers of the work-queue generation. */
SHIM_INTERNAL_API void shim_workq_complete(struct workq_attachment *attachment, int type, union doca_data user_data,
					   union doca_data result, bool failed);

#endif
