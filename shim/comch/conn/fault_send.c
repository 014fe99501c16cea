/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at messages on their way out, and at connections.
 *
 * What is wrong with a message it is when it is written, and how long it takes. Who writes it may not
 * come by again, so what takes time is left to who reads it: the record says
 * when it is due, or behind how many others, and delay_queue.c sees to it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "shim/comch/conn/conn_priv.h"
#include "shim/common/base/check.h"

bool comch_fault_query(const struct comch_endpoint *endpoint, enum sim_op op, uint64_t size,
		       struct sim_fault_hit *ret_hit)
{
	struct sim_fault_site site = { .op = op, .function = shim_dev_function(endpoint->ctx.dev)->id, .size = size };

	return sim_injector_may_hit(endpoint->ctx.faults, op) &&
	       shim_fault_hits(endpoint->ctx.faults, &site, endpoint->ctx.trace_id, ret_hit);
}

/* ---- messages ---- */

static void send_site(const struct doca_task *task, struct sim_fault_site *ret_site)
{
	ret_site->size = ((const struct doca_comch_task_send *)(const void *)task)->len;
}

const struct shim_task_fault_ops comch_send_fault_ops = {
	.op = SIM_OP_COMCH_SEND,
	.site = send_site,
};

static struct comch_msg_hdr make_msg_hdr(const struct comch_endpoint *endpoint, const struct sim_fault_hit *hit)
{
	struct comch_msg_hdr hdr = { .duplicate = SHIM_HIT_HAS_ACT(hit, DUPLICATE),
				     .modelled_ns = comch_timing_arrival_ns(endpoint) };

	hdr.due_ns = hdr.modelled_ns;
	if (SHIM_HIT_HAS_ACT(hit, DELAY))
		hdr.due_ns = (hdr.due_ns ? hdr.due_ns : shim_now_ns()) + hit->delay_ns;
	if (SHIM_HIT_HAS_ACT(hit, REORDER))
		hdr.reorder_by = hit->reorder_by;
	return hdr;
}

int comch_connection_write_with_hdr(struct doca_comch_connection *connection, const struct sim_fault_hit *hit,
				    const void *msg, uint32_t len)
{
	uint64_t at_ns = sim_trace_conn_stats_sample_ns(&connection->trace_stream);
	uint32_t len_sent = SHIM_HIT_HAS_ACT(hit, TRUNCATE) ? (uint32_t)min_u64(len, hit->truncate_bytes) : len;
	struct comch_msg_hdr hdr = make_msg_hdr(connection->endpoint, hit);
	uint8_t *record = malloc(sizeof(hdr) + len_sent);
	int rc;

	if (!record) {
		sim_err("no memory for a fault, or for the time that it takes: a message of %u bytes is sent as it is",
			len);
		return comch_connection_write_plain(connection, msg, len);
	}
	hdr.is_recorded = at_ns != 0;
	memcpy(record, &hdr, sizeof(hdr));
	memcpy(record + sizeof(hdr), msg, len_sent);
	if (SHIM_HIT_HAS_ACT(hit, FLIP))
		sim_fault_hit_flip(hit, record + sizeof(hdr), len_sent);
	rc = sim_ring_write(&connection->out, COMCH_MESSAGE_WITH_HDR, record, sizeof(hdr) + len_sent);
	free(record);
	if (rc == 0) {
		comch_timing_charge_send(connection->endpoint);
		comch_connection_finish_write(connection, len_sent, at_ns);
	}
	return rc;
}

/* There is room for the message, and nobody else who would take it. */
static int send_with_fault(struct doca_comch_connection *connection, const struct sim_fault_hit *hit, const void *msg,
			   uint32_t len)
{
	if (SHIM_HIT_HAS_ACT(hit, REFUSE))
		return (int)hit->refuse_status;
	if (SHIM_HIT_HAS_ACT(hit, FAIL))
		return (int)hit->status;
	if (SHIM_HIT_HAS_ACT(hit, BREAK))
		return -ECONNABORTED;
	if (!SHIM_HIT_HAS_ACT(hit, DROP))
		return comch_connection_write_with_hdr(connection, hit, msg, len);
	comch_timing_charge_send(connection->endpoint);
	return 0;
}

/* A message that there is no room for was not sent: the plan isn't asked. */
int comch_fault_send(struct doca_comch_connection *connection, const void *msg, uint32_t len)
{
	struct sim_fault_hit hit;

	if (!sim_ring_arm_space(&connection->out, sizeof(struct comch_msg_hdr) + len))
		return -EAGAIN;
	return comch_fault_query(connection->endpoint, SIM_OP_COMM_CHANNEL_SEND, len, &hit) ?
		       send_with_fault(connection, &hit, msg, len) :
		       comch_connection_write(connection, msg, len);
}

/* ---- connections ---- */

void comch_fault_break_connection(struct doca_comch_connection *connection)
{
	atomic_store(&connection->is_broken, true);
	pthread_mutex_lock(&connection->lock);
	comch_connection_notify_self(connection);
	pthread_mutex_unlock(&connection->lock);
}
