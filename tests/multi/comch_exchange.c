/* SPDX-License-Identifier: BSD-3-Clause */
/* A server or client that exchanges numbered messages and checks each. */
#include "cmocka_test.h"
#include "comch_exchange.h"

#include <stdlib.h>
#include <string.h>

#include "comch_endpoint.h"

#define FROM_SERVER UINT32_C(0x80000000) /* sender of a server's messages: this flag and the client's number */

/* One connection. */
struct pair {
	uint32_t number; /* of the client */
	uint32_t in, out, done;
};

struct exchange {
	struct exchange_arg arg;
	int ctl;
	struct loop loop;
	struct endpoint *endpoints;
	uint32_t num_endpoints;
	uint32_t may_send;      /* on each connection */
	unsigned int num_whole; /* connections on which all messages arrived, and which ended */
};

static struct exchange *exchange_of(const struct endpoint *endpoint)
{
	return endpoint->cfg.owner;
}

static struct pair *pair_of(struct doca_comch_connection *connection)
{
	return doca_comch_connection_get_user_data(connection).ptr;
}

static void say(const struct exchange *exchange, char what)
{
	proc_send(exchange->ctl, &what, 1);
}

static void feed(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	const struct exchange *exchange = exchange_of(endpoint);
	struct pair *pair = pair_of(connection);

	while (pair->out < exchange->may_send && pair->out - pair->done < exchange->arg.window &&
	       note_send(endpoint, connection, endpoint->server ? FROM_SERVER | pair->number : pair->number, pair->out))
		pair->out++;
}

/* Make no further progress until the test sends a byte. */
static void freeze(struct exchange *exchange, char why)
{
	char byte;

	say(exchange, why);
	proc_recv(exchange->ctl, &byte, 1);
}

static void on_connected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	struct exchange *exchange = exchange_of(endpoint);

	CHECK(pair);
	pair->number = endpoint->number;
	MUST(doca_comch_connection_set_user_data(connection, (union doca_data){ .ptr = pair }));
	if (exchange->arg.freezes && endpoint->num_connected == 1)
		freeze(exchange, EXCHANGE_FROZEN);
	if (endpoint->client ||
	    exchange->arg.num_in == 0) /* a server waits until the client's first message names the addressee */
		feed(endpoint, connection);
}

static bool is_whole(const struct exchange *exchange, const struct pair *pair)
{
	return pair->in == exchange->arg.num_in && pair->done == exchange->arg.num_out;
}

static void on_disconnected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct exchange *exchange = exchange_of(endpoint);
	struct pair *pair = pair_of(connection);

	CHECK(is_whole(exchange, pair)); /* messages sent before the stop have arrived before it */
	exchange->num_whole++;
	free(pair);
}

static void on_message(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		       uint32_t len)
{
	struct pair *pair = pair_of(connection);
	uint32_t sender = note_take(bytes, len, pair->in);

	if (endpoint->server && pair->in == 0)
		pair->number = sender;
	CHECK(sender == (endpoint->server ? pair->number : FROM_SERVER | pair->number));
	if (pair->in++ == 0)
		feed(endpoint, connection);
}

static void on_sent(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	pair_of(connection)->done++;
	feed(endpoint, connection);
}

/* ---- both roles ---- */

static void begin(struct exchange *exchange, int ctl, struct endpoint_cfg *ret_cfg)
{
	struct exchange_arg *arg = &exchange->arg;

	*exchange = (struct exchange){ .ctl = ctl };
	proc_recv(ctl, arg, sizeof(*arg));
	if (arg->window == 0)
		arg->window = UINT32_MAX;
	exchange->may_send = arg->withholds ? arg->withholds : arg->num_out;
	exchange->num_endpoints = arg->num_clients ? arg->num_clients : 1;
	exchange->endpoints = calloc(exchange->num_endpoints, sizeof(*exchange->endpoints));
	CHECK(exchange->endpoints);
	loop_open(&exchange->loop, arg->sleeps);
	loop_watch(&exchange->loop, ctl);
	*ret_cfg = (struct endpoint_cfg){ .name = arg->name,
					  .function = arg->function[0] ? arg->function : NULL,
					  .num_tasks = arg->num_tasks,
					  .recv_queue = arg->recv_queue,
					  .owner = exchange,
					  .connected = on_connected,
					  .disconnected = on_disconnected,
					  .message = on_message,
					  .sent = on_sent };
}

/* Send the withheld messages as well. A server without a message of its client yet sends after the client's first
 * message. */
static void send_all(struct exchange *exchange)
{
	exchange->may_send = exchange->arg.num_out;
	for (uint32_t i = 0; i < exchange->num_endpoints; i++) {
		struct endpoint *endpoint = &exchange->endpoints[i];

		if (endpoint->connection && (endpoint->client || pair_of(endpoint->connection)->in > 0))
			feed(endpoint, endpoint->connection);
	}
}

/* '?' asks for its status; '!' is no question. */
static void answer(struct exchange *exchange)
{
	struct exchange_status status = { 0 };
	char byte;

	proc_recv(exchange->ctl, &byte, 1);
	if (byte == '!') {
		send_all(exchange);
		return;
	}
	for (uint32_t i = 0; i < exchange->num_endpoints; i++) {
		status.in_flight += endpoint_in_flight(&exchange->endpoints[i]);
		status.sent += exchange->endpoints[i].sent;
		status.received += exchange->endpoints[i].received;
	}
	proc_send(exchange->ctl, &status, sizeof(status));
}

static bool all_have_all(struct exchange *exchange)
{
	if (proc_readable_within(exchange->ctl, 0))
		answer(exchange);
	for (uint32_t i = 0; i < exchange->num_endpoints; i++) {
		const struct endpoint *endpoint = &exchange->endpoints[i];

		if (endpoint->server ? exchange->num_whole < exchange->arg.num_peers :
				       !endpoint->connection || !is_whole(exchange, pair_of(endpoint->connection)))
			return false;
	}
	return true;
}

/* From its start to its end. */
static void run(struct exchange *exchange)
{
	if (exchange->arg.waits)
		freeze(exchange, EXCHANGE_READY);
	for (uint32_t i = 0; i < exchange->num_endpoints; i++)
		endpoint_start(&exchange->endpoints[i]);
	say(exchange, EXCHANGE_STARTED);
	LOOP_UNTIL(&exchange->loop, all_have_all(exchange));
	if (exchange->arg.holds)
		freeze(exchange, EXCHANGE_HELD);
	for (uint32_t i = 0; i < exchange->num_endpoints; i++) {
		struct endpoint *endpoint = &exchange->endpoints[i];

		CHECK(endpoint->num_connected == (endpoint->server ? exchange->arg.num_peers : 1));
		CHECK(endpoint->num_refused == 0 && endpoint->failed == 0);
		endpoint_stop(endpoint);
		endpoint_close(endpoint);
	}
	CHECK(exchange->num_whole ==
	      (exchange->endpoints[0].server ? exchange->arg.num_peers : exchange->num_endpoints));
	loop_close(&exchange->loop);
	free(exchange->endpoints);
}

static void run_role(int ctl, bool is_server)
{
	struct exchange exchange;
	struct endpoint_cfg cfg;
	struct doca_dev *dev;

	begin(&exchange, ctl, &cfg);
	dev = device_open(is_server ? NULL : cfg.function);
	for (uint32_t i = 0; i < exchange.num_endpoints; i++) {
		if (is_server)
			endpoint_open_server(&exchange.endpoints[i], &cfg, &exchange.loop, dev);
		else
			endpoint_open_client(&exchange.endpoints[i], &cfg, &exchange.loop, dev);
		exchange.endpoints[i].number = exchange.arg.number + i;
	}
	run(&exchange);
	MUST(doca_dev_close(dev));
	say(&exchange, EXCHANGE_DONE);
	CHECK(proc_readable_within(ctl, PROC_DEADLINE_MS)); /* the test's end */
}

static void run_server(int ctl)
{
	run_role(ctl, true);
}

static void run_client(int ctl)
{
	run_role(ctl, false);
}

const struct peer_role exchange_server = { "server", run_server }, exchange_client = { "client", run_client };

/* ---- in the test ---- */

void exchange_start(struct proc *proc, bool is_server, const struct exchange_arg *arg)
{
	peer_start(proc, is_server ? "dpu" : "host", is_server ? &exchange_server : &exchange_client, arg,
		   sizeof(*arg));
}

void exchange_hear(struct proc *proc, char wanted)
{
	char byte;

	proc_recv(proc->ctl, &byte, 1);
	assert_int_equal(byte, wanted);
}

void exchange_thaw(struct proc *proc)
{
	proc_send(proc->ctl, "!", 1);
}

struct exchange_status exchange_ask(struct proc *proc)
{
	struct exchange_status status;

	proc_send(proc->ctl, "?", 1);
	proc_recv(proc->ctl, &status, sizeof(status));
	return status;
}
