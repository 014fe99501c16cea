/* SPDX-License-Identifier: BSD-3-Clause */
/* A Comch server or client with callbacks that count and check messages. */
#include "comch_endpoint.h"
#include "doca_check.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_TASKS 64

/* A message on its way. */
struct copy {
	struct doca_comch_connection *connection;
	uint8_t bytes[];
};

static struct talk *talk_of(struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(connection);
	struct doca_ctx *ctx = server ? doca_comch_server_as_ctx(server) : doca_comch_client_as_ctx(client);
	union doca_data data;

	MUST(doca_ctx_get_user_data(ctx, &data));
	return data.ptr;
}

/* ---- callbacks ---- */

static void on_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states from,
		     enum doca_ctx_states to)
{
	struct talk *talk = data.ptr;

	(void)ctx;
	talk->state = to;
	if (!talk->client)
		return;
	if (to == DOCA_CTX_STATE_RUNNING) {
		talk->num_connected++;
		MUST(doca_comch_client_get_connection(talk->client, &talk->connection));
		if (talk->cfg.connected)
			talk->cfg.connected(talk, talk->connection);
	} else if (to == DOCA_CTX_STATE_STOPPING && from == DOCA_CTX_STATE_RUNNING) {
		talk->num_disconnected++;
		if (talk->cfg.disconnected)
			talk->cfg.disconnected(talk, talk->connection);
		talk->connection = NULL;
	} else if (to == DOCA_CTX_STATE_STOPPING) {
		talk->num_refused++;
	}
}

static void on_connected(struct doca_comch_event_connection_status_changed *event,
			 struct doca_comch_connection *connection, uint8_t well)
{
	struct talk *talk = talk_of(connection);

	(void)event;
	if (!well) {
		talk->num_refused++;
		return;
	}
	talk->num_connected++;
	talk->connection = connection;
	if (talk->cfg.connected)
		talk->cfg.connected(talk, connection);
}

static void on_disconnected(struct doca_comch_event_connection_status_changed *event,
			    struct doca_comch_connection *connection, uint8_t well)
{
	struct talk *talk = talk_of(connection);

	(void)event;
	CHECK(well);
	talk->num_disconnected++;
	if (talk->cfg.disconnected)
		talk->cfg.disconnected(talk, connection);
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct talk *talk = talk_of(connection);

	(void)event;
	talk->received++;
	if (talk->cfg.message)
		talk->cfg.message(talk, connection, bytes, len);
}

static void on_new_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
			    uint32_t id)
{
	struct talk *talk = talk_of(connection);

	(void)event;
	if (talk->cfg.consumer)
		talk->cfg.consumer(talk, connection, id, true);
}

static void on_expired_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
				uint32_t id)
{
	struct talk *talk = talk_of(connection);

	(void)event;
	if (talk->cfg.consumer)
		talk->cfg.consumer(talk, connection, id, false);
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data data)
{
	struct talk *talk = data.ptr;
	struct copy *copy = task_data.ptr;
	struct doca_comch_connection *connection = copy->connection;

	MUST(doca_task_get_status(doca_comch_task_send_as_task(task)));
	doca_task_free(doca_comch_task_send_as_task(task));
	free(copy);
	talk->sent++;
	if (talk->cfg.sent)
		talk->cfg.sent(talk, connection);
}

static void on_failed(struct doca_comch_task_send *task, union doca_data task_data, union doca_data data)
{
	struct talk *talk = data.ptr;

	talk->last_error = doca_task_get_status(doca_comch_task_send_as_task(task));
	CHECK(talk->last_error != DOCA_SUCCESS);
	doca_task_free(doca_comch_task_send_as_task(task));
	free(task_data.ptr);
	talk->failed++;
}

/* ---- life ---- */

static void prepare(struct talk *talk, const struct talk_cfg *cfg, struct loop *loop, struct doca_dev *dev)
{
	*talk = (struct talk){ .cfg = *cfg, .loop = loop, .dev = dev };
	if (talk->cfg.num_tasks == 0)
		talk->cfg.num_tasks = DEFAULT_TASKS;
}

static void adopt_ctx(struct talk *talk, struct doca_ctx *ctx)
{
	union doca_data self = { .ptr = talk };

	talk->ctx = ctx;
	MUST(doca_pe_connect_ctx(talk->loop->pe, ctx));
	MUST(doca_ctx_set_user_data(ctx, self));
	MUST(doca_ctx_set_state_changed_cb(ctx, on_state));
}

void talk_open_server(struct talk *talk, const struct talk_cfg *cfg, struct loop *loop, struct doca_dev *dev)
{
	prepare(talk, cfg, loop, dev);
	talk->rep = device_open_rep(dev, cfg->function);
	MUST(doca_comch_server_create(dev, talk->rep, cfg->name, &talk->server));
	adopt_ctx(talk, doca_comch_server_as_ctx(talk->server));
	MUST(doca_comch_server_task_send_set_conf(talk->server, on_sent, on_failed, talk->cfg.num_tasks));
	MUST(doca_comch_server_event_msg_recv_register(talk->server, on_message));
	MUST(doca_comch_server_event_connection_status_changed_register(talk->server, on_connected, on_disconnected));
	MUST(doca_comch_server_event_consumer_register(talk->server, on_new_consumer, on_expired_consumer));
	if (cfg->recv_queue)
		MUST(doca_comch_server_set_recv_queue_size(talk->server, cfg->recv_queue));
}

void talk_open_client(struct talk *talk, const struct talk_cfg *cfg, struct loop *loop, struct doca_dev *dev)
{
	prepare(talk, cfg, loop, dev);
	MUST(doca_comch_client_create(dev, cfg->name, &talk->client));
	adopt_ctx(talk, doca_comch_client_as_ctx(talk->client));
	MUST(doca_comch_client_task_send_set_conf(talk->client, on_sent, on_failed, talk->cfg.num_tasks));
	MUST(doca_comch_client_event_msg_recv_register(talk->client, on_message));
	MUST(doca_comch_client_event_consumer_register(talk->client, on_new_consumer, on_expired_consumer));
	if (cfg->recv_queue)
		MUST(doca_comch_client_set_recv_queue_size(talk->client, cfg->recv_queue));
}

void talk_close(struct talk *talk)
{
	if (talk->server)
		MUST(doca_comch_server_destroy(talk->server));
	if (talk->client)
		MUST(doca_comch_client_destroy(talk->client));
	if (talk->rep)
		MUST(doca_dev_rep_close(talk->rep));
}

void talk_start(struct talk *talk)
{
	doca_error_t wanted = talk->client ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;

	CHECK(doca_ctx_start(talk->ctx) == wanted);
}

void talk_stop(struct talk *talk)
{
	doca_error_t result = doca_ctx_stop(talk->ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	LOOP_UNTIL(talk->loop, talk->state == DOCA_CTX_STATE_IDLE);
	CHECK(talk_in_flight(talk) == 0);
}

/* ---- messages ---- */

static doca_error_t alloc_task(struct talk *talk, struct copy *copy, uint32_t len,
			       struct doca_comch_task_send **ret_task)
{
	if (talk->server)
		return doca_comch_server_task_send_alloc_init(talk->server, copy->connection, copy->bytes, len,
							      ret_task);
	return doca_comch_client_task_send_alloc_init(talk->client, copy->connection, copy->bytes, len, ret_task);
}

bool talk_send(struct talk *talk, struct doca_comch_connection *connection, const void *bytes, uint32_t len)
{
	struct copy *copy = malloc(sizeof(*copy) + len);
	struct doca_comch_task_send *task;
	doca_error_t result;

	CHECK(copy);
	copy->connection = connection;
	memcpy(copy->bytes, bytes, len);
	result = alloc_task(talk, copy, len, &task);
	if (result != DOCA_SUCCESS) {
		CHECK(result == DOCA_ERROR_NO_MEMORY);
		free(copy);
		return false;
	}
	doca_task_set_user_data(doca_comch_task_send_as_task(task), (union doca_data){ .ptr = copy });
	result = doca_task_submit(doca_comch_task_send_as_task(task));
	if (result != DOCA_SUCCESS) { /* the other end is gone; the next event reports it */
		CHECK(result == DOCA_ERROR_NOT_CONNECTED);
		doca_task_free(doca_comch_task_send_as_task(task));
		free(copy);
		return false;
	}
	return true;
}

size_t talk_in_flight(const struct talk *talk)
{
	size_t count;

	MUST(doca_ctx_get_num_inflight_tasks(talk->ctx, &count));
	return count;
}

uint32_t note_len(uint32_t seq)
{
	static const uint32_t lens[] = { NOTE_MIN, 17, 64, 100, 255, 256, 1000, NOTE_MAX };

	return lens[seq % (sizeof(lens) / sizeof(lens[0]))];
}

bool note_send(struct talk *talk, struct doca_comch_connection *connection, uint32_t sender, uint32_t seq)
{
	uint8_t bytes[NOTE_MAX];
	uint32_t len = note_len(seq);

	memcpy(bytes, &sender, sizeof(sender));
	memcpy(bytes + 4, &seq, sizeof(seq));
	pattern_fill(bytes + 8, len - 8, sender, seq);
	return talk_send(talk, connection, bytes, len);
}

uint32_t note_take(const uint8_t *bytes, uint32_t len, uint32_t seq)
{
	uint32_t sender, number;

	CHECK(len == note_len(seq));
	memcpy(&sender, bytes, sizeof(sender));
	memcpy(&number, bytes + 4, sizeof(number));
	CHECK(number == seq);
	CHECK(pattern_is(bytes + 8, len - 8, sender, seq));
	return sender;
}
