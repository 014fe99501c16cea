/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/net_outage.h: when a network link is down, by one rule and by several. */
#include <errno.h>
#include <stdlib.h>

#include "cmocka_test.h"
#include "sim/clock/net_outage.h"

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct sim_clock_net));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void expect_open(struct sim_clock_net *net, uint32_t function, uint32_t rule, uint64_t down_ns, uint64_t up_ns)
{
	assert_int_equal(sim_clock_net_outage_open(net, function, rule, down_ns, up_ns, 0), 0);
}

static uint64_t path_up_ns(const struct sim_clock_net *net, uint32_t from, uint32_t to, uint64_t at_ns)
{
	return sim_clock_net_way_up_ns(net, &(const struct sim_clock_net_way){ 2, { from, to } }, at_ns);
}

/* From its begin, which is part of it, to its end, which is not. */
static void test_link_is_down_for_its_time(void **state)
{
	struct sim_clock_net *net = *state;

	assert_false(sim_clock_net_has_outages(net));
	assert_int_equal(sim_clock_net_link_up_ns(net, 3, 150), 0);
	expect_open(net, 3, 1, 100, 200);
	assert_true(sim_clock_net_has_outages(net));
	assert_int_equal(sim_clock_net_link_up_ns(net, 3, 99), 0);
	assert_int_equal(sim_clock_net_link_up_ns(net, 3, 100), 200);
	assert_int_equal(sim_clock_net_link_up_ns(net, 3, 199), 200);
	assert_int_equal(sim_clock_net_link_up_ns(net, 3, 200), 0);
	assert_int_equal(sim_clock_net_link_up_ns(net, 4, 150), 0);
}

static void test_path_is_down_with_either_end(void **state)
{
	struct sim_clock_net *net = *state;

	expect_open(net, 3, 1, 100, 200);
	assert_int_equal(path_up_ns(net, 3, 4, 150), 200);
	assert_int_equal(path_up_ns(net, 4, 3, 150), 200);
	assert_int_equal(path_up_ns(net, 4, 5, 150), 0);
	assert_int_equal(path_up_ns(net, SIM_CLOCK_MAX_NET_LINKS, 4, 150), 0);
	assert_int_equal(path_up_ns(net, 4, UINT32_MAX, 150), 0);
}

static bool is_none(const void *arg, uint32_t rule)
{
	(void)arg, (void)rule;
	return false;
}

/* A link whose id is above those that the page has room for is never down. */
static void test_link_without_room_has_no_outage(void **state)
{
	struct sim_clock_net *net = *state;

	assert_int_equal(sim_clock_net_outage_open(net, SIM_CLOCK_MAX_NET_LINKS, 1, 100, 200, 0), -ENOSPC);
	assert_int_equal(sim_clock_net_link_up_ns(net, SIM_CLOCK_MAX_NET_LINKS, 150), 0);
	expect_open(net, SIM_CLOCK_MAX_NET_LINKS - 1, 1, 100, 200);
	sim_clock_net_restore(net, 2 * SIM_CLOCK_MAX_NET_LINKS, is_none, NULL);
	assert_false(sim_clock_net_has_outages(net));
}

/* Outages that overlap, or follow each other, of both ends: up when none is left. */
static void test_outages_are_combined(void **state)
{
	struct sim_clock_net *net = *state;

	expect_open(net, 3, 1, 100, 200);
	expect_open(net, 3, 2, 150, 300);
	expect_open(net, 4, 3, 300, 400);
	expect_open(net, 4, 4, 401, 500);
	assert_int_equal(sim_clock_net_link_up_ns(net, 3, 120), 300);
	assert_int_equal(path_up_ns(net, 3, 4, 120), 400);
	assert_int_equal(path_up_ns(net, 3, 4, 400), 0);
	assert_int_equal(path_up_ns(net, 3, 4, 450), 500);
}

/* It may be written ahead, and again when the rule begins. */
static void test_rule_has_one_outage_at_a_link(void **state)
{
	struct sim_clock_net *net = *state;

	expect_open(net, 3, 1, 100, 200);
	expect_open(net, 3, 1, 150, 250);
	assert_int_equal(sim_clock_net_link_up_ns(net, 3, 120), 200);
	assert_int_equal(sim_clock_net_link_up_ns(net, 3, 220), 0);
}

static bool is_rule_2(const void *arg, uint32_t rule)
{
	(void)arg;
	return rule == 2;
}

static void test_removed_rule_ends(void **state)
{
	struct sim_clock_net *net = *state;

	expect_open(net, 3, 1, 100, 300);
	expect_open(net, 3, 2, 100, 200);
	sim_clock_net_restore(net, 8, is_rule_2, NULL);
	assert_int_equal(sim_clock_net_link_up_ns(net, 3, 150), 200);
	assert_true(sim_clock_net_has_outages(net));
	sim_clock_net_restore(net, 8, is_none, NULL);
	assert_int_equal(sim_clock_net_link_up_ns(net, 3, 150), 0);
	assert_false(sim_clock_net_has_outages(net));
}

static void test_full_link_takes_no_other_rule_until_one_is_over(void **state)
{
	struct sim_clock_net *net = *state;

	for (uint32_t i = 1; i <= SIM_CLOCK_MAX_WINDOWS; i++)
		expect_open(net, 3, i, 0, 100 * i);
	assert_int_equal(sim_clock_net_outage_open(net, 3, 1000, 0, 1000000, 99), -ENOSPC);
	assert_int_equal(sim_clock_net_outage_open(net, 3, 1000, 0, 1000000, 100), 0);
	assert_int_equal(sim_clock_net_link_up_ns(net, 3, 50), 1000000);
}

/* A page that another process has spoiled: no bad access, and an end. */
static void test_spoiled_page_is_harmless(void **state)
{
	struct sim_clock_net *net = *state;

	net->has_outages = 1;
	net->links[3].outages.end = UINT32_MAX;
	for (uint32_t i = 0; i < SIM_CLOCK_MAX_WINDOWS; i++) {
		net->links[3].outages.entries[i].rule = UINT32_MAX;
		net->links[3].outages.entries[i].end_ns = UINT64_MAX;
	}
	assert_true(sim_clock_net_link_up_ns(net, 3, 50) == UINT64_MAX);
	assert_int_equal(sim_clock_net_outage_open(net, 3, 1, 0, 10, 5), -ENOSPC);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_link_is_down_for_its_time),
		TEST(test_path_is_down_with_either_end),
		TEST(test_link_without_room_has_no_outage),
		TEST(test_outages_are_combined),
		TEST(test_rule_has_one_outage_at_a_link),
		TEST(test_removed_rule_ends),
		TEST(test_full_link_takes_no_other_rule_until_one_is_over),
		TEST(test_spoiled_page_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
