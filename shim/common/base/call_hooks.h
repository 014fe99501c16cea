/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/call_hooks.h - hooks around public functions, tasks and contexts: what the checker (shim/check) sees.
 *
 *   program --> entry doca_x() --no hooks--> shim_doca_x(), the library's own function
 *                    '--hooks--> enter() --> shim_doca_x() --> leave()
 *
 * shim/abi/gen_calls.py writes the entries. Calls between the libraries of this project pass no entry.
 *
 * Frequent functions are those that a program calls for each task. Hooks cost more than such a call, so they may pause:
 * then the entries of frequent functions, and tasks that end well, go past the hooks.
 */
#ifndef SHIM_CALL_HOOKS_H
#define SHIM_CALL_HOOKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <doca_ctx.h>
#include <doca_error.h>

#include "object.h"

struct doca_task;
struct sim_guard;
struct shim_memory;

/* A call of a public function by the program. */
struct shim_call {
	uint32_t function;       /* enum shim_function (call_functions.h) */
	const uint64_t *args;    /* pointers and numbers, in their order */
	const void *caller;      /* the return address, in the program */
	uint64_t result;         /* for leave(); not of functions that return nothing */
	struct shim_call *outer; /* the call that this thread was in before; enter() sets it */
	uint64_t mark;           /* of enter(), for leave() */
};

/* Any thread calls any hook. */
struct shim_call_hooks {
	void (*enter)(struct shim_call *call);
	void (*leave)(struct shim_call *call);
	/* A submission failed; enter() and leave() may have been paused. */
	void (*submit_failed)(struct shim_call *call);
	/* A task is about to be posted, was refused after that, or ended: its user does not know yet. */
	void (*task_posted)(struct doca_task *task);
	void (*task_refused)(struct doca_task *task);
	void (*task_ended)(struct doca_task *task, doca_error_t status);
	/* The library is about to access the memory of a task that it keeps, or has done that. */
	void (*access_begins)(struct doca_task *task);
	void (*access_ended)(struct doca_task *task);
	/* A context changed its state. */
	void (*ctx_changed)(struct doca_ctx *ctx, enum doca_ctx_states from);
	/* An access for @task met memory that was not there, or protected (guard->fault). @task NULL: a sync event's. */
	void (*memory_faulted)(const struct doca_task *task, const struct shim_memory *memory,
			       const struct sim_guard *guard);
	/* A control message of a peer is about to be given to its receiver. */
	void (*message_received)(void);
	/* A context has made its queue, or is about to destroy it. */
	void (*queue_opened)(const struct doca_ctx *ctx);
	void (*queue_closing)(const struct doca_ctx *ctx);
};

/* NULL = none. Set once, before main(). */
extern SHIM_INTERNAL_API const struct shim_call_hooks *shim_call_hooks;

/* The same, or NULL while the hooks pause; the hooks change it at any time. */
extern SHIM_INTERNAL_API const struct shim_call_hooks *_Atomic shim_frequent_hooks;

static inline bool shim_hooks_are_paused(void)
{
	return atomic_load_explicit(&shim_frequent_hooks, memory_order_relaxed) == NULL;
}

#endif
