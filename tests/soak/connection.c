/* SPDX-License-Identifier: BSD-3-Clause */
/* One Comch connection between the soak's two processes. */
#include "connection.h"

#include <stdio.h>

#include <bfsim.h>

static struct talk *now; /* one at a time */

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
	(void)data, (void)ctx, (void)from;
	if (now->client && to == DOCA_CTX_STATE_RUNNING)
		MUST(doca_comch_client_get_connection(now->client, &now->connection));
	else if (to == DOCA_CTX_STATE_STOPPING)
		now->is_gone = true;
}

static void on_connected(struct doca_comch_event_connection_status_changed *event,
			 struct doca_comch_connection *connection, uint8_t well)
{
	(void)event;
	if (well)
		now->connection = connection;
}

static void on_disconnected(struct doca_comch_event_connection_status_changed *event,
			    struct doca_comch_connection *connection, uint8_t well)
{
	(void)event, (void)well;
	if (connection == now->connection)
		now->is_gone = true;
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	(void)event, (void)connection;
	NEED(now->message);
	now->message(now->round, bytes, len);
}

static void on_new_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
			    uint32_t id)
{
	(void)event, (void)connection;
	now->consumer = id;
}

static void on_expired_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
				uint32_t id)
{
	(void)event, (void)connection;
	if (now->consumer == id)
		now->consumer = 0;
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)ctx_data;
	now->sent(now->round, task, task_data.ptr);
}

/* ---- life ---- */

static void open_server(struct talk *talk)
{
	MUST(doca_comch_server_create(talk->side->dev, talk->side->rep, "soak", &talk->server));
	talk->ctx = doca_comch_server_as_ctx(talk->server);
	MUST(doca_comch_server_task_send_set_conf(talk->server, on_sent, on_sent, TALK_TASKS));
	MUST(doca_comch_server_event_msg_recv_register(talk->server, on_message));
	MUST(doca_comch_server_event_connection_status_changed_register(talk->server, on_connected, on_disconnected));
	MUST(doca_comch_server_event_consumer_register(talk->server, on_new_consumer, on_expired_consumer));
}

static void open_client(struct talk *talk)
{
	MUST(doca_comch_client_create(talk->side->dev, "soak", &talk->client));
	talk->ctx = doca_comch_client_as_ctx(talk->client);
	MUST(doca_comch_client_task_send_set_conf(talk->client, on_sent, on_sent, TALK_TASKS));
	MUST(doca_comch_client_event_msg_recv_register(talk->client, on_message));
	MUST(doca_comch_client_event_consumer_register(talk->client, on_new_consumer, on_expired_consumer));
}

static bool call(struct talk *talk)
{
	doca_error_t result;

	if (!side_meet(talk->side)) /* the server listens */
		return false;
	result = doca_ctx_start(talk->ctx);
	NEED(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	SIDE_UNTIL(talk->side, talk->connection || side_state(talk->ctx) == DOCA_CTX_STATE_IDLE);
	return talk->connection;
}

/* The disconnect of a client that was killed early may never be reported. */
static bool accept_client(struct talk *talk)
{
	struct side *side = talk->side;
	uint8_t well;

	MUST(doca_ctx_start(talk->ctx));
	side_meet(side);
	if (!side_hear(side, &well, 1) || !well)
		return false;
	SIDE_UNTIL(side, talk->connection || side_is_alone(side));
	return talk->connection;
}

bool talk_open(struct talk *talk, struct side *side, const struct talk *callbacks)
{
	uint8_t well;

	*talk = *callbacks;
	talk->side = side;
	now = talk;
	if (side->which == DPU)
		open_server(talk);
	else
		open_client(talk);
	MUST(doca_pe_connect_ctx(side->pe, talk->ctx));
	MUST(doca_ctx_set_state_changed_cb(talk->ctx, on_state));
	if (side->which == DPU) {
		well = accept_client(talk);
	} else {
		well = call(talk);
		side_say(side, &well, 1);
	}
	side->seen->broken += !well;
	return well;
}

void talk_close(struct talk *talk)
{
	/* Neither side disconnects before the other has all messages. The connection reports a dead peer as well. */
	if (!side_meet(talk->side) && talk->connection)
		SIDE_UNTIL(talk->side, talk->is_gone);
	side_stop(talk->side, talk->ctx);
	if (talk->server)
		MUST(doca_comch_server_destroy(talk->server));
	else
		MUST(doca_comch_client_destroy(talk->client));
}

bool talk_send(struct talk *talk, const void *bytes, uint32_t len, struct ticket *ticket)
{
	struct doca_comch_task_send *task;

	if (talk->server)
		MUST(doca_comch_server_task_send_alloc_init(talk->server, talk->connection, bytes, len, &task));
	else
		MUST(doca_comch_client_task_send_alloc_init(talk->client, talk->connection, bytes, len, &task));
	doca_task_set_user_data(doca_comch_task_send_as_task(task), (union doca_data){ .ptr = ticket });
	if (side_submit(talk->side, doca_comch_task_send_as_task(task), ticket))
		return true;
	doca_task_free(doca_comch_task_send_as_task(task));
	return false;
}
