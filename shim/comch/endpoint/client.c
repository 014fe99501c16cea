/* SPDX-License-Identifier: BSD-3-Clause */
/* The client: one connection to one server. Its context starts until it is accepted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/comch/comch_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"

#define PATIENCE_MS 5000 /* for a server to appear; our choice, the vendor's is not public */

struct doca_comch_client {
	struct comch_endpoint endpoint; /* first */
	uint32_t patience_ms;                     /* for a server to appear */
	uint64_t call_ns;                         /* a fault has the server called then; SIM_JOB_NEVER_DUE = never */
	bool is_refused;                          /* or, by a fault, not at all */
	struct doca_comch_connection *connection; /* while not idle */
};

static const char *why_refused(int status)
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

/* Accepted: the server's first letter tells the rest. It is there even if the server
 * has closed since: what it sent in between is delivered then, before the end is. */
static int take_welcome(struct doca_comch_connection *connection)
{
	struct sim_letter welcome;

	if (sim_channel_take(connection->channel, &welcome)) {
		/* It may have come after the status was read; other letters are taken after this one is. */
		connection->status = sim_channel_status(connection->channel);
		return comch_connection_meet(connection, &welcome);
	}
	return connection->status < 0 ? connection->status : -EINPROGRESS;
}

static struct doca_comch_client *client_of(struct comch_endpoint *endpoint)
{
	return (struct doca_comch_client *)endpoint;
}

/* Ask for the server. */
static int call_server(struct doca_comch_client *client)
{
	struct comch_endpoint *endpoint = &client->endpoint;
	struct doca_comch_connection *connection = client->connection;
	struct sim_letter hello;
	int rc;

	comch_connection_introduce(connection, &hello);
	rc = sim_session_connect(shim_session(), shim_dev_function(endpoint->ctx.dev)->id, endpoint->name,
				 client->patience_ms, &hello, comch_connection_notify, connection, &connection->channel);
	close(connection->in_fd);
	close(endpoint->inbox_fd); /* there is one server to have it */
	connection->in_fd = endpoint->inbox_fd = -1;
	comch_connection_look(connection);
	return rc;
}

/* A fault has kept us from calling the server so far. 0 (it is called), -EINPROGRESS or another -errno. */
static int call_late(struct doca_comch_client *client)
{
	if (client->is_refused)
		return -ECONNREFUSED;
	if (shim_now_ns() >= client->call_ns)
		return call_server(client);
	shim_alarm_set(&client->endpoint.ctx, client->call_ns);
	return -EINPROGRESS;
}

/* The connection is being made. */
static bool client_arrange(struct comch_endpoint *endpoint, struct doca_comch_connection *connection)
{
	int rc = doca_unlikely(!connection->channel) ? call_late(client_of(endpoint)) : 0;

	if (rc == 0)
		rc = take_welcome(connection);
	if (rc == -EINPROGRESS)
		return false;
	if (rc == 0) {
		shim_ctx_started(&endpoint->ctx);
		return true;
	}
	sim_err("Comch client \"%s\" of %s can't connect: %s", endpoint->name,
		shim_dev_function(endpoint->ctx.dev)->ibdev, why_refused(rc));
	shim_ctx_end(&endpoint->ctx);
	return true;
}

static void client_lost(struct comch_endpoint *endpoint, struct doca_comch_connection *connection)
{
	(void)connection;
	shim_ctx_end(&endpoint->ctx);
}

static const struct comch_endpoint_ops client_endpoint_ops = {
	.noun = "client",
	.arrange = client_arrange,
	.lost = client_lost,
};

/* ---- the context ---- */

static int connect_to_server(struct doca_comch_client *client)
{
	struct comch_endpoint *endpoint = &client->endpoint;
	int rc = comch_connection_new(endpoint, &client->connection);

	if (rc < 0)
		return rc;
	client->connection->status = -EINPROGRESS;
	if (doca_likely(client->call_ns == 0 && !client->is_refused))
		return call_server(client);
	sim_inbox_again(&endpoint->inbox, client->connection->slot);
	return 0;
}

/* What a fault has in store for the connection. SUCCESS, or the status that the start fails with. */
static doca_error_t strike_connection(struct doca_comch_client *client)
{
	enum sim_op op = client->endpoint.is_channel ? SIM_OP_COMM_CHANNEL_CONNECT : SIM_OP_COMCH_CONNECT;
	struct sim_strike strike;

	client->call_ns = 0;
	client->is_refused = false;
	if (doca_likely(!comch_strikes(&client->endpoint, op, 0, &strike)))
		return DOCA_SUCCESS;
	client->is_refused = SHIM_STRIKE_DOES(&strike, REFUSE);
	if (SHIM_STRIKE_DOES(&strike, STALL))
		client->call_ns = shim_now_ns() + strike.duration_ns;
	if (SHIM_STRIKE_DOES(&strike, HANG))
		client->call_ns = SIM_JOB_NEVER_DUE;
	return SHIM_STRIKE_DOES(&strike, FAIL) ? (doca_error_t)strike.status : DOCA_SUCCESS;
}

static void forget_connection(struct doca_comch_client *client)
{
	if (client->connection)
		comch_connection_let_go(client->connection);
	client->connection = NULL;
}

static doca_error_t client_start(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = (struct doca_comch_client *)ctx;
	doca_error_t result = comch_endpoint_start(&client->endpoint);
	int rc;

	if (result != DOCA_SUCCESS)
		return result;
	result = strike_connection(client);
	if (result != DOCA_SUCCESS) {
		comch_endpoint_stopped(&client->endpoint);
		return result;
	}
	rc = connect_to_server(client);
	if (rc == 0)
		return DOCA_ERROR_IN_PROGRESS;
	sim_err("doca_ctx_start: the Comch client \"%s\" can't call its server: %s", client->endpoint.name,
		strerror(-rc));
	if (client->connection)
		comch_connection_close(client->connection, -ECONNRESET);
	forget_connection(client);
	comch_endpoint_stopped(&client->endpoint);
	return rc == -ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER;
}

static void client_end(struct doca_ctx *ctx)
{
	comch_connection_close(((struct doca_comch_client *)ctx)->connection, -ECONNRESET);
}

/* Consumers and producers that the end surprised are to stop first. */
static bool client_at_rest(const struct doca_ctx *ctx)
{
	const struct doca_comch_client *client = (const struct doca_comch_client *)ctx;

	return client->endpoint.rested && !comch_connection_is_busy(client->connection);
}

static void client_stopped(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = (struct doca_comch_client *)ctx;

	forget_connection(client);
	comch_endpoint_stopped(&client->endpoint);
}

static const struct shim_ctx_ops client_ops = {
	.name = "comch_client",
	.start = client_start,
	.may_stop = comch_endpoint_may_stop,
	.end = client_end,
	.progress = comch_endpoint_progress,
	.arm = comch_endpoint_arm,
	.at_rest = client_at_rest,
	.stopped = client_stopped,
};

/* ---- the public face ---- */

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
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%s on side %s can't have a client; the host's devices can",
				   shim_dev_function(dev)->ibdev, shim_dev_function(dev)->side);
	created = shim_object_new(SHIM_COMCH_CLIENT, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->patience_ms = PATIENCE_MS;
	comch_endpoint_init(&created->endpoint, &client_ops, &client_endpoint_ops, dev, name);
	*comch_client = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client)
{
	doca_error_t result;

	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	result = shim_ctx_fini(&comch_client->endpoint.ctx);
	if (result == DOCA_SUCCESS)
		shim_object_free(comch_client, SHIM_COMCH_CLIENT);
	return result;
}

struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client)
{
	return shim_is(comch_client, SHIM_COMCH_CLIENT) ? &comch_client->endpoint.ctx : NULL;
}

doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client, uint32_t size)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	return comch_set_max_msg_size(__func__, &comch_client->endpoint, size);
}

doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client, uint32_t *size)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	SHIM_NEED_OUT(size);
	*size = comch_client->endpoint.max_msg_bytes;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client, uint32_t size)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	return comch_set_recv_queue_size(__func__, &comch_client->endpoint, size);
}

doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client, uint32_t *size)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	SHIM_NEED_OUT(size);
	*size = comch_client->endpoint.recv_queue_size;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client, struct doca_dev **dev)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	SHIM_NEED_OUT(dev);
	*dev = comch_client->endpoint.ctx.dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
					      struct doca_comch_connection **connection)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	SHIM_NEED_OUT(connection);
	if (!comch_client->connection)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is not started");
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
	return comch_set_received(__func__, &comch_client->endpoint, recv_event_cb);
}

doca_error_t doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
						  doca_comch_task_send_completion_cb_t task_completion_cb,
						  doca_comch_task_send_completion_cb_t task_error_cb,
						  uint32_t num_send_tasks)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	return comch_send_set_conf(__func__, &comch_client->endpoint, task_completion_cb, task_error_cb, num_send_tasks);
}

doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
						    struct doca_comch_connection *peer, const void *msg, uint32_t len,
						    struct doca_comch_task_send **task)
{
	SHIM_NEED(comch_client, SHIM_COMCH_CLIENT);
	SHIM_NEED(peer, SHIM_COMCH_CONNECTION);
	SHIM_NEED_OUT(msg);
	SHIM_NEED_OUT(task);
	return comch_send_alloc(__func__, &comch_client->endpoint, peer, msg, len, task);
}

struct doca_comch_client *doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection)
{
	const struct comch_endpoint *endpoint = shim_is(connection, SHIM_COMCH_CONNECTION) ? connection->endpoint : NULL;

	return shim_is(endpoint, SHIM_COMCH_CLIENT) ? (struct doca_comch_client *)(uintptr_t)endpoint : NULL;
}

void comch_client_set_patience(struct doca_comch_client *client, uint32_t patience_ms)
{
	client->patience_ms = patience_ms;
}
