/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets between a process and the daemon: an invalid message is refused whole, and no descriptor that came with
 * it stays open. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/protocol/wire.h"
#include "tests/common/under_valgrind.h"

#define HEAD_BYTES offsetof(struct sim_msg, body)
#define MANY_FDS   6 /* more than a receiver has room for */

static int pair[2];

static int setup(void **state)
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair);
}

static int teardown(void **state)
{
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			close(pair[i]);
	return 0;
}

static int open_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Any bytes as a packet, with @num_fds copies of standard input. */
static void send_raw(const void *bytes, size_t len, int num_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * MANY_FDS)];
	} control = { 0 };
	struct iovec data = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = len };
	struct msghdr packet = { .msg_iov = &data, .msg_iovlen = 1 };

	if (num_fds > 0) {
		struct cmsghdr *passed;

		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)num_fds);
		passed = CMSG_FIRSTHDR(&packet);
		passed->cmsg_level = SOL_SOCKET;
		passed->cmsg_type = SCM_RIGHTS;
		passed->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)num_fds);
	}
	assert_int_equal(sendmsg(pair[0], &packet, MSG_NOSIGNAL), len);
}

static int receive(struct sim_msg *msg, int *ret_fd)
{
	*ret_fd = -2;
	return sim_msg_recv(pair[1], msg, ret_fd);
}

/* An emulator (qemu's user mode) keeps descriptors open that do not fit in the receiver's message. */
static void expect_no_leak_of_many(int before)
{
	if (!getenv("MESON_EXE_WRAPPER"))
		assert_int_equal(open_fds(), before);
}

static void expect_refused(const void *bytes, size_t len, int num_fds)
{
	int before = open_fds(), fd;
	struct sim_msg msg;

	send_raw(bytes, len, num_fds);
	assert_int_equal(receive(&msg, &fd), -EPROTO);
	assert_int_equal(fd, -2);
	expect_no_leak_of_many(before);
}

static struct sim_msg message(uint16_t type, uint16_t is_reply)
{
	return (struct sim_msg){ .version = SIM_WIRE_VERSION, .type = type, .is_reply = is_reply, .seq = 9 };
}

static void test_every_message_arrives_as_it_was_sent(void **state)
{
	int sizes = 0;

	for (uint16_t type = 0; type < SIM_MSG_COUNT; type++) {
		for (uint16_t is_reply = 0; is_reply < 2; is_reply++) {
			size_t size = sim_msg_size(type, is_reply);
			struct sim_msg sent = message(type, is_reply), got;
			int fd;

			if (size == 0)
				continue;
			sizes++;
			memset(&sent.body, 0x5a, sizeof(sent.body));
			assert_int_equal(sim_msg_send(pair[0], &sent, -1), 0);
			assert_int_equal(receive(&got, &fd), 0);
			assert_int_equal(fd, -1);
			assert_memory_equal(&got, &sent, size);
		}
	}
	assert_int_equal(sizes, 20 * 2 + 11); /* twenty kinds with a reply, eleven without */
}

static void test_a_descriptor_travels_along(void **state)
{
	struct sim_msg msg = message(SIM_MSG_STATUS, 1);
	int before = open_fds(), fd;

	assert_int_equal(sim_msg_send(pair[0], &msg, STDERR_FILENO), 0);
	assert_int_equal(receive(&msg, &fd), 0);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	assert_int_equal(open_fds(), before);
}

static void test_of_several_descriptors_one_is_taken_and_none_leaks(void **state)
{
	struct sim_msg msg = message(SIM_MSG_STATUS, 0);
	int before = open_fds(), fd;

	for (int count = 2; count <= MANY_FDS; count++) {
		send_raw(&msg, sim_msg_size(SIM_MSG_STATUS, false), count);
		assert_int_equal(receive(&msg, &fd), 0);
		close(fd);
		expect_no_leak_of_many(before);
	}
}

static void test_three_descriptors_travel_in_order(void **state)
{
	struct sim_msg msg = message(SIM_MSG_HANDSHAKE, 0);
	int before = open_fds(), pipes[3][2];
	struct sim_fds fds;

	for (int i = 0; i < 3; i++)
		assert_int_equal(pipe(pipes[i]), 0);
	assert_int_equal(sim_msg_send_fds(pair[0], &msg, (int[]){ pipes[0][1], pipes[1][1], pipes[2][1] }, 3), 0);
	assert_int_equal(sim_msg_recv_fds(pair[1], &msg, &fds), 0);
	assert_int_equal(fds.count, 3);
	for (int i = 0; i < 3; i++) {
		char byte = 1;

		assert_true(fcntl(fds.fd[i], F_GETFD) & FD_CLOEXEC);
		assert_int_equal(write(fds.fd[i], "", 1), 1);
		assert_int_equal(read(pipes[i][0], &byte, 1), 1);
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	sim_fds_close(&fds);
	assert_int_equal(open_fds(), before);
}

/* Beyond three they are closed; and where the process has no room, fewer arrive, none of which leaks. */
static void test_descriptors_beyond_the_room_are_lost_and_none_leaks(void **state)
{
	struct sim_msg msg = message(SIM_MSG_HANDSHAKE, 0);
	struct sim_msg_handshake handshake = { .num_fds = 3 };
	struct rlimit limit, none;
	struct sim_fds fds;
	int before = open_fds(), rc;

	if (RUNNING_ON_VALGRIND) /* keeps limits of its own */
		skip();
	send_raw(&msg, sim_msg_size(SIM_MSG_HANDSHAKE, false), MANY_FDS);
	assert_int_equal(sim_msg_recv_fds(pair[1], &msg, &fds), 0);
	assert_int_equal(fds.count, 3);
	assert_int_equal(sim_handshake_msg_check(&handshake, &fds), 0);
	sim_fds_close(&fds);

	send_raw(&msg, sim_msg_size(SIM_MSG_HANDSHAKE, false), 3);
	getrlimit(RLIMIT_NOFILE, &limit);
	none = (struct rlimit){ .rlim_cur = (rlim_t)(pair[1] > pair[0] ? pair[1] : pair[0]) + 2,
				.rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	rc = sim_msg_recv_fds(pair[1], &msg, &fds);
	setrlimit(RLIMIT_NOFILE, &limit);
	assert_int_equal(rc, 0);
	assert_in_range(fds.count, 0, 2);
	assert_int_equal(sim_handshake_msg_check(&handshake, &fds), -EMFILE);
	sim_fds_close(&fds);
	expect_no_leak_of_many(before);
}

static void test_a_handshake_message_arrives_as_it_was_sent(void **state)
{
	struct sim_handshake_msg sent = { .len_bytes = 5, .body = "hello and nothing of this" }, got;
	struct sim_msg msg = message(SIM_MSG_HANDSHAKE, 0);
	int before = open_fds();
	struct sim_fds fds;

	sim_handshake_msg_pack(&sent, &msg.body.handshake.msg);
	assert_memory_equal(msg.body.handshake.msg.body, "hello\0\0", 7);
	assert_int_equal(sim_msg_send_fds(pair[0], &msg, (int[]){ STDERR_FILENO, STDERR_FILENO }, 2), 0);
	assert_int_equal(sim_msg_recv_fds(pair[1], &msg, &fds), 0);
	msg.body.handshake.msg.num_fds = 1;
	assert_int_equal(sim_handshake_msg_unpack(&msg.body.handshake.msg, &fds, &got), 0);
	assert_int_equal(got.len_bytes, 5);
	assert_memory_equal(got.body, "hello", 5);
	assert_int_equal(got.num_fds, 1);
	assert_true(got.fds[0] >= 0 && fds.fd[0] < 0); /* it belongs to the handshake message now */
	assert_true(fds.fd[1] >= 0);
	got.fds[1] = fds.fd[1]; /* behind those of the message: it stays open */
	sim_handshake_msg_close(&got);
	assert_int_equal(open_fds(), before + 1);
	sim_fds_close(&fds);
	assert_int_equal(open_fds(), before);
}

/* Here the sender's credentials, which a socket may ask for. */
static void test_other_control_messages_are_no_descriptors(void **state)
{
	struct sim_msg msg = message(SIM_MSG_STATUS, 0);
	int on = 1, fd;

	assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
	assert_int_equal(sim_msg_send(pair[0], &msg, -1), 0);
	assert_int_equal(receive(&msg, &fd), 0);
	assert_int_equal(fd, -1);
}

static void test_a_handshake_message_with_a_wrong_length_is_refused(void **state)
{
	struct sim_msg_handshake packed = { .len_bytes = SIM_HANDSHAKE_MSG_SIZE + 1 };
	struct sim_fds none = { .count = 0 };
	struct sim_handshake_msg got;

	assert_int_equal(sim_handshake_msg_unpack(&packed, &none, &got), -EPROTO);
	packed = (struct sim_msg_handshake){ .num_fds = SIM_HANDSHAKE_MSG_FDS + 1 };
	assert_int_equal(sim_handshake_msg_unpack(&packed, &none, &got), -EPROTO);
	packed.num_fds = 1;
	assert_int_equal(sim_handshake_msg_unpack(&packed, &none, &got), -EMFILE);
}

/* Else a process that detaches with unread packets would be taken for a dead one. */
static void test_what_was_sent_before_closing_with_unread_packets_arrives(void **state)
{
	struct sim_msg last = message(SIM_MSG_DETACH, 0), unread = message(SIM_MSG_STATUS, 1), got;
	int fd;

	assert_int_equal(sim_msg_send(pair[1], &unread, -1), 0);
	assert_int_equal(sim_msg_send(pair[0], &last, -1), 0);
	close(pair[0]);
	pair[0] = -1;
	assert_int_equal(receive(&got, &fd), 0);
	assert_int_equal(got.type, SIM_MSG_DETACH);
	assert_int_equal(receive(&got, &fd), -EPIPE);
}

static void test_any_other_size_is_refused(void **state)
{
	struct {
		struct sim_msg msg;
		uint8_t more;
	} long_one = { 0 };

	for (uint16_t type = 1; type < SIM_MSG_COUNT; type++) {
		size_t size = sim_msg_size(type, false);

		if (size == 0)
			continue;
		long_one.msg = message(type, 0);
		expect_refused(&long_one, 1, 0);
		expect_refused(&long_one, HEAD_BYTES - 1, 1);
		expect_refused(&long_one, size - 1, 0);
		expect_refused(&long_one, size + 1, 2);
		expect_refused(&long_one, sizeof(long_one), MANY_FDS);
	}
}

static void test_unknown_kinds_are_refused(void **state)
{
	struct sim_msg msg = message(0, 0);

	expect_refused(&msg, HEAD_BYTES, 0);
	msg.type = SIM_MSG_COUNT;
	expect_refused(&msg, HEAD_BYTES, 1);
	msg.type = UINT16_MAX;
	expect_refused(&msg, HEAD_BYTES, 0);
	msg = message(SIM_MSG_UNIMPORT, 1); /* has no reply */
	expect_refused(&msg, sim_msg_size(SIM_MSG_UNIMPORT, false), 0);
	msg = message(SIM_MSG_STATUS, 2);
	expect_refused(&msg, HEAD_BYTES, 0);
}

static void test_another_version_is_refused(void **state)
{
	struct sim_msg msg = message(SIM_MSG_STATUS, 0);

	msg.version++;
	expect_refused(&msg, HEAD_BYTES, 1);
}

/* A caller that tests "rc < 0" would take a positive status for success. */
static void test_a_status_that_is_no_error_code_is_refused(void **state)
{
	struct sim_msg msg = message(SIM_MSG_DESCRIBE, 1);

	msg.status = 1;
	expect_refused(&msg, sim_msg_size(SIM_MSG_DESCRIBE, true), 0);
}

static void test_an_empty_socket_and_a_closed_one_are_told_apart(void **state)
{
	struct sim_msg msg;
	int fd;

	assert_int_equal(receive(&msg, &fd), -EAGAIN);
	close(pair[0]);
	pair[0] = -1;
	assert_int_equal(receive(&msg, &fd), -EPIPE);
	msg = message(SIM_MSG_STATUS, 0);
	assert_int_equal(sim_msg_send(pair[1], &msg, -1), -EPIPE);
}

static void test_a_full_socket_takes_nothing_by_halves(void **state)
{
	struct sim_msg msg = message(SIM_MSG_DESCRIBE, 1);
	int sent = 0, got = 0, fd;

	memset(&msg.body, 1, sizeof(msg.body));
	while (sim_msg_send(pair[0], &msg, -1) == 0)
		sent++;
	assert_int_equal(sim_msg_send(pair[0], &msg, STDERR_FILENO), -EAGAIN);
	assert_true(sent > 0);
	while (receive(&msg, &fd) == 0)
		got++;
	assert_int_equal(got, sent);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_message_arrives_as_it_was_sent),
		TEST(test_a_descriptor_travels_along),
		TEST(test_of_several_descriptors_one_is_taken_and_none_leaks),
		TEST(test_three_descriptors_travel_in_order),
		TEST(test_descriptors_beyond_the_room_are_lost_and_none_leaks),
		TEST(test_a_handshake_message_arrives_as_it_was_sent),
		TEST(test_other_control_messages_are_no_descriptors),
		TEST(test_a_handshake_message_with_a_wrong_length_is_refused),
		TEST(test_what_was_sent_before_closing_with_unread_packets_arrives),
		TEST(test_any_other_size_is_refused),
		TEST(test_unknown_kinds_are_refused),
		TEST(test_another_version_is_refused),
		TEST(test_a_status_that_is_no_error_code_is_refused),
		TEST(test_an_empty_socket_and_a_closed_one_are_told_apart),
		TEST(test_a_full_socket_takes_nothing_by_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
