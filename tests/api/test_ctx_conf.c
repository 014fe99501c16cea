/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuring a context, and what its functions refuse: wrong states, wrong handles, NULL. */
#include "cmocka_test.h"
#include "dma_util.h"

/* unreachable: doca_ctx_start DOCA_ERROR_UNEXPECTED: a corrupted context is no live handle, which is INVALID_VALUE */
/* unreachable: doca_ctx_stop DOCA_ERROR_UNEXPECTED: a corrupted context is no live handle, which is INVALID_VALUE */
/* unreachable: doca_ctx_set_completion_vector DOCA_ERROR_NOT_SUPPORTED: every context here can be given a vector */

/* ---- start needs a configuration and an engine ---- */

static struct doca_dma *bare_dma(struct rig *rig)
{
	struct doca_dma *dma;

	MUST(doca_dma_create(rig->dev, &dma));
	return dma;
}

static void ignore(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
}

static void test_start_without_engine_is_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_dma *dma = bare_dma(rig);

	MUST(doca_dma_task_memcpy_set_conf(dma, ignore, ignore, 1));
	/* provokes: doca_ctx_start DOCA_ERROR_NOT_CONNECTED */
	assert_doca(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_ERROR_NOT_CONNECTED);
	MUST(doca_pe_connect_ctx(rig->pe, doca_dma_as_ctx(dma)));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(dma)));
	MUST(doca_ctx_stop(doca_dma_as_ctx(dma)));
	MUST(doca_dma_destroy(dma));
}

static void test_stop_without_engine_is_refused(void **state)
{
	struct doca_dma *dma = bare_dma(*state);

	/* provokes: doca_ctx_stop DOCA_ERROR_NOT_CONNECTED */
	assert_doca(doca_ctx_stop(doca_dma_as_ctx(dma)), DOCA_ERROR_NOT_CONNECTED);
	MUST(doca_dma_destroy(dma));
}

static void test_start_without_a_configured_task_is_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_dma *dma = bare_dma(rig);

	MUST(doca_pe_connect_ctx(rig->pe, doca_dma_as_ctx(dma)));
	/* provokes: doca_ctx_start DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ctx_start(doca_dma_as_ctx(dma)));
	MUST(doca_dma_task_memcpy_set_conf(dma, ignore, ignore, 1));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(dma)));
	MUST(doca_ctx_stop(doca_dma_as_ctx(dma)));
	MUST(doca_dma_destroy(dma));
}

/* ---- configuration that is fixed from start to stop ---- */

static void test_tasks_are_configured_only_while_idle(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_small_task(rig, 0);

	assert_doca(doca_dma_task_memcpy_set_conf(rig->dma, ignore, ignore, 1), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_doca(doca_dma_task_memcpy_set_conf(rig->dma, ignore, ignore, 1), DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	MUST(doca_ctx_stop(rig->ctx));
	assert_ok(doca_dma_task_memcpy_set_conf(rig->dma, ignore, ignore, 1));
}

static void test_data_path_is_chosen_only_while_idle(void **state)
{
	struct rig *rig = *state;
	struct doca_dpa *dpa = (struct doca_dpa *)rig->arena; /* there is no DPA or GPU: any address will do */
	struct doca_gpu *gpu = (struct doca_gpu *)rig->arena;

	/* provokes: doca_ctx_set_datapath_on_dpa DOCA_ERROR_BAD_STATE */
	assert_doca(doca_ctx_set_datapath_on_dpa(rig->ctx, dpa), DOCA_ERROR_BAD_STATE);
	/* provokes: doca_ctx_set_datapath_on_gpu DOCA_ERROR_BAD_STATE */
	assert_doca(doca_ctx_set_datapath_on_gpu(rig->ctx, gpu), DOCA_ERROR_BAD_STATE);
	MUST(doca_ctx_stop(rig->ctx));
	assert_doca(doca_ctx_set_datapath_on_dpa(rig->ctx, dpa), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_ctx_set_datapath_on_gpu(rig->ctx, gpu), DOCA_ERROR_NOT_SUPPORTED);
}

/* ---- completion vectors: a BlueField-3's DPU side has 16 ---- */

static void test_vectors_are_counted(void **state)
{
	struct rig *rig = *state;
	uint32_t count = 0;

	assert_ok(doca_ctx_cap_get_num_completion_vectors(doca_dev_as_devinfo(rig->dev), &count));
	assert_int_equal(count, 16);
}

static void test_vector_below_the_number_is_taken(void **state)
{
	struct rig *rig = *state;

	assert_ok(doca_ctx_set_completion_vector(rig->ctx, 0));
	assert_ok(doca_ctx_set_completion_vector(rig->ctx, 15));
	/* provokes: doca_ctx_set_completion_vector DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ctx_set_completion_vector(rig->ctx, 16));
	assert_invalid(doca_ctx_set_completion_vector(rig->ctx, UINT32_MAX));
	rig_start(rig);
	rig_submit_small(rig, 0);
	rig_drain(rig);
	assert_trace(rig, "task 0 done\n");
}

static void test_vector_is_set_only_while_idle(void **state)
{
	struct rig *rig = *state;

	/* provokes: doca_ctx_set_completion_vector DOCA_ERROR_BAD_STATE */
	assert_doca(doca_ctx_set_completion_vector(rig->ctx, 0), DOCA_ERROR_BAD_STATE);
}

/* ---- user data and the callback ---- */

static void test_user_data_comes_back(void **state)
{
	struct rig *rig = *state;
	struct doca_dma *dma = bare_dma(rig);
	union doca_data data = { .u64 = 1 };

	assert_ok(doca_ctx_get_user_data(doca_dma_as_ctx(dma), &data));
	assert_int_equal(data.u64, 0);
	assert_ok(doca_ctx_set_user_data(doca_dma_as_ctx(dma), (union doca_data){ .u64 = UINT64_MAX }));
	assert_ok(doca_ctx_get_user_data(doca_dma_as_ctx(dma), &data));
	assert_true(data.u64 == UINT64_MAX);
	MUST(doca_dma_destroy(dma));
}

static void note_other_rig(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	*(bool *)rig->arg = true;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

/* A task's callback gets the context's user data at that time, not at the submission. */
static void test_user_data_may_change_while_tasks_are_in_flight(void **state)
{
	bool called = false;
	struct rig other = { .on_task = note_other_rig, .arg = &called };
	struct rig *rig = *state;

	other.trace = &other.own_trace;
	rig_submit_small(rig, 1);
	assert_ok(doca_ctx_set_user_data(rig->ctx, (union doca_data){ .ptr = &other }));
	rig_drain(rig);
	assert_ok(doca_ctx_set_user_data(rig->ctx, (union doca_data){ .ptr = rig }));
	assert_true(called);
	assert_trace(rig, "");
}

static int other_calls;

static void other_callback(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev,
			   enum doca_ctx_states next)
{
	other_calls++;
}

static void test_last_callback_set_is_the_one_called(void **state)
{
	struct rig *rig = *state;

	other_calls = 0;
	assert_ok(doca_ctx_set_state_changed_cb(rig->ctx, other_callback));
	MUST(doca_ctx_stop(rig->ctx));
	assert_int_equal(other_calls, 2);
	assert_trace(rig, "");
}

static void test_context_without_callback_lives_the_same(void **state)
{
	struct rig *rig = *state;
	struct doca_dma *dma = bare_dma(rig);
	enum doca_ctx_states now;

	MUST(doca_dma_task_memcpy_set_conf(dma, ignore, ignore, 1));
	MUST(doca_pe_connect_ctx(rig->pe, doca_dma_as_ctx(dma)));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(dma)));
	MUST(doca_ctx_get_state(doca_dma_as_ctx(dma), &now));
	assert_int_equal(now, DOCA_CTX_STATE_RUNNING);
	assert_ok(doca_ctx_stop(doca_dma_as_ctx(dma)));
	MUST(doca_dma_destroy(dma));
}

/* ---- handles that are none ---- */

/* NULL, a device, an engine, and a context whose object was destroyed. */
static void each_wrong_ctx(struct rig *rig, void (*expect_refusal)(struct rig *rig, struct doca_ctx *ctx))
{
	struct doca_dma *dma = bare_dma(rig);
	struct doca_ctx *dead = doca_dma_as_ctx(dma);

	MUST(doca_dma_destroy(dma));
	expect_refusal(rig, NULL);
	expect_refusal(rig, (struct doca_ctx *)rig->dev);
	expect_refusal(rig, (struct doca_ctx *)rig->pe);
	expect_refusal(rig, dead);
}

static void refuse_all(struct rig *rig, struct doca_ctx *ctx)
{
	enum doca_ctx_states now;
	union doca_data data;
	size_t count;

	assert_invalid(doca_ctx_start(ctx));
	/* provokes: doca_ctx_stop DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ctx_stop(ctx));
	/* provokes: doca_ctx_get_state DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ctx_get_state(ctx, &now));
	/* provokes: doca_ctx_get_num_inflight_tasks DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ctx_get_num_inflight_tasks(ctx, &count));
	/* provokes: doca_ctx_set_user_data DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ctx_set_user_data(ctx, (union doca_data){ .u64 = 1 }));
	/* provokes: doca_ctx_get_user_data DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ctx_get_user_data(ctx, &data));
	/* provokes: doca_ctx_set_state_changed_cb DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ctx_set_state_changed_cb(ctx, other_callback));
	assert_invalid(doca_ctx_set_completion_vector(ctx, 0));
	/* provokes: doca_ctx_set_datapath_on_dpa DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ctx_set_datapath_on_dpa(ctx, (struct doca_dpa *)rig->arena));
	/* provokes: doca_ctx_set_datapath_on_gpu DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ctx_set_datapath_on_gpu(ctx, (struct doca_gpu *)rig->arena));
	assert_invalid(doca_pe_connect_ctx(rig->pe, ctx));
	doca_ctx_flush_tasks(ctx);
}

static void test_handle_that_is_no_context_is_refused(void **state)
{
	each_wrong_ctx(*state, refuse_all);
}

static void test_null_results_are_refused(void **state)
{
	struct rig *rig = *state;
	uint32_t count;

	assert_invalid(doca_ctx_get_state(rig->ctx, NULL));
	assert_invalid(doca_ctx_get_num_inflight_tasks(rig->ctx, NULL));
	assert_invalid(doca_ctx_get_user_data(rig->ctx, NULL));
	assert_invalid(doca_ctx_set_state_changed_cb(rig->ctx, NULL));
	assert_invalid(doca_ctx_set_datapath_on_dpa(rig->ctx, NULL));
	assert_invalid(doca_ctx_set_datapath_on_gpu(rig->ctx, NULL));
	/* provokes: doca_ctx_cap_get_num_completion_vectors DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_ctx_cap_get_num_completion_vectors(NULL, &count));
	assert_invalid(doca_ctx_cap_get_num_completion_vectors(doca_dev_as_devinfo(rig->dev), NULL));
	assert_invalid(doca_ctx_cap_get_num_completion_vectors((struct doca_devinfo *)rig->dev, &count));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_IDLE(test_start_without_engine_is_refused),
		RIG_IDLE(test_stop_without_engine_is_refused),
		RIG_IDLE(test_start_without_a_configured_task_is_refused),
		RIG_RUNNING(test_tasks_are_configured_only_while_idle),
		RIG_RUNNING(test_data_path_is_chosen_only_while_idle),
		RIG_IDLE(test_vectors_are_counted),
		RIG_IDLE(test_vector_below_the_number_is_taken),
		RIG_RUNNING(test_vector_is_set_only_while_idle),
		RIG_IDLE(test_user_data_comes_back),
		RIG_RUNNING(test_user_data_may_change_while_tasks_are_in_flight),
		RIG_RUNNING(test_last_callback_set_is_the_one_called),
		RIG_IDLE(test_context_without_callback_lives_the_same),
		RIG_IDLE(test_handle_that_is_no_context_is_refused),
		RIG_RUNNING(test_null_results_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
