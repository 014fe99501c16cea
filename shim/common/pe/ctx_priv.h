/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/ctx_priv.h - a context: what every data-path library's object begins with.
 *
 *   [idle] --start--> [running] --stop, or a task failed--> [stopping] --all tasks back--> [idle]
 *      \--start--> [starting] --/  \--> [stopping], when it can't be had
 *
 * A library embeds struct doca_ctx as the first member of its own object and
 * fills in its operations. Its tasks come from pools of the context. They run as
 * jobs of the context's queue, or are posted: kept by the library, which
 * finishes them when the world outside lets it (a message came, a value
 * changed). The progress engine knows only jobs, tasks and these operations, so
 * that a new library or task type needs no change there.
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

/* A library's part in a context's life. Every slot is filled; a context that
 * has nothing but jobs takes shim_ctx_..._nothing() for what it lacks. All are
 * called by the thread that calls the API. */
struct shim_ctx_ops {
	const char *name; /* of the library, for messages */
	/* Check the configuration and make task pools (shim_task_pool_add()).
	 * IN_PROGRESS: it is starting; shim_ctx_set_running() or shim_ctx_begin_stop() follows. */
	doca_error_t (*start)(struct doca_ctx *ctx);
	/* The user wants to stop. SUCCESS, or why not (said in the log). */
	doca_error_t (*may_stop)(const struct doca_ctx *ctx);
	/* It stops, whoever wants it: end what is under way besides jobs. Posted
	 * tasks are finished by progress from here on; nothing calls the user now. */
	void (*begin_stop)(struct doca_ctx *ctx);
	/* One step besides jobs: an event, the end of a posted task. Whether there was one. */
	bool (*progress)(struct doca_ctx *ctx);
	/* The owner is about to sleep: have shim_pe_notify() called at the next news.
	 * Whether progress would find something already. */
	bool (*arm)(struct doca_ctx *ctx);
	/* Stopping: whether only tasks that the user holds keep it from being idle. */
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
	struct doca_dev *dev;     /* NULL in a library whose objects are not of one */
	uint32_t fork_generation; /* shim_fork_generation when it was made */
	struct doca_pe *pe;       /* NULL = not connected */
	struct doca_ctx *next_in_pe;
	struct sim_injector *faults;         /* the session's; once started */
	const _Atomic uint64_t *status_word; /* what has become of its function; once started */
	uint64_t function_generation;        /* the function's, when the device was opened */
	struct sim_queue *queue;             /* while not idle; NULL = it has no jobs */
	struct shim_alarm alarm;             /* likewise */
	struct shim_task_pool *pools;        /* while not idle */
	uint32_t num_allocated;              /* tasks that are out of the pools */
	uint32_t num_posted;                 /* of those, in flight with the library */
	uint32_t completion_vector;
	uint32_t trace_id; /* its number in the recording (sim/trace/trace.h); 0 = none */
	bool is_internal;  /* of an object that is no context to its user: its start is no call of his */
	union doca_data user_data;
	doca_ctx_state_changed_callback_t state_changed;
};

/* Set up the embedded context of a new object: its memory is zeroed. Holds @dev, unless NULL. */
SHIM_INTERNAL_API void shim_ctx_init(struct doca_ctx *ctx, const struct shim_ctx_ops *ops, struct doca_dev *dev);

/* The same for a context that is no handle of the user's and runs for life. */
void shim_ctx_init_running(struct doca_ctx *ctx, const struct shim_ctx_ops *ops);

/* In ops->start: open the queue, for at most @max_jobs tasks in flight. */
SHIM_INTERNAL_API doca_error_t shim_ctx_open_queue(struct doca_ctx *ctx, uint32_t max_jobs);

/* The user starts a context of @dev, or of none (NULL): SUCCESS, or the status that a fault injects. */
SHIM_INTERNAL_API doca_error_t shim_ctx_inject_start_fault(const struct doca_dev *dev);

/* Take it apart. Returns IN_USE (the object stays) unless it is idle. */
SHIM_INTERNAL_API doca_error_t shim_ctx_fini(struct doca_ctx *ctx);

/* Whether @ctx is a live context of any library. */
bool shim_ctx_is(const struct doca_ctx *ctx);

/* Whether it was made in this process; a forked child's parent's does nothing here. */
static inline bool shim_ctx_is_same_process(const struct doca_ctx *ctx)
{
	return ctx->fork_generation == shim_fork_generation;
}

/* A context that was starting runs now. */
SHIM_INTERNAL_API void shim_ctx_set_running(struct doca_ctx *ctx);

/* The context stops: by the user's wish, because a task failed, or because what
 * it needs is gone. Nothing happens when it is idle or stops already. */
SHIM_INTERNAL_API void shim_ctx_begin_stop(struct doca_ctx *ctx);

/* A job failed: the card stops the context. */
void shim_ctx_stop_on_error(struct doca_ctx *ctx);

/* Whether its function was reset, failed or was removed under it; of a context that was started. */
static inline bool shim_ctx_is_stale(const struct doca_ctx *ctx)
{
	return sim_function_generation(atomic_load_explicit(ctx->status_word, memory_order_acquire)) !=
	       ctx->function_generation;
}

/* Whether the link of its card is down, or was a moment ago; of a context that was started. */
static inline bool shim_ctx_link_is_down(const struct doca_ctx *ctx)
{
	return atomic_load_explicit(ctx->status_word, memory_order_relaxed) & SIM_FUNCTION_LINK_DOWN;
}

/* It was cut: it stops. Whether it had not stopped before. */
SHIM_INTERNAL_API bool shim_ctx_stop_stale(struct doca_ctx *ctx);

/* Jobs and posted tasks in flight. */
size_t shim_ctx_num_in_flight(const struct doca_ctx *ctx);

/* Whether nothing keeps a stopping context from being idle. */
static inline bool shim_ctx_can_idle(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_STOPPING && ctx->num_allocated == 0 && ctx->ops->is_drained(ctx);
}

/* Leave the stopping state if nothing keeps it there. Whether it did. */
bool shim_ctx_try_idle(struct doca_ctx *ctx);

/* pe.c: one step of the next context that has one; of a live engine, by its thread. */
SHIM_INTERNAL_API bool shim_pe_progress_one(struct doca_pe *pe);

/* pe_vclock.c: in virtual time, whether it is the engine's turn; always in other times. Naps for a moment before it says no. */
SHIM_INTERNAL_API bool shim_pe_vclock_may_poll(struct doca_pe *pe);

/* pe_vclock.c: the context has changed its state. Engines take part in virtual time while one of theirs is not idle. */
void shim_pe_vclock_update(struct doca_ctx *ctx);

/* pe_vclock.c: in virtual time, the context hands in jobs. */
void shim_pe_vclock_mark_busy(void *ctx);

/* pe_registry.c: connect a context to an engine for life, and disconnect it before its object is freed. */
void shim_pe_connect(struct doca_pe *pe, struct doca_ctx *ctx);
void shim_pe_disconnect(struct doca_ctx *ctx);

/* pe_registry.c: wake the thread that sleeps on the context's progress engine; any thread. */
SHIM_INTERNAL_API void shim_pe_notify(void *ctx);

/* pe_registry.c: the same, by the engine's own thread, which may be about to sleep. */
SHIM_INTERNAL_API void shim_pe_notify_self(struct doca_ctx *ctx);

/* pe_registry.c: the engine's eventfd; a write to it wakes the engine's thread. */
SHIM_INTERNAL_API int shim_pe_event_fd(const struct doca_ctx *ctx);

/* task_pool.c: free the pools. */
void shim_task_pools_free(struct doca_ctx *ctx);

#endif
