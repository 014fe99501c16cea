/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection manager: connections by addresses.
 *
 *   client   connect_to_addr --> [requested] --accepted--> [established] --either side disconnects, or is lost--> [ended]
 *                                    '--refused, no answer in time--> [failed]
 *   server   a request --> [offered] --accept--> [established] --...--> [ended]
 *                              '--reject--> [failed]
 *
 * A request travels in a channel of the session (sim/session/channel.h), with the descriptor of the client's queue pair;
 * the answer brings that of the server's. A port is a name of a service of the network.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addr_priv.h"
#include "cm_priv.h"
#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"
#include "shim/common/base/error.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/protocol/wire.h"

/* ---- states ---- */

static void set_state(struct doca_rdma_connection *connection, enum rdma_cm_state to)
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

/* In model time a connection is established a round trip after its request. Until then time stays for requests of the same
 * moment, so that their order does not matter. */
static void delay_news(struct doca_rdma_connection *connection)
{
	uint64_t round_trip_ns = sim_qp_round_trip_ns(connection->qp);

	if (round_trip_ns > 0)
		connection->cm.news_due_ns = shim_now_ns() + round_trip_ns;
}

/* Whether the program is to be told something now. */
static bool has_news(const struct doca_rdma_connection *connection)
{
	if (!connection->cm.is_news)
		return false;
	if (connection->cm.news_due_ns == 0 || connection->cm.news_due_ns <= shim_now_ns())
		return true;
	shim_ctx_set_alarm(&connection->rdma->ctx, connection->cm.news_due_ns);
	return false;
}

/* The next step of the context looks at its listeners and connections. Any thread. */
static void notify(void *arg)
{
	struct doca_rdma *rdma = arg;

	atomic_store(&rdma->has_cm_news, true);
	shim_pe_notify_external(&rdma->ctx);
}

/* The same by the context's own thread. */
static void notify_self(struct doca_rdma *rdma)
{
	atomic_store(&rdma->has_cm_news, true);
	shim_pe_notify_self(&rdma->ctx);
}

/* ---- messages ---- */

struct request {
	struct sim_key key;
	uint32_t function; /* the client's */
};

static void write_request(struct doca_rdma_connection *connection, struct sim_handshake_msg *msg)
{
	const struct request request = { .key = *sim_qp_key(connection->qp),
					 .function = shim_dev_function(connection->rdma->ctx.dev)->id };

	memset(msg, 0, sizeof(*msg));
	memcpy(msg->body, &request, sizeof(request));
	msg->len_bytes = sizeof(request);
}

static bool read_request(struct sim_handshake_msg *msg, struct request *ret_request)
{
	bool is_valid = msg->len_bytes == sizeof(*ret_request) && msg->num_fds == 0;

	sim_handshake_msg_close(msg);
	if (is_valid)
		memcpy(ret_request, msg->body, sizeof(*ret_request));
	return is_valid;
}

/* ---- the server ---- */

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
	return sim_session_listen(shim_session(), &service, notify, rdma, &listener->listener);
}

doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
	struct rdma_listener *listener;
	struct rdma_cm_plan plan;
	doca_error_t result;
	int rc = 0;

	SHIM_NEED(rdma, SHIM_RDMA);
	if (rdma->ctx.state != DOCA_CTX_STATE_RUNNING)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "%s", shim_ctx_describe_not_running(&rdma->ctx));
	if (rdma->properties.transport == DOCA_RDMA_TRANSPORT_TYPE_DC)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "transport DC has no connections by addresses");
	if (!rdma->properties.on_request)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "a server needs a request callback (doca_rdma_set_connection_state_callbacks)");
	result = rdma_cm_plan(rdma, SIM_OP_RDMA_LISTEN, &plan);
	if (result != DOCA_SUCCESS)
		return result;
	listener = shim_calloc(1, sizeof(*listener));
	if (!listener)
		return DOCA_ERROR_NO_MEMORY;
	listener->port = port;
	listener->due_ns = plan.due_ns;
	if (plan.is_refused)
		rc = -EADDRINUSE;
	else if (doca_likely(plan.due_ns == 0))
		rc = open_listener(rdma, listener);
	if (rc < 0) {
		free(listener);
		return SHIM_REFUSE(shim_error_for_call(rc, &listen_errors), "port %u: %s", port,
				   rc == -EADDRINUSE ? "another context of this function listens there" :
						       strerror(-rc));
	}
	SLIST_INSERT_HEAD(&rdma->listeners, listener, link);
	notify_self(rdma);
	return DOCA_SUCCESS;
}

static void end_listener(struct doca_rdma *rdma, struct rdma_listener *listener)
{
	SLIST_REMOVE(&rdma->listeners, listener, rdma_listener, link);
	if (listener->listener)
		sim_session_unlisten(shim_session(), listener->listener);
	free(listener);
}

/* Returns whether clients can find the listener. */
static bool is_open(struct doca_rdma *rdma, struct rdma_listener *listener)
{
	int rc;

	if (doca_likely(listener->listener != NULL))
		return true;
	if (shim_now_ns() < listener->due_ns) {
		shim_ctx_set_alarm(&rdma->ctx, listener->due_ns);
		return false;
	}
	rc = open_listener(rdma, listener);
	if (rc < 0) {
		sim_warn("doca_rdma_start_listen_to_port: port %u: %s", listener->port, strerror(-rc));
		listener->due_ns = SIM_JOB_NEVER_DUE;
	}
	return rc == 0;
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

/* Take the next client of the listener. Returns whether the program saw a request. */
static bool take_client(struct doca_rdma *rdma, struct rdma_listener *listener)
{
	struct doca_rdma_connection *connection;
	struct sim_handshake_msg msg;
	struct sim_channel *channel;
	struct request request;
	int reason = -EPROTO;

	if (!sim_listener_next_client(listener->listener, notify, rdma, &channel, &msg))
		return false;
	if (read_request(&msg, &request)) {
		reason = -EBUSY;
		if (rdma_connection_create("a request for a connection", rdma, &connection) == DOCA_SUCCESS)
			reason = give_address(connection, listener->port);
	}
	if (reason < 0) {
		sim_channel_close(shim_session(), channel, reason);
		return false;
	}
	connection->cm.channel = channel;
	connection->cm.peer_key = request.key;
	connection->cm.peer_function = request.function;
	set_state(connection, RDMA_CM_OFFERED);
	rdma->properties.on_request(connection, rdma->ctx.user_data);
	return true;
}

/* The connection is in a state that the program has to be told of. */
static void enter(struct doca_rdma_connection *connection, enum rdma_cm_state state)
{
	set_state(connection, state);
	connection->cm.is_news = true;
	notify_self(connection->rdma);
}

/* Answer the client's request. Returns 0 or -errno. */
static int send_answer(struct doca_rdma_connection *connection)
{
	struct sim_handshake_msg msg;
	int rc;

	write_request(connection, &msg);
	rc = sim_qp_connect(connection->qp, &connection->cm.peer_key);
	if (rc == 0)
		rc = sim_channel_accept(connection->cm.channel, &msg);
	if (rc < 0)
		return rc;
	delay_news(connection);
	enter(connection, RDMA_CM_ESTABLISHED);
	return 0;
}

static void reject(struct doca_rdma_connection *connection)
{
	sim_channel_close(shim_session(), connection->cm.channel, -ECONNREFUSED);
	connection->cm.channel = NULL;
	enter(connection, RDMA_CM_FAILED);
}

static bool waits_for_answer(const struct doca_rdma_connection *connection)
{
	return connection->cm.state == RDMA_CM_OFFERED && !connection->cm.is_accepted;
}

doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *rdma_connection, void *private_data,
					 uint8_t private_data_len)
{
	doca_error_t result;
	int rc = 0;

	SHIM_NEED(rdma_connection, SHIM_RDMA_CONNECTION);
	if (private_data_len > 0)
		SHIM_NEED_OUT(private_data);
	if (!waits_for_answer(rdma_connection))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the connection is no request that waits for an answer");
	result = rdma_cm_plan(rdma_connection->rdma, SIM_OP_RDMA_ACCEPT, &rdma_connection->cm.plan);
	if (result != DOCA_SUCCESS)
		return result;
	if (rdma_connection->cm.plan.is_refused) {
		reject(rdma_connection);
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	rdma_connection->cm.is_accepted = rdma_connection->cm.plan.due_ns > 0;
	if (doca_likely(!rdma_connection->cm.is_accepted))
		rc = send_answer(rdma_connection);
	else
		notify_self(rdma_connection->rdma);
	if (rc < 0)
		return SHIM_REFUSE(rc == -ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_CONNECTION_ABORTED,
				   "the client has gone: %s", strerror(-rc));
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection)
{
	SHIM_NEED(rdma_connection, SHIM_RDMA_CONNECTION);
	if (!waits_for_answer(rdma_connection))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the connection is no request that waits for an answer");
	reject(rdma_connection);
	return DOCA_SUCCESS;
}

/* ---- the client ---- */

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

/* Send the client's request. Returns 0 or -errno. */
static int send_request(struct doca_rdma_connection *connection)
{
	struct doca_rdma *rdma = connection->rdma;
	char name[SIM_SERVICE_NAME_SIZE];
	struct sim_handshake_msg msg;

	write_request(connection, &msg);
	sim_service_name_port(connection->cm.server, connection->cm.addr->port, name);
	shim_vclock_take_turn(); /* a server gets requests in their order */
	return sim_session_connect_network(shim_session(), shim_dev_function(rdma->ctx.dev)->id, name,
					   rdma->properties.request_timeout_ms, &msg, notify, rdma,
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
	if (!rdma->properties.on_established)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "the context has no callbacks (doca_rdma_set_connection_state_callbacks)");
	server = find_function(addr);
	if (!server)
		return SHIM_REFUSE(DOCA_ERROR_CONNECTION_ABORTED, "no function has the address %s; see bfsim devs",
				   addr->text);
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
	if (doca_likely(plan.due_ns == 0 && !plan.is_refused))
		rc = send_request(connection);
	if (rc < 0) {
		rdma_connection_destroy(connection);
		return SHIM_REFUSE(shim_error_for_call(rc, &connect_errors), "%s: %s", addr->text, strerror(-rc));
	}
	set_state(connection, RDMA_CM_REQUESTED);
	notify_self(rdma);
	return DOCA_SUCCESS;
}

/* A fault refuses the request, or holds it back. Returns -EINPROGRESS or the reason of a failure. */
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
	bool is_sent = connection->cm.channel != NULL;
	int status = doca_likely(is_sent) ? sim_channel_status(connection->cm.channel) : request_later(connection);
	struct sim_handshake_msg msg;
	struct request answer;

	if (status == -EINPROGRESS && shim_now_ns() >= connection->cm.deadline_ns)
		return -ETIMEDOUT;
	if (status < 0)
		return status;
	if (!sim_channel_receive(connection->cm.channel, &msg))
		return -EINPROGRESS;
	if (!read_request(&msg, &answer))
		return -EPROTO;
	connection->cm.peer_function = answer.function;
	return sim_qp_connect(connection->qp, &answer.key);
}

/* A request that the program has accepted, and a fault holds back, or one that it has not answered yet. */
static void poll_offer(struct doca_rdma_connection *connection)
{
	if (sim_channel_status(connection->cm.channel) != -EINPROGRESS)
		enter(connection, RDMA_CM_FAILED);
	else if (!connection->cm.is_accepted)
		return;
	else if (shim_now_ns() < connection->cm.plan.due_ns)
		shim_ctx_set_alarm(&connection->rdma->ctx, connection->cm.plan.due_ns);
	else if (send_answer(connection) < 0)
		enter(connection, RDMA_CM_FAILED);
}

/* ---- progress ---- */

static void report_failure(struct doca_rdma_connection *connection, int reason)
{
	const struct doca_rdma_addr *addr = connection->cm.addr;

	if (reason == -ECONNREFUSED)
		sim_warn(
			"doca_rdma_connect_to_addr: %s, port %u: the server rejected the connection, or nobody listens there",
			addr->text, addr->port);
	else
		sim_warn("doca_rdma_connect_to_addr: %s, port %u: %s", addr->text, addr->port, strerror(-reason));
}

/* Call the program, and free a connection that has failed or ended. */
static void tell(struct doca_rdma_connection *connection)
{
	struct doca_rdma *rdma = connection->rdma;
	const struct rdma_properties *properties = &rdma->properties;
	enum rdma_cm_state state = connection->cm.state;

	connection->cm.is_news = false;
	if (state == RDMA_CM_ESTABLISHED) {
		properties->on_established(connection, connection->user_data, rdma->ctx.user_data);
		return;
	}
	if (state == RDMA_CM_FAILED)
		properties->on_failure(connection, connection->user_data, rdma->ctx.user_data);
	else
		properties->on_disconnected(connection, connection->user_data, rdma->ctx.user_data);
	connection->cm.is_told = true;
}

static void poll_connection(struct doca_rdma_connection *connection)
{
	int rc;

	switch (connection->cm.state) {
	case RDMA_CM_REQUESTED:
		rc = poll_answer(connection);
		if (rc == -EINPROGRESS) {
			shim_ctx_set_alarm(&connection->rdma->ctx, connection->cm.deadline_ns);
			return;
		}
		if (rc < 0)
			report_failure(connection, rc);
		set_state(connection, rc == 0 ? RDMA_CM_ESTABLISHED : RDMA_CM_FAILED);
		delay_news(connection);
		break;
	case RDMA_CM_OFFERED:
		poll_offer(connection);
		return;
	case RDMA_CM_ESTABLISHED:
		if (connection->cm.channel && sim_channel_status(connection->cm.channel) >= 0 &&
		    !sim_qp_peer_has_left(connection->qp))
			return;
		set_state(connection, RDMA_CM_ENDED);
		sim_qp_leave(connection->qp, -ECONNRESET);
		break;
	default:
		return;
	}
	connection->cm.is_news = true;
}

/* Whether the connection has ended, the program knows, and all its tasks are completed. */
static bool is_over(const struct doca_rdma_connection *connection)
{
	return connection->cm.is_told && sim_qp_num_works(connection->qp) == 0;
}

/* Returns whether the program saw an event. */
static bool look_at_all(struct doca_rdma *rdma)
{
	struct doca_rdma_connection *connection, *next;
	struct rdma_listener *listener;

	SLIST_FOREACH(listener, &rdma->listeners, link)
		while (is_open(rdma, listener) && sim_listener_num_waiting(listener->listener) > 0)
			if (take_client(rdma, listener))
				return true;
	for (connection = TAILQ_FIRST(&rdma->connections); connection; connection = next) {
		next = TAILQ_NEXT(connection, link);
		if (!connection->cm.is_news)
			poll_connection(connection);
		if (has_news(connection)) {
			tell(connection);
			return true;
		}
		if (is_over(connection))
			rdma_connection_end(connection);
	}
	return false;
}

bool rdma_cm_progress(struct doca_rdma *rdma)
{
	if (!atomic_load_explicit(&rdma->has_cm_news, memory_order_relaxed))
		return false;
	atomic_store(&rdma->has_cm_news, false); /* before the look: a later notification sets it again */
	if (!look_at_all(rdma))
		return false;
	atomic_store(&rdma->has_cm_news, true); /* there may be more */
	return true;
}

bool rdma_cm_has_work(struct doca_rdma *rdma)
{
	return atomic_load(&rdma->has_cm_news);
}

bool rdma_cm_holds_time(const struct doca_rdma *rdma)
{
	const struct doca_rdma_connection *connection;

	TAILQ_FOREACH(connection, &rdma->connections, link)
		if (connection->cm.state == RDMA_CM_REQUESTED && connection->cm.channel)
			return true;
	return false;
}

/* ---- the end of a connection ---- */

doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection)
{
	SHIM_NEED(rdma_connection, SHIM_RDMA_CONNECTION);
	switch (rdma_connection->cm.state) {
	case RDMA_CM_ESTABLISHED:
		rdma_connection_close_channel(rdma_connection);
		notify_self(rdma_connection->rdma);
		return DOCA_SUCCESS;
	case RDMA_CM_ENDED: /* programs call it in the disconnection callback, and after it */
		return DOCA_SUCCESS;
	case RDMA_CM_NONE: /* connected by descriptors */
		if (!rdma_connection->qp || sim_qp_get_state(rdma_connection->qp) == SIM_QP_ERROR)
			break;
		sim_qp_fail(rdma_connection->qp, -ECONNRESET);
		notify_self(rdma_connection->rdma);
		return DOCA_SUCCESS;
	default:
		break;
	}
	return SHIM_REFUSE(DOCA_ERROR_CONNECTION_ABORTED, "the connection is not established, or has ended");
}

doca_error_t doca_rdma_connection_get_addr(const struct doca_rdma_connection *rdma_connection,
					   struct doca_rdma_addr **addr)
{
	SHIM_NEED(rdma_connection, SHIM_RDMA_CONNECTION);
	SHIM_NEED_OUT(addr);
	if (!rdma_connection->cm.addr && !rdma_connection->cm.listening_addr)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "the connection has no address: it was made by descriptors, or has ended");
	*addr = rdma_connection->cm.addr ? rdma_connection->cm.addr : rdma_connection->cm.listening_addr;
	return DOCA_SUCCESS;
}
