/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/base/thread.h - what the program's threads do: the public function that each is in.
 *
 * Other threads may read a record at any time. A record outlives its thread.
 */
#ifndef SHIM_CHECK_THREAD_H
#define SHIM_CHECK_THREAD_H

#include <stdatomic.h>
#include <doca_common_defines.h>
#include <sys/types.h>

#include "check.h"

struct check_pe;
struct check_retries;
struct check_stack_memos;

/* What the library has last called the user for, or is about to. */
enum check_callback { CHECK_NO_CALLBACK, CHECK_TASK_CALLBACK, CHECK_STATE_CALLBACK };

struct check_thread {
	pid_t tid;
	_Atomic bool has_ended;
	/* The last call, which the thread may still be in, and their number. */
	_Atomic uint32_t function; /* enum shim_function; SHIM_NUM_FUNCTIONS = there was none */
	const void *_Atomic caller;
	_Atomic uint64_t num_calls;
	struct shim_call *_Atomic call; /* the innermost one, of this thread's stack; NULL = in none */
	_Atomic uint8_t callback;       /* enum check_callback: of the user, since the call on the engine began */
	struct check_thread *next;      /* in the list of all, so that sanitizers see that no record is lost */
	/* For the thread itself. */
	struct check_pe *engine;             /* of pe_calls.c: used last; may be NULL */
	const struct shim_call *engine_call; /* that uses it now; NULL = none */
	struct check_retries *retries;       /* of rules_retry.c; NULL = no call failed yet */
	const struct doca_ctx
		*failed_ctx; /* of rules_comch_order.c: of the task whose failure was reported last; may be gone */
	struct check_stack_memos *memos; /* of stack_memo.c; NULL = none yet */
};

extern __thread struct check_thread *check_this_thread __attribute__((tls_model("initial-exec")));

/* Make the record of this thread. */
struct check_thread *check_thread_new(void);

/* For start.c: the process was forked by this thread. */
void check_thread_forked(void);

/* The record of this thread. */
static inline struct check_thread *check_thread_self(void)
{
	struct check_thread *thread = check_this_thread;

	return doca_likely(thread) ? thread : check_thread_new();
}

/* The function that the thread called last; it may still be in it. SHIM_NUM_FUNCTIONS = there was none. */
static inline uint32_t check_last_function(const struct check_thread *thread)
{
	return atomic_load_explicit(&thread->function, memory_order_relaxed);
}

/* Add one to a counter that one thread writes, without the cost of an atomic addition. */
static inline void check_count(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

#endif
