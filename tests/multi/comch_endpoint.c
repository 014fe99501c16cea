/* SPDX-License-Identifier: BSD-3-Clause */
/* A Comch server or client with callbacks that count and check messages. */
#include "comch_endpoint.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_TASKS 64

/* A message in flight. */
struct copy {
	struct doca_comch_connection *connection;
	uint8_t bytes[];
};

static struct endpoint *talk_of(struct doca_comch_connection *connection)
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
	struct endpoint *endpoint = data.ptr;

	endpoint->state = to;
	if (!endpoint->client)
		return;
	if (to == DOCA_CTX_STATE_RUNNING) {
		endpoint->num_connected++;
		MUST(doca_comch_client_get_connection(endpoint->client, &endpoint->connection));
		if (endpoint->cfg.connected)
			endpoint->cfg.connected(endpoint, endpoint->connection);
	} else if (to == DOCA_CTX_STATE_STOPPING && from == DOCA_CTX_STATE_RUNNING) {
		endpoint->num_disconnected++;
		if (endpoint->cfg.disconnected)
			endpoint->cfg.disconnected(endpoint, endpoint->connection);
		endpoint->connection = NULL;
	} else if (to == DOCA_CTX_STATE_STOPPING) {
		endpoint->num_refused++;
	}
}

static void on_connected(struct doca_comch_event_connection_status_changed *event,
			 struct doca_comch_connection *connection, uint8_t well)
{
	struct endpoint *endpoint = talk_of(connection);

	if (!well) {
		endpoint->num_refused++;
		return;
	}
	endpoint->num_connected++;
	endpoint->connection = connection;
	if (endpoint->cfg.connected)
		endpoint->cfg.connected(endpoint, connection);
}

static void on_disconnected(struct doca_comch_event_connection_status_changed *event,
			    struct doca_comch_connection *connection, uint8_t well)
{
	struct endpoint *endpoint = talk_of(connection);

	CHECK(well);
	endpoint->num_disconnected++;
	if (endpoint->cfg.disconnected)
		endpoint->cfg.disconnected(endpoint, connection);
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct endpoint *endpoint = talk_of(connection);

	endpoint->received++;
	if (endpoint->cfg.message)
		endpoint->cfg.message(endpoint, connection, bytes, len);
}

static void on_new_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
			    uint32_t id)
{
	struct endpoint *endpoint = talk_of(connection);

	if (endpoint->cfg.consumer)
		endpoint->cfg.consumer(endpoint, connection, id, true);
}

static void on_expired_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
				uint32_t id)
{
	struct endpoint *endpoint = talk_of(connection);

	if (endpoint->cfg.consumer)
		endpoint->cfg.consumer(endpoint, connection, id, false);
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data data)
{
	struct endpoint *endpoint = data.ptr;
	struct copy *copy = task_data.ptr;
	struct doca_comch_connection *connection = copy->connection;

	MUST(doca_task_get_status(doca_comch_task_send_as_task(task)));
	doca_task_free(doca_comch_task_send_as_task(task));
	free(copy);
	endpoint->sent++;
	if (endpoint->cfg.sent)
		endpoint->cfg.sent(endpoint, connection);
}

static void on_failed(struct doca_comch_task_send *task, union doca_data task_data, union doca_data data)
{
	struct endpoint *endpoint = data.ptr;

	endpoint->last_error = doca_task_get_status(doca_comch_task_send_as_task(task));
	CHECK(endpoint->last_error != DOCA_SUCCESS);
	doca_task_free(doca_comch_task_send_as_task(task));
	free(task_data.ptr);
	endpoint->failed++;
}

/* ---- life ---- */

static void prepare(struct endpoint *endpoint, const struct endpoint_cfg *cfg, struct loop *loop, struct doca_dev *dev)
{
	*endpoint = (struct endpoint){ .cfg = *cfg, .loop = loop, .dev = dev };
	if (endpoint->cfg.num_tasks == 0)
		endpoint->cfg.num_tasks = DEFAULT_TASKS;
}

static void adopt_ctx(struct endpoint *endpoint, struct doca_ctx *ctx)
{
	union doca_data self = { .ptr = endpoint };

	endpoint->ctx = ctx;
	MUST(doca_pe_connect_ctx(endpoint->loop->pe, ctx));
	MUST(doca_ctx_set_user_data(ctx, self));
	MUST(doca_ctx_set_state_changed_cb(ctx, on_state));
}

void endpoint_open_server(struct endpoint *endpoint, const struct endpoint_cfg *cfg, struct loop *loop,
			  struct doca_dev *dev)
{
	prepare(endpoint, cfg, loop, dev);
	endpoint->rep = device_open_rep(dev, cfg->function);
	MUST(doca_comch_server_create(dev, endpoint->rep, cfg->name, &endpoint->server));
	adopt_ctx(endpoint, doca_comch_server_as_ctx(endpoint->server));
	MUST(doca_comch_server_task_send_set_conf(endpoint->server, on_sent, on_failed, endpoint->cfg.num_tasks));
	MUST(doca_comch_server_event_msg_recv_register(endpoint->server, on_message));
	MUST(doca_comch_server_event_connection_status_changed_register(endpoint->server, on_connected,
									on_disconnected));
	MUST(doca_comch_server_event_consumer_register(endpoint->server, on_new_consumer, on_expired_consumer));
	if (cfg->recv_queue)
		MUST(doca_comch_server_set_recv_queue_size(endpoint->server, cfg->recv_queue));
}

void endpoint_open_client(struct endpoint *endpoint, const struct endpoint_cfg *cfg, struct loop *loop,
			  struct doca_dev *dev)
{
	prepare(endpoint, cfg, loop, dev);
	MUST(doca_comch_client_create(dev, cfg->name, &endpoint->client));
	adopt_ctx(endpoint, doca_comch_client_as_ctx(endpoint->client));
	MUST(doca_comch_client_task_send_set_conf(endpoint->client, on_sent, on_failed, endpoint->cfg.num_tasks));
	MUST(doca_comch_client_event_msg_recv_register(endpoint->client, on_message));
	MUST(doca_comch_client_event_consumer_register(endpoint->client, on_new_consumer, on_expired_consumer));
	if (cfg->recv_queue)
		MUST(doca_comch_client_set_recv_queue_size(endpoint->client, cfg->recv_queue));
}

void endpoint_close(struct endpoint *endpoint)
{
	if (endpoint->server)
		MUST(doca_comch_server_destroy(endpoint->server));
	if (endpoint->client)
		MUST(doca_comch_client_destroy(endpoint->client));
	if (endpoint->rep)
		MUST(doca_dev_rep_close(endpoint->rep));
}

void endpoint_start(struct endpoint *endpoint)
{
	doca_error_t wanted = endpoint->client ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;

	CHECK(doca_ctx_start(endpoint->ctx) == wanted);
}

void endpoint_stop(struct endpoint *endpoint)
{
	doca_error_t result = doca_ctx_stop(endpoint->ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	LOOP_UNTIL(endpoint->loop, endpoint->state == DOCA_CTX_STATE_IDLE);
	CHECK(endpoint_in_flight(endpoint) == 0);
}

/* ---- messages ---- */

static doca_error_t alloc_task(struct endpoint *endpoint, struct copy *copy, uint32_t len,
			       struct doca_comch_task_send **ret_task)
{
	if (endpoint->server)
		return doca_comch_server_task_send_alloc_init(endpoint->server, copy->connection, copy->bytes, len,
							      ret_task);
	return doca_comch_client_task_send_alloc_init(endpoint->client, copy->connection, copy->bytes, len, ret_task);
}

bool endpoint_send(struct endpoint *endpoint, struct doca_comch_connection *connection, const void *bytes, uint32_t len)
{
	struct copy *copy = malloc(sizeof(*copy) + len);
	struct doca_comch_task_send *task;
	doca_error_t result;

	CHECK(copy);
	copy->connection = connection;
	memcpy(copy->bytes, bytes, len);
	result = alloc_task(endpoint, copy, len, &task);
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

size_t endpoint_in_flight(const struct endpoint *endpoint)
{
	size_t count;

	MUST(doca_ctx_get_num_inflight_tasks(endpoint->ctx, &count));
	return count;
}

uint32_t note_len(uint32_t seq)
{
	static const uint32_t lens[] = { NOTE_MIN, 17, 64, 100, 255, 256, 1000, NOTE_MAX };

	return lens[seq % (sizeof(lens) / sizeof(lens[0]))];
}

bool note_send(struct endpoint *endpoint, struct doca_comch_connection *connection, uint32_t sender, uint32_t seq)
{
	uint8_t bytes[NOTE_MAX];
	uint32_t len = note_len(seq);

	memcpy(bytes, &sender, sizeof(sender));
	memcpy(bytes + 4, &seq, sizeof(seq));
	pattern_fill(bytes + 8, len - 8, sender, seq);
	return endpoint_send(endpoint, connection, bytes, len);
}

uint32_t note_take(const uint8_t *bytes, uint32_t len, uint32_t seq)
{
	uint32_t sender, number;

	CHECK_BYTES(len == note_len(seq));
	memcpy(&sender, bytes, sizeof(sender));
	memcpy(&number, bytes + 4, sizeof(number));
	CHECK_BYTES(number == seq);
	CHECK_BYTES(pattern_is(bytes + 8, len - 8, sender, seq));
	return sender;
}
