/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan: rules are added and removed, listed, and corrupt contents do no harm. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "sim/faults/plan/plan.h"

static int set_up(void **state)
{
	struct sim_plan *plan;

	if (sim_plan_create(42, &plan))
		return -1;
	*state = plan;
	return 0;
}

static int tear_down(void **state)
{
	sim_plan_destroy(*state);
	return 0;
}

/* The plan as "id text" lines. */
struct listing {
	char text[4096];
	size_t len;
};

static void list_rule(void *arg, const struct sim_plan_rule *rule)
{
	struct listing *listing = arg;

	listing->len += (size_t)snprintf(listing->text + listing->len, sizeof(listing->text) - listing->len, "%u %s\n",
					 rule->id, rule->text);
}

static void assert_listed(const struct sim_plan *plan, const char *expected)
{
	struct listing listing = { .len = 0 };

	sim_plan_each(plan, list_rule, &listing);
	assert_string_equal(listing.text, expected);
}

static void test_rules_are_listed_in_order(void **state)
{
	struct sim_plan *plan = *state;

	assert_listed(plan, "");
	assert_int_equal(plan_add(plan, "dma.memcpy nth=3 fail=IO_FAILED", 0), 1);
	assert_int_equal(plan_add(plan, "comch.send drop", 0), 2);
	assert_int_equal(plan_add(plan, "link down=1s", 0), 3);
	assert_listed(plan, "1 dma.memcpy nth=3 fail=IO_FAILED\n2 comch.send drop\n3 link down=1s\n");
	assert_int_equal(sim_plan_num_rules(plan), 3);
}

static void test_removed_rules_are_gone_and_their_ids_do_not_come_back(void **state)
{
	struct sim_plan *plan = *state;

	plan_add(plan, "dma.memcpy tear", 0);
	plan_add(plan, "comch.send drop", 0);
	assert_int_equal(sim_plan_remove(plan, 1), 0);
	assert_int_equal(sim_plan_remove(plan, 1), -ENOENT);
	assert_int_equal(sim_plan_remove(plan, 0), -ENOENT);
	assert_int_equal(sim_plan_remove(plan, 77), -ENOENT);
	assert_int_equal(plan_add(plan, "peer kill", 0), 3);
	assert_listed(plan, "2 comch.send drop\n3 peer kill\n");
	sim_plan_clear(plan);
	assert_int_equal(sim_plan_num_rules(plan), 0);
	assert_listed(plan, "");
	assert_int_equal(plan_add(plan, "peer kill", 0), 4);
}

static void test_each_change_is_a_new_generation(void **state)
{
	struct sim_plan *plan = *state;
	uint64_t before = atomic_load(&plan->generation);

	plan_add(plan, "dma.memcpy tear", 0);
	assert_true(atomic_load(&plan->generation) > before);
	before = atomic_load(&plan->generation);
	sim_plan_remove(plan, 1);
	assert_true(atomic_load(&plan->generation) > before);
	before = atomic_load(&plan->generation);
	sim_plan_clear(plan);
	assert_true(atomic_load(&plan->generation) > before);
}

static void test_a_full_plan_refuses_until_there_is_a_place(void **state)
{
	struct sim_rule rule = parse_rule("dma.memcpy tear");
	struct sim_plan *plan = *state;
	uint32_t id;

	for (uint32_t i = 0; i < SIM_PLAN_MAX_RULES; i++)
		assert_int_equal(sim_plan_add(plan, &rule, NULL, 0, &id), 0);
	assert_int_equal(sim_plan_add(plan, &rule, NULL, 0, &id), -ENOSPC);
	assert_int_equal(sim_plan_num_rules(plan), SIM_PLAN_MAX_RULES);
	assert_int_equal(sim_plan_remove(plan, 1000), 0);
	assert_int_equal(sim_plan_add(plan, &rule, NULL, 0, &id), 0);
	assert_int_equal(id, SIM_PLAN_MAX_RULES + 1);
	assert_int_equal(sim_plan_add(plan, &rule, NULL, 0, &id), -ENOSPC);
	sim_plan_clear(plan);
	assert_int_equal(sim_plan_add(plan, &rule, NULL, 0, &id), 0);
}

static void test_unsound_rules_are_refused(void **state)
{
	struct sim_rule rule = parse_rule("dma.memcpy tear");
	uint32_t id = 5;

	rule.ops = UINT64_MAX;
	assert_int_equal(sim_plan_add(*state, &rule, NULL, 0, &id), -EINVAL);
	assert_int_equal(id, 5);
	assert_int_equal(sim_plan_num_rules(*state), 0);
}

/* Delays of files ------------------------------------------------------------------ */

static struct sim_delays *delays_of(const char *file, const char *text)
{
	struct sim_delays *delays = NULL;
	char error[SIM_RULE_ERROR_SIZE];

	if (sim_delays_parse(file, text, strlen(text), &delays, error))
		fail_msg("%s", error);
	return delays;
}

static void test_delays_are_kept_with_their_rule(void **state)
{
	struct sim_rule rule = parse_rule("dma.memcpy delay=trace(a.txt)"), other = parse_rule("dma.memcpy tear");
	struct sim_delays *delays = delays_of("a.txt", "1us\n2us\n");
	uint32_t id;

	assert_int_equal(sim_plan_add(*state, &rule, NULL, 0, &id), -EINVAL);
	assert_int_equal(sim_plan_add(*state, &other, delays, 0, &id), -EINVAL);
	assert_int_equal(sim_plan_add(*state, &rule, delays, 0, &id), 0);
	assert_listed(*state, "1 dma.memcpy delay=trace(a.txt)\n");
	free(delays);
}

static uint32_t series_in_use(const struct sim_plan *plan)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < SIM_PLAN_MAX_SERIES; i++)
		used += atomic_load(&plan->series[i].count) != 0;
	return used;
}

static void test_same_delays_are_kept_once(void **state)
{
	struct sim_rule rule = parse_rule("dma.memcpy delay=trace(a.txt)");
	struct sim_delays *delays = delays_of("a.txt", "1us\n2us\n"), *changed = delays_of("a.txt", "1us\n3us\n");
	uint32_t id;

	for (uint32_t i = 0; i < 2 * SIM_PLAN_MAX_SERIES; i++)
		assert_int_equal(sim_plan_add(*state, &rule, delays, 0, &id), 0);
	assert_int_equal(series_in_use(*state), 1);
	assert_int_equal(sim_plan_add(*state, &rule, changed, 0, &id), 0);
	assert_int_equal(series_in_use(*state), 2);
	free(delays);
	free(changed);
}

/* Half of all delays fit twice; when a rule is removed, its half is free again. */
static void test_room_for_delays_ends_and_comes_back(void **state)
{
	struct sim_rule rule = parse_rule("dma.memcpy delay=trace(a.txt)");
	struct sim_delays *delays = calloc(1, sim_delays_size(SIM_DELAYS_MAX / 2));
	struct sim_plan *plan = *state;
	uint32_t first, id;

	assert_non_null(delays);
	delays->count = SIM_DELAYS_MAX / 2;
	strcpy(delays->file, "a");
	assert_int_equal(sim_plan_add(plan, &rule, delays, 0, &first), 0);
	strcpy(delays->file, "b");
	assert_int_equal(sim_plan_add(plan, &rule, delays, 0, &id), 0);
	strcpy(delays->file, "c");
	assert_int_equal(sim_plan_add(plan, &rule, delays, 0, &id), -ENOSPC);
	assert_int_equal(sim_plan_num_rules(plan), 2);
	assert_int_equal(sim_plan_remove(plan, first), 0);
	assert_int_equal(sim_plan_add(plan, &rule, delays, 0, &id), 0);
	assert_listed(plan, "2 dma.memcpy delay=trace(b)\n3 dma.memcpy delay=trace(c)\n");
	free(delays);
}

static void test_files_of_delays_are_read_line_by_line(void **state)
{
	struct sim_delays *delays = delays_of("a.txt", "# measured\n20us\n\n  1.5ms  # slow\r\n700\n0");

	assert_int_equal(delays->count, 4);
	assert_int_equal(delays->delay_ns[0], 20000);
	assert_int_equal(delays->delay_ns[1], 1500000);
	assert_int_equal(delays->delay_ns[2], 700);
	assert_int_equal(delays->delay_ns[3], 0);
	assert_int_equal(sim_delays_check(delays, sim_delays_size(4)), 0);
	assert_int_equal(sim_delays_check(delays, sim_delays_size(4) - 1), -EINVAL);
	delays->delay_ns[1] = UINT64_MAX;
	assert_int_equal(sim_delays_check(delays, sim_delays_size(4)), -EINVAL);
	free(delays);
}

static void test_many_delays_are_read(void **state)
{
	char *text = malloc(2 * SIM_DELAYS_MAX + 3);
	char error[SIM_RULE_ERROR_SIZE];
	struct sim_delays *delays;

	assert_non_null(text);
	for (uint32_t i = 0; i <= SIM_DELAYS_MAX; i++)
		memcpy(text + 2 * i, "7\n", 2);
	assert_int_equal(sim_delays_parse("a", text, 2 * SIM_DELAYS_MAX, &delays, error), 0);
	assert_int_equal(delays->count, SIM_DELAYS_MAX);
	assert_int_equal(delays->delay_ns[SIM_DELAYS_MAX - 1], 7);
	free(delays);
	assert_int_equal(sim_delays_parse("a", text, 2 * SIM_DELAYS_MAX + 2, &delays, error), -EINVAL);
	assert_string_equal(error, "a:65537: there are more than 65536 delays");
	free(text);
}

static void test_files_that_are_no_delays_are_refused_with_their_line(void **state)
{
	struct sim_delays *delays = NULL;
	char error[SIM_RULE_ERROR_SIZE];

	assert_int_equal(sim_delays_parse("a.txt", "20us\nfast\n", 10, &delays, error), -EINVAL);
	assert_string_equal(error, "a.txt:2: expected a delay (20us, or a number of ns), got `fast`");
	assert_int_equal(sim_delays_parse("a.txt", "# none\n", 7, &delays, error), -EINVAL);
	assert_string_equal(error, "a.txt: has no delays; it needs one a line (20us)");
	assert_int_equal(sim_delays_load("absent.txt", "/nowhere", &delays, error), -ENOENT);
	assert_string_equal(error, "/nowhere/absent.txt: can't read these delays: No such file or directory");
	assert_null(delays);
}

/* Corrupt contents ------------------------------------------------------------------ */

static void ignore_rule(void *arg, const struct sim_plan_rule *rule)
{
	*(size_t *)arg += strlen(rule->text);
}

/* A process that has the plan mapped may write anything into it. */
static void test_overwritten_plans_are_survived(void **state)
{
	struct sim_rule rule = parse_rule("dma.memcpy tear"), traced = parse_rule("dma.memcpy delay=trace(a.txt)");
	struct sim_delays *delays = delays_of("a.txt", "1us\n");
	uint8_t *bytes = *state;
	uint32_t id;
	size_t len = 0;

	srand(1);
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < sizeof(struct sim_plan); i++)
			bytes[i] = (uint8_t)(round ? rand() >> 7 : 0xff);
		sim_plan_each(*state, ignore_rule, &len);
		sim_plan_each_removed(*state, ignore_rule, &len);
		sim_plan_add(*state, &rule, NULL, 0, &id);
		sim_plan_add(*state, &traced, delays, 0, &id);
		sim_plan_remove(*state, 17);
		sim_plan_clear(*state);
	}
	free(delays);
}

/* A removed rule is remembered until another rule takes its slot. */
static void test_rules_that_were_taken_out_are_remembered(void **state)
{
	struct sim_plan *plan = *state;
	struct listing past = { .len = 0 }, later = { .len = 0 };

	for (uint32_t i = 0; i < SIM_PLAN_MAX_RULES; i++)
		plan_add(plan, i < 3 ? "dma.memcpy tear" : "comch.send drop", 0);
	sim_plan_each_removed(plan, list_rule, &past);
	assert_int_equal(past.len, 0);
	assert_int_equal(sim_plan_remove(plan, 1), 0);
	assert_int_equal(sim_plan_remove(plan, 3), 0);
	sim_plan_each_removed(plan, list_rule, &past);
	assert_string_equal(past.text, "1 dma.memcpy tear\n3 dma.memcpy tear\n");
	plan_add(plan, "comch.send break", 0);
	sim_plan_each_removed(plan, list_rule, &later);
	assert_string_equal(later.text, "3 dma.memcpy tear\n");
}

static void test_rules_that_make_no_sense_are_passed_over(void **state)
{
	struct sim_plan *plan = *state;

	plan_add(plan, "dma.memcpy tear", 0);
	plan_add(plan, "comch.send drop", 0);
	atomic_store(&plan->slots[0].rule[0], UINT64_MAX); /* its operations */
	assert_listed(plan, "2 comch.send drop\n");
	atomic_store(&plan->end, UINT32_MAX);
	assert_listed(plan, "2 comch.send drop\n");
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		test(test_rules_are_listed_in_order),
		test(test_removed_rules_are_gone_and_their_ids_do_not_come_back),
		test(test_each_change_is_a_new_generation),
		test(test_a_full_plan_refuses_until_there_is_a_place),
		test(test_unsound_rules_are_refused),
		test(test_delays_are_kept_with_their_rule),
		test(test_same_delays_are_kept_once),
		test(test_room_for_delays_ends_and_comes_back),
		cmocka_unit_test(test_files_of_delays_are_read_line_by_line),
		cmocka_unit_test(test_many_delays_are_read),
		cmocka_unit_test(test_files_that_are_no_delays_are_refused_with_their_line),
		test(test_overwritten_plans_are_survived),
		test(test_rules_that_were_taken_out_are_remembered),
		test(test_rules_that_make_no_sense_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
