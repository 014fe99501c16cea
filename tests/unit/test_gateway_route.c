/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of frames to machines, and when it is full. */
#include <errno.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/gateway/gateway.h"

static struct gateway_machine machines[3];
static struct link link;
static struct gateway gateway;
static uint32_t num_sent;

/* In place of link.c. */
void link_send(struct link *to, const struct gateway_frame *frame)
{
	assert_ptr_equal(to, &link);
	num_sent++;
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
	num_sent = 0;
	return 0;
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

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frames_go_to_machines_that_have_joined),
		TEST(test_home_passes_frames_on),
		TEST(test_a_long_queue_has_no_room_for_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
