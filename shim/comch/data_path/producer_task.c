/* SPDX-License-Identifier: BSD-3-Clause */
/* The producer's send task: one message into the oldest buffer that a consumer
 * has posted. A buffer is kept for it when it is submitted (without one, the
 * submission is refused with AGAIN), and taken when it runs.
 *
 * A short message goes through the consumer's slot; a longer one is written
 * straight into the consumer's buffer, by the best path between the processes
 * (sim/fabric): then no byte is copied twice. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "producer_priv.h"
#include "remote_consumer_priv.h"
#include "shim/common/mem/buf_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"

struct doca_comch_producer_task_send {
	struct doca_task task; /* first: a send task is a doca_task */
	const struct doca_buf *buf;
	const uint8_t *imm;
	uint32_t imm_len;
	uint32_t consumer;
	struct comch_remote_consumer *remote; /* held from submit to completion */
	uint8_t posted_imm[]; /* what @imm held when it was submitted: the user may write the next there */
};

static struct doca_comch_producer_task_send *send_of(const struct doca_task *task)
{
	return (struct doca_comch_producer_task_send *)(uintptr_t)task;
}

static uint32_t get_len(const struct doca_comch_producer_task_send *send)
{
	return send->buf ? (uint32_t)send->buf->data_len : 0;
}

/* ---- what a task asks for ---- */

/* Why it can't be sent to anyone, or NULL. */
static const char *describe_invalid_send(const struct doca_comch_producer_task_send *send)
{
	const struct doca_dev *dev = send->task.ctx->dev;
	const struct doca_buf *buf = send->buf;

	if (!buf)
		return send->imm_len > 0 ? NULL : "it has neither a buffer nor immediate data";
	if (!shim_object_is(buf, SHIM_BUF) || buf->is_inner)
		return "its buffer is not live, or inside a list";
	if (buf->next)
		return "its buffer is chained; Comch takes single ones";
	if (!shim_buf_has_usable_mmap(buf) || shim_mmap_is_imported(buf->mmap) || !shim_mmap_has_dev(buf->mmap, dev))
		return "its buffer's memory map is stopped, of another process, or lacks the connection's device";
	if (buf->data_len == 0)
		return "its buffer has no data (doca_buf_set_data)";
	if (buf->data_len > shim_dev_function(dev)->caps.comch_max_buf_bytes)
		return "it is larger than doca_comch_producer_cap_get_max_buf_size()";
	return NULL;
}

static doca_error_t send_check(const struct doca_task *task)
{
	const char *reason = describe_invalid_send(send_of(task));

	if (!reason)
		return DOCA_SUCCESS;
	sim_err("Comch producer's send task: %s", reason);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Whether its bytes go through the consumer's slot. A path that the user insists on carries all. */
static bool is_short(uint32_t len)
{
	return len <= SIM_RECVQ_INLINE_BYTES && !sim_session_has_forced_path(shim_session());
}

/* Keep a posted buffer for it. 0 or -errno. */
static int reserve_recv(struct comch_remote_consumer *remote, struct doca_comch_producer_task_send *send)
{
	uint32_t len = get_len(send);
	int rc;

	if (send->imm_len > remote->queue.max_imm_bytes)
		return -E2BIG;
	pthread_mutex_lock(&remote->lock);
	rc = remote->expired ? -ENOTCONN : sim_recvq_reserve(&remote->queue, len);
	/* What can't be reached at all fails when it runs. */
	if (rc == 0 && !is_short(len) && comch_remote_consumer_import(remote) == -EAGAIN) {
		sim_recvq_unreserve(&remote->queue);
		rc = -EAGAIN;
	}
	pthread_mutex_unlock(&remote->lock);
	if (rc == 0 && send->imm_len > 0)
		memcpy(send->posted_imm, send->imm, send->imm_len);
	return rc;
}

static doca_error_t report_post_error(const struct doca_comch_producer_task_send *send, int rc)
{
	switch (rc) {
	case -EAGAIN: /* the common way to wait for a receive: no word in the log */
		return DOCA_ERROR_AGAIN;
	case -EMSGSIZE:
		sim_err("Comch producer's send task: %u bytes are more than the buffer that consumer %u has posted",
			get_len(send), send->consumer);
		return DOCA_ERROR_INVALID_VALUE;
	case -E2BIG:
		sim_err("Comch producer's send task: %u bytes of immediate data are more than consumer %u takes",
			send->imm_len, send->consumer);
		return DOCA_ERROR_INVALID_VALUE;
	case -EPROTO:
		sim_err("Comch producer's send task: consumer %u writes what makes no sense", send->consumer);
		return DOCA_ERROR_IO_FAILED;
	default:
		sim_err("Comch producer's send task: the connection has no consumer %u (any more)", send->consumer);
		return rc == -ENOTCONN ? DOCA_ERROR_NOT_CONNECTED : DOCA_ERROR_INVALID_VALUE;
	}
}

static doca_error_t send_post(struct doca_task *task)
{
	struct doca_comch_producer_task_send *send = send_of(task);
	struct doca_comch_connection *connection = ((struct doca_comch_producer *)task->ctx)->data_path.connection;
	struct comch_remote_consumer *remote = comch_remote_consumer_get(connection, send->consumer);
	doca_error_t result;
	int rc;

	if (!remote)
		return report_post_error(send, connection->lost_error < 0 ? -ENOTCONN : -ENOENT);
	rc = reserve_recv(remote, send);
	send->remote = remote;
	result = rc < 0 ? report_post_error(send, rc) : shim_task_post_job(task);
	if (result != DOCA_SUCCESS) {
		if (rc == 0) {
			pthread_mutex_lock(&remote->lock);
			sim_recvq_unreserve(&remote->queue);
			pthread_mutex_unlock(&remote->lock);
		}
		send->remote = NULL;
		comch_remote_consumer_put(remote);
	}
	return result;
}

/* ---- the message ---- */

/* Take the slot that was kept. */
static void begin_slot(struct comch_remote_consumer *remote, uint64_t *ret_slot, struct sim_recvq_desc *ret_desc)
{
	pthread_mutex_lock(&remote->lock);
	sim_recvq_claim(&remote->queue, ret_slot, ret_desc);
	pthread_mutex_unlock(&remote->lock);
}

static int write_remote(struct comch_remote_consumer *remote, const struct sim_recvq_desc *desc, const void *bytes,
			uint32_t len)
{
	if (!remote->buffers)
		return remote->import_error;
	return sim_copy(remote->buffers, desc->addr, NULL, (uintptr_t)bytes, len);
}

/* It goes out next: before that, as its receiver may be quick. */
static void trace_sent(struct doca_comch_producer_task_send *send, struct sim_recvq_message *message, uint64_t slot)
{
	send->task.bytes = message->len_bytes + message->imm_bytes;
	message->is_recorded = send->task.timed;
	if (message->is_recorded)
		sim_trace_message(SIM_TRACE_SENT, send->task.ctx->trace_id, send->remote->stream_id, slot + 1,
				  send->task.bytes, sim_trace_now_ns(), shim_task_trace_submitted_ns(&send->task));
}

/* Fill the slot that was kept. @bytes is NULL in a message of immediate data only. */
static int fill_slot(struct doca_comch_producer_task_send *send, struct sim_recvq_message message, const uint8_t *bytes)
{
	struct comch_remote_consumer *remote = send->remote;
	struct sim_recvq_desc desc;
	uint64_t slot;
	int rc = 0;

	begin_slot(remote, &slot, &desc);
	if (message.failed || remote->expired)
		rc = -EIO;
	else if (message.len_bytes > desc.len_bytes)
		rc = -EMSGSIZE;
	else if (is_short(message.len_bytes))
		message.inlined = bytes;
	else if (bytes)
		rc = write_remote(remote, &desc, bytes, message.len_bytes);
	if (rc < 0)
		message = (struct sim_recvq_message){ .producer = message.producer, .failed = true };
	else
		trace_sent(send, &message, slot);
	shim_message_sent();
	if (sim_recvq_fill(&remote->queue, slot, &message))
		eventfd_write(remote->wake_fd, 1);
	return rc;
}

static const uint8_t *get_bytes(const struct doca_comch_producer_task_send *send)
{
	return send->buf ? (const uint8_t *)(uintptr_t)shim_buf_cpu_addr(send->buf, send->buf->data) : NULL;
}

/* It has no claim to a slot any more. */
static void release_remote(struct doca_comch_producer_task_send *send)
{
	comch_remote_consumer_put(send->remote);
	send->remote = NULL;
}

static struct sim_recvq_message make_message(const struct doca_comch_producer_task_send *send)
{
	const char *reason = describe_invalid_send(send);
	struct sim_recvq_message message = { .producer = ((struct doca_comch_producer *)send->task.ctx)->data_path.id,
					     .imm = send->posted_imm,
					     .imm_bytes = send->imm_len };

	if (reason)
		sim_err("Comch producer's send task, changed while in flight: %s", reason);
	else
		message.len_bytes = get_len(send);
	message.failed = reason != NULL;
	return message;
}

static int send_run(struct sim_job *job)
{
	struct doca_comch_producer_task_send *send = send_of(shim_task_from_job(job));
	struct sim_recvq_message message = make_message(send);
	int rc = fill_slot(send, message, message.failed ? NULL : get_bytes(send));

	release_remote(send);
	return rc;
}

/* ---- faults ---- */

static void send_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	const struct doca_comch_producer_task_send *send = send_of(task);

	ret_site->size = send->buf ? get_len(send) : send->imm_len;
	ret_site->addr = (uintptr_t)get_bytes(send);
}

static void unreserve_recv(struct comch_remote_consumer *remote)
{
	pthread_mutex_lock(&remote->lock);
	sim_recvq_unreserve(&remote->queue);
	pthread_mutex_unlock(&remote->lock);
}

/* It takes a receive, if one more is posted. */
static void fill_duplicate(struct doca_comch_producer_task_send *send, const struct sim_recvq_message *message,
			   const uint8_t *bytes)
{
	struct comch_remote_consumer *remote = send->remote;
	int rc;

	pthread_mutex_lock(&remote->lock);
	rc = sim_recvq_reserve(&remote->queue, message->len_bytes);
	pthread_mutex_unlock(&remote->lock);
	if (rc == 0)
		fill_slot(send, *message, bytes);
	else
		sim_info("a fault sends a message twice to consumer %u, which has no receive for it", remote->id);
}

/* As @hit has the message arrive; @bytes and its immediate data are copies. */
static int fill_with_fault(struct doca_comch_producer_task_send *send, const struct sim_fault_hit *hit,
			   struct sim_recvq_message *message, uint8_t *bytes)
{
	int rc;

	if (SHIM_HIT_HAS_ACT(hit, TRUNCATE) && message->len_bytes > hit->truncate_bytes)
		message->len_bytes = hit->truncate_bytes;
	if (SHIM_HIT_HAS_ACT(hit, FLIP) && bytes)
		sim_fault_hit_flip(hit, bytes, message->len_bytes);
	else if (SHIM_HIT_HAS_ACT(hit, FLIP))
		sim_fault_hit_flip(hit, (uint8_t *)(uintptr_t)message->imm, message->imm_bytes);
	if (SHIM_HIT_HAS_ACT(hit, DELAY))
		message->due_ns = shim_now_ns() + hit->delay_ns;
	if (SHIM_HIT_HAS_ACT(hit, REORDER))
		message->reorder_by = hit->reorder_by;
	rc = fill_slot(send, *message, bytes);
	if (rc == 0 && SHIM_HIT_HAS_ACT(hit, DUPLICATE))
		fill_duplicate(send, message, bytes);
	return rc;
}

static int send_with_fault(struct doca_comch_producer_task_send *send, const struct sim_fault_hit *hit)
{
	struct sim_recvq_message message = make_message(send);
	uint8_t *copy = NULL;
	int rc;

	if (message.len_bytes > 0) {
		copy = malloc(message.len_bytes);
		if (copy)
			memcpy(copy, get_bytes(send), message.len_bytes);
		message.failed = !copy;
	}
	rc = fill_with_fault(send, hit, &message, copy);
	free(copy);
	return rc;
}

static int send_run_with_fault(struct sim_job *job, const struct sim_fault_hit *hit)
{
	struct doca_comch_producer_task_send *send = send_of(shim_task_from_job(job));
	int rc = 0;

	if (SHIM_HIT_HAS_ACT(hit, FAIL))
		rc = -EIO;
	if (SHIM_HIT_HAS_ACT(hit, BREAK)) {
		comch_fault_break_connection(((struct doca_comch_producer *)send->task.ctx)->data_path.connection);
		rc = -ECONNABORTED;
	}
	if (rc < 0 || SHIM_HIT_HAS_ACT(hit, DROP))
		unreserve_recv(send->remote);
	else
		rc = send_with_fault(send, hit);
	release_remote(send);
	return rc;
}

static const struct shim_task_fault_ops producer_send_fault_ops = {
	.op = SIM_OP_COMCH_PRODUCER_SEND,
	.site = send_site,
	.run = send_run_with_fault,
};

static void send_complete(struct doca_task *task)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)task->ctx;
	struct doca_comch_producer_task_send *send = send_of(task);

	if (send->remote) { /* flushed: the buffer that was kept is for others */
		unreserve_recv(send->remote);
		release_remote(send);
	}
	(task->status == DOCA_SUCCESS ? producer->done : producer->failed)(send, task->user_data, task->ctx->user_data);
}

const struct shim_task_type comch_producer_send_type = {
	.name = SIM_TASK_COMCH_PRODUCER_SEND,
	.size = sizeof(struct doca_comch_producer_task_send), /* and the immediate data */
	.check = send_check,
	.validate = send_check,
	.post = send_post,
	.run = send_run,
	.complete = send_complete,
	.fault_ops = &producer_send_fault_ops,
};

/* ---- the public face ---- */

doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer, const struct doca_buf *buf,
						      uint8_t *imm_data, uint32_t imm_data_len, uint32_t consumer_id,
						      struct doca_comch_producer_task_send **task)
{
	struct doca_task *base;
	doca_error_t result;

	SHIM_NEED(producer, SHIM_COMCH_PRODUCER);
	SHIM_NEED_OUT(task);
	if (imm_data_len > 0)
		SHIM_NEED_OUT(imm_data);
	result = shim_task_alloc(producer->pool, &producer->data_path.ctx, (union doca_data){ .u64 = 0 }, &base);
	if (result == DOCA_ERROR_BAD_STATE)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the context is not running");
	if (result != DOCA_SUCCESS)
		return SHIM_REFUSE(result, "all %u configured tasks are allocated; free some", producer->num_tasks);
	*task = send_of(base);
	(*task)->buf = buf;
	(*task)->imm = imm_data;
	(*task)->imm_len = imm_data_len;
	(*task)->consumer = consumer_id;
	(*task)->remote = NULL;
	return DOCA_SUCCESS;
}

static bool is_send(const struct doca_comch_producer_task_send *task)
{
	return shim_object_is(task, SHIM_TASK) && shim_object_is(task->task.ctx, SHIM_COMCH_PRODUCER);
}

static bool may_change(const char *func, const struct doca_comch_producer_task_send *task)
{
	if (is_send(task) && !task->task.in_flight)
		return true;
	sim_err("%s: the task is NULL, freed, of another kind, or in flight; nothing was changed", func);
	return false;
}

struct doca_task *doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task)
{
	return is_send(task) ? &task->task : NULL;
}

void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task, const struct doca_buf *buf)
{
	if (may_change(__func__, task))
		task->buf = buf;
}

const struct doca_buf *doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task)
{
	return is_send(task) ? task->buf : NULL;
}

void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task, uint8_t *imm_data,
						uint32_t imm_data_len)
{
	if (!may_change(__func__, task))
		return;
	task->imm = imm_data;
	task->imm_len = imm_data ? imm_data_len : 0;
}

uint8_t *doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task)
{
	return is_send(task) ? (uint8_t *)(uintptr_t)task->imm : NULL;
}

uint32_t doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task)
{
	return is_send(task) ? task->imm_len : 0;
}

void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
						   const uint32_t consumer_id)
{
	if (may_change(__func__, task))
		task->consumer = consumer_id;
}

uint32_t doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task)
{
	return is_send(task) ? task->consumer : 0;
}
