/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/task_priv.h - a task: the first member of the task of every library.
 *
 *   pool --alloc--> [the user's] --submit--> [in flight] --callback--> [the user's] --free--> pool
 *                                                '--free--> [freed] --callback--> pool
 *
 * A library describes each of its types by a struct shim_task_type. Fault injection and tracing surround a task's
 * post() and end (task_decorators.h).
 */
#ifndef SHIM_TASK_PRIV_H
#define SHIM_TASK_PRIV_H

#include "ctx_priv.h"
#include "sim/faults/inject/no_fault_cache.h"
#include "sim/trace/task_kinds.h"
#include "sim/trace/trace.h"

/* Completion hook, called instead of the user's callback, for a task that another part of the shim submitted. It updates the
 * user's objects first (shim_task_apply()). */
struct shim_completion_hook {
	void (*on_complete)(struct shim_completion_hook *hook, struct doca_task *task);
};

struct sim_fault_hit;
struct shim_memory;
struct shim_task_fault_ops;

struct doca_task {
	struct shim_object object;
	bool in_flight;
	bool freed; /* in flight: returns to the pool behind its callback */
	bool timed; /* in flight: its times are recorded in the pool */
	doca_error_t status : 8;
	struct sim_job job;
	struct shim_task_pool *pool;
	struct doca_ctx *ctx;
	struct sim_fault_hit *fault_hit; /* the faults to inject; NULL = none */
	union {
		struct shim_completion_hook *hook; /* while in flight; NULL = call the user */
		struct doca_task *next_free;       /* while free */
	};
	union doca_data user_data;
	uint64_t bytes; /* that it moved; for the recording */
};

/* What the struct of a task type begins with. The parts that look at tasks of all libraries ask this before they read more
 * than a struct doca_task. */
enum shim_task_form {
	SHIM_TASK_PLAIN, /* a struct doca_task */
	SHIM_TASK_BUFS,  /* a struct shim_buf_task (accel/buf_task.h); its source may be NULL */
	SHIM_TASK_COPY,  /* the same, with a source; copies that to its destination, as DMA's memcpy */
	SHIM_TASK_ACCEL, /* a struct shim_accel_task (accel/accel.h) */
};

/* A type of task. A slot may be NULL where its comment allows it. */
struct shim_task_type {
	const char *name; /* one of task_kinds.h, by which statistics find it */
	enum shim_task_form form;
	size_t size; /* of the library's struct */
	/* Check what a card checks at submission, and take what it takes then. */
	doca_error_t (*check)(struct doca_task *task);
	/* Check what try_submit checks besides: whether the task can succeed. */
	doca_error_t (*validate)(struct doca_task *task);
	/* Accept the task: shim_task_post_job(), or the library keeps it until shim_task_complete_posted() (task_submit.h).
	 * On failure (AGAIN: no room) the user keeps it. */
	doca_error_t (*post)(struct doca_task *task);
	/* Do the work of the task as a job, in any thread. 0 or -errno. NULL in types that the library keeps. */
	int (*run)(struct sim_job *job);
	/* Set the job's request to the card (sim/engine/queue.h). NULL or false: it takes no model time. */
	bool (*get_pcie_job)(const struct doca_task *task, struct pcie_job *ret_job);
	/* Find the memory of the submitted task that has the byte at @addr of this process. In a signal handler. NULL: its job
	 * accesses none. */
	bool (*find_memory)(const struct doca_task *task, uintptr_t addr, struct shim_memory *ret_memory);
	/* The task succeeded: update the user's objects. NULL: nothing. Called by completion hooks. */
	void (*apply)(struct doca_task *task);
	/* Call the user's completion or error callback, by task->status; after a success, do what apply() does before. */
	void (*complete)(struct doca_task *task);
	const struct shim_task_fault_ops *fault_ops; /* the decorator (task_fault.h); NULL = no faults */
};

struct shim_task_times; /* of task_trace.c */

/* The tasks of one type of a context. */
struct shim_task_pool {
	const struct shim_task_type *type;
	struct sim_no_fault_cache no_fault_cache;
	struct sim_trace_task_stats stats; /* in the recording */
	struct doca_task *free;
	uint32_t num_never_used;       /* of @tasks, not allocated yet */
	struct shim_task_times *times; /* one for each task; NULL = none was timed yet */
	uint32_t count;
	char *tasks; /* a slab */
	size_t bytes;
	bool has_warned; /* about tasks freed in flight */
	struct shim_task_pool *next;
};

/* What the program configured for one type of a context's tasks. Every library has one for each of its types. */
struct shim_task_conf {
	uint32_t num_tasks;          /* 0 = not configured */
	void (*done)(void);          /* callbacks of the type's own kind */
	void (*failed)(void);        /* likewise */
	struct shim_task_pool *pool; /* NULL while the context is idle */
};

/* For the type's set_conf(): configure tasks for the public function @func. INVALID_VALUE (a callback is NULL, or @num_tasks
 * is not 1 to @max, which @limit explains), BAD_STATE unless the context is idle. */
SHIM_INTERNAL_API doca_error_t shim_task_set_conf(const char *func, const struct doca_ctx *ctx,
						  struct shim_task_conf *conf, void (*done)(void), void (*failed)(void),
						  uint32_t num_tasks, uint32_t max, const char *limit);

/* Call the program at the end of a task of @struct_, whose callbacks are of type @callback. */
#define SHIM_TASK_CALL(task, conf, struct_, callback)                                              \
	((callback)(doca_likely((task)->status == DOCA_SUCCESS) ? (conf)->done : (conf)->failed))( \
		(struct_ *)(task), (task)->user_data, (task)->ctx->user_data)

/* While the context starts, create the pool for @count tasks of a type. INITIALIZATION without memory. */
SHIM_INTERNAL_API doca_error_t shim_task_pool_add(struct doca_ctx *ctx, const struct shim_task_type *type,
						  uint32_t count, struct shim_task_pool **ret_pool);

/* Allocate a task from the pool. NO_MEMORY if all are allocated, BAD_STATE unless the context runs. */
SHIM_INTERNAL_API doca_error_t shim_task_alloc(struct shim_task_pool *pool, struct doca_ctx *ctx,
					       union doca_data user_data, struct doca_task **ret_task);

/* The context goes idle: free its pools. */
void shim_task_pools_free(struct doca_ctx *ctx);

/* Log why a task could not be allocated. */
SHIM_INTERNAL_API void shim_task_log_alloc(const char *func, const struct doca_ctx *ctx, doca_error_t error,
					   const struct shim_task_conf *conf);

/* For the type's alloc_init(): allocate a task for the public function @func, or log why not. */
static inline doca_error_t shim_task_alloc_of(const char *func, struct doca_ctx *ctx, const struct shim_task_conf *conf,
					      union doca_data user_data, struct doca_task **ret_task)
{
	doca_error_t result = shim_task_alloc(conf->pool, ctx, user_data, ret_task);

	if (doca_unlikely(result != DOCA_SUCCESS))
		shim_task_log_alloc(func, ctx, result, conf);
	return result;
}

/* Give a task back that is not in flight. */
void shim_task_return_to_pool(struct doca_task *task);

/* For a completion hook: update the user's objects if the task succeeded. */
static inline void shim_task_apply(struct doca_task *task)
{
	if (task->status == DOCA_SUCCESS && task->pool->type->apply)
		task->pool->type->apply(task);
}

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

#endif
