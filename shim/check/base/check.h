/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/base/check.h - the parts of the checker.
 *
 *   entry of a public function, end of a task, change of a context's state
 *      --start.c--> each part's function for it --a rule is broken--> hit.c: standard error, the file of hits
 *
 * A part has the code of some rules, and the state that they need. A part inspects objects of the shim and never changes
 * them. Any thread may call any function of a part.
 */
#ifndef SHIM_CHECK_CHECK_H
#define SHIM_CHECK_CHECK_H

#include <pthread.h>
#include <stddef.h>

#include "call_names.h"
#include "shim/common/base/call_hooks.h"
#include "shim/common/pe/ctx_priv.h"
#include "sim/check/rules.h"

/* What a part does around the calls of one public function. Either may be NULL. */
struct check_watch {
	enum shim_function function;
	void (*enter)(struct shim_call *call);
	void (*leave)(struct shim_call *call);
};

/* A part. Each slot may be NULL. */
struct check_part {
	const struct check_watch *watches;
	size_t num_watches;
	enum sim_check_mode mode; /* the least mode that needs the part */
	void (*start)(void);
	/* Each task that is about to be posted, also while the hooks pause: some comparisons that clear nearly all tasks. */
	void (*task_posting)(const struct doca_task *task);
	bool wants_plain; /* task_posting() is called for tasks of SHIM_TASK_PLAIN alone */
	void (*hooks_paused)(void);
	void (*task_posted)(struct doca_task *task); /* while the hooks do not pause (sampling.h) */
	void (*task_refused)(struct doca_task *task);
	void (*task_ended)(struct doca_task *task, doca_error_t status);  /* likewise, but for failures */
	void (*task_failed)(struct doca_task *task, doca_error_t status); /* it ended, not with SUCCESS */
	void (*ctx_changed)(struct doca_ctx *ctx, enum doca_ctx_states from);
	void (*access_begins)(
		struct doca_task *task); /* of tasks that the library keeps: it is about to access their memory */
	void (*access_ended)(struct doca_task *task);
	/* As of struct shim_call_hooks. */
	void (*message_received)(void);
	void (*queue_opened)(const struct doca_ctx *ctx);
	void (*queue_closing)(const struct doca_ctx *ctx);
	void (*memory_faulted)(const struct doca_task *task, const struct shim_memory *memory,
			       const struct sim_guard *guard);
	void (*call_failed)(const struct shim_call *call); /* after its own function's watches: it returned an error */
	/* A function begins that can't return an error, and whose first argument is a handle. */
	void (*enter_infallible)(struct shim_call *call);
	/* In a forked child, before the watches of each function. */
	void (*enter_in_child)(struct shim_call *call);
	pthread_mutex_t *lock; /* a forked child initialises those of all parts before forked(); NULL = none */
	void (*forked)(void);  /* in a forked child: the other threads are gone */
	void (*exit)(void);    /* at the program's exit */
};

/* The first two slots, from an array. */
#define CHECK_WATCHES(array) .watches = (array), .num_watches = sizeof(array) / sizeof((array)[0])

#define CHECK_PART(name) extern const struct check_part name;
#include "parts.h"
#undef CHECK_PART

extern enum sim_check_mode check_mode;

/* The watched public function that this thread is in, or NULL. */
const struct shim_call *check_current_call(void);

/* The same, or NULL while the hooks pause: the thread may be in another one, from a callback of that. */
static inline const struct shim_call *check_watched_call(void)
{
	return shim_hooks_are_paused() ? NULL : check_current_call();
}

/* How long something may wait for the program before that is reported: BFSIM_CHECK_STALL_TIMEOUT, in ms. */
uint64_t check_stall_timeout_ns(void);

/* For start.c: this thread enters and leaves a public function. */
void check_begin_call(struct shim_call *call);
void check_end_call(const struct shim_call *call);

/* Argument @i as a pointer. */
static inline void *check_arg(const struct shim_call *call, int i)
{
	return (void *)(uintptr_t)call->args[i];
}

/* Argument @i as a context, or as an object of a library that is one; NULL = it is none. */
static inline struct doca_ctx *check_arg_ctx(const struct shim_call *call, int i)
{
	struct doca_ctx *ctx = check_arg(call, i);

	return shim_ctx_is(ctx) ? ctx : NULL;
}

static inline const char *check_call_name(const struct shim_call *call)
{
	return shim_function_names[call->function].name;
}

static inline doca_error_t check_result(const struct shim_call *call)
{
	return (doca_error_t)call->result;
}

#endif
