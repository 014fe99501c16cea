/* SPDX-License-Identifier: BSD-3-Clause */
/* A producer's message: reserve a buffer that the consumer has posted, and fill it; also under a fault. */
#include <errno.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "producer_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/mem/buf_priv.h"
#include "shim/common/pe/task_fault.h"
#include "shim/common/pe/task_trace.h"
#include "shim/common/process/runtime.h"
#include "sim/fabric/remote.h"
#include "sim/shm/wake.h"

/* The length of the task's buffer; 0 = it has none. */
static uint32_t get_len(const struct doca_comch_producer_task_send *send)
{
	return send->buf ? (uint32_t)send->buf->data_len : 0;
}

/* The bytes of the task's buffer; NULL = it has none. */
static const uint8_t *get_bytes(const struct doca_comch_producer_task_send *send)
{
	return send->buf ? (const uint8_t *)(uintptr_t)shim_buf_cpu_addr(send->buf, send->buf->data) : NULL;
}

static struct doca_comch_producer *producer_of(const struct doca_comch_producer_task_send *send)
{
	return (struct doca_comch_producer *)send->task.ctx;
}

const char *comch_producer_describe_invalid(const struct doca_comch_producer_task_send *send)
{
	const struct doca_dev *dev = send->task.ctx->dev;
	const struct doca_buf *buf = send->buf;

	if (!buf)
		return send->imm_len > 0 ? NULL : "it has neither a buffer nor immediate data";
	if (producer_of(send)->data_path.connection->msgq)
		return "it has a buffer, and a MsgQ sends immediate data only";
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

/* ---- submit ---- */

int comch_producer_reserve(struct sim_remote_consumer *remote, struct doca_comch_producer_task_send *send)
{
	uint32_t len = get_len(send);
	int rc = sim_remote_consumer_reserve(remote, len, send->imm_len);

	if (rc < 0)
		return rc;
	/* If the import fails for good, the task fails when it runs. */
	if (remote->wake_fd >= 0 && /* else it is a DPA's, without buffers */
	    (len > SIM_RECVQ_INLINE_BYTES || sim_session_has_forced_path(shim_session())) &&
	    comch_remote_consumer_import(remote, shim_dev_function(send->task.ctx->dev)->id) == -EAGAIN) {
		sim_remote_consumer_unreserve(remote);
		return -EAGAIN;
	}
	if (send->imm_len > 0)
		memcpy(send->posted_imm, send->imm, send->imm_len);
	return 0;
}

void comch_producer_release(struct doca_comch_producer_task_send *send)
{
	sim_remote_consumer_put(send->remote);
	send->remote = NULL;
}

/* ---- run ---- */

/* The task's message. It is marked as failed if the user changed the task since the submit. */
static struct sim_recvq_message make_message(const struct doca_comch_producer_task_send *send)
{
	const char *reason = comch_producer_describe_invalid(send);
	uint64_t one_way_ns = producer_of(send)->one_way_ns;
	struct sim_recvq_message message = { .producer = producer_of(send)->data_path.id,
					     .failed = reason != NULL,
					     .imm = send->posted_imm,
					     .imm_bytes = send->imm_len };

	if (reason)
		sim_err("Comch producer's send task, changed while in flight: %s", reason);
	else
		message.len_bytes = get_len(send);
	if (one_way_ns > 0)
		message.due_ns = add_saturating_u64(shim_now_ns(), one_way_ns);
	return message;
}

/* @hit may be NULL. */
static int fill(struct doca_comch_producer_task_send *send, const struct sim_fault_hit *hit)
{
	struct sim_remote_send out = { .pipe = &producer_of(send)->data_path.connection->pipe,
				       .remote = send->remote,
				       .vclock = shim_vclock,
				       .forces_path = sim_session_has_forced_path(shim_session()),
				       .is_recorded = send->task.timed,
				       .object = send->task.ctx->trace_id };
	struct sim_recvq_message message = make_message(send);
	const uint8_t *bytes = message.failed ? NULL : get_bytes(send);
	int rc;

	if (out.is_recorded)
		out.task_ns = shim_task_trace_submitted_ns(&send->task);
	if (doca_likely(!hit)) {
		rc = sim_remote_send_fill(&out, message, bytes);
	} else {
		out.clock = sim_session_clock(shim_session());
		rc = sim_remote_send_fill_with_fault(&out, hit, message, bytes);
	}
	if (rc == 0)
		send->task.bytes = out.sent_bytes;
	return rc;
}

int comch_producer_run(struct sim_job *job)
{
	struct doca_comch_producer_task_send *send = (struct doca_comch_producer_task_send *)shim_task_from_job(job);
	int rc = fill(send, NULL);

	comch_producer_release(send);
	return rc;
}

/* ---- under a fault; the job's delay and hang are the task decorator's (shim/common/pe/task_fault.h) ---- */

static void send_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	const struct doca_comch_producer_task_send *send = (const void *)task;

	ret_site->size = send->buf ? get_len(send) : send->imm_len;
	ret_site->addr = (uintptr_t)get_bytes(send);
}

static void break_connection(struct doca_comch_connection *connection)
{
	if (connection->msgq)
		sim_remote_consumers_abort(&connection->pipe);
	else
		sim_pipe_abort(&connection->pipe);
}

static int run_with_fault(struct sim_job *job, const struct sim_fault_hit *hit)
{
	struct doca_comch_producer_task_send *send = (struct doca_comch_producer_task_send *)shim_task_from_job(job);
	int rc = 0;

	if (SIM_FAULT_HAS_ACT(hit, FAIL))
		rc = -EIO;
	if (SIM_FAULT_HAS_ACT(hit, BREAK)) {
		break_connection(producer_of(send)->data_path.connection);
		rc = -ECONNABORTED;
	}
	if (rc < 0 || SIM_FAULT_HAS_ACT(hit, DROP))
		sim_remote_consumer_unreserve(send->remote);
	else
		rc = fill(send, hit);
	comch_producer_release(send);
	return rc;
}

static bool send_has_turn(const struct doca_task *task)
{
	return shim_pe_vclock_may_retry(task->ctx->pe) == SIM_VCLOCK_RETRY;
}

const struct shim_task_fault_ops comch_producer_send_fault_ops = {
	.op = SIM_OP_COMCH_PRODUCER_SEND,
	.site = send_site,
	.has_turn = send_has_turn,
	.run = run_with_fault,
};
