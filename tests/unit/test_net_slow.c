/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/net_slow.h: how slow the hops of a path are, by one rule and by several. */
#include <errno.h>
#include <stdlib.h>

#include "cmocka_test.h"
#include "sim/clock/net_slow.h"

#define PS_PER_NS UINT64_C(1000)

/* A path within a port, from function 3 to function 5: one hop, on both links. */
static const struct pcie_topology no_network;
static const struct pcie_net_path fast = { .num_hops = 1, .hops = { { .latency_ps = 7, .fs_per_byte = 40000 } } };

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

static int open_slow(struct sim_clock_net *net, uint32_t link, uint32_t rule, uint64_t delay_ns, uint32_t rate)
{
	const struct sim_clock_net_change change = {
		.rule = rule, .begin_ns = 100, .end_ns = 200, .delay_ns = delay_ns, .rate = rate
	};

	return sim_clock_net_slow_open(net, link, &change, 0);
}

static struct pcie_net_hop hop_at(const struct sim_clock_net *net, uint64_t at_ns)
{
	struct pcie_net_path path = fast;

	sim_clock_net_slow_path(net, &no_network, 3, 5, at_ns, &path);
	assert_int_equal(path.num_hops, 1);
	return path.hops[0];
}

static void assert_fast(const struct sim_clock_net *net, uint64_t at_ns)
{
	assert_int_equal(hop_at(net, at_ns).latency_ps, 7);
	assert_int_equal(hop_at(net, at_ns).fs_per_byte, 40000);
}

/* From its begin, which is part of it, to its end, which is not. */
static void test_link_is_slow_for_its_time(void **state)
{
	struct sim_clock_net *net = *state;

	assert_false(sim_clock_net_has_slow_links(net));
	assert_int_equal(open_slow(net, 3, 1, 50, 0), 0);
	assert_true(sim_clock_net_has_slow_links(net));
	assert_fast(net, 99);
	assert_int_equal(hop_at(net, 100).latency_ps, 7 + 50 * PS_PER_NS);
	assert_int_equal(hop_at(net, 199).latency_ps, 7 + 50 * PS_PER_NS);
	assert_fast(net, 200);
}

static void test_longest_delay_and_lowest_rate_count(void **state)
{
	struct sim_clock_net *net = *state;

	open_slow(net, 5, 1, 50, 2000000);
	open_slow(net, 5, 2, 20, 1000000); /* bytes in a second: 1000 ns each */
	open_slow(net, 5, 3, 0, UINT32_MAX);
	assert_int_equal(hop_at(net, 150).latency_ps, 7 + 50 * PS_PER_NS);
	assert_int_equal(hop_at(net, 150).fs_per_byte, UINT64_C(1000000000));
}

static void test_slowness_is_what_rules_say(void **state)
{
	struct sim_clock_net *net = *state;

	open_slow(net, 5, 1, 50, 2000000);
	open_slow(net, 5, 2, 20, 1000000);
	assert_int_equal(sim_clock_net_slow_at(net, 5, 150).delay_ns, 50);
	assert_int_equal(sim_clock_net_slow_at(net, 5, 150).rate, 1000000);
	assert_int_equal(sim_clock_net_slow_at(net, 5, 250).delay_ns, 0);
	assert_int_equal(sim_clock_net_slow_at(net, 5, 250).rate, 0);
	assert_int_equal(sim_clock_net_slow_at(net, UINT32_MAX, 150).delay_ns, 0);
}

static void test_link_is_never_faster_than_the_topology_says(void **state)
{
	struct sim_clock_net *net = *state;

	struct pcie_net_path path = { .num_hops = 1, .hops = { { .fs_per_byte = 1000000 } } }; /* 1 GB/s */

	open_slow(net, 3, 1, 0, UINT32_MAX);
	sim_clock_net_slow_path(net, &no_network, 3, 5, 150, &path);
	assert_int_equal(path.hops[0].fs_per_byte, 1000000);
}

/* Both links of a path within a port are one hop. */
static void test_delays_of_two_links_add_up(void **state)
{
	struct sim_clock_net *net = *state;

	open_slow(net, 3, 1, 50, 0);
	open_slow(net, 5, 1, 20, 0);
	open_slow(net, 4, 1, 1000, 1);
	assert_int_equal(hop_at(net, 150).latency_ps, 7 + 70 * PS_PER_NS);
	assert_int_equal(hop_at(net, 150).fs_per_byte, 40000);
}

static void test_rule_without_a_slow_action_opens_nothing(void **state)
{
	struct sim_clock_net *net = *state;

	assert_int_equal(open_slow(net, 3, 1, 0, 0), 0);
	assert_false(sim_clock_net_has_slow_links(net));
}

static void test_link_without_room_stays_fast(void **state)
{
	struct sim_clock_net *net = *state;

	for (uint32_t rule = 1; rule <= SIM_CLOCK_MAX_WINDOWS; rule++)
		assert_int_equal(open_slow(net, 3, rule, 1, 0), 0);
	assert_int_equal(open_slow(net, 3, SIM_CLOCK_MAX_WINDOWS + 1, 50, 0), -ENOSPC);
	assert_int_equal(open_slow(net, SIM_CLOCK_MAX_NET_LINKS, 1, 50, 0), -ENOSPC);
	assert_int_equal(hop_at(net, 150).latency_ps, 7 + 1 * PS_PER_NS);
}

static bool is_rule_2(const void *arg, uint32_t rule)
{
	return rule == 2;
}

static bool is_none(const void *arg, uint32_t rule)
{
	return false;
}

static void test_removed_rule_ends(void **state)
{
	struct sim_clock_net *net = *state;

	open_slow(net, 3, 1, 50, 0);
	open_slow(net, 3, 2, 20, 0);
	sim_clock_net_restore(net, 8, is_rule_2, NULL);
	assert_int_equal(hop_at(net, 150).latency_ps, 7 + 20 * PS_PER_NS);
	assert_true(sim_clock_net_has_slow_links(net));
	sim_clock_net_restore(net, 8, is_none, NULL);
	assert_fast(net, 150);
	assert_false(sim_clock_net_has_slow_links(net));
}

static void test_spoiled_page_is_harmless(void **state)
{
	struct sim_clock_net *net = *state;

	net->links[3].slow.end = UINT32_MAX;
	for (uint32_t i = 0; i < SIM_CLOCK_MAX_WINDOWS; i++) {
		net->links[3].slow.entries[i].end_ns = UINT64_MAX;
		net->links[3].slow.entries[i].delay_ns = UINT64_MAX;
		net->links[3].slow.entries[i].rate = 1;
	}
	assert_true(hop_at(net, 150).latency_ps == UINT64_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(link_is_slow_for_its_time),    TEST(longest_delay_and_lowest_rate_count),
		TEST(slowness_is_what_rules_say),   TEST(link_is_never_faster_than_the_topology_says),
		TEST(delays_of_two_links_add_up),   TEST(rule_without_a_slow_action_opens_nothing),
		TEST(link_without_room_stays_fast), TEST(removed_rule_ends),
		TEST(spoiled_page_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
