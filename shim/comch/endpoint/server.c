/* SPDX-License-Identifier: BSD-3-Clause */
/* The server: accepts clients of one function under one name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comm_channel_hooks.h"
#include "endpoint_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/base/error.h"
#include "shim/common/process/runtime.h"
#include "sim/protocol/wire.h"

struct doca_comch_server {
	struct comch_endpoint endpoint; /* first */
	struct doca_dev_rep *rep;
	const struct pcie_function *represented;
	struct sim_listener *listener;
	doca_comch_event_connection_status_changed_cb_t connected, disconnected;
};

static struct doca_comch_server *server_of(struct comch_endpoint *endpoint)
{
	return (struct doca_comch_server *)endpoint;
}

static void call_status_cb(struct comch_endpoint *endpoint, doca_comch_event_connection_status_changed_cb_t cb,
			   struct doca_comch_connection *connection, bool successful)
{
	/* An event carries nothing of its own: any address but NULL serves. */
	cb((struct doca_comch_event_connection_status_changed *)endpoint, connection, successful);
}

/* ---- accepting clients ---- */

/* Accept the client, or return why not. */
static int accept_client(struct doca_comch_connection *connection, struct sim_handshake_msg *connect_msg)
{
	struct comch_endpoint *endpoint = connection->endpoint;
	struct sim_handshake_msg accept_msg;
	int rc = 0;

	if (endpoint->group.num_pipes > shim_dev_function(endpoint->ctx.dev)->caps.comch_max_clients) {
		sim_err("Comch server \"%s\": refuses a client: %u are connected, the device's limit", endpoint->name,
			endpoint->group.num_pipes - 1);
		sim_handshake_msg_close(connect_msg);
		return -EBUSY;
	}
	rc = comch_connection_handshake(connection, connect_msg);
	if (rc < 0)
		return rc == -EPROTO ? rc : -ECONNREFUSED;
	rc = comch_connection_make_handshake(connection, &accept_msg);
	if (rc < 0)
		return -EBUSY;
	rc = sim_channel_accept(connection->channel, &accept_msg);
	sim_pipe_close_in_fd(&connection->pipe);
	return rc;
}

/* There is no memory for a connection: refuse the next client, which may try again. */
static void reject_client(struct doca_comch_server *server, int rc)
{
	struct comch_endpoint *endpoint = &server->endpoint;
	struct sim_channel *channel;
	struct sim_handshake_msg connect_msg;

	if (!sim_listener_next_client(server->listener, NULL, NULL, &channel, &connect_msg))
		return;
	sim_err("Comch server \"%s\": refuses a client: no memory or descriptors for another connection: %s",
		endpoint->name, strerror(-rc));
	sim_handshake_msg_close(&connect_msg);
	sim_channel_close(shim_session(), channel, -EBUSY);
	sim_doorbell_requeue(&endpoint->group.doorbells, SIM_POLL_GROUP_OWN_SLOT);
}

/* The daemon is gone: no further client comes. The context stops after the last connection has ended, so that its user
 * gets each connection's event. Returns whether it stopped. */
static bool stop_without_daemon(struct doca_comch_server *server)
{
	struct comch_endpoint *endpoint = &server->endpoint;

	if (endpoint->group.num_pipes > 0)
		return false; /* recheck_listener() comes back */
	sim_err("Comch server \"%s\": the card's daemon is gone, so no client can come: the context stops",
		endpoint->name);
	shim_ctx_begin_stop(&endpoint->ctx);
	return true;
}

/* Call after a connection was closed. */
static void recheck_listener(struct doca_comch_server *server)
{
	if (server->listener && sim_listener_status(server->listener) < 0)
		sim_doorbell_requeue(&server->endpoint.group.doorbells, SIM_POLL_GROUP_OWN_SLOT);
}

/* Accept the next client. */
static bool server_accept_next(struct comch_endpoint *endpoint, struct doca_comch_connection *unused)
{
	struct doca_comch_server *server = server_of(endpoint);
	struct doca_comch_connection *connection;
	struct sim_handshake_msg connect_msg;
	int rc;

	(void)unused;
	if (comch_is_recv_paused(endpoint)) {
		endpoint->compat->has_pending_recv |=
			sim_listener_num_waiting(server->listener) > 0 || sim_listener_status(server->listener) < 0;
		return false;
	}
	if (sim_listener_status(server->listener) < 0)
		return stop_without_daemon(server);
	if (sim_listener_num_waiting(server->listener) == 0)
		return false; /* any peer can ring this slot */
	rc = comch_connection_new(endpoint, &connection);
	if (rc < 0) {
		reject_client(server, rc);
		return false;
	}
	if (!sim_listener_next_client(server->listener, comch_connection_on_channel_event, connection,
				      &connection->channel, &connect_msg)) {
		comch_connection_close(connection, -ECONNREFUSED);
		comch_connection_release(connection);
		return false;
	}
	sim_doorbell_requeue(&endpoint->group.doorbells, SIM_POLL_GROUP_OWN_SLOT); /* there may be more */
	comch_connection_schedule_poll(connection);
	rc = accept_client(connection, &connect_msg);
	if (rc < 0)
		comch_connection_close(connection, rc);
	call_status_cb(endpoint, server->connected, connection, rc == 0);
	if (rc < 0)
		comch_connection_release(connection);
	return true;
}

/* ---- disconnecting clients ---- */

static void server_on_disconnect(struct comch_endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = server_of(endpoint);

	/* Consumers and producers may still hold it. The endpoint releases it after the callback. */
	comch_connection_close(connection, -ECONNRESET);
	recheck_listener(server);
	call_status_cb(endpoint, server->disconnected, connection, true);
	comch_connection_release(connection);
}

static const struct comch_endpoint_ops server_endpoint_ops = {
	.role_name = "server",
	.progress_connect = server_accept_next,
	.on_disconnect = server_on_disconnect,
};

doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server,
					  struct doca_comch_connection *connection)
{
	SHIM_NEED(comch_server, SHIM_COMCH_SERVER);
	SHIM_NEED(connection, SHIM_COMCH_CONNECTION);
	if (connection->endpoint != &comch_server->endpoint || connection->pipe.state == SIM_PIPE_CLOSED)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "the connection is %s",
				   connection->pipe.state == SIM_PIPE_CLOSED ? "closed already" : "another server's");
	if (connection->pipe.state == SIM_PIPE_OPEN && comch_connection_is_busy(connection))
		return SHIM_REFUSE(DOCA_ERROR_IN_USE, "consumers or producers on it are started; stop them first");
	shim_vclock_begin_call();
	comch_connection_close(connection, -ECONNRESET);
	comch_connection_release(connection);
	recheck_listener(comch_server);
	return DOCA_SUCCESS;
}

/* ---- the context ---- */

/* In the session's thread. As in comch_connection_on_channel_event(), the engine is woken whether or not it is marked
 * as asleep: a peer may have cleared that mark, and be stopped before it wakes the engine. */
static void on_connect_request(void *arg)
{
	struct doca_comch_server *server = arg;

	sim_doorbell_ring_own(&server->endpoint.group.doorbells, SIM_POLL_GROUP_OWN_SLOT);
	shim_pe_notify_external(&server->endpoint.ctx);
	comch_endpoint_signal_status(&server->endpoint);
}

static const struct shim_call_errors listen_errors = {
	.allowed = SHIM_ERROR_BIT(INVALID_VALUE),
	.other = DOCA_ERROR_DRIVER,
	.overrides = { { EADDRINUSE, DOCA_ERROR_IN_USE },
		       { ENODEV, DOCA_ERROR_INITIALIZATION },
		       { ENOMEM, DOCA_ERROR_INITIALIZATION } },
};

/* The server's device does not hold the representor. */
static void report_wrong_device(const struct doca_comch_server *server)
{
	const struct pcie_function *function = shim_dev_function(server->endpoint.ctx.dev);
	const struct pcie_function *represented = server->represented;
	const struct pcie_function *holder =
		pcie_topology_find_rep_holder(sim_session_topology(shim_session()), represented->id);
	char addr[3][PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&function->addr, addr[0]);
	pcie_addr_format(&represented->addr, addr[1]);
	pcie_addr_format(holder ? &holder->addr : &function->addr, addr[2]);
	sim_err("doca_ctx_start: %s (%s) does not hold the representor of the host's %s %s, so the Comch server \"%s\" can't "
		"use it; create the server on %s (%s), which lists that representor",
		function->ibdev, addr[0], represented->ibdev, addr[1], server->endpoint.name,
		holder ? holder->ibdev : "the device", addr[2]);
}

static void report_listen_error(const struct doca_comch_server *server, int rc)
{
	const struct comch_endpoint *endpoint = &server->endpoint;

	if (rc == -EADDRINUSE)
		sim_err("doca_ctx_start: there is a Comch server \"%s\" for the representor of %s on this card already; "
			"give this one another name",
			endpoint->name, server->represented->ibdev);
	else if (rc == -ENODEV)
		sim_err("doca_ctx_start: the representor of %s was removed, so there can't be a Comch server \"%s\" for it; "
			"when it is back (bfsim function add), start again",
			server->represented->ibdev, endpoint->name);
	else if (rc == -EINVAL)
		report_wrong_device(server);
	else if (rc == -ENOMEM)
		sim_err("doca_ctx_start: there is no room for another Comch server (\"%s\")", endpoint->name);
	else
		sim_err("doca_ctx_start: the card refuses the Comch server \"%s\": %s; is its daemon alive? see bfsim ps",
			endpoint->name, strerror(-rc));
}

static doca_error_t server_start(struct doca_ctx *ctx)
{
	struct doca_comch_server *server = (struct doca_comch_server *)ctx;
	struct sim_service service = { .function = shim_dev_function(ctx->dev)->id,
				       .rep = server->represented->id,
				       .name = server->endpoint.name };
	doca_error_t result;
	int rc;

	if (!server->connected) {
		sim_err("doca_ctx_start: a Comch server needs connection callbacks; call "
			"doca_comch_server_event_connection_status_changed_register() first");
		return DOCA_ERROR_BAD_STATE;
	}
	result = comch_endpoint_start(&server->endpoint);
	if (result != DOCA_SUCCESS)
		return result;
	rc = sim_session_listen(shim_session(), &service, on_connect_request, server, &server->listener);
	if (rc == 0) {
		sim_doorbell_requeue(&server->endpoint.group.doorbells,
				     SIM_POLL_GROUP_OWN_SLOT); /* a client may be there already */
		return DOCA_SUCCESS;
	}
	comch_endpoint_stopped(&server->endpoint);
	report_listen_error(server, rc);
	return shim_error_for_call(rc, &listen_errors);
}

static void server_begin_stop(struct doca_ctx *ctx)
{
	struct doca_comch_server *server = (struct doca_comch_server *)ctx;

	sim_session_unlisten(shim_session(), server->listener);
	server->listener = NULL;
	for (uint32_t i = 0; i < server->endpoint.group.num_slots; i++) {
		struct doca_comch_connection *connection = comch_connection_at(&server->endpoint, i);

		if (connection) {
			comch_connection_close(connection, -ECONNRESET);
			comch_connection_release(connection);
		}
	}
}

static bool server_is_drained(const struct doca_ctx *ctx)
{
	return ((const struct doca_comch_server *)ctx)->endpoint.drained;
}

static void server_stopped(struct doca_ctx *ctx)
{
	comch_endpoint_stopped((struct comch_endpoint *)ctx);
}

static const struct shim_ctx_ops server_ops = {
	.name = "comch_server",
	.holds_time = comch_endpoint_holds_time,
	.start = server_start,
	.may_stop = comch_endpoint_may_stop,
	.begin_stop = server_begin_stop,
	.progress = comch_endpoint_progress,
	.arm = comch_endpoint_arm,
	.is_drained = server_is_drained,
	.stopped = server_stopped,
};

/* ---- public functions ---- */

doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
				      struct doca_comch_server **comch_server)
{
	struct doca_comch_server *created;
	doca_error_t result;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED(repr, SHIM_DEV_REP);
	SHIM_NEED_OUT(comch_server);
	result = comch_check_name(__func__, &shim_dev_function(dev)->caps, name);
	if (result != DOCA_SUCCESS)
		return result;
	if (!shim_dev_function(dev)->caps.comch_server)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED, "%s on side %s can't have a server; the DPU's devices can",
				   shim_dev_function(dev)->ibdev, shim_dev_function(dev)->side);
	created = shim_object_new(SHIM_COMCH_SERVER, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->rep = repr;
	created->represented = repr->devinfo->function;
	comch_endpoint_init(&created->endpoint, &server_ops, &server_endpoint_ops, dev, name);
	*comch_server = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server)
{
	doca_error_t result;

	SHIM_NEED(comch_server, SHIM_COMCH_SERVER);
	result = shim_ctx_fini(&comch_server->endpoint.ctx);
	if (result != DOCA_SUCCESS)
		return result;
	free(comch_server->endpoint.compat);
	shim_object_free(comch_server, SHIM_COMCH_SERVER);
	return result;
}

struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server)
{
	return shim_handle_is(comch_server, SHIM_COMCH_SERVER) ? &comch_server->endpoint.ctx : NULL;
}

doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server, uint32_t size)
{
	SHIM_NEED(comch_server, SHIM_COMCH_SERVER);
	return comch_set_max_msg_size(__func__, &comch_server->endpoint, size);
}

SHIM_DEFINE_GETTER(doca_comch_server_get_max_msg_size, const struct doca_comch_server, comch_server, SHIM_COMCH_SERVER,
		   uint32_t, size, comch_server->endpoint.max_msg_bytes)

doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server, uint32_t size)
{
	SHIM_NEED(comch_server, SHIM_COMCH_SERVER);
	return comch_set_recv_queue_size(__func__, &comch_server->endpoint, size);
}

SHIM_DEFINE_GETTER(doca_comch_server_get_recv_queue_size, const struct doca_comch_server, comch_server,
		   SHIM_COMCH_SERVER, uint32_t, size, comch_server->endpoint.recv_queue_size)
SHIM_DEFINE_GETTER(doca_comch_server_get_device, const struct doca_comch_server, comch_server, SHIM_COMCH_SERVER,
		   struct doca_dev *, dev, comch_server->endpoint.ctx.dev)
SHIM_DEFINE_GETTER(doca_comch_server_get_device_rep, const struct doca_comch_server, comch_server, SHIM_COMCH_SERVER,
		   struct doca_dev_rep *, rep, comch_server->rep)

doca_error_t doca_comch_server_event_connection_status_changed_register(
	struct doca_comch_server *comch_server, doca_comch_event_connection_status_changed_cb_t connect_event_cb,
	doca_comch_event_connection_status_changed_cb_t disconnect_event_cb)
{
	SHIM_NEED(comch_server, SHIM_COMCH_SERVER);
	SHIM_NEED_OUT(connect_event_cb);
	SHIM_NEED_OUT(disconnect_event_cb);
	if (comch_server->endpoint.ctx.state != DOCA_CTX_STATE_IDLE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not idle; stop it first");
	comch_server->connected = connect_event_cb;
	comch_server->disconnected = disconnect_event_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_event_consumer_register(struct doca_comch_server *comch_server,
						       doca_comch_event_consumer_cb_t new_consumer_event_cb,
						       doca_comch_event_consumer_cb_t expired_consumer_event_cb)
{
	SHIM_NEED(comch_server, SHIM_COMCH_SERVER);
	SHIM_NEED_OUT(new_consumer_event_cb);
	SHIM_NEED_OUT(expired_consumer_event_cb);
	return comch_set_consumer_events(__func__, &comch_server->endpoint, new_consumer_event_cb,
					 expired_consumer_event_cb);
}

doca_error_t doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
						       doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	SHIM_NEED(comch_server, SHIM_COMCH_SERVER);
	SHIM_NEED_OUT(recv_event_cb);
	return comch_set_recv_cb(__func__, &comch_server->endpoint, recv_event_cb);
}

doca_error_t doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server,
						  doca_comch_task_send_completion_cb_t task_completion_cb,
						  doca_comch_task_send_completion_cb_t task_error_cb,
						  uint32_t num_send_tasks)
{
	SHIM_NEED(comch_server, SHIM_COMCH_SERVER);
	return comch_send_set_conf(__func__, &comch_server->endpoint, task_completion_cb, task_error_cb,
				   num_send_tasks);
}

doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server,
						    struct doca_comch_connection *peer, const void *msg, uint32_t len,
						    struct doca_comch_task_send **task)
{
	SHIM_NEED_FAST(comch_server, SHIM_COMCH_SERVER);
	SHIM_NEED_FAST(peer, SHIM_COMCH_CONNECTION);
	SHIM_NEED_OUT(msg);
	SHIM_NEED_OUT(task);
	return comch_send_alloc(__func__, &comch_server->endpoint, peer, msg, len, task);
}

struct doca_comch_server *doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection)
{
	const struct comch_endpoint *endpoint =
		shim_object_is(connection, SHIM_COMCH_CONNECTION) ? connection->endpoint : NULL;

	return shim_object_is(endpoint, SHIM_COMCH_SERVER) ? (struct doca_comch_server *)(uintptr_t)endpoint : NULL;
}

uint32_t comch_server_num_pending(const struct doca_comch_server *server)
{
	return server->listener ? sim_listener_num_waiting(server->listener) : 0; /* its context may have stopped */
}
