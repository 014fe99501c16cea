/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/unordered.h - calls in threads of their own, one after another, in an order that the thread sanitizer does not know.
 *
 * Threads that work at once show a missing lock only if they meet at the right place, and locks in other functions that they call order them.
 * Here each call is all that its thread does, and has ended before the next begins, but no more than a relaxed flag says so. Only the locks
 * of the calls themselves order their accesses, so the sanitizer reports a missing one in every run. */
#ifndef TESTS_COMMON_UNORDERED_H
#define TESTS_COMMON_UNORDERED_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define UNORDERED_MAX 64

struct unordered {
	unsigned int count;
	struct unordered_call {
		pthread_t thread;
		void (*function)(void *arg);
		void *arg;
		atomic_bool is_done;
	} calls[UNORDERED_MAX];
};

static inline void *unordered_thread(void *arg)
{
	struct unordered_call *call = arg;

	call->function(call->arg);
	atomic_store_explicit(&call->is_done, true, memory_order_relaxed);
	return NULL;
}

/* Returns when the call has ended. No assertions in @function: abort(), or CHECK(). */
static inline void unordered_run(struct unordered *unordered, void (*function)(void *arg), void *arg)
{
	struct unordered_call *call = &unordered->calls[unordered->count++];

	if (unordered->count > UNORDERED_MAX)
		abort();
	call->function = function;
	call->arg = arg;
	atomic_init(&call->is_done, false);
	if (pthread_create(&call->thread, NULL, unordered_thread, call) != 0)
		abort();
	while (!atomic_load_explicit(&call->is_done, memory_order_relaxed))
		sched_yield();
}

/* What the caller does from here on comes after the calls, also for the sanitizer. */
static inline void unordered_end(struct unordered *unordered)
{
	for (; unordered->count > 0; unordered->count--)
		if (pthread_join(unordered->calls[unordered->count - 1].thread, NULL) != 0)
			abort();
}

#endif
