/* SPDX-License-Identifier: BSD-3-Clause */
/* A request's access to the memory or the sync event of the peer. */
#include <errno.h>

#include "rdma_priv.h"
#include "shim/common/process/runtime.h"
#include "shim/common/sync/sync_event_remote.h"
#include "sim/rdma/memory.h"

static int do_atomic(struct rdma_task *task, const struct rdma_task_type *type)
{
	const struct sim_rdma_atomic atomic = { .is_swap = type->index == RDMA_CMP_SWP,
						.compare = task->compare,
						.operand = task->operand };
	uint64_t before;
	int rc = sim_rdma_do_atomic(sim_session_atomics_lock(shim_session()), task->remote, task->remote_addr, &atomic,
				    &before);

	return rc < 0 ? rc : sim_rdma_scatter(task->segments, task->num_segments, 0, &before, sizeof(before));
}

static int do_event(struct rdma_task *task, const struct rdma_task_type *type)
{
	uint64_t value = 0;
	int rc = 0;

	if (type->index == RDMA_EVENT_SET)
		rc = sim_rdma_gather(task->segments, task->num_segments, 0, &value, sizeof(value));
	if (rc < 0)
		return rc;
	if (type->index == RDMA_EVENT_SET)
		return shim_sync_remote_set(task->event, value);
	rc = type->index == RDMA_EVENT_GET ? shim_sync_remote_get(task->event, &value) :
					     shim_sync_remote_add(task->event, task->operand, &value);
	return rc < 0 ? rc : sim_rdma_scatter(task->segments, task->num_segments, 0, &value, sizeof(value));
}

/* The function to which the memory or the event belongs. */
static uint32_t target_function(const struct rdma_task *task, const struct rdma_task_type *type)
{
	return rdma_is_event_type(type) ? shim_sync_remote_function(task->event) : task->remote->region.function;
}

static int access_peer(struct rdma_task *task, const struct rdma_task_type *type)
{
	const struct sim_rdma_work *work = &task->work;

	if (rdma_is_event_type(type))
		return do_event(task, type);
	if (type->peer_access == SIM_ACCESS_ATOMIC)
		return do_atomic(task, type);
	if (type->peer_access == SIM_ACCESS_READ)
		return sim_rdma_read(task->segments, task->num_segments, task->remote, task->remote_addr, work->bytes);
	return sim_rdma_write(task->segments, task->num_segments, task->remote, task->remote_addr, work->bytes);
}

int rdma_task_execute(struct sim_rdma_work *work)
{
	struct rdma_task *task = rdma_task_of_work(work);
	const struct rdma_task_type *type = rdma_task_type(&task->task);
	struct sim_qp *qp = task->connection->qp;
	bool is_permitted = sim_qp_peer_access(qp) & type->peer_access;
	int rc = -EACCES;

	if (!task->remote && !rdma_is_event_type(type))
		return 0;
	if (is_permitted && sim_qp_peer_function(qp) != target_function(task, type))
		return -EXDEV;
	if (is_permitted)
		rc = access_peer(task, type);
	if (rc == -EACCES)
		sim_qp_note_refused(qp, type->peer_access, is_permitted);
	return rc;
}
