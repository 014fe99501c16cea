/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/shm/wake.c: a peer that holds the sending end can neither block the others nor take their wake-ups. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/shm/wake.h"

static struct sim_wake wake;

static int setup(void **state)
{
	signal(SIGPIPE, SIG_DFL); /* a test that raises it ends here */
	alarm(20);                /* and a test that blocks, too */
	return sim_wake_open(&wake);
}

static int teardown(void **state)
{
	sim_wake_close(&wake);
	return 0;
}

static bool is_awake(void)
{
	struct pollfd poll_fd = { .fd = wake.recv_fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1;
}

static void test_send_wakes_until_it_is_cleared(void **state)
{
	assert_true(sim_wake_is_valid(wake.send_fd));
	assert_false(is_awake());
	assert_int_equal(sim_wake_send(wake.send_fd), 0);
	assert_int_equal(sim_wake_send(wake.send_fd), 0);
	assert_true(is_awake());
	assert_true(sim_wake_clear(&wake));
	assert_false(is_awake());
	assert_true(sim_wake_clear(&wake));
	assert_int_equal(sim_wake_send(wake.send_fd), 0);
	assert_true(is_awake());
}

/* 100,000 are more than any queue holds. */
static void test_send_to_a_full_socket_that_a_peer_made_blocking_returns(void **state)
{
	assert_int_equal(fcntl(wake.send_fd, F_SETFL, 0), 0);
	assert_int_equal(fcntl(wake.recv_fd, F_SETFL, 0), 0);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(sim_wake_send(wake.send_fd), 0);
	while (is_awake())
		assert_true(sim_wake_clear(&wake));
	assert_true(sim_wake_clear(&wake)); /* does not wait for one either */
}

static void test_peer_cannot_take_wake_ups(void **state)
{
	char byte;

	assert_int_equal(sim_wake_send(wake.send_fd), 0);
	assert_int_equal(recv(wake.send_fd, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	assert_true(is_awake());
}

static void test_both_ends_learn_of_a_shutdown(void **state)
{
	assert_int_equal(shutdown(wake.send_fd, SHUT_RDWR), 0);
	assert_int_equal(sim_wake_send(wake.send_fd), -EPIPE);
	assert_true(is_awake());
	assert_false(sim_wake_clear(&wake));
}

/* No sender of ours writes one. */
static void test_empty_packet_is_an_end(void **state)
{
	assert_int_equal(send(wake.send_fd, "", 0, 0), 0);
	errno = EAGAIN; /* of an earlier call */
	assert_false(sim_wake_clear(&wake));
}

static void test_send_to_an_owner_that_is_gone_fails(void **state)
{
	close(wake.recv_fd);
	wake.recv_fd = -1;
	assert_true(sim_wake_send(wake.send_fd) < 0);
}

static void test_other_descriptors_are_no_wake_descriptors(void **state)
{
	int event = eventfd(0, EFD_NONBLOCK), stream[2], pipes[2], inet = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, stream), 0);
	assert_int_equal(pipe(pipes), 0);
	assert_false(sim_wake_is_valid(-1));
	assert_false(sim_wake_is_valid(event));
	assert_false(sim_wake_is_valid(stream[0]));
	assert_false(sim_wake_is_valid(pipes[1]));
	assert_false(sim_wake_is_valid(inet));
	close(event);
	close(inet);
	for (int i = 0; i < 2; i++) {
		close(stream[i]);
		close(pipes[i]);
	}
}

static void test_both_ends_are_closed(void **state)
{
	int recv_fd = wake.recv_fd, send_fd = wake.send_fd;

	sim_wake_close(&wake);
	assert_int_equal(fcntl(recv_fd, F_GETFD), -1);
	assert_int_equal(fcntl(send_fd, F_GETFD), -1);
	assert_int_equal(wake.recv_fd, -1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_send_wakes_until_it_is_cleared),
		TEST(test_send_to_a_full_socket_that_a_peer_made_blocking_returns),
		TEST(test_peer_cannot_take_wake_ups),
		TEST(test_both_ends_learn_of_a_shutdown),
		TEST(test_empty_packet_is_an_end),
		TEST(test_send_to_an_owner_that_is_gone_fails),
		TEST(test_other_descriptors_are_no_wake_descriptors),
		TEST(test_both_ends_are_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
