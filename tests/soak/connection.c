/* SPDX-License-Identifier: BSD-3-Clause */
/* One Comch connection between the soak's two processes. */
#include "connection.h"

#include <stdio.h>

#include <bfsim.h>

static struct connection *now; /* one at a time */

uint64_t lasting_fired(const struct side *side, int which)
{
	struct bfsim_fault fault;

	if (side->shared->lasting[which] == 0)
		return 0;
	if (bfsim_fault_get(side->shared->lasting[which], &fault) < 0)
		side_fail(__FILE__, __LINE__, "a lasting rule is there", bfsim_error());
	return fault.fired;
}

/* ---- callbacks ---- */

static void on_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states from,
		     enum doca_ctx_states to)
{
	if (now->client && to == DOCA_CTX_STATE_RUNNING)
		MUST(doca_comch_client_get_connection(now->client, &now->connection));
	else if (to == DOCA_CTX_STATE_STOPPING)
		now->is_gone = true;
}

static void on_connected(struct doca_comch_event_connection_status_changed *event,
			 struct doca_comch_connection *connection, uint8_t well)
{
	if (well)
		now->connection = connection;
}

static void on_disconnected(struct doca_comch_event_connection_status_changed *event,
			    struct doca_comch_connection *connection, uint8_t well)
{
	if (connection == now->connection)
		now->is_gone = true;
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	NEED(now->message);
	now->message(now->round, bytes, len);
}

static void on_new_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
			    uint32_t id)
{
	now->consumer = id;
}

static void on_expired_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
				uint32_t id)
{
	if (now->consumer == id)
		now->consumer = 0;
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	now->sent(now->round, task, task_data.ptr);
}

/* ---- life ---- */

static void open_server(struct connection *conn)
{
	MUST(doca_comch_server_create(conn->side->dev, conn->side->rep, "soak", &conn->server));
	conn->ctx = doca_comch_server_as_ctx(conn->server);
	MUST(doca_comch_server_task_send_set_conf(conn->server, on_sent, on_sent, CONNECTION_TASKS));
	MUST(doca_comch_server_event_msg_recv_register(conn->server, on_message));
	MUST(doca_comch_server_event_connection_status_changed_register(conn->server, on_connected, on_disconnected));
	MUST(doca_comch_server_event_consumer_register(conn->server, on_new_consumer, on_expired_consumer));
}

static void open_client(struct connection *conn)
{
	MUST(doca_comch_client_create(conn->side->dev, "soak", &conn->client));
	conn->ctx = doca_comch_client_as_ctx(conn->client);
	MUST(doca_comch_client_task_send_set_conf(conn->client, on_sent, on_sent, CONNECTION_TASKS));
	MUST(doca_comch_client_event_msg_recv_register(conn->client, on_message));
	MUST(doca_comch_client_event_consumer_register(conn->client, on_new_consumer, on_expired_consumer));
}

static bool call(struct connection *conn)
{
	doca_error_t result;

	if (!side_meet(conn->side)) /* the server listens */
		return false;
	result = doca_ctx_start(conn->ctx);
	NEED(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	SIDE_UNTIL(conn->side, conn->connection || side_state(conn->ctx) == DOCA_CTX_STATE_IDLE);
	return conn->connection;
}

/* The disconnect of a client that was killed early may never be reported. */
static bool accept_client(struct connection *conn)
{
	struct side *side = conn->side;
	uint8_t well;

	MUST(doca_ctx_start(conn->ctx));
	side_meet(side);
	if (!side_recv(side, &well, 1) || !well)
		return false;
	SIDE_UNTIL(side, conn->connection || side_is_alone(side));
	return conn->connection;
}

bool connection_open(struct connection *conn, struct side *side, const struct connection *callbacks)
{
	uint8_t well;

	*conn = *callbacks;
	conn->side = side;
	now = conn;
	if (side->which == DPU)
		open_server(conn);
	else
		open_client(conn);
	MUST(doca_pe_connect_ctx(side->pe, conn->ctx));
	MUST(doca_ctx_set_state_changed_cb(conn->ctx, on_state));
	if (side->which == DPU) {
		well = accept_client(conn);
	} else {
		well = call(conn);
		side_send(side, &well, 1);
	}
	side->seen->broken += !well;
	return well;
}

void connection_close(struct connection *conn)
{
	/* Neither side disconnects before the other has all messages. The connection reports a dead peer as well. */
	if (!side_meet(conn->side) && conn->connection)
		SIDE_UNTIL(conn->side, conn->is_gone);
	side_stop(conn->side, conn->ctx);
	if (conn->server)
		MUST(doca_comch_server_destroy(conn->server));
	else
		MUST(doca_comch_client_destroy(conn->client));
}

bool connection_send(struct connection *conn, const void *bytes, uint32_t len, struct ticket *ticket)
{
	struct doca_comch_task_send *task;

	if (conn->server)
		MUST(doca_comch_server_task_send_alloc_init(conn->server, conn->connection, bytes, len, &task));
	else
		MUST(doca_comch_client_task_send_alloc_init(conn->client, conn->connection, bytes, len, &task));
	doca_task_set_user_data(doca_comch_task_send_as_task(task), (union doca_data){ .ptr = ticket });
	if (side_submit(conn->side, doca_comch_task_send_as_task(task), ticket))
		return true;
	doca_task_free(doca_comch_task_send_as_task(task));
	return false;
}
