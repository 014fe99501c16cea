/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that a message of a Comch producer fits what its consumer has posted, and takes. */
#include <doca_comch.h>

#include "shim/check/base/check.h"
#include "shim/check/report/hit.h"
#include "shim/comch/conn/conn_priv.h"
#include "shim/comch/data_path/producer_priv.h"
#include "shim/common/mem/buf_priv.h"

/* What a consumer takes. */
struct room {
	uint32_t buf_bytes; /* of its oldest posted buffer; UINT32_MAX = none is posted */
	uint32_t imm_bytes;
};

/* With the connection's lock. */
static struct room room_of(struct sim_remote_consumer *remote)
{
	struct room room = { .imm_bytes = remote->queue.max_imm_bytes };

	pthread_mutex_lock(&remote->lock);
	room.buf_bytes = sim_recvq_next_room(&remote->queue);
	pthread_mutex_unlock(&remote->lock);
	return room;
}

/* Returns false if the connection has no such consumer (any more). */
static bool find_room(struct doca_comch_connection *connection, uint32_t id, struct room *ret_room)
{
	struct sim_remote_consumer *remote;

	pthread_mutex_lock(&connection->pipe.lock);
	LIST_FOREACH(remote, &connection->pipe.remote_consumers, link)
		if (remote->info.id == id && !remote->expired)
			break;
	if (remote)
		*ret_room = room_of(remote);
	pthread_mutex_unlock(&connection->pipe.lock);
	return remote != NULL;
}

static struct check_hit *begin(const struct shim_call *call, const struct doca_comch_producer_task_send *send,
			       const struct room *room)
{
	const char *name = check_call_name(call);
	size_t len = shim_object_is(send->buf, SHIM_BUF) ? send->buf->data_len : 0;

	if (send->imm_len > room->imm_bytes)
		return check_hit_begin(BFC_MESSAGE_DOES_NOT_FIT, call,
				       "%s: %u bytes of immediate data; consumer %u takes %u", name, send->imm_len,
				       send->consumer, room->imm_bytes);
	if (len > room->buf_bytes)
		return check_hit_begin(BFC_MESSAGE_DOES_NOT_FIT, call,
				       "%s: a message of %zu bytes; the buffer that consumer %u has posted has %u",
				       name, len, send->consumer, room->buf_bytes);
	return NULL;
}

/* A task that is submitted, or NULL: the call is another one. */
static const struct doca_comch_producer_task_send *submitted_send(const struct shim_call *call)
{
	const struct doca_task *task = check_arg(call, 0);

	switch (call->function) {
	case SHIM_FN_doca_task_submit:
	case SHIM_FN_doca_task_submit_ex:
	case SHIM_FN_doca_task_try_submit:
		return shim_object_is(task, SHIM_TASK) && shim_object_is_still(task->ctx, SHIM_COMCH_PRODUCER) ?
			       (const struct doca_comch_producer_task_send *)task :
			       NULL;
	default:
		return NULL;
	}
}

static void call_failed(const struct shim_call *call)
{
	const struct doca_comch_producer_task_send *send;
	const struct doca_comch_producer *producer;
	struct check_hit *hit;
	struct room room;

	if (check_result(call) != DOCA_ERROR_INVALID_VALUE)
		return;
	send = submitted_send(call);
	if (!send)
		return;
	producer = (const struct doca_comch_producer *)send->task.ctx;
	if (!find_room(producer->data_path.connection, send->consumer, &room))
		return;
	hit = begin(call, send, &room);
	check_hit_add_ctx(hit, send->task.ctx);
	check_hit_end(hit);
}

const struct check_part check_comch_fast = {
	.mode = SIM_CHECK_API,
	.call_failed = call_failed,
};
