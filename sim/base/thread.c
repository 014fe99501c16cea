/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting internal threads. */
#include "thread.h"

#include <semaphore.h>
#include <signal.h>

struct start {
	void *(*body)(void *arg);
	void *arg;
	sem_t begun;
};

static void *begin(void *arg)
{
	struct start *start = arg;
	void *(*body)(void *arg) = start->body;
	void *body_arg = start->arg;

	sem_post(&start->begun); /* ends the life of *start */
	return body(body_arg);
}

static int create(pthread_t *ret_thread, size_t stack_bytes, struct start *start)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	if (stack_bytes > 0)
		pthread_attr_setstacksize(&attr, stack_bytes);

	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* raised by this thread's own accesses (memory_guard.h) */
	sigdelset(&all, SIGSEGV);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(ret_thread, &attr, begin, start);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int sim_thread_start(pthread_t *ret_thread, const char *name, void *(*body)(void *arg), void *arg)
{
	return sim_thread_start_sized(ret_thread, name, 0, body, arg);
}

int sim_thread_start_sized(pthread_t *ret_thread, const char *name, size_t stack_bytes, void *(*body)(void *arg),
			   void *arg)
{
	struct start start = { .body = body, .arg = arg };
	int rc;

	sem_init(&start.begun, 0, 0);
	rc = create(ret_thread, stack_bytes, &start);
	if (rc == 0) {
		pthread_setname_np(*ret_thread, name);
		while (sem_wait(&start.begun) < 0)
			; /* a signal came */
	}
	sem_destroy(&start.begun);
	return -rc;
}
