/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at a producer's send task: failed, changed, delayed, reordered, sent twice, dropped, or the end of the
 * connection. The job's delay and hang are the task decorator's (shim/common/pe/task_fault.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "producer_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/task_fault.h"

static void send_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	const struct doca_comch_producer_task_send *send = (const void *)task;

	ret_site->size = send->buf ? comch_producer_get_len(send) : send->imm_len;
	ret_site->addr = (uintptr_t)comch_producer_get_bytes(send);
}

/* Send the message a second time, if the consumer has posted one more receive. */
static void fill_duplicate(struct doca_comch_producer_task_send *send, const struct sim_recvq_message *message,
			   const uint8_t *bytes)
{
	struct comch_remote_consumer *remote = send->remote;
	int rc;

	pthread_mutex_lock(&remote->lock);
	rc = sim_recvq_reserve(&remote->queue, message->len_bytes);
	pthread_mutex_unlock(&remote->lock);
	if (rc == 0)
		comch_producer_fill(send, *message, bytes);
	else
		sim_info("a fault sends a message twice to consumer %u, which has no receive for it", remote->id);
}

/* @bytes is a copy that may change, or NULL. */
static int fill_with_fault(struct doca_comch_producer_task_send *send, const struct sim_fault_hit *hit,
			   struct sim_recvq_message *message, uint8_t *bytes)
{
	int rc;

	if (SHIM_HIT_HAS_ACT(hit, TRUNCATE))
		message->len_bytes = (uint32_t)min_u64(message->len_bytes, hit->truncate_bytes);
	if (SHIM_HIT_HAS_ACT(hit, FLIP) && bytes)
		sim_fault_hit_flip(hit, bytes, message->len_bytes);
	else if (SHIM_HIT_HAS_ACT(hit, FLIP))
		sim_fault_hit_flip(hit, (uint8_t *)(uintptr_t)message->imm, message->imm_bytes);
	if (SHIM_HIT_HAS_ACT(hit, DELAY))
		message->due_ns = add_saturating_u64(message->due_ns ? message->due_ns : shim_now_ns(), hit->delay_ns);
	if (SHIM_HIT_HAS_ACT(hit, REORDER))
		message->reorder_by = hit->reorder_by;
	rc = comch_producer_fill(send, *message, bytes);
	if (rc == 0 && SHIM_HIT_HAS_ACT(hit, DUPLICATE))
		fill_duplicate(send, message, bytes);
	return rc;
}

static int send_with_fault(struct doca_comch_producer_task_send *send, const struct sim_fault_hit *hit)
{
	struct sim_recvq_message message = comch_producer_make_message(send);
	uint8_t *copy = NULL;
	int rc;

	if (message.len_bytes > 0) {
		copy = malloc(message.len_bytes);
		if (copy)
			memcpy(copy, comch_producer_get_bytes(send), message.len_bytes);
		message.failed = !copy;
	}
	rc = fill_with_fault(send, hit, &message, copy);
	free(copy);
	return rc;
}

static int send_run_with_fault(struct sim_job *job, const struct sim_fault_hit *hit)
{
	struct doca_comch_producer_task_send *send = (struct doca_comch_producer_task_send *)shim_task_from_job(job);
	int rc = 0;

	if (SHIM_HIT_HAS_ACT(hit, FAIL))
		rc = -EIO;
	if (SHIM_HIT_HAS_ACT(hit, BREAK)) {
		sim_pipe_abort(&((struct doca_comch_producer *)send->task.ctx)->data_path.connection->pipe);
		rc = -ECONNABORTED;
	}
	if (rc < 0 || SHIM_HIT_HAS_ACT(hit, DROP))
		comch_producer_unreserve(send->remote);
	else
		rc = send_with_fault(send, hit);
	comch_producer_release(send);
	return rc;
}

const struct shim_task_fault_ops comch_producer_send_fault_ops = {
	.op = SIM_OP_COMCH_PRODUCER_SEND,
	.site = send_site,
	.run = send_run_with_fault,
};
