/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/sampler.h: a few events are all recorded, of many only some. */
#include "cmocka_test.h"
#include "sim/trace/sampler.h"

static struct sim_trace_sampler sampler;
static uint64_t now_ns, number;

static int begin(void **state)
{
	now_ns = 1000000000;
	number = 0;
	sim_trace_sampler_init(&sampler, false);
	return 0;
}

/* Record so many events, one each @gap_ns; returns the number recorded. */
static unsigned int happen(unsigned int count, uint64_t gap_ns)
{
	unsigned int recorded = 0;

	for (unsigned int i = 0; i < count; i++, number++, now_ns += gap_ns) {
		if (number < sampler.next)
			continue;
		sim_trace_sampler_advance(&sampler, number, now_ns);
		recorded++;
	}
	return recorded;
}

static void test_a_first_burst_is_recorded_one_by_one(void **state)
{
	assert_int_equal(happen(SIM_TRACE_BURST, 0), SIM_TRACE_BURST);
}

/* Without credits, the distances are 2, 4, ... 1024, 1024: 2046 events in ten steps, the first at once, and then
 * each 1024th. */
static void test_of_a_flood_one_in_1024_is_recorded(void **state)
{
	happen(SIM_TRACE_BURST, 0);
	assert_int_equal(happen(2046, 0), 10);
	assert_int_equal(happen(1024 * 100, 0), 100);
}

/* 80 us bring one credit. */
static void test_events_slower_than_the_credits_are_all_recorded(void **state)
{
	assert_int_equal(happen(100000, SIM_TRACE_CREDIT_NS), 100000);
}

/* 50 ns a task: the longest distance, 1024, is 51.2 us, and 1953 times in 2000000 tasks. They bring 1250 credits, each
 * of which halves one distance. */
static void test_a_steady_flood_is_recorded_as_the_credits_come(void **state)
{
	unsigned int recorded;

	happen(4000, 0);
	recorded = happen(2000000, 50);
	assert_in_range(recorded, 1950, 3300);
}

/* After a flood the next recorded event may be 1023 events away; from there on all are recorded. */
static void test_a_pause_brings_the_credits_back(void **state)
{
	happen(20000, 0);
	now_ns += SIM_TRACE_BURST * (uint64_t)SIM_TRACE_CREDIT_NS;
	happen(SIM_TRACE_MAX_INTERVAL, 0);
	assert_int_equal(sampler.interval, 1);
	assert_in_range(happen(255, 0), 255, 255);
}

static void test_every_means_every(void **state)
{
	sim_trace_sampler_init(&sampler, true);
	assert_int_equal(happen(10000, 0), 10000);
}

/* Two runs in virtual time begin at different times of the clock, and select the same events. */
static void test_the_time_of_the_first_event_does_not_matter(void **state)
{
	struct sim_trace_sampler first;

	happen(2000, SIM_TRACE_CREDIT_NS / 3);
	first = sampler;
	begin(state);
	now_ns += SIM_TRACE_CREDIT_NS / 2;
	happen(2000, SIM_TRACE_CREDIT_NS / 3);
	assert_int_equal(sampler.next, first.next);
	assert_int_equal(sampler.credits, first.credits);
	assert_int_equal(sampler.credited_ns, first.credited_ns + SIM_TRACE_CREDIT_NS / 2);
}

/* CLOCK_MONOTONIC read by two threads: the second may be a little behind. */
static void test_time_that_goes_back_brings_nothing(void **state)
{
	happen(SIM_TRACE_BURST, 0);
	now_ns -= 1000;
	happen(1, 0);
	assert_int_equal(sampler.credits, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_first_burst_is_recorded_one_by_one, begin),
		cmocka_unit_test_setup(test_of_a_flood_one_in_1024_is_recorded, begin),
		cmocka_unit_test_setup(test_events_slower_than_the_credits_are_all_recorded, begin),
		cmocka_unit_test_setup(test_a_steady_flood_is_recorded_as_the_credits_come, begin),
		cmocka_unit_test_setup(test_a_pause_brings_the_credits_back, begin),
		cmocka_unit_test_setup(test_every_means_every, begin),
		cmocka_unit_test_setup(test_the_time_of_the_first_event_does_not_matter, begin),
		cmocka_unit_test_setup(test_time_that_goes_back_brings_nothing, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
