/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that violate the channel protocol. The daemon does only what they are entitled to, and serves all
 * others. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "raw_client.h"
#include "session_util.h"
#include "channel_actor.h"

#define NUMBERS 8 /* channel numbers that an intruder tries */

static struct sim_msg connect_msg(uint64_t number)
{
	struct sim_msg msg = { .type = SIM_MSG_CONNECT,
			       .body.connect = {
				       .number = number, .function = HOST0, .rep = HOST0, .timeout_ms = 60000 } };

	strcpy(msg.body.connect.name, "echo");
	return msg;
}

static struct sim_msg listen_msg(uint64_t number)
{
	struct sim_msg msg = { .type = SIM_MSG_LISTEN,
			       .body.listen = { .number = number, .function = DPU0, .rep = HOST0 } };

	strcpy(msg.body.listen.name, "echo");
	return msg;
}

static struct sim_msg handshake_msg(uint16_t type, uint64_t number)
{
	return (struct sim_msg){ .type = type, .body.handshake.number = number };
}

static struct sim_msg channel_msg(uint16_t type, uint64_t number)
{
	return (struct sim_msg){ .type = type, .body.channel = { .number = number, .reason = -EPROTO } };
}

static struct sim_msg recv_of(int sock, uint16_t type)
{
	struct sim_msg msg;

	do
		msg = raw_recv(sock);
	while (msg.is_reply || msg.type != type);
	return msg;
}

/* An open channel between two raw ends: the server's number of it. The client's is 1. */
static uint64_t raw_open(int server, int client)
{
	uint64_t number;

	assert_int_equal(raw_call_fds(server, listen_msg(1), 0), 0);
	assert_int_equal(raw_call_fds(client, connect_msg(1), 0), 0);
	number = recv_of(server, SIM_MSG_OFFER).body.handshake.number;
	assert_int_equal(raw_call_fds(server, handshake_msg(SIM_MSG_ACCEPT, number), 0), 0);
	assert_int_equal(recv_of(client, SIM_MSG_ACCEPT).body.handshake.number, 1);
	return number;
}

static void expect_unharmed(void)
{
	struct channel_actor dpu, host;

	channel_actor_attach(&dpu, test_session.dir, "dpu");
	channel_actor_attach(&host, test_session.dir, "host");
	assert_int_equal(channel_actor_listen(&dpu, 0, DPU0, HOST0, "mine"), 0);
	assert_int_equal(channel_actor_connect(&host, 0, HOST0, "mine", PROC_DEADLINE_MS, "hi"), 0);
	channel_actor_expect_offer(&dpu, 0, 0, "hi");
	assert_int_equal(channel_actor_accept(&dpu, 0, "welcome"), 0);
	channel_actor_expect_msg(&host, 0, "welcome", 1);
	channel_actor_detach(&host);
	channel_actor_detach(&dpu);
	daemon_stop(&test_session.daemon);
}

static void test_channels_of_others_cannot_be_named(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host"), intruder = raw_attach("dpu");
	uint64_t number = raw_open(server, client);

	for (uint64_t i = 0; i < NUMBERS; i++) {
		uint64_t tried = i < NUMBERS / 2 ? i : number + i - NUMBERS / 2;

		assert_int_equal(raw_call_fds(intruder, handshake_msg(SIM_MSG_HANDSHAKE, tried), 1), -ENOENT);
		assert_int_equal(raw_call_fds(intruder, handshake_msg(SIM_MSG_ACCEPT, tried), 1), -ENOENT);
		assert_int_equal(raw_call_fds(intruder, channel_msg(SIM_MSG_UNLISTEN, tried), 0), 0);
		assert_int_equal(sim_msg_send(intruder, (struct sim_msg[]){ channel_msg(SIM_MSG_CLOSE, tried) }, -1),
				 0);
		assert_int_equal(
			sim_msg_send(intruder, (struct sim_msg[]){ channel_msg(SIM_MSG_NOTIFY_PEER, tried) }, 2), 0);
	}
	raw_settle(intruder);
	assert_false(proc_readable_within(server, 0));
	assert_false(proc_readable_within(client, 0));
	assert_int_equal(raw_call_fds(client, handshake_msg(SIM_MSG_HANDSHAKE, 1), 3), 0);
	assert_int_equal(recv_of(server, SIM_MSG_HANDSHAKE).body.handshake.number, number);
	close(intruder);
	close(client);
	close(server);
	expect_unharmed();
}

static void test_a_channel_cannot_be_used_before_it_is_accepted(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host");
	uint64_t number;

	assert_int_equal(raw_call_fds(client, connect_msg(1), 0), 0);
	assert_int_equal(raw_call_fds(client, handshake_msg(SIM_MSG_HANDSHAKE, 1), 1), -ENOENT);
	assert_int_equal(raw_call_fds(client, handshake_msg(SIM_MSG_ACCEPT, 1), 1), -ENOENT);
	assert_int_equal(raw_call_fds(server, listen_msg(1), 0), 0);
	number = recv_of(server, SIM_MSG_OFFER).body.handshake.number;
	assert_int_equal(raw_call_fds(client, handshake_msg(SIM_MSG_ACCEPT, 1), 1), -ENOENT);
	assert_int_equal(raw_call_fds(server, handshake_msg(SIM_MSG_HANDSHAKE, number), 1), -ENOENT);
	assert_int_equal(raw_call_fds(server, handshake_msg(SIM_MSG_ACCEPT, number), 1), 0);
	assert_int_equal(raw_call_fds(server, handshake_msg(SIM_MSG_ACCEPT, number), 1), -ENOENT);
	close(client);
	close(server);
	expect_unharmed();
}

static void test_wrong_messages_are_refused(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host"), before;
	struct sim_msg long_one = handshake_msg(SIM_MSG_HANDSHAKE, 1), with_fds = handshake_msg(SIM_MSG_HANDSHAKE, 1);
	struct sim_msg hello = connect_msg(2);

	raw_open(server, client);
	before = proc_num_fds(test_session.daemon.pid);
	long_one.body.handshake.msg.len_bytes = SIM_HANDSHAKE_MSG_SIZE + 1;
	assert_int_equal(raw_call_fds(client, long_one, 3), -EPROTO);
	with_fds.body.handshake.msg.num_fds = SIM_HANDSHAKE_MSG_FDS + 1;
	assert_int_equal(raw_call_fds(client, with_fds, 3), -EPROTO);
	with_fds.body.handshake.msg.num_fds = UINT32_MAX;
	assert_int_equal(raw_call_fds(client, with_fds, 3), -EPROTO);
	with_fds.body.handshake.msg.num_fds = 2;
	assert_int_equal(raw_call_fds(client, with_fds, 1), -EMFILE); /* the receiver's descriptor is missing */
	hello.body.connect.handshake.num_fds = 1;
	assert_int_equal(raw_call_fds(client, hello, 0), -EMFILE);
	assert_int_equal(raw_call_fds(client, handshake_msg(SIM_MSG_HANDSHAKE, 1), 3),
			 0); /* declares no descriptors: those sent are closed */
	raw_settle(server);
	assert_int_equal(proc_num_fds(test_session.daemon.pid), before);
	close(client);
	close(server);
	expect_unharmed();
}

static void test_names_without_an_end_are_cut(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host");
	struct sim_msg listen = listen_msg(1), connect = connect_msg(1);

	memset(listen.body.listen.name, 'x', sizeof(listen.body.listen.name));
	memset(connect.body.connect.name, 'x', sizeof(connect.body.connect.name));
	assert_int_equal(raw_call_fds(server, listen, 0), 0);
	assert_int_equal(raw_call_fds(client, connect, 0), 0);
	recv_of(server, SIM_MSG_OFFER);
	assert_int_equal(raw_call_fds(server, (struct sim_msg){ .type = SIM_MSG_STATUS }, 0), 0);
	close(client);
	close(server);
	expect_unharmed();
}

static void test_numbers_in_use_are_refused(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host");
	struct sim_msg other = listen_msg(1);

	raw_open(server, client);
	assert_int_equal(raw_call_fds(client, connect_msg(1), 0), -EINVAL);
	assert_int_equal(raw_call_fds(client, connect_msg(UINT64_MAX), 0), -EINVAL);
	strcpy(other.body.listen.name, "else");
	assert_int_equal(raw_call_fds(server, other, 0), -EINVAL);
	close(client);
	close(server);
	expect_unharmed();
}

/* Messages that only the daemon may send. */
static void test_an_offer_from_a_process_ends_its_connection(void **state)
{
	int sock = raw_attach("dpu");
	struct sim_msg offer = handshake_msg(SIM_MSG_OFFER, 1);
	char byte;

	assert_int_equal(sim_msg_send(sock, &offer, 2), 0);
	assert_true(proc_readable_within(sock, PROC_DEADLINE_MS));
	assert_true(recv(sock, &byte, 1, 0) <= 0);
	close(sock);
	expect_unharmed();
}

static void test_a_process_has_a_limited_number_of_pending_connections(void **state)
{
	int client = raw_attach("host"), before = proc_num_fds(test_session.daemon.pid);
	struct sim_msg hello = connect_msg(0);

	hello.body.connect.handshake.num_fds = 1;
	for (uint64_t i = 0; i < SIM_MAX_UNACCEPTED; i++) {
		hello.body.connect.number = i;
		assert_int_equal(raw_call_fds(client, hello, 1), 0);
	}
	assert_int_equal(proc_num_fds(test_session.daemon.pid), before + SIM_MAX_UNACCEPTED);
	hello.body.connect.number = SIM_MAX_UNACCEPTED;
	assert_int_equal(raw_call_fds(client, hello, 1), -EDQUOT);
	close(client);
	expect_unharmed();
}

/* A client requests connections and cancels them, and the server reads nothing: the daemon keeps a bounded number. */
static void test_offers_to_a_server_that_does_not_read_are_bounded(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host"), before = proc_num_fds(test_session.daemon.pid);
	struct sim_msg closing = channel_msg(SIM_MSG_CLOSE, 0);
	struct sim_msg hello = connect_msg(0);

	assert_int_equal(raw_call_fds(server, listen_msg(1), 0), 0);
	hello.body.connect.handshake.num_fds = 3;
	for (uint64_t i = 0; i < 3000; i++) {
		hello.body.connect.number = closing.body.channel.number = i;
		assert_int_equal(raw_call_fds(client, hello, 3), 0);
		assert_int_equal(sim_msg_send(client, &closing, -1), 0);
	}
	raw_settle(client);
	assert_in_range(proc_num_fds(test_session.daemon.pid), before, before + 3 * 256);
	close(client);
	close(server);
	expect_unharmed();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_channels_of_others_cannot_be_named),
		TEST(test_a_channel_cannot_be_used_before_it_is_accepted),
		TEST(test_wrong_messages_are_refused),
		TEST(test_names_without_an_end_are_cut),
		TEST(test_numbers_in_use_are_refused),
		TEST(test_an_offer_from_a_process_ends_its_connection),
		TEST(test_a_process_has_a_limited_number_of_pending_connections),
		TEST(test_offers_to_a_server_that_does_not_read_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
