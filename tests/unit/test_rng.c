/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers: the same match gets the same draw, and delays have the distributions of their names. The seeds
 * are fixed, so these tests give the same answer each time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "sim/faults/inject/rng_priv.h"

#define DRAWS 100000

struct moments {
	double mean, deviation, least, most;
	double median;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static struct moments draw(const char *text)
{
	static uint64_t delays[DRAWS];
	struct sim_rule rule = parse_rule(text);
	double sum = 0, squares = 0;
	struct moments moments;

	for (uint32_t i = 0; i < DRAWS; i++)
		delays[i] = sim_rng_delay(&rule, sim_rng_key(42, 1, i + 1));
	qsort(delays, DRAWS, sizeof(delays[0]), compare);
	for (uint32_t i = 0; i < DRAWS; i++)
		sum += (double)delays[i];
	moments.mean = sum / DRAWS;
	for (uint32_t i = 0; i < DRAWS; i++)
		squares += ((double)delays[i] - moments.mean) * ((double)delays[i] - moments.mean);
	moments.deviation = sqrt(squares / DRAWS);
	moments.least = (double)delays[0];
	moments.median = (double)delays[DRAWS / 2];
	moments.most = (double)delays[DRAWS - 1];
	return moments;
}

static void assert_near(double value, double expected, double tolerance)
{
	if (fabs(value - expected) > tolerance)
		fail_msg("%g is not %g, give or take %g", value, expected, tolerance);
}

static void test_same_match_same_draw(void **state)
{
	assert_int_equal(sim_rng_key(1, 2, 3), sim_rng_key(1, 2, 3));
	assert_int_not_equal(sim_rng_key(1, 2, 3), sim_rng_key(2, 2, 3));
	assert_int_not_equal(sim_rng_key(1, 2, 3), sim_rng_key(1, 3, 3));
	assert_int_not_equal(sim_rng_key(1, 2, 3), sim_rng_key(1, 2, 4));
	assert_int_not_equal(sim_rng_key(1, 2, 3), sim_rng_key(1, 3, 2));
}

/* Saved plans must fire as before: these numbers may never change. */
static void test_draws_are_those_of_every_machine(void **state)
{
	struct sim_rule lognormal = parse_rule("dma.memcpy delay=lognormal(20us,5us)");
	struct sim_rule pareto = parse_rule("dma.memcpy delay=pareto(10us,1.5)");

	assert_int_equal(sim_rng_key(42, 1, 1), UINT64_C(0x56f806fa1c91f122));
	assert_int_equal(sim_rng_delay(&lognormal, sim_rng_key(42, 1, 1)), 15957);
	assert_int_equal(sim_rng_delay(&pareto, sim_rng_key(42, 1, 1)), 10147);
}

/* Half of the bits are set, and neighbours are independent. */
static void test_draws_are_spread_evenly(void **state)
{
	uint64_t bits = 0, changes = 0, before = 0, tenths[10] = { 0 };

	for (uint32_t i = 1; i <= DRAWS; i++) {
		uint64_t draw = sim_rng_u64(sim_rng_key(7, 1, i), SIM_RNG_CHANCE);

		bits += (uint64_t)__builtin_popcountll(draw);
		changes += (uint64_t)__builtin_popcountll(draw ^ before);
		before = draw;
		tenths[sim_rng_below(sim_rng_key(7, 1, i), SIM_RNG_CHANCE, 10)]++;
	}
	assert_near((double)bits / DRAWS, 32, 0.1);
	assert_near((double)changes / DRAWS, 32, 0.1);
	for (int i = 0; i < 10; i++)
		assert_near((double)tenths[i], DRAWS / 10, DRAWS / 200);
}

static void test_fixed_delay_is_itself(void **state)
{
	struct moments got = draw("dma.memcpy delay=10us");

	assert_near(got.least, 10000, 0);
	assert_near(got.most, 10000, 0);
}

/* Mean (a + b) / 2, deviation (b - a) / sqrt(12), both ends reached. */
static void test_uniform_delays(void **state)
{
	struct moments got = draw("dma.memcpy delay=uniform(1us,3us)");

	assert_near(got.mean, 2000, 10);
	assert_near(got.deviation, 2000 / sqrt(12), 5);
	assert_near(got.least, 1000, 1);
	assert_near(got.most, 3000, 1);
	got = draw("dma.memcpy delay=uniform(5ns,5ns)");
	assert_near(got.mean, 5, 0);
}

static void test_normal_delays(void **state)
{
	struct moments got = draw("dma.memcpy delay=normal(1ms,50us)");

	assert_near(got.mean, 1000000, 1000);
	assert_near(got.deviation, 50000, 500);
	assert_near(got.median, 1000000, 1000);
	/* Of 100000 draws the outermost are between 4 and 6 deviations away. */
	assert_near(got.most, 1000000 + 5 * 50000, 50000);
	assert_near(got.least, 1000000 - 5 * 50000, 50000);
}

/* A delay is never below 0: half of these are. The mean of the rest is s / sqrt(2 pi). */
static void test_normal_delays_end_at_zero(void **state)
{
	struct moments got = draw("dma.memcpy delay=normal(0,1ms)");

	assert_near(got.least, 0, 0);
	assert_near(got.median, 0, 10000);
	assert_near(got.mean, 1000000 / sqrt(2 * M_PI), 5000);
}

/* Mean and deviation are those of the delays; the median of a lognormal is
 * mean / sqrt(1 + deviation^2 / mean^2). */
static void test_lognormal_delays(void **state)
{
	struct moments got = draw("dma.memcpy delay=lognormal(20us,5us)");

	assert_near(got.mean, 20000, 100);
	assert_near(got.deviation, 5000, 100);
	assert_near(got.median, 20000 / sqrt(1 + 1 / 16.0), 100);
	got = draw("dma.memcpy delay=lognormal(20us,20us)");
	assert_near(got.mean, 20000, 400);
	assert_near(got.deviation, 20000, 1500);
	assert_near(got.median, 20000 / sqrt(2), 200);
}

/* Where the two distributions are the same, and beside it. */
static void test_narrow_lognormal_delays(void **state)
{
	struct moments got = draw("dma.memcpy delay=lognormal(1s,900us)");

	assert_near(got.mean, 1e9, 1e4);
	assert_near(got.deviation, 9e5, 1e4);
	got = draw("dma.memcpy delay=lognormal(1s,1100us)");
	assert_near(got.mean, 1e9, 1e4);
	assert_near(got.deviation, 1.1e6, 1e4);
}

/* Least 10 us, alpha 3: mean 15 us, median 10 us * 2^(1/3), deviation 8.66 us. */
static void test_pareto_delays(void **state)
{
	struct moments got = draw("dma.memcpy delay=pareto(10us,3)");

	assert_near(got.least, 10000, 1);
	assert_near(got.mean, 15000, 100);
	assert_near(got.median, 10000 * cbrt(2), 50);
	assert_near(got.deviation, 8660, 700);
	assert_true(got.most > 100000);
}

/* With heavy tails even the longest delay is a time. */
static void test_delays_are_bounded(void **state)
{
	struct moments got = draw("dma.memcpy delay=pareto(1s,0.01)");

	assert_near(got.most, (double)SIM_RULE_MAX_NS, 0);
	got = draw("dma.memcpy delay=lognormal(1ns,1000000000s)");
	assert_true(got.most <= (double)SIM_RULE_MAX_NS);
	got = draw("dma.memcpy delay=normal(1000000000s,1000000000s)");
	assert_near(got.most, (double)SIM_RULE_MAX_NS, 0);
	got = draw("dma.memcpy delay=uniform(0,1000000000s)");
	assert_near(got.mean, (double)SIM_RULE_MAX_NS / 2, (double)SIM_RULE_MAX_NS / 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_match_same_draw),
		cmocka_unit_test(test_draws_are_those_of_every_machine),
		cmocka_unit_test(test_draws_are_spread_evenly),
		cmocka_unit_test(test_fixed_delay_is_itself),
		cmocka_unit_test(test_uniform_delays),
		cmocka_unit_test(test_normal_delays),
		cmocka_unit_test(test_normal_delays_end_at_zero),
		cmocka_unit_test(test_lognormal_delays),
		cmocka_unit_test(test_narrow_lognormal_delays),
		cmocka_unit_test(test_pareto_delays),
		cmocka_unit_test(test_delays_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
