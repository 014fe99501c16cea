/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of kernels to objects. */
#include "callable.h"

#include <errno.h>

#include "pause.h"
#include "sim/clock/call_mark.h"
#include "sim/dpa/exec/process_priv.h"

/* In virtual time others go on meanwhile: the kernel that is in a call may wait for its turn. */
void sim_dpa_wait_changed(struct sim_dpa_process *process, const uint32_t *counter)
{
	bool marked = sim_clock_begin_wait();

	while (*counter > 0)
		pthread_cond_wait(&process->changed, &process->lock);
	sim_clock_end_wait(marked);
}

void sim_dpa_count_down(struct sim_dpa_process *process, uint32_t *counter)
{
	if (--*counter == 0)
		pthread_cond_broadcast(&process->changed);
}

int sim_dpa_callable_start(struct sim_dpa_process *process, enum sim_dpa_handle_kind kind,
			   struct sim_dpa_callable *callable)
{
	*callable = (struct sim_dpa_callable){ .process = process, .kind = kind };
	callable->handle = sim_dpa_process_export(process, kind, callable);
	return callable->handle ? 0 : -ENOMEM;
}

void sim_dpa_callable_stop(struct sim_dpa_callable *callable)
{
	struct sim_dpa_process *process = callable->process;

	sim_dpa_process_withdraw(process, callable->kind, callable);
	pthread_mutex_lock(&process->lock);
	sim_dpa_wait_changed(process, &callable->num_calls);
	pthread_mutex_unlock(&process->lock);
	callable->handle = 0;
}

struct sim_dpa_callable *sim_dpa_call_begin(enum sim_dpa_handle_kind kind, uint64_t handle, const char *what)
{
	struct sim_dpa_process *process = sim_dpa_enter();
	struct sim_dpa_callable *callable;

	pthread_mutex_lock(&process->lock);
	callable = sim_dpa_handle_find(&process->handles, kind, handle);
	if (callable)
		callable->num_calls++;
	pthread_mutex_unlock(&process->lock);
	if (!callable)
		sim_dpa_refuse_as(SIM_DPA_CRASH_HANDLE, handle, "%#llx is no %s that is started",
				  (unsigned long long)handle, what);
	return callable;
}

void sim_dpa_call_end(struct sim_dpa_callable *callable)
{
	struct sim_dpa_process *process = callable->process;

	pthread_mutex_lock(&process->lock);
	sim_dpa_count_down(process, &callable->num_calls);
	pthread_mutex_unlock(&process->lock);
}

void sim_dpa_wait_for_room(uint32_t round)
{
	struct sim_dpa_eu *eu = sim_dpa_eu_current();

	if (sim_dpa_thread_is_stopped(&eu->guarded))
		sim_dpa_leave(SIM_DPA_STOPPED);
	sim_dpa_eu_share(eu);
	if (eu->turn.source)
		sim_dpa_eu_poll_empty(eu); /* others have their turns at the next call */
	else
		sim_dpa_pause(round);
}
