/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at Comm Channel: outgoing messages, incoming messages, connections.
 *
 * In each cell the host sends four texts to the DPU's service, and a fault hits the second one. A second pair of
 * endpoints must not be affected. Both sides sleep on event channels. */
#include <bfsim.h>
#include <doca_comm_channel.h>
#include <poll.h>

#include "cell.h"

#define OTHER "other"

static const char *const texts[] = { "one", "two", "three", "four" };

/* An endpoint, and its peer on the host's side. */
struct end {
	struct side *side;
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer;
};

static struct end end_of(struct side *side)
{
	struct end end = { .side = side };

	MUST(doca_comm_channel_ep_create(&end.ep));
	MUST(doca_comm_channel_ep_set_device(end.ep, side->dev));
	if (side->is_dpu)
		MUST(doca_comm_channel_ep_set_device_rep(end.ep, side->rep));
	return end;
}

static struct end listen_as(struct side *side, const char *name)
{
	struct end end = end_of(side);

	MUST(doca_comm_channel_ep_listen(end.ep, name));
	return end;
}

static void destroy(struct end *end)
{
	MUST(doca_comm_channel_ep_destroy(end->ep));
}

/* ---- sleeping ---- */

static void sleep_on(doca_event_channel_t fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	CHECK(poll(&wait, 1, -1) == 1);
}

static void await_news(struct end *end)
{
	doca_event_channel_t fd;

	if (end->side->is_busy)
		return;
	MUST(doca_comm_channel_ep_get_event_channel(end->ep, NULL, &fd));
	MUST(doca_comm_channel_ep_event_handle_arm_recv(end->ep));
	sleep_on(fd);
}

static doca_error_t await_service(struct end *end)
{
	doca_event_channel_t fd;
	doca_error_t result;

	MUST(doca_comm_channel_ep_get_event_channel(end->ep, &fd, NULL));
	while ((result = doca_comm_channel_peer_addr_update_info(end->peer)) == DOCA_ERROR_CONNECTION_INPROGRESS) {
		if (end->side->is_busy)
			continue;
		MUST(doca_comm_channel_ep_event_handle_arm_send(end->ep));
		sleep_on(fd);
	}
	return result;
}

/* ---- messages ---- */

static doca_error_t say(struct end *end, const char *text)
{
	return doca_comm_channel_ep_sendto(end->ep, text, strlen(text), DOCA_CC_MSG_FLAG_NONE, end->peer);
}

static struct end connect_to(struct side *side, const char *name)
{
	struct end end = end_of(side);

	MUST(doca_comm_channel_ep_connect(end.ep, name, &end.peer));
	MUST(await_service(&end));
	MUST(say(&end, "hi"));
	return end;
}

/* Trace the next text, or the error in its place. */
static void hear(struct end *end)
{
	struct side *side = end->side;
	char text[sizeof(side->message)];
	doca_error_t result;
	size_t len;

	do {
		len = sizeof(text);
		result = doca_comm_channel_ep_recvfrom(end->ep, text, &len, DOCA_CC_MSG_FLAG_NONE, &end->peer);
		if (result == DOCA_ERROR_AGAIN)
			await_news(end);
	} while (result == DOCA_ERROR_AGAIN);
	if (result == DOCA_SUCCESS)
		comch_note(side, "%.*s ", (int)len, text);
	else
		comch_note(side, "%s ", doca_error_get_name(result) + strlen("DOCA_ERROR_"));
}

/* Restore a second message that differs by one bit. */
static void unflip(char *trace)
{
	unsigned int wrong = 0;

	for (int i = 0; i < 3; i++)
		wrong += (unsigned int)__builtin_popcount((uint8_t)(trace[4 + i] ^ texts[1][i]));
	CHECK(wrong == 1);
	memcpy(trace + 4, texts[1], 3);
}

static void hear_all(struct end *end, const char *expected)
{
	struct side *side = end->side;

	while (strlen(side->trace) < strlen(expected))
		hear(end);
	if (cell_is("flip"))
		unflip(side->trace);
	if (strcmp(side->trace, expected) != 0)
		check_fail(__FILE__, __LINE__, "heard", side->trace, expected);
	comch_forget(side);
}

/* A service accepts its client when it is polled for a message. */
static void accept_first(struct end *service)
{
	hear(service);
	CHECK(strcmp(service->side->trace, "hi ") == 0);
	comch_forget(service->side);
}

/* ---- the other endpoints ---- */

static void use_other_dpu(struct end *other)
{
	hear(other);
	CHECK(strcmp(other->side->trace, "ping ") == 0);
	MUST(say(other, "pong"));
	comch_meet(other->side);
	destroy(other);
}

static void use_other_host(struct end *other)
{
	MUST(say(other, "ping"));
	hear(other);
	CHECK(strcmp(other->side->trace, "pong ") == 0);
	comch_meet(other->side);
	destroy(other);
}

/* ---- cells of messages ---- */

static bool is_at_receiver(void)
{
	return strcmp(cell->op, "comm_channel.recv") == 0;
}

static void messages_dpu(struct side *side)
{
	struct end service = listen_as(side, COMCH_NAME), other = listen_as(side, OTHER);

	comch_sync_send(side, 0);
	accept_first(&service);
	accept_first(&other);
	cell_begin(side, is_at_receiver());
	if (is_at_receiver())
		comch_meet(side); /* all have been sent */
	hear_all(&service, cell->on_dpu);
	if (cell_is("delay"))
		CHECK(cell_since_ns(comch_sync_recv(side)) >= CELL_DELAY_NS);
	if (is_at_receiver())
		cell_expect_hit();
	comch_meet(side);
	use_other_dpu(&other);
	destroy(&service);
}

static void say_all(struct end *end)
{
	struct side *side = end->side;

	for (int i = 0; i < 4; i++)
		comch_note(side, "%s ", doca_error_get_name(say(end, texts[i])) + strlen("DOCA_"));
	if (strcmp(side->trace, cell->on_host) != 0)
		check_fail(__FILE__, __LINE__, "said", side->trace, cell->on_host);
	comch_forget(side);
}

/* The other end may learn of it later. */
static void see_it_broken(struct end *end)
{
	hear(end);
	CHECK(strcmp(end->side->trace, "CONNECTION_RESET ") == 0);
	comch_forget(end->side);
	EXPECT(doca_comm_channel_peer_addr_update_info(end->peer), DOCA_ERROR_CONNECTION_ABORTED);
}

static void messages_host(struct side *side)
{
	struct end client, other;
	uint64_t begin_ns;

	comch_sync_recv(side);
	client = connect_to(side, COMCH_NAME);
	other = connect_to(side, OTHER);
	cell_begin(side, !is_at_receiver());
	begin_ns = bfsim_now_ns();
	say_all(&client);
	if (is_at_receiver())
		comch_meet(side);
	if (cell_is("delay"))
		comch_sync_send(side, begin_ns);
	if (!is_at_receiver())
		cell_expect_hit();
	comch_meet(side);
	if (cell_is("break"))
		see_it_broken(&client);
	use_other_host(&other);
	destroy(&client);
}

/* The sender ends before its delayed message is due: no message is lost or late. */

static void left_dpu(struct side *side)
{
	struct end service = listen_as(side, COMCH_NAME);

	comch_sync_send(side, 0);
	accept_first(&service);
	cell_begin(side, is_at_receiver());
	hear_all(&service, cell->on_dpu);
	if (is_at_receiver())
		cell_expect_hit();
	destroy(&service);
}

static void left_host(struct side *side)
{
	struct end client;

	comch_sync_recv(side);
	client = connect_to(side, COMCH_NAME);
	cell_begin(side, !is_at_receiver());
	say_all(&client);
	if (!is_at_receiver())
		cell_expect_hit();
	destroy(&client);
}

/* ---- cells of connections ---- */

static void connect_dpu(struct side *side)
{
	struct end service = listen_as(side, COMCH_NAME), other = listen_as(side, OTHER);

	comch_sync_send(side, 0);
	if (cell_is("stall"))
		hear_all(&service, "one ");
	accept_first(&other);
	use_other_dpu(&other);
	destroy(&service);
}

static void connect_host(struct side *side)
{
	struct end client = end_of(side), other;
	uint64_t begin_ns = bfsim_now_ns();

	comch_sync_recv(side);
	cell_arm();
	if (cell_is("stall")) {
		MUST(doca_comm_channel_ep_connect(client.ep, COMCH_NAME, &client.peer));
		EXPECT(doca_comm_channel_peer_addr_update_info(client.peer), DOCA_ERROR_CONNECTION_INPROGRESS);
		EXPECT(say(&client, "early"), DOCA_ERROR_AGAIN);
		MUST(await_service(&client));
		CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS);
		MUST(say(&client, "one"));
	} else {
		EXPECT(doca_comm_channel_ep_connect(client.ep, COMCH_NAME, &client.peer),
		       cell_is("fail") ? DOCA_ERROR_TIME_OUT : DOCA_ERROR_CONNECTION_ABORTED);
	}
	cell_expect_hit();
	other = connect_to(side, OTHER);
	use_other_host(&other);
	destroy(&client);
}

#define ALL      "one two three four "
#define OTHERS   "one three four "
#define TWICE    "one two two three four "
#define BEHIND   "one three two four "
#define CUT      "one t three four "
#define SAID_ALL "SUCCESS SUCCESS SUCCESS SUCCESS "
#define BROKEN   "one CONNECTION_RESET "

static const struct cell cells[] = {
	{ "comm_channel.send", "refuse", "nth=2 refuse", messages_dpu, messages_host, OTHERS,
	  "SUCCESS ERROR_AGAIN SUCCESS SUCCESS " },
	{ "comm_channel.send", "refuse", "nth=2 refuse=NO_MEMORY", messages_dpu, messages_host, OTHERS,
	  "SUCCESS ERROR_NO_MEMORY SUCCESS SUCCESS " },
	{ "comm_channel.send", "fail", "nth=2 fail=TIME_OUT", messages_dpu, messages_host, OTHERS,
	  "SUCCESS ERROR_TIME_OUT SUCCESS SUCCESS " },
	{ "comm_channel.send", "delay", "nth=2 delay=500ms", messages_dpu, messages_host, ALL, SAID_ALL },
	{ "comm_channel.send", "drop", "nth=2 drop", messages_dpu, messages_host, OTHERS, SAID_ALL },
	{ "comm_channel.send", "duplicate", "nth=2 duplicate", messages_dpu, messages_host, TWICE, SAID_ALL },
	{ "comm_channel.send", "reorder", "nth=2 reorder=1", messages_dpu, messages_host, BEHIND, SAID_ALL },
	{ "comm_channel.send", "reorder", "nth=4 reorder=3", messages_dpu, messages_host, ALL,
	  SAID_ALL }, /* no message follows */
	{ "comm_channel.send", "delay", "nth=4 delay=3600s", left_dpu, left_host, ALL "CONNECTION_RESET ", SAID_ALL },
	{ "comm_channel.recv", "delay", "nth=2 delay=3600s", left_dpu, left_host, ALL "CONNECTION_RESET ", SAID_ALL },
	{ "comm_channel.send", "reorder", "nth=4 reorder=3", left_dpu, left_host, ALL "CONNECTION_RESET ", SAID_ALL },
	{ "comm_channel.recv", "reorder", "nth=4 reorder=3", left_dpu, left_host, ALL "CONNECTION_RESET ", SAID_ALL },
	{ "comm_channel.recv", "reorder", "nth=3 reorder=3", left_dpu, left_host,
	  "one two four three CONNECTION_RESET ", SAID_ALL },
	{ "comm_channel.send", "truncate", "nth=2 truncate=1", messages_dpu, messages_host, CUT, SAID_ALL },
	{ "comm_channel.send", "flip", "nth=2 flip=1", messages_dpu, messages_host, ALL, SAID_ALL },
	{ "comm_channel.send", "break", "nth=2 break", messages_dpu, messages_host, BROKEN,
	  "SUCCESS ERROR_CONNECTION_RESET ERROR_CONNECTION_RESET ERROR_CONNECTION_RESET " },
	{ "comm_channel.recv", "fail", "nth=2 fail=TIME_OUT", messages_dpu, messages_host, "one TIME_OUT three four ",
	  SAID_ALL },
	{ "comm_channel.recv", "delay", "nth=2 delay=500ms", messages_dpu, messages_host, ALL, SAID_ALL },
	{ "comm_channel.recv", "drop", "nth=2 drop", messages_dpu, messages_host, OTHERS, SAID_ALL },
	{ "comm_channel.recv", "duplicate", "nth=2 duplicate", messages_dpu, messages_host, TWICE, SAID_ALL },
	{ "comm_channel.recv", "reorder", "nth=2 reorder=1", messages_dpu, messages_host, BEHIND, SAID_ALL },
	{ "comm_channel.recv", "truncate", "nth=2 truncate=1", messages_dpu, messages_host, CUT, SAID_ALL },
	{ "comm_channel.recv", "flip", "nth=2 flip=1", messages_dpu, messages_host, ALL, SAID_ALL },
	{ "comm_channel.recv", "break", "nth=2 break", messages_dpu, messages_host, BROKEN, SAID_ALL },
	{ "comm_channel.connect", "refuse", "nth=1 refuse", connect_dpu, connect_host, NULL, NULL },
	{ "comm_channel.connect", "fail", "nth=1 fail=TIME_OUT", connect_dpu, connect_host, NULL, NULL },
	{ "comm_channel.connect", "stall", "nth=1 stall=3s", connect_dpu, connect_host, NULL, NULL },
};

int main(void)
{
	return cell_run("channel", cells, sizeof(cells) / sizeof(cells[0]));
}
