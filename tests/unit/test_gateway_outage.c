/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the link between two machines, by a clock that the test turns. */
#include <string.h>
#include <time.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/gateway/outage_priv.h"

#define OTHER 1
#define MS    SIM_NS_PER_MS

static struct gateway_machine machines[2];
static struct link link;
static struct gateway gateway;
static uint32_t num_passed, num_closed, num_found;
static uint64_t now_ns, last_id;

/* ---- in place of others ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	*ret_now = sim_timespec_from_ns(now_ns);
	return 0;
}

int gateway_send(struct gateway *of, uint32_t machine, struct gateway_frame *frame)
{
	(void)of;
	(void)machine;
	(void)frame;
	return 0;
}

void gateway_pass_late(struct gateway *of, const struct gateway_frame *frame)
{
	assert_ptr_equal(of, &gateway);
	assert_true(frame->id > last_id); /* in their order */
	last_id = frame->id;
	num_passed++;
}

void link_close(struct link *of, const char *words)
{
	assert_ptr_equal(of, &link);
	(void)words;
	num_closed++;
}

void members_lose(struct gateway *of, uint32_t machine, const char *words)
{
	(void)of;
	(void)words;
	assert_int_equal(machine, OTHER);
	num_closed++;
}

void members_find(struct gateway *of, uint32_t machine)
{
	(void)of;
	assert_int_equal(machine, OTHER);
	num_found++;
}

/* ---- the fixture ---- */

static int setup(void **state)
{
	memset(machines, 0, sizeof(machines));
	link = (struct link){ .state = LINK_UP, .machine = OTHER };
	machines[0].is_joined = machines[OTHER].is_joined = true;
	machines[OTHER].link = &link;
	gateway = (struct gateway){ .cfg.is_home = true, .machines = machines, .num_machines = 2 };
	num_passed = num_closed = num_found = 0;
	now_ns = SIM_NS_PER_S;
	last_id = 0;
	return 0;
}

/* An outage still exists when a test fails. */
static int teardown(void **state)
{
	outage_tick(&gateway, UINT64_MAX - 1);
	return 0;
}

static bool takes(uint64_t id)
{
	uint8_t body[100] = { 0 };

	return outage_takes(
		&gateway, OTHER,
		&(struct gateway_frame){
			.kind = GATEWAY_WRITE, .to = OTHER, .id = id, .body = body, .len_bytes = sizeof(body) });
}

static uint64_t tick_at(uint64_t at_ns)
{
	now_ns = at_ns;
	return outage_tick(&gateway, now_ns);
}

/* ---- outages ---- */

static void test_what_is_sent_waits_for_the_end(void **state)
{
	const uint64_t begin_ns = now_ns + OUTAGE_NOTICE_NS;

	outage_begin(&gateway, OTHER, 1000 * MS, false);
	assert_false(takes(1)); /* it has not begun */
	now_ns = begin_ns;
	assert_true(takes(2));
	assert_true(takes(3));
	assert_int_equal(tick_at(begin_ns + 999 * MS), begin_ns + 1000 * MS);
	assert_int_equal(num_passed, 0);
	tick_at(begin_ns + 1000 * MS);
	assert_int_equal(num_passed, 2);
	assert_int_equal(num_closed, 0);
	assert_int_equal(gateway.num_outages, 0);
}

static void test_after_eight_seconds_the_machines_have_lost_each_other(void **state)
{
	const uint64_t begin_ns = now_ns + OUTAGE_NOTICE_NS;

	outage_begin(&gateway, OTHER, 10000 * MS, false);
	now_ns = begin_ns;
	assert_true(takes(1));
	tick_at(begin_ns + LINK_TIMEOUT_NS - 1);
	assert_int_equal(num_closed, 0);
	tick_at(begin_ns + LINK_TIMEOUT_NS);
	assert_int_equal(num_closed, 1);
	assert_true(outage_is_lost(&gateway, OTHER));
	tick_at(begin_ns + 10000 * MS);
	assert_int_equal(num_closed, 1);
	assert_int_equal(num_found, 1);
	assert_int_equal(num_passed, 0);
}

/* The gateway is stopped for a minute, or waits for a CPU. */
static void test_a_short_outage_loses_nobody_though_the_gateway_sees_its_end_late(void **state)
{
	outage_begin(&gateway, OTHER, 2000 * MS, false);
	now_ns += OUTAGE_NOTICE_NS;
	assert_true(takes(1));
	tick_at(now_ns + 60000 * MS);
	assert_int_equal(num_closed, 0);
	assert_int_equal(num_passed, 1);
	assert_int_equal(gateway.num_outages, 0);
}

static void test_a_break_loses_at_once(void **state)
{
	outage_begin(&gateway, OTHER, 0, true);
	tick_at(now_ns + OUTAGE_NOTICE_NS);
	assert_int_equal(num_closed, 1);
	assert_int_equal(num_found, 1);
}

/* Its gateway was started again, say: it is told what is left. A rule of its own is its own to tell. */
static void test_a_machine_that_joins_again_is_told_of_an_outage(void **state)
{
	const uint64_t begin_ns = now_ns + OUTAGE_NOTICE_NS;

	assert_int_equal(outage_left_ns(&gateway, OTHER), 0);
	outage_begin(&gateway, OTHER, 3000 * MS, false);
	now_ns = begin_ns + 1000 * MS;
	assert_int_equal(outage_left_ns(&gateway, OTHER), 2000 * MS - OUTAGE_NOTICE_NS);
	now_ns = begin_ns + 3000 * MS - OUTAGE_NOTICE_NS; /* it would begin as it ends */
	assert_int_equal(outage_left_ns(&gateway, OTHER), 0);
	tick_at(begin_ns + 3000 * MS);
	outage_on_frame(&gateway, &(struct gateway_frame){ .kind = GATEWAY_OUTAGE, .from = OTHER, .b = 3000 * MS });
	assert_int_equal(outage_left_ns(&gateway, OTHER), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_sent_waits_for_the_end),
		TEST(test_after_eight_seconds_the_machines_have_lost_each_other),
		TEST(test_a_short_outage_loses_nobody_though_the_gateway_sees_its_end_late),
		TEST(test_a_break_loses_at_once),
		TEST(test_a_machine_that_joins_again_is_told_of_an_outage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
