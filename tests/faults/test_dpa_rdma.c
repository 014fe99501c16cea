/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at the requests and receives of RDMA that kernels post: two contexts on the DPA of a private card. Their operations in rules, and what
 * goes with which, are those of tasks (test_rdma.c). */
#include <bfsim.h>
#include <doca_sync_event.h>
#include <stdio.h>
#include <string.h>

#include "tests/api/api_util.h"
#include "tests/api/dpa_ends.h"

doca_dpa_func_t signal_peer, receive_again;

#define TEXT     "thirty-two bytes, with the last 0"
#define BYTES    32
#define DELAY_NS UINT64_C(2000000) /* in virtual time, kernels poll tens of thousands of times meanwhile */

static uint32_t rule;
static uint64_t begin_ns;

static void arm(const char *text)
{
	begin_ns = bfsim_now_ns();
	if (bfsim_fault_add(text, &rule) != 0)
		fail_msg("%s: %s", text, bfsim_error());
}

/* The rule has fired so often; it ends. */
static void expect_hits(uint64_t num)
{
	struct bfsim_fault fault;

	assert_int_equal(bfsim_fault_get(rule, &fault), 0);
	assert_int_equal(fault.fired, num);
	assert_int_equal(bfsim_fault_clear(), 0);
}

static void assert_late(void)
{
	assert_true(bfsim_now_ns() - begin_ns >= DELAY_NS);
}

static void post(const struct end *end, enum request_op op)
{
	ends_post(request_from(end, op, BYTES));
}

static unsigned int count_wrong_bits(doca_dpa_dev_uintptr_t addr)
{
	uint8_t found[BYTES];
	unsigned int num = 0;

	assert_ok(doca_dpa_d2h_memcpy(ends_dpa, found, addr, BYTES));
	for (int i = 0; i < BYTES; i++)
		num += (unsigned int)__builtin_popcount(found[i] ^ (uint8_t)TEXT[i]);
	return num;
}

/* The part that moved, and nothing behind it. */
static void assert_moved(doca_dpa_dev_uintptr_t addr, size_t num)
{
	uint8_t found[BYTES], expected[BYTES] = { 0 };

	memcpy(expected, TEXT, num);
	assert_ok(doca_dpa_d2h_memcpy(ends_dpa, found, addr, BYTES));
	assert_memory_equal(found, expected, BYTES);
}

/* ---- requests ---- */

static void test_failed_write_has_moved_a_part_and_ends_its_connection(void **state)
{
	ends_put(end_a.memory, TEXT);
	arm("rdma.write nth=1 fail=IO_FAILED moved=25%");
	post(&end_a, REQUEST_WRITE);
	assert_int_equal(ends_wait_one(&end_a).type, SEND_FAILED);
	assert_moved(end_b.memory, 8);
	post(&end_a, REQUEST_READ);
	assert_int_equal(ends_wait_one(&end_a).type, SEND_FAILED);
	expect_hits(1);
}

static void test_failed_requests_without_data_do_nothing(void **state)
{
	struct request add = request_from(&end_a, REQUEST_ADD, 8);

	add.value = 1;
	arm("rdma.fetch_add fail=TIME_OUT");
	ends_post(add);
	assert_int_equal(ends_wait_one(&end_a).type, SEND_FAILED);
	assert_int_equal(ends_read_word(end_b.memory), 0);
	expect_hits(1);
}

static void test_failed_send_reaches_no_receive(void **state)
{
	ends_receive(&end_b, 64);
	arm("rdma.send* fail=IO_FAILED");
	post(&end_a, REQUEST_SEND_IMM);
	assert_int_equal(ends_wait_one(&end_a).type, SEND_FAILED);
	assert_false(ends_has_completion(&end_b));
	expect_hits(1);
}

static void test_flip_spoils_bits_where_data_arrives(void **state)
{
	ends_put(end_a.memory, TEXT);
	arm("rdma.write flip=3");
	post(&end_a, REQUEST_WRITE);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_int_equal(count_wrong_bits(end_b.memory), 3);
	assert_int_equal(count_wrong_bits(end_a.memory), 0);
	expect_hits(1);
	ends_put(end_b.memory, TEXT);
	arm("rdma.read flip=1");
	post(&end_a, REQUEST_READ);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_int_equal(count_wrong_bits(end_a.memory), 1);
	expect_hits(1);
}

static void test_late_request_holds_up_those_behind_it(void **state)
{
	struct completed completed[2];

	ends_put(end_a.memory, TEXT);
	arm("rdma.write delay=2ms");
	post(&end_a, REQUEST_WRITE);
	post(&end_a, REQUEST_READ);
	ends_wait(&end_a, 2, completed);
	assert_late();
	assert_int_equal(completed[0].index, 0);
	assert_int_equal(completed[1].index, 1);
	assert_int_equal(count_wrong_bits(end_b.memory), 0);
	expect_hits(1);
}

static void test_late_send_arrives_late(void **state)
{
	ends_receive(&end_b, 64);
	arm("rdma.send delay=2ms");
	post(&end_a, REQUEST_SEND);
	assert_int_equal(ends_wait_one(&end_b).type, RECEIVED);
	assert_late();
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	expect_hits(1);
}

/* The other direction works meanwhile; the stop of the context ends what hangs. */
static void test_request_that_hangs_holds_its_connection_up(void **state)
{
	arm("rdma.read nth=1 hang");
	post(&end_a, REQUEST_READ);
	post(&end_a, REQUEST_WRITE);
	post(&end_b, REQUEST_READ);
	assert_int_equal(ends_wait_one(&end_b).type, SENT);
	assert_false(ends_has_completion(&end_a));
	expect_hits(1);
}

/* The kernel's call has no result: it waits, and posts again, which is another match. */
static void test_refused_post_is_made_again(void **state)
{
	ends_put(end_a.memory, TEXT);
	arm("rdma.write times=3 refuse");
	post(&end_a, REQUEST_WRITE);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_int_equal(count_wrong_bits(end_b.memory), 0);
	expect_hits(3);
}

static void test_rules_know_size_and_address(void **state)
{
	char text[96];

	ends_put(end_a.memory, TEXT);
	arm("rdma.write size>32 flip=1");
	post(&end_a, REQUEST_WRITE);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	expect_hits(0);
	snprintf(text, sizeof(text), "rdma.write size=32 addr=%#llx..%#llx flip=1", (unsigned long long)end_b.memory,
		 (unsigned long long)end_b.memory + 8);
	arm(text);
	post(&end_a, REQUEST_WRITE);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	post(&end_b, REQUEST_WRITE);
	assert_int_equal(ends_wait_one(&end_b).type, SENT);
	expect_hits(1);
}

/* ---- sync events ---- */

static struct doca_sync_event *open_event(struct doca_sync_event_remote_net **ret_remote,
					  doca_dpa_dev_sync_event_remote_net_t *ret_handle)
{
	struct doca_sync_event *event;
	const uint8_t *exported;
	size_t len;

	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_add_publisher_location_remote_net(event));
	assert_ok(doca_sync_event_add_subscriber_location_dpa(event, ends_dpa));
	assert_ok(doca_sync_event_start(event));
	assert_ok(doca_sync_event_export_to_remote_net(event, &exported, &len));
	assert_ok(doca_sync_event_remote_net_create_from_export(ends_dev, exported, len, ret_remote));
	assert_ok(doca_sync_event_remote_net_get_dpa_handle(*ret_remote, ends_dpa, ret_handle));
	return event;
}

static void test_signals_are_late_and_fail(void **state)
{
	doca_dpa_dev_sync_event_remote_net_t handle;
	struct doca_sync_event_remote_net *remote;
	struct doca_sync_event *event = open_event(&remote, &handle);
	uint64_t value;

	arm("rdma.event_set delay=2ms");
	assert_ok(doca_dpa_rpc(ends_dpa, signal_peer, &value, end_a.handle, handle, UINT64_C(0), UINT64_C(7)));
	assert_ok(doca_sync_event_wait_eq(event, 7, UINT64_MAX));
	assert_late();
	expect_hits(1);
	arm("rdma.event_add fail=IO_FAILED");
	assert_ok(doca_dpa_rpc(ends_dpa, signal_peer, &value, end_a.handle, handle, UINT64_C(1), UINT64_C(3)));
	assert_int_equal(ends_wait_one(&end_a).type, SEND_FAILED);
	assert_ok(doca_sync_event_get(event, &value));
	assert_int_equal(value, 7);
	expect_hits(1);
	assert_ok(doca_sync_event_remote_net_destroy(remote));
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- receives ---- */

static void send_and_expect(int sent, int received)
{
	ends_put(end_a.memory, TEXT);
	post(&end_a, REQUEST_SEND);
	assert_int_equal(ends_wait_one(&end_a).type, sent);
	assert_int_equal(ends_wait_one(&end_b).type, received);
}

static void test_failed_receive_loses_its_message_and_the_connection_goes_on(void **state)
{
	arm("rdma.receive nth=1 fail=IO_FAILED");
	ends_receive(&end_b, 64);
	ends_receive(&end_b, 64);
	send_and_expect(SENT, RECEIVE_FAILED);
	send_and_expect(SENT, RECEIVED);
	expect_hits(1);
}

static void test_flip_spoils_a_received_message(void **state)
{
	arm("rdma.receive flip=2");
	ends_receive(&end_b, 64);
	send_and_expect(SENT, RECEIVED);
	assert_int_equal(count_wrong_bits(end_b.memory + 256), 2);
	expect_hits(1);
}

static void test_late_receive_completes_late(void **state)
{
	arm("rdma.receive delay=2ms");
	ends_receive(&end_b, 64);
	send_and_expect(SENT, RECEIVED);
	assert_late();
	expect_hits(1);
}

/* It holds nothing up; and its map can be stopped. */
static void test_receive_that_hangs_holds_no_map(void **state)
{
	arm("rdma.receive nth=1 hang");
	ends_receive(&end_b, 64);
	ends_receive(&end_b, 64);
	post(&end_a, REQUEST_SEND);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	send_and_expect(SENT, RECEIVED);
	assert_false(ends_has_completion(&end_b));
	assert_ok(doca_mmap_stop(end_b.map));
	expect_hits(1);
}

static void test_refused_receives_are_posted_again(void **state)
{
	uint64_t value;

	arm("rdma.receive skip=1 times=4 refuse");
	ends_receive(&end_b, 64);
	ends_receive(&end_b, 64);
	send_and_expect(SENT, RECEIVED);
	send_and_expect(SENT, RECEIVED);
	expect_hits(4);
	arm("rdma.receive every=2 refuse");
	assert_ok(doca_dpa_rpc(ends_dpa, receive_again, &value, end_b.handle, 2));
	send_and_expect(SENT, RECEIVED);
	send_and_expect(SENT, RECEIVED);
	expect_hits(1);
}

/* ---- links ---- */

/* A card's PCIe link holds up what kernels post, as it does tasks. */
static void test_link_that_is_down_delays_requests(void **state)
{
	arm("link device=03:00.0 down=2ms");
	post(&end_a, REQUEST_WRITE);
	assert_int_equal(ends_wait_one(&end_a).type, SENT);
	assert_late();
	expect_hits(1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, ends_setup, ends_teardown)

static const struct CMUnitTest tests[] = {
	TEST(failed_write_has_moved_a_part_and_ends_its_connection),
	TEST(failed_requests_without_data_do_nothing),
	TEST(failed_send_reaches_no_receive),
	TEST(flip_spoils_bits_where_data_arrives),
	TEST(late_request_holds_up_those_behind_it),
	TEST(late_send_arrives_late),
	TEST(request_that_hangs_holds_its_connection_up),
	TEST(refused_post_is_made_again),
	TEST(rules_know_size_and_address),
	TEST(signals_are_late_and_fail),
	TEST(failed_receive_loses_its_message_and_the_connection_goes_on),
	TEST(flip_spoils_a_received_message),
	TEST(late_receive_completes_late),
	TEST(receive_that_hangs_holds_no_map),
	TEST(refused_receives_are_posted_again),
	TEST(link_that_is_down_delays_requests),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &ends_dev, API_WITH(tests) });
}
