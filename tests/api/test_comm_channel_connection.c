/* SPDX-License-Identifier: BSD-3-Clause */
/* Two Comm Channel endpoints: connections, messages, and their ends. */
#include "channel_util.h"

#include <poll.h>
#include <stdio.h>

#define NUM_MESSAGES 1000

static uint64_t counter(doca_error_t (*get)(const struct doca_comm_channel_addr_t *, uint64_t *),
			const struct doca_comm_channel_addr_t *peer)
{
	uint64_t value = 77;

	MUST(get(peer, &value));
	return value;
}

/* Whether it is readable now. */
static bool is_readable(int fd)
{
	struct pollfd look = { .fd = fd, .events = POLLIN };

	return poll(&look, 1, 0) == 1;
}

/* ---- a handshake, both ways, and what is counted ---- */

static uint32_t num_pending(struct side *side)
{
	uint32_t pending = 77;

	MUST(doca_comm_channel_ep_update_service_state_info(side->ep));
	MUST(doca_comm_channel_ep_get_pending_connections(side->ep, &pending));
	return pending;
}

static uint32_t list_peers(struct side *side, struct doca_comm_channel_addr_t ***ret_list)
{
	uint32_t count = 77;

	MUST(doca_comm_channel_ep_update_service_state_info(side->ep));
	MUST(doca_comm_channel_ep_get_peer_addr_list(side->ep, ret_list, &count));
	return count;
}

static void test_service_takes_client_in_recvfrom_dpu(struct side *side)
{
	struct doca_comm_channel_addr_t **list;
	doca_event_channel_t service;
	uint64_t data = 77;

	MUST(doca_comm_channel_ep_listen(side->ep, CHANNEL_NAME));
	MUST(doca_comm_channel_ep_get_service_event_channel(side->ep, &service));
	CHECK(num_pending(side) == 0);
	CHECK(!is_readable(service));
	channel_sync_send(side, 'l');
	channel_sync_recv(side, 'c'); /* the client has requested a connection: an event */
	channel_sleep(service);
	CHECK(num_pending(side) == 1);
	CHECK(list_peers(side, &list) == 0);
	channel_sync_send(side, 'p');
	channel_sync_recv(side, 'w');
	channel_expect(side, "hello"); /* ... and this accepts it */
	channel_sleep(service);
	CHECK(num_pending(side) == 0);
	CHECK(list_peers(side, &list) == 1);
	CHECK(list[0] == side->peer);
	MUST(doca_comm_channel_peer_addr_get_user_data(side->peer, &data));
	CHECK(data == 0);
	MUST(doca_comm_channel_peer_addr_set_user_data(side->peer, 42));
	MUST(doca_comm_channel_peer_addr_get_user_data(side->peer, &data));
	CHECK(data == 42);
	channel_say(side, "to you too");
	/* As of the last update: no message yet. */
	CHECK(counter(doca_comm_channel_peer_addr_get_recv_messages, side->peer) == 0);
	MUST(doca_comm_channel_peer_addr_update_info(side->peer));
	CHECK(counter(doca_comm_channel_peer_addr_get_recv_messages, side->peer) == 1);
	CHECK(counter(doca_comm_channel_peer_addr_get_recv_bytes, side->peer) == 5);
	CHECK(counter(doca_comm_channel_peer_addr_get_send_messages, side->peer) == 1);
	CHECK(counter(doca_comm_channel_peer_addr_get_send_bytes, side->peer) == 10);
	CHECK(counter(doca_comm_channel_peer_addr_get_send_in_flight_messages, side->peer) == 0);
	channel_sync_send(side, 'd');
	EXPECT(channel_receive(side), DOCA_ERROR_CONNECTION_RESET);
	CHECK(list_peers(side, &list) == 0);
}

static void test_service_takes_client_in_recvfrom_host(struct side *side)
{
	char byte;
	size_t len = 1;

	channel_sync_recv(side, 'l');
	MUST(doca_comm_channel_ep_connect(side->ep, CHANNEL_NAME, &side->peer));
	/* provokes: doca_comm_channel_peer_addr_update_info DOCA_ERROR_CONNECTION_INPROGRESS */
	EXPECT(doca_comm_channel_peer_addr_update_info(side->peer), DOCA_ERROR_CONNECTION_INPROGRESS);
	/* provokes: doca_comm_channel_ep_sendto DOCA_ERROR_AGAIN */
	EXPECT(doca_comm_channel_ep_sendto(side->ep, "x", 1, 0, side->peer), DOCA_ERROR_AGAIN);
	/* provokes: doca_comm_channel_ep_recvfrom DOCA_ERROR_AGAIN */
	EXPECT(doca_comm_channel_ep_recvfrom(side->ep, &byte, &len, 0, &side->peer), DOCA_ERROR_AGAIN);
	CHECK(len == 1);
	channel_sync_send(side, 'c');
	channel_sync_recv(side, 'p');
	EXPECT(doca_comm_channel_peer_addr_update_info(side->peer), DOCA_ERROR_CONNECTION_INPROGRESS);
	channel_sync_send(side, 'w');
	channel_say(side, "hello");
	MUST(doca_comm_channel_peer_addr_update_info(side->peer));
	channel_expect(side, "to you too");
	channel_sync_recv(side, 'd');
}

/* ---- a client that waits before it is connected ---- */

static void test_client_that_armed_its_event_channel_connects_dpu(struct side *side)
{
	MUST(doca_comm_channel_ep_listen(side->ep, CHANNEL_NAME));
	channel_sync_send(side, 'l');
	channel_expect(side, "hello");
	channel_sync_send(side, 'd');
	EXPECT(channel_receive(side), DOCA_ERROR_CONNECTION_RESET);
}

/* It polls all the same. */
static void test_client_that_armed_its_event_channel_connects_host(struct side *side)
{
	doca_error_t result;

	channel_sync_recv(side, 'l');
	MUST(doca_comm_channel_ep_connect(side->ep, CHANNEL_NAME, &side->peer));
	MUST(doca_comm_channel_ep_event_handle_arm_recv(side->ep));
	while ((result = doca_comm_channel_peer_addr_update_info(side->peer)) == DOCA_ERROR_CONNECTION_INPROGRESS)
		;
	MUST(result);
	channel_say(side, "hello");
	channel_sync_recv(side, 'd');
}

/* ---- a full queue ---- */

static void number_to(char *text, size_t size, uint32_t number)
{
	snprintf(text, size, "message %u", number);
}

static void test_full_queue_says_again_and_loses_nothing_dpu(struct side *side)
{
	char text[32];

	MUST(doca_comm_channel_ep_set_recv_queue_size(side->ep, 8));
	MUST(doca_comm_channel_ep_listen(side->ep, CHANNEL_NAME));
	channel_sync_send(side, 'l');
	channel_expect(side, "first");
	channel_sync_send(side, 't');
	channel_sync_recv(side, 'f'); /* it is full */
	for (uint32_t i = 0; i < NUM_MESSAGES; i++) {
		number_to(text, sizeof(text), i);
		channel_expect(side, text);
	}
	channel_say(side, "enough");
	EXPECT(channel_receive(side), DOCA_ERROR_CONNECTION_RESET);
}

static void test_full_queue_says_again_and_loses_nothing_host(struct side *side)
{
	doca_error_t result = DOCA_SUCCESS;
	doca_event_channel_t room;
	uint32_t sent = 0;
	char text[32];

	channel_sync_recv(side, 'l');
	MUST(doca_comm_channel_ep_connect(side->ep, CHANNEL_NAME, &side->peer));
	MUST(doca_comm_channel_ep_get_event_channel(side->ep, &room, NULL));
	channel_say(side, "first");
	channel_sync_recv(side, 't');
	while (result == DOCA_SUCCESS) {
		number_to(text, sizeof(text), sent);
		result = doca_comm_channel_ep_sendto(side->ep, text, strlen(text), 0, side->peer);
		sent += result == DOCA_SUCCESS;
	}
	EXPECT(result, DOCA_ERROR_AGAIN);
	CHECK(sent == 8);
	MUST(doca_comm_channel_ep_event_handle_arm_send(side->ep));
	CHECK(!is_readable(room)); /* the receive queue is still full */
	channel_sync_send(side, 'f');
	for (; sent < NUM_MESSAGES; sent++) {
		number_to(text, sizeof(text), sent);
		channel_say(side, text);
	}
	channel_expect(side, "enough");
}

/* ---- what can't be sent or received ---- */

static void test_wrong_messages_are_refused_dpu(struct side *side)
{
	struct doca_comm_channel_addr_t *peer = NULL;
	char text[16];
	size_t len = 3;

	MUST(doca_comm_channel_ep_set_max_msg_size(side->ep, 100));
	MUST(doca_comm_channel_ep_listen(side->ep, CHANNEL_NAME));
	channel_sync_send(side, 'l');
	channel_expect(side, "first");
	channel_sync_recv(side, 's');
	/* A message longer than the buffer stays in the queue, until there is a larger buffer. */
	/* provokes: doca_comm_channel_ep_recvfrom DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comm_channel_ep_recvfrom(side->ep, text, &len, 0, &peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comm_channel_ep_recvfrom(side->ep, text, &len, 0, &peer), DOCA_ERROR_INVALID_VALUE);
	CHECK(len == 3 && !peer);
	EXPECT(doca_comm_channel_ep_recvfrom(side->ep, text, &len, 1, &peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comm_channel_ep_recvfrom(side->ep, NULL, &len, 0, &peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comm_channel_ep_recvfrom(side->ep, text, NULL, 0, &peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comm_channel_ep_recvfrom(side->ep, text, &len, 0, NULL), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comm_channel_ep_recvfrom(NULL, text, &len, 0, &peer), DOCA_ERROR_INVALID_VALUE);
	len = 6;
	MUST(doca_comm_channel_ep_recvfrom(side->ep, text, &len, 0, &peer));
	CHECK(len == 6 && memcmp(text, "second", 6) == 0);
	CHECK(peer == side->peer);
	channel_sync_send(side, 'd');
	EXPECT(channel_receive(side), DOCA_ERROR_CONNECTION_RESET);
}

static void test_wrong_messages_are_refused_host(struct side *side)
{
	struct doca_comm_channel_addr_t *peer;
	char bytes[101] = { 0 };

	MUST(doca_comm_channel_ep_set_max_msg_size(side->ep, 100));
	channel_sync_recv(side, 'l');
	MUST(doca_comm_channel_ep_connect(side->ep, CHANNEL_NAME, &side->peer));
	channel_say(side, "first");
	peer = side->peer;
	/* provokes: doca_comm_channel_ep_sendto DOCA_ERROR_INVALID_VALUE */
	EXPECT(doca_comm_channel_ep_sendto(side->ep, bytes, 101, 0, peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comm_channel_ep_sendto(side->ep, bytes, 0, 0, peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comm_channel_ep_sendto(side->ep, bytes, 1, 1, peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comm_channel_ep_sendto(side->ep, NULL, 1, 0, peer), DOCA_ERROR_INVALID_VALUE);
	EXPECT(doca_comm_channel_ep_sendto(NULL, bytes, 1, 0, peer), DOCA_ERROR_INVALID_VALUE);
	/* provokes: doca_comm_channel_ep_sendto DOCA_ERROR_NOT_CONNECTED */
	EXPECT(doca_comm_channel_ep_sendto(side->ep, bytes, 1, 0, NULL), DOCA_ERROR_NOT_CONNECTED);
	EXPECT(doca_comm_channel_ep_sendto(side->ep, bytes, 1, 0, (struct doca_comm_channel_addr_t *)side->ep),
	       DOCA_ERROR_NOT_CONNECTED);
	channel_say(side, "second");
	channel_sync_send(side, 's');
	channel_sync_recv(side, 'd');
	MUST(doca_comm_channel_ep_disconnect(side->ep, peer));
	EXPECT(doca_comm_channel_ep_sendto(side->ep, bytes, 1, 0, peer), DOCA_ERROR_NOT_CONNECTED);
	/* provokes: doca_comm_channel_ep_disconnect DOCA_ERROR_NOT_CONNECTED */
	EXPECT(doca_comm_channel_ep_disconnect(side->ep, peer), DOCA_ERROR_NOT_CONNECTED);
}

/* ---- ends ---- */

/* Sleep until the endpoint knows that the peer is gone. */
static void wait_until_gone(struct side *side, struct doca_comm_channel_addr_t *peer)
{
	doca_event_channel_t service;
	doca_error_t result;

	MUST(doca_comm_channel_ep_get_service_event_channel(side->ep, &service));
	for (;;) {
		MUST(doca_comm_channel_ep_update_service_state_info(side->ep));
		result = doca_comm_channel_peer_addr_update_info(peer);
		if (result != DOCA_SUCCESS)
			break;
		channel_sleep(service);
	}
	/* provokes: doca_comm_channel_peer_addr_update_info DOCA_ERROR_CONNECTION_ABORTED */
	EXPECT(result, DOCA_ERROR_CONNECTION_ABORTED);
}

/* Messages sent before the end arrive before it. The service gets the end once, and continues. */
static void test_client_that_goes_is_gone_behind_its_last_message_dpu(struct side *side)
{
	struct doca_comm_channel_addr_t *gone;

	MUST(doca_comm_channel_ep_listen(side->ep, CHANNEL_NAME));
	channel_sync_send(side, 'l');
	for (int round = 0; round < 3; round++) {
		channel_expect(side, "hello");
		gone = side->peer;
		channel_sync_send(side, 'h');
		channel_sync_recv(side, 'g'); /* the peer sent "goodbye" and disconnected */
		wait_until_gone(side, gone);
		/* provokes: doca_comm_channel_ep_sendto DOCA_ERROR_CONNECTION_RESET */
		EXPECT(doca_comm_channel_ep_sendto(side->ep, "x", 1, 0, gone), DOCA_ERROR_CONNECTION_RESET);
		channel_expect(side, "goodbye");
		/* provokes: doca_comm_channel_ep_recvfrom DOCA_ERROR_CONNECTION_RESET */
		EXPECT(channel_receive(side), DOCA_ERROR_CONNECTION_RESET);
		CHECK(side->peer == gone);
		EXPECT(doca_comm_channel_ep_sendto(side->ep, "x", 1, 0, gone), DOCA_ERROR_CONNECTION_RESET);
		side->message_len = 1;
		EXPECT(doca_comm_channel_ep_recvfrom(side->ep, side->message, &side->message_len, 0, &side->peer),
		       DOCA_ERROR_AGAIN);
		MUST(doca_comm_channel_ep_disconnect(side->ep, gone));
		EXPECT(doca_comm_channel_peer_addr_update_info(gone), DOCA_ERROR_INVALID_VALUE);
		channel_sync_send(side, 'n');
	}
}

/* The same endpoint connects anew. */
static void test_client_that_goes_is_gone_behind_its_last_message_host(struct side *side)
{
	channel_sync_recv(side, 'l');
	for (int round = 0; round < 3; round++) {
		MUST(doca_comm_channel_ep_connect(side->ep, CHANNEL_NAME, &side->peer));
		channel_say(side, "hello");
		channel_sync_recv(side, 'h');
		channel_say(side, "goodbye");
		MUST(doca_comm_channel_ep_disconnect(side->ep, side->peer));
		channel_sync_send(side, 'g');
		channel_sync_recv(side, 'n');
	}
}

static void test_service_lets_go_of_client_dpu(struct side *side)
{
	MUST(doca_comm_channel_ep_listen(side->ep, CHANNEL_NAME));
	channel_sync_send(side, 'l');
	channel_expect(side, "hello");
	channel_say(side, "goodbye");
	MUST(doca_comm_channel_ep_disconnect(side->ep, side->peer));
	channel_expect(side, "me again");
	channel_sync_send(side, 'd');
	channel_sync_recv(side, 'd');
}

/* A client that does not disconnect gets the error each time, and can still be woken. */
static void test_service_lets_go_of_client_host(struct side *side)
{
	struct doca_comm_channel_addr_t *peer;

	channel_sync_recv(side, 'l');
	MUST(doca_comm_channel_ep_connect(side->ep, CHANNEL_NAME, &side->peer));
	channel_say(side, "hello");
	peer = side->peer;
	channel_expect(side, "goodbye");
	for (int i = 0; i < 3; i++) {
		EXPECT(channel_receive(side), DOCA_ERROR_CONNECTION_RESET);
		CHECK(side->peer == peer);
		EXPECT(doca_comm_channel_ep_sendto(side->ep, "x", 1, 0, peer), DOCA_ERROR_CONNECTION_RESET);
		MUST(doca_comm_channel_ep_event_handle_arm_recv(side->ep));
	}
	/* provokes: doca_comm_channel_ep_connect DOCA_ERROR_NOT_PERMITTED */
	EXPECT(doca_comm_channel_ep_connect(side->ep, CHANNEL_NAME, &side->peer), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_comm_channel_ep_disconnect(side->ep, peer));
	channel_connect(side);
	channel_say(side, "me again");
	channel_sync_recv(side, 'd');
	channel_sync_send(side, 'd');
}

/* ---- names and states ---- */

static void test_names_and_states_dpu(struct side *side)
{
	struct doca_comm_channel_addr_t **list;
	struct doca_comm_channel_ep_t *other;
	uint32_t count;

	MUST(doca_comm_channel_ep_listen(side->ep, CHANNEL_NAME));
	MUST(doca_comm_channel_ep_create(&other));
	MUST(doca_comm_channel_ep_set_device(other, side->dev));
	MUST(doca_comm_channel_ep_set_device_rep(other, side->rep));
	/* provokes: doca_comm_channel_ep_listen DOCA_ERROR_CONNECTION_ABORTED */
	EXPECT(doca_comm_channel_ep_listen(other, CHANNEL_NAME), DOCA_ERROR_CONNECTION_ABORTED);
	MUST(doca_comm_channel_ep_listen(other, "another")); /* as idle as before */
	MUST(doca_comm_channel_ep_destroy(other));
	channel_sync_send(side, 'l');
	channel_expect(side, "hello");
	MUST(doca_comm_channel_ep_update_service_state_info(side->ep));
	MUST(doca_comm_channel_ep_get_peer_addr_list(side->ep, &list, &count));
	CHECK(count == 1);
	MUST(doca_comm_channel_ep_disconnect(side->ep, side->peer)); /* a disconnected peer leaves the list */
	MUST(doca_comm_channel_ep_get_peer_addr_list(side->ep, &list, &count));
	CHECK(count == 0);
	channel_sync_recv(side, 'd');
	MUST(doca_comm_channel_ep_destroy(side->ep));
	side->ep = NULL;
	channel_sync_send(side, 'e');
}

static void test_names_and_states_host(struct side *side)
{
	struct doca_comm_channel_addr_t **list, *peer;
	doca_event_channel_t fd;
	uint32_t count;

	channel_sync_recv(side, 'l');
	/* provokes: doca_comm_channel_ep_connect DOCA_ERROR_CONNECTION_ABORTED */
	EXPECT(doca_comm_channel_ep_connect(side->ep, "another", &peer), DOCA_ERROR_CONNECTION_ABORTED);
	MUST(doca_comm_channel_ep_connect(side->ep, CHANNEL_NAME, &side->peer));
	channel_say(side, "hello");
	EXPECT(doca_comm_channel_ep_set_device(side->ep, side->dev), DOCA_ERROR_BAD_STATE);
	EXPECT(doca_comm_channel_ep_set_max_msg_size(side->ep, 100), DOCA_ERROR_BAD_STATE);
	EXPECT(doca_comm_channel_ep_set_send_queue_size(side->ep, 100), DOCA_ERROR_BAD_STATE);
	EXPECT(doca_comm_channel_ep_set_recv_queue_size(side->ep, 100), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_comm_channel_ep_update_service_state_info DOCA_ERROR_NOT_SUPPORTED */
	EXPECT(doca_comm_channel_ep_update_service_state_info(side->ep), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_comm_channel_ep_get_peer_addr_list DOCA_ERROR_NOT_SUPPORTED */
	EXPECT(doca_comm_channel_ep_get_peer_addr_list(side->ep, &list, &count), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_comm_channel_ep_get_pending_connections DOCA_ERROR_NOT_SUPPORTED */
	EXPECT(doca_comm_channel_ep_get_pending_connections(side->ep, &count), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_comm_channel_ep_get_service_event_channel DOCA_ERROR_NOT_SUPPORTED */
	EXPECT(doca_comm_channel_ep_get_service_event_channel(side->ep, &fd), DOCA_ERROR_NOT_SUPPORTED);
	channel_sync_send(side, 'd');
	channel_sync_recv(side, 'e');
	MUST(doca_comm_channel_ep_disconnect(side->ep, side->peer));
	EXPECT(doca_comm_channel_ep_connect(side->ep, CHANNEL_NAME, &peer), DOCA_ERROR_CONNECTION_ABORTED);
}

/* Endpoints of different message sizes do not connect. */
static void test_other_message_size_fails_the_connection_dpu(struct side *side)
{
	doca_event_channel_t service;

	MUST(doca_comm_channel_ep_set_max_msg_size(side->ep, 100));
	MUST(doca_comm_channel_ep_listen(side->ep, CHANNEL_NAME));
	MUST(doca_comm_channel_ep_get_service_event_channel(side->ep, &service));
	channel_sync_send(side, 'l');
	channel_sync_recv(side, 'c'); /* the request is under way ... */
	channel_sleep(service);       /* ... and has arrived */
	side->message_len = sizeof(side->message);
	EXPECT(doca_comm_channel_ep_recvfrom(side->ep, side->message, &side->message_len, 0, &side->peer),
	       DOCA_ERROR_AGAIN);
	channel_sync_recv(side, 'd');
}

static void test_other_message_size_fails_the_connection_host(struct side *side)
{
	MUST(doca_comm_channel_ep_set_max_msg_size(side->ep, 200));
	channel_sync_recv(side, 'l');
	MUST(doca_comm_channel_ep_connect(side->ep, CHANNEL_NAME, &side->peer));
	channel_sync_send(side, 'c');
	EXPECT(channel_receive(side), DOCA_ERROR_CONNECTION_RESET);
	EXPECT(doca_comm_channel_peer_addr_update_info(side->peer), DOCA_ERROR_CONNECTION_ABORTED);
	channel_sync_send(side, 'd');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHANNEL_TEST(test_service_takes_client_in_recvfrom),
		CHANNEL_TEST(test_client_that_armed_its_event_channel_connects),
		CHANNEL_TEST(test_full_queue_says_again_and_loses_nothing),
		CHANNEL_TEST(test_wrong_messages_are_refused),
		CHANNEL_TEST(test_client_that_goes_is_gone_behind_its_last_message),
		CHANNEL_TEST(test_service_lets_go_of_client),
		CHANNEL_TEST(test_names_and_states),
		CHANNEL_TEST(test_other_message_size_fails_the_connection),
	};

	return cmocka_run_group_tests(tests, channel_session_start, channel_session_end);
}
