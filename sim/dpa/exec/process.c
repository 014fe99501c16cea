/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a DPA process; its memory, its handles, RPCs. */
#include "process.h"

#include <errno.h>
#include <stdlib.h>

#include "process_priv.h"

static int init(struct sim_dpa_process *process)
{
	int rc = sim_dpa_heap_init(&process->heap, process->cfg.heap_bytes);

	if (rc == 0)
		rc = sim_dpa_image_load(process->cfg.app, process->cfg.port, &process->image);
	return rc == 0 ? sim_dpa_eus_init(process) : rc;
}

int sim_dpa_process_create(const struct sim_dpa_process_cfg *cfg, struct sim_dpa_process **ret_process)
{
	struct sim_dpa_process *process = calloc(1, sizeof(*process));
	int rc;

	if (!process)
		return -ENOMEM;
	process->cfg = *cfg;
	pthread_mutex_init(&process->lock, NULL);
	pthread_cond_init(&process->changed, NULL);
	pthread_cond_init(&process->launch_wake, NULL);
	TAILQ_INIT(&process->queue);
	TAILQ_INIT(&process->launches);
	rc = init(process);
	if (rc < 0) {
		sim_dpa_process_destroy(process);
		return rc;
	}
	*ret_process = process;
	return 0;
}

void sim_dpa_process_destroy(struct sim_dpa_process *process)
{
	if (!process)
		return;
	pthread_mutex_lock(&process->lock);
	atomic_store(&process->is_over, true);
	sim_dpa_end_all(process);
	pthread_cond_broadcast(&process->changed);
	pthread_cond_broadcast(&process->launch_wake);
	pthread_mutex_unlock(&process->lock);
	sim_dpa_launches_fini(process);
	sim_dpa_eus_fini(process);
	sim_dpa_image_unload(process->image);
	sim_dpa_handles_fini(&process->handles);
	sim_dpa_heap_fini(&process->heap);
	free(process);
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

int sim_dpa_process_free(struct sim_dpa_process *process, uint64_t addr)
{
	int rc = sim_dpa_heap_free(&process->heap, addr);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&process->lock);
	for (uint32_t i = 0; i < process->cfg.num_eus; i++)
		if (process->eus[i].is_ready)
			sim_dpa_thread_forget(&process->eus[i].guarded);
	pthread_mutex_unlock(&process->lock);
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
}

/* ---- RPC ---- */

struct call {
	struct sim_dpa_work work; /* first */
	pthread_cond_t done;
	bool has_ended;
	enum sim_dpa_end end;
};

static void end_call(struct sim_dpa_work *work, enum sim_dpa_end end)
{
	struct call *call = (struct call *)work;

	call->end = end;
	call->has_ended = true;
	pthread_cond_signal(&call->done);
}

int sim_dpa_process_call(struct sim_dpa_process *process, const struct sim_dpa_kernel *kernel, const void *args,
			 uint64_t *ret_value)
{
	struct call call = { .work = { .kernel = kernel,
				       .args = args,
				       .fixed_eu = SIM_DPA_ANY_EU,
				       .num_ranks = 1,
				       .is_rpc = true,
				       .ended = end_call } };

	pthread_cond_init(&call.done, NULL);
	pthread_mutex_lock(&process->lock);
	sim_dpa_submit(process, &call.work);
	while (!call.has_ended)
		pthread_cond_wait(&call.done, &process->lock);
	pthread_mutex_unlock(&process->lock);
	pthread_cond_destroy(&call.done);
	if (call.end != SIM_DPA_RETURNED)
		return -EIO;
	*ret_value = call.work.value;
	return 0;
}
