/* SPDX-License-Identifier: BSD-3-Clause */
/* Strangers: sockets of this process at a port, without owners. */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/gateway/strangers.h"

#define SECOND UINT64_C(1000000000)

struct port {
	int listener;
	uint16_t number;
	struct strangers *strangers;
	struct sockaddr_in known; /* has an owner */
	bool owner_is_reset;
};

static int open_port(void **state)
{
	static struct port port;
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(addr);

	port = (struct port){ .listener = socket(AF_INET, SOCK_STREAM, 0), .strangers = strangers_create() };
	assert_int_equal(bind(port.listener, (struct sockaddr *)&addr, len), 0);
	assert_int_equal(listen(port.listener, 128), 0);
	assert_int_equal(getsockname(port.listener, (struct sockaddr *)&addr, &len), 0);
	port.number = ntohs(addr.sin_port);
	*state = &port;
	return 0;
}

static int close_port(void **state)
{
	struct port *port = *state;

	close(port->listener);
	strangers_destroy(port->strangers);
	return 0;
}

/* The accepted end; the other one is a socket of this process at another port. */
static int connect_to(const struct port *port, int *ret_client)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons(port->number),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int accepted;

	*ret_client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(*ret_client, (struct sockaddr *)&addr, sizeof(addr)), 0);
	accepted = accept(port->listener, NULL, NULL);
	assert_true(accepted >= 0);
	return accepted;
}

static void reset(int client)
{
	const struct linger linger = { .l_onoff = 1 };

	setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(client);
}

static bool is_known(void *arg, const struct sockaddr *peer, socklen_t len)
{
	const struct port *port = arg;

	if (len == 0)
		return port->owner_is_reset;
	return port->known.sin_port != 0 &&
	       ((const struct sockaddr_in *)(const void *)peer)->sin_port == port->known.sin_port;
}

static bool are_due(struct port *port, uint64_t now_ns)
{
	return strangers_are_due(port->strangers, port->number, now_ns, is_known, port);
}

static void test_a_connection_becomes_a_stranger_after_five_seconds(void **state)
{
	struct port *port = *state;
	int client, accepted = connect_to(port, &client);

	assert_false(are_due(port, 10 * SECOND));
	assert_false(are_due(port, 14 * SECOND));
	assert_true(are_due(port, 15 * SECOND));
	assert_int_equal(strangers_close(port->strangers, port->number, is_known, port), 1);
	assert_int_equal(close(accepted), -1);
	assert_false(are_due(port, 30 * SECOND));
	close(client);
}

static void test_a_connection_with_an_owner_stays(void **state)
{
	struct port *port = *state;
	int client, accepted = connect_to(port, &client);
	socklen_t len = sizeof(port->known);

	getpeername(accepted, (struct sockaddr *)&port->known, &len);
	assert_false(are_due(port, 10 * SECOND));
	assert_false(are_due(port, 20 * SECOND));
	assert_int_equal(strangers_close(port->strangers, port->number, is_known, port), 0);
	assert_int_equal(close(accepted), 0);
	close(client);
}

/* Its time begins when it is seen first, though its descriptor was another one's. */
static void test_a_descriptor_that_is_used_again_begins_anew(void **state)
{
	struct port *port = *state;
	int client, other, next, accepted = connect_to(port, &client);

	assert_false(are_due(port, 10 * SECOND));
	next = connect_to(port, &other);
	assert_int_equal(dup2(next, accepted), accepted);
	close(next);
	assert_false(are_due(port, 16 * SECOND));
	assert_true(are_due(port, 21 * SECOND));
	strangers_close(port->strangers, port->number, is_known, port);
	close(client);
	close(other);
}

/* One whose peer is gone has no address any more: it is a stranger's, unless an owner's has been reset as well. */
static void test_a_reset_connection_is_closed_unless_it_may_be_an_owners(void **state)
{
	struct port *port = *state;
	int client, accepted = connect_to(port, &client);

	reset(client);
	port->owner_is_reset = true;
	assert_false(are_due(port, 10 * SECOND));
	assert_int_equal(strangers_close(port->strangers, port->number, is_known, port), 0);
	port->owner_is_reset = false;
	assert_false(are_due(port, 10 * SECOND));
	assert_true(are_due(port, 15 * SECOND));
	assert_int_equal(strangers_close(port->strangers, port->number, is_known, port), 1);
	assert_int_equal(close(accepted), -1);
}

static void test_too_many_are_due_at_once(void **state)
{
	struct port *port = *state;
	int clients[STRANGERS_MAX];

	for (int i = 0; i < STRANGERS_MAX; i++) {
		assert_false(are_due(port, SECOND));
		connect_to(port, &clients[i]);
	}
	assert_true(are_due(port, SECOND));
	assert_int_equal(strangers_close(port->strangers, port->number, is_known, port), STRANGERS_MAX);
	for (int i = 0; i < STRANGERS_MAX; i++)
		close(clients[i]);
}

static void test_sockets_at_other_ports_are_not_looked_at(void **state)
{
	struct port *port = *state;
	int client, accepted = connect_to(port, &client);

	assert_false(strangers_are_due(port->strangers, (uint16_t)(port->number + 1), SECOND, is_known, port));
	assert_int_equal(strangers_close(port->strangers, (uint16_t)(port->number + 1), is_known, port), 0);
	assert_int_equal(close(accepted), 0);
	close(client);
}

/* Four looks a second cost an idle session more than all else. */
static void test_looks_are_rare_without_a_sign_of_strangers(void **state)
{
	struct port *port = *state;
	int client, accepted;

	assert_false(are_due(port, 10 * SECOND));
	assert_int_equal(strangers_next_ns(port->strangers), 10 * SECOND + STRANGERS_RARE_NS);
	strangers_expect(port->strangers);
	assert_int_equal(strangers_next_ns(port->strangers), 10 * SECOND + STRANGERS_LOOK_NS);
	accepted = connect_to(port, &client);
	assert_false(are_due(port, 11 * SECOND));
	assert_int_equal(strangers_next_ns(port->strangers), 11 * SECOND + STRANGERS_LOOK_NS);
	close(client);
	close(accepted);
	assert_false(are_due(port, 12 * SECOND));
	assert_int_equal(strangers_next_ns(port->strangers), 12 * SECOND + STRANGERS_RARE_NS);
}

#define PORT_TEST(test) cmocka_unit_test_setup_teardown(test, open_port, close_port)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PORT_TEST(test_a_connection_becomes_a_stranger_after_five_seconds),
		PORT_TEST(test_a_connection_with_an_owner_stays),
		PORT_TEST(test_looks_are_rare_without_a_sign_of_strangers),
		PORT_TEST(test_a_descriptor_that_is_used_again_begins_anew),
		PORT_TEST(test_a_reset_connection_is_closed_unless_it_may_be_an_owners),
		PORT_TEST(test_too_many_are_due_at_once),
		PORT_TEST(test_sockets_at_other_ports_are_not_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
