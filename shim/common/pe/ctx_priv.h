/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/ctx_priv.h - a context: the first member of the object of every data-path library.
 *
 *   [idle] --start--> [running] --stop, or a task failed--> [stopping] --all tasks back--> [idle]
 *      \--start--> [starting] --/  \--stop, or the start fails--> [stopping]
 *
 * A library defines the operations of its contexts. Tasks come from pools of the context. A task is a job
 * of the context's queue, or the library keeps it ("posted") and completes it at an event (a message arrived,
 * a value changed). The progress engine depends on jobs, tasks and these operations alone.
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
	/* In virtual time: whether the context waits for what comes from outside of it, soon. NULL = never. */
	bool (*holds_time)(struct doca_ctx *ctx);
	/* Check the configuration and make task pools (shim_task_pool_add()).
	 * IN_PROGRESS: it is starting; shim_ctx_set_running() or shim_ctx_begin_stop() follows. */
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
	union doca_data user_data;
	doca_ctx_state_changed_callback_t state_changed;
};

/* Initialise the context of a new, zeroed object. Holds @dev, which may be NULL. */
SHIM_INTERNAL_API void shim_ctx_init(struct doca_ctx *ctx, const struct shim_ctx_ops *ops, struct doca_dev *dev);

/* The same for a context that is no handle of the user's and runs for life. */
void shim_ctx_init_running(struct doca_ctx *ctx, const struct shim_ctx_ops *ops);

/* In ops->start: open the queue, for at most @max_jobs tasks in flight. */
SHIM_INTERNAL_API doca_error_t shim_ctx_open_queue(struct doca_ctx *ctx, uint32_t max_jobs);

/* The user starts a context of @dev, or of none (NULL): SUCCESS, or the status that a fault injects. */
SHIM_INTERNAL_API doca_error_t shim_ctx_inject_start_fault(const struct doca_dev *dev);

/* Undo shim_ctx_init(). IN_USE unless the context is idle; then nothing changes. */
SHIM_INTERNAL_API doca_error_t shim_ctx_fini(struct doca_ctx *ctx);

/* Returns whether @ctx, any value, is a live context of any library. */
SHIM_INTERNAL_API bool shim_ctx_is(const struct doca_ctx *ctx);

/* Returns whether this process created it. A context of the parent does nothing in a forked child. */
static inline bool shim_ctx_is_same_process(const struct doca_ctx *ctx)
{
	return ctx->fork_generation == shim_fork_generation;
}

/* Return why a context gives and takes no tasks now, and what to do. */
SHIM_INTERNAL_API const char *shim_ctx_describe_not_running(const struct doca_ctx *ctx);

/* A starting context runs now. */
SHIM_INTERNAL_API void shim_ctx_set_running(struct doca_ctx *ctx);

/* Begin to stop the context: the user asked, a task failed, or the connection is lost. Does nothing if the context
 * is idle or stopping. */
SHIM_INTERNAL_API void shim_ctx_begin_stop(struct doca_ctx *ctx);

/* A job failed: stop the context, as a card does. */
void shim_ctx_stop_on_error(struct doca_ctx *ctx);

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

/* Begin to stop a stale context. Returns false if it is idle or stopping. */
SHIM_INTERNAL_API bool shim_ctx_stop_stale(struct doca_ctx *ctx);

/* Jobs and posted tasks in flight. */
SHIM_INTERNAL_API size_t shim_ctx_num_in_flight(const struct doca_ctx *ctx);

/* Returns whether a stopping context can go idle. */
static inline bool shim_ctx_can_idle(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_STOPPING && ctx->num_allocated == 0 && ctx->ops->is_drained(ctx);
}

/* Go idle if shim_ctx_can_idle(). Returns whether it did. */
bool shim_ctx_try_idle(struct doca_ctx *ctx);

/* pe_progress.c: one step of a context that has one, in turn; of a live engine, by its thread. Returns whether there was one. */
SHIM_INTERNAL_API bool shim_pe_progress_one(struct doca_pe *pe);

/* pe_vclock.c: returns whether the engine may poll now; always true unless in virtual time. Sleeps briefly before false. */
SHIM_INTERNAL_API bool shim_pe_vclock_may_poll(struct doca_pe *pe);

/* pe_vclock.c: in virtual time, the calling thread takes part from now on, until the result is destroyed; NULL otherwise. For a
 * start: what it does has one time, and no time passes until the context takes part. */
struct sim_vclock_source *shim_vclock_begin_participation(void);

/* pe_vclock.c: the context changed its state, or went idle. An engine takes part in virtual time while one of its contexts is
 * not idle. */
void shim_pe_vclock_update(struct doca_ctx *ctx);
void shim_pe_vclock_leave_if_idle(struct doca_pe *pe);

/* pe_vclock.c: in virtual time, the engine's address for messages (shim_message_sent()); else 0. */
SHIM_INTERNAL_API uint32_t shim_pe_vclock_engine(struct doca_pe *pe);

/* pe_vclock.c: in virtual time, a submission was refused, as @engine has posted no receives: let time pass up to the
 * engine's next work, or to such a receive. Before the next try, may_retry() returns whether that has come; it sleeps
 * briefly before false. */
SHIM_INTERNAL_API void shim_pe_vclock_wait_credit(struct doca_pe *pe, uint32_t engine);
SHIM_INTERNAL_API bool shim_pe_vclock_may_retry(struct doca_pe *pe);

/* pe_vclock.c: in virtual time, a call was refused with AGAIN for another reason; then may_retry() as above. */
SHIM_INTERNAL_API void shim_pe_vclock_note_refusal(const struct doca_pe *pe);

/* pe_vclock.c: in virtual time, the engine has posted receives. */
SHIM_INTERNAL_API void shim_pe_vclock_post_credit(struct doca_pe *pe);

/* pe_vclock.c: in virtual time, the context submits jobs. */
void shim_pe_vclock_mark_busy(void *ctx);

/* pe.c: connect a context to an engine for life, and disconnect it before its object is freed. */
void shim_pe_connect(struct doca_pe *pe, struct doca_ctx *ctx);
void shim_pe_disconnect(struct doca_ctx *ctx);

/* pe.c: wake the thread that sleeps on the context's progress engine; any thread. */
SHIM_INTERNAL_API void shim_pe_notify(void *ctx);

/* The same for an event from outside of virtual time: a message of the daemon, the end of a connection, a plain store. */
SHIM_INTERNAL_API void shim_pe_notify_external(void *ctx);

/* The part of it that concerns virtual time. */
SHIM_INTERNAL_API void shim_pe_vclock_notify_ctx(const struct doca_ctx *ctx);

/* pe.c: the same, by the engine's own thread, which may be about to sleep. */
SHIM_INTERNAL_API void shim_pe_notify_self(struct doca_ctx *ctx);

/* pe_wake.c: make the engine's notification handle readable; any thread. */
void shim_pe_wake(const struct doca_pe *pe);

/* pe_wake.c, in the engine's thread: the descriptor by which other processes wake it (sim_wake_send()). It stays the
 * engine's. Returns -errno if there is none. */
SHIM_INTERNAL_API int shim_pe_peer_wake_fd(const struct doca_ctx *ctx);

/* task.c: free the pools. */
void shim_task_pools_free(struct doca_ctx *ctx);

#endif
