/* SPDX-License-Identifier: BSD-3-Clause */
/* The client: one connection to one server. Its context is starting until the server accepts it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm_channel_hooks.h"
#include "endpoint_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/base/error.h"
#include "shim/common/process/runtime.h"
#include "shim/comch/conn/options.h"

struct doca_comch_client {
	struct comch_endpoint endpoint; /* first */
	uint32_t connect_timeout_ms;    /* for a server to appear */
	/* While not idle: */
	struct comch_connect_plan plan;
	struct doca_comch_connection *connection;
};

static const char *describe_connect_error(int status)
{
	switch (status) {
	case -ECONNREFUSED:
		return "no server of that name listens for this function's representor";
	case -EPROTO:
		return "the server has another maximum message size (doca_comch_server_set_max_msg_size)";
	case -EBUSY:
		return "the server has as many clients as its device permits, or as its process has memory and descriptors for";
	case -EPIPE:
		return "the server's process died";
	case -ESHUTDOWN:
		return "the card's daemon is gone";
	default:
		return "the server went away";
	}
}

#define ELSEWHERE_SIZE (80 + PCIE_IFACE_SIZE + PCIE_IBDEV_SIZE + PCIE_ADDR_TEXT_SIZE)

/* Where a server of that name listens instead: " ..." or "". */
static void describe_elsewhere(const struct doca_comch_connection *connection, int status, char text[ELSEWHERE_SIZE])
{
	const struct pcie_function *other;
	char addr[PCIE_ADDR_TEXT_SIZE];
	uint32_t function;

	text[0] = '\0';
	if (status != -ECONNREFUSED || !connection->channel ||
	    !sim_channel_find_elsewhere(connection->channel, &function))
		return;
	other = &sim_session_topology(shim_session())->functions[function];
	pcie_addr_format(&other->addr, addr);
	snprintf(text, ELSEWHERE_SIZE, "; a server of that name listens on %s, the representor of %s (%s)",
		 other->rep_iface[0] ? other->rep_iface : "another one", other->ibdev, addr);
}

static void report_no_connection(const struct comch_endpoint *endpoint, const struct doca_comch_connection *connection,
				 int status)
{
	char elsewhere[ELSEWHERE_SIZE];

	describe_elsewhere(connection, status, elsewhere);
	sim_err("Comch client \"%s\" of %s can't connect: %s%s", endpoint->name,
		shim_dev_function(endpoint->ctx.dev)->ibdev, describe_connect_error(status), elsewhere);
}

/* The server's first message opens the connection. It is there even if the server has closed the channel since: what
 * the server sent in between is delivered before the end is reported. */
static int recv_accept_msg(struct doca_comch_connection *connection)
{
	struct sim_handshake_msg accept_msg;

	if (sim_channel_receive(connection->channel, &accept_msg)) {
		/* The status may have changed since it was polled. Later messages are received after this one. */
		connection->pipe.peer_status = sim_channel_status(connection->channel);
		return comch_connection_handshake(connection, &accept_msg);
	}
	return connection->pipe.peer_status < 0 ? connection->pipe.peer_status : -EINPROGRESS;
}

static struct doca_comch_client *client_of(struct comch_endpoint *endpoint)
{
	return (struct doca_comch_client *)endpoint;
}

static int connect_within(struct doca_comch_client *client, const struct sim_handshake_msg *connect_msg,
			  uint32_t timeout_ms)
{
	struct comch_endpoint *endpoint = &client->endpoint;
	struct doca_comch_connection *connection = client->connection;

	return sim_session_connect(shim_session(), shim_dev_function(endpoint->ctx.dev)->id, endpoint->name, timeout_ms,
				   connect_msg, comch_connection_on_channel_event, connection, &connection->channel);
}

/* A server that listens gets the request at once. Without one, the client says that it waits. */
static int find_server(struct doca_comch_client *client, const struct sim_handshake_msg *connect_msg)
{
	const struct comch_endpoint *endpoint = &client->endpoint;
	struct doca_comch_connection *connection = client->connection;
	int rc = connect_within(client, connect_msg, 0);

	if (rc < 0 || client->connect_timeout_ms == 0 || sim_channel_status(connection->channel) != -ECONNREFUSED)
		return rc;
	sim_channel_close(shim_session(), connection->channel, -ECONNRESET);
	connection->channel = NULL;
	rc = connect_within(client, connect_msg, client->connect_timeout_ms);
	if (rc == 0 && sim_channel_status(connection->channel) == -EINPROGRESS)
		sim_info(
			"Comch client \"%s\" of %s: no server of that name listens for this function yet; waits for it, at most "
			"%u ms (BFSIM_COMCH_WAIT)",
			endpoint->name, shim_dev_function(endpoint->ctx.dev)->ibdev, client->connect_timeout_ms);
	return rc;
}

static int send_connect_request(struct doca_comch_client *client)
{
	struct comch_endpoint *endpoint = &client->endpoint;
	struct doca_comch_connection *connection = client->connection;
	struct sim_handshake_msg connect_msg;
	int rc;

	rc = comch_connection_make_handshake(connection, &connect_msg);
	if (rc < 0)
		return rc;
	shim_vclock_take_turn(); /* a server accepts clients in the order of their requests */
	rc = find_server(client, &connect_msg);
	sim_pipe_close_in_fd(&connection->pipe);
	sim_poll_group_close_fd(&endpoint->group); /* the one server has it */
	comch_connection_schedule_poll(connection);
	return rc;
}

/* The connect was deferred. Returns 0 (the request is sent), -EINPROGRESS or another -errno. */
static int try_deferred_connect(struct doca_comch_client *client)
{
	if (client->plan.refused)
		return client->plan.refused;
	if (shim_now_ns() >= client->plan.due_ns)
		return send_connect_request(client);
	shim_ctx_set_alarm(&client->endpoint.ctx, client->plan.due_ns);
	return -EINPROGRESS;
}

static bool client_progress_connect(struct comch_endpoint *endpoint, struct doca_comch_connection *connection)
{
	int rc = 0;

	if (doca_unlikely(!connection))
		return false; /* a hostile server rang a slot that only servers use */
	if (doca_unlikely(!connection->channel))
		rc = try_deferred_connect(client_of(endpoint));
	if (rc == 0)
		rc = recv_accept_msg(connection);
	if (rc == -EINPROGRESS)
		return false;
	if (rc == 0) {
		shim_ctx_set_running(&endpoint->ctx);
		return true;
	}
	report_no_connection(endpoint, connection, rc);
	shim_ctx_begin_stop(&endpoint->ctx);
	return true;
}

static void client_on_disconnect(struct comch_endpoint *endpoint, struct doca_comch_connection *connection)
{
	(void)connection;
	shim_ctx_begin_stop(&endpoint->ctx);
}

static const struct comch_endpoint_ops client_endpoint_ops = {
	.role_name = "client",
	.progress_connect = client_progress_connect,
	.on_disconnect = client_on_disconnect,
};

/* ---- the context ---- */

static int connect_to_server(struct doca_comch_client *client)
{
	struct comch_endpoint *endpoint = &client->endpoint;
	int rc = comch_connection_new(endpoint, &client->connection);

	if (rc < 0)
		return rc;
	client->connection->pipe.peer_status = -EINPROGRESS;
	if (doca_likely(client->plan.due_ns == 0 && !client->plan.refused))
		return send_connect_request(client);
	comch_connection_requeue(client->connection);
	return 0;
}

static void release_connection(struct doca_comch_client *client)
{
	if (client->connection)
		comch_connection_release(client->connection);
	client->connection = NULL;
}

static const struct shim_call_errors start_errors = {
	.allowed = SHIM_ERROR_BIT(NO_MEMORY),
	.other = DOCA_ERROR_DRIVER,
};

static doca_error_t client_start(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = (struct doca_comch_client *)ctx;
	doca_error_t result = comch_endpoint_start(&client->endpoint);
	int rc;

	if (result != DOCA_SUCCESS)
		return result;
	result = comch_fault_plan_connect(&client->endpoint, &client->plan);
	if (result != DOCA_SUCCESS) {
		comch_endpoint_stopped(&client->endpoint);
		return result;
	}
	rc = connect_to_server(client);
	if (rc == 0)
		return DOCA_ERROR_IN_PROGRESS;
	sim_err("doca_ctx_start: the Comch client \"%s\" can't ask for its server: %s", client->endpoint.name,
		strerror(-rc));
	if (client->connection)
		comch_connection_close(client->connection, -ECONNRESET);
	release_connection(client);
	comch_endpoint_stopped(&client->endpoint);
	return shim_error_for_call(rc, &start_errors);
}

static void client_begin_stop(struct doca_ctx *ctx)
{
	comch_connection_close(((struct doca_comch_client *)ctx)->connection, -ECONNRESET);
}

/* Started consumers and producers stop first. */
static bool client_is_drained(const struct doca_ctx *ctx)
{
	const struct doca_comch_client *client = (const struct doca_comch_client *)ctx;

	return client->endpoint.drained && !comch_connection_is_busy(client->connection);
}

static void client_stopped(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = (struct doca_comch_client *)ctx;

	release_connection(client);
	comch_endpoint_stopped(&client->endpoint);
}

static const struct shim_ctx_ops client_ops = {
	.name = "comch_client",
	.holds_time = comch_endpoint_holds_time,
	.start = client_start,
	.may_stop = comch_endpoint_may_stop,
	.begin_stop = client_begin_stop,
	.progress = comch_endpoint_progress,
	.arm = comch_endpoint_arm,
	.is_drained = client_is_drained,
	.stopped = client_stopped,
};

/* ---- public functions ---- */

doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name, struct doca_comch_client **comch_client)
{
	struct doca_comch_client *created;
	doca_error_t result;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(comch_client);
	result = comch_check_name(__func__, &shim_dev_function(dev)->caps, name);
	if (result != DOCA_SUCCESS)
		return result;
	if (!shim_dev_function(dev)->caps.comch_client)
		return SHIM_REFUSE(DOCA_ERROR_NOT_PERMITTED,
				   "%s on side %s can't have a client; the host's devices can",
				   shim_dev_function(dev)->ibdev, shim_dev_function(dev)->side);
	created = shim_object_new(SHIM_COMCH_CLIENT, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->connect_timeout_ms = comch_wait_ms();
	comch_endpoint_init(&created->endpoint, &client_ops, &client_endpoint_ops, dev, name);
	*comch_client = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client)
{
	doca_error_t result;

	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	result = shim_ctx_fini(&comch_client->endpoint.ctx);
	if (result != DOCA_SUCCESS)
		return result;
	free(comch_client->endpoint.compat);
	shim_object_free(comch_client, SHIM_COMCH_CLIENT);
	return result;
}

struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client)
{
	return shim_handle_is(comch_client, SHIM_COMCH_CLIENT) ? &comch_client->endpoint.ctx : NULL;
}

doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client, uint32_t size)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	return comch_set_max_msg_size(__func__, &comch_client->endpoint, size);
}

SHIM_DEFINE_GETTER(doca_comch_client_get_max_msg_size, const struct doca_comch_client, comch_client, SHIM_COMCH_CLIENT,
		   uint32_t, size, comch_client->endpoint.max_msg_bytes)

doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client, uint32_t size)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	return comch_set_recv_queue_size(__func__, &comch_client->endpoint, size);
}

SHIM_DEFINE_GETTER(doca_comch_client_get_recv_queue_size, const struct doca_comch_client, comch_client,
		   SHIM_COMCH_CLIENT, uint32_t, size, comch_client->endpoint.recv_queue_size)
SHIM_DEFINE_GETTER(doca_comch_client_get_device, const struct doca_comch_client, comch_client, SHIM_COMCH_CLIENT,
		   struct doca_dev *, dev, comch_client->endpoint.ctx.dev)

doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
					      struct doca_comch_connection **connection)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	SHIM_NEED_OUT(connection);
	if (!comch_client->connection || comch_client->endpoint.ctx.state == DOCA_CTX_STATE_STARTING)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "the client is not connected; call doca_pe_progress() until its context is running");
	*connection = comch_client->connection;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_event_consumer_register(struct doca_comch_client *comch_client,
						       doca_comch_event_consumer_cb_t new_consumer_event_cb,
						       doca_comch_event_consumer_cb_t expired_consumer_event_cb)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	SHIM_NEED_OUT(new_consumer_event_cb);
	SHIM_NEED_OUT(expired_consumer_event_cb);
	return comch_set_consumer_events(__func__, &comch_client->endpoint, new_consumer_event_cb,
					 expired_consumer_event_cb);
}

doca_error_t doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
						       doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	SHIM_NEED_OUT(recv_event_cb);
	return comch_set_recv_cb(__func__, &comch_client->endpoint, recv_event_cb);
}

doca_error_t doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
						  doca_comch_task_send_completion_cb_t task_completion_cb,
						  doca_comch_task_send_completion_cb_t task_error_cb,
						  uint32_t num_send_tasks)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	return comch_send_set_conf(__func__, &comch_client->endpoint, task_completion_cb, task_error_cb,
				   num_send_tasks);
}

doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
						    struct doca_comch_connection *peer, const void *msg, uint32_t len,
						    struct doca_comch_task_send **task)
{
	SHIM_NEED_FAST(comch_client, SHIM_COMCH_CLIENT);
	SHIM_NEED_FAST(peer, SHIM_COMCH_CONNECTION);
	SHIM_NEED_OUT(msg);
	SHIM_NEED_OUT(task);
	return comch_send_alloc(__func__, &comch_client->endpoint, peer, msg, len, task);
}

struct doca_comch_client *doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection)
{
	const struct comch_endpoint *endpoint =
		shim_object_is(connection, SHIM_COMCH_CONNECTION) ? connection->endpoint : NULL;

	return shim_object_is(endpoint, SHIM_COMCH_CLIENT) ? (struct doca_comch_client *)(uintptr_t)endpoint : NULL;
}

struct doca_comch_connection *comch_client_connection(const struct doca_comch_client *client)
{
	return client->connection;
}

void comch_client_set_connect_timeout(struct doca_comch_client *client, uint32_t connect_timeout_ms)
{
	client->connect_timeout_ms = connect_timeout_ms;
}
