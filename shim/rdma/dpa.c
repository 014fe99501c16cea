/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts whose data path is on a DPA: their start and stop. */
#include "dpa_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"
#include "shim/common/sync/sync_event_remote.h"
#include "sim/base/thread.h"
#include "sim/clock/call_mark.h"

static void hold_event(void *event)
{
	shim_sync_remote_begin_task(event);
}

static void release_event(void *event)
{
	shim_sync_remote_end_task(event);
}

static const struct sim_dpa_rdma_ops queue_ops = {
	.post = rdma_dpa_post,
	.signal = rdma_dpa_signal,
	.receive = rdma_dpa_receive,
	.receive_again = rdma_dpa_receive_again,
	.hold_event = hold_event,
	.release_event = release_event,
};

void rdma_dpa_destroy(struct rdma_dpa *dpa)
{
	if (!dpa)
		return;
	sim_wake_close(&dpa->wake);
	free(dpa->receives);
	free(dpa);
}

static int create(struct doca_rdma *rdma, struct rdma_dpa **ret_dpa)
{
	struct rdma_dpa *dpa = shim_calloc(1, sizeof(*dpa));
	int rc;

	if (!dpa)
		return -ENOMEM;
	dpa->rdma = rdma;
	dpa->completion = &rdma->dpa_completion->ring;
	dpa->deadline_ns = UINT64_MAX;
	dpa->wake = SIM_WAKE_NONE;
	pthread_mutex_init(&dpa->lock, NULL);
	pthread_cond_init(&dpa->changed, NULL);
	STAILQ_INIT(&dpa->pending);
	STAILQ_INIT(&dpa->free);
	STAILQ_INIT(&dpa->complete);
	rc = sim_wake_open(&dpa->wake);
	if (rc == 0)
		rc = rdma_dpa_receives_init(dpa, rdma->properties.receive_queue_size);
	if (rc == 0)
		rc = sim_dpa_rdma_start(rdma->ctx.dpa->process, &queue_ops, &dpa->queue);
	if (rc < 0) {
		rdma_dpa_destroy(dpa);
		return rc;
	}
	*ret_dpa = dpa;
	return 0;
}

static doca_error_t check(const struct doca_rdma *rdma)
{
	const struct doca_dpa_completion *completion = rdma->dpa_completion;

	if (rdma_release.starts_by_connect || rdma->properties.transport == DOCA_RDMA_TRANSPORT_TYPE_DC) {
		sim_err("doca_ctx_start: RDMA on the DPA is for releases from 2.7 on, and the transport RC");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (!completion || !completion->is_started) {
		sim_err("doca_ctx_start: no completion context of the DPA is attached that is started; call doca_rdma_dpa_completion_attach() first");
		return DOCA_ERROR_INITIALIZATION;
	}
	if (shim_dpa_check_running("doca_ctx_start", rdma->ctx.dpa) != DOCA_SUCCESS)
		return DOCA_ERROR_INITIALIZATION;
	if (completion->dpa->process != rdma->ctx.dpa->process) {
		sim_err("doca_ctx_start: the completion context is another DPA context's");
		return DOCA_ERROR_INITIALIZATION;
	}
	return DOCA_SUCCESS;
}

/* Others wake the thread by its turn. In virtual time threads take part in the order of their starts, and the context's connections need
 * the thread's address. */
static int start_thread(struct rdma_dpa *dpa)
{
	int rc = sim_thread_start(&dpa->thread, "bfsim-rdma-dpa", rdma_dpa_run, dpa);
	bool marked;

	if (rc < 0)
		return rc;
	marked = sim_clock_begin_wait();
	pthread_mutex_lock(&dpa->lock);
	while (!dpa->has_begun)
		pthread_cond_wait(&dpa->changed, &dpa->lock);
	pthread_mutex_unlock(&dpa->lock);
	sim_clock_end_wait(marked);
	return 0;
}

doca_error_t rdma_dpa_start(struct doca_rdma *rdma)
{
	doca_error_t result = check(rdma);
	int rc;

	if (result != DOCA_SUCCESS)
		return result;
	rc = create(rdma, &rdma->dpa);
	if (rc == 0) {
		rc = start_thread(rdma->dpa);
		if (rc == 0)
			return DOCA_SUCCESS;
		sim_dpa_rdma_stop(&rdma->dpa->queue);
		rdma_dpa_destroy(rdma->dpa);
		rdma->dpa = NULL;
	}
	sim_err("doca_ctx_start: no memory, thread or descriptor for RDMA on the DPA");
	return DOCA_ERROR_INITIALIZATION;
}

void rdma_dpa_quiesce(struct doca_rdma *rdma)
{
	struct rdma_dpa *dpa = rdma->dpa;
	bool marked;

	sim_dpa_rdma_stop(&dpa->queue);
	pthread_mutex_lock(&dpa->lock);
	dpa->is_stopping = true;
	sim_dpa_turn_interrupt(&dpa->turn, &dpa->changed);
	pthread_mutex_unlock(&dpa->lock);
	rdma_dpa_wake(dpa);
	marked = sim_clock_begin_wait();
	pthread_join(dpa->thread, NULL);
	sim_clock_end_wait(marked);
}

void rdma_dpa_drop(struct doca_rdma *rdma)
{
	struct rdma_dpa *dpa = rdma->dpa;
	struct rdma_dpa_request *request;

	rdma_dpa_reap(dpa, true);
	while ((request = STAILQ_FIRST(&dpa->pending))) {
		STAILQ_REMOVE_HEAD(&dpa->pending, link);
		request->connection->num_pending--;
		rdma_dpa_end_request(request, true);
	}
}

/* ---- public functions ---- */

doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, doca_dpa_dev_rdma_t *dpa_rdma)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(dpa_rdma);
	if (rdma->ctx.state != DOCA_CTX_STATE_RUNNING || !rdma->dpa)
		return SHIM_REFUSE(
			DOCA_ERROR_BAD_STATE,
			"the context is not running with its data path on a DPA (doca_ctx_set_datapath_on_dpa)");
	*dpa_rdma = rdma->dpa->queue.callable.handle;
	return DOCA_SUCCESS;
}

void rdma_dpa_detach(struct doca_rdma *rdma)
{
	if (rdma->dpa_completion)
		rdma->dpa_completion->num_users--;
	rdma->dpa_completion = NULL;
}

doca_error_t doca_rdma_dpa_completion_attach(struct doca_rdma *rdma, struct doca_dpa_completion *dpa_comp)
{
	SHIM_NEED(rdma, SHIM_RDMA);
	SHIM_NEED(dpa_comp, SHIM_DPA_COMPLETION);
	if (rdma->ctx.state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is started; stop it first");
	if (!dpa_comp->is_started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the completion context is not started; start it first");
	rdma_dpa_detach(rdma);
	rdma->dpa_completion = dpa_comp;
	dpa_comp->num_users++;
	return DOCA_SUCCESS;
}
