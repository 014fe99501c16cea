/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/rdma/rdma_inspect.h - what the checker may know of RDMA's objects. Handles are any values. */
#ifndef SHIM_RDMA_INSPECT_H
#define SHIM_RDMA_INSPECT_H

#include "shim/rdma/rdma_priv.h"

/* A context, or NULL: the handle is another object. */
static inline const struct doca_rdma *rdma_inspect_context(const void *handle)
{
	return shim_handle_is(handle, SHIM_RDMA) ? handle : NULL;
}

/* Returns whether the task is one of RDMA. */
static inline bool rdma_inspect_is_task(const struct doca_task *task)
{
	return shim_object_is_still(task->ctx, SHIM_RDMA);
}

struct rdma_task_view {
	const struct rdma_task *task;
	const struct rdma_task_type *type;
	const struct doca_rdma *rdma;
	const struct doca_rdma_connection *connection; /* NULL: of a receive, or it is gone */
	const struct doca_buf *local, *remote;         /* heads of lists; NULL = none */
	bool is_receive;
};

/* Returns false if the task is another one. */
static inline bool rdma_inspect_task(const struct doca_task *task, struct rdma_task_view *ret_view)
{
	const struct rdma_task *rdma_task = (const struct rdma_task *)task;
	const struct rdma_task_type *type;
	bool has_connection;

	if (!rdma_inspect_is_task(task))
		return false;
	type = rdma_task_type(task);
	has_connection = type->index != RDMA_RECEIVE && shim_handle_is(rdma_task->connection, SHIM_RDMA_CONNECTION) &&
			 rdma_task->connection->serial == rdma_task->connection_serial;
	*ret_view = (struct rdma_task_view){
		.task = rdma_task,
		.type = type,
		.rdma = rdma_of(task),
		.connection = has_connection ? rdma_task->connection : NULL,
		.local = type->get_local ? type->get_local(rdma_task) : NULL,
		.remote = type->get_remote ? type->get_remote(rdma_task) : NULL,
		.is_receive = type->index == RDMA_RECEIVE,
	};
	return true;
}

/* Why a work request failed, as -errno; 0 of a receive. */
static inline int rdma_inspect_failure(const struct rdma_task_view *view)
{
	return view->is_receive ? 0 : view->task->work.status;
}

/* Bytes that the task accesses at the peer's memory, when it is about to be posted. */
static inline uint64_t rdma_inspect_remote_bytes(const struct rdma_task_view *view)
{
	return view->remote ? view->task->work.bytes : 0;
}

#endif
