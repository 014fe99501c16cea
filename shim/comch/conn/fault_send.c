/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at messages that are sent: refused, failed, changed, delayed, reordered, sent twice, dropped, or the end of
 * the connection. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/base/check.h"

/* The model's header, with what the fault adds. */
static struct comch_msg_hdr make_hdr(const struct comch_endpoint *endpoint, const struct sim_fault_hit *hit)
{
	struct comch_msg_hdr hdr = comch_timing_hdr(endpoint);

	hdr.duplicate = SHIM_HIT_HAS_ACT(hit, DUPLICATE);
	if (SHIM_HIT_HAS_ACT(hit, DELAY))
		hdr.due_ns = add_saturating_u64(hdr.due_ns ? hdr.due_ns : shim_now_ns(), hit->delay_ns);
	if (SHIM_HIT_HAS_ACT(hit, REORDER))
		hdr.reorder_by = hit->reorder_by;
	return hdr;
}

/* Returns 0 (written, or dropped), -EAGAIN or -EPROTO. */
static int write_with_fault(struct doca_comch_connection *connection, const struct sim_fault_hit *hit, const void *msg,
			    uint32_t len)
{
	struct comch_msg_hdr hdr = make_hdr(connection->endpoint, hit);
	void *copy = NULL;
	int rc;

	if (SHIM_HIT_HAS_ACT(hit, DROP)) {
		comch_timing_charge_send(connection->endpoint);
		return 0;
	}
	if (SHIM_HIT_HAS_ACT(hit, TRUNCATE))
		len = (uint32_t)min_u64(len, hit->truncate_bytes);
	if (SHIM_HIT_HAS_ACT(hit, FLIP)) {
		copy = malloc(len + 1);
		if (copy)
			sim_fault_hit_flip(hit, memcpy(copy, msg, len), len);
		else
			sim_err("no memory to flip bits of a Comch message: %u bytes are sent as they are", len);
	}
	rc = comch_timing_write(connection, &hdr, copy ? copy : msg, len);
	free(copy);
	return rc;
}

/* ---- the send task ---- */

static void send_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	ret_site->size = ((const struct doca_comch_task_send *)(const void *)task)->len;
}

const struct shim_task_fault_ops comch_send_fault_ops = {
	.op = SIM_OP_COMCH_SEND,
	.site = send_site,
};

int comch_fault_send_write(struct doca_comch_task_send *send)
{
	const struct sim_fault_hit *hit = send->task.fault_hit;
	int rc;

	if (SHIM_HIT_HAS_ACT(hit, BREAK))
		return -ECONNABORTED;
	send->result = DOCA_SUCCESS;
	send->due_ns = 0;
	if (SHIM_HIT_HAS_ACT(hit, FAIL)) {
		send->result = shim_fault_error(hit->status);
	} else if (!SHIM_HIT_HAS_ACT(hit, HANG)) {
		rc = write_with_fault(send->connection, hit, comch_send_msg(send), send->len);
		if (rc < 0)
			return rc;
		comch_send_count(send);
		send->due_ns = comch_timing_send_end_ns(send->connection->endpoint);
	}
	if (SHIM_HIT_HAS_ACT(hit, HANG))
		send->due_ns = SIM_JOB_NEVER_DUE;
	else if (SHIM_HIT_HAS_ACT(hit, DELAY))
		send->due_ns = add_saturating_u64(send->due_ns ? send->due_ns : shim_now_ns(), hit->delay_ns);
	return 0;
}

/* ---- Comm Channel's sendto ---- */

int comch_fault_write_slow(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct sim_fault_hit hit;

	/* A message without room is not sent, so the plan does not count it. */
	if (!comch_connection_arm_space(connection, len))
		return -EAGAIN;
	if (!comch_fault_query(endpoint, SIM_OP_COMM_CHANNEL_SEND, len, &hit))
		return comch_connection_write(connection, msg, len);
	if (SHIM_HIT_HAS_ACT(&hit, REFUSE) || SHIM_HIT_HAS_ACT(&hit, FAIL)) {
		endpoint->injected_status =
			shim_fault_error(SHIM_HIT_HAS_ACT(&hit, REFUSE) ? hit.refuse_status : hit.status);
		return -ECANCELED;
	}
	return SHIM_HIT_HAS_ACT(&hit, BREAK) ? -ECONNABORTED : write_with_fault(connection, &hit, msg, len);
}
