/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting internal threads. */
#include "thread.h"

#include <signal.h>

int sim_thread_start(pthread_t *ret_thread, const char *name, void *(*body)(void *arg), void *arg)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* raised by this thread's own accesses (sim/fabric/bus_guard.h) */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(ret_thread, NULL, body, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		pthread_setname_np(*ret_thread, name);
	return -rc;
}
