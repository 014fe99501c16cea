/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions in the order of submission, which a program asks for (release 3.2). */
#include "cmocka_test.h"
#include "dma_util.h"

#define LARGE 24000

static void test_order_is_chosen_while_idle_only(void **state)
{
	struct rig *rig = *state;

	MUST(doca_dma_set_ordered_completions(rig->dma, 1));
	MUST(doca_dma_set_ordered_completions(rig->dma, 0));
	MUST(doca_dma_set_ordered_completions(rig->dma, 1));
	rig_start(rig);
	assert_doca(doca_dma_set_ordered_completions(rig->dma, 1), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dma_set_ordered_completions(rig->dma, 0), DOCA_ERROR_BAD_STATE);
	MUST(doca_ctx_stop(rig->ctx));
	MUST(doca_dma_set_ordered_completions(rig->dma, 0));
}

static void test_what_is_no_dma_is_refused(void **state)
{
	struct rig *rig = *state;

	assert_invalid(doca_dma_set_ordered_completions(NULL, 1));
	assert_invalid(doca_dma_set_ordered_completions((struct doca_dma *)rig->pe, 1));
}

/* A large copy, then many small ones, twice. */
static void test_small_copies_do_not_overtake_a_large_one(void **state)
{
	struct rig *rig = *state;
	char expected[256] = "";

	MUST(doca_dma_set_ordered_completions(rig->dma, 1));
	rig_start(rig);
	for (uint64_t i = 0; i < RIG_TASKS; i++) {
		size_t len = i % (RIG_TASKS / 2) == 0 ? LARGE : 16, to = RIG_ARENA_BYTES / 2 + 16 * (size_t)i;

		MUST(doca_task_submit(rig_task(rig, i, rig_src(rig, 0, len), rig_dst(rig, to, len))));
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "task %llu done\n",
			 (unsigned long long)i);
	}
	rig_drain(rig);
	assert_trace(rig, expected);
}

/* Submit all tasks of a new context, and return what its callbacks traced. */
static void trace_order(const char *seed, uint8_t ordered, struct rig_trace *ret_trace)
{
	struct rig *rig;

	if (seed)
		setenv("BFSIM_SHUFFLE", seed, 1);
	rig = rig_open(NULL);
	MUST(doca_dma_set_ordered_completions(rig->dma, ordered));
	rig_start(rig);
	unsetenv("BFSIM_SHUFFLE");
	for (uint64_t i = 0; i < RIG_TASKS; i++)
		rig_submit_small(rig, i);
	rig_drain(rig);
	for (uint64_t i = 0; i < RIG_TASKS; i++)
		assert_true(rig_small_is_done(rig, i));
	*ret_trace = *rig->trace;
	rig->trace->text[0] = '\0';
	rig_close(rig);
}

static void test_shuffled_tasks_complete_in_another_order(void **state)
{
	struct rig_trace straight, shuffled, ordered;

	trace_order(NULL, 0, &straight);
	trace_order("1", 0, &shuffled);
	assert_string_not_equal(shuffled.text, straight.text);
	assert_int_equal(strlen(shuffled.text), strlen(straight.text)); /* each task once */
	trace_order("1", 1, &ordered);
	assert_string_equal(ordered.text, straight.text);
}

/* Unsignaled tasks stay before the signaled one that reports them. */
static void test_shuffled_unsignaled_tasks_are_reported(void **state)
{
	struct rig *rig;

	setenv("BFSIM_SHUFFLE", "7", 1);
	rig = rig_start(rig_open(NULL));
	unsetenv("BFSIM_SHUFFLE");
	for (uint64_t i = 0; i < RIG_TASKS; i++)
		MUST(doca_task_submit_ex(rig_small_task(rig, i),
					 DOCA_TASK_SUBMIT_FLAG_FLUSH |
						 (i % 4 == 3 ? 0 : DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS)));
	rig_drain(rig);
	for (uint64_t i = 0; i < RIG_TASKS; i++)
		assert_true(rig_small_is_done(rig, i));
	rig_close(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_IDLE(test_order_is_chosen_while_idle_only),
		RIG_IDLE(test_what_is_no_dma_is_refused),
		cmocka_unit_test(test_shuffled_tasks_complete_in_another_order),
		cmocka_unit_test(test_shuffled_unsignaled_tasks_are_reported),
		RIG_IDLE(test_small_copies_do_not_overtake_a_large_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
