/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events as contexts: their tasks, what these change and in which order they end.
 *
 * unreachable: doca_sync_event_cap_task_get_is_supported DOCA_ERROR_NOT_SUPPORTED: every device can, as the CPU does it
 * unreachable: doca_sync_event_cap_task_notify_set_is_supported DOCA_ERROR_NOT_SUPPORTED: every device can, as the CPU does it
 * unreachable: doca_sync_event_cap_task_notify_add_is_supported DOCA_ERROR_NOT_SUPPORTED: every device can, as the CPU does it
 * unreachable: doca_sync_event_cap_task_wait_eq_is_supported DOCA_ERROR_NOT_SUPPORTED: every device can, as the CPU does it
 * unreachable: doca_sync_event_cap_task_wait_neq_is_supported DOCA_ERROR_NOT_SUPPORTED: every device can, as the CPU does it
 */
#include "sync_event_util.h"

#include <string.h>

static struct doca_dev *dev;

/* ---- capabilities ---- */

/* provokes: doca_sync_event_cap_task_get_is_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_cap_task_notify_set_is_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_cap_task_notify_add_is_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_cap_task_wait_eq_is_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_cap_task_wait_neq_is_supported DOCA_ERROR_INVALID_VALUE */
static void test_every_device_can_run_all_tasks(void **state)
{
	static doca_error_t (*const capabilities[])(const struct doca_devinfo *) = {
		doca_sync_event_cap_task_get_is_supported,        doca_sync_event_cap_task_notify_set_is_supported,
		doca_sync_event_cap_task_notify_add_is_supported, doca_sync_event_cap_task_wait_eq_is_supported,
		doca_sync_event_cap_task_wait_neq_is_supported,
	};

	for (size_t i = 0; i < API_COUNT(capabilities); i++) {
		assert_ok(capabilities[i](doca_dev_as_devinfo(dev)));
		assert_invalid(capabilities[i](NULL));
		assert_invalid(capabilities[i]((struct doca_devinfo *)dev));
	}
}

/* ---- life of the context ---- */

static void test_context_starts_and_stops(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_ctx_start(se->ctx));
	assert_doca(doca_ctx_start(se->ctx), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_destroy(se->event), DOCA_ERROR_IN_USE);
	assert_ok(doca_ctx_stop(se->ctx));
	assert_se_trace(se, "idle -> running\nrunning -> stopping\nstopping -> idle\n");
	assert_ok(doca_ctx_start(se->ctx));
	assert_int_equal(se_value(se->event), 0);
}

static void test_context_without_locations_does_not_start(void **state)
{
	struct doca_sync_event *event;
	struct se_ctx *se;

	assert_ok(doca_sync_event_create(&event));
	se = se_as_ctx(event);
	assert_doca(doca_ctx_start(se->ctx), DOCA_ERROR_BAD_STATE);
	se_close(se);
}

static void test_event_that_was_never_made_a_context_does_not_start_as_one(void **state)
{
	struct doca_sync_event *event = se_new(dev);
	struct doca_pe *pe;

	assert_ok(doca_pe_create(&pe));
	assert_ok(doca_pe_connect_ctx(pe, (struct doca_ctx *)event)); /* a guess, which happens to be right */
	assert_doca(doca_ctx_start((struct doca_ctx *)event), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_destroy(event));
	assert_ok(doca_pe_destroy(pe));
}

static void test_context_has_no_completion_vectors(void **state)
{
	struct se_ctx *se = *state;

	assert_doca(doca_ctx_set_completion_vector(se->ctx, 0), DOCA_ERROR_NOT_SUPPORTED);
}

/* Calls on an event that is no context work on a running context as well. */
static void test_blocking_calls_work_on_a_running_context(void **state)
{
	struct se_ctx *se = *state;
	uint64_t fetched;

	assert_ok(doca_sync_event_update_set(se->event, 3));
	assert_ok(doca_sync_event_update_add(se->event, 1, &fetched));
	assert_ok(doca_sync_event_wait_eq(se->event, 4, UINT64_MAX));
	assert_int_equal(se_value(se->event), 4);
}

/* ---- tasks that read and change ---- */

static void test_tasks_read_and_change_the_value(void **state)
{
	struct se_ctx *se = *state;
	uint64_t got = 0, fetched = 0;

	assert_ok(doca_task_submit(se_set(se, 1, 100)));
	assert_ok(doca_task_submit(se_add(se, 2, 11, &fetched)));
	assert_ok(doca_task_submit(se_get(se, 3, &got)));
	assert_int_equal(se_in_flight(se), 3);
	se_progress(se);
	assert_se_trace(se, "notify_set 1 done\nnotify_add 2 done\nget 3 done\n");
	assert_int_equal(fetched, 100);
	assert_int_equal(got, 111);
	assert_int_equal(se_in_flight(se), 0);
}

static void test_submitted_set_is_visible_without_polling(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_task_submit(se_set(se, 1, 8)));
	assert_ok(doca_sync_event_wait_eq(se->event, 8, UINT64_MAX));
	assert_se_trace(se, "");
}

static void test_results_are_written_with_the_completion(void **state)
{
	struct se_ctx *se = *state;
	uint64_t got = 77;

	assert_ok(doca_task_submit(se_get(se, 1, &got)));
	assert_int_equal(got, 77);
	assert_int_equal(doca_pe_progress(se->pe), 1);
	assert_int_equal(got, 0);
}

static void test_task_can_be_submitted_again(void **state)
{
	struct se_ctx *se = *state;
	struct doca_sync_event_task_notify_add *add;
	union doca_data data = { .u64 = 1 };
	uint64_t fetched;

	assert_ok(doca_sync_event_task_notify_add_alloc_init(se->event, 2, &fetched, data, &add));
	assert_invalid(doca_task_submit(NULL));
	assert_ok(doca_task_try_submit(doca_sync_event_task_notify_add_as_doca_task(add)));
	assert_doca(doca_task_submit(doca_sync_event_task_notify_add_as_doca_task(add)), DOCA_ERROR_BAD_STATE);
	assert_int_equal(se_value(se->event), 2);
	se_progress(se);
}

/* ---- tasks that wait ---- */

static void test_wait_ends_when_the_value_is_right(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 5, UINT64_MAX)));
	assert_ok(doca_task_submit(se_wait_neq(se, 2, 0, UINT64_MAX)));
	se_progress(se);
	assert_se_trace(se, "");
	assert_int_equal(se_in_flight(se), 2);
	assert_ok(doca_sync_event_update_set(se->event, 4));
	se_progress(se);
	assert_se_trace(se, "wait_neq 2 done\n");
	assert_ok(doca_sync_event_update_set(se->event, 5));
	se_progress(se);
	assert_se_trace(se, "wait_eq 1 done\n");
}

static void test_waits_that_hold_already_end_in_their_order(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 0, UINT64_MAX)));
	assert_ok(doca_task_submit(se_wait_eq(se, 2, 9, UINT64_MAX)));
	assert_ok(doca_task_submit(se_wait_neq(se, 3, 9, UINT64_MAX)));
	assert_ok(doca_task_submit(se_wait_eq(se, 4, 0, 0xff)));
	se_progress(se);
	assert_se_trace(se, "wait_eq 1 done\nwait_neq 3 done\nwait_eq 4 done\n");
	assert_ok(doca_sync_event_update_set(se->event, 9));
	se_progress(se);
	assert_se_trace(se, "wait_eq 2 done\n");
}

/* A waiting task does not hold up later tasks: here it waits for a later one. */
static void test_context_may_set_what_it_waits_for(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 6, UINT64_MAX)));
	assert_ok(doca_task_submit(se_set(se, 2, 6)));
	se_progress(se);
	assert_non_null(strstr(se->trace, "wait_eq 1 done\n"));
	assert_non_null(strstr(se->trace, "notify_set 2 done\n"));
}

/* Each kind of task is served: tasks that are resubmitted again and again do not keep a wait from ending. */
static void send_another(struct se_ctx *se)
{
	static uint64_t value;

	if (!strstr(se->trace, "wait_eq"))
		assert_ok(doca_task_submit(se_get(se, 2, &value)));
	if (strlen(se->trace) > 1000)
		fail_msg("the wait does not end");
}

static void test_busy_context_still_ends_its_waits(void **state)
{
	struct se_ctx *se = *state;
	uint64_t value;

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 1, UINT64_MAX)));
	assert_ok(doca_task_submit(se_get(se, 2, &value)));
	assert_ok(doca_sync_event_update_set(se->event, 1));
	se->on_task = send_another;
	se_progress(se);
	assert_non_null(strstr(se->trace, "wait_eq 1 done\n"));
}

/* The value is 0x0102030405060708. */
static void test_wait_looks_at_the_masked_bytes_only(void **state)
{
	struct se_ctx *se = *state;

	assert_ok(doca_sync_event_update_set(se->event, 0x0102030405060708));
	assert_ok(doca_task_submit(se_wait_eq(se, 1, 0x08, 0xff)));
	assert_ok(doca_task_submit(se_wait_eq(se, 2, 0x0607 << 8, 0xffff00)));
	assert_ok(doca_task_submit(se_wait_eq(se, 3, 0x0102030400000000, 0xffffffff00000000)));
	assert_ok(doca_task_submit(se_wait_eq(se, 4, 0, 0)));
	assert_ok(doca_task_submit(se_wait_neq(se, 5, 0x0102030405060708, 0xff)));
	assert_ok(doca_task_submit(se_wait_eq(se, 6, 0x0102030405060708, 0xff))); /* never: bits outside the mask */
	se_progress(se);
	assert_se_trace(se, "wait_eq 1 done\nwait_eq 2 done\nwait_eq 3 done\nwait_eq 4 done\nwait_neq 5 done\n");
	assert_int_equal(se_in_flight(se), 1);
}

static void test_mask_is_whole_bytes_in_a_row(void **state)
{
	static const uint64_t wrong[] = {
		0x1, 0x7f, 0xf0, 0xff0f, 0xffffff, 0xff00ff, 0xffff00000000ff, 0xffffffffff, 0x1ff00, UINT64_MAX << 1
	};
	struct se_ctx *se = *state;
	struct doca_sync_event_task_wait_neq *wait;
	union doca_data data = { .u64 = 1 };

	assert_ok(doca_sync_event_task_wait_neq_alloc_init(se->event, 1, 0, data, &wait));
	for (size_t i = 0; i < API_COUNT(wrong); i++) {
		doca_sync_event_task_wait_neq_set_mask(wait, wrong[i]);
		assert_invalid(doca_task_submit(doca_sync_event_task_wait_neq_as_doca_task(wait)));
		assert_invalid(doca_task_try_submit(doca_sync_event_task_wait_neq_as_doca_task(wait)));
	}
	assert_int_equal(se_in_flight(se), 0);
	doca_sync_event_task_wait_neq_set_mask(wait, 0xff00);
	assert_ok(doca_task_submit(doca_sync_event_task_wait_neq_as_doca_task(wait)));
	se_progress(se);
	assert_se_trace(se, "wait_neq 1 done\n");
}

/* ---- stopping ---- */

static void test_stop_ends_what_waits(void **state)
{
	struct se_ctx *se = *state;
	uint64_t got = 0;

	assert_ok(doca_task_submit(se_wait_eq(se, 1, 5, UINT64_MAX)));
	assert_ok(doca_task_submit(se_get(se, 2, &got)));
	assert_doca(doca_ctx_stop(se->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_doca(doca_ctx_stop(se->ctx), DOCA_ERROR_IN_PROGRESS);
	se_progress(se);
	assert_int_equal(se_state(se), DOCA_CTX_STATE_IDLE);
	assert_non_null(strstr(se->trace, "wait_eq 1 failed: DOCA_ERROR_IO_FAILED\n"));
	assert_non_null(strstr(se->trace, "get 2 done\n"));
	assert_ok(doca_ctx_start(se->ctx)); /* with nothing left over */
	assert_int_equal(se_in_flight(se), 0);
	assert_int_equal(doca_pe_progress(se->pe), 0);
}

static void test_allocated_task_keeps_the_context_stopping(void **state)
{
	struct se_ctx *se = *state;
	struct doca_task *task = se_set(se, 1, 1);

	assert_doca(doca_ctx_stop(se->ctx), DOCA_ERROR_IN_PROGRESS);
	se_progress(se);
	assert_int_equal(se_state(se), DOCA_CTX_STATE_STOPPING);
	assert_doca(doca_task_submit(task), DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	se_progress(se);
	assert_int_equal(se_state(se), DOCA_CTX_STATE_IDLE);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_every_device_can_run_all_tasks),
	SE_IDLE(test_context_starts_and_stops),
	cmocka_unit_test(test_context_without_locations_does_not_start),
	cmocka_unit_test(test_event_that_was_never_made_a_context_does_not_start_as_one),
	SE_IDLE(test_context_has_no_completion_vectors),
	SE_RUNNING(test_blocking_calls_work_on_a_running_context),
	SE_RUNNING(test_tasks_read_and_change_the_value),
	SE_RUNNING(test_submitted_set_is_visible_without_polling),
	SE_RUNNING(test_results_are_written_with_the_completion),
	SE_RUNNING(test_task_can_be_submitted_again),
	SE_RUNNING(test_wait_ends_when_the_value_is_right),
	SE_RUNNING(test_waits_that_hold_already_end_in_their_order),
	SE_RUNNING(test_context_may_set_what_it_waits_for),
	SE_RUNNING(test_busy_context_still_ends_its_waits),
	SE_RUNNING(test_wait_looks_at_the_masked_bytes_only),
	SE_RUNNING(test_mask_is_whole_bytes_in_a_row),
	SE_RUNNING(test_stop_ends_what_waits),
	SE_RUNNING(test_allocated_task_keeps_the_context_stopping),
};

int main(void)
{
	return API_RUN({ .name = "DPU", .topology = "sync_events.yaml", .side = "dpu", API_WITH(tests), .dev = &dev });
}
