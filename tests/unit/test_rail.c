/* SPDX-License-Identifier: BSD-3-Clause */
/* Two rails of this process, over libfabric's software providers on loopback.
 *
 * Each message begins with its number, so that its place in the order shows.
 */
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/gateway/rail.h"
#include "sim/gateway/rdm_message.h"
#include "sim/gateway/strangers.h"

#define DEADLINE_NS 30000000000u

struct end {
	struct rail *rail;
	struct rail_conn *conn;
	bool is_connected;
	int closed; /* the reason */
	uint32_t num_sent, num_received, num_wrong, num_rooms;
	size_t len; /* of the last one */
	uint8_t offer[RAIL_OFFER_BYTES];
	size_t offer_len;
};

struct pair {
	struct end ends[2]; /* the listener's first */
};

/* ---- rails ---- */

static void *on_request(void *arg, struct rail_conn *conn)
{
	((struct end *)arg)->conn = conn;
	return arg;
}

static void on_connected(void *arg, void *owner)
{
	((struct end *)owner)->is_connected = true;
}

static void on_message(void *arg, void *owner, const uint8_t *bytes, size_t len)
{
	struct end *end = owner;
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	end->num_wrong += number != end->num_received;
	end->num_received++;
	end->len = len;
}

static void on_room(void *arg, void *owner)
{
	((struct end *)owner)->num_rooms++;
}

static void on_closed(void *arg, void *owner, int reason)
{
	struct end *end = owner;

	end->closed = reason;
	rail_close(end->conn);
	end->conn = NULL;
}

static const struct rail_ops ops = { .on_request = on_request,
				     .on_connected = on_connected,
				     .on_message = on_message,
				     .on_room = on_room,
				     .on_closed = on_closed };

static void poll_end(struct end *end)
{
	rail_poll(end->rail, RAIL_LOOK_ALL);
	rail_tick(end->rail, sim_monotonic_ns());
}

static void poll_both(struct pair *pair)
{
	poll_end(&pair->ends[0]);
	poll_end(&pair->ends[1]);
}

#define UNTIL(pair, condition)                                            \
	do {                                                              \
		const uint64_t end_ns = sim_monotonic_ns() + DEADLINE_NS; \
                                                                          \
		while (!(condition)) {                                    \
			poll_both(pair);                                  \
			if (sim_monotonic_ns() > end_ns)                  \
				fail_msg("in time: " #condition);         \
		}                                                         \
	} while (0)

static void open_end(struct end *end, const char *provider, const char *port, bool is_listener)
{
	const struct rail_cfg cfg = { .provider = provider,
				      .host = "127.0.0.1",
				      .port = port,
				      .is_listener = is_listener,
				      .ops = &ops,
				      .arg = end };

	assert_int_equal(rail_open(&cfg, &end->rail), 0);
}

static void open_pair(struct pair *pair, const char *provider, const char *other)
{
	char port[16];

	memset(pair, 0, sizeof(*pair));
	open_end(&pair->ends[0], provider, "0", true);
	snprintf(port, sizeof(port), "%u", rail_port(pair->ends[0].rail));
	open_end(&pair->ends[1], other, port, false);
	assert_int_equal(rail_connect(pair->ends[1].rail, &pair->ends[1], &pair->ends[1].conn), 0);
	UNTIL(pair, pair->ends[0].is_connected && pair->ends[1].is_connected);
}

static void close_pair(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		rail_close(pair->ends[i].conn);
		rail_destroy(pair->ends[i].rail);
	}
}

/* Send messages until there is no buffer, at most @count. */
static void send_some(struct end *end, uint32_t count, size_t len)
{
	static uint8_t body[RAIL_MESSAGE_BYTES];
	uint8_t *buffer;

	for (; count > 0 && (buffer = rail_buffer(end->conn)); count--) {
		memcpy(buffer, &end->num_sent, sizeof(end->num_sent));
		if (len < 4096 ||
		    rail_send_with(end->conn, sizeof(end->num_sent), body, len - sizeof(end->num_sent)) < 0)
			assert_int_equal(rail_send(end->conn, len), 0);
		end->num_sent++;
	}
}

static void offer(struct pair *pair)
{
	for (int i = 0; i < 2; i++)
		pair->ends[i].offer_len = rail_offer(pair->ends[i].conn, pair->ends[i].offer);
	for (int i = 0; i < 2; i++)
		if (pair->ends[1 - i].offer_len > 0)
			rail_take_offer(pair->ends[i].conn, pair->ends[1 - i].offer, pair->ends[1 - i].offer_len);
}

static bool goes_without_connection(const struct end *end)
{
	return strcmp(rail_route(end->conn).endpoint, "FI_EP_RDM") == 0;
}

static void expect_order(const struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pair->ends[i].num_received, pair->ends[1 - i].num_sent);
		assert_int_equal(pair->ends[i].num_wrong, 0);
		assert_int_equal(pair->ends[i].closed, 0);
	}
}

/* ---- tests ---- */

/* Each end sends while the other's offer is under way, and before and after it: messages by the connection come first. */
static void moves(const char *provider)
{
	struct pair pair;

	open_pair(&pair, provider, provider);
	send_some(&pair.ends[0], 5, 64);
	send_some(&pair.ends[1], 5, 8);
	offer(&pair);
	for (int i = 0; i < 2; i++)
		UNTIL(&pair, (send_some(&pair.ends[i], 1, 9000), goes_without_connection(&pair.ends[i])));
	for (int turn = 0; turn < 40; turn++) {
		send_some(&pair.ends[0], 4, 64);
		send_some(&pair.ends[1], 4, RAIL_MESSAGE_BYTES);
		poll_both(&pair);
	}
	UNTIL(&pair, rail_is_idle(pair.ends[0].conn) && rail_is_idle(pair.ends[1].conn));
	expect_order(&pair);
	assert_int_equal(pair.ends[0].len, RAIL_MESSAGE_BYTES);
	assert_non_null(strstr(rail_route(pair.ends[0].conn).why, "slower than connections of tcp"));
	close_pair(&pair);
}

static void test_messages_move_from_the_connection_in_order(void **state)
{
	static const char *const providers[] = { "tcp;ofi_rxm", "udp;ofi_rxd", "sockets", "sockets:rdm" };

	for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++)
		moves(providers[i]);
}

/* One end is not polled: the other one has 16 buffers, and no more until the first one has looked. */
static void test_a_sender_waits_for_a_receiver_that_does_not_look(void **state)
{
	struct pair pair;
	struct end *a = &pair.ends[0];

	open_pair(&pair, "tcp;ofi_rxm", "tcp;ofi_rxm");
	offer(&pair);
	UNTIL(&pair, goes_without_connection(&pair.ends[0]) && goes_without_connection(&pair.ends[1]));
	a->num_rooms = 0;
	for (int i = 0; i < 1000; i++) {
		send_some(a, 100, 5000);
		poll_end(a);
	}
	assert_in_range(a->num_sent, RDM_WINDOW, 2 * RDM_WINDOW);
	assert_false(rail_is_idle(a->conn));
	UNTIL(&pair, rail_is_idle(a->conn));
	assert_true(a->num_rooms > 0);
	expect_order(&pair);
	close_pair(&pair);
}

static void test_the_end_of_the_other_side_is_noticed(void **state)
{
	struct pair pair;

	open_pair(&pair, "tcp;ofi_rxm", "tcp;ofi_rxm");
	offer(&pair);
	UNTIL(&pair, goes_without_connection(&pair.ends[0]) && goes_without_connection(&pair.ends[1]));
	send_some(&pair.ends[1], 3, 64);
	UNTIL(&pair, pair.ends[0].num_received == 3);
	rail_close(pair.ends[1].conn);
	pair.ends[1].conn = NULL;
	UNTIL(&pair, pair.ends[0].closed != 0);
	assert_int_equal(pair.ends[0].closed, -ECONNRESET);
	close_pair(&pair);
}

/* Without an offer, with one of another provider, or with another address, the connection carries on. */
static void stays(const char *provider, const char *other, const char *why)
{
	struct pair pair;

	open_pair(&pair, provider, other);
	offer(&pair);
	send_some(&pair.ends[0], 5, 64);
	send_some(&pair.ends[1], 5, 64);
	UNTIL(&pair, pair.ends[0].num_received == 5 && pair.ends[1].num_received == 5);
	expect_order(&pair);
	assert_string_equal(rail_route(pair.ends[0].conn).endpoint, "FI_EP_MSG");
	assert_string_equal(rail_route(pair.ends[0].conn).provider, "tcp");
	assert_string_equal(rail_route(pair.ends[0].conn).why, why);
	close_pair(&pair);
}

static void test_without_a_common_provider_the_connection_carries_on(void **state)
{
	stays("tcp;ofi_rxm", "tcp", "tcp;ofi_rxm: the other machine has not chosen it");
	stays("tcp;ofi_rxm", "udp;ofi_rxd", "tcp;ofi_rxm: the other machine has chosen another one");
}

static void test_an_address_that_is_not_the_peers_is_not_called(void **state)
{
	struct pair pair;
	struct end *a = &pair.ends[0], *b = &pair.ends[1];
	struct rdm_offer wrong;

	open_pair(&pair, "tcp;ofi_rxm", "tcp;ofi_rxm");
	a->offer_len = rail_offer(a->conn, a->offer);
	b->offer_len = rail_offer(b->conn, b->offer);
	assert_int_equal(rdm_offer_read(b->offer, b->offer_len, &wrong), 0);
	wrong.address[7] ^= 2; /* the last byte of an IPv4 address */
	b->offer_len = rdm_offer_write(&wrong, b->offer);
	rail_take_offer(a->conn, b->offer, b->offer_len);
	assert_string_equal(rail_route(a->conn).why,
			    "tcp;ofi_rxm: a translation of addresses (NAT) is between the machines");
	send_some(a, 3, 64);
	UNTIL(&pair, b->num_received == 3);
	close_pair(&pair);
}

/* ---- strangers ---- */

void __real_rewinddir(DIR *dir);
void __wrap_rewinddir(DIR *dir);

static uint32_t num_looks;

void __wrap_rewinddir(DIR *dir)
{
	num_looks++;
	__real_rewinddir(dir);
}

/* A turn of a loop in which nobody says anything, by a clock that the test turns. */
static void idle_turn(struct rail *rail, uint64_t *now_ns)
{
	uint32_t watched;

	rail_poll(rail, RAIL_LOOK_ALL);
	*now_ns = rail_tick(rail, *now_ns);
	rail_sleep(rail, 1, &watched);
}

static int connect_as_stranger(uint16_t port)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(port),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int sock = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(sock, (const struct sockaddr *)&address, sizeof(address)), 0);
	return sock;
}

static void test_the_search_for_strangers_costs_an_idle_listener_little(void **state)
{
	const struct timeval limit = { .tv_sec = DEADLINE_NS / SIM_NS_PER_S };
	struct end end = { 0 };
	uint64_t now_ns = sim_monotonic_ns(), begin_ns;
	ssize_t got;
	char byte;
	int sock;

	open_end(&end, "tcp", "0", true);
	for (begin_ns = now_ns; now_ns < begin_ns + STRANGERS_RARE_NS;)
		idle_turn(end.rail, &now_ns); /* what comes with the opening */
	num_looks = 0;
	for (begin_ns = now_ns; now_ns < begin_ns + 60 * SIM_NS_PER_S;)
		idle_turn(end.rail, &now_ns);
	assert_in_range(num_looks, 1, 60 * SIM_NS_PER_S / STRANGERS_RARE_NS + 1);
	sock = connect_as_stranger(rail_port(end.rail));
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (begin_ns = now_ns; now_ns <= begin_ns + STRANGERS_DEADLINE_NS + 2 * STRANGERS_RARE_NS;)
		idle_turn(end.rail, &now_ns);
	got = recv(sock, &byte, 1, 0);
	assert_true(got == 0 || (got < 0 && errno != EAGAIN));
	close(sock);
	rail_destroy(end.rail);
}

static void send_to(const struct rdm_offer *to, struct pair *pair, const uint8_t *bytes, size_t len)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	struct fi_av_attr av_attr = { 0 };
	struct fi_cq_attr cq_attr = { 0 };
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	fi_addr_t peer;

	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_RDM;
	hints->fabric_attr->prov_name = strdup(to->provider);
	assert_int_equal(fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info), 0);
	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	assert_int_equal(fi_av_open(domain, &av_attr, &av, NULL), 0);
	assert_int_equal(fi_cq_open(domain, &cq_attr, &cq, NULL), 0);
	assert_int_equal(fi_endpoint(domain, info, &ep, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fi_av_insert(av, to->address, 1, &peer, 0, NULL), 1);
	for (uint32_t count = 0; count < 3 * RDM_WINDOW;) {
		struct fi_cq_entry entry;

		count += fi_send(ep, bytes, len, NULL, peer, NULL) == 0;
		fi_cq_read(cq, &entry, 1);
		poll_both(pair);
	}
	for (int i = 0; i < 1000; i++) {
		struct fi_cq_entry entry;

		fi_cq_read(cq, &entry, 1);
		poll_both(pair);
	}
	fi_close(&ep->fid);
	fi_close(&cq->fid);
	fi_close(&av->fid);
	fi_close(&domain->fid);
	fi_close(&fabric->fid);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

/* It knows the address and not the nonce. More of its messages come than there are buffers, and some are longer than any of ours. */
static void test_a_strangers_messages_harm_nobody(void **state)
{
	static uint8_t bytes[2 * RAIL_MESSAGE_BYTES];
	struct rdm_offer to;
	struct pair pair;

	open_pair(&pair, "tcp;ofi_rxm", "tcp;ofi_rxm");
	offer(&pair);
	UNTIL(&pair, goes_without_connection(&pair.ends[0]) && goes_without_connection(&pair.ends[1]));
	assert_int_equal(rdm_offer_read(pair.ends[0].offer, pair.ends[0].offer_len, &to), 0);
	send_to(&to, &pair, bytes, RDM_HEAD_BYTES);
	send_to(&to, &pair, bytes, 4);
	send_to(&to, &pair, bytes, sizeof(bytes));
	assert_int_equal(pair.ends[0].num_received, 0);
	for (int i = 0; i < 10; i++) {
		send_some(&pair.ends[1], 10, 64);
		poll_both(&pair);
	}
	UNTIL(&pair, rail_is_idle(pair.ends[1].conn));
	expect_order(&pair);
	close_pair(&pair);
}

static void test_a_provider_that_does_not_exist_is_refused(void **state)
{
	const struct rail_cfg cfg = {
		.provider = "no;such", .host = "127.0.0.1", .port = "0", .is_listener = true, .ops = &ops
	};
	struct rail *rail;

	assert_int_equal(rail_open(&cfg, &rail), -EADDRNOTAVAIL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_move_from_the_connection_in_order),
		cmocka_unit_test(test_a_sender_waits_for_a_receiver_that_does_not_look),
		cmocka_unit_test(test_the_end_of_the_other_side_is_noticed),
		cmocka_unit_test(test_without_a_common_provider_the_connection_carries_on),
		cmocka_unit_test(test_an_address_that_is_not_the_peers_is_not_called),
		cmocka_unit_test(test_the_search_for_strangers_costs_an_idle_listener_little),
		cmocka_unit_test(test_a_strangers_messages_harm_nobody),
		cmocka_unit_test(test_a_provider_that_does_not_exist_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
