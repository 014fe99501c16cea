/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon tells gateways of links that are down, by a clock that the test turns. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/daemon/daemon_priv.h"

#define OTHER 1
#define MS    SIM_NS_PER_MS

static struct daemon *daemon_of_test;
static struct conn *gateway;
static struct sim_msg told;
static uint32_t num_told;
static uint64_t now_ns;

/* ---- in place of others ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	*ret_now = sim_timespec_from_ns(now_ns);
	return 0;
}

void daemon_send(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int fd)
{
	assert_ptr_equal(daemon, daemon_of_test);
	assert_ptr_equal(conn, gateway);
	assert_int_equal(msg->type, SIM_MSG_OUTAGE);
	assert_int_equal(msg->body.outage.machine, OTHER);
	assert_int_equal(fd, -1);
	told = *msg;
	num_told++;
}

/* ---- the fixture ---- */

static int setup(void **state)
{
	daemon_of_test = calloc(1, sizeof(*daemon_of_test));
	gateway = calloc(1, sizeof(*gateway));
	daemon_of_test->gateway.conn = gateway;
	now_ns = SIM_NS_PER_S;
	num_told = 0;
	return 0;
}

static int teardown(void **state)
{
	daemon_free_outages(daemon_of_test);
	free(daemon_of_test);
	free(gateway);
	return 0;
}

/* The gateway answers what it was told last. */
static void take(void)
{
	daemon_outage_taken(daemon_of_test, gateway, told.seq);
}

static void expect_told(uint32_t count, uint64_t ns, bool breaks)
{
	assert_int_equal(num_told, count);
	assert_int_equal(told.body.outage.ns, ns);
	assert_int_equal(told.body.outage.breaks, breaks);
}

/* ---- outages ---- */

static void test_what_a_gateway_did_not_take_is_for_the_next(void **state)
{
	daemon_begin_outage(daemon_of_test, OTHER, 2000 * MS, false);
	expect_told(1, 2000 * MS, false);
	now_ns += 9000 * MS;
	daemon_tell_outages(daemon_of_test);
	expect_told(2, 2000 * MS, false);
	take();
	now_ns += 2000 * MS;
	daemon_tell_outages(daemon_of_test);
	assert_int_equal(num_told, 2);
}

static void test_the_next_gateway_is_told_of_the_rest(void **state)
{
	daemon_begin_outage(daemon_of_test, OTHER, 3000 * MS, false);
	take();
	now_ns += 1000 * MS;
	daemon_tell_outages(daemon_of_test);
	expect_told(2, 2000 * MS, false);
	take();
	now_ns += 2000 * MS;
	daemon_tell_outages(daemon_of_test);
	assert_int_equal(num_told, 2);
}

/* The end of a gateway that has taken it breaks connections, too: those since then are others. */
static void test_a_break_is_told_until_it_is_taken(void **state)
{
	daemon_begin_outage(daemon_of_test, OTHER, 0, true);
	daemon_tell_outages(daemon_of_test);
	expect_told(2, 0, true);
	take();
	daemon_tell_outages(daemon_of_test);
	assert_int_equal(num_told, 2);
	daemon_begin_outage(daemon_of_test, OTHER, 1000 * MS, false);
	expect_told(3, 1000 * MS, false);
}

/* Of two, the gateway has taken the first. */
static void test_an_answer_to_an_earlier_message_is_none_to_the_last(void **state)
{
	uint64_t first;

	daemon_begin_outage(daemon_of_test, OTHER, 5000 * MS, false);
	first = told.seq;
	daemon_begin_outage(daemon_of_test, OTHER, 1000 * MS, true);
	daemon_outage_taken(daemon_of_test, gateway, first);
	now_ns += 6000 * MS;
	daemon_tell_outages(daemon_of_test);
	expect_told(3, 5000 * MS, true);
}

static void test_a_process_that_is_no_gateway_takes_nothing(void **state)
{
	struct conn *other = calloc(1, sizeof(*other));

	daemon_begin_outage(daemon_of_test, OTHER, 1000 * MS, false);
	daemon_outage_taken(daemon_of_test, other, told.seq);
	free(other);
	now_ns += 1000 * MS;
	daemon_tell_outages(daemon_of_test);
	expect_told(2, 1000 * MS, false);
}

static void test_an_outage_without_an_end_goes_on(void **state)
{
	daemon_begin_outage(daemon_of_test, OTHER, UINT64_MAX, false);
	take();
	daemon_tell_outages(daemon_of_test);
	assert_int_equal(num_told, 2);
	assert_true(told.body.outage.ns > 3600 * SIM_NS_PER_S);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_a_gateway_did_not_take_is_for_the_next),
		TEST(test_the_next_gateway_is_told_of_the_rest),
		TEST(test_a_break_is_told_until_it_is_taken),
		TEST(test_an_answer_to_an_earlier_message_is_none_to_the_last),
		TEST(test_a_process_that_is_no_gateway_takes_nothing),
		TEST(test_an_outage_without_an_end_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
