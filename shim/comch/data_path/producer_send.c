/* SPDX-License-Identifier: BSD-3-Clause */
/* A producer's message: reserve a buffer that the consumer has posted, claim it, and fill it. */
#include <errno.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "producer_priv.h"
#include "shim/common/pe/task_trace.h"
#include "shim/common/base/check.h"
#include "shim/common/mem/buf_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/shm/wake.h"

uint32_t comch_producer_get_len(const struct doca_comch_producer_task_send *send)
{
	return send->buf ? (uint32_t)send->buf->data_len : 0;
}

const char *comch_producer_describe_invalid(const struct doca_comch_producer_task_send *send)
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
	if (!shim_buf_has_data_in_map(buf))
		return "its buffer's data is outside of its memory map's range (doca_buf_set_data)";
	if (buf->data_len > shim_dev_function(dev)->caps.comch_max_buf_bytes)
		return "it is larger than doca_comch_producer_cap_get_max_buf_size()";
	return NULL;
}

/* ---- reserving ---- */

/* Whether the message goes through the consumer's slot. A path that the user forces carries every message. */
static bool is_short(uint32_t len)
{
	return len <= SIM_RECVQ_INLINE_BYTES && !sim_session_has_forced_path(shim_session());
}

int comch_producer_reserve(struct comch_remote_consumer *remote, struct doca_comch_producer_task_send *send)
{
	uint32_t len = comch_producer_get_len(send);
	int rc;

	if (send->imm_len > remote->queue.max_imm_bytes)
		return -E2BIG;
	pthread_mutex_lock(&remote->lock);
	rc = remote->expired ? -ENOTCONN : sim_recvq_reserve(&remote->queue, len);
	/* If the import fails for good, the task fails when it runs. */
	if (rc == 0 && !is_short(len) && comch_remote_consumer_import(remote) == -EAGAIN) {
		sim_recvq_unreserve(&remote->queue);
		rc = -EAGAIN;
	}
	pthread_mutex_unlock(&remote->lock);
	if (rc == 0 && send->imm_len > 0)
		memcpy(send->posted_imm, send->imm, send->imm_len);
	return rc;
}

void comch_producer_unreserve(struct comch_remote_consumer *remote)
{
	pthread_mutex_lock(&remote->lock);
	sim_recvq_unreserve(&remote->queue);
	pthread_mutex_unlock(&remote->lock);
}

void comch_producer_release(struct doca_comch_producer_task_send *send)
{
	comch_remote_consumer_put(send->remote);
	send->remote = NULL;
}

/* ---- filling ---- */

static void claim_slot(struct comch_remote_consumer *remote, uint64_t *ret_slot, struct sim_recvq_desc *ret_desc)
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

/* Record the message before it is visible: its receiver may be quick. */
static void trace_sent(struct doca_comch_producer_task_send *send, struct sim_recvq_message *message, uint64_t slot)
{
	send->task.bytes = message->len_bytes + message->imm_bytes;
	message->is_recorded = send->task.timed;
	if (message->is_recorded)
		sim_trace_message(SIM_TRACE_SENT, send->task.ctx->trace_id, send->remote->stream_id, slot + 1,
				  send->task.bytes, sim_trace_now_ns(), shim_task_trace_submitted_ns(&send->task));
}

static struct doca_comch_connection *connection_of(const struct doca_comch_producer_task_send *send)
{
	return ((const struct doca_comch_producer *)send->task.ctx)->data_path.connection;
}

int comch_producer_fill(struct doca_comch_producer_task_send *send, struct sim_recvq_message message,
			const uint8_t *bytes)
{
	struct comch_remote_consumer *remote = send->remote;
	struct sim_recvq_desc desc;
	uint64_t slot;
	int rc = 0;

	claim_slot(remote, &slot, &desc);
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
	if (sim_recvq_fill(&remote->queue, slot, &message) && sim_wake_send(remote->wake_fd) < 0)
		sim_pipe_request_wake_peer(&connection_of(send)->pipe);
	shim_message_sent(remote->engine, message.due_ns);
	return rc;
}

const uint8_t *comch_producer_get_bytes(const struct doca_comch_producer_task_send *send)
{
	return send->buf ? (const uint8_t *)(uintptr_t)shim_buf_cpu_addr(send->buf, send->buf->data) : NULL;
}

struct sim_recvq_message comch_producer_make_message(const struct doca_comch_producer_task_send *send)
{
	const char *reason = comch_producer_describe_invalid(send);
	uint64_t one_way_ns = ((const struct doca_comch_producer *)send->task.ctx)->one_way_ns;
	struct sim_recvq_message message = { .producer = ((struct doca_comch_producer *)send->task.ctx)->data_path.id,
					     .imm = send->posted_imm,
					     .imm_bytes = send->imm_len };

	if (reason)
		sim_err("Comch producer's send task, changed while in flight: %s", reason);
	else
		message.len_bytes = comch_producer_get_len(send);
	if (one_way_ns > 0)
		message.due_ns = add_saturating_u64(shim_now_ns(), one_way_ns);
	message.failed = reason != NULL;
	return message;
}
