/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a DPA process; its memory, its handles, RPCs. */
#include "process.h"

#include <errno.h>
#include <stdlib.h>

#include "process_priv.h"
#include "sim/clock/call_mark.h"
#include "sim/clock/vclock_sched.h"

static int init(struct sim_dpa_process *process)
{
	int rc = sim_dpa_heap_init(&process->heap, process->cfg.heap_bytes);

	if (rc == 0)
		rc = sim_dpa_image_load(process->cfg.app, process->cfg.port, &process->image);
	return rc == 0 ? sim_dpa_eus_init(process) : rc;
}

/* Threads hold the lock for moments: one that finds it taken looks again before it sleeps. */
static void init_lock(struct sim_dpa_process *process)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&process->lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

int sim_dpa_process_create(const struct sim_dpa_process_cfg *cfg, struct sim_dpa_process **ret_process)
{
	struct sim_dpa_process *process = calloc(1, sizeof(*process));
	int rc;

	if (!process)
		return -ENOMEM;
	process->cfg = *cfg;
	init_lock(process);
	pthread_cond_init(&process->changed, NULL);
	pthread_cond_init(&process->doorbell, NULL);
	pthread_cond_init(&process->launch_wake, NULL);
	TAILQ_INIT(&process->queue);
	TAILQ_INIT(&process->launches);
	rc = init(process);
	if (rc < 0) {
		sim_dpa_process_destroy(process);
		return rc;
	}
	sim_dpa_trace_begin(&process->trace, cfg->device);
	*ret_process = process;
	return 0;
}

void sim_dpa_process_destroy(struct sim_dpa_process *process)
{
	bool marked;

	if (!process)
		return;
	pthread_mutex_lock(&process->lock);
	atomic_store(&process->is_over, true);
	atomic_store(&process->is_ending, true);
	sim_dpa_end_all(process);
	pthread_cond_broadcast(&process->changed);
	if (process->is_launch_thread_ready)
		sim_dpa_turn_interrupt(&process->launch_turn, &process->launch_wake);
	pthread_mutex_unlock(&process->lock);
	marked = sim_clock_begin_wait();
	sim_dpa_launches_fini(process);
	sim_dpa_eus_fini(process);
	sim_clock_end_wait(marked);
	sim_dpa_trace_end(&process->trace);
	sim_vclock_source_destroy(process->host);
	sim_dpa_image_unload(process->image);
	sim_dpa_handles_fini(&process->handles);
	sim_dpa_heap_fini(&process->heap);
	free(process);
}

void sim_dpa_process_begin_call(struct sim_dpa_process *process)
{
	const struct sim_vclock_source_cfg cfg = { 0 };

	if (!sim_dpa_is_virtual(process))
		return;
	pthread_mutex_lock(&process->lock);
	if (!process->host && sim_vclock_source_create(process->cfg.vclock, &cfg, &process->host) < 0)
		process->host = NULL;
	if (process->host)
		sim_vclock_source_mark_busy(process->host);
	pthread_mutex_unlock(&process->lock);
}

bool sim_dpa_process_is_fatal(const struct sim_dpa_process *process)
{
	return atomic_load(&process->is_fatal);
}

const struct sim_dpa_image *sim_dpa_process_image(const struct sim_dpa_process *process)
{
	return process->image;
}

/* ---- memory ---- */

int sim_dpa_process_alloc(struct sim_dpa_process *process, uint64_t bytes, uint64_t *ret_addr)
{
	return sim_dpa_heap_alloc(&process->heap, bytes, ret_addr);
}

void sim_dpa_process_forget(struct sim_dpa_process *process)
{
	pthread_mutex_lock(&process->lock);
	for (uint32_t i = 0; i < process->cfg.num_eus; i++)
		if (process->eus[i].is_ready)
			sim_dpa_thread_forget(&process->eus[i].guarded);
	pthread_mutex_unlock(&process->lock);
}

int sim_dpa_process_free(struct sim_dpa_process *process, uint64_t addr)
{
	int rc = sim_dpa_heap_free(&process->heap, addr);

	if (rc < 0)
		return rc;
	sim_dpa_process_forget(process);
	return 0;
}

bool sim_dpa_process_has_heap(struct sim_dpa_process *process, uint64_t addr, uint64_t bytes)
{
	struct sim_dpa_range range;

	return sim_dpa_heap_find(&process->heap, addr, bytes, &range);
}

/* ---- handles ---- */

uint64_t sim_dpa_process_export(struct sim_dpa_process *process, enum sim_dpa_handle_kind kind, void *object)
{
	uint64_t handle;

	pthread_mutex_lock(&process->lock);
	handle = sim_dpa_handle_of(&process->handles, kind, object);
	if (handle == 0)
		handle = sim_dpa_handle_new(&process->handles, kind, object);
	pthread_mutex_unlock(&process->lock);
	return handle;
}

void sim_dpa_process_withdraw(struct sim_dpa_process *process, enum sim_dpa_handle_kind kind, const void *object)
{
	pthread_mutex_lock(&process->lock);
	sim_dpa_handle_drop(&process->handles, sim_dpa_handle_of(&process->handles, kind, object));
	pthread_mutex_unlock(&process->lock);
	if (kind == SIM_DPA_EVENT && sim_dpa_is_virtual(process)) /* operations that wait for it fail */
		sim_vclock_sched_post_sync(process->cfg.vclock);
}

/* ---- RPC ---- */

struct call {
	struct sim_dpa_work work; /* first */
	pthread_cond_t done;
	struct sim_dpa_turn turn; /* of the caller */
	struct sim_dpa_call_trace trace;
	bool has_ended;
	enum sim_dpa_end end;
};

static void end_call(struct sim_dpa_work *work, enum sim_dpa_end end)
{
	struct call *call = (struct call *)work;

	call->end = end;
	call->has_ended = true;
	sim_dpa_turn_signal(&call->turn, &call->done);
}

/* On the caller's thread, which would wait for another otherwise. Returns false if no EU is to be had so. */
static bool run_here(struct sim_dpa_process *process, struct call *call)
{
	struct sim_dpa_eu *eu = sim_dpa_eu_borrow(process);

	if (!eu)
		return false;
	pthread_mutex_lock(&process->lock);
	sim_dpa_trace_submit(&call->trace, &process->trace.rpc);
	sim_dpa_eu_run(eu, &call->work);
	sim_dpa_trace_done(&call->trace, sim_dpa_trace_reason(call->end));
	pthread_mutex_unlock(&process->lock);
	sim_dpa_eu_give_back(eu);
	return true;
}

/* On the thread of an EU, as soon as one is free. */
static void run_on_eu(struct sim_dpa_process *process, struct call *call)
{
	bool has_turn = true;

	pthread_mutex_lock(&process->lock);
	sim_dpa_trace_submit(&call->trace, &process->trace.rpc);
	sim_dpa_submit(process, &call->work);
	while (!call->has_ended || !has_turn)
		has_turn = sim_dpa_turn_wait(&call->turn, &call->done, &process->lock);
	sim_dpa_trace_done(&call->trace, sim_dpa_trace_reason(call->end));
	pthread_mutex_unlock(&process->lock);
}

int sim_dpa_process_call(struct sim_dpa_process *process, const struct sim_dpa_kernel *kernel, const void *args,
			 uint64_t *ret_value)
{
	struct call call = { .work = { .kernel = kernel,
				       .args = args,
				       .fixed_eu = SIM_DPA_ANY_EU,
				       .num_ranks = 1,
				       .is_rpc = true,
				       .delay_ns = process->cfg.rpc_ns,
				       .ended = end_call } };

	pthread_cond_init(&call.done, NULL);
	sim_dpa_turn_begin(&call.turn, process->cfg.vclock);
	call.work.trace = &call.trace;
	if (!run_here(process, &call))
		run_on_eu(process, &call);
	sim_dpa_turn_end(&call.turn);
	pthread_cond_destroy(&call.done);
	if (call.end != SIM_DPA_RETURNED)
		return -EIO;
	*ret_value = call.work.value;
	return 0;
}
