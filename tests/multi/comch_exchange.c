/* SPDX-License-Identifier: BSD-3-Clause */
/* A server or client that exchanges numbered messages and checks each. */
#include "comch_exchange.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "comch_endpoint.h"
#include "doca_check.h"

#define FROM_SERVER UINT32_C(0x80000000) /* sender of a server's messages: this flag and the client's number */

/* One connection. */
struct pair {
	uint32_t number; /* of the client */
	uint32_t in, out, done;
};

struct exchange {
	struct exchange_arg arg;
	int talk_fd;
	struct loop loop;
	struct talk *talks;
	uint32_t num_talks;
	uint32_t may_send;      /* on each connection */
	unsigned int num_whole; /* connections that had all and are over */
};

static struct exchange *exchange_of(const struct talk *talk)
{
	return talk->cfg.owner;
}

static struct pair *pair_of(struct doca_comch_connection *connection)
{
	return doca_comch_connection_get_user_data(connection).ptr;
}

static void say(const struct exchange *exchange, char what)
{
	proc_say(exchange->talk_fd, &what, 1);
}

static void feed(struct talk *talk, struct doca_comch_connection *connection)
{
	const struct exchange *exchange = exchange_of(talk);
	struct pair *pair = pair_of(connection);

	while (pair->out < exchange->may_send && pair->out - pair->done < exchange->arg.window &&
	       note_send(talk, connection, talk->server ? FROM_SERVER | pair->number : pair->number, pair->out))
		pair->out++;
}

/* Make no further progress until the test sends a byte. */
static void freeze(struct exchange *exchange, char why)
{
	char word;

	say(exchange, why);
	proc_hear(exchange->talk_fd, &word, 1);
}

static void on_connected(struct talk *talk, struct doca_comch_connection *connection)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	struct exchange *exchange = exchange_of(talk);

	CHECK(pair);
	pair->number = talk->number;
	MUST(doca_comch_connection_set_user_data(connection, (union doca_data){ .ptr = pair }));
	if (exchange->arg.freezes && talk->num_connected == 1)
		freeze(exchange, EXCHANGE_FROZEN);
	if (talk->client ||
	    exchange->arg.num_in == 0) /* a server waits until the client's first message names the addressee */
		feed(talk, connection);
}

static bool is_whole(const struct exchange *exchange, const struct pair *pair)
{
	return pair->in == exchange->arg.num_in && pair->done == exchange->arg.num_out;
}

static void on_disconnected(struct talk *talk, struct doca_comch_connection *connection)
{
	struct exchange *exchange = exchange_of(talk);
	struct pair *pair = pair_of(connection);

	CHECK(is_whole(exchange, pair)); /* messages sent before the stop have arrived before it */
	exchange->num_whole++;
	free(pair);
}

static void on_message(struct talk *talk, struct doca_comch_connection *connection, const uint8_t *bytes, uint32_t len)
{
	struct pair *pair = pair_of(connection);
	uint32_t sender = note_take(bytes, len, pair->in);

	if (talk->server && pair->in == 0)
		pair->number = sender;
	CHECK(sender == (talk->server ? pair->number : FROM_SERVER | pair->number));
	if (pair->in++ == 0)
		feed(talk, connection);
}

static void on_sent(struct talk *talk, struct doca_comch_connection *connection)
{
	pair_of(connection)->done++;
	feed(talk, connection);
}

/* ---- both roles ---- */

static void begin(struct exchange *exchange, int talk_fd, struct talk_cfg *ret_cfg)
{
	struct exchange_arg *arg = &exchange->arg;

	*exchange = (struct exchange){ .talk_fd = talk_fd };
	proc_hear(talk_fd, arg, sizeof(*arg));
	if (arg->window == 0)
		arg->window = UINT32_MAX;
	exchange->may_send = arg->withholds ? arg->withholds : arg->num_out;
	exchange->num_talks = arg->num_clients ? arg->num_clients : 1;
	exchange->talks = calloc(exchange->num_talks, sizeof(*exchange->talks));
	CHECK(exchange->talks);
	loop_open(&exchange->loop, arg->sleeps);
	loop_watch(&exchange->loop, talk_fd);
	*ret_cfg = (struct talk_cfg){ .name = arg->name,
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
	for (uint32_t i = 0; i < exchange->num_talks; i++) {
		struct talk *talk = &exchange->talks[i];

		if (talk->connection && (talk->client || pair_of(talk->connection)->in > 0))
			feed(talk, talk->connection);
	}
}

/* '?' asks for its status; '!' is no question. */
static void answer(struct exchange *exchange)
{
	struct exchange_status status = { 0 };
	char word;

	proc_hear(exchange->talk_fd, &word, 1);
	if (word == '!') {
		send_all(exchange);
		return;
	}
	for (uint32_t i = 0; i < exchange->num_talks; i++) {
		status.in_flight += talk_in_flight(&exchange->talks[i]);
		status.sent += exchange->talks[i].sent;
		status.received += exchange->talks[i].received;
	}
	proc_say(exchange->talk_fd, &status, sizeof(status));
}

static bool all_have_all(struct exchange *exchange)
{
	if (proc_hears_within(exchange->talk_fd, 0))
		answer(exchange);
	for (uint32_t i = 0; i < exchange->num_talks; i++) {
		const struct talk *talk = &exchange->talks[i];

		if (talk->server ? exchange->num_whole < exchange->arg.num_peers :
				   !talk->connection || !is_whole(exchange, pair_of(talk->connection)))
			return false;
	}
	return true;
}

/* From its start to its end. */
static void run(struct exchange *exchange)
{
	if (exchange->arg.waits)
		freeze(exchange, EXCHANGE_READY);
	for (uint32_t i = 0; i < exchange->num_talks; i++)
		talk_start(&exchange->talks[i]);
	say(exchange, EXCHANGE_STARTED);
	LOOP_UNTIL(&exchange->loop, all_have_all(exchange));
	if (exchange->arg.holds)
		freeze(exchange, EXCHANGE_HELD);
	for (uint32_t i = 0; i < exchange->num_talks; i++) {
		struct talk *talk = &exchange->talks[i];

		CHECK(talk->num_connected == (talk->server ? exchange->arg.num_peers : 1));
		CHECK(talk->num_refused == 0 && talk->failed == 0);
		talk_stop(talk);
		talk_close(talk);
	}
	CHECK(exchange->num_whole == (exchange->talks[0].server ? exchange->arg.num_peers : exchange->num_talks));
	loop_close(&exchange->loop);
	free(exchange->talks);
}

static void run_role(int talk_fd, bool is_server)
{
	struct exchange exchange;
	struct talk_cfg cfg;
	struct doca_dev *dev;

	begin(&exchange, talk_fd, &cfg);
	dev = device_open(is_server ? NULL : cfg.function);
	for (uint32_t i = 0; i < exchange.num_talks; i++) {
		if (is_server)
			talk_open_server(&exchange.talks[i], &cfg, &exchange.loop, dev);
		else
			talk_open_client(&exchange.talks[i], &cfg, &exchange.loop, dev);
		exchange.talks[i].number = exchange.arg.number + i;
	}
	run(&exchange);
	MUST(doca_dev_close(dev));
	say(&exchange, EXCHANGE_DONE);
	CHECK(proc_hears_within(talk_fd, PROC_DEADLINE_MS)); /* the test's end */
}

static void run_server(int talk_fd)
{
	run_role(talk_fd, true);
}

static void run_client(int talk_fd)
{
	run_role(talk_fd, false);
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
	char word;

	proc_hear(proc->talk, &word, 1);
	assert_int_equal(word, wanted);
}

void exchange_thaw(struct proc *proc)
{
	proc_say(proc->talk, "!", 1);
}

struct exchange_status exchange_ask(struct proc *proc)
{
	struct exchange_status status;

	proc_say(proc->talk, "?", 1);
	proc_hear(proc->talk, &status, sizeof(status));
	return status;
}
