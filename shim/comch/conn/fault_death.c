/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at the death of the process at the other end: this end learns of it late. Until then the connection looks alive:
 * messages that the ring has room for are sent, and the others wait. */
#include "fault_priv.h"
#include "pcie_model/arith.h"

static uint64_t plan_notice(const struct comch_endpoint *endpoint)
{
	uint64_t now_ns = shim_now_ns();
	struct sim_fault_hit hit = { 0 };

	if (!comch_fault_query(endpoint, SIM_OP_COMCH_PEER_DEATH, 0, &hit))
		return now_ns;
	return add_saturating_u64(now_ns, hit.delay_ns);
}

bool comch_fault_hides_death(struct doca_comch_connection *connection)
{
	struct comch_endpoint *endpoint = connection->endpoint;

	if (endpoint->is_comm_channel || connection->state != COMCH_OPEN)
		return false;
	if (!connection->is_dead) {
		connection->is_dead = true;
		connection->notice_ns = plan_notice(endpoint);
	}
	if (shim_now_ns() >= connection->notice_ns)
		return false;
	shim_ctx_set_alarm(&endpoint->ctx, connection->notice_ns);
	return true;
}
