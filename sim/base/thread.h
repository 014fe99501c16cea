/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/thread.h - start an internal thread in an application's process. */
#ifndef SIM_THREAD_H
#define SIM_THREAD_H

#include <pthread.h>

/* Start a thread named @name (at most 15 characters) with all signals but SIGBUS and SIGSEGV blocked,
 * so that the application's handlers keep running in its own threads. The thread is about to enter @body when this
 * returns: a sanitizer's part of a thread's start holds locks, and a fork() during that part would leave the locks held
 * in the child for ever.
 * Returns 0 or -errno. */
int sim_thread_start(pthread_t *ret_thread, const char *name, void *(*body)(void *arg), void *arg);

/* The same with a stack of @stack_bytes; 0 = the C library's default. */
int sim_thread_start_sized(pthread_t *ret_thread, const char *name, size_t stack_bytes, void *(*body)(void *arg),
			   void *arg);

#endif
