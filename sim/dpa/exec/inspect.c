/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions of the checker. */
#include "inspect.h"

#include <stdio.h>

#include "process_priv.h"

bool sim_dpa_process_get_failure(struct sim_dpa_process *process, struct sim_dpa_failure_record *ret_failure)
{
	pthread_mutex_lock(&process->lock);
	*ret_failure = process->failure;
	pthread_mutex_unlock(&process->lock);
	return ret_failure->number > 0;
}

static void describe(const struct sim_dpa_eu *eu, struct sim_dpa_running *ret_running)
{
	*ret_running = (struct sim_dpa_running){ .eu = eu->id,
						 .waits = atomic_load(&eu->waits),
						 .own_ns = sim_dpa_eu_run_ns(eu),
						 .is_virtual = sim_dpa_is_virtual(eu->process) };
	snprintf(ret_running->kernel, sizeof(ret_running->kernel), "%s", eu->current->kernel->name);
}

bool sim_dpa_process_find_running(struct sim_dpa_process *process, const struct sim_dpa_activity *activity,
				  struct sim_dpa_running *ret_running)
{
	bool is_found = false;

	pthread_mutex_lock(&process->lock);
	for (uint32_t i = 0; i < process->cfg.num_eus && !is_found; i++) {
		const struct sim_dpa_eu *eu = &process->eus[i];

		is_found = eu->current && (!activity || eu->current->activity == activity);
		if (is_found)
			describe(eu, ret_running);
	}
	pthread_mutex_unlock(&process->lock);
	return is_found;
}
