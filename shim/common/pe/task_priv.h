/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/task_priv.h - a task: what every library's task begins with.
 *
 *   pool --alloc--> [the user's] --submit--> [in flight] --callback--> [the user's] --free--> pool
 *                                                '--free--> [freed] --callback--> pool
 *
 * A library embeds struct doca_task as the first member of its own task and
 * describes the type once.
 */
#ifndef SHIM_TASK_PRIV_H
#define SHIM_TASK_PRIV_H

#include "ctx_priv.h"
#include "sim/faults/inject/no_fault_cache.h"
#include "sim/trace/task_kinds.h"
#include "sim/trace/trace.h"

/* Gets the end of a task instead of the user: whoever submitted it on his behalf. */
struct shim_completion_hook {
	void (*on_complete)(struct shim_completion_hook *hook, struct doca_task *task);
};

struct sim_fault_hit;
struct shim_task_fault_ops;

struct doca_task {
	struct shim_object object;
	bool in_flight;
	bool freed; /* in flight: goes to the pool behind its callback */
	bool timed; /* in flight: its times are noted in the pool */
	doca_error_t status;
	struct sim_job job;
	struct shim_task_pool *pool;
	struct doca_ctx *ctx;
	struct sim_fault_hit *fault_hit;   /* what the fault plan has in store for it; NULL = nothing */
	struct shim_completion_hook *hook; /* while in flight for one; NULL = its end is the user's */
	union doca_data user_data;
	struct doca_task *next_free;
	uint64_t bytes; /* that it moved, by its library's account; for the record */
};

/* A kind of task. Every slot is filled but where it says otherwise. */
struct shim_task_type {
	const char *name;
	size_t size; /* of the library's struct */
	/* Whether a card would take it at all (what submit refuses). */
	doca_error_t (*check)(const struct doca_task *task);
	/* Whether it can succeed (what try_submit refuses besides). */
	doca_error_t (*validate)(const struct doca_task *task);
	/* Take it: shim_task_post_job(), or the library keeps it until
	 * shim_task_complete_posted(). A refusal (AGAIN: no room) leaves it the user's. */
	doca_error_t (*post)(struct doca_task *task);
	/* A job does it; any thread. 0 or -errno. NULL in types that the library keeps. */
	int (*run)(struct sim_job *job);
	/* What the job asks of the card (sim/engine/queue.h). NULL: it takes no model time. */
	bool (*get_pcie_job)(const struct doca_task *task, struct pcie_job *ret_job);
	/* Call the user's completion or error callback (by task->status). The task is the user's again. */
	void (*complete)(struct doca_task *task);
	const struct shim_task_fault_ops *fault_ops; /* NULL = faults are not injected into it (task_fault.h) */
};

struct shim_task_times; /* task_trace.c's */

/* Tasks of one type that a context has. */
struct shim_task_pool {
	const struct shim_task_type *type;
	struct sim_no_fault_cache no_fault_cache;
	struct sim_trace_task_stats stats; /* records what becomes of them */
	struct doca_task *free;
	uint32_t num_never_used;       /* of @tasks, those never handed out yet */
	struct shim_task_times *times; /* of each task; NULL = none was timed yet */
	uint32_t count;
	char *tasks; /* a slab */
	size_t bytes;
	bool has_warned; /* of tasks that were freed in flight */
	struct shim_task_pool *next;
};

/* Make room for @count tasks of a type, while the context starts. INITIALIZATION without memory. */
SHIM_INTERNAL_API doca_error_t shim_task_pool_add(struct doca_ctx *ctx, const struct shim_task_type *type,
						  uint32_t count, struct shim_task_pool **ret_pool);

/* Take a task out of the pool. NO_MEMORY when all are out, BAD_STATE unless the context runs. */
SHIM_INTERNAL_API doca_error_t shim_task_alloc(struct shim_task_pool *pool, struct doca_ctx *ctx,
					       union doca_data user_data, struct doca_task **ret_task);

/* Give a task back that is not in flight. */
void shim_task_return_to_pool(struct doca_task *task);

/* The task whose job this is. */
static inline struct doca_task *shim_task_from_job(const struct sim_job *job)
{
	return (struct doca_task *)((uintptr_t)job - offsetof(struct doca_task, job));
}

/* Set *@ret_job to the request of a task's job to the card. Returns false if the job takes no model time. */
static inline bool shim_task_get_pcie_job(const struct sim_job *job, struct pcie_job *ret_job)
{
	const struct doca_task *task = shim_task_from_job(job);

	return task->pool->type->get_pcie_job && task->pool->type->get_pcie_job(task, ret_job);
}

/* Stage the task's job in the context's queue. */
SHIM_INTERNAL_API doca_error_t shim_task_post_job(struct doca_task *task);

/* The library ends a task that it kept: calls the user. */
SHIM_INTERNAL_API void shim_task_complete_posted(struct doca_task *task, doca_error_t status);

/* Hand a job that ended back to the user. */
void shim_task_complete_job(struct sim_job *job);

#endif
