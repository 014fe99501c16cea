/* SPDX-License-Identifier: BSD-3-Clause */
/* States of connections by addresses, and the message of their handshake. */
#include <stdatomic.h>
#include <string.h>

#include "cm_priv.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/protocol/wire.h"
#include "sim/rdma/network_path.h"

void rdma_cm_set_state(struct doca_rdma_connection *connection, enum rdma_cm_state to)
{
	static const bool edges[RDMA_CM_NUM_STATES][RDMA_CM_NUM_STATES] = {
		[RDMA_CM_NONE] = { [RDMA_CM_REQUESTED] = true, [RDMA_CM_OFFERED] = true },
		[RDMA_CM_REQUESTED] = { [RDMA_CM_ESTABLISHED] = true, [RDMA_CM_FAILED] = true },
		[RDMA_CM_OFFERED] = { [RDMA_CM_ESTABLISHED] = true, [RDMA_CM_FAILED] = true },
		[RDMA_CM_ESTABLISHED] = { [RDMA_CM_ENDED] = true },
	};

	if (edges[connection->cm.state][to])
		connection->cm.state = to;
}

void rdma_cm_enter(struct doca_rdma_connection *connection, enum rdma_cm_state state)
{
	rdma_cm_set_state(connection, state);
	connection->cm.is_news = true;
	rdma_cm_notify_self(connection->rdma);
}

void rdma_cm_delay_news(struct doca_rdma_connection *connection)
{
	uint64_t round_trip_ns = sim_qp_round_trip_ns(connection->qp);

	if (round_trip_ns > 0)
		connection->cm.news_due_ns = shim_now_ns() + round_trip_ns;
}

uint64_t rdma_cm_path_retry_ns(const struct doca_rdma *rdma, uint32_t peer_function)
{
	return sim_network_path_retry_ns(shim_session(), shim_dev_function(rdma->ctx.dev)->id, peer_function);
}

bool rdma_cm_has_path(struct doca_rdma *rdma, uint32_t peer_function)
{
	uint64_t retry_ns = rdma_cm_path_retry_ns(rdma, peer_function);

	if (doca_unlikely(retry_ns > 0))
		shim_ctx_set_alarm(&rdma->ctx, retry_ns);
	return retry_ns == 0;
}

void rdma_cm_notify(void *arg)
{
	struct doca_rdma *rdma = arg;

	atomic_store(&rdma->has_cm_news, true);
	shim_pe_notify_external(&rdma->ctx);
}

void rdma_cm_notify_self(struct doca_rdma *rdma)
{
	atomic_store(&rdma->has_cm_news, true);
	shim_pe_notify_self(&rdma->ctx);
}

void rdma_cm_write_request(struct doca_rdma_connection *connection, struct sim_handshake_msg *msg)
{
	const struct rdma_cm_request request = { .key = *sim_qp_key(connection->qp),
						 .function = shim_dev_function(connection->rdma->ctx.dev)->id };

	memset(msg, 0, sizeof(*msg));
	memcpy(msg->body, &request, sizeof(request));
	msg->len_bytes = sizeof(request);
}

bool rdma_cm_read_request(struct sim_handshake_msg *msg, struct rdma_cm_request *ret_request)
{
	bool is_valid = msg->len_bytes == sizeof(*ret_request) && msg->num_fds == 0;

	sim_handshake_msg_close(msg);
	if (is_valid)
		memcpy(ret_request, msg->body, sizeof(*ret_request));
	return is_valid;
}
