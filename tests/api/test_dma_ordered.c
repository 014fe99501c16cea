/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions in the order of submission, which a program asks for (release 3.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dma_util.h"

#define LARGE 24000

static void test_order_is_chosen_while_idle_only(void **state)
{
	struct rig *rig = *state;

	MUST(doca_dma_set_ordered_completions(rig->dma, 1));
	MUST(doca_dma_set_ordered_completions(rig->dma, 0));
	MUST(doca_dma_set_ordered_completions(rig->dma, 1));
	rig_start(rig);
	assert_result(doca_dma_set_ordered_completions(rig->dma, 1), DOCA_ERROR_BAD_STATE);
	assert_result(doca_dma_set_ordered_completions(rig->dma, 0), DOCA_ERROR_BAD_STATE);
	MUST(doca_ctx_stop(rig->ctx));
	MUST(doca_dma_set_ordered_completions(rig->dma, 0));
}

static void test_what_is_no_dma_is_refused(void **state)
{
	struct rig *rig = *state;

	assert_result(doca_dma_set_ordered_completions(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_result(doca_dma_set_ordered_completions((struct doca_dma *)rig->pe, 1), DOCA_ERROR_INVALID_VALUE);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_IDLE(test_order_is_chosen_while_idle_only),
		RIG_IDLE(test_what_is_no_dma_is_refused),
		RIG_IDLE(test_small_copies_do_not_overtake_a_large_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
