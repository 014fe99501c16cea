/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's side of the connection manager: listeners, requests, and their answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "addr_priv.h"
#include "cm_priv.h"
#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"
#include "shim/common/base/error.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/process/runtime.h"

/* ---- listeners ---- */

static struct rdma_listener *find_listener(struct doca_rdma *rdma, uint16_t port)
{
	struct rdma_listener *listener;

	SLIST_FOREACH(listener, &rdma->listeners, link)
		if (listener->port == port)
			return listener;
	return NULL;
}

static const struct shim_call_errors listen_errors = {
	.allowed = SHIM_ERROR_BIT(NO_MEMORY),
	.other = DOCA_ERROR_CONNECTION_ABORTED,
};

/* Let clients find the listener. Returns 0 or -errno. */
static int open_listener(struct doca_rdma *rdma, struct rdma_listener *listener)
{
	char name[SIM_SERVICE_NAME_SIZE];
	const struct sim_service service = { .function = shim_dev_function(rdma->ctx.dev)->id,
					     .rep = SIM_NETWORK,
					     .name = name };

	sim_service_name_port(service.function, listener->port, name);
	return sim_session_listen(shim_session(), &service, rdma_cm_notify, rdma, &listener->listener);
}

doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
	struct rdma_listener *listener;
	struct rdma_cm_plan plan;
	doca_error_t result;
	int rc;

	SHIM_NEED(rdma, SHIM_RDMA);
	if (rdma->ctx.state != DOCA_CTX_STATE_RUNNING)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "%s", shim_ctx_describe_not_running(&rdma->ctx));
	if (rdma->properties.transport == DOCA_RDMA_TRANSPORT_TYPE_DC)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "transport DC has no connections by addresses");
	if (rdma->ctx.dpa)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED,
				   "a data path on the DPA has connections by descriptors alone");
	if (!rdma->properties.on_request)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "a server needs a request callback (doca_rdma_set_connection_state_callbacks)");
	if (find_listener(rdma, port))
		return SHIM_REFUSE(DOCA_ERROR_CONNECTION_ABORTED, "the context listens to port %u already", port);
	result = rdma_cm_plan(rdma, SIM_OP_RDMA_LISTEN, &plan);
	if (result != DOCA_SUCCESS)
		return result;
	listener = shim_calloc(1, sizeof(*listener));
	if (!listener)
		return DOCA_ERROR_NO_MEMORY;
	listener->port = port;
	listener->due_ns = plan.due_ns;
	rc = plan.is_refused ? -EADDRINUSE : open_listener(rdma, listener);
	if (rc < 0) {
		free(listener);
		return SHIM_REFUSE(shim_error_for_call(rc, &listen_errors), "port %u: %s", port,
				   rc == -EADDRINUSE ? "another context of this function listens there" :
						       strerror(-rc));
	}
	SLIST_INSERT_HEAD(&rdma->listeners, listener, link);
	rdma_cm_notify_self(rdma);
	return DOCA_SUCCESS;
}

static void end_listener(struct doca_rdma *rdma, struct rdma_listener *listener)
{
	SLIST_REMOVE(&rdma->listeners, listener, rdma_listener, link);
	sim_session_unlisten(shim_session(), listener->listener);
	free(listener);
}

/* Whether clients that wait are served. */
static bool is_open(struct doca_rdma *rdma, const struct rdma_listener *listener)
{
	if (doca_likely(listener->due_ns == 0) || shim_now_ns() >= listener->due_ns)
		return true;
	shim_ctx_set_alarm(&rdma->ctx, listener->due_ns);
	return false;
}

doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
	struct rdma_listener *listener;

	SHIM_NEED(rdma, SHIM_RDMA);
	listener = find_listener(rdma, port);
	if (!listener)
		return SHIM_REFUSE(DOCA_ERROR_CONNECTION_ABORTED, "the context does not listen to port %u", port);
	end_listener(rdma, listener);
	return DOCA_SUCCESS;
}

void rdma_cm_end_listeners(struct doca_rdma *rdma)
{
	while (!SLIST_EMPTY(&rdma->listeners))
		end_listener(rdma, SLIST_FIRST(&rdma->listeners));
}

/* A request gets the address at which the server listens. Without memory for it there is no connection. */
static int give_address(struct doca_rdma_connection *connection, uint16_t port)
{
	connection->cm.listening_addr = rdma_addr_of_server(shim_dev_function(connection->rdma->ctx.dev), port);
	if (connection->cm.listening_addr)
		return 0;
	rdma_connection_destroy(connection);
	return -ENOMEM;
}

/* In virtual time, the client has to know when the program gets the request, and when it answers. */
static int reach_client(struct doca_rdma_connection *connection)
{
	int rc = shim_vclock ? sim_qp_reach(connection->qp, &connection->cm.peer_key) : 0;

	if (rc < 0)
		rdma_connection_destroy(connection);
	return rc;
}

static void tell_client(struct doca_rdma_connection *connection, enum sim_qp_answer answer)
{
	if (shim_vclock)
		sim_qp_tell_answer(connection->qp, answer);
}

/* Take the next client of the listener. Returns whether the program saw a request. */
static bool take_client(struct doca_rdma *rdma, struct rdma_listener *listener)
{
	struct doca_rdma_connection *connection;
	struct sim_handshake_msg msg;
	struct sim_channel *channel;
	struct rdma_cm_request request;
	int reason = -EPROTO;

	if (!sim_listener_next_client(listener->listener, rdma_cm_notify, rdma, &channel, &msg))
		return false;
	if (rdma_cm_read_request(&msg, &request)) {
		reason = -EBUSY;
		if (rdma_connection_create("a request for a connection", rdma, &connection) == DOCA_SUCCESS)
			reason = give_address(connection, listener->port);
	}
	if (reason == 0) {
		connection->cm.peer_key = request.key;
		connection->cm.peer_function = request.function;
		reason = reach_client(connection);
	}
	if (reason < 0) {
		sim_channel_close(shim_session(), channel, reason);
		return false;
	}
	connection->cm.channel = channel;
	rdma_cm_set_state(connection, RDMA_CM_OFFERED);
	tell_client(connection, SIM_QP_ASKED);
	rdma->properties.on_request(connection, rdma->ctx.user_data);
	return true;
}

bool rdma_cm_look_at_listeners(struct doca_rdma *rdma)
{
	struct rdma_listener *listener;

	SLIST_FOREACH(listener, &rdma->listeners, link)
		while (is_open(rdma, listener) && sim_listener_num_waiting(listener->listener) > 0)
			if (take_client(rdma, listener))
				return true;
	return false;
}

/* ---- answers ---- */

/* Answer the client's request. Returns 0 or -errno. */
static int send_answer(struct doca_rdma_connection *connection)
{
	struct sim_handshake_msg msg;
	int rc;

	tell_client(connection, SIM_QP_ANSWERED);
	rdma_cm_write_request(connection, &msg);
	rc = sim_qp_connect(connection->qp, &connection->cm.peer_key);
	if (rc == 0)
		rc = sim_channel_accept(connection->cm.channel, &msg);
	if (rc < 0)
		return rc;
	rdma_cm_delay_news(connection);
	rdma_cm_enter(connection, RDMA_CM_ESTABLISHED);
	return 0;
}

static void reject(struct doca_rdma_connection *connection)
{
	tell_client(connection, SIM_QP_ANSWERED);
	sim_channel_close(shim_session(), connection->cm.channel, -ECONNREFUSED);
	connection->cm.channel = NULL;
	rdma_cm_enter(connection, RDMA_CM_FAILED);
}

void rdma_cm_end_offer(struct doca_rdma_connection *connection)
{
	if (connection->cm.state == RDMA_CM_OFFERED)
		tell_client(connection, SIM_QP_ANSWERED);
}

/* Whether the connection is a request that waits for an answer. The reference has no other status for calls that come too late. */
static doca_error_t check_waits(const char *func, const struct doca_rdma_connection *connection)
{
	if (connection->cm.state == RDMA_CM_OFFERED && !connection->cm.is_accepted)
		return DOCA_SUCCESS;
	sim_err("%s: %s", func,
		connection->cm.state == RDMA_CM_FAILED ? "the client has gone" :
							 "the connection is no request that waits for an answer");
	return DOCA_ERROR_CONNECTION_ABORTED;
}

doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *rdma_connection, void *private_data,
					 uint8_t private_data_len)
{
	doca_error_t result;
	int rc = 0;

	SHIM_NEED(rdma_connection, SHIM_RDMA_CONNECTION);
	if (private_data_len > 0)
		SHIM_NEED_OUT(private_data);
	result = check_waits(__func__, rdma_connection);
	if (result != DOCA_SUCCESS)
		return result;
	result = rdma_cm_plan(rdma_connection->rdma, SIM_OP_RDMA_ACCEPT, &rdma_connection->cm.plan);
	if (result != DOCA_SUCCESS)
		return result;
	if (rdma_connection->cm.plan.is_refused) {
		reject(rdma_connection);
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	rdma_connection->cm.is_accepted = rdma_connection->cm.plan.due_ns > 0 ||
					  !rdma_cm_has_path(rdma_connection->rdma, rdma_connection->cm.peer_function);
	if (doca_likely(!rdma_connection->cm.is_accepted))
		rc = send_answer(rdma_connection);
	else
		rdma_cm_notify_self(rdma_connection->rdma);
	if (rc < 0)
		return SHIM_REFUSE(rc == -ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_CONNECTION_ABORTED,
				   "the client can't be answered: %s",
				   rc == -ESTALE ? "its context was stopped, or its process has ended" : strerror(-rc));
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection)
{
	doca_error_t result;

	SHIM_NEED(rdma_connection, SHIM_RDMA_CONNECTION);
	result = check_waits(__func__, rdma_connection);
	if (result == DOCA_SUCCESS)
		reject(rdma_connection);
	return result;
}

void rdma_cm_poll_offer(struct doca_rdma_connection *connection)
{
	if (sim_channel_status(connection->cm.channel) != -EINPROGRESS)
		rdma_cm_enter(connection, RDMA_CM_FAILED);
	else if (!connection->cm.is_accepted)
		return;
	else if (shim_now_ns() < connection->cm.plan.due_ns)
		shim_ctx_set_alarm(&connection->rdma->ctx, connection->cm.plan.due_ns);
	else if (rdma_cm_has_path(connection->rdma, connection->cm.peer_function) && send_answer(connection) < 0)
		rdma_cm_enter(connection, RDMA_CM_FAILED);
}
