/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of threads, and the mode, for every part. */
#include "thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum sim_check_mode check_mode;

__thread struct check_thread *check_this_thread __attribute__((tls_model("initial-exec")));

static struct check_thread *_Atomic threads; /* all there ever were */
static pthread_key_t end_key;
static bool have_end_key;

static void note_end(void *arg)
{
	struct check_thread *thread = arg;

	free(thread->memos);
	thread->memos = NULL;
	atomic_store_explicit(&thread->has_ended, true, memory_order_relaxed);
}

static void __attribute__((constructor)) make_end_key(void)
{
	have_end_key = pthread_key_create(&end_key, note_end) == 0;
}

static void add_to_list(struct check_thread *thread)
{
	thread->next = atomic_load(&threads);
	while (!atomic_compare_exchange_weak(&threads, &thread->next, thread))
		;
}

static struct check_thread *new_record(void)
{
	static struct check_thread no_memory; /* then threads share a record */
	struct check_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return &no_memory;
	add_to_list(thread);
	return thread;
}

struct check_thread *check_thread_new(void)
{
	struct check_thread *thread = new_record();

	thread->tid = gettid();
	atomic_init(&thread->function, SHIM_NUM_FUNCTIONS);
	if (have_end_key)
		pthread_setspecific(end_key, thread);
	check_this_thread = thread;
	return thread;
}

void check_thread_forked(void)
{
	if (check_this_thread)
		check_this_thread->tid = gettid();
}

const struct shim_call *check_current_call(void)
{
	return check_this_thread ? check_this_thread->call : NULL;
}

void check_begin_call(struct shim_call *call)
{
	struct check_thread *thread = check_thread_self();

	call->outer = atomic_load_explicit(&thread->call, memory_order_relaxed);
	atomic_store_explicit(&thread->call, call, memory_order_relaxed);
	atomic_store_explicit(&thread->function, call->function, memory_order_relaxed);
	atomic_store_explicit(&thread->caller, call->caller, memory_order_relaxed);
	check_count(&thread->num_calls);
}

void check_end_call(const struct shim_call *call)
{
	atomic_store_explicit(&check_this_thread->call, call->outer, memory_order_relaxed);
}
