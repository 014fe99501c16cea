/* SPDX-License-Identifier: BSD-3-Clause */
/* Received items that are delivered later (sim/msg/delay_list.h). Each item is one character; times are in ns. */
#include <string.h>

#include "cmocka_test.h"
#include "sim/msg/delay_list.h"
#include "sim/engine/queue.h"

struct named_item {
	struct sim_delay_item item; /* first */
	char name;
};

static void push(struct sim_delay_list *list, struct named_item *item, uint32_t reorder_by, uint64_t now_ns)
{
	item->item = (struct sim_delay_item){ .reorder_by = reorder_by };
	sim_delay_list_push(list, &item->item, now_ns);
}

/* The ready items, popped into @ret_names. */
static const char *pop_ready(struct sim_delay_list *list, char *ret_names)
{
	char *end = ret_names;

	while (sim_delay_list_first_ready(list))
		*end++ = ((struct named_item *)sim_delay_list_pop(list))->name;
	*end = '\0';
	return ret_names;
}

static void test_items_without_reorder_keep_their_order(void **state)
{
	struct named_item a = { .name = 'a' }, b = { .name = 'b' };
	struct sim_delay_list list;
	char names[8];

	sim_delay_list_init(&list);
	assert_true(sim_delay_list_is_empty(&list));
	push(&list, &a, 0, 0);
	push(&list, &b, 0, 0);
	assert_false(sim_delay_list_is_empty(&list));
	assert_string_equal(pop_ready(&list, names), "ab");
	assert_true(sim_delay_list_is_empty(&list));
	assert_null(sim_delay_list_pop(&list));
}

/* a waits for two later items: b, which is reordered itself, and c. b waits for c alone. */
static void test_reordered_item_is_ready_behind_those_that_overtake_it(void **state)
{
	struct named_item a = { .name = 'a' }, b = { .name = 'b' }, c = { .name = 'c' };
	struct sim_delay_list list;
	char names[8];

	sim_delay_list_init(&list);
	push(&list, &a, 2, 0);
	push(&list, &b, 1, 0);
	assert_string_equal(pop_ready(&list, names), "");
	assert_int_equal(list.num_reordered, 2);
	push(&list, &c, 0, 0);
	assert_string_equal(pop_ready(&list, names), "cab");
	assert_int_equal(list.num_reordered, 0);
}

/* Pushed at 5 and 7, the items time out 100 ms after that. */
static void test_reordered_item_times_out(void **state)
{
	struct named_item a = { .name = 'a' }, b = { .name = 'b' };
	struct sim_delay_list list;
	char names[8];

	sim_delay_list_init(&list);
	push(&list, &a, 9, 5);
	push(&list, &b, 9, 7);
	assert_int_equal(sim_delay_list_release(&list, 100000004, false), 100000005);
	assert_string_equal(pop_ready(&list, names), "");
	assert_int_equal(sim_delay_list_release(&list, 100000005, false), 100000007);
	assert_string_equal(pop_ready(&list, names), "a");
	assert_int_equal(sim_delay_list_release(&list, 100000007, false), SIM_JOB_NEVER_DUE);
	assert_string_equal(pop_ready(&list, names), "b");
}

static void test_release_of_all_ignores_deadlines(void **state)
{
	struct named_item a = { .name = 'a' }, b = { .name = 'b' };
	struct sim_delay_list list;
	char names[8];

	sim_delay_list_init(&list);
	push(&list, &a, 9, 0);
	push(&list, &b, 9, 0);
	assert_int_equal(sim_delay_list_release(&list, 0, true), SIM_JOB_NEVER_DUE);
	assert_string_equal(pop_ready(&list, names), "ab");
}

static void test_pop_takes_reordered_items_when_none_is_ready(void **state)
{
	struct named_item a = { .name = 'a' }, b = { .name = 'b' };
	struct sim_delay_list list;

	sim_delay_list_init(&list);
	push(&list, &a, 9, 0);
	push(&list, &b, 0, 0);
	assert_ptr_equal(sim_delay_list_pop(&list), &b.item);
	assert_ptr_equal(sim_delay_list_pop(&list), &a.item);
	assert_int_equal(list.num_reordered, 0);
	assert_null(sim_delay_list_pop(&list));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items_without_reorder_keep_their_order),
		cmocka_unit_test(test_reordered_item_is_ready_behind_those_that_overtake_it),
		cmocka_unit_test(test_reordered_item_times_out),
		cmocka_unit_test(test_release_of_all_ignores_deadlines),
		cmocka_unit_test(test_pop_takes_reordered_items_when_none_is_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
