/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of frames to machines, and when it is full. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/gateway/direct.h"
#include "sim/gateway/outage.h"
#include "sim/gateway/slow_link.h"

#define MAX_SENT 8

static struct gateway_machine machines[3];
static struct link link, direct_link_to_2;
static struct gateway gateway;
static uint32_t num_sent, num_direct;
static struct gateway_frame sent[MAX_SENT], sent_directly[MAX_SENT]; /* the first ones */

/* In place of link.c. */
void link_send(struct link *to, const struct gateway_frame *frame)
{
	assert_true(to == &link || to == &direct_link_to_2);
	if (to == &link && num_sent++ < MAX_SENT)
		sent[num_sent - 1] = *frame;
	if (to != &link && num_direct++ < MAX_SENT)
		sent_directly[num_direct - 1] = *frame;
}

void link_close(struct link *of, const char *words)
{
	assert_ptr_equal(of, &direct_link_to_2);
	of->state = LINK_CLOSING;
}

/* In place of outage.c: the machine whose link is down takes nothing. */
static uint32_t down;

bool outage_takes(struct gateway *of, uint32_t hop, const struct gateway_frame *frame)
{
	assert_ptr_equal(of, &gateway);
	return hop == down || frame->to == down;
}

/* In place of slow_link.c. */
static uint32_t slow;

bool slow_link_takes(struct gateway *of, struct link *by, const struct gateway_frame *frame)
{
	assert_ptr_equal(of, &gateway);
	assert_ptr_equal(by, &link);
	return frame->to == slow;
}

bool slow_link_is_full(const struct gateway *of, uint32_t machine)
{
	(void)of;
	return machine == slow;
}

/* Machine 0 is this one, 1 has joined, 2 has not. */
static int setup(void **state)
{
	memset(machines, 0, sizeof(machines));
	link = (struct link){ .state = LINK_UP, .machine = 1 };
	machines[0].is_joined = machines[1].is_joined = true;
	machines[1].link = &link;
	gateway = (struct gateway){ .cfg.is_home = true, .machines = machines, .num_machines = 3 };
	LIST_INSERT_HEAD(&gateway.links, &link, entry);
	num_sent = num_direct = 0;
	down = slow = UINT32_MAX;
	return 0;
}

/* Machine 0 is this one, 1 is home, and 2 has joined it. */
static int setup_joined(void **state)
{
	setup(state);
	gateway.cfg.is_home = false;
	gateway.home = 1;
	machines[2].is_joined = true;
	direct_link_to_2 = (struct link){ .state = LINK_UP, .machine = 2, .is_direct = true };
	return 0;
}

static int teardown_joined(void **state)
{
	if (machines[2].direct)
		held_drop(&machines[2].direct->held);
	free(machines[2].direct);
	return 0;
}

static void send_to_2(enum gateway_kind kind, uint64_t id)
{
	struct gateway_frame frame = { .kind = kind, .id = id };

	assert_int_equal(gateway_send(&gateway, 2, &frame), 0);
}

/* What programs do with memory that they have imported already is no wish, nor is what is for home. */
static void test_the_first_use_of_a_machine_is_a_wish(void **state)
{
	send_to_2(GATEWAY_RELEASE, 1);
	assert_int_equal(gateway_send(&gateway, 1, &(struct gateway_frame){ .kind = GATEWAY_IMPORT }), 0);
	assert_int_equal(num_sent, 2);
	for (int i = 0; i < 3; i++)
		send_to_2(GATEWAY_IMPORT, 2);
	assert_int_equal(num_sent, 2 + 3 + 1);
	assert_int_equal(sent[2].kind, GATEWAY_WISH);
	assert_int_equal(sent[2].a, 2);
	assert_int_equal(sent[3].kind, GATEWAY_IMPORT);
}

static void test_a_wish_that_failed_waits(void **state)
{
	struct direct *direct = direct_of(&gateway, 2);

	direct->wish_ns = UINT64_MAX;
	send_to_2(GATEWAY_CONNECT, 1);
	assert_int_equal(num_sent, 1);
	direct->wish_ns = 1;
	direct->number = 7;
	send_to_2(GATEWAY_CONNECT, 2);
	assert_int_equal(num_sent, 3);
	assert_int_equal(sent[1].kind, GATEWAY_WISH);
	assert_int_equal(sent[1].id, 7);
}

/* By home before the switch, then none, then directly: in the order in which they were sent. */
static void test_frames_wait_while_the_way_is_switched(void **state)
{
	struct direct *direct = direct_of(&gateway, 2);
	uint8_t body[] = "as it was";
	struct gateway_frame frame = {
		.kind = GATEWAY_WRITE, .id = 4, .body = body, .len_bytes = sizeof(body), .is_stable = true
	};

	direct->state = DIRECT_UP;
	direct->link = &direct_link_to_2;
	send_to_2(GATEWAY_RECORDS, 1);
	direct->way = DIRECT_SWITCHING;
	send_to_2(GATEWAY_SWITCH, 2);
	send_to_2(GATEWAY_RECORDS, 3);
	assert_int_equal(gateway_send(&gateway, 2, &frame), 0);
	body[0] = 'x'; /* a stable body is stable as long as the frame is on its way, and no longer */
	assert_int_equal(num_sent, 2);
	assert_int_equal(sent[1].kind, GATEWAY_SWITCH);
	assert_int_equal(gateway_send(&gateway, 1, &(struct gateway_frame){ .kind = GATEWAY_RECORDS }),
			 0); /* to home */
	assert_int_equal(num_sent, 3);
	assert_int_equal(num_direct, 0);
	direct->way = DIRECT_SWITCHED;
	held_send(&direct->held, gateway_pass_late, &gateway);
	send_to_2(GATEWAY_RECORDS, 5);
	assert_int_equal(num_direct, 3);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(sent_directly[i].id, 3 + i);
	assert_false(sent_directly[1].is_stable);
	assert_int_equal(num_sent, 3);
	assert_int_equal(direct->held.num_bytes, 0);
}

/* What waits has a bound, and records stop before it. */
static void test_too_much_that_waits_ends_the_link(void **state)
{
	static const uint8_t body[GATEWAY_MAX_DATA];
	struct gateway_frame frame = { .kind = GATEWAY_WRITE, .body = body, .len_bytes = sizeof(body) };
	struct direct *direct = direct_of(&gateway, 2);
	bool was_full = false;

	direct->state = DIRECT_UP;
	direct->way = DIRECT_SWITCHING;
	direct->link = &direct_link_to_2;
	assert_true(gateway_has_room(&gateway, 2));
	for (size_t bytes = 0; bytes <= HELD_MAX_BYTES; bytes += sizeof(body)) {
		was_full |= !gateway_has_room(&gateway, 2) && direct_link_to_2.state == LINK_UP;
		gateway_send(&gateway, 2, &frame);
	}
	assert_true(was_full);
	assert_int_equal(direct_link_to_2.state, LINK_CLOSING);
	assert_int_equal(num_sent + num_direct, 0);
}

/* After a break, all but BREAK is void. */
static void test_frames_of_before_a_break_are_void(void **state)
{
	struct gateway_frame frame = { .kind = GATEWAY_IMPORT, .from = 2 };

	assert_false(direct_is_void(&gateway, &frame));
	direct_of(&gateway, 2)->awaited = 5;
	assert_true(direct_is_void(&gateway, &frame));
	frame.from = 1;
	assert_false(direct_is_void(&gateway, &frame));
	frame.from = 2;
	frame.kind = GATEWAY_BREAK;
	assert_false(direct_is_void(&gateway, &frame));
}

static void test_frames_go_to_machines_that_have_joined(void **state)
{
	struct gateway_frame frame = { .kind = GATEWAY_RECORDS };

	assert_int_equal(gateway_send(&gateway, 1, &frame), 0);
	assert_int_equal(frame.to, 1);
	assert_int_equal(num_sent, 1);
	assert_int_equal(gateway_send(&gateway, 0, &frame), -EHOSTUNREACH);
	assert_int_equal(gateway_send(&gateway, 2, &frame), -EHOSTUNREACH);
	assert_int_equal(num_sent, 1);
}

/* A gateway that is not home sends by way of home. */
static void test_home_passes_frames_on(void **state)
{
	struct gateway_frame frame = { .kind = GATEWAY_RECORDS };

	gateway.cfg.is_home = false;
	machines[2].is_joined = true;
	assert_int_equal(gateway_send(&gateway, 2, &frame), 0);
	assert_int_equal(frame.to, 2);
	assert_int_equal(num_sent, 1);
	link.num_queued = LINK_FULL_QUEUED;
	assert_false(gateway_has_room(&gateway, 2));
}

/* A frame that tells of the outage goes through it. */
static void test_a_link_that_is_down_takes_frames(void **state)
{
	struct gateway_frame frame = { .kind = GATEWAY_RECORDS }, outage = { .kind = GATEWAY_OUTAGE };

	down = 1;
	assert_int_equal(gateway_send(&gateway, 1, &frame), 0);
	assert_int_equal(num_sent, 1); /* nobody asks without an outage */
	gateway.num_outages = 1;
	assert_int_equal(gateway_send(&gateway, 1, &frame), 0);
	assert_int_equal(num_sent, 1);
	assert_int_equal(gateway_send(&gateway, 1, &outage), 0);
	assert_int_equal(num_sent, 2);
	down = 2; /* another one */
	gateway_pass(&gateway, &frame);
	assert_int_equal(num_sent, 3);
}

/* What has waited passes; a frame that tells of faults does not wait. */
static void test_a_link_that_is_slow_takes_frames_once(void **state)
{
	struct gateway_frame frame = { .kind = GATEWAY_RECORDS }, told = { .kind = GATEWAY_SLOW_LINK };

	slow = 1;
	gateway.num_slow = 1;
	assert_int_equal(gateway_send(&gateway, 1, &frame), 0);
	assert_int_equal(num_sent, 0);
	assert_false(gateway_has_room(&gateway, 1));
	gateway_pass_late(&gateway, &frame);
	assert_int_equal(num_sent, 1);
	assert_int_equal(gateway_send(&gateway, 1, &told), 0);
	assert_int_equal(num_sent, 2);
	gateway.num_outages = 1;
	down = 1;
	gateway_pass_late(&gateway, &frame);
	assert_int_equal(num_sent, 2);
}

/* Records wait long before the connection would be closed for a full queue. */
static void test_a_long_queue_has_no_room_for_records(void **state)
{
	link.num_queued = LINK_FULL_QUEUED - 1;
	assert_true(gateway_has_room(&gateway, 1));
	assert_false(gateway.is_full);
	link.num_queued = LINK_FULL_QUEUED;
	assert_false(gateway_has_room(&gateway, 1));
	assert_true(gateway.is_full);
	assert_true(LINK_FULL_QUEUED < LINK_MAX_QUEUED);
	assert_true(gateway_has_room(&gateway, 2)); /* it has gone: what is sent is lost anyway */
}

#define TEST(name)        cmocka_unit_test_setup(name, setup)
#define TEST_JOINED(name) cmocka_unit_test_setup_teardown(name, setup_joined, teardown_joined)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frames_go_to_machines_that_have_joined),
		TEST(test_home_passes_frames_on),
		TEST(test_a_link_that_is_down_takes_frames),
		TEST(test_a_link_that_is_slow_takes_frames_once),
		TEST(test_a_long_queue_has_no_room_for_records),
		TEST_JOINED(test_the_first_use_of_a_machine_is_a_wish),
		TEST_JOINED(test_a_wish_that_failed_waits),
		TEST_JOINED(test_frames_wait_while_the_way_is_switched),
		TEST_JOINED(test_too_much_that_waits_ends_the_link),
		TEST_JOINED(test_frames_of_before_a_break_are_void),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
