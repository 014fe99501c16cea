/* SPDX-License-Identifier: BSD-3-Clause */
/* A request's access to the memory or the sync event of the peer. */
#include <errno.h>

#include "rdma_priv.h"
#include "shim/common/sync/sync_event_remote.h"
#include "sim/fabric/remote.h"
#include "sim/rdma/memory.h"

/* The function to which the memory or the event belongs. */
static uint32_t target_function(const struct rdma_task *task, const struct rdma_task_type *type)
{
	return rdma_is_event_type(type) ? shim_sync_remote_function(task->event) : task->remote->region.function;
}

/* Access the peer's memory by @access, if the connection permits it. */
static inline __attribute__((always_inline)) int access_checked(struct sim_rdma_work *work,
								int (*access)(struct rdma_task *task))
{
	struct rdma_task *task = rdma_task_of_work(work);
	const struct rdma_task_type *type = rdma_task_type(&task->task);
	struct sim_qp *qp = task->connection->qp;
	bool is_permitted;
	int rc;

	if (!task->remote && !rdma_is_event_type(type))
		return 0;
	rc = sim_qp_check_access(qp, type->peer_access, target_function(task, type));
	is_permitted = rc == 0;
	if (is_permitted)
		rc = access ? access(task) : type->access(task);
	if (doca_unlikely(rc == -EACCES))
		sim_qp_note_refused(qp, type->peer_access, is_permitted);
	return rc;
}

int rdma_task_execute(struct sim_rdma_work *work)
{
	return access_checked(work, NULL);
}

/* ---- a peer on another machine ---- */

static int begin_event(struct rdma_task *task, const struct rdma_task_type *type)
{
	static const enum sim_far_op ops[RDMA_NUM_TASKS] = {
		[RDMA_EVENT_GET] = SIM_FAR_GET_EVENT,
		[RDMA_EVENT_SET] = SIM_FAR_SET_EVENT,
		[RDMA_EVENT_ADD] = SIM_FAR_ADD_EVENT,
	};
	uint64_t operand = type->index == RDMA_EVENT_ADD ? task->operand : 0;
	int rc = 0;

	if (type->index == RDMA_EVENT_SET)
		rc = sim_rdma_gather(task->segments, task->num_segments, 0, &operand, sizeof(operand));
	if (rc < 0)
		return rc;
	return sim_rdma_far_event(&task->far, shim_sync_remote_memory(task->event), ops[type->index], operand);
}

static int begin_atomic(struct rdma_task *task, const struct rdma_task_type *type)
{
	const struct sim_rdma_atomic atomic = { .is_swap = type->index == RDMA_CMP_SWP,
						.compare = task->compare,
						.operand = task->operand };

	return sim_rdma_far_atomic(&task->far, task->remote, task->remote_addr, &atomic);
}

static int begin_copy(struct rdma_task *task, const struct rdma_task_type *type)
{
	return sim_rdma_far_copy(&task->far, type->peer_access == SIM_ACCESS_READ ? SIM_SERVED_READ : SIM_SERVED_WRITE,
				 task->remote, task->remote_addr, task->work.bytes);
}

static int begin_access(struct rdma_task *task)
{
	const struct rdma_task_type *type = rdma_task_type(&task->task);
	int rc;

	if (rdma_is_event_type(type))
		rc = begin_event(task, type);
	else
		rc = type->peer_access == SIM_ACCESS_ATOMIC ? begin_atomic(task, type) : begin_copy(task, type);
	if (rc == 0)
		task->work.far = &task->far;
	return rc;
}

int rdma_task_begin(struct sim_rdma_work *work)
{
	return access_checked(work, begin_access);
}
