/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that add two numbers. */
#include <doca_toy.h>

#include "cmocka_test.h"
#include "dma_util.h"

static void on_sum(struct doca_toy_task_sum *task, union doca_data task_data, union doca_data ctx_data)
{
	struct doca_task *base = doca_toy_task_sum_as_task(task);

	(void)task_data;
	rig_note(ctx_data.ptr, "%s %u\n", doca_error_get_name(doca_task_get_status(base)),
		 doca_toy_task_sum_get_result(task));
	doca_task_free(base);
}

static void test_a_task_adds_two_numbers(void **state)
{
	struct rig *rig = rig_open(NULL);
	struct rig_deadline deadline = rig_deadline();
	struct doca_toy_task_sum *task;
	struct doca_toy *toy;
	struct doca_ctx *ctx;

	MUST(doca_toy_create(rig->dev, &toy));
	ctx = doca_toy_as_ctx(toy);
	MUST(doca_toy_task_sum_set_conf(toy, on_sum, on_sum, 1));
	MUST(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = rig }));
	MUST(doca_pe_connect_ctx(rig->pe, ctx));
	MUST(doca_ctx_start(ctx));
	MUST(doca_toy_task_sum_alloc_init(toy, 40, 2, (union doca_data){ 0 }, &task));
	MUST(doca_task_submit(doca_toy_task_sum_as_task(task)));
	while (!doca_pe_progress(rig->pe))
		CHECK(!rig_is_over(deadline));
	assert_string_equal(rig->trace->text, "DOCA_SUCCESS 42\n");
	MUST(doca_ctx_stop(ctx));
	MUST(doca_toy_destroy(toy));
	rig_close(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_task_adds_two_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
