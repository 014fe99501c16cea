/* SPDX-License-Identifier: BSD-3-Clause */
/* The card's services, without a process or a socket: permitted listeners, the server of each client, and the
 * notifications when a process leaves.
 *
 *   DPU0 holds HOST0's representor, DPU1 HOST1's; OTHER_DPU and OTHER_HOST are another card.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/card/services.h"

enum { DPU0, DPU1, HOST0, HOST1, OTHER_DPU, OTHER_HOST };

static const char yaml[] = "cards:\n"
			   "- name: left\n"
			   "  profile: bluefield-3\n"
			   "  functions:\n"
			   "  - {side: dpu, type: pf, pci: \"03:00.0\", represents: [\"host/b1:00.0\"]}\n"
			   "  - {side: dpu, type: pf, pci: \"03:00.1\", represents: [\"host/b1:00.1\"]}\n"
			   "  - {side: host, type: pf, pci: \"b1:00.0\"}\n"
			   "  - {side: host, type: pf, pci: \"b1:00.1\"}\n"
			   "- name: right\n"
			   "  profile: bluefield-3\n"
			   "  functions:\n"
			   "  - {side: other/dpu, type: pf, pci: \"03:00.0\", represents: [\"host/ca:00.0\"]}\n"
			   "  - {side: host, type: pf, pci: \"ca:00.0\"}\n";

static struct fixture {
	struct pcie_topology *topology;
	struct sim_card *card;
	struct sim_services *services;
	uint32_t host, dpu, other;
	char handshakes[8]; /* anything with an address */
} f;

static uint32_t attach(const char *side)
{
	struct sim_peer_info info = { .pid = 100 };
	uint32_t peer;

	strncpy(info.side, side, sizeof(info.side) - 1);
	assert_int_equal(sim_card_attach(f.card, &info, &peer), 0);
	return peer;
}

static int setup(void **state)
{
	char error[PCIE_ERROR_SIZE];

	if (pcie_topology_parse("test", yaml, strlen(yaml), &f.topology, error) < 0)
		fail_msg("%s", error);
	assert_int_equal(sim_card_create(f.topology, &f.card), 0);
	assert_int_equal(sim_services_create(f.card, f.topology, &f.services), 0);
	f.host = attach("host");
	f.dpu = attach("dpu");
	f.other = attach("other/dpu");
	return 0;
}

static int teardown(void **state)
{
	struct sim_closed_channel closed;

	while (sim_services_end_next(f.services, &closed))
		;
	sim_services_destroy(f.services);
	sim_card_destroy(f.card);
	pcie_topology_destroy(f.topology);
	return 0;
}

static int listen_on(uint32_t peer, uint64_t number, uint32_t function, uint32_t rep, const char *name)
{
	const struct sim_service service = { .function = function, .rep = rep, .name = name };

	return sim_services_listen(f.services, peer, number, &service);
}

/* Pending until 100. */
static int connect_to(uint32_t peer, uint64_t number, uint32_t function, const char *name)
{
	return sim_services_connect(f.services, peer, number, function, function, name, 100, &f.handshakes[number % 8]);
}

static void expect_no_offer(void)
{
	struct sim_offer offer;

	assert_false(sim_services_next_offer(f.services, &offer));
}

/* The server's end of the next channel, which @client asked for as number @number. */
static struct sim_channel_end expect_offer(uint32_t server, uint64_t service, uint32_t client, uint64_t number)
{
	struct sim_offer offer;

	assert_true(sim_services_next_offer(f.services, &offer));
	assert_int_equal(offer.server.peer, server);
	assert_int_equal(offer.service, service);
	assert_int_equal(offer.client.peer, client);
	assert_int_equal(offer.client.number, number);
	assert_ptr_equal(offer.handshake, &f.handshakes[number % 8]);
	return offer.server;
}

/* A host's channel 1 to a DPU's service 7, open; returns the server's end. */
static struct sim_channel_end open_channel(void)
{
	struct sim_channel_end server, client;

	assert_int_equal(listen_on(f.dpu, 7, DPU0, HOST0, "echo"), 0);
	assert_int_equal(connect_to(f.host, 1, HOST0, "echo"), 0);
	server = expect_offer(f.dpu, 7, f.host, 1);
	assert_int_equal(sim_services_accept(f.services, f.dpu, server.number, &client), 0);
	assert_int_equal(client.peer, f.host);
	assert_int_equal(client.number, 1);
	return server;
}

static void test_a_client_is_offered_to_the_server_of_its_functions_representor(void **state)
{
	assert_int_equal(listen_on(f.dpu, 1, DPU0, HOST0, "echo"), 0);
	assert_int_equal(listen_on(f.dpu, 2, DPU1, HOST1, "echo"), 0);
	assert_int_equal(connect_to(f.host, 5, HOST1, "echo"), 0);
	expect_offer(f.dpu, 2, f.host, 5);
	expect_no_offer();
}

static void test_a_service_is_there_for_one_function_while_it_listens(void **state)
{
	assert_false(sim_services_has_service(f.services, HOST0, "echo"));
	assert_int_equal(listen_on(f.dpu, 7, DPU0, HOST0, "echo"), 0);
	assert_true(sim_services_has_service(f.services, HOST0, "echo"));
	assert_false(sim_services_has_service(f.services, HOST1, "echo"));
	assert_false(sim_services_has_service(f.services, HOST0, "Echo"));
	sim_services_unlisten(f.services, f.dpu, 7);
	assert_false(sim_services_has_service(f.services, HOST0, "echo"));
}

static void test_clients_that_wait_are_offered_oldest_first_when_a_server_comes(void **state)
{
	assert_int_equal(connect_to(f.host, 1, HOST0, "echo"), 0);
	assert_int_equal(connect_to(f.host, 2, HOST0, "else"), 0);
	assert_int_equal(connect_to(f.host, 3, HOST1, "echo"), 0);
	assert_int_equal(connect_to(f.host, 4, HOST0, "echo"), 0);
	expect_no_offer();
	assert_int_equal(listen_on(f.dpu, 9, DPU0, HOST0, "echo"), 0);
	expect_offer(f.dpu, 9, f.host, 1);
	expect_offer(f.dpu, 9, f.host, 4);
	expect_no_offer();
}

static void test_listening_takes_ones_own_function_that_holds_the_representor(void **state)
{
	assert_int_equal(listen_on(f.dpu, 1, DPU0, HOST1, "echo"), -EINVAL);  /* DPU1's */
	assert_int_equal(listen_on(f.dpu, 1, HOST0, HOST0, "echo"), -EINVAL); /* the host's */
	assert_int_equal(listen_on(f.dpu, 1, OTHER_DPU, OTHER_HOST, "echo"), -EINVAL);
	assert_int_equal(listen_on(f.dpu, 1, DPU0, DPU0, "echo"), -EINVAL);
	assert_int_equal(listen_on(f.dpu, 1, 6, HOST0, "echo"), -EINVAL);
	assert_int_equal(listen_on(f.dpu, 1, DPU0, UINT32_MAX, "echo"), -EINVAL);
	assert_int_equal(listen_on(f.host, 1, HOST0, HOST0, "echo"), -EINVAL); /* holds none */
	assert_int_equal(listen_on(99, 1, DPU0, HOST0, "echo"), -EINVAL);      /* no such peer */
	assert_int_equal(listen_on(f.other, 1, OTHER_DPU, OTHER_HOST, "echo"), 0);
}

static void test_connecting_takes_ones_own_function_and_number(void **state)
{
	assert_int_equal(connect_to(f.host, 1, DPU0, "echo"), -EINVAL);
	assert_int_equal(connect_to(f.host, 1, 6, "echo"), -EINVAL);
	assert_int_equal(connect_to(f.host, UINT64_MAX, HOST0, "echo"), -EINVAL); /* a server's */
	assert_int_equal(connect_to(f.host, 1, HOST0, "echo"), 0);
	assert_int_equal(connect_to(f.host, 1, HOST1, "echo"), -EINVAL); /* in use */
	assert_int_equal(connect_to(99, 1, HOST0, "echo"), -EINVAL);
}

static void test_a_name_is_listened_on_once_per_representor(void **state)
{
	assert_int_equal(listen_on(f.dpu, 1, DPU0, HOST0, "echo"), 0);
	assert_int_equal(listen_on(f.dpu, 2, DPU0, HOST0, "echo"), -EADDRINUSE);
	assert_int_equal(listen_on(attach("dpu"), 1, DPU0, HOST0, "echo"), -EADDRINUSE);
	assert_int_equal(listen_on(f.dpu, 1, DPU0, HOST0, "else"), -EINVAL); /* the number is in use */
	assert_int_equal(listen_on(f.dpu, 2, DPU0, HOST0, "else"), 0);
	assert_int_equal(listen_on(f.dpu, 3, DPU1, HOST1, "echo"), 0);
	sim_services_unlisten(f.services, f.dpu, 1);
	assert_int_equal(listen_on(f.dpu, 4, DPU0, HOST0, "echo"), 0);
}

static void test_names_have_a_limit(void **state)
{
	char name[SIM_SERVICE_NAME_SIZE + 1];

	memset(name, 'x', sizeof(name));
	name[SIM_SERVICE_NAME_SIZE] = '\0';
	assert_int_equal(listen_on(f.dpu, 1, DPU0, HOST0, name), -ENAMETOOLONG);
	assert_int_equal(connect_to(f.host, 1, HOST0, name), -ENAMETOOLONG);
	name[SIM_SERVICE_NAME_SIZE - 1] = '\0';
	assert_int_equal(listen_on(f.dpu, 1, DPU0, HOST0, name), 0);
	assert_int_equal(connect_to(f.host, 1, HOST0, name), 0);
	expect_offer(f.dpu, 1, f.host, 1);
}

static void test_an_open_channel_has_two_ends_and_others_none_of_it(void **state)
{
	struct sim_channel_end server = open_channel(), other;

	assert_int_equal(sim_services_get_other_end(f.services, f.host, 1, &other), 0);
	assert_int_equal(other.peer, f.dpu);
	assert_int_equal(other.number, server.number);
	assert_int_equal(sim_services_get_other_end(f.services, f.dpu, server.number, &other), 0);
	assert_int_equal(other.peer, f.host);
	assert_int_equal(other.number, 1);
	assert_int_equal(sim_services_get_other_end(f.services, f.dpu, 1, &other), -ENOENT);
	assert_int_equal(sim_services_get_other_end(f.services, f.host, server.number, &other), -ENOENT);
	assert_int_equal(sim_services_get_other_end(f.services, f.other, server.number, &other), -ENOENT);
}

static void test_only_the_server_accepts_and_once(void **state)
{
	struct sim_closed_channel closed;
	struct sim_channel_end server, other;

	assert_int_equal(listen_on(f.dpu, 7, DPU0, HOST0, "echo"), 0);
	assert_int_equal(connect_to(f.host, 1, HOST0, "echo"), 0);
	assert_int_equal(sim_services_accept(f.services, f.host, 1, &other), -ENOENT);
	server = expect_offer(f.dpu, 7, f.host, 1);
	assert_int_equal(sim_services_get_other_end(f.services, f.host, 1, &other), -ENOENT); /* not open */
	assert_int_equal(sim_services_accept(f.services, f.host, 1, &other), -ENOENT);
	assert_int_equal(sim_services_accept(f.services, f.other, server.number, &other), -ENOENT);
	assert_false(sim_services_close(f.services, f.other, server.number, &closed));
	assert_int_equal(sim_services_accept(f.services, f.dpu, server.number, &other), 0);
	assert_int_equal(sim_services_accept(f.services, f.dpu, server.number, &other), -ENOENT);
}

static void expect_remaining(const struct sim_closed_channel *closed, uint32_t peer, uint64_t number)
{
	assert_true(closed->has_remaining);
	assert_int_equal(closed->remaining.peer, peer);
	assert_int_equal(closed->remaining.number, number);
}

static void test_after_a_close_the_other_end_remains(void **state)
{
	struct sim_channel_end server = open_channel();
	struct sim_closed_channel closed;

	assert_true(sim_services_close(f.services, f.host, 1, &closed));
	expect_remaining(&closed, f.dpu, server.number);
	assert_null(closed.handshake);
	assert_false(sim_services_close(f.services, f.dpu, server.number, &closed));
	assert_int_equal(connect_to(f.host, 2, HOST0, "echo"), 0);
	server = expect_offer(f.dpu, 7, f.host, 2);
	assert_true(sim_services_close(f.services, f.dpu, server.number, &closed));
	expect_remaining(&closed, f.host, 2);
}

static void test_no_end_remains_when_a_pending_channel_closes(void **state)
{
	struct sim_closed_channel closed;

	assert_int_equal(connect_to(f.host, 3, HOST0, "echo"), 0);
	assert_true(sim_services_close(f.services, f.host, 3, &closed));
	assert_false(closed.has_remaining);
	assert_ptr_equal(closed.handshake, &f.handshakes[3]);
	assert_int_equal(listen_on(f.dpu, 1, DPU0, HOST0, "echo"), 0);
	expect_no_offer();
}

static void test_channel_states_have_these_edges_only(void **state)
{
	static const bool follows[SIM_NUM_CHANNEL_STATES][SIM_NUM_CHANNEL_STATES] = {
		/*                        pending offered open */
		[SIM_CHANNEL_PENDING] = { false, true, false },
		[SIM_CHANNEL_OFFERED] = { false, false, true },
		[SIM_CHANNEL_OPEN] = { false, false, false },
	};

	for (enum sim_channel_state from = 0; from < SIM_NUM_CHANNEL_STATES; from++)
		for (enum sim_channel_state to = 0; to < SIM_NUM_CHANNEL_STATES; to++)
			assert_int_equal(sim_channel_state_can_become(from, to), follows[from][to]);
}

static void test_only_pending_channels_expire(void **state)
{
	struct sim_closed_channel closed;

	assert_true(sim_services_deadline_ms(f.services) == UINT64_MAX);
	assert_int_equal(listen_on(f.dpu, 1, DPU0, HOST0, "echo"), 0);
	assert_int_equal(connect_to(f.host, 1, HOST0, "echo"), 0);
	assert_int_equal(connect_to(f.host, 2, HOST0, "else"), 0);
	assert_int_equal(sim_services_connect(f.services, f.host, 3, HOST0, HOST0, "else", 90, NULL), 0);
	expect_offer(f.dpu, 1, f.host, 1);
	assert_int_equal(sim_services_deadline_ms(f.services), 90);
	assert_false(sim_services_end_next_expired(f.services, 89, &closed));
	assert_true(sim_services_end_next_expired(f.services, 99, &closed));
	expect_remaining(&closed, f.host, 3);
	assert_false(sim_services_end_next_expired(f.services, 99, &closed));
	assert_true(sim_services_end_next_expired(f.services, 100, &closed));
	expect_remaining(&closed, f.host, 2);
	assert_ptr_equal(closed.handshake, &f.handshakes[2]);
	assert_false(sim_services_end_next_expired(f.services, UINT64_MAX - 1, &closed));
	assert_true(sim_services_deadline_ms(f.services) == UINT64_MAX);
}

/* A server that listens for the neighbour is named; one of another name, or of none on the client's side, is not. */
static void test_an_expired_client_learns_of_a_server_elsewhere(void **state)
{
	struct sim_closed_channel closed;

	assert_int_equal(listen_on(f.dpu, 1, DPU1, HOST1, "echo"), 0);
	assert_int_equal(connect_to(f.host, 1, HOST0, "echo"), 0);
	assert_int_equal(connect_to(f.host, 2, HOST0, "else"), 0);
	assert_true(sim_services_end_next_expired(f.services, 100, &closed));
	expect_remaining(&closed, f.host, 1);
	assert_true(closed.has_elsewhere);
	assert_int_equal(closed.elsewhere, HOST1);
	assert_true(sim_services_end_next_expired(f.services, 100, &closed));
	expect_remaining(&closed, f.host, 2);
	assert_false(closed.has_elsewhere);
}

static void test_a_leaving_peers_services_and_channels_end(void **state)
{
	struct sim_channel_end offered, open = open_channel();
	struct sim_closed_channel closed;

	assert_int_equal(connect_to(f.host, 2, HOST0, "echo"), 0);
	offered = expect_offer(f.dpu, 7, f.host, 2);
	assert_int_equal(connect_to(f.host, 3, HOST0, "else"), 0);
	assert_int_equal(listen_on(f.other, 1, OTHER_DPU, OTHER_HOST, "echo"), 0);
	assert_int_equal(connect_to(f.host, 4, OTHER_HOST, "echo"), 0);
	expect_offer(f.other, 1, f.host, 4);

	assert_true(sim_services_end_next_of_peer(f.services, f.dpu, &closed));
	expect_remaining(&closed, f.host, 1);
	assert_false(closed.unaccepted);
	assert_true(sim_services_end_next_of_peer(f.services, f.dpu, &closed));
	expect_remaining(&closed, f.host, 2);
	assert_true(closed.unaccepted);
	assert_false(sim_services_end_next_of_peer(f.services, f.dpu, &closed));
	assert_false(sim_services_close(f.services, f.dpu, open.number, &closed));
	assert_false(sim_services_close(f.services, f.dpu, offered.number, &closed));
	assert_int_equal(connect_to(f.host, 1, HOST0, "echo"), 0);
	expect_no_offer(); /* the service is gone */

	assert_true(sim_services_end_next_of_peer(f.services, f.host, &closed));
	assert_false(closed.has_remaining); /* 3 was pending */
	assert_true(sim_services_end_next_of_peer(f.services, f.host, &closed));
	assert_int_equal(closed.remaining.peer, f.other); /* a server, to which 4 was offered */
	assert_false(closed.unaccepted);
	assert_true(sim_services_end_next_of_peer(f.services, f.host, &closed));
	assert_false(sim_services_end_next_of_peer(f.services, f.host, &closed));
}

/* Whether the next channel through the function is the host's @number, of which the DPU is notified if it knew it. */
static void expect_end_through(uint32_t function, uint64_t number, bool server_knew)
{
	struct sim_closed_channel closed;
	struct sim_channel_end client;

	assert_true(sim_services_end_next_of_function(f.services, function, &client, &closed));
	assert_int_equal(client.peer, f.host);
	assert_int_equal(client.number, number);
	assert_int_equal(closed.has_remaining, server_knew);
	if (server_knew)
		assert_int_equal(closed.remaining.peer, f.dpu);
	assert_ptr_equal(closed.handshake, server_knew ? NULL : &f.handshakes[number % 8]);
}

static void test_what_goes_through_a_function_ends_with_it(void **state)
{
	struct sim_closed_channel closed;
	struct sim_channel_end client;

	open_channel();
	assert_int_equal(connect_to(f.host, 2, HOST0, "echo"), 0);
	expect_offer(f.dpu, 7, f.host, 2);
	assert_int_equal(connect_to(f.host, 3, HOST0, "else"), 0);
	assert_int_equal(listen_on(f.dpu, 8, DPU1, HOST1, "echo"), 0);
	assert_int_equal(connect_to(f.host, 4, HOST1, "echo"), 0);
	expect_offer(f.dpu, 8, f.host, 4);

	expect_end_through(HOST0, 1, true);
	expect_end_through(HOST0, 2, true);
	expect_end_through(HOST0, 3, false); /* pending */
	assert_false(sim_services_end_next_of_function(f.services, HOST0, &client, &closed));
	assert_false(sim_services_has_service(f.services, HOST0, "echo"));
	assert_true(sim_services_has_service(f.services, HOST1, "echo"));
	expect_end_through(DPU1, 4, true); /* by the server's function */
	assert_false(sim_services_end_next_of_function(f.services, DPU1, &client, &closed));
	assert_false(sim_services_has_service(f.services, HOST1, "echo"));
}

/* Channels beyond a process's limit of unaccepted ones wait, and are next when there is room. */
static void test_one_peer_has_limited_channels_and_services(void **state)
{
	uint32_t second = attach("host");
	struct sim_channel_end server, first = { 0 };
	struct sim_closed_channel closed;
	char name[16];

	assert_int_equal(listen_on(f.dpu, 1000, DPU0, HOST0, "echo"), 0);
	for (uint64_t i = 0; i < SIM_MAX_UNACCEPTED; i++) {
		assert_int_equal(connect_to(f.host, i, HOST0, "echo"), 0);
		server = expect_offer(f.dpu, 1000, f.host, i);
		first = i == 0 ? server : first;
	}
	assert_int_equal(connect_to(f.host, SIM_MAX_UNACCEPTED, HOST0, "echo"), -EDQUOT);
	assert_int_equal(connect_to(second, 5, HOST0, "echo"), 0);
	expect_no_offer();
	assert_true(sim_services_close(f.services, f.dpu, first.number, &closed));
	expect_offer(f.dpu, 1000, second, 5);
	for (uint64_t i = 1; i < SIM_MAX_SERVICES; i++) {
		snprintf(name, sizeof(name), "service-%u", (unsigned int)i);
		assert_int_equal(listen_on(f.dpu, i, DPU0, HOST0, name), 0);
	}
	assert_int_equal(listen_on(f.dpu, 1001, DPU0, HOST0, "more"), -EDQUOT);
}

static void note_service(void *arg, uint32_t peer, const struct sim_service *service)
{
	char *text = arg;

	sprintf(text + strlen(text), "%u:%u/%u/%s ", peer, service->function, service->rep, service->name);
}

static void note_channel(void *arg, const struct sim_channel_info *channel)
{
	char *text = arg;

	sprintf(text + strlen(text), "%u/%u/%s/%u ", channel->client.peer, channel->rep, channel->name, channel->state);
}

static void test_reports_list_all(void **state)
{
	char text[256] = "";

	open_channel();
	assert_int_equal(connect_to(f.host, 2, HOST1, "echo"), 0);
	sim_services_each_service(f.services, note_service, text);
	sim_services_each_channel(f.services, note_channel, text);
	assert_string_equal(text, "1:0/2/echo 0/2/echo/2 0/3/echo/0 ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_client_is_offered_to_the_server_of_its_functions_representor),
		TEST(test_a_service_is_there_for_one_function_while_it_listens),
		TEST(test_clients_that_wait_are_offered_oldest_first_when_a_server_comes),
		TEST(test_listening_takes_ones_own_function_that_holds_the_representor),
		TEST(test_connecting_takes_ones_own_function_and_number),
		TEST(test_a_name_is_listened_on_once_per_representor),
		TEST(test_names_have_a_limit),
		TEST(test_an_open_channel_has_two_ends_and_others_none_of_it),
		TEST(test_only_the_server_accepts_and_once),
		TEST(test_after_a_close_the_other_end_remains),
		TEST(test_no_end_remains_when_a_pending_channel_closes),
		TEST(test_channel_states_have_these_edges_only),
		TEST(test_only_pending_channels_expire),
		TEST(test_an_expired_client_learns_of_a_server_elsewhere),
		TEST(test_a_leaving_peers_services_and_channels_end),
		TEST(test_what_goes_through_a_function_ends_with_it),
		TEST(test_one_peer_has_limited_channels_and_services),
		TEST(test_reports_list_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
