/* SPDX-License-Identifier: BSD-3-Clause */
/* A request's access to the memory or the sync event of the peer. */
#include <errno.h>

#include "rdma_priv.h"
#include "shim/common/sync/sync_event_remote.h"
#include "sim/fabric/remote.h"

/* The function to which the memory or the event belongs. */
static uint32_t target_function(const struct rdma_task *task, const struct rdma_task_type *type)
{
	return rdma_is_event_type(type) ? shim_sync_remote_function(task->event) : task->remote->region.function;
}

int rdma_task_execute(struct sim_rdma_work *work)
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
		rc = type->access(task);
	if (doca_unlikely(rc == -EACCES))
		sim_qp_note_refused(qp, type->peer_access, is_permitted);
	return rc;
}
