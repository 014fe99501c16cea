/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that reach into another machine: what the gateway passes on, permits and keeps. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/control/reach.h"
#include "sim/gateway/reach.h"
#include "sim/protocol/wire.h"

#define OTHER  1
#define CLIENT 1 /* a of a frame of a command */

static struct gateway_machine machines[2];
static struct gateway gateway;
static struct gateway_frame last; /* that was sent; without its body */
static uint32_t num_sent;
static int helper_sock; /* the helper's end */
static pid_t helper;    /* that is started next; 1 is not this process's child, and is waited for in vain */

/* In place of route.c. */
int gateway_send(struct gateway *of, uint32_t machine, struct gateway_frame *frame)
{
	assert_ptr_equal(of, &gateway);
	if (machine >= 2 || !machines[machine].is_joined)
		return -EHOSTUNREACH;
	last = *frame;
	num_sent++;
	return 0;
}

/* In place of reach_helper.c: a process that does not read. */
pid_t reach_start_helper(const struct gateway *of, enum sim_reach_service service, int *ret_sock)
{
	int pair[2];

	(void)of;
	(void)service;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	helper_sock = pair[1];
	*ret_sock = pair[0];
	return helper;
}

static int setup(void **state)
{
	memset(machines, 0, sizeof(machines));
	strcpy(machines[0].name, "node0");
	strcpy(machines[1].name, "node1");
	machines[0].is_joined = machines[1].is_joined = true;
	gateway = (struct gateway){ .machines = machines, .num_machines = 2 };
	last = (struct gateway_frame){ 0 };
	num_sent = 0;
	helper_sock = -1;
	helper = 1;
	return reach_open(&gateway);
}

static int teardown(void **state)
{
	reach_close(&gateway);
	close(gateway.reach_epoll_fd);
	if (helper_sock >= 0)
		close(helper_sock);
	if (helper > 1) {
		kill(helper, SIGKILL);
		waitpid(helper, NULL, 0);
	}
	return 0;
}

static void take(enum gateway_kind kind, uint64_t a, uint64_t b, const void *body, size_t len)
{
	reach_on_frame(&gateway, &(struct gateway_frame){ .kind = kind,
							  .from = OTHER,
							  .id = 7,
							  .a = a,
							  .b = b,
							  .body = body,
							  .len_bytes = (uint32_t)len });
}

static void test_programs_are_refused_without_the_option(void **state)
{
	take(GATEWAY_REACH, SIM_REACH_EXEC, 0, NULL, 0);
	assert_int_equal(last.kind, GATEWAY_END);
	assert_int_equal(last.status, -EPERM);
	assert_int_equal(helper_sock, -1);
	take(GATEWAY_REACH, 99, 0, NULL, 0);
	assert_int_equal(last.status, -EPROTO);
	assert_int_equal(helper_sock, -1);
	gateway.cfg.allows_exec = true;
	take(GATEWAY_REACH, SIM_REACH_EXEC, 0, NULL, 0);
	assert_int_equal(num_sent, 2);
	assert_true(helper_sock >= 0);
}

static void test_one_machine_has_a_bounded_number_of_helpers(void **state)
{
	int socks[REACH_MAX_HELPERS];

	for (uint32_t i = 0; i < REACH_MAX_HELPERS; i++) {
		take(GATEWAY_REACH, SIM_REACH_CONTROL, 0, NULL, 0);
		socks[i] = helper_sock;
	}
	assert_int_equal(num_sent, 0);
	take(GATEWAY_REACH, SIM_REACH_CONTROL, 0, NULL, 0);
	assert_int_equal(last.kind, GATEWAY_END);
	assert_int_equal(last.status, -EBUSY);
	for (uint32_t i = 1; i < REACH_MAX_HELPERS; i++)
		close(socks[i - 1]);
}

/* Else a machine that asks for helpers, and ends their connections, would fill this one with processes. */
static void test_helpers_that_end_count(void **state)
{
	siginfo_t info;

	helper = fork();
	assert_true(helper >= 0);
	if (helper == 0) {
		pause();
		_exit(0);
	}
	for (uint32_t i = 0; i < REACH_MAX_HELPERS; i++) {
		take(GATEWAY_REACH, SIM_REACH_CONTROL, 0, NULL, 0);
		close(helper_sock);
		take(GATEWAY_END, CLIENT, 0, NULL, 0);
	}
	assert_int_equal(num_sent, 0);
	take(GATEWAY_REACH, SIM_REACH_CONTROL, 0, NULL, 0);
	assert_int_equal(last.kind, GATEWAY_END);
	assert_int_equal(last.status, -EBUSY);
	kill(helper, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)helper, &info, WEXITED | WNOWAIT), 0);
	take(GATEWAY_REACH, SIM_REACH_CONTROL, 0, NULL, 0);
	assert_int_equal(num_sent, 1);
}

/* Packets for a helper that does not read: those that its socket takes are granted, others are kept, up to the window. */
static void test_a_flood_ends_the_connection(void **state)
{
	static const uint8_t body[32768] = { SIM_REACH_INPUT };
	size_t sum = 0;

	take(GATEWAY_REACH, SIM_REACH_CONTROL, 0, NULL, 0);
	while (last.kind != GATEWAY_END && sum < 64u << 20) {
		take(GATEWAY_PACKET, CLIENT, 0, body, sizeof(body));
		sum += sizeof(body);
	}
	assert_int_equal(last.kind, GATEWAY_END);
	assert_int_equal(last.status, -EPROTO);
	assert_true(sum > REACH_WINDOW);
	assert_true(LIST_EMPTY(&gateway.reaches));
}

/* A sender stops when the other machine takes no more. A grant may be of any size. */
static void test_a_sender_waits_for_grants(void **state)
{
	static const uint8_t bytes[32768] = { SIM_REACH_OUTPUT };
	uint32_t num_full;

	take(GATEWAY_REACH, SIM_REACH_CONTROL, 0, NULL, 0);
	for (int i = 0; i < 100; i++) {
		send(helper_sock, bytes, sizeof(bytes), MSG_DONTWAIT);
		reach_poll(&gateway);
	}
	num_full = num_sent;
	assert_int_equal(num_full, REACH_WINDOW / sizeof(bytes) - 1);
	take(GATEWAY_GRANT, CLIENT, UINT64_MAX, NULL, 0);
	take(GATEWAY_GRANT, CLIENT, REACH_WINDOW, NULL, 0);
	reach_poll(&gateway);
	assert_int_equal(num_sent, num_full);
	take(GATEWAY_GRANT, CLIENT, sizeof(bytes), NULL, 0);
	reach_poll(&gateway);
	assert_int_equal(num_sent, num_full + 1);
}

/* A command of this machine, for @name. Returns its socket. */
static int begin(const char *name)
{
	struct sim_msg msg = { .type = SIM_MSG_REACH, .body.reach.service = SIM_REACH_CONTROL };
	int pair[2];

	strcpy(msg.body.reach.machine, name);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	reach_begin(&gateway, &msg, pair[1]);
	return pair[0];
}

static void is_told(int sock, int status)
{
	static struct sim_reach_packet packet;

	assert_int_equal(sim_reach_recv(sock, &packet, 0), 0);
	assert_int_equal(packet.kind, SIM_REACH_LOST);
	assert_int_equal(packet.number, status);
	assert_int_equal(sim_reach_recv(sock, &packet, 0), -EPIPE);
	close(sock);
}

static void test_a_command_is_told_why_it_does_not_get_there(void **state)
{
	int sock;

	is_told(begin("nobody"), -EHOSTUNREACH);
	is_told(begin("node0"), -EINVAL); /* itself */
	machines[OTHER].is_joined = false;
	is_told(begin("node1"), -EHOSTUNREACH);
	machines[OTHER].is_joined = true;
	sock = begin("node1");
	assert_int_equal(last.kind, GATEWAY_REACH);
	reach_machine_lost(&gateway, OTHER);
	is_told(sock, -EHOSTUNREACH);
	assert_true(LIST_EMPTY(&gateway.reaches));
}

/* The helper sees the end of its socket when the command has gone, and the command's machine that of the helper. */
static void test_an_end_is_passed_on(void **state)
{
	char byte;
	int sock;

	take(GATEWAY_REACH, SIM_REACH_CONTROL, 0, NULL, 0);
	take(GATEWAY_END, CLIENT, 0, NULL, 0);
	assert_int_equal(recv(helper_sock, &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(num_sent, 0);
	sock = begin("node1");
	close(sock);
	reach_poll(&gateway);
	assert_int_equal(last.kind, GATEWAY_END);
	assert_int_equal(last.a, CLIENT);
	take(GATEWAY_PACKET, 0, 0, "\6x", 2); /* of the helper, which has not heard of it */
	assert_int_equal(last.kind, GATEWAY_END);
}

static void test_a_command_that_does_not_read_is_refused_all_the_same(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_REACH, .body.reach = { SIM_REACH_CONTROL, "nobody" } };
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	while (send(pair[1], "x", 1, MSG_DONTWAIT) == 1)
		;
	reach_begin(&gateway, &msg, pair[1]);
	assert_true(LIST_EMPTY(&gateway.reaches));
	close(pair[0]);
}

/* The program reads no more, and goes on without its command if nobody tells it. */
static void test_the_end_of_a_command_is_seen_while_its_input_waits(void **state)
{
	static const uint8_t bytes[32768] = { SIM_REACH_INPUT };
	int sock = begin("node1");

	while (send(sock, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		reach_poll(&gateway);
	assert_int_equal(last.kind, GATEWAY_PACKET);
	assert_false(reach_poll(&gateway)); /* the socket is full, and is not watched for packets */
	close(sock);
	assert_true(reach_poll(&gateway));
	assert_int_equal(last.kind, GATEWAY_END);
	assert_int_equal(last.a, CLIENT);
	assert_true(LIST_EMPTY(&gateway.reaches));
}

/* A helper that is killed has unread input. */
static void test_what_a_helper_said_before_its_end_is_passed_on(void **state)
{
	take(GATEWAY_REACH, SIM_REACH_CONTROL, 0, NULL, 0);
	take(GATEWAY_PACKET, CLIENT, 0, "\3x", 2);
	assert_int_equal(send(helper_sock, "\6y", 2, MSG_DONTWAIT), 2);
	close(helper_sock);
	helper_sock = -1;
	reach_poll(&gateway);
	assert_int_equal(num_sent, 2);
	assert_int_equal(last.kind, GATEWAY_END);
	assert_true(LIST_EMPTY(&gateway.reaches));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_programs_are_refused_without_the_option),
		TEST(test_one_machine_has_a_bounded_number_of_helpers),
		TEST(test_helpers_that_end_count),
		TEST(test_a_flood_ends_the_connection),
		TEST(test_a_sender_waits_for_grants),
		TEST(test_a_command_is_told_why_it_does_not_get_there),
		TEST(test_an_end_is_passed_on),
		TEST(test_a_command_that_does_not_read_is_refused_all_the_same),
		TEST(test_the_end_of_a_command_is_seen_while_its_input_waits),
		TEST(test_what_a_helper_said_before_its_end_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
