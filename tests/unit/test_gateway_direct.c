/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct links: two gateways and home, whose messages arrive in any order that a network can give them, with connections that fail and
 * break at any moment. And what a machine must not send. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/base/queue.h"
#include "sim/gateway/direct.h"
#include "sim/gateway/outage.h"
#include "sim/gateway/slow_link.h"
#include "sim/gateway/secure.h"

#define NUM_MACHINES 3 /* home, and the pair */
#define NUM_SEEDS    400
#define NUM_STEPS    600
#define PORT         7450

/* ---- frames under way ---- */

struct message {
	struct gateway_frame frame;
	STAILQ_ENTRY(message) entry;
	uint8_t body[];
};

STAILQ_HEAD(messages, message);

static void put(struct messages *to, const struct gateway_frame *frame)
{
	struct message *message = malloc(sizeof(*message) + frame->len_bytes);

	assert_non_null(message);
	message->frame = *frame;
	message->frame.body = message->body;
	if (frame->len_bytes > 0)
		memcpy(message->body, frame->body, frame->len_bytes);
	STAILQ_INSERT_TAIL(to, message, entry);
}

static struct message *take(struct messages *from)
{
	struct message *message = STAILQ_FIRST(from);

	if (message)
		STAILQ_REMOVE_HEAD(from, entry);
	return message;
}

static void drop_all(struct messages *messages)
{
	struct message *message;

	while ((message = take(messages)))
		free(message);
}

/* ---- the world ---- */

/* One end of a connection between the pair. */
struct end {
	struct link link;
	struct gateway *gateway;
	struct end *peer; /* NULL = not connected, or not any more */
	uint64_t number;
	bool is_proved, is_closed, was_told;
	struct messages in;
	LIST_ENTRY(end) entry;
};

struct node {
	struct gateway gateway;
	struct gateway_machine machines[NUM_MACHINES];
	struct link home;         /* this machine's end of its link to home; home's of the one to it */
	struct messages up, down; /* to home, from home */
	uint64_t key;             /* the number of the nonce that it has; 0 = none */
	/* Of what its programs send and receive: the last reset, and the next number after it. */
	uint64_t tag, next_sent, next_received;
	uint32_t num_resets, num_direct;
};

static struct node nodes[NUM_MACHINES];
static LIST_HEAD(, end) ends;
static unsigned int rng;

static unsigned int pick(unsigned int below)
{
	rng = rng * 1103515245u + 12345u;
	return (rng >> 16) % below;
}

static struct node *node_of(const struct gateway *gateway)
{
	for (int i = 0; i < NUM_MACHINES; i++)
		if (&nodes[i].gateway == gateway)
			return &nodes[i];
	fail_msg("no gateway");
	return NULL;
}

static struct end *end_of(const struct link *link)
{
	struct end *end;

	LIST_FOREACH(end, &ends, entry)
		if (&end->link == link)
			return end;
	return NULL;
}

/* ---- in place of link.c, rail_msg.c and secure.c ---- */

void link_send(struct link *link, const struct gateway_frame *frame)
{
	struct end *end = end_of(link);

	if (end && end->link.state == LINK_UP && end->peer)
		put(&end->peer->in, frame);
	for (int i = 1; i < NUM_MACHINES; i++) {
		if (link == &nodes[i].home)
			put(&nodes[i].up, frame);
		else if (link == nodes[0].machines[i].link)
			put(&nodes[i].down, frame);
	}
}

void link_close(struct link *link, const char *words)
{
	struct end *end = end_of(link);

	assert_non_null(end);
	if (end->is_closed)
		return;
	end->is_closed = true;
	link->state = LINK_CLOSING;
	snprintf(link->words, sizeof(link->words), "%s", words);
}

void link_set_up(struct link *link, uint32_t machine)
{
	link->machine = machine;
	link->state = LINK_UP;
}

struct link *link_create(const struct link_cfg *cfg)
{
	struct end *end = calloc(1, sizeof(*end));

	assert_non_null(end);
	STAILQ_INIT(&end->in);
	end->gateway = cfg->arg;
	end->number = cfg->number;
	end->link = (struct link){ .ops = cfg->ops,
				   .arg = cfg->arg,
				   .is_server = cfg->is_server,
				   .is_direct = true,
				   .machine = LINK_NO_MACHINE,
				   .secure = (struct secure *)(void *)end };
	LIST_INSERT_HEAD(&ends, end, entry);
	return &end->link;
}

void link_destroy(struct link *link)
{
	fail_msg("connecting does not fail at once here");
}

int rail_open(const struct rail_cfg *cfg, struct rail **ret_rail)
{
	assert_string_equal(cfg->host, "192.0.2.1");
	assert_string_equal(cfg->port, "7450");
	return 0;
}

int rail_connect(struct rail *rail, void *owner, struct rail_conn **ret_conn)
{
	return 0;
}

uint16_t rail_port(const struct rail *rail)
{
	return PORT;
}

void rail_host(const struct rail *rail, char text[RAIL_HOST_SIZE])
{
	strcpy(text, "192.0.2.1");
}

void rail_peer_host(const struct rail_conn *conn, char text[RAIL_HOST_SIZE])
{
	strcpy(text, "192.0.2.1");
}

static struct node *keys_of(struct secure_keys *keys)
{
	return (struct node *)(void *)keys;
}

int secure_keys_add(struct secure_keys *keys, bool is_server, uint64_t number, const uint8_t nonce[SECURE_NONCE_BYTES])
{
	keys_of(keys)->key = number;
	return 0;
}

void secure_keys_remove(struct secure_keys *keys, uint64_t number)
{
	if (keys_of(keys)->key == number)
		keys_of(keys)->key = 0;
}

int secure_make_nonce(uint8_t nonce[SECURE_NONCE_BYTES])
{
	memset(nonce, 1, SECURE_NONCE_BYTES);
	return 0;
}

uint64_t secure_number(const struct secure *secure)
{
	return ((const struct end *)(const void *)secure)->number;
}

/* ---- in place of members.c and outage.c ---- */

static void refuse(struct gateway *gateway, const char *words)
{
}

void outage_drop(struct gateway *gateway, uint32_t machine)
{
}

bool outage_takes(struct gateway *gateway, uint32_t hop, const struct gateway_frame *frame)
{
	return false;
}

bool slow_link_takes(struct gateway *gateway, struct link *link, const struct gateway_frame *frame)
{
	return false;
}

bool slow_link_is_full(const struct gateway *gateway, uint32_t machine)
{
	return false;
}

static void reset(struct gateway *gateway, uint32_t machine, const char *words)
{
	struct node *node = node_of(gateway);

	node->tag = gateway->machines[machine].direct->number;
	node->next_sent = node->next_received = 0;
	node->num_resets++;
}

/* A frame of a program: of after the last break that both know of, and the next one of these. */
static void take_frame(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct node *node = node_of(gateway);

	if (frame->kind >= GATEWAY_READY && frame->kind <= GATEWAY_BREAK) {
		direct_on_frame(gateway, frame);
		return;
	}
	assert_int_equal(frame->a, node->tag);
	assert_int_equal(frame->b, node->next_received);
	node->next_received++;
}

static const struct direct_ops direct_ops = { .reset = reset, .take_frame = take_frame, .refuse = refuse };

/* ---- steps ---- */

static void send_frame(uint32_t from)
{
	struct node *node = &nodes[from];
	struct gateway_frame frame = { .kind = pick(4) == 0 ? GATEWAY_IMPORT : GATEWAY_RECORDS,
				       .a = node->tag,
				       .b = node->next_sent++ };

	assert_int_equal(gateway_send(&node->gateway, 3 - from, &frame), 0);
}

static void take_at_home(uint32_t from)
{
	struct message *message = take(&nodes[from].up);

	if (!message)
		return;
	if (message->frame.kind == GATEWAY_WISH)
		direct_home_on_wish(&nodes[0].gateway, nodes[0].machines[from].link, &message->frame);
	else if (message->frame.kind == GATEWAY_LISTENS)
		direct_home_on_listens(&nodes[0].gateway, nodes[0].machines[from].link, &message->frame);
	else
		put(&nodes[message->frame.to].down, &message->frame);
	free(message);
}

static void take_from_home(uint32_t to)
{
	struct message *message = take(&nodes[to].down);
	struct gateway *gateway = &nodes[to].gateway;

	if (!message)
		return;
	if (message->frame.kind == GATEWAY_DIRECT_OFFER)
		direct_on_offer(gateway, &message->frame);
	else if (!direct_is_void(gateway, &message->frame))
		take_frame(gateway, &message->frame);
	free(message);
}

static void take_direct(struct end *end)
{
	struct message *message = end->is_closed ? NULL : take(&end->in);

	if (message)
		end->link.ops->on_frame(end->link.arg, &end->link, &message->frame);
	free(message);
}

static void prove(struct end *end)
{
	end->is_proved = true;
	end->link.state = LINK_JOINING;
	end->link.ops->on_proved(end->link.arg, &end->link);
}

static void end_with(struct end *end, const char *words)
{
	if (end->is_closed)
		return;
	end->is_closed = true;
	end->link.state = LINK_CLOSED;
	snprintf(end->link.words, sizeof(end->link.words), "%s", words);
}

/* The client connects to the other machine, and proves itself first. */
static void connect_end(struct end *client)
{
	struct node *server = &nodes[client->gateway->self == 1 ? 2 : 1];
	struct end *end;

	if (pick(8) == 0) {
		end_with(client, "nobody listens there");
		return;
	}
	if (server->key != client->number) {
		end_with(client, "it does not have the offer");
		return;
	}
	end = end_of(link_create(&(struct link_cfg){
		.ops = &direct_link_ops, .arg = &server->gateway, .number = client->number, .is_server = true }));
	end->peer = client;
	client->peer = end;
	prove(client);
}

static void step_end(struct end *end)
{
	if (end->is_closed) { /* settled later */
		if (end->was_told)
			return;
		end->was_told = true;
		end->link.ops->on_lost(end->link.arg, &end->link, end->link.words);
		if (end->peer)
			end->peer->peer = NULL;
	} else if (!end->is_proved && !end->link.is_server && !end->peer) {
		connect_end(end);
	} else if (!end->peer) {
		end_with(end, "the other side has closed the connection");
	} else if (!end->is_proved && end->peer->is_proved) {
		prove(end);
	} else {
		take_direct(end);
	}
}

static void step(bool may_break)
{
	uint32_t machine = 1 + pick(2), which = 0, count = 0;
	struct end *end;

	switch (pick(6)) {
	case 0:
		send_frame(machine);
		break;
	case 1:
		take_at_home(machine);
		break;
	case 2:
		take_from_home(machine);
		break;
	default:
		LIST_FOREACH(end, &ends, entry)
			count++;
		which = count > 0 ? pick(count) : 0;
		LIST_FOREACH(end, &ends, entry)
			if (which-- == 0)
				break;
		if (end && may_break && pick(60) == 0)
			end_with(end, "it has not answered for five seconds");
		else if (end)
			step_end(end);
	}
	for (int i = 1; i < NUM_MACHINES; i++) {
		struct direct *direct = nodes[i].gateway.machines[3 - i].direct;

		if (direct && direct->state == DIRECT_NONE && direct->wish_ns < UINT64_MAX)
			direct->wish_ns = 0; /* time has passed */
	}
}

static void open_world(unsigned int seed, bool first_listens, bool second_listens)
{
	static struct link home_ends[NUM_MACHINES];

	memset(nodes, 0, sizeof(nodes));
	LIST_INIT(&ends);
	rng = seed;
	for (uint32_t i = 0; i < NUM_MACHINES; i++) {
		struct node *node = &nodes[i];

		STAILQ_INIT(&node->up);
		STAILQ_INIT(&node->down);
		home_ends[i] = (struct link){ .state = LINK_UP, .machine = i };
		node->home = (struct link){ .state = LINK_UP, .machine = 0 };
		node->gateway = (struct gateway){ .self = i,
						  .cfg.is_home = i == 0,
						  .machines = node->machines,
						  .num_machines = NUM_MACHINES,
						  .direct_ops = &direct_ops,
						  .keys = (struct secure_keys *)(void *)node };
		for (int j = 0; j < NUM_MACHINES; j++)
			node->machines[j] = (struct gateway_machine){ .name = "other", .is_joined = true };
		if (i > 0) {
			node->machines[0].link = &node->home;
			nodes[0].machines[i].link = &home_ends[i];
			LIST_INSERT_HEAD(&node->gateway.links, &node->home, entry);
		}
		if ((i == 1 && first_listens) || (i == 2 && second_listens)) {
			node->gateway.listener = (struct rail *)(void *)node;
			direct_say_listens(&node->gateway);
		}
	}
}

static void close_world(void)
{
	struct end *end;

	for (int i = 0; i < NUM_MACHINES; i++) {
		drop_all(&nodes[i].up);
		drop_all(&nodes[i].down);
		free(nodes[0].machines[i].offers);
		for (int j = 0; j < NUM_MACHINES; j++) {
			if (nodes[i].machines[j].direct)
				held_drop(&nodes[i].machines[j].direct->held);
			free(nodes[i].machines[j].direct);
		}
	}
	while ((end = LIST_FIRST(&ends))) {
		drop_all(&end->in);
		LIST_REMOVE(end, entry);
		free(end);
	}
}

/* Let all that is under way arrive, and connections that fail be made anew. */
static void settle(void)
{
	for (int i = 0; i < 20 * NUM_STEPS; i++)
		step(false);
	for (int i = 0; i < NUM_STEPS; i++)
		for (uint32_t machine = 1; machine < NUM_MACHINES; machine++) {
			struct end *end;

			take_at_home(machine);
			take_from_home(machine);
			LIST_FOREACH(end, &ends, entry)
				step_end(end);
		}
}

static enum direct_way way_of(uint32_t machine)
{
	const struct direct *direct = nodes[machine].machines[3 - machine].direct;

	return direct ? direct->way : DIRECT_BY_HOME;
}

/* ---- tests ---- */

/* Each frame arrives once and in order, but for those of before a break, of which both sides know. In the end the pair is direct. */
static void test_no_frame_is_lost_or_overtaken(void **state)
{
	uint32_t num_resets = 0;

	for (unsigned int seed = 1; seed <= NUM_SEEDS; seed++) {
		open_world(seed, seed % 3 != 0, seed % 3 != 1);
		for (int i = 0; i < NUM_STEPS; i++)
			step(seed % 2 == 0);
		settle();
		for (uint32_t i = 1; i < NUM_MACHINES; i++) {
			assert_int_equal(nodes[i].tag, nodes[3 - i].tag);
			assert_int_equal(nodes[i].next_received, nodes[3 - i].next_sent);
			assert_int_equal(way_of(i), DIRECT_SWITCHED);
			num_resets += nodes[i].num_resets;
			assert_true(seed % 2 == 0 || nodes[i].num_resets == 0);
		}
		close_world();
	}
	assert_true(num_resets > NUM_SEEDS / 4); /* breaks were tried */
}

static void test_a_pair_of_which_none_listens_stays_with_home(void **state)
{
	open_world(1, false, false);
	for (int i = 0; i < NUM_STEPS; i++)
		step(true);
	settle();
	for (uint32_t i = 1; i < NUM_MACHINES; i++) {
		assert_int_equal(nodes[i].next_received, nodes[3 - i].next_sent);
		assert_int_equal(way_of(i), DIRECT_BY_HOME);
		assert_string_equal(nodes[i].machines[3 - i].direct->words,
				    "neither machine listens (bfsim join --listen)");
	}
	close_world();
}

/* A direct pair; *ret_end is machine 1's end. */
static void open_pair(struct end **ret_end)
{
	open_world(1, true, false);
	while (way_of(1) != DIRECT_SWITCHED || way_of(2) != DIRECT_SWITCHED)
		step(false);
	*ret_end = end_of(nodes[1].machines[2].direct->link);
	assert_non_null(*ret_end);
}

static void expect_closed(struct gateway_frame frame, bool has_confirmed, const char *words)
{
	struct end *end;

	open_pair(&end);
	nodes[1].machines[2].direct->has_confirmed = has_confirmed;
	end->link.ops->on_frame(end->link.arg, &end->link, &frame);
	assert_true(end->is_closed);
	assert_string_equal(end->link.words, words);
	close_world();
}

static void test_a_machine_that_breaks_the_rules_loses_its_link(void **state)
{
	expect_closed((struct gateway_frame){ .kind = GATEWAY_READ, .from = 0, .to = 1 }, true,
		      "it speaks for another machine");
	expect_closed((struct gateway_frame){ .kind = GATEWAY_READ, .from = 2, .to = 0 }, true,
		      "it speaks for another machine");
	expect_closed((struct gateway_frame){ .kind = GATEWAY_READ, .from = 2, .to = 1 }, false,
		      "it has sent what goes by way of home");
	expect_closed((struct gateway_frame){ .kind = GATEWAY_SWITCH, .from = 2, .to = 1 }, true,
		      "it has sent what goes by way of home");
	expect_closed((struct gateway_frame){ .kind = GATEWAY_SWITCHED, .from = 2, .to = 1, .id = 1 }, true,
		      "it confirms what was not asked");
	expect_closed((struct gateway_frame){ .kind = GATEWAY_MACHINES, .from = 2, .to = 1 }, true,
		      "it has sent a frame that is not its to send");
}

/* A nonce is good once: then a connection that proves it is of no offer. */
static void test_an_offer_is_good_for_one_connection(void **state)
{
	struct end *end, *second;

	open_pair(&end);
	assert_int_equal(nodes[1].key, 0);
	second = end_of(link_create(&(struct link_cfg){
		.ops = &direct_link_ops, .arg = &nodes[1].gateway, .number = end->number, .is_server = true }));
	second->link.ops->on_proved(second->link.arg, &second->link);
	assert_true(second->is_closed);
	assert_string_equal(second->link.words, "its offer is over");
	second->link.ops->on_lost(second->link.arg, &second->link, second->link.words);
	assert_false(end->is_closed);
	assert_int_equal(way_of(1), DIRECT_SWITCHED);
	close_world();
}

/* Of a link that is up, or of none, or with what is no address. */
static void test_offers_that_make_no_sense_are_ignored(void **state)
{
	uint8_t body[GATEWAY_OFFER_MAX_BYTES] = "nonce of thirty-two bytes, not 0";
	struct gateway_frame frame = {
		.kind = GATEWAY_DIRECT_OFFER, .id = 99, .a = 2, .body = body, .len_bytes = GATEWAY_NONCE_BYTES
	};
	struct end *end;

	open_pair(&end);
	direct_on_offer(&nodes[1].gateway, &frame);
	assert_int_equal(nodes[1].machines[2].direct->number, end->number);
	close_world();
	open_world(1, true, false);
	for (uint64_t machine = 0; machine < 6;
	     machine += machine == 1 ? 2 : 1) { /* home, this one, and those that there are not */
		frame.a = machine;
		direct_on_offer(&nodes[1].gateway, &frame);
	}
	frame.a = 1;
	direct_on_offer(&nodes[2].gateway, &frame); /* it does not listen */
	frame.b = PORT;
	direct_on_offer(&nodes[2].gateway, &frame); /* where? */
	memcpy(body + GATEWAY_NONCE_BYTES, "localhost", 9);
	frame.len_bytes += 9;
	direct_on_offer(&nodes[2].gateway, &frame); /* no numbers */
	for (int i = 0; i < NUM_MACHINES; i++)
		assert_true(!nodes[1].machines[i].direct && !nodes[2].machines[i].direct);
	close_world();
}

/* Without a link it is answered, so that the other machine does not wait. */
static void test_a_break_of_an_unknown_link_breaks_nothing(void **state)
{
	struct gateway_frame frame = { .kind = GATEWAY_BREAK, .from = 2, .to = 1, .id = 77 };
	struct end *end;

	open_pair(&end);
	settle();
	direct_on_frame(&nodes[1].gateway, &frame);
	assert_int_equal(nodes[1].num_resets, 0);
	assert_int_equal(way_of(1), DIRECT_SWITCHED);
	assert_true(STAILQ_EMPTY(&end->peer->in));
	close_world();
	open_world(1, false, false);
	direct_on_frame(&nodes[1].gateway, &frame);
	assert_int_equal(nodes[1].num_resets, 0);
	assert_int_equal(STAILQ_FIRST(&nodes[1].up)->frame.kind, GATEWAY_BREAK);
	assert_int_equal(STAILQ_FIRST(&nodes[1].up)->frame.a, 1);
	close_world();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_frame_is_lost_or_overtaken),
		cmocka_unit_test(test_a_pair_of_which_none_listens_stays_with_home),
		cmocka_unit_test(test_a_machine_that_breaks_the_rules_loses_its_link),
		cmocka_unit_test(test_an_offer_is_good_for_one_connection),
		cmocka_unit_test(test_offers_that_make_no_sense_are_ignored),
		cmocka_unit_test(test_a_break_of_an_unknown_link_breaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
