/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA in model time (BFSIM_CLOCK), two contexts of one process: requests end and messages arrive at the times of the model. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "bfsim.h"
#include "pcie_model/profile.h"
#include "rdma_util.h"

#define FS_PER_BYTE 80000 /* of 100 Gb/s */
#define MTU         1024  /* what an interface's MTU of 1500 has room for */

struct fixture {
	struct peer *a, *b;
};

static const struct pcie_rdma_timing *card;

/* Devices 0 and 1 are the ports of one card, so the network lies between them. */
static int open_between(void **state, uint32_t device_of_b)
{
	static struct fixture fixture;

	card = &pcie_profile_find("bluefield-3")->rdma_timing;
	fixture.a = peer_open(0, RDMA_ALL_ACCESS);
	fixture.b = peer_open(device_of_b, RDMA_ALL_ACCESS);
	peer_start(fixture.a);
	peer_start(fixture.b);
	peers_connect(fixture.a, fixture.b);
	*state = &fixture;
	return 0;
}

static int open_ports(void **state)
{
	return open_between(state, 1);
}

static int open_one_port(void **state)
{
	return open_between(state, 0);
}

static int close_fixture(void **state)
{
	struct fixture *f = *state;

	peer_stop(f->a);
	peer_stop(f->b);
	peer_close(f->a);
	peer_close(f->b);
	return 0;
}

/* ---- what the model says ---- */

static uint64_t one_way_ps(void)
{
	return 2 * card->port_ps + 2 * PCIE_NET_LINK_LATENCY_PS + PCIE_NET_SWITCH_LATENCY_PS;
}

static uint64_t wire_ps(uint64_t bytes)
{
	uint64_t packets = (bytes + MTU - 1) / MTU;

	return (bytes + packets * PCIE_NET_HEADER_BYTES) * FS_PER_BYTE / 1000;
}

static uint64_t fetch_ps(uint64_t bytes)
{
	return bytes > card->max_inline_bytes ? card->fetch_ps : 0;
}

/* The last byte of a write or send at the responder's port. */
static uint64_t last_byte_ps(uint64_t bytes)
{
	return card->request_ps + fetch_ps(bytes) + wire_ps(bytes) + one_way_ps();
}

static uint64_t write_ps(uint64_t bytes)
{
	return last_byte_ps(bytes) + one_way_ps() + card->complete_ps;
}

static uint64_t send_arrival_ps(uint64_t bytes)
{
	return last_byte_ps(bytes) + card->deliver_ps + card->receive_ps;
}

static uint64_t max_ps(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t read_ps(uint64_t bytes)
{
	return card->request_ps + one_way_ps() + card->respond_ps +
	       max_ps(wire_ps(bytes), bytes * card->read_fs_per_byte / 1000) + one_way_ps() + card->complete_ps;
}

static uint64_t up_to_ns(uint64_t ps)
{
	return (ps + 999) / 1000;
}

static void await_line(struct fixture *f, const struct peer *peer, const char *line)
{
	while (!strstr(peer->trace, line)) {
		peer_progress(f->a);
		peer_progress(f->b);
	}
}

static uint64_t ns_until(struct fixture *f, const struct peer *peer, const char *line, uint64_t begin_ns)
{
	await_line(f, peer, line);
	return bfsim_now_ns() - begin_ns;
}

/* ---- tests ---- */

static const size_t sizes[] = { 8, 220, 221, 1024, 1025, 65536 };

#define for_each_size(size) for (size_t i_ = 0, size; i_ < 6 && (size = sizes[i_], true); i_++)

static void test_a_write_ends_when_its_acknowledgement_is_back(void **state)
{
	struct fixture *f = *state;

	for_each_size(size)
	{
		uint64_t begin_ns = bfsim_now_ns();

		peer_write(f->a, size, peer_buf(f->a, 0, size, size), peer_remote_buf(f->a, f->b, 0, size, 0));
		assert_int_equal(ns_until(f, f->a, "write", begin_ns), up_to_ns(write_ps(size)));
		f->a->trace[0] = '\0';
	}
}

static void test_a_send_arrives_before_its_sender_knows(void **state)
{
	struct fixture *f = *state;

	for_each_size(size)
	{
		uint64_t begin_ns = bfsim_now_ns();

		peer_receive(f->b, size, peer_buf(f->b, 0, size, 0));
		peer_send(f->a, size, peer_buf(f->a, 0, size, size));
		assert_int_equal(ns_until(f, f->b, "receive", begin_ns), up_to_ns(send_arrival_ps(size)));
		assert_int_equal(ns_until(f, f->a, "send", begin_ns), up_to_ns(write_ps(size)));
		f->a->trace[0] = f->b->trace[0] = '\0';
	}
}

static void test_a_read_and_an_atomic_operation_wait_for_their_data(void **state)
{
	struct fixture *f = *state;
	uint64_t begin_ns;

	for_each_size(size)
	{
		begin_ns = bfsim_now_ns();
		peer_read(f->a, size, peer_remote_buf(f->a, f->b, 0, size, size), peer_buf(f->a, 0, size, 0));
		assert_int_equal(ns_until(f, f->a, "read", begin_ns), up_to_ns(read_ps(size)));
		f->a->trace[0] = '\0';
	}
	begin_ns = bfsim_now_ns();
	peer_fetch_add(f->a, 1, peer_remote_buf(f->a, f->b, 0, 8, 8), peer_buf(f->a, 0, 8, 0), 1);
	assert_int_equal(ns_until(f, f->a, "fetch_add", begin_ns), up_to_ns(read_ps(8)));
}

/* A message of 300 KiB is longer than the peer's inbox: the rest follows at the time of its arrival. */
static void test_a_message_that_is_longer_than_an_inbox(void **state)
{
	const size_t size = 300 << 10;
	struct fixture *f = *state;
	uint64_t begin_ns = bfsim_now_ns();

	memset(f->a->arena, 7, size);
	peer_receive(f->b, 1, peer_buf(f->b, 0, size, 0));
	peer_send(f->a, 2, peer_buf(f->a, 0, size, size));
	assert_int_equal(ns_until(f, f->b, "receive", begin_ns), up_to_ns(send_arrival_ps(size)));
	assert_int_equal(f->b->arena[size - 1], 7);
	assert_int_equal(ns_until(f, f->a, "send", begin_ns), up_to_ns(write_ps(size)));
}

/* Two writes of 64 KiB: the second follows the first on the wire, and ends a wire's time later. */
static void test_writes_queue_for_the_wire(void **state)
{
	const size_t size = 64 << 10;
	struct fixture *f = *state;
	uint64_t begin_ns = bfsim_now_ns();

	for (uint64_t i = 0; i < 2; i++)
		peer_write(f->a, i, peer_buf(f->a, 0, size, size), peer_remote_buf(f->a, f->b, 0, size, 0));
	assert_int_equal(ns_until(f, f->a, "write 0", begin_ns), up_to_ns(write_ps(size)));
	assert_int_equal(ns_until(f, f->a, "write 1", begin_ns), up_to_ns(write_ps(size) + wire_ps(size)));
}

/* The write is posted behind a send that has not been answered: it is executed later, but was sent at once. */
static void test_a_write_behind_a_send_is_sent_at_once(void **state)
{
	struct fixture *f = *state;
	uint64_t begin_ns = bfsim_now_ns();

	peer_receive(f->b, 1, peer_buf(f->b, 0, 64, 0));
	peer_send(f->a, 2, peer_buf(f->a, 0, 64, 64));
	peer_write(f->a, 3, peer_buf(f->a, 0, 64, 64), peer_remote_buf(f->a, f->b, 0, 64, 0));
	await_line(f, f->a, "send");
	assert_int_equal(ns_until(f, f->a, "write", begin_ns), up_to_ns(write_ps(64) + card->submit_ps));
}

/* Without a receive a message waits for 6 tries of 640 us after its arrival, and not for a second as in functional time. */
static void test_a_receiver_that_is_not_ready(void **state)
{
	struct fixture *f = *state;
	uint64_t begin_ns = bfsim_now_ns();

	peer_send(f->a, 1, peer_buf(f->a, 0, 8, 8));
	assert_int_equal(ns_until(f, f->a, "send 1 failed", begin_ns), up_to_ns(send_arrival_ps(8)) + 6 * 640000);
}

/* The answer leaves when a receive was posted, a millisecond late. */
static void test_a_receive_that_is_posted_late(void **state)
{
	struct fixture *f = *state;
	uint64_t begin_ns = bfsim_now_ns(), posted_ns;

	peer_send(f->a, 1, peer_buf(f->a, 0, 8, 8));
	for (uint64_t i = 0; bfsim_now_ns() < begin_ns + 1000000; i++) {
		peer_write(f->b, i, peer_buf(f->b, 0, 8, 8), peer_remote_buf(f->b, f->a, 0, 8, 0));
		await_line(f, f->b, "write");
		f->b->trace[0] = '\0';
	}
	posted_ns = bfsim_now_ns() - begin_ns;
	peer_receive(f->b, 2, peer_buf(f->b, 0, 8, 0));
	assert_int_equal(ns_until(f, f->b, "receive", begin_ns), posted_ns);
	assert_int_equal(ns_until(f, f->a, "send", begin_ns),
			 posted_ns + up_to_ns(write_ps(8)) - up_to_ns(send_arrival_ps(8)));
}

/* Between functions of one port nothing leaves the card. */
static void test_functions_of_one_port(void **state)
{
	struct fixture *f = *state;
	uint64_t begin_ns = bfsim_now_ns();

	peer_write(f->a, 1, peer_buf(f->a, 0, 64, 64), peer_remote_buf(f->a, f->b, 0, 64, 0));
	assert_int_equal(ns_until(f, f->a, "write", begin_ns),
			 up_to_ns(card->request_ps +
				  ((64 + PCIE_NET_HEADER_BYTES) * card->loop_fs_per_byte + 999) / 1000 +
				  card->complete_ps));
}

/* A context that stops waits for no time. */
static void test_a_stop_waits_for_no_time(void **state)
{
	struct fixture *f = *state;
	uint64_t begin_ns = bfsim_now_ns();

	peer_write(f->a, 1, peer_buf(f->a, 0, 64, 64), peer_remote_buf(f->a, f->b, 0, 64, 0));
	peer_stop(f->a);
	assert_string_equal(f->a->trace, "write 1 done\n");
	assert_int_equal(bfsim_now_ns(), begin_ns);
}

/* ---- timed mode: no earlier than the model says ---- */

/* Sleep until the engine has work. */
static void sleep_on(const struct peer *peer)
{
	doca_event_handle_t handle;
	struct pollfd readable;

	MUST(doca_pe_get_notification_handle(peer->pe, &handle));
	MUST(doca_pe_request_notification(peer->pe));
	readable = (struct pollfd){ .fd = handle, .events = POLLIN };
	assert_int_equal(poll(&readable, 1, PEER_DEADLINE_S * 1000), 1);
	MUST(doca_pe_clear_notification(peer->pe, handle));
}

static void test_nothing_ends_early_in_timed_mode(void **state)
{
	struct fixture *f = *state;

	for_each_size(size)
	{
		uint64_t begin_ns = bfsim_now_ns();

		peer_receive(f->b, size, peer_buf(f->b, 0, size, 0));
		peer_send(f->a, size, peer_buf(f->a, 0, size, size));
		assert_true(ns_until(f, f->b, "receive", begin_ns) >= send_arrival_ps(size) / 1000);
		assert_true(ns_until(f, f->a, "send", begin_ns) >= write_ps(size) / 1000);
		f->a->trace[0] = f->b->trace[0] = '\0';
	}
}

/* The responder sleeps until the message arrives, then the requester until it ends. */
static void test_sleepers_are_woken_in_timed_mode(void **state)
{
	struct fixture *f = *state;
	const size_t size = 16 << 10; /* which the inbox has room for */
	uint64_t begin_ns = bfsim_now_ns();

	peer_receive(f->b, 1, peer_buf(f->b, 0, size, 0));
	peer_send(f->a, 2, peer_buf(f->a, 0, size, size));
	peer_progress(f->a);
	while (!*f->b->trace) {
		peer_progress(f->b);
		if (!*f->b->trace)
			sleep_on(f->b);
	}
	assert_true(bfsim_now_ns() - begin_ns >= send_arrival_ps(size) / 1000);
	while (!*f->a->trace) {
		peer_progress(f->a);
		if (!*f->a->trace)
			sleep_on(f->a);
	}
	assert_true(bfsim_now_ns() - begin_ns >= write_ps(size) / 1000);
}

static int run_timed(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_ends_early_in_timed_mode, open_ports, close_fixture),
		cmocka_unit_test_setup_teardown(test_sleepers_are_woken_in_timed_mode, open_ports, close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
#define BETWEEN_PORTS(test) cmocka_unit_test_setup_teardown(test, open_ports, close_fixture)
	const struct CMUnitTest tests[] = {
		BETWEEN_PORTS(test_a_write_ends_when_its_acknowledgement_is_back),
		BETWEEN_PORTS(test_a_send_arrives_before_its_sender_knows),
		BETWEEN_PORTS(test_a_read_and_an_atomic_operation_wait_for_their_data),
		BETWEEN_PORTS(test_a_message_that_is_longer_than_an_inbox),
		BETWEEN_PORTS(test_writes_queue_for_the_wire),
		BETWEEN_PORTS(test_a_write_behind_a_send_is_sent_at_once),
		BETWEEN_PORTS(test_a_receiver_that_is_not_ready),
		BETWEEN_PORTS(test_a_receive_that_is_posted_late),
		cmocka_unit_test_setup_teardown(test_functions_of_one_port, open_one_port, close_fixture),
		BETWEEN_PORTS(test_a_stop_waits_for_no_time),
	};

	if (strcmp(getenv("BFSIM_CLOCK"), "timed") == 0)
		return run_timed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
