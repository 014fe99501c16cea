/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock around calls of the dynamic loader, which a fork takes. */
#include "loader.h"

#include <pthread.h>

#include "sim/base/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void sim_loader_lock(void)
{
	pthread_mutex_lock(&lock);
}

void sim_loader_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

SIM_AT_FORK(SIM_FORK_LOCKS, .before = sim_loader_lock, .parent = sim_loader_unlock, .child = sim_loader_unlock);
