/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/ctx_priv.h - a context: the first member of the object of every data-path library.
 *
 *   [idle] --start--> [running] --stop, or a task failed--> [stopping] --all tasks back--> [idle]
 *      \--start--> [starting] --/  \--stop, or the start fails--> [stopping]
 *
 * A library defines the operations of its contexts. Tasks come from pools of the context. A task is a job
 * of the context's queue, or the library keeps it ("posted") and completes it at an event (a message arrived,
 * a value changed). The progress engine depends on jobs, tasks and these operations alone.
 *
 * Files of this folder, from low to high (a file knows those below it):
 *   alarm, pe_wake; ctx; pe (the engine's contexts); pe_vclock, task (pools); task_{trace,fault,memory}; ctx_life;
 *   task_submit; pe_progress
 */
#ifndef SHIM_CTX_PRIV_H
#define SHIM_CTX_PRIV_H

#include <doca_ctx.h>
#include <doca_pe.h>

#include "alarm.h"
#include "shim/common/dev/dev_priv.h"
#include "shim/common/base/object.h"
#include "shim/common/process/runtime.h"
#include "sim/engine/queue.h"

struct doca_ctx;
struct doca_task;
struct shim_task_pool;

/* Operations of a library's contexts. Every slot is filled, with functions below where a library has nothing to do.
 * The thread that calls the API calls them. */
struct shim_ctx_ops {
	const char *name; /* the library's, for the log */
	bool hears_sync;  /* in virtual time: a change of a sync event may let it progress */
	bool takes_dpa;   /* its data path may be on a DPA */
	/* In virtual time: whether the context waits for what comes from outside of it, soon. NULL = never. */
	bool (*holds_time)(struct doca_ctx *ctx);
	/* Check the configuration and make task pools (shim_task_pool_add()).
	 * IN_PROGRESS: it is starting; shim_ctx_set_running() or shim_ctx_begin_stop() follows (ctx_life.h). */
	doca_error_t (*start)(struct doca_ctx *ctx);
	/* The user calls stop. SUCCESS, or a refusal, which is logged. */
	doca_error_t (*may_stop)(const struct doca_ctx *ctx);
	/* The context stops for any reason: end all activity besides jobs. From now on progress completes posted
	 * tasks. Must not call the user. */
	void (*begin_stop)(struct doca_ctx *ctx);
	/* Do one step besides jobs: an event, the completion of a posted task. Returns whether there was one. */
	bool (*progress)(struct doca_ctx *ctx);
	/* The owner is about to sleep: have shim_pe_notify() called at the next event. Returns whether progress
	 * would find one already. */
	bool (*arm)(struct doca_ctx *ctx);
	/* Of a stopping context: returns whether the library has nothing left to complete. */
	bool (*is_drained)(const struct doca_ctx *ctx);
	/* The context is idle again; its pools are gone. */
	void (*stopped)(struct doca_ctx *ctx);
};

SHIM_INTERNAL_API doca_error_t shim_ctx_may_stop_always(const struct doca_ctx *ctx);
SHIM_INTERNAL_API void shim_ctx_nop(struct doca_ctx *ctx);
SHIM_INTERNAL_API bool shim_ctx_progress_none(struct doca_ctx *ctx);
SHIM_INTERNAL_API bool shim_ctx_arm_none(struct doca_ctx *ctx);
SHIM_INTERNAL_API bool shim_ctx_is_drained_always(const struct doca_ctx *ctx);

struct doca_ctx {
	struct shim_object object;
	enum doca_ctx_states state;
	const struct shim_ctx_ops *ops;
	struct doca_dev *dev;     /* NULL = the context has no device */
	uint32_t fork_generation; /* shim_fork_generation at the creation */
	struct doca_pe *pe;       /* NULL = not connected */
	struct doca_dpa *dpa;     /* whose kernels are its data path, so that it needs no engine; NULL = the CPU */
	struct doca_ctx *next_in_pe;
	struct sim_injector *faults;         /* the session's; once started */
	const _Atomic uint64_t *status_word; /* of its function; once started */
	uint64_t function_generation;        /* the function's at the open of the device */
	struct sim_queue *queue;             /* while not idle; NULL = its tasks are no jobs */
	struct shim_alarm alarm;             /* likewise */
	struct shim_task_pool *pools;        /* while not idle */
	uint32_t num_allocated;              /* tasks that the user has */
	uint32_t num_posted;                 /* of those, in flight and kept by the library */
	uint32_t completion_vector;
	uint32_t trace_id; /* in the recording (sim/trace/trace.h); 0 = none */
	bool is_silent;    /* the engine's notification handle does not wake for it */
	bool is_parked;    /* doca_pe_progress() skips it until doca_pe_clear_notification() */
	bool is_internal;  /* the user does not see it as a context: no fault is injected at its start */
	bool is_in_state_callback;
	union doca_data user_data;
	doca_ctx_state_changed_callback_t state_changed;
};

/* Returns whether @ctx, any value, is a live context of any library. */
SHIM_INTERNAL_API bool shim_ctx_is(const struct doca_ctx *ctx);

/* Return from the calling function unless @ctx is a live context (shim/common/base/check.h). */
#define SHIM_NEED_CTX(ctx)                                                                                     \
	do {                                                                                                   \
		if (doca_unlikely(!shim_ctx_is(ctx)))                                                          \
			return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "ctx is %s",                              \
					   (ctx) ? "no live context: destroyed already, or another's handle" : \
						   "NULL");                                                    \
	} while (0)

/* Returns whether this process created it. A context of the parent does nothing in a forked child. */
static inline bool shim_ctx_is_same_process(const struct doca_ctx *ctx)
{
	return ctx->fork_generation == shim_fork_generation;
}

/* Return why a context gives and takes no tasks now, and what to do. */
SHIM_INTERNAL_API const char *shim_ctx_describe_not_running(const struct doca_ctx *ctx);

/* Returns whether the function was reset, failed or was removed since the start. */
static inline bool shim_ctx_is_stale(const struct doca_ctx *ctx)
{
	return sim_function_generation(atomic_load_explicit(ctx->status_word, memory_order_acquire)) !=
	       ctx->function_generation;
}

/* Returns whether the link of the card is down; of a context that was started. */
static inline bool shim_ctx_link_is_down(const struct doca_ctx *ctx)
{
	return atomic_load_explicit(ctx->status_word, memory_order_relaxed) & SIM_FUNCTION_LINK_DOWN;
}

/* Jobs and posted tasks in flight. */
SHIM_INTERNAL_API size_t shim_ctx_num_in_flight(const struct doca_ctx *ctx);

/* Returns whether a stopping context can go idle. */
static inline bool shim_ctx_can_idle(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_STOPPING && ctx->num_allocated == 0 && ctx->ops->is_drained(ctx);
}

#endif
