/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of started DPA contexts. */
#include "dpa.h"

#include <pthread.h>

#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/base/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, doca_dpa) started = LIST_HEAD_INITIALIZER(started);

SIM_AT_FORK(SIM_FORK_LOCKS, .lock = &lock);

void shim_dpa_add(struct doca_dpa *dpa)
{
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&started, dpa, link);
	pthread_mutex_unlock(&lock);
}

void shim_dpa_remove(struct doca_dpa *dpa)
{
	pthread_mutex_lock(&lock);
	LIST_REMOVE(dpa, link);
	pthread_mutex_unlock(&lock);
}

void shim_dpa_withdraw(enum sim_dpa_handle_kind kind, const void *object)
{
	struct doca_dpa *dpa;

	pthread_mutex_lock(&lock);
	LIST_FOREACH(dpa, &started, link)
		if (shim_dpa_is_own(dpa))
			sim_dpa_process_withdraw(dpa->process, kind, object);
	pthread_mutex_unlock(&lock);
}

void shim_dpa_forget_ranges(void)
{
	struct doca_dpa *dpa;

	pthread_mutex_lock(&lock);
	LIST_FOREACH(dpa, &started, link)
		if (shim_dpa_is_own(dpa))
			sim_dpa_process_forget(dpa->process);
	pthread_mutex_unlock(&lock);
}

doca_error_t shim_dpa_check_running(const char *func, const struct doca_dpa *dpa)
{
	const char *problem = NULL;

	if (!dpa->process) {
		sim_err("%s: the DPA context is not started", func);
		return DOCA_ERROR_BAD_STATE;
	}
	if (dpa->fork_generation != shim_fork_generation)
		problem = "the DPA context is the parent process's";
	else if (shim_dev_is_stale(dpa->dev))
		problem = "the device was reset";
	else if (sim_dpa_process_is_fatal(dpa->process))
		problem = "the DPA context is in a fatal state, of which an earlier line says the reason";
	if (!problem) {
		sim_dpa_process_begin_call(dpa->process);
		return DOCA_SUCCESS;
	}
	sim_err("%s: %s", func, problem);
	return DOCA_ERROR_DRIVER;
}
