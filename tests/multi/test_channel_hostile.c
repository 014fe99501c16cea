/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that speak of channels as no process of ours does. The daemon does
 * nothing for them that is not theirs, and serves all others. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "actor.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"
#include "talker.h"

#define NUMBERS 8 /* that a thief tries */

static char *dir;
static int dir_fd;
static struct proc card;

static int setup(void **state)
{
	(void)state;
	dir = proc_make_dir();
	daemon_start(&card, dir, NULL);
	dir_fd = sim_session_dir_open(dir, false);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(dir_fd);
	proc_kill_all();
	proc_remove_dir(dir);
	return 0;
}

static struct sim_msg raw_recv(int sock)
{
	struct sim_msg msg;
	int fd = -1;

	assert_true(proc_hears_within(sock, PROC_DEADLINE_MS));
	assert_int_equal(sim_msg_recv(sock, &msg, &fd), 0);
	if (fd >= 0)
		close(fd);
	return msg;
}

/* The status of the reply to @msg; what comes before is skipped. */
static int raw_call(int sock, struct sim_msg msg, uint32_t num_fds)
{
	static uint64_t seq;

	msg.seq = ++seq;
	assert_int_equal(sim_msg_send_fds(sock, &msg, (int[]){ 2, 2, 2 }, num_fds), 0);
	do
		msg = raw_recv(sock);
	while (!msg.is_reply || msg.seq != seq);
	return msg.status;
}

static int raw_attach(const char *side)
{
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach.pid = getpid() };
	int sock = sim_session_dir_connect(dir_fd);

	assert_true(sock >= 0);
	strcpy(msg.body.attach.side, side);
	assert_int_equal(raw_call(sock, msg, 0), 0);
	return sock;
}

/* The daemon has dealt with all that was said to it on @sock. */
static void settle(int sock)
{
	assert_int_equal(raw_call(sock, (struct sim_msg){ .type = SIM_MSG_ATTACH }, 0), -EALREADY);
}

static struct sim_msg connect_msg(uint64_t number)
{
	struct sim_msg msg = { .type = SIM_MSG_CONNECT,
			       .body.connect = { .number = number, .function = HOST0, .timeout_ms = 60000 } };

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

static struct sim_msg letter_msg(uint16_t type, uint64_t number)
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

	assert_int_equal(raw_call(server, listen_msg(1), 0), 0);
	assert_int_equal(raw_call(client, connect_msg(1), 0), 0);
	number = recv_of(server, SIM_MSG_OFFER).body.handshake.number;
	assert_int_equal(raw_call(server, letter_msg(SIM_MSG_ACCEPT, number), 0), 0);
	assert_int_equal(recv_of(client, SIM_MSG_ACCEPT).body.handshake.number, 1);
	return number;
}

static void expect_unharmed(void)
{
	struct talker dpu, host;

	talker_attach(&dpu, dir, "dpu");
	talker_attach(&host, dir, "host");
	assert_int_equal(talker_listen(&dpu, 0, DPU0, HOST0, "mine"), 0);
	assert_int_equal(talker_connect(&host, 0, HOST0, "mine", PROC_DEADLINE_MS, "hi"), 0);
	talker_expect_offer(&dpu, 0, 0, "hi");
	assert_int_equal(talker_accept(&dpu, 0, "welcome"), 0);
	talker_expect_letter(&host, 0, "welcome", 1);
	talker_detach(&host);
	talker_detach(&dpu);
	daemon_stop(&card);
}

static void test_channels_of_others_cannot_be_named(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host"), thief = raw_attach("dpu");
	uint64_t number = raw_open(server, client);

	(void)state;
	for (uint64_t i = 0; i < NUMBERS; i++) {
		uint64_t tried = i < NUMBERS / 2 ? i : number + i - NUMBERS / 2;

		assert_int_equal(raw_call(thief, letter_msg(SIM_MSG_HANDSHAKE, tried), 1), -ENOENT);
		assert_int_equal(raw_call(thief, letter_msg(SIM_MSG_ACCEPT, tried), 1), -ENOENT);
		assert_int_equal(raw_call(thief, channel_msg(SIM_MSG_UNLISTEN, tried), 0), 0);
		assert_int_equal(sim_msg_send(thief, (struct sim_msg[]){ channel_msg(SIM_MSG_CLOSE, tried) }, -1), 0);
		assert_int_equal(sim_msg_send(thief, (struct sim_msg[]){ channel_msg(SIM_MSG_NOTIFY_PEER, tried) }, 2),
				 0);
	}
	settle(thief);
	assert_false(proc_hears_within(server, 0));
	assert_false(proc_hears_within(client, 0));
	assert_int_equal(raw_call(client, letter_msg(SIM_MSG_HANDSHAKE, 1), 3), 0);
	assert_int_equal(recv_of(server, SIM_MSG_HANDSHAKE).body.handshake.number, number);
	close(thief);
	close(client);
	close(server);
	expect_unharmed();
}

static void test_a_channel_cannot_be_used_before_it_is_accepted(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host");
	uint64_t number;

	(void)state;
	assert_int_equal(raw_call(client, connect_msg(1), 0), 0);
	assert_int_equal(raw_call(client, letter_msg(SIM_MSG_HANDSHAKE, 1), 1), -ENOENT);
	assert_int_equal(raw_call(client, letter_msg(SIM_MSG_ACCEPT, 1), 1), -ENOENT);
	assert_int_equal(raw_call(server, listen_msg(1), 0), 0);
	number = recv_of(server, SIM_MSG_OFFER).body.handshake.number;
	assert_int_equal(raw_call(client, letter_msg(SIM_MSG_ACCEPT, 1), 1), -ENOENT);
	assert_int_equal(raw_call(server, letter_msg(SIM_MSG_HANDSHAKE, number), 1), -ENOENT);
	assert_int_equal(raw_call(server, letter_msg(SIM_MSG_ACCEPT, number), 1), 0);
	assert_int_equal(raw_call(server, letter_msg(SIM_MSG_ACCEPT, number), 1), -ENOENT);
	close(client);
	close(server);
	expect_unharmed();
}

static void test_letters_that_say_what_is_not_so_are_refused(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host"), before;
	struct sim_msg long_one = letter_msg(SIM_MSG_HANDSHAKE, 1), with_fds = letter_msg(SIM_MSG_HANDSHAKE, 1);
	struct sim_msg hello = connect_msg(2);

	(void)state;
	raw_open(server, client);
	before = proc_num_fds(card.pid);
	long_one.body.handshake.msg.len_bytes = SIM_HANDSHAKE_MSG_SIZE + 1;
	assert_int_equal(raw_call(client, long_one, 3), -EPROTO);
	with_fds.body.handshake.msg.num_fds = SIM_HANDSHAKE_MSG_FDS + 1;
	assert_int_equal(raw_call(client, with_fds, 3), -EPROTO);
	with_fds.body.handshake.msg.num_fds = UINT32_MAX;
	assert_int_equal(raw_call(client, with_fds, 3), -EPROTO);
	with_fds.body.handshake.msg.num_fds = 2;
	assert_int_equal(raw_call(client, with_fds, 1), -EMFILE); /* where is the other? */
	hello.body.connect.handshake.num_fds = 1;
	assert_int_equal(raw_call(client, hello, 0), -EMFILE);
	assert_int_equal(raw_call(client, letter_msg(SIM_MSG_HANDSHAKE, 1), 3), 0); /* says none: those are closed */
	settle(server);
	assert_int_equal(proc_num_fds(card.pid), before);
	close(client);
	close(server);
	expect_unharmed();
}

static void test_names_without_an_end_are_cut(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host");
	struct sim_msg listen = listen_msg(1), connect = connect_msg(1);

	(void)state;
	memset(listen.body.listen.name, 'x', sizeof(listen.body.listen.name));
	memset(connect.body.connect.name, 'x', sizeof(connect.body.connect.name));
	assert_int_equal(raw_call(server, listen, 0), 0);
	assert_int_equal(raw_call(client, connect, 0), 0);
	recv_of(server, SIM_MSG_OFFER);
	assert_int_equal(raw_call(server, (struct sim_msg){ .type = SIM_MSG_STATUS }, 0), 0);
	close(client);
	close(server);
	expect_unharmed();
}

static void test_numbers_in_use_are_refused(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host");
	struct sim_msg other = listen_msg(1);

	(void)state;
	raw_open(server, client);
	assert_int_equal(raw_call(client, connect_msg(1), 0), -EINVAL);
	assert_int_equal(raw_call(client, connect_msg(UINT64_MAX), 0), -EINVAL);
	strcpy(other.body.listen.name, "else");
	assert_int_equal(raw_call(server, other, 0), -EINVAL);
	close(client);
	close(server);
	expect_unharmed();
}

/* What only the daemon says. */
static void test_an_offer_from_a_process_ends_its_connection(void **state)
{
	int sock = raw_attach("dpu");
	struct sim_msg offer = letter_msg(SIM_MSG_OFFER, 1);
	char byte;

	(void)state;
	assert_int_equal(sim_msg_send(sock, &offer, 2), 0);
	assert_true(proc_hears_within(sock, PROC_DEADLINE_MS));
	assert_true(recv(sock, &byte, 1, 0) <= 0);
	close(sock);
	expect_unharmed();
}

static void test_a_process_has_a_limited_number_of_pending_connections(void **state)
{
	int client = raw_attach("host"), before = proc_num_fds(card.pid);
	struct sim_msg hello = connect_msg(0);

	(void)state;
	hello.body.connect.handshake.num_fds = 1;
	for (uint64_t i = 0; i < SIM_MAX_UNACCEPTED; i++) {
		hello.body.connect.number = i;
		assert_int_equal(raw_call(client, hello, 1), 0);
	}
	assert_int_equal(proc_num_fds(card.pid), before + SIM_MAX_UNACCEPTED);
	hello.body.connect.number = SIM_MAX_UNACCEPTED;
	assert_int_equal(raw_call(client, hello, 1), -ENOMEM);
	close(client);
	expect_unharmed();
}

/* It asks for connections and gives them up, to a server that reads nothing: what the daemon keeps is bounded. */
static void test_offers_to_a_server_that_does_not_read_are_bounded(void **state)
{
	int server = raw_attach("dpu"), client = raw_attach("host"), before = proc_num_fds(card.pid);
	struct sim_msg closing = channel_msg(SIM_MSG_CLOSE, 0);
	struct sim_msg hello = connect_msg(0);

	(void)state;
	assert_int_equal(raw_call(server, listen_msg(1), 0), 0);
	hello.body.connect.handshake.num_fds = 3;
	for (uint64_t i = 0; i < 3000; i++) {
		hello.body.connect.number = closing.body.channel.number = i;
		assert_int_equal(raw_call(client, hello, 3), 0);
		assert_int_equal(sim_msg_send(client, &closing, -1), 0);
	}
	settle(client);
	assert_in_range(proc_num_fds(card.pid), before, before + 3 * 256);
	close(client);
	close(server);
	expect_unharmed();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_channels_of_others_cannot_be_named),
		TEST(test_a_channel_cannot_be_used_before_it_is_accepted),
		TEST(test_letters_that_say_what_is_not_so_are_refused),
		TEST(test_names_without_an_end_are_cut),
		TEST(test_numbers_in_use_are_refused),
		TEST(test_an_offer_from_a_process_ends_its_connection),
		TEST(test_a_process_has_a_limited_number_of_pending_connections),
		TEST(test_offers_to_a_server_that_does_not_read_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
