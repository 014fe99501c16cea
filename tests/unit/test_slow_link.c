/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that make the link between two machines slow, by a clock that the test turns. */
#include <string.h>
#include <time.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/gateway/slow_link.h"

#define OTHER   1
#define MS      SIM_NS_PER_MS
#define BODY    960u /* with its head a frame has 1000 bytes */
#define FOREVER UINT64_MAX

static struct gateway_machine machines[3];
static struct link link;
static struct gateway gateway;
static uint64_t now_ns, num_passed, last_id, num_told, lasts_told;
static uint32_t num_closed;

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
	assert_int_equal(frame->kind, GATEWAY_SLOW_LINK);
	num_told++;
	lasts_told = gateway_get(frame->body, 8);
	return 0;
}

void gateway_pass_late(struct gateway *of, const struct gateway_frame *frame)
{
	assert_ptr_equal(of, &gateway);
	assert_true(frame->id > last_id); /* in their order */
	assert_true(!frame->is_stable && (frame->len_bytes == 0 || frame->body[0] == 7));
	last_id = frame->id;
	num_passed++;
}

void link_close(struct link *of, const char *words)
{
	assert_ptr_equal(of, &link);
	(void)words;
	num_closed++;
}

/* frame.c needs more than these. */
void gateway_put(uint8_t *to, uint64_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

uint64_t gateway_get(const uint8_t *from, size_t len)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

/* ---- the fixture ---- */

static int setup(void **state)
{
	memset(machines, 0, sizeof(machines));
	link = (struct link){ .state = LINK_UP, .machine = OTHER };
	machines[OTHER].link = &link;
	gateway = (struct gateway){ .cfg.is_home = true, .machines = machines, .num_machines = 3 };
	now_ns = SIM_NS_PER_S;
	num_passed = last_id = num_told = 0;
	num_closed = 0;
	return 0;
}

static int teardown(void **state)
{
	slow_link_begin(&gateway, LINK_NO_MACHINE, &(struct slow_rule){ .rule = 1 });
	slow_link_tick(&gateway, UINT64_MAX - 1);
	return gateway.num_slow == 0 ? 0 : -1;
}

static void add(uint32_t id, uint64_t delay_ns, uint64_t rate, uint64_t lasts_ns)
{
	slow_link_begin(&gateway, OTHER,
			&(struct slow_rule){ .rule = id, .delay_ns = delay_ns, .rate = rate, .lasts_ns = lasts_ns });
}

static bool takes(uint64_t id)
{
	uint8_t body[BODY] = { 7 };

	return slow_link_takes(&gateway, &link,
			       &(struct gateway_frame){ .kind = GATEWAY_WRITE,
							.to = OTHER,
							.id = id,
							.body = body,
							.len_bytes = sizeof(body),
							.is_stable = true });
}

static uint64_t tick_at(uint64_t at_ns)
{
	now_ns = at_ns;
	return slow_link_tick(&gateway, now_ns);
}

/* ---- tests ---- */

static void test_a_delay_is_of_each_frame(void **state)
{
	const uint64_t begin_ns = now_ns;

	assert_false(takes(1));
	add(1, 10 * MS, 0, FOREVER);
	assert_int_equal(num_told, 1);
	assert_true(takes(1));
	now_ns += 4 * MS;
	assert_true(takes(2));
	assert_int_equal(tick_at(begin_ns + 10 * MS - 1), begin_ns + 10 * MS);
	assert_int_equal(num_passed, 0);
	assert_int_equal(tick_at(begin_ns + 10 * MS), begin_ns + 14 * MS);
	assert_int_equal(num_passed, 1);
	tick_at(begin_ns + 14 * MS);
	assert_int_equal(num_passed, 2);
}

/* 1,000 bytes at a million in a second take a millisecond each, behind each other, and then the delay. */
static void test_a_rate_is_of_all_frames(void **state)
{
	const uint64_t begin_ns = now_ns;

	add(1, 5 * MS, 1000000, FOREVER);
	for (uint64_t i = 1; i <= 3; i++)
		assert_true(takes(i));
	for (uint64_t i = 1; i <= 3; i++) {
		tick_at(begin_ns + 5 * MS + i * MS - 1);
		assert_int_equal(num_passed, i - 1);
		tick_at(begin_ns + 5 * MS + i * MS);
		assert_int_equal(num_passed, i);
	}
}

static void test_of_several_rules_the_slowest_counts(void **state)
{
	const uint64_t begin_ns = now_ns;

	add(1, 5 * MS, 1000000, 100 * MS);
	add(2, 20 * MS, 0, 50 * MS);
	assert_true(takes(1));
	tick_at(begin_ns + 21 * MS - 1);
	assert_int_equal(num_passed, 0);
	tick_at(begin_ns + 21 * MS);
	assert_int_equal(num_passed, 1);
	tick_at(begin_ns + 50 * MS); /* the second rule is over */
	assert_true(takes(2));
	tick_at(begin_ns + 56 * MS);
	assert_int_equal(num_passed, 2);
	tick_at(begin_ns + 100 * MS);
	assert_int_equal(gateway.num_slow, 0);
	assert_false(takes(3));
}

static void test_what_waits_leaves_in_order_when_a_rule_is_taken_out(void **state)
{
	add(1, 3600000 * MS, 0, FOREVER);
	for (uint64_t i = 1; i <= 3; i++)
		assert_true(takes(i));
	slow_link_begin(&gateway, LINK_NO_MACHINE, &(struct slow_rule){ .rule = 1 });
	assert_int_equal(num_told, 2);
	assert_true(takes(4)); /* behind those that wait */
	tick_at(now_ns);
	assert_int_equal(num_passed, 4);
	assert_false(takes(5));
	assert_int_equal(gateway.num_slow, 0);
}

/* A rule that gets slower while frames wait changes no order; nor does one that gets faster. */
static void test_a_change_keeps_the_order(void **state)
{
	const uint64_t begin_ns = now_ns;

	add(1, 50 * MS, 0, FOREVER);
	assert_true(takes(1));
	add(1, 1 * MS, 0, FOREVER);
	assert_true(takes(2));
	tick_at(begin_ns + 49 * MS);
	assert_int_equal(num_passed, 0);
	tick_at(begin_ns + 50 * MS);
	assert_int_equal(num_passed, 2);
}

static void test_the_other_machines_rules_are_its_own(void **state)
{
	uint8_t lasts[8];
	struct gateway_frame frame = { .kind = GATEWAY_SLOW_LINK,
				       .from = OTHER,
				       .id = 1,
				       .b = UINT64_MAX, /* longer than is believed */
				       .body = lasts,
				       .len_bytes = 8 };

	gateway_put(lasts, UINT64_MAX, 8);
	add(1, 5 * MS, 0, FOREVER);
	slow_link_on_frame(&gateway, &frame);
	assert_int_equal(num_told, 1);
	assert_true(takes(1));
	tick_at(now_ns + 5 * MS);
	assert_int_equal(num_passed, 0);
	frame.b = 0; /* it has ended there; this machine's goes on */
	slow_link_on_frame(&gateway, &frame);
	tick_at(now_ns + 3600000 * MS);
	assert_int_equal(num_passed, 1);
	assert_true(takes(2));
	tick_at(now_ns + 5 * MS);
	assert_int_equal(num_passed, 2);
}

static void test_as_many_rules_count_as_there_are(void **state)
{
	const uint32_t count = 100;
	const uint64_t begin_ns = now_ns;

	for (uint32_t id = 1; id <= count; id++)
		add(id, id * MS, 0, FOREVER);
	assert_true(takes(1));
	tick_at(begin_ns + count * MS - 1);
	assert_int_equal(num_passed, 0);
	tick_at(begin_ns + count * MS);
	assert_int_equal(num_passed, 1);
	for (uint32_t id = 1; id <= count; id++)
		slow_link_begin(&gateway, LINK_NO_MACHINE, &(struct slow_rule){ .rule = id });
	assert_false(takes(2));
}

/* It is told what this machine has, for the time that is left. What it has had is its own to tell. */
static void test_a_machine_that_joins_again_knows_the_rules(void **state)
{
	uint8_t lasts[8];
	const struct gateway_frame frame = {
		.kind = GATEWAY_SLOW_LINK, .from = OTHER, .id = 9, .b = 3600000 * MS, .body = lasts, .len_bytes = 8
	};

	gateway_put(lasts, UINT64_MAX, 8);
	slow_link_tell(&gateway, OTHER);
	assert_int_equal(num_told, 0);
	add(1, 5 * MS, 0, FOREVER);
	add(2, 1 * MS, 0, 50 * MS);
	slow_link_on_frame(&gateway, &frame);
	slow_link_drop(&gateway, OTHER);
	slow_link_forget(&gateway, OTHER);
	now_ns += 20 * MS;
	num_told = 0;
	slow_link_tell(&gateway, OTHER);
	assert_int_equal(num_told, 2);
	assert_int_equal(lasts_told, 30 * MS);
	assert_true(takes(1));
	tick_at(now_ns + 5 * MS); /* no hour */
	assert_int_equal(num_passed, 1);
	now_ns += 30 * MS;
	num_told = 0;
	slow_link_tell(&gateway, OTHER);
	assert_int_equal(num_told, 1);
	assert_int_equal(lasts_told, UINT64_MAX);
}

static void test_too_much_fills_no_memory(void **state)
{
	uint64_t id = 0;

	add(1, 3600000 * MS, 0, FOREVER);
	while (!slow_link_is_full(&gateway, OTHER))
		assert_true(takes(++id));
	assert_true(id >= SLOW_LINK_FULL_BYTES / 1000);
	while (num_closed == 0 && id <= SLOW_LINK_MAX_BYTES / 1000)
		assert_true(takes(++id));
	assert_int_equal(num_closed, 1);
	slow_link_drop(&gateway, OTHER);
	assert_false(slow_link_is_full(&gateway, OTHER));
	assert_int_equal(num_passed, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_delay_is_of_each_frame),
		TEST(test_a_rate_is_of_all_frames),
		TEST(test_of_several_rules_the_slowest_counts),
		TEST(test_what_waits_leaves_in_order_when_a_rule_is_taken_out),
		TEST(test_a_change_keeps_the_order),
		TEST(test_the_other_machines_rules_are_its_own),
		TEST(test_as_many_rules_count_as_there_are),
		TEST(test_a_machine_that_joins_again_knows_the_rules),
		TEST(test_too_much_fills_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
