/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels between processes, connected by the daemon: which listener a client finds, the messages that arrive, and
 * the status at each end when the other closes. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "session_util.h"
#include "channel_actor.h"

#define PATIENT_MS PROC_DEADLINE_MS
#define CLIENTS    64

static struct channel_actor dpu, host;

static int setup(void **state)
{
	session_setup(state);
	channel_actor_attach(&dpu, test_session.dir, "dpu");
	channel_actor_attach(&host, test_session.dir, "host");
	return 0;
}

static void end_card(void)
{
	channel_actor_detach(&host);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

/* The host's channel 0 and the DPU's channel 0 are the ends of an open one. */
static void open_channel(void)
{
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, "echo", PATIENT_MS, "hi"), 0);
	channel_actor_expect_offer(&dpu, 0, 0, "hi");
	assert_int_equal(channel_actor_accept(&dpu, 0, "welcome"), 0);
	channel_actor_expect_msg(&host, 0, "welcome", 1);
	channel_actor_expect_status(&host, 0, 0);
}

/* ---- connecting ---- */

static void test_a_client_that_comes_later_is_accepted(void **state)
{
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, "echo", PATIENT_MS, "hi"), 0);
	channel_actor_expect_offer(&dpu, 0, 0, "hi");
	channel_actor_expect_status(&host, 0, -EINPROGRESS);
	channel_actor_expect_status(&dpu, 0, -EINPROGRESS);
	assert_int_equal(channel_actor_accept(&dpu, 0, "welcome"), 0);
	channel_actor_expect_status(&dpu, 0, 0);
	channel_actor_expect_status(&host, 0, 0);
	channel_actor_expect_msg(&host, 0, "welcome", 1);
	end_card();
}

static void test_a_client_that_comes_first_waits_for_its_server(void **state)
{
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, "echo", PATIENT_MS, "hi"), 0);
	channel_actor_expect_status(&host, 0, -EINPROGRESS);
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	channel_actor_expect_offer(&dpu, 0, 0, "hi");
	assert_int_equal(channel_actor_accept(&dpu, 0, "welcome"), 0);
	channel_actor_expect_msg(&host, 0, "welcome", 1);
	end_card();
}

/* Another name, and another function's representor: both requests time out. */
static void test_a_server_under_another_address_is_not_found(void **state)
{
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, "Echo", 0, "hi"), 0);
	assert_int_equal(channel_actor_connect(&host, 1, HOST1, "echo", 0, "hi"), 0);
	channel_actor_expect_status(&host, 0, -ECONNREFUSED);
	channel_actor_expect_status(&host, 1, -ECONNREFUSED);
	end_card();
}

static void test_connection_request_times_out(void **state)
{
	int64_t from_ms = proc_now_ms();

	assert_int_equal(channel_actor_connect(&host, 0, HOST0, "echo", 300, "hi"), 0);
	assert_int_equal(channel_actor_connect(&host, 1, HOST0, "echo", UINT32_MAX, "hi"), 0);
	channel_actor_expect_status(&host, 0, -ECONNREFUSED);
	assert_in_range(proc_now_ms() - from_ms, 299, PROC_DEADLINE_MS);
	channel_actor_expect_status(&host, 1, -EINPROGRESS);
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	channel_actor_expect_offer(&dpu, 0, 0, "hi"); /* to channel 1, whose timeout has not expired */
	assert_int_equal(channel_actor_accept(&dpu, 0, "welcome"), 0);
	channel_actor_expect_status(&host, 1, 0);
	end_card();
}

static void test_a_name_is_served_once_until_its_server_stops(void **state)
{
	struct channel_actor second;

	channel_actor_attach(&second, test_session.dir, "dpu");
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	assert_int_equal(channel_actor_listen(&dpu, 1, DPU0, HOST0, "echo"), -EADDRINUSE);
	assert_int_equal(channel_actor_listen(&second, 0, DPU0, HOST0, "echo"), -EADDRINUSE);
	assert_int_equal(channel_actor_listen(&second, 0, DPU1, HOST1, "echo"), 0);
	channel_actor_unlisten(&dpu, 0);
	assert_int_equal(channel_actor_listen(&second, 1, DPU0, HOST0, "echo"), 0);
	channel_actor_detach(&second);
	end_card();
}

static void test_what_is_not_of_this_side_is_refused(void **state)
{
	char name[SIM_SERVICE_NAME_SIZE + 1];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST1, "echo"), -EINVAL);
	assert_int_equal(channel_actor_listen(&dpu, 0, HOST0, HOST0, "echo"), -EINVAL);
	assert_int_equal(channel_actor_listen(&host, 0, DPU0, HOST0, "echo"), -EINVAL);
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, name), -ENAMETOOLONG);
	assert_int_equal(channel_actor_connect(&host, 0, DPU0, "echo", 0, "hi"), -EINVAL);
	assert_int_equal(channel_actor_connect(&host, 0, 99, "echo", 0, "hi"), -EINVAL);
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, name, 0, "hi"), -ENAMETOOLONG);
	name[SIM_SERVICE_NAME_SIZE - 1] = '\0';
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, name), 0);
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, name, 0, "hi"), 0);
	channel_actor_expect_offer(&dpu, 0, 0, "hi");
	end_card();
}

static void test_many_clients_have_channels_of_their_own(void **state)
{
	struct channel_actor clients[CLIENTS];
	char text[32];

	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	for (int i = 0; i < CLIENTS; i++) {
		channel_actor_attach(&clients[i], test_session.dir, "host");
		snprintf(text, sizeof(text), "client %d", i);
		assert_int_equal(channel_actor_connect(&clients[i], 0, HOST0, "echo", PATIENT_MS, text), 0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		snprintf(text, sizeof(text), "client %d", i);
		channel_actor_expect_offer(&dpu, 0, i, text);
		assert_int_equal(channel_actor_accept(&dpu, i, text), 0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		snprintf(text, sizeof(text), "client %d", i);
		channel_actor_expect_msg(&clients[i], 0, text, 1);
		assert_int_equal(channel_actor_send(&clients[i], 0, text, 0), 0);
		channel_actor_expect_msg(&dpu, i, text, 0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		channel_actor_detach(&clients[i]);
		channel_actor_expect_status(&dpu, i, -ECONNRESET);
	}
	end_card();
}

/* ---- messages ---- */

static void test_messages_arrive_in_order_both_ways(void **state)
{
	char text[32];

	open_channel();
	for (uint32_t i = 0; i < 60; i++) {
		snprintf(text, sizeof(text), "message %u", i);
		assert_int_equal(channel_actor_send(&host, 0, text, i % 4), 0);
		assert_int_equal(channel_actor_send(&dpu, 0, text, (i + 1) % 4), 0);
	}
	for (uint32_t i = 0; i < 60; i++) {
		snprintf(text, sizeof(text), "message %u", i);
		channel_actor_expect_msg(&dpu, 0, text, i % 4);
		channel_actor_expect_msg(&host, 0, text, (i + 1) % 4);
	}
	assert_false(channel_actor_has_msg(&host, 0));
	end_card();
}

static void test_messages_sent_before_a_close_arrive_before_it(void **state)
{
	open_channel();
	assert_int_equal(channel_actor_send(&host, 0, "one", 3), 0);
	assert_int_equal(channel_actor_send(&host, 0, "two", 0), 0);
	channel_actor_close(&host, 0, -EPROTO);
	channel_actor_expect_status(&dpu, 0, -EPROTO);
	channel_actor_expect_msg(&dpu, 0, "one", 3);
	channel_actor_expect_msg(&dpu, 0, "two", 0);
	assert_false(channel_actor_has_msg(&dpu, 0));
	assert_int_equal(channel_actor_send(&dpu, 0, "three", 1), -EPROTO);
	end_card();
}

/* The client closes and detaches with unread messages: its own last messages still arrive. */
static void test_last_messages_arrive_from_an_end_that_reads_nothing(void **state)
{
	open_channel();
	for (int i = 0; i < 20; i++)
		assert_int_equal(channel_actor_send(&dpu, 0, "unread", 1), 0);
	assert_int_equal(channel_actor_send(&host, 0, "last", 2), 0);
	channel_actor_detach(&host);
	channel_actor_expect_status(&dpu, 0, -ECONNRESET);
	channel_actor_expect_msg(&dpu, 0, "last", 2);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

static void test_a_nudge_notifies_the_other_end(void **state)
{
	open_channel();
	for (int i = 0; i < 3; i++) {
		channel_actor_wake(&host, 0);
		channel_actor_expect_notification(&dpu, 0);
		channel_actor_wake(&dpu, 0);
		channel_actor_expect_notification(&host, 0);
	}
	end_card();
}

/* A stopped process reads nothing, so its socket fills up. The wake-up in between reaches it when it continues. */
static void test_a_nudge_for_a_stopped_process_is_not_lost(void **state)
{
	struct channel_actor other;

	open_channel();
	channel_actor_attach(&other, test_session.dir, "host");
	assert_int_equal(channel_actor_connect(&other, 0, HOST0, "echo", PATIENT_MS, "hi"), 0);
	channel_actor_expect_offer(&dpu, 0, 1, "hi");
	assert_int_equal(channel_actor_accept(&dpu, 1, "welcome"), 0);
	channel_actor_expect_msg(&other, 0, "welcome", 1);
	proc_signal(&dpu.proc, SIGSTOP);
	while (channel_actor_send(&other, 0, "fills its socket", 0) == 0)
		;
	channel_actor_expect_status(&other, 0, -ENOBUFS);
	channel_actor_wake(&host, 0);
	channel_actor_wake(&host, 0);
	proc_signal(&dpu.proc, SIGCONT);
	channel_actor_expect_notification(&dpu, 0);
	channel_actor_expect_status(&dpu, 1, -ENOBUFS); /* nor did the server receive any of them */
	channel_actor_detach(&other);
	end_card();
}

/* ---- closing ---- */

static void test_each_end_gets_the_reason_of_the_other(void **state)
{
	static const int reasons[][2] = { { -ECONNRESET, -ECONNRESET }, { -EPROTO, -EPROTO },
					  { -EBUSY, -EBUSY },           { -ECONNREFUSED, -ECONNREFUSED },
					  { -EPIPE, -ECONNRESET },      { 0, -ECONNRESET },
					  { 5, -ECONNRESET },           { -ESHUTDOWN, -ECONNRESET } };

	open_channel();
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		struct channel_actor *closer = i % 2 ? &host : &dpu, *other = i % 2 ? &dpu : &host;

		channel_actor_close(closer, 0, reasons[i][0]);
		channel_actor_expect_status(other, 0, reasons[i][1]);
		channel_actor_close(other, 0, -ECONNRESET);
		assert_int_equal(channel_actor_connect(&host, 0, HOST0, "echo", PATIENT_MS, "again"), 0);
		channel_actor_expect_offer(&dpu, 0, 0, "again");
		assert_int_equal(channel_actor_accept(&dpu, 0, "welcome"), 0);
		channel_actor_expect_status(&host, 0, 0);
	}
	end_card();
}

static void test_an_offer_can_be_refused(void **state)
{
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, "echo", PATIENT_MS, "hi"), 0);
	channel_actor_expect_offer(&dpu, 0, 0, "hi");
	channel_actor_close(&dpu, 0, -EBUSY);
	channel_actor_expect_status(&host, 0, -EBUSY);
	end_card();
}

/* Take offers as @channel until one is @hello. The clients of those before said @gone and have given up, which may reach the server
 * after their offers. */
static void expect_offer_at_last(int channel, const char *gone, const char *hello)
{
	const struct channel_actor_request take = { .op = CHANNEL_ACTOR_RECV_OFFER, .channel = channel };

	for (;;) {
		struct channel_actor_reply reply;

		channel_actor_begin(&dpu, &take);
		reply = channel_actor_finish(&dpu);
		if (strcmp(reply.text, hello) == 0)
			return;
		assert_string_equal(reply.text, gone);
		channel_actor_close(&dpu, channel, -ECONNRESET);
	}
}

static void test_a_client_that_gives_up_is_not_accepted(void **state)
{
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, "echo", PATIENT_MS, "first"), 0);
	channel_actor_expect_offer(&dpu, 0, 0, "first");
	assert_int_equal(channel_actor_connect(&host, 1, HOST0, "echo", PATIENT_MS, "second"), 0);
	channel_actor_close(&host, 0, -ECONNRESET);
	channel_actor_close(&host, 1, -ECONNRESET);
	assert_int_equal(channel_actor_accept(&dpu, 0, "welcome"), -ECONNRESET);
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, "echo", PATIENT_MS, "third"), 0);
	expect_offer_at_last(1, "second", "third");
	end_card();
}

/* Its connect message has a descriptor, which the server's process got already. */
static void test_a_client_that_gives_up_leaves_nothing_at_the_server(void **state)
{
	struct channel_actor_request connect = { .op = CHANNEL_ACTOR_CONNECT,
						 .channel = 0,
						 .function = HOST0,
						 .timeout_ms = PATIENT_MS,
						 .num_fds = 1,
						 .text = "gives up",
						 .name = "echo" };
	int before = channel_actor_count_fds(&dpu);

	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	for (int i = 0; i < 3; i++) {
		channel_actor_begin(&host, &connect);
		assert_int_equal(channel_actor_finish(&host).rc, 0);
		channel_actor_close(&host, 0, -ECONNRESET);
	}
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, "echo", PATIENT_MS, "stays"), 0);
	expect_offer_at_last(0, "gives up", "stays");
	assert_int_equal(channel_actor_count_fds(&dpu), before);
	end_card();
}

static void test_those_not_taken_are_refused_when_listening_ends(void **state)
{
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "echo"), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(channel_actor_connect(&host, i, HOST0, "echo", PATIENT_MS, "hi"), 0);
	channel_actor_expect_offer(&dpu, 0, 0, "hi");
	channel_actor_unlisten(&dpu, 0);
	channel_actor_expect_status(&host, 1, -ECONNREFUSED);
	channel_actor_expect_status(&host, 2, -ECONNREFUSED);
	assert_int_equal(channel_actor_accept(&dpu, 0, "welcome"), 0); /* accepted before */
	channel_actor_expect_status(&host, 0, 0);
	end_card();
}

/* ---- on a private card ---- */

static void test_a_private_card_has_no_server(void **state)
{
	struct channel_actor alone, server;

	channel_actor_attach(&alone, NULL, "host");
	channel_actor_attach(&server, NULL, "dpu");
	assert_int_equal(channel_actor_listen(&server, 0, DPU0, HOST0, "echo"), 0);
	assert_int_equal(channel_actor_listen(&server, 1, DPU0, HOST0, "echo"), -EADDRINUSE);
	assert_int_equal(channel_actor_listen(&server, 1, DPU0, HOST1, "echo"), -EINVAL);
	channel_actor_unlisten(&server, 0);
	assert_int_equal(channel_actor_listen(&server, 1, DPU0, HOST0, "echo"), 0);
	assert_int_equal(channel_actor_connect(&alone, 0, HOST0, "echo", PATIENT_MS, "hi"), 0);
	channel_actor_expect_status(&alone, 0, -ECONNREFUSED);
	assert_int_equal(channel_actor_send(&alone, 0, "anybody?", 1), -ECONNREFUSED);
	channel_actor_wake(&alone, 0);
	assert_int_equal(channel_actor_connect(&alone, 1, DPU0, "echo", PATIENT_MS, "hi"), -EINVAL);
	channel_actor_detach(&alone);
	channel_actor_detach(&server);
	end_card();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_client_that_comes_later_is_accepted),
		TEST(test_a_client_that_comes_first_waits_for_its_server),
		TEST(test_a_server_under_another_address_is_not_found),
		TEST(test_connection_request_times_out),
		TEST(test_a_name_is_served_once_until_its_server_stops),
		TEST(test_what_is_not_of_this_side_is_refused),
		TEST(test_many_clients_have_channels_of_their_own),
		TEST(test_messages_arrive_in_order_both_ways),
		TEST(test_messages_sent_before_a_close_arrive_before_it),
		TEST(test_last_messages_arrive_from_an_end_that_reads_nothing),
		TEST(test_a_nudge_notifies_the_other_end),
		TEST(test_a_nudge_for_a_stopped_process_is_not_lost),
		TEST(test_each_end_gets_the_reason_of_the_other),
		TEST(test_an_offer_can_be_refused),
		TEST(test_a_client_that_gives_up_is_not_accepted),
		TEST(test_a_client_that_gives_up_leaves_nothing_at_the_server),
		TEST(test_those_not_taken_are_refused_when_listening_ends),
		TEST(test_a_private_card_has_no_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
