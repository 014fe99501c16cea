/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/accel/accel.h - libraries whose tasks an engine of the card runs: DMA, SHA and others.
 *
 *   struct shim_accel_lib    a library: its context's operations, and the table of its task types
 *   struct shim_accel_type   a task type: capabilities, check, work
 *   struct shim_accel        a context: what the program configured for each type
 *   struct shim_accel_task   a task: a buffer task (buf_task.h), and the length of its output
 *
 *   set_conf --> start --> alloc --> submit: shim_accel_check(), the type's check, snapshot
 *                                    job:    shim_accel_run(), the type's work (work.h)
 *                                    end:    shim_accel_apply(), the program's callback
 *
 * A library says what differs, and takes the rest from here: configuration, start and stop, limits of the profile,
 * snapshot, faults (accel_fault.c), recording, model time (accel_timing.c). The type of DMA uses the context alone,
 * and has its own check and run, since a copy takes less time than the general way does.
 */
#ifndef SHIM_ACCEL_H
#define SHIM_ACCEL_H

#include "buf_task.h"
#include "pcie_model/profile.h"
#include "shim/common/base/compat.h"
#include "shim/common/pe/ctx_life.h"
#include "shim/common/pe/task_fault.h"
#include "shim/common/pe/task_submit.h"
#include "work.h"

#define SHIM_ACCEL_MAX_TYPES 5

/* A task type. Static and constant. */
struct shim_accel_type {
	struct shim_task_type task; /* first; SHIM_ACCEL_TASK() */
	uint32_t index;             /* in the library's table */
	const char *func;           /* the beginning of its public functions' names: "doca_sha_task_hash" */
	const char *engine;         /* for messages: "no engine for SHA" */
	enum pcie_accel accel;      /* its limits */
	/* Get the limits of an engine that is not in enum pcie_accel. NULL: of @accel. */
	struct pcie_accel_caps (*get_caps)(const struct pcie_caps *caps);
	/* Return what this machine lacks for the work, as a sentence, or NULL. A NULL slot: nothing. */
	const char *(*find_lack)(void);
	/* Check what only this type checks at submission, and log a refusal. NULL: nothing. */
	doca_error_t (*check)(struct shim_accel_task *task, const struct shim_list_size *src,
			      const struct shim_list_size *dst);
	/* Return how many bytes a checked task writes. NULL: as many as the destination has room for, at most. */
	uint64_t (*get_output_bytes)(const struct shim_accel_task *task);
	/* Return how large the source of a checked task may be. NULL: max_buf_bytes of @caps. */
	uint64_t (*get_max_src_bytes)(const struct shim_accel_task *task, const struct pcie_accel_caps *caps);
	/* Read the source and write the output, in any thread, but one of a context at a time. 0 or -errno. */
	int (*work)(struct shim_work *work);
	/* For the fault "bad_checksum": make what the task reports besides its output wrong. NULL: no such fault. */
	void (*spoil)(struct shim_accel_task *task);
	/* For the fault "bad_tag": make the task's next work take a wrong tag. NULL: no such fault. */
	void (*spoil_tag)(struct shim_accel_task *task);
};

struct shim_accel_lib {
	struct shim_ctx_ops ops; /* first; SHIM_ACCEL_OPS() */
	enum shim_kind kind;
	uint32_t num_types;
	const struct shim_accel_type *types[SHIM_ACCEL_MAX_TYPES];
	/* The context went idle: free what the library keeps for tasks. NULL: nothing. */
	void (*forget_tasks)(struct shim_accel *accel);
	/* Take and give back a reference to what tasks hold (shim_accel_hold_for()). NULL: they hold nothing. */
	void *(*ref_held)(void *held);
	void (*unref_held)(void *held);
};

/* What the last submission of a task uses besides its buffers: the code of a matrix, a key. Belongs to the context, as the
 * memory of tasks may end before it. */
struct shim_accel_hold {
	SLIST_ENTRY(shim_accel_hold) link;
	void *held;
};

struct shim_accel_conf {
	struct shim_task_conf tasks; /* of one type */
	struct pcie_accel_caps caps; /* once started */
};

struct shim_accel {
	struct doca_ctx ctx; /* first: a library's object is a doca_ctx */
	struct shim_accel_conf conf[SHIM_ACCEL_MAX_TYPES];
	struct shim_lists_head lists;        /* of tasks, until the context is idle */
	struct shim_work_memory work_memory; /* of the job that runs; until the context is idle */
	SLIST_HEAD(, shim_accel_hold) holds; /* likewise */
	/* Limits where the card has no engine and the library does the work itself. NULL: there it does not. */
	const struct pcie_accel_caps *software_caps;
};

struct shim_accel_task {
	struct shim_buf_task base; /* first */
	uint64_t written;          /* bytes of output */
};

/* The context's operations. */
#define SHIM_ACCEL_OPS(name_)                                                                             \
	{                                                                                                 \
		.name = (name_), .start = shim_accel_start, .may_stop = shim_ctx_may_stop_always,         \
		.begin_stop = shim_ctx_nop, .progress = shim_ctx_progress_none, .arm = shim_ctx_arm_none, \
		.is_drained = shim_ctx_is_drained_always, .stopped = shim_accel_stopped,                  \
	}

/* The part of a type that progress engines know: @kind of sim/trace/task_kinds.h, the struct of the task, the function
 * that calls the program (SHIM_ACCEL_DEFINE_COMPLETE()), and SHIM_ACCEL_FAULTS(). */
#define SHIM_ACCEL_TASK(kind, struct_, complete_, faults)                                                    \
	{                                                                                                    \
		.name = (kind), .form = SHIM_TASK_ACCEL, .size = sizeof(struct_), .check = shim_accel_check, \
		.validate = shim_accel_validate, .post = shim_task_post_job, .run = shim_accel_run,          \
		.get_pcie_job = shim_accel_get_pcie_job, .find_memory = shim_buf_task_find_memory,           \
		.apply = shim_accel_apply, .complete = (complete_), .fault_ops = (faults),                   \
	}

#define SHIM_ACCEL_FAULTS(op_)                                                             \
	{                                                                                  \
		.op = (op_), .site = shim_accel_fault_site, .run = shim_accel_run_faulted, \
	}

/* Define the function that calls the program at the end of a task of @struct_, whose callbacks are of type @callback. */
#define SHIM_ACCEL_DEFINE_COMPLETE(name, struct_, callback)                                  \
	static void name(struct doca_task *task)                                             \
	{                                                                                    \
		if (doca_likely(task->status == DOCA_SUCCESS))                               \
			shim_accel_apply(task);                                              \
		SHIM_TASK_CALL(task, &shim_accel_task_conf(task)->tasks, struct_, callback); \
	}

/* ---- capabilities ---- */

/* SUCCESS if @function has the engine and this machine what its work needs; else NOT_SUPPORTED, with one log line in the
 * life of the process. */
SHIM_INTERNAL_API doca_error_t shim_accel_check_support(const char *func, const struct pcie_function *function,
							const struct shim_accel_type *type);

/* Get the limits of @function, any engine. NOT_SUPPORTED as above. */
SHIM_INTERNAL_API doca_error_t shim_accel_get_caps(const char *func, const struct pcie_function *function,
						   const struct shim_accel_type *type,
						   struct pcie_accel_caps *ret_caps);

/* Returns whether a context can run tasks of the type. Nothing is logged. */
SHIM_INTERNAL_API bool shim_accel_can_run(const struct shim_accel *accel, const struct shim_accel_type *type);

/* The number of tasks that a context can have, all types together. */
SHIM_INTERNAL_API uint32_t shim_accel_max_tasks(const struct shim_accel *accel);

/* ---- life ---- */

/* Create a library's object, of @size bytes. NULL without memory. */
SHIM_INTERNAL_API void *shim_accel_new(const struct shim_accel_lib *lib, size_t size, struct doca_dev *dev);

/* Free it. IN_USE unless the context is idle; then nothing changes. */
SHIM_INTERNAL_API doca_error_t shim_accel_destroy(struct shim_accel *accel);

/* Configure tasks of a type, for the public function @func. INVALID_VALUE, or BAD_STATE unless the context is idle. */
SHIM_INTERNAL_API doca_error_t shim_accel_set_conf(const char *func, struct shim_accel *accel, uint32_t index,
						   void (*done)(void), void (*failed)(void), uint32_t num_tasks);

/* Have @num_tasks tasks of a type, more than before, while the context runs. SUCCESS or NO_MEMORY. */
SHIM_INTERNAL_API doca_error_t shim_accel_grow(struct shim_accel *accel, uint32_t index, uint32_t num_tasks);

/* Operations of the context. */
SHIM_INTERNAL_API doca_error_t shim_accel_start(struct doca_ctx *ctx);
SHIM_INTERNAL_API void shim_accel_stopped(struct doca_ctx *ctx);

static inline const struct shim_accel_lib *shim_accel_lib(const struct shim_accel *accel)
{
	return (const struct shim_accel_lib *)accel->ctx.ops;
}

/* ---- tasks ---- */

static inline const struct shim_accel_type *shim_accel_task_type(const struct doca_task *task)
{
	return (const struct shim_accel_type *)task->pool->type;
}

static inline struct shim_accel_conf *shim_accel_task_conf(const struct doca_task *task)
{
	return &((struct shim_accel *)task->ctx)->conf[shim_accel_task_type(task)->index];
}

/* Allocate a task with these buffers, for the public function @func: BAD_STATE unless the context runs, NO_MEMORY. */
static inline doca_error_t shim_accel_alloc(const char *func, struct shim_accel *accel, uint32_t index,
					    const struct doca_buf *src, struct doca_buf *dst, union doca_data user_data,
					    struct shim_buf_task **ret_task)
{
	struct doca_task *task;
	doca_error_t result = shim_task_alloc_of(func, &accel->ctx, &accel->conf[index].tasks, user_data, &task);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	*ret_task = shim_to_buf_task(task);
	(*ret_task)->src = src;
	(*ret_task)->dst = dst;
	return DOCA_SUCCESS;
}

/* Returns whether @task is NULL or was a task, and is a live one of this type. */
static inline bool shim_accel_task_is(const void *task, const struct shim_accel_type *type)
{
	return shim_object_is(task, SHIM_TASK) && ((const struct doca_task *)task)->pool->type == &type->task;
}

/* The same for type @index of the library whose contexts are of @kind; for files that do not know the type. */
static inline bool shim_accel_task_is_of(const void *task, enum shim_kind kind, uint32_t index)
{
	const struct doca_task *base = (const struct doca_task *)task;

	return shim_object_is(task, SHIM_TASK) && shim_object_is_still(base->ctx, kind) &&
	       shim_accel_task_type(base)->index == index;
}

/* Returns whether the task @task of this type may be changed now; else there is a log line. */
SHIM_INTERNAL_API bool shim_accel_check_settable(const char *func, const void *task,
						 const struct shim_accel_type *type);

/* Have a task hold @held instead of what it held before, so that its job can use it. The slot is the task's, NULL at
 * first. SUCCESS or NO_MEMORY. */
SHIM_INTERNAL_API doca_error_t shim_accel_hold_new(struct shim_accel_task *task, struct shim_accel_hold **slot,
						   void *held);

static inline doca_error_t shim_accel_hold_for(struct shim_accel_task *task, struct shim_accel_hold **slot, void *held)
{
	return doca_likely(*slot && (*slot)->held == held) ? DOCA_SUCCESS : shim_accel_hold_new(task, slot, held);
}

/* Operations of the task types. */
SHIM_INTERNAL_API doca_error_t shim_accel_check(struct doca_task *task);
SHIM_INTERNAL_API doca_error_t shim_accel_validate(struct doca_task *task);
SHIM_INTERNAL_API int shim_accel_run(struct sim_job *job);
SHIM_INTERNAL_API void shim_accel_apply(struct doca_task *task);
SHIM_INTERNAL_API bool shim_accel_get_pcie_job(const struct doca_task *task, struct pcie_job *ret_job);
SHIM_INTERNAL_API void shim_accel_fault_site(const struct doca_task *task, struct sim_fault_site *ret_site);
SHIM_INTERNAL_API int shim_accel_run_faulted(struct sim_job *job, const struct sim_fault_hit *hit);

/* Check the task and do its work, writing at most @limit bytes of output. 0 or -errno, with a log line. */
int shim_accel_do_work(struct shim_accel_task *task, uint64_t limit);

#endif
