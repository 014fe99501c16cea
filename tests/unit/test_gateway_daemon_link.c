/* SPDX-License-Identifier: BSD-3-Clause */
/* What a gateway says to its daemon, and that it says nothing more once the daemon has not taken a message. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/gateway/gateway.h"
#include "sim/protocol/wire.h"

/* In place of status.c and rail_msg.c. */
char *gateway_status(const struct gateway *gateway)
{
	return NULL;
}

uint16_t rail_port(const struct rail *rail)
{
	return 0;
}

static struct gateway gateway;
static int daemon_end;

static int setup(void **state)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
		return -1;
	gateway = (struct gateway){ .daemon_sock = fds[0] };
	daemon_end = fds[1];
	return 0;
}

static int teardown(void **state)
{
	daemon_link_close(&gateway);
	return close(daemon_end);
}

static void test_a_message_arrives(void **state)
{
	struct sim_msg msg;
	int fd;

	daemon_link_revoke(&gateway, 7);
	assert_int_equal(sim_msg_recv(daemon_end, &msg, &fd), 0);
	assert_int_equal(msg.type, SIM_MSG_REVOKE);
	assert_int_equal(msg.body.key.id, 7);
	assert_false(gateway.stop);
}

static void test_a_daemon_that_has_gone_stops_the_gateway(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_SHUTDOWN };

	shutdown(daemon_end, SHUT_RDWR);
	assert_true(daemon_link_send(&gateway, &msg, -1) < 0);
	assert_true(gateway.stop);
}

/* A daemon that is stopped takes two seconds to notice. A machine that is lost has hundreds of messages for it. */
static void test_a_gateway_that_is_to_stop_does_not_wait_for_the_daemon(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_SHUTDOWN };
	int fd;

	gateway.stop = true;
	assert_int_equal(daemon_link_send(&gateway, &msg, -1), -ESHUTDOWN);
	assert_int_equal(sim_msg_recv(daemon_end, &msg, &fd), -EAGAIN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_message_arrives),
		TEST(test_a_daemon_that_has_gone_stops_the_gateway),
		TEST(test_a_gateway_that_is_to_stop_does_not_wait_for_the_daemon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
