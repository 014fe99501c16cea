/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's side of the connection manager: requests, and the answers to them. */
#include <errno.h>
#include <string.h>

#include "addr_priv.h"
#include "cm_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/base/error.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/process/runtime.h"

static const struct pcie_function *find_function(const struct doca_rdma_addr *addr)
{
	const struct pcie_topology *topology = sim_session_topology(shim_session());

	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (rdma_addr_is_of(addr, &topology->functions[i]))
			return &topology->functions[i];
	return NULL;
}

static const struct shim_call_errors connect_errors = {
	.other = DOCA_ERROR_CONNECTION_ABORTED,
};

static bool is_reachable(const struct doca_rdma *rdma, const struct pcie_function *server)
{
	struct pcie_net_path path;

	return pcie_topology_find_path(sim_session_topology(shim_session()), shim_dev_function(rdma->ctx.dev), server,
				       &path) == 0;
}

/* Send the client's request. Returns 0 or -errno. */
static int send_request(struct doca_rdma_connection *connection)
{
	struct doca_rdma *rdma = connection->rdma;
	char name[SIM_SERVICE_NAME_SIZE];
	struct sim_handshake_msg msg;

	rdma_cm_write_request(connection, &msg);
	sim_service_name_port(connection->cm.server, connection->cm.addr->port, name);
	shim_vclock_take_turn(); /* a server gets requests in their order */
	return sim_session_connect_network(shim_session(), shim_dev_function(rdma->ctx.dev)->id, name,
					   rdma->properties.request_timeout_ms, &msg, rdma_cm_notify, rdma,
					   &connection->cm.channel);
}

doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma, struct doca_rdma_addr *addr,
				       union doca_data connection_user_data)
{
	const struct pcie_function *server;
	struct doca_rdma_connection *connection;
	struct rdma_cm_plan plan;
	doca_error_t result;
	int rc = 0;

	SHIM_NEED(rdma, SHIM_RDMA);
	SHIM_NEED(addr, SHIM_RDMA_ADDR);
	if (rdma->properties.transport == DOCA_RDMA_TRANSPORT_TYPE_DC)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "transport DC has no connections by addresses");
	if (rdma->ctx.dpa)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED,
				   "a data path on the DPA has connections by descriptors alone");
	if (!rdma->properties.on_established)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "the context has no callbacks (doca_rdma_set_connection_state_callbacks)");
	server = find_function(addr);
	if (!server)
		return SHIM_REFUSE(DOCA_ERROR_CONNECTION_ABORTED, "no function has the address %s; see bfsim devs",
				   addr->text);
	if (!is_reachable(rdma, server))
		return SHIM_REFUSE(DOCA_ERROR_CONNECTION_ABORTED,
				   "%s: the network has no path to it; see bfsim devs --topology", addr->text);
	result = rdma_connection_check_room(__func__, rdma);
	if (result == DOCA_SUCCESS)
		result = rdma_cm_plan(rdma, SIM_OP_RDMA_CONNECT, &plan);
	if (result == DOCA_SUCCESS)
		result = rdma_connection_create(__func__, rdma, &connection);
	if (result != DOCA_SUCCESS)
		return result;
	connection->user_data = connection_user_data;
	connection->cm.deadline_ns = shim_now_ns() + rdma->properties.request_timeout_ms * UINT64_C(1000000);
	connection->cm.plan = plan;
	connection->cm.server = server->id;
	connection->cm.addr = addr;
	addr->num_users++;
	if (doca_likely(plan.due_ns == 0 && !plan.is_refused && rdma_cm_has_path(rdma, server->id)))
		rc = send_request(connection);
	if (rc < 0) {
		rdma_connection_destroy(connection);
		return SHIM_REFUSE(shim_error_for_call(rc, &connect_errors), "%s: %s", addr->text, strerror(-rc));
	}
	rdma_cm_set_state(connection, RDMA_CM_REQUESTED);
	rdma_cm_notify_self(rdma);
	return DOCA_SUCCESS;
}

/* A fault refuses the request, or has held it back. Returns -EINPROGRESS or the reason of a failure. */
static int request_later(struct doca_rdma_connection *connection)
{
	int rc;

	if (connection->cm.plan.is_refused)
		return -ECONNREFUSED;
	if (shim_now_ns() < connection->cm.plan.due_ns) {
		shim_ctx_set_alarm(&connection->rdma->ctx, connection->cm.plan.due_ns);
		return -EINPROGRESS;
	}
	rc = send_request(connection);
	return rc < 0 ? rc : -EINPROGRESS;
}

/* The answer to a request. Returns 0 (established), -EINPROGRESS or the reason of a failure. */
static int poll_answer(struct doca_rdma_connection *connection)
{
	bool has_path = rdma_cm_has_path(connection->rdma, connection->cm.server);
	int status = -EINPROGRESS;
	struct sim_handshake_msg msg;
	struct rdma_cm_request answer;

	if (doca_likely(has_path))
		status =
			connection->cm.channel ? sim_channel_status(connection->cm.channel) : request_later(connection);
	if (status == -EINPROGRESS && shim_now_ns() >= connection->cm.deadline_ns)
		return has_path ? -ETIMEDOUT : -ENETDOWN;
	if (status < 0)
		return status;
	if (!sim_channel_receive(connection->cm.channel, &msg))
		return -EINPROGRESS;
	if (!rdma_cm_read_request(&msg, &answer))
		return -EPROTO;
	connection->cm.peer_function = answer.function;
	return sim_qp_connect(connection->qp, &answer.key);
}

static void report_failure(struct doca_rdma_connection *connection, int reason)
{
	const struct doca_rdma_addr *addr = connection->cm.addr;

	if (reason == -ECONNREFUSED)
		sim_warn(
			"doca_rdma_connect_to_addr: %s, port %u: the server rejected the connection, or nobody listens there",
			addr->text, addr->port);
	else
		sim_warn("doca_rdma_connect_to_addr: %s, port %u: %s", addr->text, addr->port,
			 reason == -ENETDOWN ? "no answer in time: a network link on the way is down" :
					       strerror(-reason));
}

bool rdma_cm_poll_request(struct doca_rdma_connection *connection)
{
	int rc = poll_answer(connection);

	if (rc == -EINPROGRESS) {
		shim_ctx_set_alarm(&connection->rdma->ctx, connection->cm.deadline_ns);
		return false;
	}
	if (rc < 0)
		report_failure(connection, rc);
	rdma_cm_set_state(connection, rc == 0 ? RDMA_CM_ESTABLISHED : RDMA_CM_FAILED);
	rdma_cm_delay_news(connection);
	return true;
}
