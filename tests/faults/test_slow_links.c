/* SPDX-License-Identifier: BSD-3-Clause */
/* Network links that are slow, between contexts of one program on ports behind them. In timed and in virtual time. */
#include <stdio.h>

#include "net_rig.h"

static uint64_t write_ns(struct rig *rig, struct peer *from, struct peer *to, size_t len)
{
	uint64_t begin_ns = bfsim_now_ns();

	from->trace[0] = '\0';
	peer_write(from, 1, peer_buf(from, 0, len, len), peer_remote_buf(from, to, 0, len, 0));
	progress_to(rig, from, "write 1 done");
	return bfsim_now_ns() - begin_ns;
}

/* In virtual time exactly; in timed mode the machine may take longer. */
static void assert_takes(uint64_t ns, uint64_t least_ns)
{
	if (is_virtual())
		assert_int_equal(ns, least_ns);
	else
		assert_true(ns >= least_ns);
}

/* The packet and its acknowledgement pass the link. */
static void test_delay_counts_in_each_direction(void **state)
{
	struct rig rig = open_rig(1);
	const char *const rules[] = { "net.link device=leaf1/leaf0 delay=5ms", "net.link device=03:00.0 delay=5ms",
				      "net.link device=03:00.1 delay=5ms" };
	uint64_t fast_ns;

	fast_ns = write_ns(&rig, rig.a, rig.b, 64);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		uint32_t id = add_rule(rules[i]);
		uint64_t slow_ns = write_ns(&rig, rig.a, rig.b, 64);

		assert_takes(slow_ns, is_virtual() ? fast_ns + 10 * MS : 10 * MS);
		assert_takes(write_ns(&rig, rig.b, rig.a, 64), is_virtual() ? slow_ns : 10 * MS);
		assert_int_equal(bfsim_fault_remove(id), 0);
	}
	if (is_virtual())
		assert_int_equal(write_ns(&rig, rig.a, rig.b, 64), fast_ns);
	close_rig(&rig);
}

/* Links that follow each other add up; of several rules for one link the longest delay counts. */
static void test_longest_delay_of_a_link_counts(void **state)
{
	struct rig rig = open_rig(1);
	uint64_t fast_ns;

	fast_ns = write_ns(&rig, rig.a, rig.b, 64);
	add_rule("net.link device=leaf0/leaf1 delay=2ms");
	add_rule("net.link device=leaf0/leaf1 delay=3ms");
	add_rule("net.link device=03:00.1 delay=4ms");
	assert_takes(write_ns(&rig, rig.a, rig.b, 64), is_virtual() ? fast_ns + 14 * MS : 14 * MS);
	close_rig(&rig);
}

/* A request is not sent again, and does not fail, however late its acknowledgement is. */
static void test_request_over_a_very_slow_link_ends(void **state)
{
	struct rig rig;

	if (!is_virtual())
		skip();
	rig = open_rig(1);
	add_rule("net.link device=leaf0/leaf1 delay=20s");
	assert_in_range(write_ns(&rig, rig.a, rig.b, 64), 40000 * MS, 40001 * MS);
	close_rig(&rig);
}

/* 100,000 bytes with their headers, at 1 MB in a second: a tenth of a second and a little more. */
static void test_lowest_rate_counts(void **state)
{
	struct rig rig = open_rig(1);
	uint64_t slow_ns;

	add_rule("net.link device=leaf0/leaf1 rate=10000000");
	add_rule("net.link device=03:00.0 rate=1000000");
	slow_ns = write_ns(&rig, rig.a, rig.b, 100000);
	assert_true(slow_ns >= 100 * MS);
	if (is_virtual())
		assert_in_range(slow_ns, 100 * MS, 110 * MS);
	close_rig(&rig);
}

/* A rule has its time, and then a request that begins later is as fast as before. */
static void test_slow_link_ends(void **state)
{
	struct rig rig = open_rig(1);
	uint64_t fast_ns, slow_ns, until_ns, ms = 15;
	char rule[96];

	fast_ns = write_ns(&rig, rig.a, rig.b, 64);
	do {
		until_ns = bfsim_now_ns() + ms * MS;
		snprintf(rule, sizeof(rule), "net.link device=leaf0/leaf1 delay=10ms until=%lluns",
			 (unsigned long long)until_ns);
		add_rule(rule);
		slow_ns = write_ns(&rig, rig.a, rig.b, 64);
		ms *= 4; /* a program that was kept from its CPU until the rule's end has shown nothing */
	} while (!is_virtual() && slow_ns < 20 * MS && bfsim_now_ns() >= until_ns);
	assert_takes(slow_ns, is_virtual() ? fast_ns + 20 * MS : 20 * MS);
	if (is_virtual()) {
		assert_true(bfsim_now_ns() >= until_ns);
		assert_int_equal(write_ns(&rig, rig.a, rig.b, 64), fast_ns);
	}
	close_rig(&rig);
}

/* They have one port: no packet passes a switch. */
static void test_connection_that_needs_no_slow_link_is_fast(void **state)
{
	struct rig rig = open_rig(0);
	uint64_t fast_ns;

	fast_ns = write_ns(&rig, rig.a, rig.b, 64);
	add_rule("net.link device=leaf0/leaf1 delay=1000s");
	if (is_virtual())
		assert_int_equal(write_ns(&rig, rig.a, rig.b, 64), fast_ns);
	else
		write_ns(&rig, rig.a, rig.b, 64); /* ends at all */
	close_rig(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay_counts_in_each_direction),
		cmocka_unit_test(test_longest_delay_of_a_link_counts),
		cmocka_unit_test(test_request_over_a_very_slow_link_ends),
		cmocka_unit_test(test_lowest_rate_counts),
		cmocka_unit_test(test_slow_link_ends),
		cmocka_unit_test(test_connection_that_needs_no_slow_link_is_fast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
