/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/comch_inspect.h - what the checker may know of Comch's objects. Handles are any values. */
#ifndef SHIM_COMCH_INSPECT_H
#define SHIM_COMCH_INSPECT_H

#include <string.h>

#include "shim/comch/conn/conn_priv.h"
#include "shim/comch/data_path/consumer_priv.h"
#include "shim/comch/data_path/producer_priv.h"
#include "shim/comch/dpa/dpa_priv.h"
#include "shim/common/mem/buf_priv.h"

/* A completion context of a DPA's consumers that is started, with the DPA context. Returns false if the handle is none. */
static inline bool comch_inspect_dpa_completion(const void *handle, const struct sim_dpa_completion **ret_ring,
						const struct doca_dpa **ret_dpa)
{
	const struct doca_comch_consumer_completion *completion = handle;

	if (!shim_handle_is(handle, SHIM_COMCH_CONSUMER_COMPLETION) || !completion->is_started ||
	    !shim_dpa_is_own(completion->thread->dpa))
		return false;
	*ret_ring = &completion->ring.ring;
	*ret_dpa = completion->thread->dpa;
	return true;
}

/* A server or client. */
struct comch_endpoint_view {
	const struct doca_ctx *ctx;
	const char *role, *name; /* "client"; of the service */
	uint32_t max_msg_bytes;
	bool is_comm_channel; /* a Comm Channel endpoint drives it */
};

static inline struct comch_endpoint_view comch_view_endpoint(const struct comch_endpoint *endpoint)
{
	return (struct comch_endpoint_view){ .ctx = &endpoint->ctx,
					     .role = endpoint->ops->role_name,
					     .name = endpoint->name,
					     .max_msg_bytes = endpoint->max_msg_bytes,
					     .is_comm_channel = comch_is_comm_channel(endpoint) };
}

/* Returns false if the handle is another object. */
static inline bool comch_inspect_endpoint(const void *handle, struct comch_endpoint_view *ret_view)
{
	if (!shim_handle_is(handle, SHIM_COMCH_CLIENT) && !shim_handle_is(handle, SHIM_COMCH_SERVER))
		return false;
	*ret_view = comch_view_endpoint(handle);
	return true;
}

/* The endpoint of a connection that is being made. Returns false if the handle is none. */
static inline bool comch_inspect_opening(const void *handle, struct comch_endpoint_view *ret_view)
{
	const struct doca_comch_connection *connection = handle;

	if (!shim_handle_is(handle, SHIM_COMCH_CONNECTION) || connection->pipe.state != SIM_PIPE_OPENING ||
	    !connection->endpoint)
		return false;
	*ret_view = comch_view_endpoint(connection->endpoint);
	return true;
}

/* Returns whether a peer of the endpoint died, or left. */
static inline bool comch_has_lost_peer(const struct comch_endpoint_view *view)
{
	const struct comch_endpoint *endpoint = (const struct comch_endpoint *)view->ctx;

	for (uint32_t i = 0; i < endpoint->group.num_slots; i++)
		if (endpoint->group.pipes[i] && endpoint->group.pipes[i]->state == SIM_PIPE_LOST)
			return true;
	return false;
}

/* The buffer of a task of a producer or consumer, which it reads or *@ret_is_write writes; NULL = it has none, or is another
 * task. Tasks of another library may have the name of one of these. */
static inline const struct doca_buf *comch_inspect_task_buf(const struct doca_task *task, bool *ret_is_write)
{
	const struct shim_task_type *type = task->pool->type;

	*ret_is_write = strcmp(type->name, SIM_TASK_COMCH_CONSUMER_RECV) == 0;
	if (*ret_is_write && type->size >= sizeof(struct doca_comch_consumer_task_post_recv))
		return ((const struct doca_comch_consumer_task_post_recv *)task)->buf;
	return strcmp(type->name, SIM_TASK_COMCH_PRODUCER_SEND) == 0 &&
			       type->size >= sizeof(struct doca_comch_producer_task_send) ?
		       ((const struct doca_comch_producer_task_send *)task)->buf :
		       NULL;
}

/* A send task of a producer, and what its consumer takes. */
struct comch_send_view {
	const struct doca_buf *buf;
	uint32_t consumer, imm_bytes;
	uint32_t room_bytes; /* of the consumer's oldest posted buffer; UINT32_MAX = none is posted */
	uint32_t max_imm_bytes;
};

/* Returns false if the task is another one, or the connection has no such consumer (any more). */
static inline bool comch_inspect_send(const struct doca_task *task, struct comch_send_view *ret_view)
{
	const struct doca_comch_producer_task_send *send = (const struct doca_comch_producer_task_send *)task;
	struct doca_comch_connection *connection;
	struct sim_remote_consumer *remote;

	if (!shim_object_is(task, SHIM_TASK) || !shim_object_is_still(task->ctx, SHIM_COMCH_PRODUCER))
		return false;
	connection = ((const struct doca_comch_producer *)task->ctx)->data_path.connection;
	pthread_mutex_lock(&connection->pipe.lock);
	LIST_FOREACH(remote, &connection->pipe.remote_consumers, link)
		if (remote->info.id == send->consumer && !remote->expired)
			break;
	if (remote) {
		pthread_mutex_lock(&remote->lock);
		*ret_view = (struct comch_send_view){ .buf = send->buf,
						      .consumer = send->consumer,
						      .imm_bytes = send->imm_len,
						      .room_bytes = sim_recvq_next_room(&remote->queue),
						      .max_imm_bytes = remote->queue.max_imm_bytes };
		pthread_mutex_unlock(&remote->lock);
	}
	pthread_mutex_unlock(&connection->pipe.lock);
	return remote != NULL;
}

#endif
