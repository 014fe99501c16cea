/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of the network: times of stations, queues in front of them, losses. Times are in picoseconds. */
#include <string.h>

#include "cmocka_test.h"
#include "pcie_model/net.h"
#include "pcie_model/profile.h"

/* A rate of 8 Gb/s: 1 ns a byte. */
#define RATE_BPS      UINT64_C(8000000000)
#define BYTE_PS       UINT64_C(1000)
#define HEADER_PS     (PCIE_NET_HEADER_BYTES * BYTE_PS)
#define MTU           1000
#define HOP_PS        UINT64_C(50000)
#define ROUND_TRIP_PS (4 * HOP_PS)

static const struct pcie_rdma_timing card = {
	.submit_ps = 10000,
	.request_ps = 100000,
	.fetch_ps = 200000,
	.max_inline_bytes = 100,
	.port_ps = 7000,
	.deliver_ps = 30000,
	.receive_ps = 4000,
	.respond_ps = 60000,
	.complete_ps = 500000,
	.rate_bps = RATE_BPS,
	.loop_fs_per_byte = 500000,
	.retransmission_ps = 9000000,
};

static struct pcie_net_state state;

/* Egress of port @from, ingress of port @to. */
static struct pcie_net_path path_of(uint32_t from, uint32_t to, uint32_t loss_ppb)
{
	struct pcie_net_path path = { .mtu_bytes = MTU };

	pcie_net_path_add(&path, 2 * from, RATE_BPS, HOP_PS, loss_ppb);
	pcie_net_path_add(&path, 2 * to + 1, RATE_BPS, HOP_PS, 0);
	return path;
}

static struct pcie_net_connection connection_of(uint32_t from, uint32_t to)
{
	return (struct pcie_net_connection){
		.requester = &card, .responder = &card, .there = path_of(from, to, 0), .back = path_of(to, from, 0)
	};
}

static struct pcie_net_times run(const struct pcie_net_connection *connection, struct pcie_net_flow *flow,
				 enum pcie_net_op op, uint64_t bytes, uint64_t start_ps)
{
	const struct pcie_net_request request = { .op = op, .bytes = bytes };
	struct pcie_net_times times;

	pcie_net_run(connection, &request, start_ps, flow, &state, &times);
	return times;
}

/* The last byte of a message that leaves at @start_ps at the far port. */
static uint64_t carried(uint64_t start_ps, uint64_t bytes, uint64_t packets)
{
	return start_ps + bytes * BYTE_PS + packets * HEADER_PS + 2 * HOP_PS;
}

static int reset(void **unused)
{
	(void)unused;
	memset(&state, 0, sizeof(state));
	return 0;
}

/* ---- a request alone ---- */

/* 100 bytes are in the request, 101 are fetched. A write of no bytes is a packet, too. */
static void test_a_write_arrives_with_its_last_byte(void **unused)
{
	static const struct {
		uint64_t bytes, packets, fetch_ps;
	} cases[] = { { 0, 1, 0 },         { 100, 1, 0 },       { 101, 1, 200000 },
		      { 1000, 1, 200000 }, { 1001, 2, 200000 }, { 5000, 5, 200000 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pcie_net_connection connection = connection_of(0, 1);
		struct pcie_net_flow flow = { 0 };
		struct pcie_net_times times;
		uint64_t at_port;

		reset(NULL);
		times = run(&connection, &flow, PCIE_NET_WRITE, cases[i].bytes, 0);
		at_port = carried(card.request_ps + cases[i].fetch_ps, cases[i].bytes, cases[i].packets);
		assert_int_equal(times.arrived_ps, at_port + card.deliver_ps);
		assert_int_equal(times.done_ps, at_port + 2 * HOP_PS + card.complete_ps);
	}
}

static void test_a_send_takes_the_time_of_a_receive_too(void **unused)
{
	struct pcie_net_connection connection = connection_of(0, 1);
	struct pcie_net_request request = { .op = PCIE_NET_WRITE, .bytes = 8, .has_receive = true };
	struct pcie_net_flow flow = { 0 };
	struct pcie_net_times send = run(&connection, &flow, PCIE_NET_SEND, 8, 0), write;

	assert_int_equal(send.arrived_ps, carried(card.request_ps, 8, 1) + card.deliver_ps + card.receive_ps);
	reset(NULL);
	flow = (struct pcie_net_flow){ 0 };
	pcie_net_run(&connection, &request, 0, &flow, &state, &write);
	assert_int_equal(write.arrived_ps, send.arrived_ps);
	assert_int_equal(write.done_ps, send.done_ps);
}

/* The data come back, no faster than the responder reads them: 3 ns a byte. */
static void test_a_read_brings_its_data_back(void **unused)
{
	struct pcie_net_connection connection = connection_of(0, 1);
	struct pcie_rdma_timing slow = card;
	struct pcie_net_flow flow = { 0 };
	uint64_t asked = card.request_ps + 2 * HOP_PS;

	assert_int_equal(run(&connection, &flow, PCIE_NET_READ, 2000, 0).done_ps,
			 carried(asked + card.respond_ps, 2000, 2) + card.complete_ps);
	reset(NULL);
	flow = (struct pcie_net_flow){ 0 };
	slow.read_fs_per_byte = 3 * BYTE_PS * 1000;
	connection.responder = &slow;
	assert_int_equal(run(&connection, &flow, PCIE_NET_READ, 2000, 0).done_ps,
			 asked + card.respond_ps + 2000 * 3 * BYTE_PS + 2 * HOP_PS + card.complete_ps);
}

static void test_an_atomic_operation_is_a_short_read(void **unused)
{
	struct pcie_net_connection connection = connection_of(0, 1);
	struct pcie_net_flow flow = { 0 };
	uint64_t read_ps = run(&connection, &flow, PCIE_NET_READ, 8, 0).done_ps;

	reset(NULL);
	flow = (struct pcie_net_flow){ 0 };
	assert_int_equal(run(&connection, &flow, PCIE_NET_ATOMIC, 8, 0).done_ps, read_ps);
}

static void test_a_loop_stays_in_the_card(void **unused)
{
	struct pcie_net_connection connection = { .requester = &card, .responder = &card };
	struct pcie_net_flow flow = { 0 };

	pcie_net_loop_path(&card, 0, &connection.there);
	pcie_net_loop_path(&card, 1, &connection.back);
	connection.there.mtu_bytes = connection.back.mtu_bytes = MTU;
	assert_int_equal(run(&connection, &flow, PCIE_NET_WRITE, 18, 0).done_ps,
			 card.request_ps + (18 + PCIE_NET_HEADER_BYTES) * BYTE_PS / 2 + card.complete_ps);
}

static void test_ports_of_two_cards_are_on_one_switch(void **unused)
{
	struct pcie_net_path path;

	pcie_net_default_path(&card, &card, 6, RATE_BPS, 9, RATE_BPS / 2, &path);
	assert_int_equal(path.num_hops, 2);
	assert_int_equal(path.hops[0].station, 6);
	assert_int_equal(path.hops[1].station, 9);
	assert_int_equal(path.hops[0].fs_per_byte, BYTE_PS * 1000);
	assert_int_equal(path.hops[1].fs_per_byte, 2 * BYTE_PS * 1000);
	assert_int_equal(pcie_net_latency_ps(&path),
			 2 * card.port_ps + 2 * PCIE_NET_LINK_LATENCY_PS + PCIE_NET_SWITCH_LATENCY_PS);
}

/* ---- several ---- */

/* The thread of the requester needs 10 ns for each, and the card gets them in between. */
static void test_an_issuer_submits_one_after_the_other(void **unused)
{
	struct pcie_queue_state issuer = { 0 };

	assert_int_equal(pcie_net_submit(&card, 500, &issuer), 500);
	assert_int_equal(pcie_net_submit(&card, 500, &issuer), 10500);
	assert_int_equal(pcie_net_submit(&card, 90000, &issuer), 90000);
}

/* Requests of a connection end in their order: a short one behind a long read waits for it. */
static void test_requests_of_a_connection_keep_their_order(void **unused)
{
	struct pcie_net_connection connection = connection_of(0, 1);
	struct pcie_net_flow flow = { 0 };
	struct pcie_net_times read = run(&connection, &flow, PCIE_NET_READ, 50000, 0);
	struct pcie_net_times write = run(&connection, &flow, PCIE_NET_WRITE, 8, 0);

	assert_int_equal(write.done_ps, read.done_ps);
	assert_true(write.arrived_ps < read.done_ps);
}

/* A message, and data that come from elsewhere, as those of another machine. */
static void test_data_of_elsewhere_queue_in_front_of_the_port(void **unused)
{
	const struct pcie_net_connection connection = connection_of(0, 1);
	const struct pcie_net_path last = { .num_hops = 1, .mtu_bytes = MTU, .hops = { connection.there.hops[1] } };
	struct pcie_net_flow flow = { 0 };
	const uint64_t begin_ps = 1000000, wire_ps = 1000 * BYTE_PS + HEADER_PS;
	uint64_t arrived_ps;

	(void)unused;
	assert_int_equal(pcie_net_idle_pass_ps(&last, 1000), wire_ps);
	assert_int_equal(pcie_net_pass(&last, 1000, begin_ps + HOP_PS, &state), begin_ps + HOP_PS + wire_ps);
	arrived_ps =
		run(&connection, &flow, PCIE_NET_WRITE, 1000, begin_ps - card.request_ps - card.fetch_ps).arrived_ps;
	assert_int_equal(arrived_ps, carried(begin_ps, 1000, 1) + wire_ps + card.deliver_ps);
}

/* The slowest link says when the last byte has passed, and a link that is busy lets it wait. */
static void test_data_of_elsewhere_pass_several_links(void **unused)
{
	const struct pcie_net_hop slow = { .station = 1, .fs_per_byte = 2000 * BYTE_PS, .latency_ps = HOP_PS };
	const struct pcie_net_hop fast = { .station = 2, .fs_per_byte = 1000 * BYTE_PS, .latency_ps = HOP_PS };
	const struct pcie_net_path links = { .num_hops = 2, .mtu_bytes = MTU, .hops = { slow, fast } };
	const struct pcie_net_path back = { .num_hops = 2, .mtu_bytes = MTU, .hops = { fast, slow } };
	const uint64_t wire_ps = 1000 * BYTE_PS + HEADER_PS, begin_ps = 1000000;

	(void)unused;
	assert_int_equal(pcie_net_idle_pass_ps(&links, 1000), 2 * wire_ps + HOP_PS);
	assert_int_equal(pcie_net_idle_pass_ps(&back, 1000), HOP_PS + 2 * wire_ps);
	assert_int_equal(pcie_net_pass(&links, 1000, begin_ps, &state), begin_ps + 2 * wire_ps + HOP_PS);
	assert_int_equal(pcie_net_pass(&links, 1000, begin_ps, &state), begin_ps + 4 * wire_ps + HOP_PS);
}

/* Two senders to one port: each has its own egress, and the second message waits for the port's ingress. */
static void test_two_senders_queue_in_front_of_one_port(void **unused)
{
	struct pcie_net_connection first = connection_of(0, 2), second = connection_of(1, 2);
	struct pcie_net_flow flow1 = { 0 }, flow2 = { 0 };
	struct pcie_net_times a = run(&first, &flow1, PCIE_NET_WRITE, 1000, 0);
	struct pcie_net_times b = run(&second, &flow2, PCIE_NET_WRITE, 1000, 0);

	assert_int_equal(b.arrived_ps, a.arrived_ps + 1000 * BYTE_PS + HEADER_PS);
}

/* And two directions of one link are apart. */
static void test_two_directions_do_not_disturb_each_other(void **unused)
{
	struct pcie_net_connection there = connection_of(0, 1), back = connection_of(1, 0);
	struct pcie_net_flow flow1 = { 0 }, flow2 = { 0 };

	assert_int_equal(run(&there, &flow1, PCIE_NET_WRITE, 1000, 0).done_ps,
			 run(&back, &flow2, PCIE_NET_WRITE, 1000, 0).done_ps);
}

/* A message whose first byte is at the second hop 50 ns after it left: it is cut through, not stored. */
static void test_a_message_is_cut_through(void **unused)
{
	struct pcie_net_connection connection = connection_of(0, 1);
	struct pcie_net_flow flow = { 0 };

	run(&connection, &flow, PCIE_NET_WRITE, 50, 0);
	assert_int_equal(state.stations[0].busy_ps, card.request_ps + 50 * BYTE_PS + HEADER_PS);
	assert_int_equal(state.stations[3].busy_ps, card.request_ps + HOP_PS + 50 * BYTE_PS + HEADER_PS);
}

/* A read's answer was computed for a moment far ahead. A write that is run later in program order, but leaves earlier, goes
 * before it, unless it is too long for the gap. */
static void test_an_answer_of_later_delays_nothing_before_it(void **unused)
{
	struct pcie_net_connection reader = connection_of(1, 0), writer = connection_of(0, 2);
	struct pcie_rdma_timing slow = card;
	struct pcie_net_flow flow1 = { 0 }, flow2 = { 0 };
	uint64_t alone_ps;

	slow.respond_ps = 5000000;
	reader.responder = &slow;
	alone_ps = run(&writer, &flow2, PCIE_NET_WRITE, 1000, 0).arrived_ps;
	reset(NULL);
	flow2 = (struct pcie_net_flow){ 0 };
	run(&reader, &flow1, PCIE_NET_READ, 1000, 0);
	assert_int_equal(run(&writer, &flow2, PCIE_NET_WRITE, 1000, 0).arrived_ps, alone_ps);
	assert_true(run(&writer, &flow2, PCIE_NET_WRITE, 10000, 0).arrived_ps > 5000000 + 10000 * BYTE_PS);
}

/* 1000 bytes may be under way: the next ones wait for a round trip. */
static void test_a_window_limits_what_is_under_way(void **unused)
{
	struct pcie_net_connection connection = connection_of(0, 1);
	struct pcie_rdma_timing narrow = card;
	struct pcie_net_flow flow = { 0 };
	uint64_t first_ps;

	narrow.window_bytes = 10;
	connection.requester = &narrow;
	first_ps = run(&connection, &flow, PCIE_NET_WRITE, 100, 0).arrived_ps;
	assert_int_equal(run(&connection, &flow, PCIE_NET_WRITE, 100, 0).arrived_ps, first_ps + 10 * ROUND_TRIP_PS);
}

/* ---- losses ---- */

/* Of a link that loses each fourth packet: four messages of a packet, the last of which is lost and waits for the time-out; then
 * a message of eight packets, two of which are lost, the last one again. */
static void test_a_lost_packet_delays_its_message(void **unused)
{
	struct pcie_net_connection connection = connection_of(0, 1);
	uint64_t arrivals[5], clean_ps;

	connection.there = path_of(0, 1, 250000000);
	for (int i = 0; i < 5; i++) {
		struct pcie_net_flow flow = { 0 };

		for (size_t j = 0; j < 4; j++)
			state.stations[j].busy_ps = 0;
		arrivals[i] = run(&connection, &flow, PCIE_NET_WRITE, i < 4 ? 8 : 8000, 0).arrived_ps;
	}
	clean_ps = carried(card.request_ps, 8, 1) + card.deliver_ps;
	for (int i = 0; i < 3; i++)
		assert_int_equal(arrivals[i], clean_ps);
	assert_int_equal(arrivals[3], clean_ps + card.retransmission_ps);
	assert_int_equal(arrivals[4], carried(card.request_ps + card.fetch_ps, 8000, 8) + card.deliver_ps +
					      ROUND_TRIP_PS + card.retransmission_ps);
}

/* Seven packets on a link that loses each eighth, then seven more: the second message loses its first packet, and its sender
 * learns of that by the packets that follow. */
static void test_a_loss_in_the_middle_takes_a_round_trip(void **unused)
{
	struct pcie_net_connection connection = connection_of(0, 1);
	struct pcie_net_flow flow = { 0 };
	uint64_t first_ps, second_ps;

	connection.there = path_of(0, 1, 125000000);
	first_ps = run(&connection, &flow, PCIE_NET_WRITE, 7000, 0).arrived_ps;
	memset(&flow, 0, sizeof(flow));
	for (size_t j = 0; j < 4; j++)
		state.stations[j].busy_ps = 0;
	second_ps = run(&connection, &flow, PCIE_NET_WRITE, 7000, 0).arrived_ps;
	assert_int_equal(second_ps, first_ps + ROUND_TRIP_PS);
}

/* ---- what any memory may hold ---- */

static void test_any_state_gives_a_time_that_is_not_before_the_start(void **unused)
{
	static const uint8_t patterns[] = { 0xff, 0x7f, 0x80, 0x55 };

	for (size_t i = 0; i < sizeof(patterns); i++) {
		for (uint32_t loss_ppb = 0; loss_ppb < 1000000000; loss_ppb += 999999999) {
			struct pcie_net_connection connection = connection_of(0, 1);
			struct pcie_net_flow flow;
			struct pcie_net_times times;

			connection.there = path_of(0, 1, loss_ppb);
			memset(&state, patterns[i], sizeof(state));
			memset(&flow, patterns[i], sizeof(flow));
			times = run(&connection, &flow, PCIE_NET_WRITE, PCIE_LINK_MAX_BYTES, 1000);
			assert_true(times.arrived_ps >= 1000 && times.done_ps >= 1000);
		}
	}
}

/* Each card has constants of RDMA, as cards of all models have. */
static void test_each_profile_has_times(void **unused)
{
	const struct pcie_profile *const *all;
	size_t count = 0;

	all = pcie_profile_all(&count);
	for (size_t i = 0; i < count; i++) {
		const struct pcie_rdma_timing *timing = &all[i]->rdma_timing;

		assert_true(timing->submit_ps && timing->request_ps && timing->port_ps && timing->complete_ps);
		assert_true(timing->rate_bps > 0 && timing->rate_bps <= all[i]->port_rate_bps);
	}
}

int main(void)
{
#define FRESH(test) cmocka_unit_test_setup(test, reset)
	const struct CMUnitTest tests[] = {
		FRESH(test_a_write_arrives_with_its_last_byte),
		FRESH(test_a_send_takes_the_time_of_a_receive_too),
		FRESH(test_a_read_brings_its_data_back),
		FRESH(test_an_atomic_operation_is_a_short_read),
		FRESH(test_a_loop_stays_in_the_card),
		FRESH(test_ports_of_two_cards_are_on_one_switch),
		FRESH(test_an_issuer_submits_one_after_the_other),
		FRESH(test_requests_of_a_connection_keep_their_order),
		FRESH(test_data_of_elsewhere_queue_in_front_of_the_port),
		FRESH(test_data_of_elsewhere_pass_several_links),
		FRESH(test_two_senders_queue_in_front_of_one_port),
		FRESH(test_two_directions_do_not_disturb_each_other),
		FRESH(test_a_message_is_cut_through),
		FRESH(test_an_answer_of_later_delays_nothing_before_it),
		FRESH(test_a_window_limits_what_is_under_way),
		FRESH(test_a_lost_packet_delays_its_message),
		FRESH(test_a_loss_in_the_middle_takes_a_round_trip),
		FRESH(test_any_state_gives_a_time_that_is_not_before_the_start),
		FRESH(test_each_profile_has_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
