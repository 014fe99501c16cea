/* SPDX-License-Identifier: BSD-3-Clause */
/* Network links that are down, between contexts of one program on the two ports of a private card: requests are repeated, or fail,
 * and connections over other ports go on. In each of the three clocks. Connections by addresses: test_rdma_connections.c. */
#include <stdio.h>

#include "net_rig.h"

#define OUTAGE_MS  300
#define RETRIES_NS (4000 * MS) /* how long a requester repeats requests */
#define REPEAT_NS  67108864    /* in model time, from one repetition to the next */

/* A step lets time pass up to the next event: nothing can be observed before. */
static void skip_in_virtual_time(void)
{
	if (is_virtual())
		skip();
}

/* Progress both for a while, which is shorter than an outage. */
static void progress_for(struct rig *rig, uint64_t ms)
{
	uint64_t begin_ns = bfsim_now_ns();

	while (bfsim_now_ns() - begin_ns < ms * MS)
		progress(rig);
}

/* ---- requests ---- */

static void test_requests_wait_for_the_link_and_keep_their_order(void **state)
{
	struct rig rig = open_rig(1);
	uint64_t begin_ns = bfsim_now_ns();

	peer_share_event(rig.b, rig.a);
	peer_receive(rig.b, 1, peer_buf(rig.b, 4096, 64, 0));
	add_rule("net.link device=03:00.0 side=dpu down=300ms");
	memset(rig.a->arena, 7, 64);
	peer_write(rig.a, 1, peer_buf(rig.a, 0, 64, 64), peer_remote_buf(rig.a, rig.b, 0, 64, 0));
	peer_read(rig.a, 2, peer_remote_buf(rig.a, rig.b, 0, 64, 64), peer_buf(rig.a, 4096, 64, 0));
	peer_send(rig.a, 3, peer_buf(rig.a, 0, 64, 64));
	peer_fetch_add(rig.a, 4, peer_remote_buf(rig.a, rig.b, 8192, 8, 8), peer_buf(rig.a, 8192, 8, 0), 5);
	peer_event_set(rig.a, 5, peer_buf(rig.a, 0, 8, 8));
	progress_to(&rig, rig.a, "event_set 5");
	assert_true(bfsim_now_ns() - begin_ns >= OUTAGE_MS * MS);
	assert_peer_trace(rig.a, "write 1 done\nread 2 done\nsend 3 done\nfetch_add 4 done\nevent_set 5 done\n");
	peers_drain(rig.a, rig.b, 0);
	assert_peer_trace(rig.b, "receive 1 done: 64 bytes by SEND\n");
	assert_memory_equal(rig.b->arena, rig.a->arena, 64);
	assert_memory_equal(rig.a->arena + 4096, rig.a->arena, 64);
	close_rig(&rig);
}

/* A link is that of both ends: requests to its function, and those of its function. */
static void test_link_of_either_end_counts(void **state)
{
	struct rig rig = open_rig(1);
	uint64_t begin_ns = bfsim_now_ns();

	add_rule("net.link device=03:00.1 side=dpu down=100ms");
	peer_write(rig.a, 1, peer_buf(rig.a, 0, 64, 64), peer_remote_buf(rig.a, rig.b, 0, 64, 0));
	peer_write(rig.b, 2, peer_buf(rig.b, 0, 64, 64), peer_remote_buf(rig.b, rig.a, 0, 64, 0));
	progress_to(&rig, rig.a, "write 1 done");
	progress_to(&rig, rig.b, "write 2 done");
	assert_true(bfsim_now_ns() - begin_ns >= 100 * MS);
	close_rig(&rig);
}

/* The memory of the peer is as before until the request passes. */
static void test_memory_does_not_change_while_the_link_is_down(void **state)
{
	struct rig rig;
	uint32_t id;

	skip_in_virtual_time();
	rig = open_rig(1);
	id = add_rule("net.link device=03:00.0 side=dpu down=1000s");
	memset(rig.a->arena, 7, 64);
	peer_write(rig.a, 1, peer_buf(rig.a, 0, 64, 64), peer_remote_buf(rig.a, rig.b, 0, 64, 0));
	progress_for(&rig, 100);
	assert_int_equal(rig.b->arena[0], 0);
	assert_int_equal(bfsim_fault_remove(id), 0);
	progress_to(&rig, rig.a, "write 1 done");
	assert_int_equal(rig.b->arena[0], 7);
	close_rig(&rig);
}

/* The message had arrived, and found no receive; its repetitions are lost. */
static void test_message_that_waits_for_a_receive_waits_for_the_link(void **state)
{
	struct rig rig = open_rig(1);
	uint64_t begin_ns;

	peer_send(rig.a, 1, peer_buf(rig.a, 0, 64, 64));
	begin_ns = bfsim_now_ns();
	add_rule("net.link device=03:00.0 side=dpu down=300ms");
	peer_receive(rig.b, 1, peer_buf(rig.b, 0, 64, 0));
	progress_to(&rig, rig.b, "receive 1 done");
	assert_true(bfsim_now_ns() - begin_ns >= OUTAGE_MS * MS);
	progress_to(&rig, rig.a, "send 1 done");
	close_rig(&rig);
}

static void test_requester_gives_up_after_its_retries(void **state)
{
	struct rig rig = open_rig(1);
	struct peer *c = peer_open(1, RDMA_ALL_ACCESS);
	uint64_t begin_ns;
	char expected[64];
	uint64_t number = 0;

	peer_start(c);
	peers_connect(rig.b, c); /* the second connection of b's context, over its own port */
	peer_receive(c, 1, peer_buf(c, 0, 64, 0));
	add_rule("net.link device=03:00.0 side=dpu down=1000s");
	begin_ns = bfsim_now_ns();
	peer_write(rig.b, 1000, peer_buf(rig.b, 0, 64, 64), peer_remote_buf(rig.b, rig.a, 0, 64, 0));
	peer_send(rig.b, 1001, peer_buf(rig.b, 0, 64, 64));
	while (!strstr(rig.b->trace, "1001")) {
		if (bfsim_now_ns() - begin_ns > DEADLINE_NS)
			fail_msg("still: %s", rig.b->trace);
		progress(&rig);
		peer_progress(c);
	}
	assert_true(bfsim_now_ns() - begin_ns >= RETRIES_NS);
	if (is_virtual())
		assert_int_equal(bfsim_now_ns() - begin_ns, RETRIES_NS);
	assert_peer_trace(rig.b, "write 1000 failed: DOCA_ERROR_IO_FAILED\nsend 1001 failed: DOCA_ERROR_IO_FAILED\n");
	rig.b->may_be_refused = true;
	peer_send(rig.b, 1002, peer_buf(rig.b, 0, 64, 64));
	assert_peer_trace(rig.b, "send 1002 refused\n");
	rig.b->may_be_refused = false;
	peer_send_on(rig.b, rig.b->connections[1], ++number, peer_buf(rig.b, 0, 64, 64));
	sprintf(expected, "send %u done\n", (unsigned int)number);
	while (!strstr(rig.b->trace, expected)) {
		progress(&rig);
		peer_progress(c);
	}
	peers_drain(rig.b, c, 0);
	assert_peer_trace(c, "receive 1 done: 64 bytes by SEND\n");
	peer_close(c);
	close_rig(&rig);
}

/* The connection of the peer ends when the link is up, and not before. */
static void test_peer_of_a_requester_that_gave_up_learns_of_it_later(void **state)
{
	struct rig rig;
	uint32_t id;

	skip_in_virtual_time();
	rig = open_rig(1);
	id = add_rule("net.link device=03:00.0 side=dpu down=1000s");
	peer_write(rig.a, 1, peer_buf(rig.a, 0, 64, 64), peer_remote_buf(rig.a, rig.b, 0, 64, 0));
	progress_to(&rig, rig.a, "write 1 failed: DOCA_ERROR_IO_FAILED");
	peer_write(rig.b, 2, peer_buf(rig.b, 0, 64, 64), peer_remote_buf(rig.b, rig.a, 0, 64, 0));
	progress_for(&rig, 100);
	assert_string_equal(rig.b->trace, "");
	assert_int_equal(bfsim_fault_remove(id), 0);
	progress_to(&rig, rig.b, "write 2 failed: DOCA_ERROR_IO_FAILED");
	close_rig(&rig);
}

/* Functions of one port share its link. */
static void test_connection_within_a_port_is_down_with_it(void **state)
{
	struct rig rig = open_rig(1);
	struct rig in_port = { rig.a, peer_open(0, RDMA_ALL_ACCESS) };
	uint64_t begin_ns;

	peer_start(in_port.b);
	peers_connect(in_port.b, rig.a);
	begin_ns = bfsim_now_ns();
	add_rule("net.link device=mlx5_0 side=dpu down=100ms");
	peer_write(in_port.b, 1, peer_buf(in_port.b, 0, 64, 64), peer_remote_buf(in_port.b, rig.a, 0, 64, 0));
	progress_to(&in_port, in_port.b, "write 1 done");
	assert_true(bfsim_now_ns() - begin_ns >= 100 * MS);
	peer_close(in_port.b);
	close_rig(&rig);
}

static uint64_t write_for_ns(struct rig *rig, int number)
{
	uint64_t begin_ns = bfsim_now_ns();
	char done[32];

	sprintf(done, "write %d done", number);
	begin_write(rig->a, rig->b, number);
	progress_to(rig, rig->a, done);
	return bfsim_now_ns() - begin_ns;
}

static void test_link_that_is_not_on_the_way_delays_nothing(void **state)
{
	struct rig rig = open_rig(0);
	uint64_t before_ns, ns;
	uint32_t id;

	write_for_ns(&rig, 1);
	before_ns = write_for_ns(&rig, 2);
	id = add_rule("net.link device=03:00.1 side=dpu down=1000s");
	ns = write_for_ns(&rig, 3);
	if (is_virtual())
		assert_int_equal(ns, before_ns);
	assert_int_equal(bfsim_fault_remove(id), 0);
	close_rig(&rig);
}

/* The operation is the first that does not pass. */
static void test_outage_begins_at_an_operation(void **state)
{
	struct rig rig = open_rig(1);
	uint64_t begin_ns;

	add_rule("net.link device=03:00.0 side=dpu after='rdma.write nth=2' down=50ms");
	peer_write(rig.a, 1, peer_buf(rig.a, 0, 64, 64), peer_remote_buf(rig.a, rig.b, 0, 64, 0));
	progress_to(&rig, rig.a, "write 1 done");
	begin_ns = bfsim_now_ns();
	peer_write(rig.a, 2, peer_buf(rig.a, 0, 64, 64), peer_remote_buf(rig.a, rig.b, 0, 64, 0));
	progress_to(&rig, rig.a, "write 2 done");
	assert_true(bfsim_now_ns() - begin_ns >= 50 * MS);
	if (is_virtual())
		assert_in_range(bfsim_now_ns() - begin_ns, REPEAT_NS, REPEAT_NS + 20000);
	close_rig(&rig);
}

/* In model time: what a rule announces begins at its time, though the card's events are run later, and takes the answer of a
 * write along that is on its way. The answer comes a repetition later. */
static void test_answers_are_lost_at_exact_times(void **state)
{
	struct rig rig = open_rig(1);
	uint64_t alone_ns, begin_ns;
	char rule[128];

	if (!is_virtual())
		skip();
	begin_ns = bfsim_now_ns();
	peer_write(rig.a, 1, peer_buf(rig.a, 0, 65536, 65536), peer_remote_buf(rig.a, rig.b, 0, 65536, 0));
	progress_to(&rig, rig.a, "write 1 done");
	alone_ns = bfsim_now_ns() - begin_ns;
	begin_ns = bfsim_now_ns();
	sprintf(rule, "net.link device=03:00.0 side=dpu from=%lluns down=1us",
		(unsigned long long)(begin_ns + alone_ns - 500));
	add_rule(rule);
	peer_write(rig.a, 2, peer_buf(rig.a, 0, 65536, 65536), peer_remote_buf(rig.a, rig.b, 0, 65536, 0));
	progress_to(&rig, rig.a, "write 2 done");
	assert_int_equal(bfsim_now_ns() - begin_ns, alone_ns + REPEAT_NS);
	begin_ns = bfsim_now_ns();
	peer_write(rig.a, 3, peer_buf(rig.a, 0, 65536, 65536), peer_remote_buf(rig.a, rig.b, 0, 65536, 0));
	progress_to(&rig, rig.a, "write 3 done");
	assert_int_equal(bfsim_now_ns() - begin_ns, alone_ns);
	close_rig(&rig);
}

/* Its memory was written; the requester can't know. The answer was due when the write had been done alone, and is waited for so long. */
static void test_request_whose_answer_stays_lost_fails(void **state)
{
	struct rig rig = open_rig(1);
	uint64_t begin_ns = bfsim_now_ns();
	char rule[128];

	if (!is_virtual())
		skip();
	sprintf(rule, "net.link device=03:00.0 side=dpu from=%lluns down=1000s", (unsigned long long)(begin_ns + 3000));
	add_rule(rule);
	rig.a->arena[65535] = 7;
	peer_write(rig.a, 1, peer_buf(rig.a, 0, 65536, 65536), peer_remote_buf(rig.a, rig.b, 0, 65536, 0));
	peer_write(rig.a, 2, peer_buf(rig.a, 0, 64, 64), peer_remote_buf(rig.a, rig.b, 65536, 64, 0));
	progress_to(&rig, rig.a, "write 2");
	assert_peer_trace(rig.a, "write 1 failed: DOCA_ERROR_IO_FAILED\nwrite 2 failed: DOCA_ERROR_IO_FAILED\n");
	assert_in_range(bfsim_now_ns() - begin_ns, RETRIES_NS + 3000, RETRIES_NS + 100000);
	assert_int_equal(rig.b->arena[65535], 7);
	close_rig(&rig);
}

/* The peer's time for a receive begins anew: while the link was down, no receive of it was refused. */
static void test_time_without_a_link_is_no_time_without_a_receive(void **state)
{
	struct rig rig;
	uint64_t begin_ns;
	bool is_late;

	if (strcmp(getenv("BFSIM_CLOCK"), "functional") != 0) /* model time has 3.84 ms for a receive */
		skip();
	rig = open_rig(1);
	peer_send(rig.a, 1, peer_buf(rig.a, 0, 64, 64));
	progress_for(&rig, 10);
	begin_ns = bfsim_now_ns();
	add_rule("net.link device=03:00.0 side=dpu down=1500ms");
	progress_for(&rig, 1550);
	peer_receive(rig.b, 1, peer_buf(rig.b, 0, 64, 0));
	is_late =
		bfsim_now_ns() - begin_ns >= 2500 * MS; /* the machine was busy; the second for a receive has passed */
	if (is_late)
		close_rig(&rig);
	if (is_late)
		skip();
	progress_to(&rig, rig.b, "receive 1 done");
	progress_to(&rig, rig.a, "send 1 done");
	close_rig(&rig);
}

/* Likewise a message, whose receiver gets it a repetition later, or two. */
static void test_messages_are_lost_at_exact_times(void **state)
{
	struct rig rig = open_rig(1);
	uint64_t times_ns[3];
	char rule[128];

	if (!is_virtual())
		skip();
	for (int i = 0; i < 3; i++) {
		uint64_t begin_ns = bfsim_now_ns();

		peer_receive(rig.b, 1, peer_buf(rig.b, 0, 64, 0));
		sprintf(rule, "net.link device=03:00.1 side=dpu from=%lluns down=%dus",
			(unsigned long long)(begin_ns + 1000), i == 2 ? 70000 : 2);
		if (i > 0)
			add_rule(rule);
		peer_send(rig.a, 1, peer_buf(rig.a, 0, 64, 64));
		progress_to(&rig, rig.b, "receive 1 done");
		times_ns[i] = bfsim_now_ns() - begin_ns;
		peers_drain(rig.a, NULL, 0);
		assert_in_range(bfsim_now_ns() - begin_ns - times_ns[i], 0, 10000);
		rig.a->trace[0] = rig.b->trace[0] = '\0';
	}
	assert_int_equal(times_ns[1], times_ns[0] + REPEAT_NS);
	assert_int_equal(times_ns[2], times_ns[0] + 2 * REPEAT_NS);
	close_rig(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_wait_for_the_link_and_keep_their_order),
		cmocka_unit_test(test_link_of_either_end_counts),
		cmocka_unit_test(test_memory_does_not_change_while_the_link_is_down),
		cmocka_unit_test(test_message_that_waits_for_a_receive_waits_for_the_link),
		cmocka_unit_test(test_requester_gives_up_after_its_retries),
		cmocka_unit_test(test_peer_of_a_requester_that_gave_up_learns_of_it_later),
		cmocka_unit_test(test_connection_within_a_port_is_down_with_it),
		cmocka_unit_test(test_link_that_is_not_on_the_way_delays_nothing),
		cmocka_unit_test(test_outage_begins_at_an_operation),
		cmocka_unit_test(test_answers_are_lost_at_exact_times),
		cmocka_unit_test(test_messages_are_lost_at_exact_times),
		cmocka_unit_test(test_request_whose_answer_stays_lost_fails),
		cmocka_unit_test(test_time_without_a_link_is_no_time_without_a_receive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
