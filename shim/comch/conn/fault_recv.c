/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at messages that are received: delayed, reordered, delivered twice, changed, failed, dropped, or the end of the
 * connection. */
#include <errno.h>

#include "fault_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/base/check.h"

/* Add this end's fault to what the sender wrote into the header. */
static void merge_fault(struct comch_msg_hdr *hdr, const struct sim_fault_hit *hit)
{
	if (SHIM_HIT_HAS_ACT(hit, DELAY))
		hdr->due_ns = add_saturating_u64(hdr->due_ns ? hdr->due_ns : shim_now_ns(), hit->delay_ns);
	if (SHIM_HIT_HAS_ACT(hit, REORDER) && hit->reorder_by > hdr->reorder_by)
		hdr->reorder_by = hit->reorder_by;
	hdr->duplicate |= SHIM_HIT_HAS_ACT(hit, DUPLICATE);
}

int comch_fault_recv(struct doca_comch_connection *connection, struct comch_msg_hdr *hdr, uint8_t *bytes, uint32_t len)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	enum sim_op op = endpoint->is_comm_channel ? SIM_OP_COMM_CHANNEL_RECV : SIM_OP_COMCH_RECV;
	struct sim_fault_hit hit = { 0 };
	uint32_t wire_len = len;

	if (comch_fault_query(endpoint, op, len, &hit))
		merge_fault(hdr, &hit);
	if (SHIM_HIT_HAS_ACT(&hit, BREAK) || SHIM_HIT_HAS_ACT(&hit, FAIL) || SHIM_HIT_HAS_ACT(&hit, DROP))
		sim_trace_conn_stats_received(&connection->trace_stream, connection->in.count, len, hdr->is_recorded);
	if (SHIM_HIT_HAS_ACT(&hit, BREAK))
		return -ECONNABORTED;
	if (SHIM_HIT_HAS_ACT(&hit, FAIL)) {
		endpoint->injected_status = shim_fault_error(hit.status);
		return 1;
	}
	if (SHIM_HIT_HAS_ACT(&hit, DROP))
		return 0;
	if (SHIM_HIT_HAS_ACT(&hit, TRUNCATE))
		len = (uint32_t)min_u64(len, hit.truncate_bytes);
	if (SHIM_HIT_HAS_ACT(&hit, FLIP))
		sim_fault_hit_flip(&hit, bytes, len);
	comch_delay_queue_push(connection, hdr, bytes, len, wire_len);
	return 0;
}
